"""Attention matrices of L tokens, and the per-sample loss with its first two derivatives in the local fields."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from solvable_attention.task import TeacherStudent


def scores(z: np.ndarray, tied: bool) -> np.ndarray:
    """Scores (N, L, L) of fields z (N, L, c): z zᵀ when tied, z_Q z_Kᵀ with z = [z_Q, z_K] when untied."""
    queries, keys = _queries_keys(z, tied)
    return queries @ keys.transpose(0, 2, 1)


def student_attention(z: np.ndarray, tied: bool) -> np.ndarray:
    """S[z] = row-wise softmax of the scores, (N, L, L)."""
    return softmax(scores(z, tied), axis=-1)


def teacher_attention(task: TeacherStudent, h: np.ndarray) -> np.ndarray:
    """T[h⋆] = (1−ω) softmax(h⋆h⋆ᵀ) + ω A, (N, L, L), for fields h⋆ (N, L, r⋆)."""
    return (1 - task.omega) * student_attention(h, tied=True) + task.omega * np.asarray(task.A)


def attention_loss(difference: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """ℓ = ½ tr[(S−T) C (S−T)ᵀ] (N,) for a difference S−T (N, L, L)."""
    return 0.5 * np.einsum("nij,jk,nik->n", difference, covariance, difference)


def loss_derivatives(task: TeacherStudent, z: np.ndarray, T: np.ndarray):
    """Gradient (N, Lc) and Hessian (N, Lc, Lc) of ℓ(z) at fixed target T; fields are flattened token by token.

    With M the scores, E = (S−T)C and W = ∂ℓ/∂M: W_ij = S_ij(E_ij − Ē_i), Ē_i = Σ_k S_ik E_ik. M is bilinear in queries
    and keys, so that the Hessian is Jᵀ (∂²ℓ/∂M²) J plus W itself in the query–key blocks.
    """
    n, L, c = z.shape
    C = task.C
    S = student_attention(z, task.tied)
    E = (S - T) @ C
    centred = E - np.sum(S * E, axis=-1, keepdims=True)
    W = S * centred
    H = _score_hessian(S, centred, C)
    queries, keys = _queries_keys(z, task.tied)
    r = queries.shape[2]
    # Gradients and blocks in (queries, keys), each of shape (tokens, r); eye marks "same token".
    grad_q, grad_k = W @ keys, W.transpose(0, 2, 1) @ queries
    eye = np.eye(L)
    qq = np.einsum("nijk,nja,nkb,il->nialb", H, keys, keys, eye)
    qk = np.einsum("nijk,nja,nib->niakb", H, keys, queries) + np.einsum("nij,ab->niajb", W, np.eye(r))
    kk = np.einsum("nijk,nia,nib->njakb", H, queries, queries)
    kq = qk.transpose(0, 3, 4, 1, 2)
    if task.tied:
        gradient, hessian = grad_q + grad_k, qq + qk + kq + kk
    else:
        gradient = np.concatenate([grad_q, grad_k], axis=2)
        hessian = np.concatenate([np.concatenate([qq, qk], axis=4), np.concatenate([kq, kk], axis=4)], axis=2)
    return gradient.reshape(n, L * c), hessian.reshape(n, L * c, L * c)


def _queries_keys(z: np.ndarray, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    if tied:
        return z, z
    r = z.shape[2] // 2
    return z[:, :, :r], z[:, :, r:]


def _score_hessian(S: np.ndarray, centred: np.ndarray, C: np.ndarray) -> np.ndarray:
    """∂W_ij/∂M_ik (N, L, L, L): rows of the softmax do not couple."""
    W = S * centred
    CS = S @ C  # (C S_i)_j, C symmetric
    quadratic = np.sum(S * CS, axis=-1)  # S_i C S_i
    outer = S[..., :, None] * S[..., None, :]
    curvature = C[None, None] - CS[..., :, None] - CS[..., None, :] + quadratic[..., None, None]
    diagonal = W[..., :, None] * np.eye(S.shape[-1])
    return diagonal - W[..., :, None] * S[..., None, :] - S[..., :, None] * W[..., None, :] + outer * curvature
