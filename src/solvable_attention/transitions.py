"""Sample complexities at which the global minimum, the baseline or the set of branches changes.

Every kind is the place where a function of α falls through zero as α grows:

    alpha_c              ε_t^sem − ε_t^pos: from there on the semantic branch is the global minimum
    alpha_m              ε_t^mix − ε_t^pos: from there on the mixed branch, where it exists, is below the positional one
    alpha_s              ε_t^sem − ε_t^mix: from there on the semantic branch is below the mixed one
    alpha_l              ε_g^sem − ε_lin: from there on the semantic branch beats the linear positional baseline
    alpha_lm             ε_g^mix − ε_lin: from there on the mixed branch does
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
from solvable_attention.fixed_points import fixed_point
from solvable_attention.solution import FixedPoint, largest_shift
from solvable_attention.stability import transverse_growth
from solvable_attention.state_evolution import Quadrature, Rule, sharp_quadrature, state_evolution_map
from solvable_attention.task import TeacherStudent

LOW, HIGH = 0.02, 3.0
_RATIO = 1.35  # of neighbouring α in the scan for a change of sign
_BISECTIONS = 7
_PRECISION = 1e-5
_SHARP_STEPS = 4
# Of the error of one branch's ε_t, below which that of the difference of two is not quoted.
_LEAST_SHARE = 0.1
# Order parameters relative to one inside the branch at which its end is explored, how many of them may fail, and how
# sharply the one of a fold is sought.
_SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
_MOST_FAILED = 3
_XATOL = 1e-3


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
    if curves is not None and curves.task != task:
        raise ArgumentError(f"curves: are of {curves.task}, allowed are those of the task {task}")
    curves = curves or BranchCurves(task)
    sharp = BranchCurves(task, partial(sharp_quadrature, refinement=refinement), coarser=curves)
    function, from_below, end = KINDS[kind]
    grid = np.geomspace(low, high, 1 + int(np.ceil(np.log(high / low) / np.log(_RATIO))))
    found = _Search(function(curves), function(sharp), grid, from_below).result()
    if end and curves.single(end):
        found = _around_fold(curves, sharp, end, from_below, grid, *found)
    return Transition(task, kind, *found, low, high)


class _Search:
    """The zero at which a function, known with its error or undefined, falls through zero as α grows."""

    def __init__(self, function, sharp, grid, from_below):
        """function : for the search; sharp : the same by finer rules, for the place found and its error."""
        self.function, self.sharp, self.error = function.value, sharp.value, sharp.error
        self.grid, self.from_below, self.lost = grid, from_below, function.lost

    def result(self) -> tuple[float, float, str]:
        """α, its error and the status."""
        bracket, resolved = self._bracket()
        if bracket is None:
            return np.nan, np.nan, "absent" if resolved else "unresolved"
        return self._refine(*sorted(bracket))

    def _bracket(self):
        """Neighbouring α between which the function falls through zero, the first met; whether all is resolved.

        What is not: a point that did not converge, or a change of sign across α at which the function is undefined.
        """
        before, gap, resolved = None, False, True  # the last α with a value that has not passed the zero
        for alpha in self.grid if self.from_below else self.grid[::-1]:
            value = self.function(alpha)
            if np.isnan(value):
                found = None if before is None or gap else self._towards_the_end(before, alpha)
                if found is not None:
                    return (before, found), True
                gap = True
            elif not self._passed(value):
                before, gap = alpha, False
            elif before is not None and not gap:
                return (before, alpha), True
            elif before is not None:
                resolved, before = False, None
        return None, resolved and not self.lost

    def _passed(self, value) -> bool:
        """Whether a value lies beyond the zero, seen from where the search began."""
        return value <= 0 if self.from_below else value > 0

    def _towards_the_end(self, known, undefined):
        """A place beyond the zero between a defined and an undefined one: near the end of a branch things move fast."""
        for _ in range(_BISECTIONS):
            middle = np.sqrt(known * undefined)
            value = self.function(middle)
            if self._passed(value):
                return middle
            known, undefined = (known, middle) if np.isnan(value) else (middle, undefined)
        return None

    def _refine(self, a, b):
        values = {}

        def function(alpha):
            values[alpha] = self.function(alpha)
            return values[alpha]

        try:
            alpha = brentq(function, a, b, xtol=_PRECISION, rtol=1e-12)
        except ValueError:
            return np.nan, np.nan, "unresolved"
        # The slope from a point of the search far enough away for its noise.
        apart = min(values, key=lambda x: abs(abs(x - alpha) - 0.01 * alpha))
        slope = (values[apart] - function(alpha)) / (apart - alpha) if apart != alpha else np.nan
        alpha, left = self._sharpen(alpha, slope)
        error = float((self.error(alpha) + left) / abs(slope)) if np.isfinite(alpha) else np.nan
        return (alpha, error, "found") if np.isfinite(error) else (np.nan, np.nan, "unresolved")

    def _sharpen(self, alpha, slope):
        """The α of smallest |value| by the finer rules, along Newton steps of this slope, and what is left there."""
        best, smallest = np.nan, np.inf
        for _ in range(_SHARP_STEPS):
            value = self.sharp(alpha)
            if abs(value) < smallest:
                best, smallest = alpha, abs(value)
            step = -value / slope
            if not _PRECISION < abs(step) < 0.1 * alpha:
                break
            alpha += step
        return best, smallest


class LossDifference:
    """ε_t of one branch less that of another.

    Undefined where it is rounding alone: where both have merged, or the mixed branch has merged into a pure one.
    """

    def __init__(self, curves: BranchCurves, branch: str = "semantic", other: str = "positional"):
        self.curves, self.branches, self.lost = curves, (branch, other), []

    def value(self, alpha: float) -> float:
        first, second = self.points(alpha)
        if not (first.converged and second.converged):
            self.lost.append(alpha)
            return np.nan
        merged = (first.merged and second.merged) or any(p.merged and p.branch == "mixed" for p in (first, second))
        return np.nan if merged else first.train_loss - second.train_loss

    def error(self, alpha: float) -> float:
        first, second = self.points(alpha)
        # The rules err in the same direction on both branches where they are the same.
        shifts = first.shifts["train_loss"] - second.shifts["train_loss"]
        # By chance the difference of the shifts may vanish.
        least = _LEAST_SHARE * max(point.errors["train_loss"] for point in (first, second))
        residuals = sum(point.residual * point.train_loss for point in (first, second))
        return max(largest_shift(shifts), least) + residuals

    def points(self, alpha):
        return [self.curves.at(branch, alpha) for branch in self.branches]


class ExcessError:
    """ε_g of one branch less ε_lin; undefined where the mixed branch has merged into a pure one."""

    def __init__(self, curves: BranchCurves, branch: str = "semantic"):
        self.curves, self.branch = curves, branch
        self.baseline, self.lost = linear_baseline(curves.task).test_error, []

    def value(self, alpha: float) -> float:
        point = self.curves.at(self.branch, alpha)
        if not point.converged:
            self.lost.append(alpha)
            return np.nan
        return np.nan if point.merged and self.branch == "mixed" else point.test_error - self.baseline

    def error(self, alpha: float) -> float:
        point = self.curves.at(self.branch, alpha)
        return point.errors["test_error"] + point.residual * point.test_error


class Growth:
    """sign·(growth − 1) of an order parameter ("m" or "theta") at a branch, where that exists."""

    def __init__(self, curves: BranchCurves, branch: str, name: str, sign: float):
        self.curves, self.branch, self.name, self.sign, self.lost = curves, branch, name, sign, []

    def value(self, alpha: float) -> float:
        point = self.curves.at(self.branch, alpha)
        if not point.converged:
            self.lost.append(alpha)
            return np.nan
        return np.nan if point.merged else self.sign * (self.growth(point, self.rules.fine) - 1.0)

    def error(self, alpha: float) -> float:
        """From the fixed points of the check rules."""
        point, rules = self.curves.at(self.branch, alpha), self.rules
        value, shifts = self.growth(point, rules.fine), []
        for check in rules.checks:
            quadrature = Quadrature(rules.coarse, check, ())
            other = fixed_point(point.task, alpha, self.branch, start=point, quadrature=quadrature)
            shifts.append(self.growth(other, check) - value)
        return largest_shift(np.array(shifts)) + point.residual

    def growth(self, point: FixedPoint, rule: Rule) -> float:
        """The growth by this rule; in the paper's case the point holds it."""
        if point.task.is_paper_case:
            return getattr(point, f"growth_{self.name}")
        _, moments = state_evolution_map(point.task, point.alpha, point.overlaps, point.branch, rule)
        return transverse_growth(point.task, point.alpha, point.overlaps, point.branch, moments, rule)[self.name]

    @property
    def rules(self) -> Quadrature:
        return self.curves.quadrature(self.branch)


