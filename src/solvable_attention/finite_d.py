"""Known differences of order 1/d between runs at finite d and the limit that the theory describes."""

from __future__ import annotations

import numpy as np

from solvable_attention.attention import student_attention
from solvable_attention.encodings import encoding_factor
from solvable_attention.field_nodes import field_nodes
from solvable_attention.overlaps import Overlaps
from solvable_attention.task import TeacherStudent


def encoding_parts(task: TeacherStudent, d: int, alpha: float, q: float, m: float, theta: float) -> dict[str, float]:
    """What the encodings in the values add at finite d to "train_loss" (ε_t) and "test_error" (ε_g)."""
    term = encoding_term_at(task, q, m, theta)
    return {"train_loss": alpha * term / (2 * d), "test_error": term / (task.L * d)}


def encoding_term_at(task: TeacherStudent, q: float, m: float, theta: float) -> float:
    """`encoding_term` of a student in the paper's case, from the numbers that the tables hold."""
    K, t, mu = (np.array([[value]]) for value in (q / task.rho, theta / task.rho, m))
    return encoding_term(task, Overlaps(K=K, t=t, mu=mu, chi=np.eye(1)))


def encoding_term(task: TeacherStudent, overlaps: Overlaps) -> float:
    """E ‖S(w) p‖²_F over fields w of mean m and covariance C ⊗ K.

    The encodings in the student's values x + p add α/(2d) times this to ε_t and 1/(Ld) times this to ε_g.

    Trained values see the encodings through their fields alone, without such a term: 0.
    """
    if task.value_rank:
        return 0.0
    noise, weights = field_nodes(task, task.columns, order=24, log2_points=14)
    w = encoding_factor(task) @ overlaps.mu + noise @ np.linalg.cholesky(overlaps.K).T
    S = student_attention(w, task.tied, task.activation)
    return float(weights @ np.einsum("nij,jk,nik->n", S, task.P, S))
