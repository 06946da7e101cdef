"""Attention matrices of L tokens, and the loss of their difference."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from solvable_attention.task import TeacherStudent


def scores(z: np.ndarray, tied: bool) -> np.ndarray:
    """Scores (N, L, L) of fields z (N, L, c): z zᵀ when tied, z_Q z_Kᵀ with z = [z_Q, z_K] when untied."""
    queries, keys = _queries_keys(z, tied)
    return queries @ keys.transpose(0, 2, 1)


def student_attention(z: np.ndarray, tied: bool, activation: str = "softmax") -> np.ndarray:
    """S[z] (N, L, L): row-wise softmax of the scores, or another activation, see `TeacherStudent`."""
    M = scores(z, tied)
    if activation == "linear":
        return M
    if activation == "linearised":
        return (1 + M - M.mean(axis=-1, keepdims=True)) / M.shape[-1]
    return softmax(M, axis=-1)


def teacher_attention(task: TeacherStudent, h: np.ndarray) -> np.ndarray:
    """T[h⋆] = (1−ω) softmax(h⋆h⋆ᵀ) + ω A, (N, L, L), for fields h⋆ (N, L, r⋆)."""
    return (1 - task.omega) * student_attention(h, tied=True) + task.omega * np.asarray(task.A)


def attention_loss(difference: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """ℓ = ½ tr[(S−T) C (S−T)ᵀ] (N,) for a difference S−T (N, L, L)."""
    return 0.5 * np.einsum("nij,jk,nik->n", difference, covariance, difference)


def _queries_keys(z: np.ndarray, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    if tied:
        return z, z
    r = z.shape[2] // 2
    return z[:, :, :r], z[:, :, r:]