def _around_fold(curves, sharp, branch, onset, grid, alpha, error, status):
    """The end of a branch, where that is a fold beyond the pitchfork found at `alpha`, or without one."""
    sign = 1.0 if onset else -1.0
    inner, lost = _innermost(curves, branch, grid if onset else grid[::-1], alpha)
    if lost:
        return np.nan, np.nan, "unresolved"
    if inner is None:
        return np.nan, np.nan, "absent"
    point, rules = curves.at(branch, inner), sharp.quadrature(branch)
    curve = AmplitudeCurve(point, curves.quadrature(branch))
    # Step by step from the known point: far from it the search at a given order parameter may fail.
    amplitudes = curve.largest * np.array(_SHARES)
    places = sign * np.array([curve.alpha(amplitude) for amplitude in amplitudes])
    if np.isnan(places[-1]) or np.isnan(places).sum() > _MOST_FAILED:
        return np.nan, np.nan, "unresolved"
    best = int(np.nanargmin(places))
    if best == len(places) - 1:
        return alpha, error, status  # the order parameter falls to zero on the branch's own side of the pitchfork
    bounds = amplitudes[min(best + 1, len(places) - 1)], amplitudes[max(best - 1, 0)]
    fold = minimize_scalar(lambda s: sign * curve.alpha(s), bounds=bounds, method="bounded", options={"xatol": _XATOL})
    at_fold = [AmplitudeCurve(point, replace(rules, fine=r)).alpha(fold.x) for r in (rules.fine, *rules.checks)]
    error = largest_shift(np.array(at_fold[1:]) - at_fold[0]) + _PRECISION
    return (at_fold[0], error, "found") if np.isfinite(error) else (np.nan, np.nan, "unresolved")


