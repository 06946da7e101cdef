"""All fixed points of the full state-evolution map that a search from many starts finds at one α.

The map is solved by a root finder, not iterated: a saddle between two branches is found as well, which no damped
iteration would reach.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from solvable_attention.branch_problem import BranchProblem
from solvable_attention.encodings import encoding_factor
from solvable_attention.errors import ArgumentError
from solvable_attention.fixed_points import check_alpha, fixed_point
from solvable_attention.overlaps import Overlaps
from solvable_attention.quadrature import split_gauss_hermite
from solvable_attention.root_finding import broyden
from solvable_attention.solution import FixedPoint
from solvable_attention.state_evolution import default_quadrature
from solvable_attention.task import TeacherStudent

# Shares of the semantic state in the starts between it and the positional one.
BETWEEN = (0.25, 0.5, 0.75)
FIXED_STARTS = 3 + len(BETWEEN)
_COARSE_ORDER = 8
_WARM_UP_STEPS = 6
_MIXING = 0.8
_TOLERANCE = 1e-6
_EVALUATIONS = 40
# Order parameters below this share of their natural size are zero; states closer than this are the same.
_ZERO = 2e-3
_SAME = 2e-3


@dataclass(frozen=True, eq=False)
class Found:
    """A fixed point, and the number of starts that led to it."""

    point: FixedPoint
    starts: int


def scan(task: TeacherStudent, alpha: float, *, random_starts: int = 16, seed: int = 0) -> list[Found]:
    """Distinct fixed points reached with m and θ free, lowest training loss first.

    Starts are the pure branches, states between the semantic and the positional one, and random states.
    Each is named by the order parameters that differ from zero at it ("mixed" has both), and solved again inside that
    branch's subspace to full accuracy. Points that do not converge there come last.
    Raises ArgumentError for an argument out of range.
    """
    check_alpha(alpha)
    for name, value, least in (("random_starts", random_starts, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ArgumentError(f"{name}: is {value!r}, allowed is a whole number ≥ {least}")
    # Every point has draws of its own, whatever else is scanned.
    if task.value_rank:
        raise ArgumentError(f"value_rank: is {task.value_rank}, allowed in a scan is 0")
    rng = np.random.default_rng([seed, zlib.crc32(repr((task, float(alpha))).encode())])
    starts = [*_states_of_branches(task, float(alpha)), *(_random_state(task, rng) for _ in range(random_starts))]
    ends = [_search(task, float(alpha), start) for start in starts]
    groups: list[list[Overlaps]] = []
    for end in filter(None, ends):
        same = next((group for group in groups if _distance(group[0], end) < _SAME), None)
        if same is None:
            groups.append([end])
        else:
            same.append(end)
    found: list[Found] = []
    for group in groups:
        point = _solve(task, float(alpha), group[0])
        twin = next((i for i, f in enumerate(found) if _twins(f.point, point)), None)
        if twin is None:
            found.append(Found(point, len(group)))
        else:
            found[twin] = replace(found[twin], starts=found[twin].starts + len(group))
    return sorted(found, key=lambda f: (not f.point.converged, f.point.train_loss))


def _states_of_branches(task: TeacherStudent, alpha: float) -> list[Overlaps]:
    """The pure branches, and states between the semantic and the positional one."""
    pure = {name: fixed_point(task, alpha, name).overlaps for name in ("semantic", "positional", "uninformative")}
    a, b = pure["semantic"], pure["positional"]
    names = ("K", "t", "mu", "chi")
    between = [
        Overlaps(**{name: share * getattr(a, name) + (1 - share) * getattr(b, name) for name in names})
        for share in BETWEEN
    ]
    return [*pure.values(), *between]


def _random_state(task: TeacherStudent, rng: np.random.Generator) -> Overlaps:
    """Overlaps over the decades in which fixed points lie at σ of order one; some with one order parameter small."""
    c, r, k = task.columns, task.teacher_rank, encoding_factor(task).shape[1]
    size, scale = 10 ** rng.uniform(-1.5, 0.3), rng.choice([0.1, 1.0], size=2)
    direction = rng.standard_normal((c, r))
    t = direction / np.linalg.norm(direction) * np.sqrt(size) * rng.uniform(0, 0.95) * scale[0]
    mu = rng.standard_normal((k, c))
    mu *= 10 ** rng.uniform(-1.0, -0.2) * scale[1] / np.linalg.norm(mu)
    K = t @ t.T + (size - np.sum(t**2)) / c * np.eye(c)
    return Overlaps(K=K, t=t, mu=mu, chi=10 ** rng.uniform(-0.3, 0.3) * 0.5 / task.lam * np.eye(c))


def _search(task, alpha, start: Overlaps) -> Overlaps | None:
    """Root of the full map on a coarse rule near where a few damped steps lead; None where there is none."""
    quadrature = default_quadrature(task, "mixed")
    if task.is_paper_case:
        quadrature = replace(quadrature, coarse=split_gauss_hermite(_COARSE_ORDER, False))
    problem = BranchProblem(task, alpha, "mixed", quadrature)
    u = problem.pack(problem.iterate(start, _MIXING, _WARM_UP_STEPS))
    root = broyden(
        problem.residual_on(quadrature.coarse), u, problem.derivatives(u)[:-2], _TOLERANCE, _EVALUATIONS
    )
    solved = np.max(np.abs(root.residual)) <= _TOLERANCE
    return problem.unpack(problem.in_gauge(root.u)) if solved else None


def _solve(task, alpha, overlaps: Overlaps) -> FixedPoint:
    """The fixed point near the coarse one, inside the subspace of the order parameters that it has."""
    has_m, has_theta = (size > _ZERO for size in _order_parameters(overlaps))
    branch = {(0, 0): "uninformative", (1, 0): "positional", (0, 1): "semantic", (1, 1): "mixed"}[has_m, has_theta]
    pinned = replace(overlaps, mu=overlaps.mu * has_m, t=overlaps.t * has_theta)
    return BranchProblem(task, alpha, branch, default_quadrature(task, branch)).finish(pinned)


def _order_parameters(overlaps: Overlaps) -> tuple[float, float]:
    """Norms of mu and t in units of the student's size √tr K."""
    size = np.sqrt(np.trace(overlaps.K))
    return float(np.linalg.norm(overlaps.mu) / size), float(np.linalg.norm(overlaps.t) / size)


def _twins(a: FixedPoint, b: FixedPoint) -> bool:
    return a.branch == b.branch and _distance(a.overlaps, b.overlaps) < _SAME


def _distance(a: Overlaps, b: Overlaps) -> float:
    """Largest relative difference of K and χ, of mu and t in units of √tr K; gauge-free for any number of columns."""
    size = np.trace(a.K)
    parts = [
        (np.linalg.eigvalsh(a.K) - np.linalg.eigvalsh(b.K)) / size,
        (np.linalg.eigvalsh(a.chi) - np.linalg.eigvalsh(b.chi)) / np.trace(a.chi),
        (np.linalg.svd(a.t, compute_uv=False) - np.linalg.svd(b.t, compute_uv=False)) / np.sqrt(size),
        (np.linalg.svd(a.mu, compute_uv=False) - np.linalg.svd(b.mu, compute_uv=False)) / np.sqrt(size),
    ]
    return float(np.max(np.abs(np.concatenate(parts))))
