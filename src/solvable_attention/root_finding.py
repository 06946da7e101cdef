"""Roots of a residual of few unknowns whose evaluation is expensive: Broyden's method from a known Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# In logarithms of variances and overlaps of order one a longer step leaves the region where the Jacobian holds.
_LONGEST_STEP = 2.0
Residual = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Root:
    """The point u of smallest residual seen, and the residual there."""

    u: np.ndarray
    residual: np.ndarray


def broyden(residual: Residual, u: np.ndarray, jacobian: np.ndarray, tolerance: float, most_evaluations: int) -> Root:
    """Broyden's good method from an approximate Jacobian, with the step halved while the residual grows.

    Stops when the largest entry of the residual is ≤ tolerance. Returns the best point evaluated, so that the residual
    is the one at the returned point.
    """
    value = residual(u)
    best = Root(u, value)
    evaluations = 1
    if not (np.isfinite(jacobian).all() and np.isfinite(value).all()):
        return best
    while _size(best.residual) > tolerance and evaluations < most_evaluations:
        # Least squares: rotations of the student's columns are flat directions, along which no step is taken.
        step = -np.linalg.lstsq(jacobian, value, rcond=1e-9)[0]
        step *= min(1.0, _LONGEST_STEP / max(_size(step), 1e-300))
        trial = residual(u + step)
        evaluations += 1
        while not _size(trial) < 2.0 * _size(value) and evaluations < most_evaluations:
            step = 0.5 * step
            trial = residual(u + step)
            evaluations += 1
        if not np.isfinite(trial).all():
            break
        jacobian = jacobian + np.outer(trial - value - jacobian @ step, step) / (step @ step)
        u, value = u + step, trial
        if _size(value) < _size(best.residual):
            best = Root(u, value)
    return best


def _size(residual: np.ndarray) -> float:
    largest = np.max(np.abs(residual))
    return float(largest) if np.isfinite(largest) else np.inf
