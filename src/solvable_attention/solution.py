"""What a solve of the state evolution returns, and the measures by which it is judged."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from solvable_attention.coordinates import has_m, has_theta
from solvable_attention.encodings import encoding_factor
from solvable_attention.overlaps import Overlaps
from solvable_attention.task import TeacherStudent

RESIDUAL_TOLERANCE = 1e-8
# Below this K = ‖Q‖²/d the student is taken as Q = 0, where the attention is uniform to 1e-6.
_COLLAPSED = 1e-6
# An order parameter below this share of its largest possible value counts as zero.
MERGED = 1e-3
# Below this share it may be that of a branch near its end or of a merged one.
NEAR_THE_END = 0.05
# Numbers of a fixed point whose quadrature error is estimated.
NUMBERS = ("q", "m", "V", "theta", "train_loss", "test_error")
# The error thus quoted covers the true one, against order 40, in 99.4 % of 540 numbers (benchmarks/calibration.py);
# near the end of a branch it has been seen to be too small by a factor of 2.
_SAFETY = 1.5


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """A fixed point of the state evolution at sample complexity alpha on a branch.

    overlaps : K, t, mu, chi, see `Overlaps`; q, m, V, theta are the paper's numbers for a student of one column and
        norms that no rotation of the columns changes for more, as `simulate` reports them.
    train_loss : ε_t; free_energy : the same number by an independent expression; test_error : ε_g.
    residual : largest |F(state) − state| of the undamped map at this very point, q and V relative to themselves,
        m and θ to their natural scales √q and √(ρq).
    shifts : what each check rule would change in "q", "m", "V", "theta", "train_loss", "test_error", (checks,) each.
    quadrature_error : the largest of them, relative to the value (m and θ where the branch has them).
    converged : residual ≤ RESIDUAL_TOLERANCE, or what the rules of the solve allow, and every number finite.
    two_well_weight : share of the draws whose proximal objective has two wells (NaN outside the paper's case).
    loss_slope : dε_t/dα along the branch, the mean Moreau envelope.
    growth_m, growth_theta : largest real part of the eigenvalues of the map's Jacobian in the order parameter that the
        branch pins to zero, see `stability`; NaN where the branch lets it move. Above 1 the branch is unstable to it.
    jacobian : of F(u) − u in the branch's coordinates u (see `coordinates`), by differences on the coarse rule.
    evaluations : map evaluations of all rules that the solve took.
    """

    task: TeacherStudent
    alpha: float
    branch: str
    overlaps: Overlaps
    two_well_weight: float
    jacobian: np.ndarray
    evaluations: int
    train_loss: float = np.nan
    free_energy: float = np.nan
    test_error: float = np.nan
    loss_slope: float = np.nan
    growth_m: float = np.nan
    growth_theta: float = np.nan
    residual: float = np.nan
    shifts: dict[str, np.ndarray] = field(default_factory=dict)
    quadrature_error: float = np.nan
    converged: bool = False

    @property
    def q(self) -> float:
        """σ²‖K‖_F of the columns that attend, for one column the variance of a local field."""
        attention = slice(self.task.attention_columns)
        return self.task.rho * float(np.linalg.norm(self.overlaps.K[attention, attention]))

    @property
    def m(self) -> float:
        """‖Qᵀp_1‖/√d, for one column its mean, non-negative by gauge."""
        return float(np.linalg.norm((encoding_factor(self.task) @ self.overlaps.mu)[0]))

    @property
    def V(self) -> float:
        """σ² tr χ/c of the columns that attend, for one column the variance of the proximal operator."""
        return self.task.rho * float(np.mean(np.diag(self.overlaps.chi)[: self.task.attention_columns]))

    @property
    def theta(self) -> float:
        """σ²‖QᵀΣQ⋆‖_F/d, for one column σ²Q·Q⋆/d, non-negative by gauge."""
        return self.task.rho * float(np.linalg.norm(_attention_part(self.task, self.overlaps.t)))

    @property
    def value_overlap(self) -> float:
        """σ²‖UᵀΣV⋆‖_F/d of trained values; NaN for identity values."""
        if self.task.value_rank == 0:
            return np.nan
        values = self.overlaps.t[self.task.attention_columns :, self.task.teacher_rank :]
        return self.task.rho * float(np.linalg.norm(values))

    @property
    def errors(self) -> dict[str, float]:
        """Estimated quadrature error of each number in `shifts`, absolute; NaN for a point without a successor."""
        return {name: largest_shift(self.shifts.get(name, [np.nan])) for name in NUMBERS}

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of the undamped map's Jacobian inside the branch's subspace, by falling modulus; NaN unknown."""
        if not np.isfinite(self.jacobian).all():
            return np.full(len(self.jacobian), np.nan, dtype=complex)
        values = np.linalg.eigvals(self.jacobian + np.eye(len(self.jacobian))).astype(complex)
        return values[np.lexsort((-values.imag, -np.abs(values).round(12)))]

    @property
    def merged(self) -> bool:
        """Whether the branch has merged into the uninformative one: its order parameter is zero here."""
        return self.branch != "uninformative" and order_parameter(self.task, self.overlaps, self.branch) < MERGED


def natural_residual(task: TeacherStudent, old: Overlaps, new: Overlaps) -> float:
    """Largest change from old to new, K and χ relative to their traces, t and μ to the fields' natural size."""
    size_K, size_chi = max(np.trace(old.K), _COLLAPSED), np.trace(old.chi)
    parts = [(new.K - old.K) / size_K, (new.chi - old.chi) / size_chi]
    parts += [(new.t - old.t) / np.sqrt(size_K), (new.mu - old.mu) / np.sqrt(task.rho * size_K)]
    return float(np.max(np.abs(np.concatenate([p.ravel() for p in parts]))))


def largest_shift(shifts: np.ndarray) -> float:
    """Error to quote for a number that the check rules shift by these amounts; 0 without check rules."""
    return _SAFETY * float(np.max(np.abs(shifts), initial=0.0))


def collapsed(overlaps: Overlaps) -> bool:
    """Whether the local fields are too small to move the attention away from uniform."""
    return np.trace(overlaps.K) < _COLLAPSED


def order_parameter(task: TeacherStudent, overlaps: Overlaps, branch: str) -> float:
    """Norm of t or of mu, of the columns that attend, relative to its largest possible or natural value."""
    size = np.sqrt(np.trace(overlaps.K[: task.attention_columns, : task.attention_columns]))
    sizes = [np.linalg.norm(_attention_part(task, overlaps.t)) / size] if has_theta(branch) else []
    sizes += [np.linalg.norm(overlaps.mu) / size] if has_m(branch) else []
    return min(sizes)


def _attention_part(task: TeacherStudent, t: np.ndarray) -> np.ndarray:
    """Overlaps of the columns that attend with those of Q⋆."""
    return t[: task.attention_columns, : task.teacher_rank]


def quoted_numbers(point: FixedPoint) -> list[str]:
    """Numbers whose relative error is quoted: the order parameter counts only where the branch has one."""
    names = ["V", "train_loss", "test_error"]
    names += [] if collapsed(point.overlaps) else ["q"]
    names += ["theta"] if has_theta(point.branch) and point.theta > 0 and not point.merged else []
    names += ["m"] if has_m(point.branch) and point.m > 0 and not point.merged else []
    return names
