"""Fixed points of one task by branch and α, each found once and from its nearest neighbour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from solvable_attention.branch_problem import BranchProblem
from solvable_attention.fixed_points import fixed_point
from solvable_attention.solution import FixedPoint
from solvable_attention.state_evolution import Quadrature, search_quadrature
from solvable_attention.task import TeacherStudent

# A start farther away than this in log α is no help.
_NEAR = 0.6


class BranchCurves:
    """The branches of a task as functions of α, for searches that jump to and fro along them.

    quadrature : rules by (task, branch); coarser : curves by other rules, whose points open the searches here.
    """

    def __init__(
        self,
        task: TeacherStudent,
        quadrature: Callable[[TeacherStudent, str], Quadrature] = search_quadrature,
        coarser: BranchCurves | None = None,
    ):
        self.task, self._quadrature, self._coarser = task, quadrature, coarser
        self._found: dict[str, dict[float, FixedPoint]] = defaultdict(dict)

    def at(self, branch: str, alpha: float) -> FixedPoint:
        """The fixed point of the branch at α."""
        known = self._found[branch]
        if alpha not in known:
            start, rules = self._start(branch, alpha), self.quadrature(branch)
            known[alpha] = fixed_point(self.task, alpha, branch, start=start, quadrature=rules)
        return known[alpha]

    def quadrature(self, branch: str) -> Quadrature:
        """The rules used on the branch."""
        return self._quadrature(self.task, branch)

    def single(self, branch: str) -> bool:
        """Whether the branch has one order parameter."""
        return BranchProblem(self.task, 1.0, branch, self.quadrature(branch)).single

    def exists(self, branch: str, alpha: float) -> bool:
        """Whether the branch is apart from the uninformative one, and converged."""
        point = self.at(branch, alpha)
        return point.converged and not point.merged

    def _start(self, branch, alpha) -> FixedPoint | None:
        points = {**(self._coarser._found[branch] if self._coarser else {}), **self._found[branch]}
        distance = {a: abs(np.log(a / alpha)) for a, point in points.items() if point.converged}
        nearest = min(distance, key=distance.get, default=None)
        return points[nearest] if nearest is not None and distance[nearest] < _NEAR else None
