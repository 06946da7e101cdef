"""One step of the state evolution, and the rules by which its averages are taken."""

from __future__ import annotations

from dataclasses import dataclass

from solvable_attention.channel import channel_moments, rule_dimension
from solvable_attention.coordinates import pinned
from solvable_attention.overlaps import ChannelMoments, Overlaps, next_overlaps
from solvable_attention.quadrature import GaussianRule, SplitRule, sobol, split_gauss_hermite
from solvable_attention.task import TeacherStudent

Rule = GaussianRule | SplitRule


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Rules of one solve: `coarse` to start and for derivatives, `fine` for the result, `checks` for its error."""

    coarse: Rule
    fine: Rule
    checks: tuple[Rule, ...]


def default_quadrature(task: TeacherStudent, branch: str) -> Quadrature:
    """Split Gauss–Hermite rules where the pair kernel applies (errors near 1e-4), scrambled Sobol points elsewhere."""
    if task.is_paper_case:
        half = branch != "mixed"  # with m and θ both at work the half-space symmetry is lost
        coarse, fine, *checks = (split_gauss_hermite(order, half) for order in (10, 20, 14, 16))
    else:
        dimension = rule_dimension(task)
        coarse, (fine, *checks) = sobol(dimension, 11, 0), (sobol(dimension, 14, seed) for seed in range(3))
    return Quadrature(coarse, fine, tuple(checks))


def sharp_quadrature(task: TeacherStudent, branch: str, refinement: int = 0) -> Quadrature:
    """Rules for small differences of numbers, such as transitions need; each refinement quadruples the points."""
    if task.is_paper_case:
        half = branch != "mixed"
        orders = [2 * round(0.5 * order * 1.6**refinement) for order in (40, 20, 28)]
        fine, *checks = (split_gauss_hermite(order, half) for order in orders)
        return Quadrature(split_gauss_hermite(10, half), fine, tuple(checks))
    dimension, log2_points = rule_dimension(task), 15 + 2 * refinement
    fine, *checks = (sobol(dimension, log2_points, seed) for seed in range(3))
    return Quadrature(sobol(dimension, log2_points - 3, 0), fine, tuple(checks))


def state_evolution_map(
    task: TeacherStudent, alpha: float, overlaps: Overlaps, branch: str, rule: Rule
) -> tuple[Overlaps, ChannelMoments]:
    """One undamped step of the state evolution, F(overlaps), and the channel averages it used.

    branch : what its symmetry and gauge forbid stays zero; "free" forbids nothing.
    """
    moments = pinned(task, channel_moments(task, overlaps, rule), branch)
    return next_overlaps(task, alpha, moments), moments
