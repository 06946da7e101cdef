"""Runs of the extensions on theory's branches, and their values extrapolated in 1/d beside it."""

from __future__ import annotations

import json

import click
import numpy as np
import pandas as pd
from selection import fields
from size_fit import fit_of
from unit_teacher import common_slope_at_unit_teacher

from solvable_attention.task import TeacherStudent

TASK = ["experiment", "omega", "sigma", "lam"]
# What a branch is compared by: the order parameters that it has, after ε_t and ε_g.
ORDER = {"semantic": ["theta"], "positional": ["m"], "mixed": ["theta", "m"], "uninformative": []}
SYMBOLS = {"train_loss": "ε_t", "test_error": "ε_g", "theta": "θ", "m": "m", "value_overlap": "σ²‖UᵀΣV⋆‖/d"}
COLUMNS = {
    **{"experiment": str, "omega": float, "sigma": float, "lam": float, "alpha": float, "branch": str, "number": str},
    **{"theory": float, "theory_error": float, "runs": int, "sizes": object, "values": object, "errors": object},
    **dict.fromkeys(["limit", "limit_error", "slope", "chi_square", "gap"], float),
    "within": bool,
}
# Growth of the order parameter that a branch leaves out, above which it is no minimum; 1, and the noise of the growth.
UNSTABLE = 1.1
# A run farther from every branch than this share of the branch's own distance from 0 belongs to none.
REACH = 0.5


class Cases(click.ParamType):
    """Extensions in the order drawn, as JSON: their names, each with the options of its tasks and its σ, ω, λ."""

    name = "cases"

    def convert(self, value, param, ctx):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            self.fail(f"is {value!r}, allowed is a JSON object of options by name of an extension", param, ctx)


def resolved(points: pd.DataFrame) -> pd.Series:
    """Where a branch was found apart from the others, by more than the quadrature's error of its order parameter."""
    return points.converged & ~points.merged & (points.quadrature_error < 0.3)


def lowest_of_branches(points: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Of each data set the run of lowest loss on every branch, with a column `branch`.

    A run is on the branch whose (m, θ/σ), how much place and content move the fields, lie nearest to its own, if
    within REACH of the branch's distance from 0, or, for the uninformative one, from a random Q of the same norm.
    A branch that theory says is unstable holds no minimum, and no run.
    """
    parts, stable = [], ~(points[["growth_m", "growth_theta"]] > UNSTABLE).any(axis=1)
    for key, group in runs.groupby([*TASK, "alpha"]):
        there = points[(points[[*TASK, "alpha"]] == list(key)).all(axis=1) & resolved(points) & stable]
        if there.empty:
            continue
        at, ours = fields(there).to_numpy(), fields(group).to_numpy()
        distance = np.linalg.norm(ours[:, None] - at[None], axis=2)
        nearest = distance.argmin(axis=1)
        by_chance = 4 * np.sqrt(group.q.to_numpy() / group.sigma.to_numpy() ** 2 / group.d.to_numpy())
        reach = np.maximum(
            REACH * np.linalg.norm(at, axis=1)[nearest],
            by_chance * (there.branch == "uninformative").to_numpy()[nearest],
        )
        near = distance[np.arange(len(group)), nearest] <= reach
        parts.append(group.assign(branch=there.branch.to_numpy()[nearest])[near])
    if not parts:
        return runs.iloc[:0].assign(branch="")
    chosen = pd.concat(parts).sort_values("train_loss", kind="stable")
    return chosen.drop_duplicates([*TASK, "alpha", "branch", "d", "seed"]).sort_index()


def extrapolated(points: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """One row for each point of a branch, and each of its numbers, at which there are runs.

    Columns: experiment, omega, sigma, lam, alpha, branch, number; theory and theory_error (quadrature); runs (at all
    d), sizes and, lists over d, values and errors; limit, limit_error, slope and chi_square of the fit v + c/d;
    gap = limit − theory, and within, |gap| ≤ 3 standard errors + theory_error.
    values: the intercept, at ‖Q⋆‖²/d = 1, of the regression over data sets, whose relative slope is common to all d,
    less the term of the encodings in the student's values, α E‖S p‖²/(2d) in ε_t and E‖S p‖²/(Ld) in ε_g.
    """
    rows = []
    for key, group in lowest_of_branches(points, runs).groupby([*TASK, "alpha", "branch"]):
        point = points[(points[[*TASK, "alpha", "branch"]] == list(key)).all(axis=1)].iloc[0]
        for number in numbers_of(point):
            summary = by_size(group, number, point)
            fit = fit_of(summary, vanishing=False)
            if fit is None:
                continue
            # Not enlarged by a large χ²: that would hide a disagreement.
            error = fit.limit_error / max(1.0, np.sqrt(fit.chi_square / fit.freedom))
            gap, theory_error = fit.limit - point[number], error_of(point, number)
            rows.append(
                {
                    **dict(zip([*TASK, "alpha", "branch"], key, strict=True)),
                    "number": number,
                    "theory": point[number],
                    "theory_error": theory_error,
                    "runs": len(group),
                    "sizes": summary.index.tolist(),
                    "values": summary["value"].tolist(),
                    "errors": summary.error.tolist(),
                    "limit": fit.limit,
                    "limit_error": error,
                    "slope": fit.slope,
                    "chi_square": fit.chi_square,
                    "gap": gap,
                    "within": bool(abs(gap) <= 3 * error + theory_error),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def numbers_of(point: pd.Series) -> list[str]:
    """Numbers by which a branch is compared."""
    values = ["value_overlap"] if np.isfinite(point.value_overlap) else []
    return ["train_loss", "test_error", *ORDER[point.branch], *values]


def error_of(point: pd.Series, number: str) -> float:
    """Quadrature error of a number: its own where the table has it, else the largest relative one."""
    own = f"{number}_error"
    return float(point[own]) if own in point else float(point.quadrature_error * point[number])


def by_size(runs: pd.DataFrame, number: str, point: pd.Series) -> pd.DataFrame:
    """Columns value and error at each d of the runs on one branch, as `extrapolated` says."""
    table = runs.assign(k=0, variance=runs.teacher_variance)[["k", "d", "alpha", "variance", number]]
    summary = common_slope_at_unit_teacher(table, number).droplevel(["k", "alpha"])
    summary = summary.rename(columns={"mean": "value"})
    known = {"train_loss": point.alpha / 2, "test_error": 1 / point.tokens}.get(number, 0.0)
    summary["value"] -= known * point.encoding_term / summary.index.to_numpy()
    return summary


def with_tokens(points: pd.DataFrame, cases: dict) -> pd.DataFrame:
    """The points of the cases alone, with a column `tokens`, their L."""
    chosen = points[points.experiment.isin(cases)]
    return chosen.assign(tokens=chosen.experiment.map({name: options.get("L", 2) for name, options in cases.items()}))


def task_of(options: dict, row) -> TeacherStudent:
    """The task of a row of a table."""
    return TeacherStudent(row.omega, row.sigma, row.lam, **options)
