"""Quadrature over the components ξ of the tokens along a few directions."""

from __future__ import annotations

import numpy as np

from solvable_attention.quadrature import smooth_rule
from solvable_attention.task import TeacherStudent


def field_nodes(task: TeacherStudent, directions: int, order: int, log2_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes ξ (N, L, directions) of Gaussians with covariance C ⊗ I, and weights (N,) of sum 1; see `smooth_rule`."""
    rule = smooth_rule(task.L * directions, order, log2_points)
    nodes = rule.nodes.T.reshape(-1, task.L, directions)
    return np.linalg.cholesky(task.C) @ nodes, rule.weights
