"""The learning problem: a teacher that mixes semantic and positional attention, and a dot-product student.

Notation of Cui, Behrens, Krzakala & Zdeborová, arXiv:2402.03902. Inputs are L tokens x_ℓ ∈ R^d with
E x_ℓ x_κᵀ = C_{ℓκ} Σ, tr Σ = d. The target is y = T[x Q⋆/√d] x with T[h] = (1−ω) softmax(h hᵀ) + ω A, the student
S[(x+p) Q/√d] (x+p) with S[z] = softmax(z zᵀ) (tied) or softmax(z_Q z_Kᵀ) (untied), or the same with another activation.
With trained values the target is T[x Q⋆/√d] x V⋆/√d and the student S[(x+p) Q/√d] (x+p) U/√d, V⋆ and U ∈ R^{d×s}.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from solvable_attention.errors import ArgumentError
from solvable_attention.spectrum import ISOTROPIC, Spectrum

Matrix = tuple[tuple[float, ...], ...]

STANDARD_A: Matrix = ((0.6, 0.4), (0.4, 0.6))
ACTIVATIONS = ("softmax", "linear", "linearised")
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class TeacherStudent:
    """Parameters of the teacher, of the student and of the law of the tokens.

    Parameters
    ----------
    omega : share ω ∈ [0, 1] of the positional matrix A in the teacher; 0 is purely semantic.
    sigma : σ > 0, standard deviation of a token's entries; ρ = σ² (for `covariance`, its mean diagonal).
    lam : λ > 0, ridge on the student's weights, R(Q) = Σ_μ ‖y − f_Q(x)‖²/(2d) + (λ/2)‖Q‖².
    L : number of tokens, ≥ 2.
    rank, teacher_rank : columns r of the student's Q (of Q and of K each when untied) and r⋆ of Q⋆.
    A : (L, L) positional attention of the teacher, rows are probabilities. Default [[.6,.4],[.4,.6]]; needed for L > 2.
    covariance : (L, L) covariance C between tokens, symmetric positive definite. Default σ² I.
    encodings_gram : (L, L) Gram matrix P_{ℓκ} = p_ℓ·p_κ of the positional encodings, positive semi-definite.
        Default [[1,−1],[−1,1]] for L = 2 (p_1 = −p_2, the paper's choice), the identity for L > 2.
    value_rank : columns s of the trained values U and of the teacher's V⋆; 0 (the paper's choice) for identity values.
        The loss of a sample is then ‖y − f‖²/2 in place of ‖y − f‖²/(2d), and its test error ‖y − f‖²/L.
    tied : one weight matrix for queries and keys (True, the paper's choice) or two.
    activation : of the student's scores M, "softmax" by rows (the paper's choice), "linear", which leaves them, or
        "linearised", the softmax to first order in the scores, 1/L + (M − mean of each row)/L.
    spectrum : pairs (eigenvalue, share of the directions) of Σ, of mean eigenvalue 1; None for Σ = I. See `spectrum`.

    Raises
    ------
    ArgumentError : an argument is out of range; the message names it, its value and what is allowed.
    """

    omega: float
    sigma: float = 0.5
    lam: float = 0.01
    L: int = 2
    rank: int = 1
    teacher_rank: int = 1
    A: Matrix | None = None
    covariance: Matrix | None = None
    encodings_gram: Matrix | None = None
    value_rank: int = 0
    tied: bool = True
    activation: str = "softmax"
    spectrum: Spectrum | None = None

    def __post_init__(self):
        for name, least in (("L", 2), ("rank", 1), ("teacher_rank", 1), ("value_rank", 0)):
            self._set(name, _integer(name, getattr(self, name), least))
        self._set("omega", _number("omega", self.omega, 0.0, 1.0))
        self._set("sigma", _number("sigma", self.sigma, 0.0, np.inf, open_low=True))
        self._set("lam", _number("lam", self.lam, 0.0, np.inf, open_low=True))
        if not isinstance(self.tied, bool | np.bool_):
            raise ArgumentError(f"tied: is {self.tied!r}, allowed is True or False")
        self._set("tied", bool(self.tied))
        if self.activation not in ACTIVATIONS:
            raise ArgumentError(f"activation: is {self.activation!r}, allowed is one of {', '.join(ACTIVATIONS)}")
        if self.spectrum is not None:
            self._set("spectrum", _spectrum(self.spectrum))
        self._set("A", _row_stochastic("A", self._default_A(), self.L))
        if self.covariance is not None:
            self._set("covariance", self._checked_covariance())
        if self.encodings_gram is not None:
            self._set("encodings_gram", _symmetric("encodings_gram", self.encodings_gram, self.L, definite=False))

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    def _default_A(self):
        if self.A is None and self.L != 2:
            raise ArgumentError(f"A: is None, allowed for L={self.L} is a {self.L} × {self.L} matrix")
        return STANDARD_A if self.A is None else self.A

    def _checked_covariance(self):
        matrix = _symmetric("covariance", self.covariance, self.L, definite=True)
        mean_variance = float(np.trace(np.asarray(matrix))) / self.L
        # q, θ and V are quoted in units of ρ = σ²; two different scales would make them ambiguous.
        if not np.isclose(mean_variance, self.sigma**2, rtol=1e-6):
            raise ArgumentError(
                f"sigma: is {self.sigma}, allowed with this covariance is {mean_variance**0.5:.6g} "
                "(the square root of its mean diagonal)"
            )
        return matrix

    @property
    def attention_columns(self) -> int:
        """Columns of the weights that attend: r when tied, 2r (queries, then keys) when untied."""
        return self.rank if self.tied else 2 * self.rank

    @property
    def columns(self) -> int:
        """Columns of all the student's weights: those that attend, then those of trained values."""
        return self.attention_columns + self.value_rank

    @property
    def teacher_columns(self) -> int:
        """Columns of the teacher's weights, [Q⋆, V⋆]."""
        return self.teacher_rank + self.value_rank

    @property
    def rho(self) -> float:
        """ρ = σ², the variance of a token's entries."""
        return self.sigma**2

    @property
    def C(self) -> np.ndarray:
        """(L, L) covariance of the tokens, σ² I unless given."""
        return self.rho * np.eye(self.L) if self.covariance is None else np.array(self.covariance)

    @property
    def P(self) -> np.ndarray:
        """(L, L) Gram matrix of the positional encodings."""
        if self.encodings_gram is not None:
            return np.array(self.encodings_gram)
        return np.array([[1.0, -1.0], [-1.0, 1.0]]) if self.L == 2 else np.eye(self.L)

    @property
    def levels(self) -> Spectrum:
        """Pairs (eigenvalue, share) of Σ."""
        return ISOTROPIC if self.spectrum is None else self.spectrum

    @property
    def is_paper_case(self) -> bool:
        """Whether the two-field equations hold: L=2, ranks 1, tied softmax, no U, C = σ² I, Σ = I, p_1 = −p_2."""
        return (
            (self.L, self.rank, self.teacher_rank, self.tied, self.activation) == (2, 1, 1, True, "softmax")
            and self.spectrum is None
            and self.value_rank == 0
            and np.allclose(self.C, self.rho * np.eye(2))
            and np.allclose(self.P, [[1, -1], [-1, 1]])
        )


