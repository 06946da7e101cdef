"""Roots of a residual of few unknowns whose evaluation is expensive: Broyden's method from a known Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

Residual = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Root:
    """The point u of smallest residual seen, the residual there, an estimate of the Jacobian, and evaluations used."""

    u: np.ndarray
    residual: np.ndarray
    jacobian: np.ndarray
    evaluations: int


def powell(residual: Residual, u: np.ndarray, tolerance: float, most_evaluations: int) -> Root:
    """scipy's Powell hybrid method, which finds its own Jacobian; robust far from the root.

    Returns the best point that was evaluated, whatever the method reports.
    """
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    def recorded(x):
        value = residual(x)
        seen.append((x.copy(), value))
        return value

    # A step of 1e-5 averages over more nodes near a jump than the default of 1e-8.
    root(recorded, u, method="hybr", options={"xtol": tolerance, "maxfev": most_evaluations, "eps": 1e-5})
    best, value = min(seen, key=lambda pair: _size(pair[1]))
    return Root(best, value, np.full((u.size, u.size), np.nan), len(seen))


def broyden(residual: Residual, u: np.ndarray, jacobian: np.ndarray, tolerance: float, most_evaluations: int) -> Root:
    """Broyden's good method from an approximate Jacobian, with the step halved while the residual grows.

    Stops when the largest entry of the residual is ≤ tolerance. Returns the best point evaluated, so that the residual
    is the one at the returned point.
    """
    value = residual(u)
    best = Root(u, value, jacobian, 1)
    evaluations = 1
    while _size(best.residual) > tolerance and evaluations < most_evaluations:
        step = -np.linalg.solve(jacobian, value)
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
            best = Root(u, value, jacobian, evaluations)
    return Root(best.u, best.residual, jacobian, evaluations)


def _size(residual: np.ndarray) -> float:
    largest = np.max(np.abs(residual))
    return float(largest) if np.isfinite(largest) else np.inf
