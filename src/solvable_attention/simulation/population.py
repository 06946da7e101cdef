"""The test error of given weights, as a low-dimensional Gaussian integral, exact at finite d.

With trained values ε_g = E‖T h_V − S z_U‖²_F/L, of fields alone. Else tokens are x = u Σ^½, u of covariance C ⊗ I_d.
Let E (d, k) be an orthonormal basis that contains the span of Σ^½Q and Σ^½Q⋆, and ξ = u E (L, k), of covariance
C ⊗ I_k. All fields are functions of ξ: z = ξ EᵀΣ^½Q/√d + pQ/√d and h⋆ = ξ EᵀΣ^½Q⋆/√d. The rest of u is independent of
ξ. With F = Σ^½E and Σ_E = FᵀF (I for isotropic tokens)

    E[x xᵀ | ξ] = ξ Σ_E ξᵀ + (tr Σ − tr Σ_E) C,     E[x | ξ] pᵀ = ξ (pF)ᵀ,

and with y − f = (T − S) x − S p

    ε_g = 1/(Ld) · E tr[ (T−S) E[x xᵀ|ξ] (T−S)ᵀ − 2 (T−S) ξ(pF)ᵀ Sᵀ + S p pᵀ Sᵀ ].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvable_attention.attention import student_attention, teacher_attention
from solvable_attention.encodings import positional_encodings
from solvable_attention.field_nodes import field_nodes
from solvable_attention.simulation.data import draw_tokens
from solvable_attention.simulation.population_fused import two_token_errors
from solvable_attention.spectrum import eigenvalues
from solvable_attention.task import TeacherStudent

_SAMPLES_PER_BLOCK = 256


def population_test_error(
    tasks: Sequence[TeacherStudent],
    Q: np.ndarray,
    teacher_weights: np.ndarray,
    *,
    order: int = 16,
    log2_points: int = 14,
) -> np.ndarray:
    """ε_g = E‖y − f_Q(x)‖²_F/(Ld) of each run, E‖y − f‖²_F/L for trained values.

    Parameters
    ----------
    tasks : one per run, sharing the law of x.
    Q : (runs, columns, d).
    teacher_weights : (d, r⋆), Q⋆ (and V⋆).
    order : Gauss–Hermite nodes a direction, used where L times all columns is ≤ 4. With 16 the relative error is
        about 1e-6 at σ = .5 and up to 5e-4 at σ = 1, where the attention saturates.
    log2_points : above that, 2^log2_points Sobol points, whose error is about 1e-3 relative.

    Returns
    -------
    (runs,) float64.
    """
    task, d = tasks[0], Q.shape[2]
    teachers = np.broadcast_to(teacher_weights.T, (len(Q), *teacher_weights.T.shape))
    root = np.sqrt(eigenvalues(task.levels, d))
    vectors = np.concatenate([Q, teachers], axis=1, dtype=np.float64) * root
    # A Householder QR returns an orthonormal basis also when the columns are parallel or zero.
    basis, coordinates = np.linalg.qr(vectors.transpose(0, 2, 1))
    student, teacher = np.split(coordinates / np.sqrt(d), [Q.shape[1]], axis=2)
    spread = root[:, None] * basis
    p = positional_encodings(task, d)
    encodings, means = p @ spread, p @ Q.transpose(0, 2, 1).astype(np.float64) / np.sqrt(d)
    k = basis.shape[2]
    xi, weights = field_nodes(task, k, order, log2_points)
    plain = task.spectrum is None and all(one.activation == "softmax" for one in tasks)
    if plain and (task.L, task.columns, task.teacher_rank, k) == (2, 1, 1, 2):
        return two_token_errors(tasks, xi, weights, student[..., 0], teacher[..., 0], encodings, d)
    grams = spread.transpose(0, 2, 1) @ spread
    runs = zip(tasks, student, teacher, encodings, means, grams, strict=True)
    return np.array([_error(*run, xi, weights, d) for run in runs])


def _error(task, student, teacher, encodings, means, gram, xi, weights, d) -> float:
    """ε_g of one run: student (k, columns), teacher (k, r⋆), pF (L, k), pQ/√d (L, columns), Σ_E, ξ (N, L, k)."""
    z, h = xi @ student + means, xi @ teacher
    S = student_attention(z[..., : task.attention_columns], task.tied, task.activation)
    T = teacher_attention(task, h[..., : task.teacher_rank])
    if task.value_rank:
        difference = T @ h[..., task.teacher_rank :] - S @ z[..., task.attention_columns :]
        return float(weights @ np.sum(difference**2, axis=(1, 2))) / task.L
    E = T - S
    tokens = xi @ gram @ xi.transpose(0, 2, 1) + (d - np.trace(gram)) * task.C
    values = np.einsum("nij,njk,nik->n", E, tokens, E, optimize=True)
    values -= 2 * np.einsum("nij,njk,nik->n", E, xi @ encodings.T, S, optimize=True)
    values += np.einsum("nij,jk,nik->n", S, task.P, S, optimize=True)
    return float(weights @ values) / (task.L * d)


def sampled_test_error(
    task: TeacherStudent,
    Q: np.ndarray,
    teacher_weights: np.ndarray,
    *,
    samples: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """ε_g of one run (columns, d) on fresh samples, and its standard error."""
    d = Q.shape[1]
    encodings = positional_encodings(task, d)
    errors = []
    for start in range(0, samples, _SAMPLES_PER_BLOCK):
        count = min(_SAMPLES_PER_BLOCK, samples - start)
        x = draw_tokens(task, count, d, rng).astype(np.float64).transpose(1, 0, 2)
        u = x + encodings
        z, h = u @ Q.T / np.sqrt(d), x @ teacher_weights / np.sqrt(d)
        S = student_attention(z[..., : task.attention_columns], task.tied, task.activation)
        T = teacher_attention(task, h[..., : task.teacher_rank])
        if task.value_rank:
            difference = T @ h[..., task.teacher_rank :] - S @ z[..., task.attention_columns :]
        else:
            difference = (T @ x - S @ u) / np.sqrt(d)
        errors.append((difference**2).sum(axis=(1, 2)) / task.L)
    errors = np.concatenate(errors)
    return float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(samples))
