"""Growth of perturbations under the undamped state-evolution map, in the directions that a branch leaves out.

At a fixed point the map's Jacobian falls into blocks by the symmetries m → −m and θ → −θ: the branch's own subspace,
whose eigenvalues `FixedPoint` holds, and one block for each order parameter that the branch pins to zero. A branch is
dynamically stable towards that order parameter while every eigenvalue of the block has a real part below 1 (theory of
the map as a dynamical system; the damped iteration that one would run in practice stops at the same place).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvable_attention.coordinates import has_m, has_theta
from solvable_attention.overlaps import Overlaps
from solvable_attention.state_evolution import Rule, state_evolution_map
from solvable_attention.task import TeacherStudent

# Relative to the natural size of the order parameter; the map is odd in it, so that the error is quadratic.
_STEP = 1e-3


def transverse_growth(
    task: TeacherStudent, alpha: float, overlaps: Overlaps, branch: str, rule: Rule
) -> dict[str, float]:
    """Largest real part of the map's eigenvalues along "m" and "theta"; NaN where the branch has that direction.

    rule : covers the full space, unless both order parameters vanish at `overlaps`.
    """
    growth = {}
    for name, field, inside in (("m", "mu", has_m(branch)), ("theta", "t", has_theta(branch))):
        growth[name] = np.nan if inside else _growth(task, alpha, overlaps, field, rule)
    return growth


def _growth(task, alpha, overlaps, field, rule) -> float:
    at = getattr(overlaps, field)
    step = _STEP * np.sqrt(np.trace(overlaps.K))
    columns = []
    try:
        base = _next(task, alpha, overlaps, field, rule)
        for i in range(at.size):
            moved = at.ravel() + step * (np.arange(at.size) == i)
            columns.append((_next(task, alpha, overlaps, field, rule, moved.reshape(at.shape)) - base) / step)
    except np.linalg.LinAlgError:
        return np.nan
    jacobian = np.stack(columns, axis=1)
    return float(np.max(np.linalg.eigvals(jacobian).real)) if np.isfinite(jacobian).all() else np.nan


def _next(task, alpha, overlaps, field, rule, value=None) -> np.ndarray:
    if value is None:
        if task.is_paper_case:
            return np.zeros(getattr(overlaps, field).size)  # by symmetry, on rules that have it
        value = getattr(overlaps, field)
    new, _ = state_evolution_map(task, alpha, replace(overlaps, **{field: value}), "mixed", rule)
    return getattr(new, field).ravel()
