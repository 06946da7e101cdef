"""Fixed points of the state evolution and their continuation in the sample complexity α = n/d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from solvable_attention.channel import channel_moments, rule_dimension
from solvable_attention.coordinates import BRANCHES, has_m, has_theta, pack, unpack
from solvable_attention.encodings import encoding_factor
from solvable_attention.errors import ArgumentError
from solvable_attention.overlaps import ChannelMoments, Overlaps, free_energy, next_overlaps, pinned, train_loss
from solvable_attention.quadrature import GaussianRule, SplitRule, sobol, split_gauss_hermite
from solvable_attention.root_finding import broyden
from solvable_attention.task import TeacherStudent

Rule = GaussianRule | SplitRule
RESIDUAL_TOLERANCE = 1e-8
_WARM_UP_STEPS = 12
_WARM_UP_ROUNDS = 4
# The solver's residual is relative, in logarithms and overlaps of order one; it aims well below the tolerance.
_SOLVER_TOLERANCE = 1e-10
_SOLVER_EVALUATIONS = 20
_COARSE_TOLERANCE = 1e-6
_DIFFERENCE_STEP = 1e-4
# The shift to the coarser rules covered the true error (order 40) in 95 % of 240 numbers; with this factor in all.
_SAFETY = 1.5
# Below this K = ‖Q‖²/d the student is taken as Q = 0, where the attention is uniform to 1e-6.
_COLLAPSED = 1e-6
_COLLAPSED_STEPS = 30
# An order parameter below this share of its largest possible value counts as zero.
_MERGED = 1e-3


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
        coarse, (fine, *checks) = sobol(dimension, 10, 0), (sobol(dimension, 13, seed) for seed in range(3))
    return Quadrature(coarse, fine, tuple(checks))


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """A fixed point of the state evolution at sample complexity alpha on a branch.

    overlaps : K, t, mu, chi, see `Overlaps`; q, m, V, theta are the paper's numbers for a student of one column.
    train_loss : ε_t; free_energy : the same number by an independent expression; test_error : ε_g.
    residual : largest |F(state) − state| of the undamped map at this very point, q and V relative to themselves,
        m and θ to their natural scales √q and √(ρq).
    errors : estimated quadrature error of "q", "m", "V", "theta", "train_loss", "test_error", absolute.
    quadrature_error : the largest of them, relative to the value (m and θ where the branch has them).
    converged : residual ≤ 1e-8 and every number finite.
    jacobian : of F(u) − u in the branch's coordinates u (see `coordinates`), by differences on the coarse rule.
    evaluations : map evaluations of all rules that the solve took.
    """

    task: TeacherStudent
    alpha: float
    branch: str
    overlaps: Overlaps
    train_loss: float
    free_energy: float
    test_error: float
    residual: float
    errors: dict[str, float]
    quadrature_error: float
    converged: bool
    jacobian: np.ndarray
    evaluations: int

    @property
    def q(self) -> float:
        """σ²K, the variance of a local field (first column)."""
        return self.task.rho * float(self.overlaps.K[0, 0])

    @property
    def m(self) -> float:
        """Qᵀp_1/√d (first column), non-negative by gauge."""
        return float((encoding_factor(self.task) @ self.overlaps.mu)[0, 0])

    @property
    def V(self) -> float:
        """σ²χ, the variance of the proximal operator (first column)."""
        return self.task.rho * float(self.overlaps.chi[0, 0])

    @property
    def theta(self) -> float:
        """σ²t = σ²QᵀQ⋆/d (first columns), non-negative by gauge."""
        return self.task.rho * float(self.overlaps.t[0, 0])

    @property
    def merged(self) -> bool:
        """Whether the branch has merged into the uninformative one: its order parameter is zero here."""
        return self.branch != "uninformative" and _order_parameter(self.overlaps, self.branch) < _MERGED


def fixed_point(
    task: TeacherStudent,
    alpha: float,
    branch: str,
    *,
    start: FixedPoint | None = None,
    quadrature: Quadrature | None = None,
    mixing: float = 0.8,
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
    problem = _Problem(task, float(alpha), branch, quadrature or default_quadrature(task, branch))
    if start is not None and np.isfinite(start.jacobian).all():
        solution = problem.polish(problem.pack(start.overlaps), start.jacobian)
        if solution.converged and solution.merged == start.merged:
            return solution
    solution = problem.solve(mixing)
    if branch == "uninformative" or (solution.converged and not solution.merged):
        return solution
    end = problem.merged_point(mixing)
    # Where the uninformative point is unstable towards the branch, the branch exists: come from farther away.
    return problem.solve(mixing, warm_up=10 * _WARM_UP_STEPS) if problem.grows(end) else end


def branch(task: TeacherStudent, alphas: Sequence[float], branch: str, **options) -> list[FixedPoint]:
    """Fixed points of one branch along α, in the order asked.

    The branch is followed from the largest α, where it is well separated, downwards; each solve starts from the
    secant through the two before it. `options` are those of `fixed_point`. Raises ArgumentError for an empty grid.
    """
    alphas = [float(a) for a in alphas]
    if not alphas:
        raise ArgumentError("alphas: is [], allowed is at least one positive number")
    found: dict[float, FixedPoint] = {}
    trail: list[FixedPoint] = []
    for alpha in sorted(set(alphas), reverse=True):
        start = _predict(trail, alpha)
        found[alpha] = fixed_point(task, alpha, branch, start=start, **options)
        trail = [*trail, found[alpha]] if found[alpha].converged else []
    return [found[alpha] for alpha in alphas]


def state_evolution_map(
    task: TeacherStudent, alpha: float, overlaps: Overlaps, branch: str, rule: Rule
) -> tuple[Overlaps, ChannelMoments]:
    """One undamped step of the state evolution, F(overlaps), and the channel averages it used."""
    moments = pinned(channel_moments(task, overlaps, rule), branch)
    return next_overlaps(task, alpha, moments), moments


class _Problem:
    """One (task, α, branch) with its rules: residuals in coordinates, solves, and error estimates."""

    def __init__(self, task, alpha, branch, quadrature):
        self.task, self.alpha, self.branch, self.quadrature = task, alpha, branch, quadrature
        self.encoding_rank = encoding_factor(task).shape[1]
        self.evaluations = 0

    def pack(self, overlaps):
        return pack(overlaps, self.branch)

    def unpack(self, u):
        return unpack(self.task, u, self.branch, self.encoding_rank)

    def step(self, overlaps, rule):
        """The map at the overlaps; LinAlgError where no admissible state follows."""
        self.evaluations += 1
        new, moments = state_evolution_map(self.task, self.alpha, overlaps, self.branch, rule)
        np.linalg.cholesky(new.chi)
        return new, moments

    def observables(self, u, rule):
        """Residual F(u) − u, then ε_t by the stationary expression and ε_g: all that depends on the rule."""
        try:
            overlaps = self.unpack(u)
            new, moments = self.step(overlaps, rule)
            energy = free_energy(self.task, self.alpha, overlaps, moments)
            return np.append(self.pack(new) - u, [energy, moments.test_error])
        except np.linalg.LinAlgError:
            # λI + v̂ is not positive: no state follows, and the root finder has to turn back.
            return np.full(u.size + 2, np.nan)

    def residual_on(self, rule):
        return lambda u: self.observables(u, rule)[:-2]

    def solve(self, mixing, warm_up=_WARM_UP_STEPS):
        """Warm up and solve on the coarse rule, with ever longer warm-ups until that works, then polish."""
        overlaps = _cold_start(self.task, self.branch, self.encoding_rank)
        for round_ in range(_WARM_UP_ROUNDS):
            overlaps = self.iterate(overlaps, mixing, warm_up * 2**round_)
            if _collapsed(overlaps):
                return self.collapsed_point(overlaps)
            u = self.pack(overlaps)
            coarse = broyden(
                self.residual_on(self.quadrature.coarse), u, self.derivatives(u)[:-2], _COARSE_TOLERANCE, 30
            )
            if np.max(np.abs(coarse.residual)) <= _COARSE_TOLERANCE:
                break
        return self.polish(coarse.u, self.derivatives(coarse.u)[:-2])

    def collapsed_point(self, overlaps):
        """The student Q = 0, to which a strong ridge leads: only χ is left to solve."""
        c = self.task.columns
        zero = Overlaps(1e-15 * np.eye(c), 0 * overlaps.t, 0 * overlaps.mu, overlaps.chi)
        for _ in range(_COLLAPSED_STEPS):
            new, _ = self.step(zero, self.quadrature.fine)
            zero = replace(zero, chi=new.chi)
        return self.describe(self.pack(zero))

    def iterate(self, overlaps, mixing, steps):
        """The damped map on the coarse rule."""
        for _ in range(steps):
            try:
                new, _ = self.step(overlaps, self.quadrature.coarse)
                overlaps = _mix(overlaps, new, mixing)
            except np.linalg.LinAlgError:
                # λI + v̂ is not positive: the fields are too narrow for the curvature of the loss.
                overlaps = replace(overlaps, K=2.0 * overlaps.K)
        return overlaps

    def polish(self, u, jacobian):
        """Solve on the fine rule from a near start, and attach the errors."""
        found = broyden(self.residual_on(self.quadrature.fine), u, jacobian, _SOLVER_TOLERANCE, _SOLVER_EVALUATIONS)
        return self.describe(self.in_gauge(found.u))

    def merged_point(self, mixing):
        """The uninformative fixed point, described as a point of this branch with its order parameter at zero."""
        inner = _Problem(self.task, self.alpha, "uninformative", self.quadrature)
        solution = inner.solve(mixing)
        self.evaluations += inner.evaluations
        return self.describe(self.pack(solution.overlaps))

    def in_gauge(self, u):
        """The sign of each overlap with θ or m is a symmetry: take the non-negative one."""
        overlaps = self.unpack(u)
        if self.task.columns > 1 or self.task.teacher_rank > 1:
            return u
        return self.pack(replace(overlaps, t=np.abs(overlaps.t), mu=np.abs(overlaps.mu)))

    def derivatives(self, u):
        """Forward differences of `observables` on the coarse rule, (len(u) + 2, len(u))."""
        base = self.observables(u, self.quadrature.coarse)
        shifts = _DIFFERENCE_STEP * np.eye(u.size)
        return np.stack([self.observables(u + s, self.quadrature.coarse) - base for s in shifts], 1) / _DIFFERENCE_STEP

    def describe(self, u):
        overlaps = self.unpack(u)
        new, moments = self.step(overlaps, self.quadrature.fine)
        derivatives = self.derivatives(u)
        point = FixedPoint(
            task=self.task,
            alpha=self.alpha,
            branch=self.branch,
            overlaps=overlaps,
            train_loss=train_loss(self.task, self.alpha, overlaps, moments),
            free_energy=free_energy(self.task, self.alpha, overlaps, moments),
            test_error=moments.test_error,
            residual=_natural_residual(self.task, overlaps, new),
            errors={},
            quadrature_error=np.nan,
            converged=False,
            jacobian=derivatives[:-2],
            evaluations=0,
        )
        errors = self.quadrature_errors(u, point, derivatives)
        relative = [errors[name] / abs(getattr(point, name)) for name in _quoted(point)]
        return replace(
            point,
            errors=errors,
            quadrature_error=float(np.max(relative)),
            converged=bool(point.residual <= RESIDUAL_TOLERANCE and np.isfinite([*relative, *u]).all()),
            evaluations=self.evaluations,
        )

    def quadrature_errors(self, u, point, derivatives):
        """Largest shift of each number when a check rule replaces the fine one, to first order in the shift.

        The fixed point of the check rule lies at u + δ with J δ = −(F_check(u) − u). ε_t needs no δ: its stationary
        expression at u is right to second order.
        """
        names = ("q", "m", "V", "theta", "train_loss", "test_error")
        errors = dict.fromkeys(names, 0.0)
        for rule in self.quadrature.checks:
            values = self.observables(u, rule)
            if _collapsed(point.overlaps):
                values[: self.task.columns * (self.task.columns + 1) // 2] = 0.0  # K stays at zero
            shift = -np.linalg.lstsq(derivatives[:-2], values[:-2], rcond=1e-9)[0]
            moved = replace(
                point,
                overlaps=self.unpack(u + shift),
                train_loss=point.train_loss + values[-2] - point.free_energy,
                test_error=values[-1] + derivatives[-1] @ shift,
            )
            for name in names:
                change = _SAFETY * abs(getattr(moved, name) - getattr(point, name))
                errors[name] = float(np.maximum(errors[name], change))
        return errors

    def grows(self, point):
        """Whether a small order parameter grows under the map at a merged point."""
        u = self.pack(point.overlaps)
        first = 2 * (self.task.columns * (self.task.columns + 1) // 2)
        if not np.isfinite(point.jacobian).all():
            return False
        growth = np.linalg.eigvals(point.jacobian[first:, first:] + np.eye(u.size - first))
        return bool(np.max(growth.real) > 1.0)


def _check_arguments(alpha, branch, mixing):
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < np.inf:
        raise ArgumentError(f"alpha: is {alpha!r}, allowed is a positive number")
    if branch not in BRANCHES:
        raise ArgumentError(f"branch: is {branch!r}, allowed is one of {', '.join(BRANCHES)}")
    if not isinstance(mixing, Real) or not 0 <= mixing < 1:
        raise ArgumentError(f"mixing: is {mixing!r}, allowed is a number in [0, 1)")


def _cold_start(task, branch, encoding_rank):
    """A state well inside the branch at α of order one, σ = ½; the warm-up brings it near the fixed point."""
    c, r = task.columns, task.teacher_rank
    t = 0.5 * np.eye(c, r) if has_theta(branch) else np.zeros((c, r))
    if has_theta(branch) and not task.tied:
        t[task.rank :] = 0.5 * np.eye(task.rank, r)  # queries and keys start equal
    mu = np.full((encoding_rank, c), 0.25) if has_m(branch) else np.zeros((encoding_rank, c))
    return Overlaps(K=t @ t.T + 0.2 * np.eye(c), t=t, mu=mu, chi=0.5 / task.lam * np.eye(c))


def _mix(old, new, mixing):
    names = ("K", "t", "mu", "chi")
    return Overlaps(**{n: mixing * getattr(old, n) + (1 - mixing) * getattr(new, n) for n in names})


def _natural_residual(task, old, new):
    size_K, size_chi = max(np.trace(old.K), _COLLAPSED), np.trace(old.chi)
    parts = [(new.K - old.K) / size_K, (new.chi - old.chi) / size_chi]
    parts += [(new.t - old.t) / np.sqrt(size_K), (new.mu - old.mu) / np.sqrt(task.rho * size_K)]
    return float(np.max(np.abs(np.concatenate([p.ravel() for p in parts]))))


def _collapsed(overlaps):
    """Whether the local fields are too small to move the attention away from uniform."""
    return np.trace(overlaps.K) < _COLLAPSED


def _order_parameter(overlaps, branch):
    """Norm of t or of mu relative to its largest possible or natural value."""
    size = np.sqrt(np.trace(overlaps.K))
    sizes = [np.linalg.norm(overlaps.t) / size] if has_theta(branch) else []
    sizes += [np.linalg.norm(overlaps.mu) / size] if has_m(branch) else []
    return min(sizes)


def _quoted(point):
    """Numbers whose relative error is quoted: the order parameter counts only where the branch has one."""
    names = ["V", "train_loss", "test_error"]
    names += [] if _collapsed(point.overlaps) else ["q"]
    names += ["theta"] if has_theta(point.branch) and point.theta > 0 and not point.merged else []
    names += ["m"] if has_m(point.branch) and point.m > 0 and not point.merged else []
    return names


def _predict(trail, alpha):
    """Secant through the last two fixed points in log α, in coordinates; the last one where it would be too far."""
    if len(trail) < 2 or trail[-1].merged != trail[-2].merged:
        return trail[-1] if trail else None
    last, before = trail[-1], trail[-2]
    u, v = pack(last.overlaps, last.branch), pack(before.overlaps, before.branch)
    ratio = np.log(alpha / last.alpha) / np.log(last.alpha / before.alpha)
    predicted = u + min(ratio, 1.5) * (u - v)
    return replace(last, overlaps=unpack(last.task, predicted, last.branch, last.overlaps.mu.shape[0]))
