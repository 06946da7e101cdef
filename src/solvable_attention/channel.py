"""Proximal operator and channel averages for any number of tokens, ranks, token covariance, tied or untied."""

from __future__ import annotations

import itertools

import numpy as np

from solvable_attention.attention import attention_loss, loss_derivatives, student_attention, teacher_attention
from solvable_attention.encodings import encoding_factor
from solvable_attention.errors import ArgumentError
from solvable_attention.overlaps import ChannelMoments, Overlaps
from solvable_attention.pair_channel import pair_moments, pair_two_well_weight
from solvable_attention.quadrature import GaussianRule, SplitRule, sobol
from solvable_attention.task import TeacherStudent

_BLOCK = 4096
_NEWTON_STEPS = 100
_LOG2_WELL_POINTS = 12
# Distance from the token mean of a start that has to lie inside a well, in units of a field.
_WELL_DISTANCE = 0.4 * np.sqrt(2)


def channel_moments(task: TeacherStudent, overlaps: Overlaps, rule: GaussianRule | SplitRule) -> ChannelMoments:
    """Channel averages by the fast kernel where the paper's two-field equations hold, else by `general_moments`."""
    return pair_moments(task, overlaps, rule) if task.is_paper_case else general_moments(task, overlaps, rule)


def two_well_weight(task: TeacherStudent, overlaps: Overlaps) -> float:
    """Share of the draws whose proximal objective has two wells, to 1e-2; NaN where the pair kernel does not apply."""
    if not task.is_paper_case:
        return float("nan")
    return pair_two_well_weight(task, overlaps, sobol(rule_dimension(task), _LOG2_WELL_POINTS, 0))


def rule_dimension(task: TeacherStudent) -> int:
    """Standard normal variables per sample, L(r⋆ + c): the teacher's fields η, then the student's noise ξ."""
    return task.L * (task.teacher_rank + task.columns)


