"""Sample complexities at which the global minimum, the baseline or the set of branches changes.

Every kind is the place where a function of α falls through zero as α grows:

    alpha_c              ε_t^sem − ε_t^pos: from there on the semantic branch is the global minimum
    alpha_l              ε_g^sem − ε_lin: from there on it beats the linear positional baseline
    semantic_onset       1 − growth of θ at the uninformative point: θ leaves 0
    semantic_stable      growth of m at the semantic point − 1: stable towards m from there on
    positional_onset     1 − growth of m at the uninformative point: m leaves 0 (small α)
    positional_end       growth of m at the uninformative point − 1: m is back at 0 (large α)
    positional_unstable  1 − growth of θ at the positional point: unstable towards θ from there on

At semantic_onset and positional_end the branch may fold back instead of ending at the uninformative point; the end is
then the extremum of α along the branch (see `amplitude`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from solvable_attention.amplitude import AmplitudeCurve
from solvable_attention.baseline import linear_baseline
from solvable_attention.curves import BranchCurves
from solvable_attention.errors import ArgumentError
from solvable_attention.solution import FixedPoint, largest_shift
from solvable_attention.stability import transverse_growth
from solvable_attention.state_evolution import Quadrature, sharp_quadrature
from solvable_attention.task import TeacherStudent

LOW, HIGH = 0.02, 3.0
_RATIO = 1.35  # of neighbouring α in the scan for a change of sign
_BISECTIONS = 7
_PRECISION = 1e-5
_SHARP_STEPS = 4
_SMALL = 0.3  # of the order parameter beside the end of a branch, to see on which side of the pitchfork it lies


@dataclass(frozen=True)
class Transition:
    """alpha : place, error : absolute, from quadrature and residuals; both NaN unless status is "found".

    status : "found"; "absent", the function keeps its sign on [low, high] wherever it is defined; "unresolved", it
    changes sign next to a fixed point that did not converge.
    """

    task: TeacherStudent
    kind: str
    alpha: float
    error: float
    status: str
    low: float
    high: float


def transition(
    task: TeacherStudent,
    kind: str,
    *,
    low: float = LOW,
    high: float = HIGH,
    refinement: int = 0,
    curves: BranchCurves | None = None,
) -> Transition:
    """Find the transition of this kind at α in [low, high]; where it does not exist, the status says so.

    kind : one of KINDS, see the module. Of several zeros the largest is taken, for positional_onset and
        positional_unstable the smallest.
    refinement : each unit quadruples the points of the rules by which the place found is made sharp.
    curves : fixed points to share with other transitions of the task.
    Raises ArgumentError for an unknown kind or an empty range.
    """
    if kind not in KINDS:
        raise ArgumentError(f"kind: is {kind!r}, allowed is one of {', '.join(KINDS)}")
    if not 0 < low < high < np.inf:
        raise ArgumentError(f"low, high: are {low!r}, {high!r}, allowed is 0 < low < high")
    curves = curves or BranchCurves(task)
    sharp = BranchCurves(task, partial(sharp_quadrature, refinement=refinement), coarser=curves)
    function, from_below, end = KINDS[kind]
    grid = np.geomspace(low, high, 1 + int(np.ceil(np.log(high / low) / np.log(_RATIO))))
    found = _Search(function(curves), function(sharp), grid, from_below).result()
    if end and task.columns == task.teacher_rank == 1:
        found = _around_fold(curves, sharp, end, from_below, grid, *found)
    return Transition(task, kind, *found, low, high)


class _Search:
    """The zero at which a function, known with its error or undefined, falls through zero as α grows."""

    def __init__(self, function, sharp, grid, from_below):
        """function : for the search, sharp : the same by finer rules for the place found; both of α, (value, error)."""
        self.function, self.sharp, self.grid, self.from_below = function, sharp, grid, from_below

    def result(self) -> tuple[float, float, str]:
        """α, its error and the status."""
        bracket = self._bracket()
        return (np.nan, np.nan, "absent") if bracket is None else self._refine(*sorted(bracket))

    def _bracket(self):
        """Neighbouring α between which the function falls through zero, the first that is met."""
        before = None
        for alpha in self.grid if self.from_below else self.grid[::-1]:
            value = self.function(alpha)[0]
            if before is not None:
                if np.isnan(value) and not np.isnan(before[1]):
                    found = self._towards_the_end(before[0], alpha)
                    if found is not None:
                        return before[0], found
                elif self._passed(value) and not np.isnan(before[1]):
                    return before[0], alpha
            before = (alpha, value)
        return None

    def _passed(self, value) -> bool:
        """Whether a value lies beyond the zero, seen from where the search began."""
        return value <= 0 if self.from_below else value > 0

    def _towards_the_end(self, known, undefined):
        """A place beyond the zero between a defined and an undefined one: near the end of a branch things move fast."""
        for _ in range(_BISECTIONS):
            middle = np.sqrt(known * undefined)
            value = self.function(middle)[0]
            if self._passed(value):
                return middle
            known, undefined = (known, middle) if np.isnan(value) else (middle, undefined)
        return None

    def _refine(self, a, b):
        values = {}

        def function(alpha):
            values[alpha] = self.function(alpha)[0]
            return values[alpha]

        try:
            alpha = brentq(function, a, b, xtol=_PRECISION, rtol=1e-12)
        except ValueError:
            return np.nan, np.nan, "unresolved"
        # The slope from a point of the search far enough away for its noise.
        apart = min(values, key=lambda x: abs(abs(x - alpha) - 0.01 * alpha))
        slope = (values[apart] - function(alpha)) / (apart - alpha) if apart != alpha else np.nan
        for _ in range(_SHARP_STEPS):
            value, error = self.sharp(alpha)
            step = -value / slope
            if not abs(step) < 0.1 * alpha:
                return np.nan, np.nan, "unresolved"
            alpha += step
            if abs(step) < _PRECISION:
                break
        error = float(abs(error / slope) + abs(step))
        return (alpha, error, "found") if np.isfinite(error) else (np.nan, np.nan, "unresolved")


def _loss_difference(curves: BranchCurves):
    def function(alpha):
        semantic, positional = curves.at("semantic", alpha), curves.at("positional", alpha)
        # Where both have merged into the uninformative branch their losses differ by rounding alone.
        if (semantic.merged and positional.merged) or not (semantic.converged and positional.converged):
            return np.nan, np.nan
        # The rules err in the same direction on both branches.
        error = largest_shift(semantic.shifts["train_loss"] - positional.shifts["train_loss"])
        error += semantic.residual * semantic.train_loss + positional.residual * positional.train_loss
        return semantic.train_loss - positional.train_loss, error

    return function


def _excess_error(curves: BranchCurves):
    baseline = linear_baseline(curves.task).test_error

    def function(alpha):
        point = curves.at("semantic", alpha)
        if not point.converged:
            return np.nan, np.nan
        return point.test_error - baseline, point.errors["test_error"] + point.residual * point.test_error

    return function


def _growth(branch: str, along: str, sign: float):
    """sign·(growth − 1) of the order parameter `along` at the branch, where the branch exists."""

    def bind(curves: BranchCurves):
        def function(alpha):
            point = curves.at(branch, alpha)
            if point.merged or not point.converged:
                return np.nan, np.nan
            value, error = growth_with_error(point, along, curves.quadrature(branch))
            return sign * (value - 1.0), error

        return function

    return bind


def growth_with_error(point: FixedPoint, along: str, quadrature: Quadrature) -> tuple[float, float]:
    """Growth of "m" or "theta" at the point, and what the coarser transverse rules make of it."""
    values = [
        transverse_growth(point.task, point.alpha, point.overlaps, point.branch, rule)[along]
        for rule in quadrature.transverse
    ]
    return values[0], largest_shift(np.array(values[1:]) - values[0])


def _around_fold(curves, sharp, branch, onset, grid, alpha, error, status):
    """The end of a branch, where that is a fold beyond the pitchfork found at `alpha`, or without one."""
    sign = 1.0 if onset else -1.0
    inner, outer = _edges(curves, branch, grid if onset else grid[::-1], alpha)
    if inner is None or outer is None:
        return np.nan, np.nan, "absent"
    point, rules = curves.at(branch, inner), sharp.quadrature(branch)
    curve = AmplitudeCurve(point, curves.quadrature(branch))
    largest = max(point.m, point.theta / curves.task.rho)
    if status == "found" and sign * (curve.alpha(_SMALL * largest) - alpha) > 0:
        return alpha, error, status  # near its end the branch lies on its own side of the pitchfork
    bounds, tolerance = (0.02 * largest, largest), {"xatol": 0.01 * largest}
    fold = minimize_scalar(lambda s: sign * curve.alpha(s), bounds=bounds, method="bounded", options=tolerance)
    at_fold = [AmplitudeCurve(point, replace(rules, fine=r)).alpha(fold.x) for r in (rules.fine, *rules.checks)]
    error = largest_shift(np.array(at_fold[1:]) - at_fold[0]) + _PRECISION
    return (at_fold[0], error, "found") if np.isfinite(error) else (np.nan, np.nan, "unresolved")


def _edges(curves, branch, grid, pitchfork):
    """Neighbours on the grid, which runs towards the branch's inside: where it exists, and where it does not.

    The search starts at the pitchfork, beyond which the branch may reach. None for one that the grid does not hold.
    """
    there = [curves.exists(branch, grid[0])]
    if there[0]:
        return grid[0], None
    first = 0 if np.isnan(pitchfork) else int(np.argmin(np.abs(np.log(grid / pitchfork))))
    inside = first
    while inside < len(grid) and not curves.exists(branch, grid[inside]):
        inside += 1
    if inside == len(grid):
        return None, None
    while curves.exists(branch, grid[inside - 1]):
        inside -= 1
    return grid[inside], grid[inside - 1]


# kind: the function, whether its first zero is meant rather than its last, and the branch that ends there.
KINDS = {
    "alpha_c": (_loss_difference, False, None),
    "alpha_l": (_excess_error, False, None),
    "semantic_onset": (_growth("uninformative", "theta", -1.0), True, "semantic"),
    "semantic_stable": (_growth("semantic", "m", 1.0), False, None),
    "positional_onset": (_growth("uninformative", "m", -1.0), True, "positional"),
    "positional_end": (_growth("uninformative", "m", 1.0), False, "positional"),
    "positional_unstable": (_growth("positional", "theta", -1.0), True, None),
}
