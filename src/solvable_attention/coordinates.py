"""Unconstrained coordinates of the order parameters on a branch.

K − t tᵀ and χ have to stay positive definite: they enter through Cholesky factors with a logarithmic diagonal, so that
any vector is an admissible state and a root finder may step freely. Directions that the branch's symmetry forbids
have no coordinate.
"""

from __future__ import annotations

import numpy as np

from solvable_attention.overlaps import Overlaps
from solvable_attention.task import TeacherStudent

BRANCHES = ("semantic", "positional", "uninformative", "mixed")


def has_theta(branch: str) -> bool:
    """Whether the branch lets t = QᵀQ⋆/d differ from zero."""
    return branch in ("semantic", "mixed")


def has_m(branch: str) -> bool:
    """Whether the branch lets m = Qᵀp/√d differ from zero."""
    return branch in ("positional", "mixed")


def pack(overlaps: Overlaps, branch: str) -> np.ndarray:
    """Coordinates [log-Cholesky of K − t tᵀ, of χ, then t and mu where the branch has them]."""
    parts = [_log_cholesky(overlaps.residual_covariance), _log_cholesky(overlaps.chi)]
    if has_theta(branch):
        parts.append(overlaps.t.ravel())
    if has_m(branch):
        parts.append(overlaps.mu.ravel())
    return np.concatenate(parts)


def unpack(task: TeacherStudent, vector: np.ndarray, branch: str, encoding_rank: int) -> Overlaps:
    """The overlaps at coordinates `vector`; encoding_rank is the number k of rows of mu."""
    c, r = task.columns, task.teacher_rank
    triangle = c * (c + 1) // 2
    R, chi = _from_log_cholesky(vector[:triangle], c), _from_log_cholesky(vector[triangle : 2 * triangle], c)
    rest = vector[2 * triangle :]
    t, mu = np.zeros((c, r)), np.zeros((encoding_rank, c))
    if has_theta(branch):
        t, rest = rest[: c * r].reshape(c, r), rest[c * r :]
    if has_m(branch):
        mu = rest.reshape(encoding_rank, c)
    return Overlaps(K=R + t @ t.T, t=t, mu=mu, chi=chi)


def _log_cholesky(matrix: np.ndarray) -> np.ndarray:
    factor = np.linalg.cholesky(matrix)
    np.fill_diagonal(factor, np.log(np.diag(factor)))
    return factor[np.tril_indices_from(factor)]


def _from_log_cholesky(entries: np.ndarray, size: int) -> np.ndarray:
    factor = np.zeros((size, size))
    factor[np.tril_indices(size)] = entries
    np.fill_diagonal(factor, np.exp(np.diag(factor)))
    return factor @ factor.T