def _as_tuples(matrix) -> Matrix:
    return tuple(tuple(float(v) for v in row) for row in np.asarray(matrix, dtype=float))


def _show(value) -> str:
    return " ".join(repr(value.tolist() if isinstance(value, np.ndarray) else value).split())


def _number(name, value, low, high, open_low=False) -> float:
    allowed = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if np.isinf(high) else ']'}"
    valid = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(value)
    if not valid or not low <= value <= high or (open_low and value == low):
        raise ArgumentError(f"{name}: is {_show(value)}, allowed is a number in {allowed}")
    return float(value)


def _integer(name, value, least) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ArgumentError(f"{name}: is {_show(value)}, allowed is a whole number ≥ {least}")
    return int(value)


def _square(name, value, L) -> np.ndarray:
    try:
        matrix = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (L, L) or not np.isfinite(matrix).all():
        raise ArgumentError(f"{name}: is {_show(value)}, allowed is a {L} × {L} matrix of finite numbers")
    return matrix


def _row_stochastic(name, value, L) -> Matrix:
    matrix = _square(name, value, L)
    if (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0, atol=_TOLERANCE):
        raise ArgumentError(f"{name}: is {_show(value)}, allowed are rows of non-negative numbers that sum to 1")
    return _as_tuples(matrix)


def _symmetric(name, value, L, definite) -> Matrix:
    matrix = _square(name, value, L)
    smallest = np.linalg.eigvalsh(matrix).min() if np.allclose(matrix, matrix.T) else -np.inf
    if smallest < (_TOLERANCE if definite else -_TOLERANCE):
        kind = "positive definite" if definite else "positive semi-definite"
        raise ArgumentError(f"{name}: is {_show(value)}, allowed is a symmetric {kind} matrix")
    return _as_tuples(matrix)


def _spectrum(value) -> Spectrum:
    try:
        pairs = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        pairs = np.empty(0)
    valid = pairs.ndim == 2 and pairs.shape[0] > 0 and pairs.shape[1] == 2 and np.isfinite(pairs).all()
    if not valid or (pairs <= 0).any() or abs(pairs[:, 1].sum() - 1) > 1e-6 or abs(pairs.prod(axis=1).sum() - 1) > 1e-6:
        allowed = "pairs (eigenvalue > 0, share > 0) with shares of sum 1 and mean eigenvalue 1"
        raise ArgumentError(f"spectrum: is {_show(value)}, allowed are {allowed}")
    return _as_tuples(pairs)
