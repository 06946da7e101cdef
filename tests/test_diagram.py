"""Maps over (α, ω), measured crossings and verdicts, from small tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from claims import REPRODUCED, UNTESTED, verdict_of_share, verdict_of_value
from crossings import less_encodings, paired_differences
from diagram import image, one_task_a_point, run_maps, theory_maps
from published import LINES
from schemas.transitions import KINDS as TABLE_KINDS
from unit_teacher import adjusted_to_unit_teacher

from solvable_attention.errors import ArgumentError
from solvable_attention.finite_d import encoding_term
from solvable_attention.fixed_points import fixed_point
from solvable_attention.task import TeacherStudent
from solvable_attention.transitions import KINDS


@pytest.fixture
def runs():
    rows = [
        {"experiment": "e", "d": 100, "alpha": alpha, "omega": omega, "sigma": 0.5, "lam": 0.01, "seed": seed,
         "start": start, "train_loss": loss + 0.1 * seed, "test_error": error, "teacher_variance": 1.0,
         "q": 0.04, "m": 0.2, "theta": 0.0,
         "converged": start == "semantic" or seed == 0}
        for omega in (0.2, 0.4)
        for alpha in (1.0, 2.0)
        for seed in (0, 1)
        for start, loss, error in (("semantic", 3.0 - alpha, 2.0), ("positional", 1.5, 5.0))
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def linear(runs):
    fits = runs[runs.start == "semantic"].drop(columns=["start", "train_loss"])
    return fits.assign(test_error=4.0 + fits.seed, theory_test_error=4.5)


def test_run_maps_take_the_winner_by_mean_training_loss(runs, linear):
    mean, error = run_maps(runs, linear)
    # α = 1: positional wins (1.5 < 2), its gain is 4.5 − 5; α = 2: semantic wins, 4.5 − 2.
    np.testing.assert_allclose(mean.loss_difference.xs(0.2), [0.5, -0.5])
    np.testing.assert_allclose(mean.gain.xs(0.2), [-0.5, 2.5])
    np.testing.assert_allclose(error.loss_difference, 0, atol=1e-12)
    np.testing.assert_allclose(error.gain, 0.5)
    assert (mean.open == 1).all() and (mean.seeds == 2).all()


def test_theory_maps_mark_what_did_not_converge():
    points = pd.DataFrame(
        [
            {"omega": 0.2, "alpha": alpha, "branch": branch, "train_loss": loss, "test_error": 10 * loss,
             "converged": ok, "merged": False}
            for alpha, ok in ((1.0, True), (2.0, False))
            for branch, loss in (("semantic", 2.0), ("positional", 1.0))
        ]
    )
    maps = theory_maps(points, pd.Series({0.2: 7.0}))
    assert maps.loc[0.2, 1.0].winner == "positional" and maps.loc[0.2, 1.0].gain == -3.0
    assert maps.known.tolist() == [True, False]
    merged = theory_maps(points.assign(merged=True), pd.Series({0.2: 7.0}))
    assert (merged.winner == "uninformative").all()


def test_image_has_omega_in_rows():
    index = pd.MultiIndex.from_product([[0.1, 0.2], [1.0, 2.0, 3.0]], names=["omega", "alpha"])
    alphas, omegas, values = image(pd.Series(range(6), index=index))
    assert list(alphas) == [1, 2, 3] and list(omegas) == [0.1, 0.2]
    assert values.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_an_experiment_with_two_sigmas_or_without_rows_is_refused(runs):
    more = pd.concat([runs, runs.assign(sigma=1.0)])
    with pytest.raises(ArgumentError, match="'e' has 2 values of sigma"):
        one_task_a_point(more, "e", "figure3.diagram")
    with pytest.raises(ArgumentError, match="'none' has no rows"):
        one_task_a_point(runs, "none", "figure3.diagram")


def test_differences_are_paired_on_common_data(runs, linear):
    frame = paired_differences(runs.assign(train_loss=runs.train_loss + 7 * runs.seed), linear, "e")
    assert len(frame) == 8 and frame.groupby("alpha").alpha_c.nunique().eq(1).all()
    np.testing.assert_allclose(frame.alpha_l, 2.0 - 4.0 - frame.seed)
    with pytest.raises(ArgumentError, match="both starts"):
        paired_differences(runs[runs.start == "semantic"], linear, "e")


def test_correction_is_the_term_of_the_encodings(runs):
    tasks = [TeacherStudent(omega=omega) for omega in (0.2, 0.4)]
    less = less_encodings(runs, tasks)
    term = (runs.test_error - less.test_error) * 2 * runs.d
    np.testing.assert_allclose((runs.train_loss - less.train_loss) * 2 * runs.d / runs.alpha, term)
    point = fixed_point(tasks[0], 1.0, "positional")
    row = runs.iloc[:1].assign(q=point.q, m=point.m, theta=point.theta)
    exact = encoding_term(tasks[0], point.overlaps)
    corrected = less_encodings(row, tasks).test_error.iloc[0]
    assert row.test_error.iloc[0] - corrected == pytest.approx(exact / 200, rel=1e-9)


def test_verdicts_follow_from_the_numbers():
    assert verdict_of_value(1.241, 1.2412, 1e-5, 1e-3) == REPRODUCED
    assert verdict_of_value(1.241, 1.2515, 1e-4, 1e-3) == "reproduced with a correction (published -0.8 %)"
    assert verdict_of_value(1.241, 1.2515, 4e-3, 1e-3) == REPRODUCED
    assert verdict_of_value(1.0, 1.5, 1e-3, 1e-3) == "not reproduced (published -33.3 %)"
    assert verdict_of_value(1.0, np.nan, np.nan, 1e-3) == verdict_of_share(np.nan) == UNTESTED
    assert verdict_of_share(1.0) == REPRODUCED and verdict_of_share(0.96, of_runs=True) == REPRODUCED
    assert verdict_of_share(0.96) == "reproduced with a correction (at 96 % of the points)"
    assert verdict_of_share(0.5) == "not reproduced (at 50 % of the points)"


def test_kinds_of_the_table_are_those_of_the_library():
    assert set(TABLE_KINDS) == set(KINDS) and set(LINES) <= set(KINDS)


def test_adjustment_takes_off_what_the_teacher_explains():
    rng = np.random.default_rng(1)
    index = pd.MultiIndex.from_product([[0.2, 0.4], [0.5, 1.0, 1.5], range(12)], names=["omega", "alpha", "seed"])
    variance = pd.Series(1 + 0.05 * rng.standard_normal(len(index)), index)
    omega, alpha = (index.get_level_values(name).to_numpy() for name in ("omega", "alpha"))
    clean = pd.DataFrame({"a": omega * alpha, "b": 3.0 * np.ones(len(index))}, index)
    slopes = np.stack([2 + alpha - omega * alpha**2, -alpha], axis=1)
    spoilt = clean + slopes * (variance.to_numpy()[:, None] - 1)
    np.testing.assert_allclose(adjusted_to_unit_teacher(spoilt, variance), clean, atol=1e-10)
    np.testing.assert_allclose(adjusted_to_unit_teacher(spoilt, pd.Series(1.0, index)), spoilt)
