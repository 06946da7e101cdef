"""One data set: tokens with positional encodings, the teacher's weights, the small matrices of each sample.

A sample's loss depends on Q only through the fields (x+p)Q/√d and on its L × L Gram matrices. Those are
computed once, in float64, so that a step of any optimiser touches the large matrix in two products only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvable_attention.attention import student_attention
from solvable_attention.encodings import positional_encodings
from solvable_attention.simulation.seeding import DATA, TEACHER, generator
from solvable_attention.spectrum import eigenvalues
from solvable_attention.task import TeacherStudent

_BLOCK_ENTRIES = 2**20
_SMALL = ("gram_uu", "gram_xu", "gram_xx", "teacher_attention")


@dataclass(frozen=True)
class Dataset:
    """n samples of L tokens in R^d and the teacher that labels them.

    tokens : (L, n, d) float32, the tokens with their encodings, u = x + p. It is the only large array.
    encodings : (L, d), p.
    teacher_weights : (d, r⋆), Q⋆; for trained values (d, r⋆ + s), [Q⋆, V⋆].
    gram_uu, gram_xu, gram_xx : (n, L, L), u uᵀ/d, x uᵀ/d and x xᵀ/d.
    teacher_attention : (n, L, L), softmax(h⋆ h⋆ᵀ) with h⋆ = x Q⋆/√d.
    teacher_values : (n, L, s), x V⋆/√d.
    """

    alpha: float
    tokens: np.ndarray
    encodings: np.ndarray
    teacher_weights: np.ndarray
    gram_uu: np.ndarray
    gram_xu: np.ndarray
    gram_xx: np.ndarray
    teacher_attention: np.ndarray
    teacher_values: np.ndarray

    @property
    def d(self) -> int:
        return self.tokens.shape[2]

    @property
    def n(self) -> int:
        return self.tokens.shape[1]


def law_of_tokens(task: TeacherStudent) -> tuple:
    """What two tasks must share to be trained on one data set."""
    ranks = (task.rank, task.teacher_rank, task.value_rank)
    return (task.L, task.sigma, ranks, task.C.tolist(), task.P.tolist(), task.levels)


def draw_dataset(task: TeacherStudent, *, d: int, alpha: float, seed: int, root_seed: int = 0) -> Dataset:
    """Draw n = max(1, round(α d)) samples with E x_ℓ x_κᵀ = C_{ℓκ} Σ, Σ diagonal, and Q⋆ with iid N(0, 1) entries.

    The draws depend on (root_seed, d, alpha, seed) alone. Tasks with another covariance or
    spectrum get the same underlying noise, mixed differently.
    """
    key = (root_seed, d, alpha, seed)
    n = max(1, round(alpha * d))
    encodings = positional_encodings(task, d)
    teacher_weights = generator(*key, TEACHER).standard_normal((d, task.teacher_columns))
    tokens = np.empty((task.L, n, d), dtype=np.float32)
    small = {name: np.empty((n, task.L, task.L)) for name in _SMALL}
    small["teacher_values"] = np.empty((n, task.L, task.value_rank))
    for block, x in _token_blocks(task, n, d, generator(*key, DATA)):
        tokens[:, block] = x + encodings[:, None]
        for name, value in _sample_matrices(task, tokens[:, block], encodings, teacher_weights).items():
            small[name][block] = value
    return Dataset(float(alpha), tokens, encodings, teacher_weights, **small)


def draw_tokens(task: TeacherStudent, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Fresh tokens x without encodings, (L, n, d) float32."""
    return np.concatenate([x for _, x in _token_blocks(task, n, d, rng)], axis=1)


def _token_blocks(task, n, d, rng) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of samples: slice and x (L, block, d). The draws run sample by sample, whatever the block."""
    mix = np.linalg.cholesky(task.C).astype(np.float32)
    scale = np.sqrt(eigenvalues(task.levels, d)).astype(np.float32)
    size = max(1, _BLOCK_ENTRIES // (task.L * d))
    for start in range(0, n, size):
        block = slice(start, min(n, start + size))
        noise = rng.standard_normal((block.stop - start, task.L, d), dtype=np.float32)
        if task.spectrum is not None:
            noise *= scale
        yield block, np.einsum("lk,nkd->lnd", mix, noise)


def _sample_matrices(task, tokens, encodings, teacher_weights) -> dict[str, np.ndarray]:
    """Gram matrices, the teacher's attention and its values of a block, tokens (L, block, d) float32.

    x is taken back from the rounded x + p, so that every matrix belongs to exactly the stored tokens.
    """
    d = tokens.shape[2]
    u = tokens.astype(np.float64).transpose(1, 0, 2)
    x = u - encodings
    fields, values = np.split(x @ teacher_weights / np.sqrt(d), [task.teacher_rank], axis=2)
    return {
        "gram_uu": u @ u.transpose(0, 2, 1) / d,
        "gram_xu": x @ u.transpose(0, 2, 1) / d,
        "gram_xx": x @ x.transpose(0, 2, 1) / d,
        "teacher_attention": student_attention(fields, tied=True),
        "teacher_values": values,
    }
