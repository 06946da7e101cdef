"""Which side a run ended on, and what figures make of many runs."""

import itertools

import numpy as np
import pandas as pd
import pytest
from basins import BASINS, central_values, count_basins
from positional_minima import chances
from selection import LEAST_MULTIPLE, basin, lowest_positional, on_positional_side
from size_fit import fit_of
from sweep_points import sweep_of
from unit_teacher import common_slope_at_unit_teacher


def run_rows(**columns) -> pd.DataFrame:
    base = {
        "omega": 0.3,
        "sigma": 0.5,
        "lam": 0.01,
        "d": 100,
        "alpha": 1.0,
        "seed": 0,
        "teacher_variance": 1.0,
        "q": 0.1,
    }
    return pd.DataFrame(base | columns)


def test_the_side_is_where_the_fields_are_moved_more():
    runs = run_rows(m=[0.2, 0.2, 0.2], theta=[0.09, 0.11, 0.0])
    assert on_positional_side(runs).tolist() == [True, False, True]
    assert basin(runs).tolist() == ["positional", "semantic", "positional"]


def test_a_random_direction_is_in_neither_basin():
    rng = np.random.default_rng(0)
    d, sigma, n = 400, 0.7, 300
    Q, teacher = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    runs = run_rows(
        d=d, sigma=sigma, m=np.abs(Q.mean(1)), theta=sigma**2 * np.abs((Q * teacher).mean(1)),
        q=sigma**2 * (Q**2).mean(1), teacher_variance=(teacher**2).mean(1),
    )  # fmt: skip
    assert (basin(runs) == "neither").mean() > 0.85
    chance = np.sqrt(runs.q / sigma**2 / d)
    assert basin(runs.assign(m=1.1 * LEAST_MULTIPLE * chance, theta=0.0)).eq("positional").all()
    assert basin(runs.assign(m=0.0, theta=0.0, q=0.0)).eq("neither").all()


def test_lowest_run_is_chosen_for_each_task_and_data_set():
    runs = run_rows(
        omega=[0.2, 0.3, 0.3, 0.3], m=[0.3, 0.3, 0.3, 0.0], theta=[0.0, 0.0, 0.01, 0.3],
        train_loss=[3.0, 2.5, 2.0, 1.0],
    )  # fmt: skip
    assert lowest_positional(runs).train_loss.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(("total", "k"), [(5, 1), (5, 2), (5, 4), (5, 5), (1, 1)])
def test_chances_of_the_lowest_are_those_of_all_subsets(total, k):
    counted = np.bincount([min(subset) for subset in itertools.combinations(range(total), k)], minlength=total)
    np.testing.assert_allclose(chances(total, k), counted / counted.sum(), atol=1e-12)


def test_what_the_teacher_explains_is_taken_off_at_every_size():
    """Mean and error at ‖Q⋆‖²/d = 1 against many repetitions of the same experiment."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(200):
        rows = [
            {"k": 1, "d": d, "alpha": 1.0, "seed": seed, "variance": 1 + 0.05 * rng.standard_normal()}
            for d in (100, 200) for seed in range(6)
        ]  # fmt: skip
        table = pd.DataFrame(rows)
        level = table.d.map({100: 2.0, 200: 3.0})
        noise = 0.02 * rng.standard_normal(len(table))
        table["m"] = level * (1 + 1.5 * (table.variance - 1) + noise)
        found.append(common_slope_at_unit_teacher(table, "m").droplevel(["k", "alpha"]))
    means, errors = (pd.DataFrame([one[name] for one in found]) for name in ("mean", "error"))
    np.testing.assert_allclose(means.mean(), [2.0, 3.0], rtol=3e-3)
    np.testing.assert_allclose(np.sqrt((errors**2).mean()), means.std(), rtol=0.2)
    two = table[(table.d == 100) & (table.seed < 2)]
    assert common_slope_at_unit_teacher(two, "m").error.isna().all()


def test_fit_finds_the_limit_and_the_power():
    rng = np.random.default_rng(2)
    d = np.array([20, 60, 100, 200, 400, 800, 1600])
    noise = 0.01 * rng.standard_normal(d.size)
    finite = pd.DataFrame({"value": 2.0 + 30.0 / d + noise, "error": 0.01}, index=d)
    fit = fit_of(finite, vanishing=False)
    assert abs(fit.limit - 2.0) < 3 * fit.limit_error < 0.05 and abs(fit.slope - 30) < 3 * fit.slope_error
    assert fit.freedom == 4 and fit.chi_square < 15
    vanishing = pd.DataFrame({"value": 3.0 * d**-0.5, "error": 0.01}, index=d)
    fit = fit_of(vanishing, vanishing=True)
    assert fit.power == pytest.approx(0.5, abs=1e-3) and fit.limit == 0 and fit(100) == pytest.approx(0.3, rel=1e-3)
    assert fit_of(finite.iloc[:3], vanishing=False) is None


def test_a_sweep_takes_the_common_task_from_wherever_it_is():
    frame = pd.DataFrame(
        {"experiment": ["o", "o", "s", "s", "l", "other"], "omega": [0.2, 0.3, 0.3, 0.3, 0.3, 0.3],
         "sigma": [0.5, 0.5, 0.3, 0.5, 0.5, 0.9], "lam": [0.01, 0.01, 0.01, 0.01, 0.1, 0.01], "alpha": 1.0}
    )  # fmt: skip
    sweeps = {"omega": "o", "sigma": "s", "lam": "l"}
    assert sweep_of(frame, sweeps, "sigma").sigma.tolist() == [0.5, 0.3]
    assert sweep_of(frame, sweeps, "omega").omega.tolist() == [0.2, 0.3]
    assert sorted(sweep_of(frame, sweeps, "lam").lam) == [0.01, 0.1]


def test_basins_are_counted_by_point_and_centred_on_the_published_one():
    runs = pd.DataFrame(
        {"alpha": [1.0, 1.0, 2.0, 2.0], "d": 100, "start_std": [0.1, 0.1, 0.1, 0.3],
         "basin": ["semantic", "positional", "semantic", "neither"]}
    )  # fmt: skip
    counts = count_basins(runs)
    assert list(counts.columns) == [*BASINS, "total"]
    assert counts.loc[(1.0, 100, 0.1)].tolist() == [1, 1, 0, 2]
    published = pd.DataFrame({"alpha": [1.9], "d": [90], "start_std": [0.12]})
    assert central_values(counts, published) == {"alpha": 2.0, "d": 100, "start_std": 0.1}