def _innermost(curves, branch, grid, pitchfork):
    """Last α of the grid at which the branch exists, going from its inside to its end; and whether one was lost.

    The grid runs inwards. None where the branch does not exist, or still exists where the grid begins. The search
    starts at the pitchfork, beyond which the branch may reach.
    """
    if curves.exists(branch, grid[0]):
        return None, False
    visited = [grid[0]]
    place = 0 if np.isnan(pitchfork) else int(np.argmin(np.abs(np.log(grid / pitchfork))))
    while place < len(grid) and not curves.exists(branch, grid[place]):
        visited.append(grid[place])
        place += 1
    while 0 < place < len(grid) and curves.exists(branch, grid[place - 1]):
        place -= 1
    lost = any(not curves.at(branch, alpha).converged for alpha in visited)
    return (grid[place] if place < len(grid) else None), lost


# kind: the function, whether its first zero is meant rather than its last, and the branch that ends there.
KINDS = {
    "alpha_c": (LossDifference, False, None),
    "alpha_m": (partial(LossDifference, branch="mixed"), False, None),
    "alpha_s": (partial(LossDifference, other="mixed"), False, None),
    "alpha_l": (ExcessError, False, None),
    "alpha_lm": (partial(ExcessError, branch="mixed"), False, None),
    "semantic_onset": (partial(Growth, branch="uninformative", name="theta", sign=-1.0), True, "semantic"),
    "semantic_stable": (partial(Growth, branch="semantic", name="m", sign=1.0), False, None),
    "positional_onset": (partial(Growth, branch="uninformative", name="m", sign=-1.0), True, "positional"),
    "positional_end": (partial(Growth, branch="uninformative", name="m", sign=1.0), False, "positional"),
    "positional_unstable": (partial(Growth, branch="positional", name="theta", sign=-1.0), True, None),
}
