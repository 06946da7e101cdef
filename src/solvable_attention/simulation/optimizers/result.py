"""What a minimisation returns."""

from __future__ import annotations

from dataclasses import dataclass

import torch


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
