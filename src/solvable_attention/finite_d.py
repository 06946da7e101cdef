"""Known differences of order 1/d between runs at finite d and the limit that the theory describes."""

from __future__ import annotations

import numpy as np

from solvable_attention.attention import student_attention
from solvable_attention.encodings import encoding_factor
from solvable_attention.overlaps import Overlaps
from solvable_attention.quadrature import gauss_hermite, sobol
from solvable_attention.task import TeacherStudent

_LARGEST_TENSOR = 4


def encoding_term(task: TeacherStudent, overlaps: Overlaps) -> float:
    """E ‖S(w) p‖²_F over fields w of mean m and covariance C ⊗ K.

    The encodings in the student's values x + p add α/(2d) times this to ε_t and 1/(Ld) times this to ε_g.
    """
    dimension = task.L * task.columns
    rule = gauss_hermite(dimension, 24) if dimension <= _LARGEST_TENSOR else sobol(dimension, 14, 0)
    noise = rule.nodes.T.reshape(-1, task.L, task.columns)
    spread = np.linalg.cholesky(task.C) @ noise @ np.linalg.cholesky(overlaps.K).T
    S = student_attention(encoding_factor(task) @ overlaps.mu + spread, task.tied)
    return float(rule.mean(np.einsum("nij,jk,nik->n", S, task.P, S)))
