"""Growth of perturbations under the undamped state-evolution map, in the directions that a branch leaves out.

At a fixed point the map's Jacobian falls into blocks by the symmetries m → −m and θ → −θ: the branch's own subspace,
whose eigenvalues `FixedPoint` holds, and one block for each order parameter that the branch pins to zero. A branch is
stable under the map damped enough while every eigenvalue of the block has a real part below 1; without damping it
needs a modulus below 1, which on the semantic branch the growth of m does not have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvable_attention.coordinates import has_m, has_theta
from solvable_attention.overlaps import ChannelMoments, Overlaps
from solvable_attention.state_evolution import Rule, state_evolution_map
from solvable_attention.task import TeacherStudent

# Relative to the natural size of the order parameter. The map is odd in it, so that the error is quadratic (below 1 %
# at .15); draws whose minimiser changes wells on the way make the noise of a difference fall with the step only as
# its inverse root (standard deviation at 2^14 points: .13 at .01, .014 at .15).
_STEP = 0.15


def transverse_growth(
    task: TeacherStudent, alpha: float, overlaps: Overlaps, branch: str, moments: ChannelMoments, rule: Rule
) -> dict[str, float]:
    """Largest real part of the map's eigenvalues along "m" and "theta"; NaN where the branch has that direction.

    moments : channel averages at the overlaps. In the paper's case they hold the responses, by Stein's lemma, which
    needs no difference of two averages; elsewhere differences are taken on `rule`, which covers the full space.
    """
    responses = {"m": moments.response_m, "theta": moments.response_theta}
    growth = {}
    for name, field, inside in (("m", "mu", has_m(branch)), ("theta", "t", has_theta(branch))):
        if inside:
            growth[name] = np.nan
        elif task.is_paper_case:
            growth[name] = float(alpha * overlaps.chi[0, 0] * responses[name])
        else:
            growth[name] = _by_differences(task, alpha, overlaps, field, rule)
    return growth


def _by_differences(task, alpha, overlaps, field, rule) -> float:
    at = getattr(overlaps, field)
    step = _STEP * np.sqrt(np.trace(overlaps.K))
    # Entries of the columns that attend: those of trained values belong to every branch.
    part = np.s_[:, : task.attention_columns] if field == "mu" else np.s_[: task.attention_columns, : task.teacher_rank]
    places = np.zeros(at.shape, bool)
    places[part] = True

    def moved(place, by):
        value = at.copy()
        value[tuple(place)] += by
        new, _ = state_evolution_map(task, alpha, replace(overlaps, **{field: value}), "free", rule)
        return getattr(new, field)[places]

    try:
        columns = [(moved(p, step) - moved(p, -step)) / (2 * step) for p in np.argwhere(places)]
        jacobian = np.stack(columns, axis=1)
    except np.linalg.LinAlgError:
        return np.nan
    return float(np.max(np.linalg.eigvals(jacobian).real)) if np.isfinite(jacobian).all() else np.nan
