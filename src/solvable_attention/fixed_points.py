"""Fixed points of the state evolution and their continuation in the sample complexity α = n/d."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real

import numpy as np

from solvable_attention.branch_problem import WARM_UP_STEPS, BranchProblem
from solvable_attention.coordinates import BRANCHES, pack, unpack
from solvable_attention.errors import ArgumentError
from solvable_attention.solution import MERGED, NEAR_THE_END, FixedPoint, order_parameter
from solvable_attention.state_evolution import Quadrature, default_quadrature
from solvable_attention.task import TeacherStudent

DEFAULT_MIXING = 0.8
_LONG = 10 * WARM_UP_STEPS
# Growth that differs from 1 by less is not told from 1 by the quadrature.
_UNRESOLVED = 5e-4


def fixed_point(
    task: TeacherStudent,
    alpha: float,
    branch: str,
    *,
    start: FixedPoint | None = None,
    quadrature: Quadrature | None = None,
    mixing: float = DEFAULT_MIXING,
) -> FixedPoint:
    """Solve the state evolution at one α inside the branch's own subspace.

    branch : "semantic" (θ>0, m=0), "positional" (m>0, θ=0), "uninformative" (m=θ=0) or "mixed" (both free).
    start : a fixed point of the same branch nearby, whose state and Jacobian open the search.
    mixing : weight of the *old* state in the warm-up iteration that precedes the root finder when there is no start;
        the map oscillates along m below .8. The result does not depend on it.

    Where the branch does not exist the search ends at the uninformative point and `merged` is True. A solve that does
    not reach the tolerance is returned with converged=False.
    Raises ArgumentError for an argument out of range, named with its value.
    """
    _check_arguments(alpha, branch, mixing)
    problem = BranchProblem(task, float(alpha), branch, quadrature or default_quadrature(task, branch))
    if start is not None and not start.merged and np.isfinite(start.jacobian).all():
        solution = problem.polish(problem.pack(start.overlaps), start.jacobian)
        if solution.converged and not solution.merged:
            return solution
    if branch == "uninformative":
        return problem.finish(problem.approach(mixing))
    return _away_from_zero(problem, mixing) or _near_the_end(problem, mixing, start)


def branch(task: TeacherStudent, alphas: Sequence[float] | float, branch: str, **options) -> list[FixedPoint]:
    """Fixed points of one branch along α, in the order asked.

    The branch is followed from the largest α, where it is well separated, downwards; each solve starts from a
    polynomial through the three before it. `options` are those of `fixed_point`.
    Raises ArgumentError for an empty grid.
    """
    alphas = list(alphas) if isinstance(alphas, Iterable) else [alphas]
    if not alphas:
        raise ArgumentError("alphas: is [], allowed is at least one positive number")
    for alpha in alphas:
        _check_arguments(alpha, branch, options.get("mixing", DEFAULT_MIXING))
    found: dict[float, FixedPoint] = {}
    trail: list[FixedPoint] = []
    for alpha in sorted(set(alphas), reverse=True):
        start = _predict(trail, alpha)
        found[alpha] = fixed_point(task, alpha, branch, start=start, **options)
        trail = [*trail, found[alpha]] if found[alpha].converged and not found[alpha].merged else []
        # A merged point opens the search for the next merged one; the branch, should it reappear, is sought anew.
        trail = [found[alpha]] if found[alpha].merged and found[alpha].converged else trail
    return [found[alpha] for alpha in alphas]


def _away_from_zero(problem: BranchProblem, mixing: float) -> FixedPoint | None:
    """The point of the branch, or a failed solve, where the order parameter stays well above zero; else None."""
    # Just beyond a fold the damped map lingers where the branch was: a second, longer way leads on to zero.
    for warm_up in (WARM_UP_STEPS, _LONG):
        approached = problem.approach(mixing, warm_up)
        if order_parameter(problem.task, approached, problem.branch) <= MERGED:
            return None
        solution = problem.finish(approached)
        if solution.converged and not solution.merged:
            return solution
        if order_parameter(problem.task, solution.overlaps, problem.branch) <= NEAR_THE_END:
            return None
    return solution


def _near_the_end(problem: BranchProblem, mixing: float, start: FixedPoint | None) -> FixedPoint:
    """The merged point, or the branch beside it where that point is unstable towards it."""
    end = problem.merged_point(mixing, start if start is not None and start.merged else None)
    growth = problem.growth_at(end)
    if growth <= 1.0:
        return end
    beyond = problem.leave(end) if problem.single else None
    if beyond is not None and beyond.converged and not beyond.merged:
        return beyond
    if growth < 1.0 + _UNRESOLVED:
        return end
    return problem.finish(problem.approach(mixing, _LONG, give_up=False))


def check_alpha(alpha) -> None:
    """Raise ArgumentError unless α is a positive number."""
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < np.inf:
        raise ArgumentError(f"alpha: is {alpha!r}, allowed is a positive number")


def _check_arguments(alpha, branch, mixing):
    check_alpha(alpha)
    if branch not in BRANCHES:
        raise ArgumentError(f"branch: is {branch!r}, allowed is one of {', '.join(BRANCHES)}")
    if not isinstance(mixing, Real) or not 0 <= mixing < 1:
        raise ArgumentError(f"mixing: is {mixing!r}, allowed is a number in [0, 1)")


def _predict(trail, alpha):
    """Polynomial in log α through the last three fixed points, in coordinates, or the only one."""
    if len(trail) < 2 or trail[-1].merged:
        return trail[-1] if trail else None
    last = trail[-1]
    # Beyond 1.5 times the last distance the extrapolation is not to be trusted.
    known = trail[-3:]
    x = np.log([point.alpha / last.alpha for point in known])
    reach = min(np.log(alpha / last.alpha) / -x[-2], 1.5) * -x[-2]
    others = [np.delete(x, i) for i in range(len(x))]
    weights = [np.prod((reach - other) / (x[i] - other)) for i, other in enumerate(others)]
    predicted = sum(w * pack(point.task, point.overlaps, point.branch) for w, point in zip(weights, known, strict=True))
    return replace(last, overlaps=unpack(last.task, predicted, last.branch, last.overlaps.mu.shape[0]))
