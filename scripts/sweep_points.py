"""Runs of the sweeps as points beside theory's branches: one row for each task, α, kind of run and number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from agreement import ORDER, REST
from selection import lowest_positional
from unit_teacher import at_unit_teacher

from solvable_attention.finite_d import encoding_parts
from solvable_attention.task import TeacherStudent

TASK = ["omega", "sigma", "lam"]
# What names a row of any of the tables, whatever its experiment.
KEY = [*TASK, "alpha", "d", "branch", "start", "start_std", "restart", "optimizer", "seed"]
# Kinds of run, and the branch that each belongs to.
BRANCH = {"semantic": "semantic", "one start": "positional", "lowest": "positional"}


def sweep_of(frame: pd.DataFrame, sweeps: dict[str, str], parameter: str) -> pd.DataFrame:
    """Rows of the sweep in one parameter, from all sweeps: their common task is computed in one of them only.

    sweeps : experiment by parameter (omega, sigma, lam); each has one value of the other two.
    """
    chosen = frame[frame.experiment.isin(sweeps.values())]
    own = frame[frame.experiment == sweeps[parameter]].iloc[0]
    for other in TASK:
        if other != parameter:
            chosen = chosen[chosen[other] == own[other]]
    return chosen.drop_duplicates([name for name in KEY if name in frame])


def sweep_points(fixed_points: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Mean of the runs and value of the theory for ε_t, ε_g and the order parameter, where theory was solved.

    Columns: omega, sigma, lam, alpha, kind, branch, number, value, error, chance, seeds, theory, converged, exists,
    merged, two_well_weight, within. `value` is the intercept of the regression over data sets on ‖Q⋆‖²/d at its mean 1,
    less the term of order 1/d of the encodings in the values, as computed from the mean overlaps of the runs; `error`
    its standard error; `chance` the order parameter of a random Q of the same norm. `converged`: theory and all runs.
    `exists` and `merged` are known where theory converged; a merged branch has joined the uninformative point, whose
    numbers then stand in `theory`. `within`: apart by at most 3 standard errors + REST/d of the value.
    """
    return pd.DataFrame(row for kind in BRANCH for row in _rows(fixed_points, _runs_of(kind, runs), kind))


def _runs_of(kind: str, runs: pd.DataFrame) -> pd.DataFrame:
    if kind == "lowest":
        return lowest_positional(runs[runs.start.isin(["positional", "noisy_positional"])])
    return runs[runs.start == BRANCH[kind]]


def _rows(fixed_points, runs, kind) -> Iterator[dict]:
    branch = BRANCH[kind]
    points = fixed_points[fixed_points.branch == branch].set_index([*TASK, "alpha"])
    for key, group in runs.groupby([*TASK, "alpha"]):
        if key not in points.index:
            continue
        point = points.loc[key]
        for number, (value, error) in values_of(group, branch).items():
            allowance = 3 * error + REST / group.d.iloc[0] * abs(point[number])
            yield {
                **dict(zip([*TASK, "alpha"], key, strict=True)),
                "kind": kind,
                "branch": branch,
                "number": number,
                "value": value,
                "error": error,
                "chance": float(np.sqrt(group.q / key[1] ** 2 / group.d).mean())
                * (key[1] ** 2 if number == "theta" else 1),
                "seeds": len(group),
                "theory": point[number],
                "converged": bool(point.converged and group.converged.all()),
                "exists": bool(point.converged and not point.merged),
                "merged": bool(point.converged and point.merged),
                "two_well_weight": point.two_well_weight,
                "within": bool(abs(value - point[number]) <= allowance),
            }


def values_of(runs: pd.DataFrame, branch: str) -> dict[str, tuple[float, float]]:
    """ε_t, ε_g and the order parameter of runs of one task, d and α, with standard errors, as `sweep_points` says."""
    names = ("train_loss", "test_error", ORDER[branch])
    estimates = {name: at_unit_teacher(runs[name], runs.teacher_variance) for name in names}
    first, means = runs.iloc[0], runs[["q", "m", "theta"]].mean()
    task = TeacherStudent(first.omega, first.sigma, first.lam)
    known = encoding_parts(task, first.d, first.alpha, *means) if means.q > 0 else {}
    return {name: (value - known.get(name, 0.0), error) for name, (value, error) in estimates.items()}
