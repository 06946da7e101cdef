"""What a minimisation returns."""

from __future__ import annotations

from dataclasses import dataclass

import torch

# ‖∇R‖ that counts as converged, where ‖Q‖ is of order √d. At d = 1000 it leaves overlaps within 1e-4 of the minimum;
# three times as much leaves θ of the semantic minimum at α = 1 up to 1 % off.
GRADIENT_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Minimisation:
    """End points of several runs, and how they ended.

    Q : (runs, columns, d) float32.
    risk : (runs,) float64, R(Q).
    grad_norm : (runs,), ‖∇R(Q)‖ at this very Q.
    iterations : (runs,), accepted steps.
    converged : (runs,), grad_norm ≤ grad_tol.
    """

    Q: torch.Tensor
    risk: torch.Tensor
    grad_norm: torch.Tensor
    iterations: torch.Tensor
    converged: torch.Tensor
