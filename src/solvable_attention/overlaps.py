"""Order parameters, channel averages, and the Gaussian half of the state evolution.

Equations of Cui et al., arXiv:2402.03902, written for any number L of tokens, any ranks, correlated tokens and tied
or untied attention. With E x_ℓ x_κᵀ = C_{ℓκ} Σ and P = B Bᵀ the Gram matrix of the encodings:

    K = QᵀΣQ/d,   t = QᵀΣQ⋆/d,   m_ℓ = Qᵀp_ℓ/√d = (B μ)_ℓ,   χ = (1/d) tr_Σ Σ (λI + Σ v̂)⁻¹.

Averages over the spectrum of Σ, of mean eigenvalue 1, are written ⟨·⟩ with eigenvalue γ; Σ = I has γ = 1 alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvable_attention.task import TeacherStudent


@dataclass(frozen=True, eq=False)
class Overlaps:
    """State of a student of c columns: K (c, c), t (c, r⋆), mu (k, c), chi (c, c).

    With trained values c and r⋆ count the columns of [Q, U] and of [Q⋆, V⋆].

    mu are overlaps with the k orthonormal directions that span the encodings; m_ℓ = Σ_k B_{ℓk} mu_k.
    For the paper's case q = σ²K, θ = σ²t, m = m_1 = mu, V = σ²χ.
    """

    K: np.ndarray
    t: np.ndarray
    mu: np.ndarray
    chi: np.ndarray

    @property
    def residual_covariance(self) -> np.ndarray:
        """R = K − t tᵀ (c, c): covariance of a local field given the teacher's, per unit of C."""
        return self.K - self.t @ self.t.T


@dataclass(frozen=True, eq=False)
class ChannelMoments:
    """Averages over one fresh sample, contracted over tokens; α is not included.

    mu_hat (k, c) = Σ_ℓ B_{ℓk} E g_ℓ;  k_hat (c, c) = Σ C_{ℓκ} E g_ℓ g_κᵀ;  v_hat (c, c) = −Σ C_{ℓκ} E ∂g_ℓ/∂w_κ;
    t_hat (c, r⋆) = Σ C_{ℓκ} E ∂g_ℓ/∂h⋆_κ;  moreau = E min_z[…];  loss = E ℓ(prox, h⋆);
    test_error = ε_g = (1/L) E tr[(S(w)−T) C (S(w)−T)ᵀ]. response_m = ∂mu_hat/∂mu where mu = 0 and response_theta =
    ∂t_hat/∂t where t = 0, at fixed K and χ, for one column (NaN outside the paper's case).
    """

    mu_hat: np.ndarray
    k_hat: np.ndarray
    v_hat: np.ndarray
    t_hat: np.ndarray
    moreau: float
    loss: float
    test_error: float
    response_m: float = np.nan
    response_theta: float = np.nan


def next_overlaps(task: TeacherStudent, alpha: float, moments: ChannelMoments) -> Overlaps:
    """χ = ⟨γG⟩, t = ⟨γ²G⟩t̂, μ = μ̂⟨G⟩, K = ⟨γ G(γk̂ + μ̂ᵀμ̂ + γ²t̂t̂ᵀ)G⟩, G = (λI + γv̂)⁻¹, hats = α × moments."""
    chi, K = np.zeros((2, task.columns, task.columns))
    t, mu = np.zeros_like(moments.t_hat), np.zeros_like(moments.mu_hat)
    for value, share in task.levels:
        G, source = _level(task, alpha, moments, value)
        chi += share * value * G
        K += share * value * G @ source @ G
        t += share * value**2 * alpha * G @ moments.t_hat
        mu += share * alpha * moments.mu_hat @ G
    return Overlaps(K=_symmetric(K), t=t, mu=mu, chi=_symmetric(chi))


def _level(task, alpha, moments, value):
    """G and γk̂ + μ̂ᵀμ̂ + γ²t̂t̂ᵀ at the eigenvalue γ = value."""
    mu_hat, t_hat = alpha * moments.mu_hat, alpha * moments.t_hat
    G = np.linalg.inv(task.lam * np.eye(task.columns) + value * alpha * _symmetric(moments.v_hat))
    return G, value * alpha * moments.k_hat + mu_hat.T @ mu_hat + value**2 * t_hat @ t_hat.T


def weight_norm(task: TeacherStudent, alpha: float, overlaps: Overlaps, moments: ChannelMoments) -> np.ndarray:
    """QᵀQ/d (c, c) at a fixed point: ⟨G(γk̂ + μ̂ᵀμ̂ + γ²t̂t̂ᵀ)G⟩, which is K where Σ = I."""
    if task.spectrum is None:
        return overlaps.K
    parts = ((share, *_level(task, alpha, moments, value)) for value, share in task.levels)
    return sum(share * G @ source @ G for share, G, source in parts)


def train_loss(task: TeacherStudent, alpha: float, overlaps: Overlaps, moments: ChannelMoments) -> float:
    """ε_t = α E ℓ(prox, h⋆) + (λ/2) tr QᵀQ/d at a fixed point."""
    return float(alpha * moments.loss + 0.5 * task.lam * np.trace(weight_norm(task, alpha, overlaps, moments)))


def free_energy(task: TeacherStudent, alpha: float, overlaps: Overlaps, moments: ChannelMoments) -> float:
    """ε_t as the stationary value of the free energy, an expression independent of `train_loss`:

    αM − ½tr(v̂K) + ½tr(k̂χ) + tr(μ̂ᵀμ) + tr(t̂ᵀt) − ½⟨tr G(γk̂ + μ̂ᵀμ̂ + γ²t̂t̂ᵀ)⟩, M the mean Moreau envelope.
    At a fixed point it is stationary in the overlaps: first-order errors of the state do not move it.
    """
    v_hat, k_hat = alpha * _symmetric(moments.v_hat), alpha * moments.k_hat
    mu_hat, t_hat = alpha * moments.mu_hat, alpha * moments.t_hat
    levels = ((share, *_level(task, alpha, moments, value)) for value, share in task.levels)
    entropy = sum(share * np.trace(G @ source) for share, G, source in levels)
    energy = alpha * moments.moreau - 0.5 * np.trace(v_hat @ overlaps.K) + 0.5 * np.trace(k_hat @ overlaps.chi)
    signal = np.sum(mu_hat * overlaps.mu) + np.sum(t_hat * overlaps.t)
    return float(energy + signal - 0.5 * entropy)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
