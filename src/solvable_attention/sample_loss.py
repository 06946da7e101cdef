"""The loss of one sample in its local fields, with two derivatives, compiled, for every student.

Fields z (L, c) hold, token by token, the columns of queries, of keys when untied, and of values where those are
trained. With the scores M_ij = q_i·k_j and S = softmax(M) by rows, S = M for linear attention, or S = 1/L + (M − M̄)/L,
M̄ the mean of each row, for the softmax linearised at M = 0,

    identity values  ℓ = ½ tr[(S − T) C (S − T)ᵀ],      E = (S − T) C,        G = C,
    trained values   ℓ = ½ ‖S u − Y‖²_F,                E = (S u − Y) uᵀ,     G = u uᵀ,

where E = ∂ℓ/∂S and G is the curvature of ℓ in a row of S: both kinds share one code for the scores.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numba
import numpy as np

from solvable_attention.task import ACTIVATIONS, TeacherStudent

# Places in ACTIVATIONS.
_SOFTMAX, _LINEAR, _LINEARISED = (ACTIVATIONS.index(name) for name in ("softmax", "linear", "linearised"))


class Student(NamedTuple):
    """Tokens L, columns r of queries and s of trained values (0: identity), tying, and its place in ACTIVATIONS."""

    tokens: int
    rank: int
    outputs: int
    tied: bool
    activation: int


class Workspace(NamedTuple):
    """Arrays that one thread reuses: see `sample_loss` and `sample_derivatives`."""

    S: np.ndarray
    E: np.ndarray
    residual: np.ndarray
    output: np.ndarray
    G: np.ndarray
    W: np.ndarray
    row: np.ndarray


def student_of(task: TeacherStudent) -> Student:
    """What the compiled loops need to know of the student."""
    return Student(task.L, task.rank, task.value_rank, task.tied, ACTIVATIONS.index(task.activation))


@numba.njit(error_model="numpy")
def workspace(student):
    """Fresh arrays for one thread."""
    L, s = student.tokens, student.outputs
    width = s if s > 0 else L
    return Workspace(
        np.empty((L, L)), np.empty((L, L)), np.empty((L, width)), np.empty((L, width)), np.empty((L, L)),
        np.empty((L, L)), np.empty((L, L)),
    )  # fmt: skip


@numba.njit(error_model="numpy")
def attention(z, L, rank, keys, activation, S):
    """S (L, L) of the fields z, whose keys begin at column `keys`."""
    for i in range(L):
        largest = -np.inf
        for j in range(L):
            score = 0.0
            for a in range(rank):
                score += z[i, a] * z[j, keys + a]
            S[i, j] = score
            largest = max(largest, score)
        if activation == _LINEAR:
            continue
        if activation == _LINEARISED:
            mean = S[i].sum() / L
            for j in range(L):
                S[i, j] = (1.0 + S[i, j] - mean) / L
            continue
        total = 0.0
        for j in range(L):
            S[i, j] = exp(S[i, j] - largest)
            total += S[i, j]
        for j in range(L):
            S[i, j] /= total


@numba.njit(error_model="numpy")
def sample_loss(z, target, C, student, work):
    """ℓ at z (L, c); target is T (L, L), or Y (L, s) for trained values. Leaves S, S − T or S u − Y, E and G behind."""
    L, s = student.tokens, student.outputs
    first = z.shape[1] - s  # column where the values begin
    S, E, residual, output, G = work.S, work.E, work.residual, work.output, work.G
    attention(z, L, student.rank, 0 if student.tied else student.rank, student.activation, S)
    loss = 0.0
    for i in range(L):
        if s == 0:
            for j in range(L):
                residual[i, j] = S[i, j] - target[i, j]
        for a in range(s):
            output[i, a] = 0.0
            for j in range(L):
                output[i, a] += S[i, j] * z[j, first + a]
            residual[i, a] = output[i, a] - target[i, a]
            loss += 0.5 * residual[i, a] ** 2
    for i in range(L):
        for j in range(L):
            E[i, j] = 0.0
            if s == 0:
                G[i, j] = C[i, j]
                for k in range(L):
                    E[i, j] += residual[i, k] * C[k, j]
                loss += 0.5 * E[i, j] * residual[i, j]
            else:
                G[i, j] = 0.0
                for a in range(s):
                    E[i, j] += residual[i, a] * z[j, first + a]
                    G[i, j] += z[i, first + a] * z[j, first + a]
    return loss


@numba.njit(error_model="numpy")
def sample_derivatives(z, student, whole, work, gradient, hessian):
    """Gradient (D,) and Hessian (D, D), D = Lc, at the z of the last call of `sample_loss` with this workspace.

    whole : False drops what is multiplied by the residual; the rest (Gauss–Newton) is positive semi-definite.
    """
    L, c = z.shape
    first = c - student.outputs
    gradient[:] = 0.0
    hessian[:] = 0.0
    _score_gradient(student.activation, L, work)
    for i in range(L):
        _score_curvature(i, student.activation, L, whole, work)
        _scores_to_fields(i, z, student, whole, work, gradient, hessian)
        for b in range(student.outputs):
            _values(i, first + b, b, z, student, whole, work, gradient, hessian)


@numba.njit(error_model="numpy")
def _score_gradient(activation, L, work):
    """W = ∂ℓ/∂M."""
    S, E, W = work.S, work.E, work.W
    for i in range(L):
        mean = 0.0
        for j in range(L):
            mean += S[i, j] * E[i, j] if activation == _SOFTMAX else E[i, j] / L
        for j in range(L):
            if activation == _LINEAR:
                W[i, j] = E[i, j]
            elif activation == _LINEARISED:
                W[i, j] = (E[i, j] - mean) / L
            else:
                W[i, j] = S[i, j] * (E[i, j] - mean)


@numba.njit(error_model="numpy")
def _score_curvature(i, activation, L, whole, work):
    """∂W_ij/∂M_ik for one row i, into work.row (L, L); the rows of the attention do not couple."""
    S, G, W, H = work.S, work.G, work.W, work.row
    if activation != _SOFTMAX:
        _constant_curvature(activation, L, G, H)
        return
    quadratic = 0.0
    for j in range(L):
        for k in range(L):
            quadratic += S[i, j] * G[j, k] * S[i, k]
    for j in range(L):
        for k in range(j + 1):
            pull = G[j, k] + quadratic
            for m in range(L):
                pull -= (G[j, m] + G[k, m]) * S[i, m]
            value = S[i, j] * S[i, k] * pull
            if whole:
                value -= W[i, j] * S[i, k] + S[i, j] * W[i, k]
                if j == k:
                    value += W[i, j]
            H[j, k] = H[k, j] = value


@numba.njit(error_model="numpy")
def _constant_curvature(activation, L, G, H):
    """∂W_ij/∂M_ik of an attention that is linear in its scores: G, or its centred part over L²."""
    for j in range(L):
        for k in range(L):
            H[j, k] = G[j, k]
            if activation == _LINEARISED:
                H[j, k] += G.sum() / L**2 - (G[j].sum() + G[k].sum()) / L
                H[j, k] /= L**2


@numba.njit(error_model="numpy")
def _scores_to_fields(i, z, student, whole, work, gradient, hessian):
    """Adds row i of the scores, M_ij = q_i·k_j, to the derivatives in queries and keys."""
    L, c = z.shape
    rank, keys = student.rank, 0 if student.tied else student.rank
    H, W = work.row, work.W
    for a in range(rank):
        q = i * c + a
        for j in range(L):
            gradient[q] += W[i, j] * z[j, keys + a]
            gradient[j * c + keys + a] += W[i, j] * z[i, a]
        for b in range(rank):
            p = i * c + b
            for k in range(L):
                key = k * c + keys + b
                pull = 0.0
                for j in range(L):
                    pull += H[j, k] * z[j, keys + a]
                hessian[q, p] += pull * z[k, keys + b]
                cross = pull * z[i, b]
                if whole and a == b:
                    cross += W[i, k]
                hessian[q, key] += cross
                hessian[key, q] += cross
                for j in range(L):
                    hessian[j * c + keys + a, key] += H[j, k] * z[i, a] * z[i, b]


@numba.njit(error_model="numpy")
def _values(i, column, b, z, student, whole, work, gradient, hessian):
    """Adds what row i of the output, O_i = Σ_k S_ik u_k, gives to the derivatives in column b of the values u."""
    L, c = z.shape
    rank, keys = student.rank, 0 if student.tied else student.rank
    S, R, O = work.S, work.residual, work.output  # noqa: E741
    for k in range(L):
        value = k * c + column
        gradient[value] += S[i, k] * R[i, b]
        for m in range(L):
            hessian[value, m * c + column] += S[i, k] * S[i, m]
        for j in range(L):
            # ∂W_ij/∂u_k
            direct = R[i, b] if whole and j == k else 0.0
            if student.activation == _LINEAR:
                slope = S[i, k] * z[j, column] + direct
            elif student.activation == _LINEARISED:
                centred = z[j, column] - z[:, column].sum() / L
                slope = (S[i, k] * centred + direct - (R[i, b] / L if whole else 0.0)) / L
            else:
                slope = S[i, j] * (S[i, k] * (z[j, column] - O[i, b]) + direct)
                if whole:
                    slope -= S[i, j] * S[i, k] * R[i, b]
            for a in range(rank):
                for at, push in ((i * c + a, slope * z[j, keys + a]), (j * c + keys + a, slope * z[i, a])):
                    hessian[at, value] += push
                    hessian[value, at] += push
