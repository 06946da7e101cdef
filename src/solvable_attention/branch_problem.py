"""The search for a fixed point on one branch: warm-up, root finding in the branch's coordinates, error estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvable_attention.channel import two_well_weight
from solvable_attention.coordinates import freedom, has_theta, pack, unpack
from solvable_attention.encodings import encoding_factor
from solvable_attention.overlaps import Overlaps, free_energy, train_loss
from solvable_attention.root_finding import broyden
from solvable_attention.solution import (
    NEAR_THE_END,
    NUMBERS,
    FixedPoint,
    collapsed,
    natural_residual,
    order_parameter,
    quoted_numbers,
)
from solvable_attention.stability import transverse_growth
from solvable_attention.state_evolution import state_evolution_map

WARM_UP_STEPS = 12
_WARM_UP_ROUNDS = 4
# The solver's residual is relative, in logarithms and overlaps of order one; it aims well below the tolerance.
_SOLVER_TOLERANCE = 1e-10
_SOLVER_EVALUATIONS = 20
# Order parameters near the end of a branch from which a search starts, as shares of their natural size.
_AMPLITUDES = (0.1, 0.01)
# Dividing by a small order parameter magnifies the noise of the map.
_DEFLATED_TOLERANCE = 1e-8
_COARSE_TOLERANCE = 1e-6
_COARSE_EVALUATIONS = 30
_COLLAPSED_STEPS = 30
_DIFFERENCE_STEP = 1e-4


class BranchProblem:
    """One (task, α, branch) with its rules: residuals in coordinates, solves, and error estimates."""

    def __init__(self, task, alpha, branch, quadrature):
        self.task, self.alpha, self.branch, self.quadrature = task, alpha, branch, quadrature
        self.encoding_rank = encoding_factor(task).shape[1]
        self.freedom = freedom(task, branch, self.encoding_rank)
        self.evaluations = 0
        self._fine_steps = {}

    @property
    def single(self) -> bool:
        """Whether the branch has one order parameter, the last coordinate."""
        return self.freedom.count_order == 1

    def pack(self, overlaps):
        return pack(self.task, overlaps, self.branch)

    def unpack(self, u):
        return unpack(self.task, u, self.branch, self.encoding_rank)

    def step(self, overlaps, rule):
        """The map at the overlaps; LinAlgError where no admissible state follows."""
        self.evaluations += 1
        new, moments = state_evolution_map(self.task, self.alpha, overlaps, self.branch, rule)
        np.linalg.cholesky(new.chi)
        return new, moments

    def fine_step(self, u):
        """`step` at the coordinates u on the fine rule; the point that a search returns was evaluated by it already."""
        key = u.tobytes()
        if key not in self._fine_steps:
            overlaps = self.unpack(u)
            self._fine_steps[key] = (overlaps, *self.step(overlaps, self.quadrature.fine))
        return self._fine_steps[key]

    def observables(self, u, rule):
        """Residual F(u) − u, then ε_t by the stationary expression and ε_g: all that depends on the rule."""
        try:
            if rule is self.quadrature.fine:
                overlaps, new, moments = self.fine_step(u)
            else:
                overlaps = self.unpack(u)
                new, moments = self.step(overlaps, rule)
            energy = free_energy(self.task, self.alpha, overlaps, moments)
            return np.append(self.pack(new) - u, [energy, moments.test_error])
        except np.linalg.LinAlgError:
            # λI + v̂ is not positive: no state follows, and the root finder has to turn back.
            return np.full(u.size + 2, np.nan)

    def residual_on(self, rule):
        return lambda u: self.observables(u, rule)[:-2]

    def approach(self, mixing, warm_up=WARM_UP_STEPS, give_up=True):
        """Warm up and solve on the coarse rule, with ever longer warm-ups until that works; the overlaps found.

        give_up : take an order parameter that the warm-up has brought near zero for zero.
        """
        overlaps = _cold_start(self.task, self.branch)
        residual = self.residual_on(self.quadrature.coarse)
        for round_ in range(_WARM_UP_ROUNDS):
            overlaps = self.iterate(overlaps, mixing, warm_up * 2**round_)
            if collapsed(overlaps):
                return overlaps
            near = give_up and self.branch != "uninformative"
            if near and order_parameter(self.task, overlaps, self.branch) < NEAR_THE_END:
                return replace(overlaps, t=overlaps.t * self.freedom.values, mu=0 * overlaps.mu)
            u = self.pack(overlaps)
            coarse = broyden(residual, u, self.derivatives(u)[:-2], _COARSE_TOLERANCE, _COARSE_EVALUATIONS)
            if np.max(np.abs(coarse.residual)) <= _COARSE_TOLERANCE:
                break
        return self.unpack(coarse.u)

    def finish(self, overlaps):
        """From the coarse rule's solution to that of the fine one, with its errors."""
        if collapsed(overlaps):
            return self.collapsed_point(overlaps)
        u = self.pack(overlaps)
        return self.polish(u, self.derivatives(u)[:-2])

    def collapsed_point(self, overlaps):
        """The student Q = 0, to which a strong ridge leads: only χ is left to solve."""
        c = self.task.columns
        zero = Overlaps(1e-15 * np.eye(c), 0 * overlaps.t, 0 * overlaps.mu, overlaps.chi)
        for _ in range(_COLLAPSED_STEPS):
            try:
                new, _ = self.step(zero, self.quadrature.fine)
            except np.linalg.LinAlgError:
                break
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

    def refine(self, u, jacobian):
        """Solve on the fine rule from a near start."""
        found = broyden(self.residual_on(self.quadrature.fine), u, jacobian, _SOLVER_TOLERANCE, _SOLVER_EVALUATIONS)
        return self.in_gauge(found.u)

    def polish(self, u, jacobian):
        """Solve on the fine rule from a near start, and attach the errors."""
        return self.describe(self.refine(u, jacobian))

    def merged_point(self, mixing, start=None):
        """The uninformative fixed point, described as a point of this branch with its order parameter at zero.

        start : a merged point of this branch nearby, from which the search is short.
        """
        inner = BranchProblem(self.task, self.alpha, "uninformative", self.quadrature)
        overlaps = inner.approach(mixing) if start is None or collapsed(start.overlaps) else start.overlaps
        if collapsed(overlaps):
            u = inner.pack(inner.collapsed_point(overlaps).overlaps)
        else:
            u = inner.pack(overlaps)
            # The order parameters are the last coordinates of this branch.
            jacobian = inner.derivatives(u)[:-2] if start is None else start.jacobian[: u.size, : u.size]
            u = inner.refine(u, jacobian)
        self.evaluations += inner.evaluations
        return self.describe(self.pack(inner.unpack(u)))

    def in_gauge(self, u):
        """The signs of each column of student and teacher are symmetries: m_1 and the diagonal of t made positive."""
        overlaps, rank, attention = self.unpack(u), self.task.rank, self.task.attention_columns
        m_1 = (encoding_factor(self.task) @ overlaps.mu)[0]
        student, teacher = np.ones(self.task.columns), np.ones(self.task.teacher_columns)
        for column in range(rank):
            student[column:attention:rank] = np.copysign(1.0, m_1[column])
        pairs = [(column, column) for column in range(min(rank, self.task.teacher_rank))]
        pairs += [(attention + v, self.task.teacher_rank + v) for v in range(self.task.value_rank)]
        for ours, theirs in pairs:
            teacher[theirs] = np.copysign(1.0, student[ours] * overlaps.t[ours, theirs])
        signs = np.outer(student, student)
        return self.pack(
            Overlaps(
                K=signs * overlaps.K,
                t=np.outer(student, teacher) * overlaps.t,
                mu=overlaps.mu * student,
                chi=signs * overlaps.chi,
            )
        )

    def derivatives(self, u):
        """Forward differences of `observables` on the coarse rule, (len(u) + 2, len(u))."""
        base = self.observables(u, self.quadrature.coarse)
        shifts = _DIFFERENCE_STEP * np.eye(u.size)
        return np.stack([self.observables(u + s, self.quadrature.coarse) - base for s in shifts], 1) / _DIFFERENCE_STEP

    def describe(self, u):
        """The fixed point at u with everything that is reported of it; a point without a successor is not converged."""
        overlaps, derivatives = self.unpack(u), self.derivatives(u)
        point = FixedPoint(
            task=self.task,
            alpha=self.alpha,
            branch=self.branch,
            overlaps=overlaps,
            two_well_weight=two_well_weight(self.task, overlaps),
            jacobian=derivatives[:-2],
            evaluations=self.evaluations,
        )
        try:
            _, new, moments = self.fine_step(u)
        except np.linalg.LinAlgError:
            return point
        point = replace(
            point,
            train_loss=train_loss(self.task, self.alpha, overlaps, moments),
            free_energy=free_energy(self.task, self.alpha, overlaps, moments),
            test_error=moments.test_error,
            loss_slope=moments.moreau,
            **self.growth(overlaps, moments),
            residual=natural_residual(self.task, overlaps, new),
        )
        point = replace(point, shifts=self.quadrature_shifts(u, point, derivatives))
        relative = [point.errors[name] / abs(getattr(point, name)) for name in quoted_numbers(point)]
        return replace(
            point,
            quadrature_error=float(np.max(relative)),
            converged=bool(point.residual <= self.quadrature.tolerance and np.isfinite([*relative, *u]).all()),
            evaluations=self.evaluations,
        )

    def growth(self, overlaps, moments):
        """growth_m and growth_theta of the point, see `stability`."""
        rule = self.quadrature.coarse
        growth = transverse_growth(self.task, self.alpha, overlaps, self.branch, moments, rule)
        return {f"growth_{name}": value for name, value in growth.items()}

    def quadrature_shifts(self, u, point, derivatives):
        """Shift of each number when a check rule replaces the fine one, to first order, as arrays over check rules.

        The fixed point of the check rule lies at u + δ with J δ = −(F_check(u) − u). ε_t needs no δ: its stationary
        expression at u is right to second order.
        """
        shifts = {name: np.full(len(self.quadrature.checks), np.nan) for name in NUMBERS}
        for i, rule in enumerate(self.quadrature.checks):
            values = self.observables(u, rule)
            if not (np.isfinite(values).all() and np.isfinite(derivatives).all()):
                continue
            if collapsed(point.overlaps):
                values[: self.freedom.count_pairs] = 0.0  # K stays at zero
            delta = -np.linalg.lstsq(derivatives[:-2], values[:-2], rcond=1e-9)[0]
            moved = replace(
                point,
                overlaps=self.unpack(u + delta),
                train_loss=point.train_loss + values[-2] - point.free_energy,
                test_error=values[-1] + derivatives[-1] @ delta,
            )
            for name in NUMBERS:
                shifts[name][i] = getattr(moved, name) - getattr(point, name)
        return shifts

    def leave(self, end):
        """The point of the branch near a merged one that is unstable towards it, for a single order parameter.

        The equation of the order parameter s is divided by s: a search without that falls back to s = 0.
        """
        root_K, fine, found = np.sqrt(np.trace(end.overlaps.K)), self.quadrature.fine, None

        def deflated(v, rule):
            residual = self.observables(v, rule)[:-2]
            residual[-1] /= v[-1]
            return residual

        for share in _AMPLITUDES:
            u = self.pack(end.overlaps)
            u[-1] = share * root_K
            base, shifts = deflated(u, self.quadrature.coarse), _DIFFERENCE_STEP * root_K * np.eye(u.size)
            moved = [deflated(u + shift, self.quadrature.coarse) - base for shift in shifts]
            jacobian = np.stack(moved, 1) / (_DIFFERENCE_STEP * root_K)
            root = broyden(lambda v: deflated(v, fine), u, jacobian, _DEFLATED_TOLERANCE, _COARSE_EVALUATIONS)
            found = self.describe(self.in_gauge(root.u))
            if found.converged:
                break
        return found

    def growth_at(self, end):
        """Factor by which the map multiplies a small order parameter at a merged point; 0 without a successor."""
        if self.task.is_paper_case and self.branch != "mixed":
            try:
                _, _, moments = self.fine_step(self.pack(end.overlaps))
            except np.linalg.LinAlgError:
                return 0.0  # such a point is not a solution, and says nothing of a branch beside it
            rule = self.quadrature.coarse
            growth = transverse_growth(self.task, self.alpha, end.overlaps, "uninformative", moments, rule)
            return growth["theta" if has_theta(self.branch) else "m"]
        first = self.freedom.inner
        inside = end.jacobian[first:, first:] + np.eye(len(end.jacobian) - first)
        return float(np.max(np.linalg.eigvals(inside).real)) if np.isfinite(inside).all() else 0.0


def _cold_start(task, branch):
    """A state well inside the branch at α of order one, σ = ½; the warm-up brings it near the fixed point."""
    c = task.columns
    free = freedom(task, branch, encoding_factor(task).shape[1])
    t = 0.5 * (free.t | free.values)  # queries and keys start equal
    # Places have to differ: equal m_ℓ would be an invariant subspace of its own.
    B, contrast = encoding_factor(task), np.resize([0.25, -0.25], (task.L, 1))
    mu = np.linalg.pinv(B) @ np.repeat(contrast, c, axis=1) * free.mu
    return Overlaps(K=t @ t.T + 0.2 * np.eye(c), t=t, mu=mu, chi=0.5 / task.lam * np.eye(c))


def _mix(old, new, mixing):
    names = ("K", "t", "mu", "chi")
    return Overlaps(**{n: mixing * getattr(old, n) + (1 - mixing) * getattr(new, n) for n in names})
