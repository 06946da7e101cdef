"""What the figures beside 2 and 3 and their pages compute, from small tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from basins import shares_of
from landscape import SCALE, profile
from rank2 import gain_map, paired_gains
from scipy.stats import beta
from selection import positional_starts
from sweep_points import values_of
from sweeps import extent
from sweeps_agreement import WEIGHTS, by_weight

from solvable_attention.finite_d import encoding_parts
from solvable_attention.task import TeacherStudent


def test_values_of_a_point_are_at_unit_teacher_and_less_the_encodings():
    variance = np.array([0.9, 1.0, 1.05, 1.2])
    runs = pd.DataFrame(
        {"omega": 0.3, "sigma": 0.5, "lam": 0.01, "alpha": 1.5, "d": 100, "q": 0.1, "theta": 0.08,
         "m": 0.02, "train_loss": 2.0 + 0.4 * (variance - 1), "test_error": 3.0 - variance,
         "teacher_variance": variance}
    )  # fmt: skip
    known = encoding_parts(TeacherStudent(0.3), 100, 1.5, 0.1, 0.02, 0.08)
    found = values_of(runs, "semantic")
    assert min(known.values()) > 5e-5
    assert found["train_loss"][0] == pytest.approx(2.0 - known["train_loss"])
    assert found["test_error"][0] == pytest.approx(2.0 - known["test_error"])
    assert found["theta"][0] == pytest.approx(0.08) and found["train_loss"][1] == pytest.approx(0, abs=1e-12)
    collapsed = values_of(runs.assign(q=0.0, theta=0.0, m=0.0), "positional")
    assert collapsed["train_loss"][0] == pytest.approx(2.0) and collapsed["m"][0] == 0


def test_numbers_are_counted_by_weight_of_two_wells_and_side():
    points = pd.DataFrame(
        {"two_well_weight": [0.0, 2e-2, 2e-2, 0.5, 0.5],
         "kind": ["semantic", "semantic", "lowest", "lowest", "semantic"],
         "within": [True, False, True, False, False]}
    )  # fmt: skip
    table = by_weight(points)
    assert table.semantic.tolist() == ["1 of 1", "0 of 1", "0 of 1"]
    assert table.lowest.tolist() == ["0 of 0", "1 of 1", "0 of 1"]
    assert table["two-well draws"].iloc[1] == f"{100 * WEIGHTS[2]:g} to {100 * WEIGHTS[3]:g} %"


@pytest.mark.parametrize(
    ("merged", "words"),
    [
        ([False, False, False], ""),
        ([True, False, False], r"semantic: $\alpha \geq 1$"),
        ([False, True, True], r"semantic: $\alpha \leq 0.5$"),
        ([True, False, True], r"semantic: $1 \leq \alpha \leq 1$"),
        ([True, True, True], "no semantic branch found"),
    ],
)
def test_a_panel_says_where_its_branch_exists(merged, words):
    curve = pd.DataFrame({"branch": "semantic", "alpha": [0.5, 1.0, 2.0], "merged": merged, "converged": True})
    assert extent(curve, "semantic") == words
    unknown = pd.concat([curve, curve.iloc[:1].assign(alpha=3.0, merged=False, converged=False)])
    assert extent(unknown, "semantic") == words


def test_gains_pair_runs_with_the_baseline_of_their_data():
    key = {"omega": [0.1, 0.1, 0.2, 0.2], "alpha": 1.0, "seed": [0, 1, 0, 1]}
    runs = pd.DataFrame({**key, "test_error": [1.0, 2.0, 3.0, 4.0], "converged": [True, False, True, True]})
    fits = pd.DataFrame({**key, "test_error": [2.0, 2.0, 1.0, 1.0]}).sample(frac=1, random_state=0)
    assert paired_gains(runs, fits).gain.tolist() == [1.0, 0.0, -2.0, -3.0]
    cells = gain_map(runs, fits)
    assert cells.gain.tolist() == [0.5, -2.5] and cells.error.tolist() == [0.5, 0.5] and cells.open.tolist() == [1, 0]
    with pytest.raises(pd.errors.MergeError):
        paired_gains(runs, pd.concat([fits, fits]))


def test_shares_carry_their_binomial_interval():
    runs = pd.DataFrame({"basin": ["semantic"] * 3 + ["positional"] * 7})
    low, high = beta.ppf(0.025, 3, 8), beta.ppf(0.975, 4, 7)
    words = shares_of(runs)
    assert words.startswith(f"semantic 3 of 10 ({low:.2f} to {high:.2f})") and "neither 0 of 10 (0.00 to" in words


def test_profile_finds_the_lowest_point_of_each_ray():
    u = np.linspace(-1, 1, 41)
    v = u[:, None]
    # Two wells at distance 0.6 from the origin, along u and along v; the second is the lower one.
    risk = np.minimum((u - 0.6) ** 2 + v**2, u**2 + (v - 0.6) ** 2 - 0.1).T
    grid = pd.DataFrame({"u": np.repeat(u, u.size), "v": np.tile(u, u.size), "point": "grid"})
    grid["train_loss"] = risk.ravel() / SCALE
    angles, lowest = profile(grid)
    assert np.interp(0, angles, lowest) == pytest.approx(0.0, abs=0.02)
    assert np.interp(90, angles, lowest) == pytest.approx(-0.1, abs=0.02)
    between = lowest[(angles > 30) & (angles < 50)]
    assert between.max() > 0.1  # the ridge


def test_positional_starts_are_counted_for_one_data_set():
    runs = pd.DataFrame(
        {"start": ["positional", "semantic", "noisy_positional", "noisy_positional"] * 2, "restart": [0, 0, 0, 1] * 2,
         "seed": [0] * 4 + [1] * 4}
    )  # fmt: skip
    assert positional_starts(runs) == 3
    assert positional_starts(runs[runs.start == "noisy_positional"]) == 2
