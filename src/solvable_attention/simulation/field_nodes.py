"""Quadrature over the components ξ of the tokens along a few directions."""

from __future__ import annotations

import numpy as np

from solvable_attention.quadrature import gauss_hermite, sobol
from solvable_attention.task import TeacherStudent

_LARGEST_TENSOR = 4


def field_nodes(task: TeacherStudent, directions: int, order: int, log2_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes ξ (N, L, directions) of Gaussians with covariance C ⊗ I, and weights (N,) of sum 1.

    Gauss–Hermite with `order` nodes for each variable while L·directions ≤ 4, and 2^log2_points Sobol points above,
    always with the same scramble: an error is then a function of Q that can be compared between runs.
    """
    dimension = task.L * directions
    rule = sobol(dimension, log2_points, 0) if dimension > _LARGEST_TENSOR else gauss_hermite(dimension, order)
    nodes = rule.nodes.T.reshape(-1, task.L, directions)
    return np.linalg.cholesky(task.C) @ nodes, rule.weights
