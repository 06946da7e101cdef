"""Proximal operator and channel averages for any number of tokens, ranks, token covariance, tied or untied."""

from __future__ import annotations

import numba
import numpy as np

from solvable_attention import prox as prox_module
from solvable_attention import sample_loss as sample_loss_module
from solvable_attention.encodings import encoding_factor
from solvable_attention.errors import ArgumentError
from solvable_attention.kernel_cache import source_digest
from solvable_attention.numba_threads import follow_omp_num_threads
from solvable_attention.overlaps import ChannelMoments, Overlaps
from solvable_attention.pair_channel import pair_moments, pair_two_well_weight
from solvable_attention.prox import lowest_minimum, newton_arrays, token_orders
from solvable_attention.quadrature import GaussianRule, SplitRule, sobol
from solvable_attention.sample_loss import attention, sample_loss, student_of, workspace
from solvable_attention.task import TeacherStudent

# Nodes whose sum one thread takes: averages do not depend on the number of threads.
_BLOCK = 128
_LOG2_WELL_POINTS = 12


def channel_moments(task: TeacherStudent, overlaps: Overlaps, rule: GaussianRule | SplitRule) -> ChannelMoments:
    """Channel averages by the fast kernel where the paper's two-field equations hold, else by `general_moments`."""
    return pair_moments(task, overlaps, rule) if task.is_paper_case else general_moments(task, overlaps, rule)


def two_well_weight(task: TeacherStudent, overlaps: Overlaps) -> float:
    """Share of the draws whose proximal objective has two wells, to 1e-2; NaN where the pair kernel does not apply."""
    if not task.is_paper_case:
        return float("nan")
    return pair_two_well_weight(task, overlaps, sobol(rule_dimension(task), _LOG2_WELL_POINTS, 0))


def rule_dimension(task: TeacherStudent) -> int:
    """Standard normal variables per sample: those of the teacher's fields η, then the student's noise ξ."""
    return task.L * (task.teacher_columns + task.columns)


def general_moments(task: TeacherStudent, overlaps: Overlaps, rule: GaussianRule) -> ChannelMoments:
    """Averages over fields w_ℓ = m_ℓ + t h⋆_ℓ + noise of covariance C ⊗ (K − t tᵀ), h⋆ of covariance C ⊗ I.

    Derivatives by Stein's lemma: E ∂g/∂w = E[g ξᵀ](C^½ ⊗ R^½)⁻¹, and the derivative along h⋆ at fixed noise is
    E[g ηᵀ](C^½ ⊗ I)⁻¹.
    Raises ArgumentError for a split rule, or when the rule's dimension is not `rule_dimension(task)`.
    """
    if isinstance(rule, SplitRule):
        raise ArgumentError("rule: is a SplitRule, allowed outside the paper's case is a GaussianRule")
    if rule.dimension != rule_dimension(task):
        raise ArgumentError(f"rule: has dimension {rule.dimension}, allowed for this task is {rule_dimension(task)}")
    model = (
        np.linalg.cholesky(task.C),
        _noise_root(overlaps),
        np.ascontiguousarray(overlaps.t),
        encoding_factor(task) @ overlaps.mu,
    )
    precision = np.linalg.inv(np.kron(task.C, overlaps.chi))
    teacher = (np.asarray(task.A), task.omega)
    follow_omp_num_threads()
    blocks = _block_sums(
        rule.nodes, rule.weights, _BLOCK, model, precision, task.C, *teacher, student_of(task), token_orders(task.L)
    )
    sums = blocks.sum(axis=0)
    return _contract(task, overlaps, sums)


def _noise_root(overlaps):
    R = overlaps.residual_covariance
    return np.linalg.cholesky(R + 1e-14 * max(np.trace(R), 1e-14) * np.eye(R.shape[0]))


