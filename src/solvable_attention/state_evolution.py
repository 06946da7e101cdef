"""One step of the state evolution, and the rules by which its averages are taken."""

from __future__ import annotations

from dataclasses import dataclass

from solvable_attention.channel import channel_moments, rule_dimension
from solvable_attention.coordinates import pinned
from solvable_attention.overlaps import ChannelMoments, Overlaps, next_overlaps
from solvable_attention.quadrature import GaussianRule, SplitRule, split_gauss_hermite, symmetric_sobol
from solvable_attention.solution import RESIDUAL_TOLERANCE
from solvable_attention.task import TeacherStudent

# Where only the sign of a difference is sought, and where the residual is part of the error that is quoted.
_SEARCH_TOLERANCE, _SHARP_TOLERANCE = 5e-3, 1e-4

Rule = GaussianRule | SplitRule


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Rules of one solve: `coarse` to start and for derivatives, `fine` for the result, `checks` for its error.

    tolerance : largest residual at which a point counts as converged. On a set of points the map jumps by the weight of
        a draw whose minimiser changes wells, so that at some α nothing is at rest to 1e-8.
    """

    coarse: Rule
    fine: Rule
    checks: tuple[Rule, ...]
    tolerance: float = RESIDUAL_TOLERANCE


def default_quadrature(task: TeacherStudent, branch: str) -> Quadrature:
    """Split Gauss–Hermite rules where the pair kernel applies (errors near 1e-4), scrambled Sobol points elsewhere."""
    if task.is_paper_case:
        half = branch != "mixed"  # with m and θ both at work the half-space symmetry is lost
        coarse, fine, *checks = (split_gauss_hermite(order, half) for order in (10, 20, 14, 16))
    else:
        coarse, fine, *checks = (_points(task, branch, *rule) for rule in ((11, 0), (14, 0), (14, 1), (14, 2)))
    return Quadrature(coarse, fine, tuple(checks))


def search_quadrature(task: TeacherStudent, branch: str) -> Quadrature:
    """Rules by which a transition is bracketed before it is made sharp: without checks, and on fewer Sobol points."""
    if task.is_paper_case:
        return default_quadrature(task, branch)
    return Quadrature(_points(task, branch, 10, 0), _points(task, branch, 12, 0), (), _SEARCH_TOLERANCE)


def sharp_quadrature(task: TeacherStudent, branch: str, refinement: int = 0) -> Quadrature:
    """Rules for small differences of numbers, such as transitions need; each refinement quadruples the points."""
    if task.is_paper_case:
        half = branch != "mixed"
        orders = [2 * round(0.5 * order * 1.6**refinement) for order in (40, 20, 28)]
        fine, *checks = (split_gauss_hermite(order, half) for order in orders)
        return Quadrature(split_gauss_hermite(10, half), fine, tuple(checks))
    log2_points = 15 + 2 * refinement
    fine, *checks = (_points(task, branch, log2_points, seed) for seed in range(3))
    return Quadrature(_points(task, branch, log2_points - 3, 0), fine, tuple(checks), _SHARP_TOLERANCE)


def _points(task: TeacherStudent, branch: str, log2_points: int, seed: int) -> GaussianRule:
    """Scrambled Sobol points with the symmetries by which the branch merges into the uninformative one.

    A branch ends where its order parameter goes to 0, which plain points would replace by a small number of their own.
    Where m = 0 everything but that order parameter is even in the fields that attend, (h⋆, w) → −(h⋆, w), and where
    θ = 0 in h⋆ alone: to turn the sign of the student's noise is enough on the pure branches. On the mixed one, where
    m may vanish and θ not, or the other way round, that of h⋆ has to turn as well.
    """
    tokens, first = range(task.L), task.L * task.teacher_columns
    noise = tuple(first + token * task.columns + a for token in tokens for a in range(task.attention_columns))
    teacher = tuple(token * task.teacher_columns + a for token in tokens for a in range(task.teacher_rank))
    flips = (noise, teacher) if branch == "mixed" else (noise,)
    return symmetric_sobol(rule_dimension(task), log2_points, seed, flips)


def state_evolution_map(
    task: TeacherStudent, alpha: float, overlaps: Overlaps, branch: str, rule: Rule
) -> tuple[Overlaps, ChannelMoments]:
    """One undamped step of the state evolution, F(overlaps), and the channel averages it used.

    branch : what its symmetry and gauge forbid stays zero; "free" forbids nothing.
    """
    moments = pinned(task, channel_moments(task, overlaps, rule), branch)
    return next_overlaps(task, alpha, moments), moments
