"""The linear positional baseline fitted at finite d, on the data sets that the students are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from solvable_attention.baseline import linear_baseline, linear_test_error
from solvable_attention.simulation import checks
from solvable_attention.simulation.data import Dataset, draw_dataset
from solvable_attention.task import TeacherStudent


def fit_linear_baseline(
    tasks: TeacherStudent | Sequence[TeacherStudent],
    *,
    d: int,
    alpha: float,
    seed: int,
    ridge: float = 1e-4,
    root_seed: int = 0,
) -> pd.DataFrame:
    """Fit W on the data set that `simulate` uses for the same (d, alpha, seed, root_seed).

    The minimiser of Σ_μ ‖y − W x‖²_F/(2d) + (ridge/2)‖W‖²_F solves the normal equations
    W = (Σ y xᵀ/d)(Σ x xᵀ/d + ridge·I)⁻¹.

    Returns
    -------
    One row a task, with columns d alpha omega sigma lam seed test_error theory_test_error. test_error is exact
    for the fitted W and the drawn Q⋆; theory_test_error is ε_lin. lam is the task's and plays no part here.

    Raises
    ------
    ArgumentError : an argument is out of range; the message names it, its value and what is allowed.
    """
    tasks, key = checks.task_list(tasks), checks.data_key(d, alpha, seed, root_seed)
    ridge = checks.number("ridge", ridge)
    _limit(tasks[0])  # refuses what has no baseline before the data are drawn
    data = draw_dataset(tasks[0], **key)
    return pd.DataFrame([_row(task, data, key["seed"], ridge) for task in tasks])


def _row(task: TeacherStudent, data: Dataset, seed: int, ridge: float) -> dict:
    return {
        "d": data.d,
        "alpha": data.alpha,
        "omega": task.omega,
        "sigma": task.sigma,
        "lam": task.lam,
        "seed": seed,
        "test_error": linear_test_error(task, _fit(task, data, ridge), data.teacher_weights),
        "theory_test_error": _limit(task),
    }


def _fit(task: TeacherStudent, data: Dataset, ridge: float) -> np.ndarray:
    T = (1 - task.omega) * data.teacher_attention + task.omega * np.array(task.A)
    output_input = np.einsum("nij,njk->ik", T, data.gram_xx)
    return np.linalg.solve(data.gram_xx.sum(axis=0) + ridge * np.eye(task.L), output_input.T).T


@lru_cache(maxsize=256)
def _limit(task: TeacherStudent) -> float:
    """ε_lin, which all data sets of a task share."""
    return linear_baseline(task).test_error
