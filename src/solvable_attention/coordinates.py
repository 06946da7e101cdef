"""Unconstrained coordinates of the order parameters on a branch.

K − t tᵀ and χ have to stay positive definite: they enter through Cholesky factors with a logarithmic diagonal, so that
any vector is an admissible state and a root finder may step freely. Directions that the branch's symmetry forbids, or
that the gauge fixes, have no coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvable_attention.overlaps import ChannelMoments, Overlaps
from solvable_attention.task import TeacherStudent

BRANCHES = ("semantic", "positional", "uninformative", "mixed")


def has_theta(branch: str) -> bool:
    """Whether the branch lets t = QᵀQ⋆/d differ from zero."""
    return branch in ("semantic", "mixed")


def has_m(branch: str) -> bool:
    """Whether the branch lets m = Qᵀp/√d differ from zero."""
    return branch in ("positional", "mixed")


@dataclass(frozen=True, eq=False)
class Freedom:
    """Which entries of the order parameters a branch lets move: masks of K and χ (c, c), t (c, r⋆) and mu (k, c).

    Rotations of the r columns of queries (and keys with them) and of the teacher's r⋆ columns are symmetries of the
    problem. The gauge is fixed by t diagonal: column a of the student sees column a of the teacher alone. Then the
    signs of each such pair are symmetries as well, and unless they are broken K and χ do not couple the columns. The
    same holds for the columns of trained values, which see V⋆ on every branch and no encoding; `values` are the
    entries of t that are theirs.
    For r ≥ 2 the encodings are seen by one column when they span one direction: by the first on the positional branch,
    on the mixed one by the last, which then does not see the teacher: every column holds one mechanism. When they span
    more the columns stay coupled wherever mu moves.
    """

    pairs: np.ndarray
    t: np.ndarray
    values: np.ndarray
    mu: np.ndarray

    @property
    def inner(self) -> int:
        """Coordinates that every branch has: all but the order parameters."""
        return 2 * self.count_pairs + int(self.values.sum())

    @property
    def count_pairs(self) -> int:
        """Coordinates of K, and of χ."""
        return int(np.tril(self.pairs).sum())

    @property
    def count_order(self) -> int:
        """Coordinates of t and mu."""
        return int(self.t.sum() + self.mu.sum())


def freedom(task: TeacherStudent, branch: str, encoding_rank: int) -> Freedom:
    """The entries that move on the branch, see `Freedom`; any other name than a branch's frees all."""
    c, r = task.columns, task.teacher_columns
    value = np.outer(np.arange(c) >= task.attention_columns, np.arange(r) >= task.teacher_rank)
    if branch not in BRANCHES:
        return Freedom(np.ones((c, c), bool), ~value, value, np.ones((encoding_rank, c), bool))
    # Labels of the pairs of columns: 0 to r − 1 attend, r and above are values.
    label = np.concatenate([np.arange(task.attention_columns) % task.rank, task.rank + np.arange(task.value_rank)])
    teacher = np.concatenate([np.arange(task.teacher_rank), task.rank + np.arange(task.value_rank)])
    attends = label < task.rank
    pairs, same = label[:, None] == label, label[:, None] == teacher
    t = same & attends[:, None] & (np.arange(r) < task.teacher_rank) & has_theta(branch)
    mu = np.tile(attends & has_m(branch), (encoding_rank, 1))
    if task.rank > 1 and has_m(branch):
        if encoding_rank == 1:
            by_place = label == (0 if branch == "positional" else task.rank - 1)
            mu[:, ~by_place] = False
            t[by_place] = False
        else:
            pairs |= np.outer(attends, attends)
    return Freedom(pairs, t, same & value, mu)


def pack(task: TeacherStudent, overlaps: Overlaps, branch: str) -> np.ndarray:
    """Coordinates [log-Cholesky of K − t tᵀ, of χ, t of the values, t, mu], of what moves on the branch only."""
    free = freedom(task, branch, overlaps.mu.shape[0])
    parts = [_log_cholesky(matrix, free.pairs) for matrix in (overlaps.residual_covariance, overlaps.chi)]
    return np.concatenate([*parts, overlaps.t[free.values], overlaps.t[free.t], overlaps.mu[free.mu]])


def unpack(task: TeacherStudent, vector: np.ndarray, branch: str, encoding_rank: int) -> Overlaps:
    """The overlaps at coordinates `vector`; encoding_rank is the number k of rows of mu."""
    free = freedom(task, branch, encoding_rank)
    cuts = np.cumsum([free.count_pairs, free.count_pairs, free.values.sum(), free.t.sum()])
    entries_R, entries_chi, entries_values, entries_t, entries_mu = np.split(vector, cuts)
    R, chi = (_from_log_cholesky(entries, free.pairs) for entries in (entries_R, entries_chi))
    t, mu = np.zeros(free.t.shape), np.zeros(free.mu.shape)
    t[free.values], t[free.t], mu[free.mu] = entries_values, entries_t, entries_mu
    return Overlaps(K=R + t @ t.T, t=t, mu=mu, chi=chi)


def pinned(task: TeacherStudent, moments: ChannelMoments, branch: str) -> ChannelMoments:
    """The moments with those that vanish by the branch's symmetry or by the gauge set to zero exactly.

    Without the exact zero quadrature noise leaks into the forbidden direction and, near an instability, grows.
    """
    free = freedom(task, branch, moments.mu_hat.shape[0])
    return replace(
        moments,
        k_hat=moments.k_hat * free.pairs,
        v_hat=moments.v_hat * free.pairs,
        t_hat=moments.t_hat * (free.t | free.values),
        mu_hat=moments.mu_hat * free.mu,
    )


def _log_cholesky(matrix: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    factor = np.linalg.cholesky(matrix)
    np.fill_diagonal(factor, np.log(np.diag(factor)))
    return factor[np.tril(pairs)]


def _from_log_cholesky(entries: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    factor = np.zeros(pairs.shape)
    factor[np.tril(pairs)] = entries
    np.fill_diagonal(factor, np.exp(np.diag(factor)))
    return factor @ factor.T
