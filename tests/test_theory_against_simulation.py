"""Minimisers at finite d meet the state evolution within their error bars, and the known 1/d term is right."""

import numpy as np
import pandas as pd
import pytest
from agreement import at_unit_teacher
from reference import FOLDER
from selection import mean_and_error

from solvable_attention import TeacherStudent, fixed_point, simulate
from solvable_attention.finite_d import encoding_term
from solvable_attention.overlaps import Overlaps

TASK = TeacherStudent(omega=0.3)
D, SEEDS = 500, 8


@pytest.fixture(scope="module")
def runs():
    frames = [simulate(TASK, d=D, alpha=2.0, seed=seed, starts=["semantic"], root_seed=7) for seed in range(SEEDS)]
    return pd.concat(frames)


@pytest.mark.parametrize("name", ["train_loss", "test_error", "theta"])
def test_semantic_minimisers_meet_theory(runs, name):
    point = fixed_point(TASK, 2.0, "semantic")
    value, error = at_unit_teacher(runs[name], runs.teacher_variance)
    encodings = encoding_term(TASK, point.overlaps)
    value -= {"train_loss": 2.0 * encodings / (2 * D), "test_error": encodings / (2 * D)}.get(name, 0.0)
    # 5/d for unknown terms of order 1/d
    assert value == pytest.approx(getattr(point, name), abs=4 * error + 5 / D * getattr(point, name))
    assert error < 0.05 * value


def test_uniform_attention_averages_the_encodings():
    """S = 1/L: opposite encodings cancel; orthonormal ones leave L·(1/L)²·L = 1."""
    zero = Overlaps(*(np.array([[x]]) for x in (1e-16, 0.0, 0.0, 1.0)))
    assert encoding_term(TASK, zero) == pytest.approx(0, abs=1e-12)
    orthonormal = TeacherStudent(omega=0.3, L=3, A=np.full((3, 3), 1 / 3))
    zero = Overlaps(np.array([[1e-16]]), np.zeros((1, 1)), np.zeros((3, 1)), np.ones((1, 1)))
    assert encoding_term(orthonormal, zero) == pytest.approx(1, abs=1e-9)


def test_regression_on_the_teacher_finds_the_intercept_and_its_error():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        x = pd.Series(1 + 0.05 * rng.standard_normal(20))
        found.append(at_unit_teacher(3.0 + 2.0 * (x - 1) + 0.1 * rng.standard_normal(20), x))
    values, errors = np.array(found).T
    assert np.mean(values) == pytest.approx(3.0, abs=0.01)
    assert np.std(values) == pytest.approx(np.mean(errors), rel=0.15)


def test_mean_and_error_is_the_standard_error_of_the_mean():
    summary = mean_and_error(pd.Series([1.0, 3.0, 5.0], index=[0.5, 0.5, 0.5]))
    assert summary["mean"].item() == 3.0 and summary["error"].item() == pytest.approx(2 / np.sqrt(3))


@pytest.mark.parametrize("alpha", [0.5075, 1.005, 1.5025, 2.0])
def test_published_runs_agree_with_ours(alpha):
    """The authors' descent at d = 1000, ω = .3, 24 data sets: the means agree within 3 standard errors and 5/d."""
    start = "positional" if alpha < 1.25 else "semantic"
    mean, deviation = (published_run(f"published_runs_standardA_{kind}.csv", alpha, start) for kind in ("mean", "std"))
    frames = [simulate(TASK, d=1000, alpha=alpha, seed=seed, starts=[start], root_seed=11) for seed in range(4)]
    ours = pd.concat(frames)
    columns = {
        "train_loss": ("attention_train_error_mean", 1000),  # theirs is R, ours R/d
        "test_error": ("attention_gen_error_mean", 1),
        "m": ("attention_mag_mean", 1),
        "theta": ("attention_theta_mean", 1 / TASK.rho),  # theirs is Q·Q⋆/d, ours times σ²
    }
    for name in ("train_loss", "test_error", "m" if start == "positional" else "theta"):
        column, scale = columns[name]
        # The scatter of single runs is the same on both sides; theirs is the better known.
        error = deviation[column] / scale * np.sqrt(1 / 24 + 1 / len(ours))
        theirs = mean[column] / scale
        assert ours[name].mean() == pytest.approx(theirs, abs=3 * error + 5e-3 * theirs), name


def published_run(file, alpha, start) -> pd.Series:
    if not (FOLDER / file).is_file():
        pytest.skip(f"{file} is not part of the repository")
    table = pd.read_csv(FOLDER / file)
    task = (table.sigma == 0.5) & (table.omega == 0.3) & (table.attention_lmbda == 0.01)
    informed = table.informed.astype(str) == str(start == "semantic")
    (row,) = [row for _, row in table[task & informed & np.isclose(table.alpha, alpha, atol=1e-3)].iterrows()]
    return row