def general_moments(task: TeacherStudent, overlaps: Overlaps, rule: GaussianRule) -> ChannelMoments:
    """Averages over fields w_ℓ = m_ℓ + t h⋆_ℓ + noise of covariance C ⊗ (K − t tᵀ), h⋆ of covariance C ⊗ I.

    Derivatives by Stein's lemma: E ∂g/∂w = E[g ξᵀ](C^½ ⊗ R^½)⁻¹, and the derivative along h⋆ at fixed noise is
    E[g ηᵀ](C^½ ⊗ I)⁻¹. Raises ArgumentError for a split rule, or when the rule's dimension is not L(r⋆ + c).
    """
    if isinstance(rule, SplitRule):
        raise ArgumentError("rule: is a SplitRule, allowed outside the paper's case is a GaussianRule")
    if rule.dimension != rule_dimension(task):
        raise ArgumentError(f"rule: has dimension {rule.dimension}, allowed for this task is {rule_dimension(task)}")
    sums = 0.0
    for start in range(0, rule.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        sums = sums + rule.weights[block] @ _node_values(task, overlaps, rule.nodes[:, block])
    return _contract(task, overlaps, sums)


def global_prox(task: TeacherStudent, w: np.ndarray, V: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """argmin_z ½(z−w)ᵀV⁻¹(z−w) + ℓ(z, T) and its value, for w (N, L, c), V (Lc, Lc), T (N, L, L).

    The energy has several wells: tokens can exchange their places. Newton starts from w and from w with its tokens
    permuted, pushed away from their mean so that each start lies inside a well; the lowest minimum is kept.
    Returns z (N, L, c) and energies (N,); an energy is NaN where no start converged.
    """
    precision = np.linalg.inv(V)
    mean = w.mean(axis=1, keepdims=True)
    spread = np.linalg.norm(w - mean, axis=(1, 2), keepdims=True)
    stretch = np.maximum(spread, _WELL_DISTANCE) / np.maximum(spread, 1e-12)
    z, energy = local_prox(task, w, w, precision, T)
    for order in itertools.permutations(range(task.L)):
        other, other_energy = local_prox(task, mean + stretch * (w - mean)[:, order], w, precision, T)
        better = other_energy < np.where(np.isnan(energy), np.inf, energy)
        z[better], energy[better] = other[better], other_energy[better]
    return z, energy


def local_prox(task: TeacherStudent, start, w, precision, T) -> tuple[np.ndarray, np.ndarray]:
    """Minimum reached from `start` (N, L, c) by damped, shifted Newton; NaN energy where it did not converge."""
    n, shape = w.shape[0], w.shape
    z, centre = start.reshape(n, -1).copy(), w.reshape(n, -1)
    energy = _energy(task, z, centre, precision, T, shape)
    active = np.arange(n)
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = loss_derivatives(task, z[active].reshape(-1, *shape[1:]), T[active])
        gradient += (z[active] - centre[active]) @ precision
        direction = _descent_direction(gradient, hessian + precision, np.linalg.eigvalsh(precision)[0])
        slope = np.sum(gradient * direction, axis=1)
        moved = _backtrack(task, z, energy, active, direction, slope, centre, precision, T, shape)
        # Newton's error is squared by the step: one of 1e-7 leaves 1e-14.
        active = active[moved & (np.sum(direction**2, axis=1) >= 1e-14)]
        if active.size == 0:
            break
    energy[active] = np.nan
    return z.reshape(shape), energy


def _energy(task, z, w, precision, T, shape):
    step = z - w
    difference = student_attention(z.reshape(-1, *shape[1:]), task.tied) - T
    return 0.5 * np.sum(step @ precision * step, axis=1) + attention_loss(difference, task.C)


def _descent_direction(gradient, hessian, scale):
    """−(H + shift)⁻¹ gradient, with a shift of the lanes whose Hessian is not safely positive."""
    smallest = np.linalg.eigvalsh(hessian)[:, 0]
    # The eigenvalue is replaced by its modulus: a larger shift would crawl through flat places.
    shift = np.where(smallest < 1e-3 * scale, np.maximum(-smallest, 1e-3 * scale) - smallest, 0.0)
    shifted = hessian + shift[:, None, None] * np.eye(hessian.shape[1])
    return -np.linalg.solve(shifted, gradient[:, :, None])[:, :, 0]


def _backtrack(task, z, energy, active, direction, slope, w, precision, T, shape):
    """Move the active lanes along their direction by the first of 1, ½, ¼ … that lowers the energy enough."""
    step = np.ones(active.size)
    waiting = np.arange(active.size)
    for _ in range(40):
        lanes = active[waiting]
        trial = z[lanes] + step[waiting, None] * direction[waiting]
        value = _energy(task, trial, w[lanes], precision, T[lanes], shape)
        accepted = value <= energy[lanes] + 1e-4 * step[waiting] * slope[waiting] + 1e-15
        z[lanes[accepted]], energy[lanes[accepted]] = trial[accepted], value[accepted]
        waiting = waiting[~accepted]
        if waiting.size == 0:
            break
        step[waiting] *= 0.5
    # No visible decrease is left: a minimum if Newton promises none either.
    energy[active[waiting[slope[waiting] <= -1e-13]]] = np.nan
    moved = np.ones(active.size, bool)
    moved[waiting] = False
    return moved


def _fields(task, overlaps, nodes):
    """η (N, L, r⋆), ξ (N, L, c), h⋆ and w of a block of nodes (dimension, N)."""
    n, L, c = nodes.shape[1], task.L, task.columns
    cut = L * task.teacher_rank
    eta, xi = nodes[:cut].T.reshape(n, L, -1), nodes[cut:].T.reshape(n, L, c)
    root_C = np.linalg.cholesky(task.C)
    h = root_C @ eta
    means = encoding_factor(task) @ overlaps.mu
    w = means + h @ overlaps.t.T + root_C @ xi @ _noise_root(overlaps).T
    return eta, xi, h, w


def _noise_root(overlaps):
    R = overlaps.residual_covariance
    return np.linalg.cholesky(R + 1e-14 * max(np.trace(R), 1e-14) * np.eye(R.shape[0]))


def _node_values(task, overlaps, nodes):
    """Per node (N, …): g, g gᵀ, g ξᵀ, g ηᵀ flattened, then envelope, loss at the prox and loss at the field."""
    eta, xi, h, w = _fields(task, overlaps, nodes)
    n, C = w.shape[0], task.C
    T = teacher_attention(task, h)
    V = np.kron(C, overlaps.chi)
    z, moreau = global_prox(task, w, V, T)
    step = (z - w).reshape(n, -1)
    g = np.linalg.solve(V, step.T).T
    loss = moreau - 0.5 * np.sum(g * step, axis=1)
    field_loss = attention_loss(student_attention(w, task.tied) - T, C)
    outer = [np.einsum("ni,nj->nij", g, other.reshape(n, -1)).reshape(n, -1) for other in (g, xi, eta)]
    return np.column_stack([g, *outer, moreau, loss, field_loss])


def _contract(task, overlaps, sums) -> ChannelMoments:
    L, c, r = task.L, task.columns, task.teacher_rank
    sizes = np.cumsum([L * c, (L * c) ** 2, (L * c) ** 2, L * c * L * r])
    g, gg, g_xi, g_eta, scalars = np.split(sums, sizes)
    C = task.C
    root_C = np.linalg.cholesky(C)
    dg_dw = np.linalg.solve(np.kron(root_C, _noise_root(overlaps)).T, g_xi.reshape(L * c, L * c).T).T
    along_teacher = np.linalg.solve(np.kron(root_C, np.eye(r)).T, g_eta.reshape(L * c, L * r).T).T
    dg_dh = along_teacher - dg_dw @ np.kron(np.eye(L), overlaps.t)

    def over_tokens(matrix):
        return np.einsum("lk,lakb->ab", C, matrix.reshape(L, c, L, -1))

    return ChannelMoments(
        mu_hat=encoding_factor(task).T @ g.reshape(L, c),
        k_hat=over_tokens(gg),
        v_hat=-over_tokens(dg_dw),
        t_hat=over_tokens(dg_dh),
        moreau=float(scalars[0]),
        loss=float(scalars[1]),
        test_error=float(2.0 * scalars[2] / L),
    )
