"""Fixed points with the order parameter given and α unknown: the way around the end of a branch.

Along a branch α is a smooth even function of its order parameter s (m or θ). Where the branch leaves the uninformative
one continuously the end is α(0); where it folds back it is an extremum of α(s) at s ≠ 0, near which the equations at
given α become singular while these do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvable_attention.branch_problem import BranchProblem
from solvable_attention.root_finding import broyden
from solvable_attention.solution import FixedPoint
from solvable_attention.state_evolution import Quadrature, Rule

_TOLERANCE = 1e-9
_EVALUATIONS = 25
_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class AmplitudePoint:
    """The branch at order parameter `amplitude`: its other coordinates and log α, and the Jacobian in these."""

    amplitude: float
    unknowns: np.ndarray
    jacobian: np.ndarray

    @property
    def alpha(self) -> float:
        """Sample complexity at which the branch has this order parameter."""
        return float(np.exp(self.unknowns[-1]))


class AmplitudeCurve:
    """α(s) of the branch of a known fixed point, of order parameter `largest`, for branches with a single one."""

    def __init__(self, point: FixedPoint, quadrature: Quadrature):
        self._task, self._branch, self._quadrature = point.task, point.branch, quadrature
        u = BranchProblem(point.task, point.alpha, point.branch, quadrature).pack(point.overlaps)
        unknowns = np.append(u[:-1], np.log(point.alpha))
        self.largest = float(abs(u[-1]))
        self._known = [AmplitudePoint(float(u[-1]), unknowns, self._derivatives(unknowns, u[-1]))]

    def alpha(self, amplitude: float) -> float:
        """α(s), sought from the nearest point known; NaN where the search fails."""
        near = min(self._known, key=lambda point: abs(point.amplitude - amplitude))

        def residual(unknowns):
            return self._residual(unknowns, amplitude, self._quadrature.fine)

        found = broyden(residual, near.unknowns, near.jacobian, _TOLERANCE, _EVALUATIONS)
        if not np.max(np.abs(found.residual)) <= _TOLERANCE:
            return np.nan
        self._known.append(AmplitudePoint(amplitude, found.u, self._derivatives(found.u, amplitude)))
        return self._known[-1].alpha

    def _residual(self, unknowns, amplitude, rule: Rule):
        problem = BranchProblem(self._task, float(np.exp(unknowns[-1])), self._branch, self._quadrature)
        residual = problem.observables(np.append(unknowns[:-1], amplitude), rule)[:-2]
        # The last equation is odd in the order parameter: divided by it, it stays regular as that goes to zero.
        residual[-1] /= amplitude
        return residual

    def _derivatives(self, unknowns, amplitude):
        rule = self._quadrature.coarse
        base = self._residual(unknowns, amplitude, rule)
        shifts = _STEP * np.eye(unknowns.size)
        return np.stack([self._residual(unknowns + s, amplitude, rule) - base for s in shifts], 1) / _STEP
