"""Positional encodings in R^d with a prescribed Gram matrix."""

from __future__ import annotations

import numpy as np

from solvable_attention.errors import ArgumentError
from solvable_attention.task import TeacherStudent

_PIVOT_TOLERANCE = 1e-8


def positional_encodings(task: TeacherStudent, d: int) -> np.ndarray:
    """Rows p_ℓ = Σ_k B_{ℓk} e_k with p_ℓ·p_κ = P = `task.P`.

    The e_k are the orthonormal cosine (DCT-II) vectors of R^d, e_1 = (1, …, 1)/√d, and B Bᵀ is the Gram
    matrix. For the default L = 2 this is the paper's choice, p_1 = (1, …, 1)/√d = −p_2.

    Parameters
    ----------
    task : the problem; only its Gram matrix is used.
    d : dimension of a token, at least the rank of the Gram matrix.

    Returns
    -------
    (L, d) float64.

    Raises
    ------
    ArgumentError : the encodings span more than d directions.
    """
    factor = encoding_factor(task)
    rank = factor.shape[1]
    if rank > d:
        raise ArgumentError(f"d: is {d}, allowed with encodings of rank {rank} is a whole number ≥ {rank}")
    return factor @ cosine_vectors(rank, d)


def cosine_vectors(count: int, d: int) -> np.ndarray:
    """The first `count` orthonormal DCT-II vectors of R^d, (count, d); the first is (1, …, 1)/√d."""
    frequency = np.arange(count)[:, None]
    vectors = np.cos(np.pi * frequency * (2 * np.arange(d) + 1) / (2 * d)) * np.sqrt(2 / d)
    vectors[:1] = 1 / np.sqrt(d)
    return vectors


def encoding_factor(task: TeacherStudent) -> np.ndarray:
    """B (L, rank) with P = B Bᵀ, by Cholesky factorisation; unlike an eigendecomposition it keeps p_1 along +e_1."""
    remainder, columns = task.P, []
    for pivot in range(task.L):
        if remainder[pivot, pivot] > _PIVOT_TOLERANCE * max(1.0, np.trace(task.P)):
            column = remainder[:, pivot] / np.sqrt(remainder[pivot, pivot])
            remainder -= np.outer(column, column)
            columns.append(column)
    return np.array(columns).reshape(len(columns), task.L).T
