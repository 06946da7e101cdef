"""Order parameters, channel averages, and the Gaussian half of the state evolution.

Equations of Cui et al., arXiv:2402.03902, written for any number L of tokens, any ranks, correlated tokens and tied
or untied attention. With C the covariance of the tokens and P = B Bᵀ the Gram matrix of the encodings:

    K = QᵀQ/d,   t = QᵀQ⋆/d,   m_ℓ = Qᵀp_ℓ/√d = (B μ)_ℓ,   χ = (λI + v̂)⁻¹.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvable_attention.task import TeacherStudent


@dataclass(frozen=True, eq=False)
class Overlaps:
    """State of a student of c columns: K (c, c), t (c, r⋆), mu (k, c), chi (c, c).

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
    """χ = G, t = G t̂, μ = μ̂ G, K = G (k̂ + μ̂ᵀμ̂ + t̂ t̂ᵀ) G with G = (λI + v̂)⁻¹, hats = α × moments."""
    chi = np.linalg.inv(task.lam * np.eye(task.columns) + alpha * _symmetric(moments.v_hat))
    mu_hat, t_hat = alpha * moments.mu_hat, alpha * moments.t_hat
    K = chi @ (alpha * moments.k_hat + mu_hat.T @ mu_hat + t_hat @ t_hat.T) @ chi
    return Overlaps(K=_symmetric(K), t=chi @ t_hat, mu=mu_hat @ chi, chi=_symmetric(chi))


def train_loss(task: TeacherStudent, alpha: float, overlaps: Overlaps, moments: ChannelMoments) -> float:
    """ε_t = α E ℓ(prox, h⋆) + (λ/2) tr K at a fixed point."""
    return float(alpha * moments.loss + 0.5 * task.lam * np.trace(overlaps.K))


def free_energy(task: TeacherStudent, alpha: float, overlaps: Overlaps, moments: ChannelMoments) -> float:
    """ε_t as the stationary value of the free energy, an expression independent of `train_loss`:

    αM − ½tr(v̂K) + ½tr(k̂χ) + tr(μ̂ᵀμ) + tr(t̂ᵀt) − ½tr[G(k̂ + μ̂ᵀμ̂ + t̂t̂ᵀ)], M the mean Moreau envelope.
    At a fixed point it is stationary in the overlaps: first-order errors of the state do not move it.
    """
    v_hat, k_hat = alpha * _symmetric(moments.v_hat), alpha * moments.k_hat
    mu_hat, t_hat = alpha * moments.mu_hat, alpha * moments.t_hat
    G = np.linalg.inv(task.lam * np.eye(task.columns) + v_hat)
    energy = alpha * moments.moreau - 0.5 * np.trace(v_hat @ overlaps.K) + 0.5 * np.trace(k_hat @ overlaps.chi)
    signal = np.sum(mu_hat * overlaps.mu) + np.sum(t_hat * overlaps.t)
    return float(energy + signal - 0.5 * np.trace(G @ (k_hat + mu_hat.T @ mu_hat + t_hat @ t_hat.T)))


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
