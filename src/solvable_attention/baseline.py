"""The linear positional baseline f_W(x) = W x, W ∈ R^{L×L}: the best of the students that ignore content.

In the limit d → ∞ the fitted W is E T at any α, and

    ε_lin = (1/L) E tr[(T − E T) C (T − E T)ᵀ],

over the teacher's fields h⋆ (L, r⋆), Gaussian with covariance C ⊗ I.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvable_attention.attention import teacher_attention
from solvable_attention.errors import ArgumentError
from solvable_attention.field_nodes import field_nodes
from solvable_attention.spectrum import eigenvalues
from solvable_attention.task import TeacherStudent

_NODES_PER_DIRECTION = {1: 80, 2: 80, 3: 40, 4: 24}
_LOG2_POINTS = 16


@dataclass(frozen=True)
class LinearBaseline:
    """weights : (L, L), W = E T.   test_error : ε_lin."""

    weights: np.ndarray
    test_error: float


def linear_baseline(task: TeacherStudent) -> LinearBaseline:
    """The baseline in the limit of large d, by quadrature over the teacher's L·r⋆ fields.

    Raises ArgumentError for trained values, with which its target is another.
    """
    if task.value_rank:
        raise ArgumentError(f"value_rank: is {task.value_rank}, allowed for the linear baseline is 0")
    xi, quadrature_weights = _fields(task, task.teacher_rank)
    T = teacher_attention(task, xi)
    mean = np.einsum("n,nij->ij", quadrature_weights, T)
    covariance = np.broadcast_to(task.C, T.shape)
    return LinearBaseline(mean, _mean_error(T - mean, covariance, quadrature_weights))


def linear_test_error(task: TeacherStudent, W: np.ndarray, teacher_weights: np.ndarray) -> float:
    """E‖T x − W x‖²_F/(Ld) given W (L, L) and Q⋆ (d, r⋆), exact at finite d.

    With x = u Σ^½, an orthonormal basis E (d, k) of the span of Σ^½Q⋆, ξ = u E and Σ_E = EᵀΣE:
    E[x xᵀ | ξ] = ξ Σ_E ξᵀ + (d − tr Σ_E) C.
    """
    d = len(teacher_weights)
    root = np.sqrt(eigenvalues(task.levels, d))[:, None]
    basis, coordinates = np.linalg.qr(root * teacher_weights)
    k, gram = len(coordinates), (root * basis).T @ (root * basis)
    xi, quadrature_weights = _fields(task, k)
    tokens = (xi @ gram @ xi.transpose(0, 2, 1) + (d - np.trace(gram)) * task.C) / d
    return _mean_error(teacher_attention(task, xi @ coordinates / np.sqrt(d)) - W, tokens, quadrature_weights)


def _fields(task: TeacherStudent, directions: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes ξ (N, L, directions) with covariance C ⊗ I, and their weights."""
    order = _NODES_PER_DIRECTION.get(task.L * directions, 0)
    return field_nodes(task, directions, order, _LOG2_POINTS)


def _mean_error(difference: np.ndarray, tokens: np.ndarray, weights: np.ndarray) -> float:
    """(1/L) Σ_n w_n tr[D_n X_n D_nᵀ]."""
    traces = np.einsum("nij,njk,nik->n", difference, tokens, difference, optimize=True)
    return float(weights @ traces) / difference.shape[1]