@numba.njit(error_model="numpy")
def _add_block(nodes, weights, model, precision, C, A, omega, student, orders, sums):
    """The sums of one block of nodes."""
    _, _, t, means = model
    (L, c), r = means.shape, t.shape[1]
    D = L * c
    work, newton = workspace(student), newton_arrays(L, c)
    h, w, z, g = np.empty((L, r)), np.empty((L, c)), np.empty((L, c)), np.empty(D)
    T, target = np.empty((L, L)), np.empty((L, student.outputs if student.outputs > 0 else L))
    for i in range(nodes.shape[1]):
        node = nodes[:, i].copy()
        eta, xi = node[: L * r].reshape(L, r), node[L * r :].reshape(L, c)
        _fields(eta, xi, model, h, w)
        _teacher(h, A, omega, student.outputs, T, target)
        moreau = lowest_minimum(z, w, precision, target, C, student, orders, work, newton)
        _pull(z, w, precision, g)
        quadratic = 0.0
        for p in range(D):
            quadratic += 0.5 * g[p] * (z[p // c, p % c] - w[p // c, p % c])
        field_loss = sample_loss(w, target, C, student, work)
        _accumulate(sums, weights[i], g, xi, eta, moreau, moreau - quadratic, field_loss)


@numba.njit(error_model="numpy")
def _fields(eta, xi, model, h, w):
    """h⋆ = C^½ η and w = m + h⋆ tᵀ + C^½ ξ R^½ᵀ."""
    root_C, root_R, t, means = model
    h[:] = root_C @ eta
    w[:] = means + h @ t.T + root_C @ xi @ root_R.T


@numba.njit(error_model="numpy")
def _teacher(h, A, omega, outputs, T, target):
    """T[h⋆] = (1−ω) softmax(h⋆h⋆ᵀ) + ω A, or T h_V where values are trained, h = [h⋆, h_V]."""
    rank = h.shape[1] - outputs
    attention(h, len(h), rank, 0, False, T)
    T[:] = (1.0 - omega) * T + omega * A
    if outputs > 0:
        target[:] = T @ np.ascontiguousarray(h[:, rank:])
    else:
        target[:] = T


@numba.njit(error_model="numpy")
def _pull(z, w, precision, g):
    """g = V⁻¹(z − w), flattened."""
    c = z.shape[1]
    for p in range(len(g)):
        g[p] = 0.0
        for q in range(len(g)):
            g[p] += precision[p, q] * (z[q // c, q % c] - w[q // c, q % c])


@numba.njit(error_model="numpy")
def _accumulate(sums, weight, g, xi, eta, moreau, loss, field_loss):
    D, place = len(g), len(g)
    for p in range(D):
        sums[p] += weight * g[p]
    for p in range(D):
        for q in range(D):
            sums[place] += weight * g[p] * g[q]
            place += 1
    for other in (xi.ravel(), eta.ravel()):
        for p in range(D):
            for value in other:
                sums[place] += weight * g[p] * value
                place += 1
    for value in (moreau, loss, field_loss):
        sums[place] += weight * value
        place += 1


def _contract(task, overlaps, sums) -> ChannelMoments:
    L, c, r = task.L, task.columns, task.teacher_columns
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


def _compiled_block_sums(called: int):
    """The loop over blocks; called : digest of the files that it calls into, see `kernel_cache`."""

    @numba.njit(parallel=True, cache=True, error_model="numpy")
    def block_sums(nodes, weights, block, model, precision, C, A, omega, student, orders):
        # Weighted sums over each block of nodes (blocks, columns): g, g gᵀ, g ξᵀ, g ηᵀ, envelope, loss, loss at w.
        _, _, t, means = model
        (L, c), r = means.shape, t.shape[1]
        D = L * c
        blocks = -(-nodes.shape[1] // block)
        sums = np.zeros((blocks, D + 2 * D * D + D * L * r + 3))
        if called < 0:  # never: the mention is what makes it part of the key
            return sums
        for part in numba.prange(blocks):
            here = slice(part * block, min(nodes.shape[1], (part + 1) * block))
            _add_block(nodes[:, here], weights[here], model, precision, C, A, omega, student, orders, sums[part])
        return sums

    return block_sums


_block_sums = _compiled_block_sums(source_digest(sample_loss_module, prox_module))
