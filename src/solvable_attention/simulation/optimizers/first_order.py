"""Full-batch gradient descent and Adam, all runs moving together."""

from __future__ import annotations

import torch

from solvable_attention.simulation.optimizers.result import GRADIENT_TOLERANCE, Minimisation
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.simulation.threads import torch_on_one_thread


@torch_on_one_thread
def gradient_descent(
    risk: EmpiricalRisk,
    start: torch.Tensor,
    *,
    step: float = 0.15,
    max_iterations: int = 5000,
    grad_tol: float = GRADIENT_TOLERANCE,
) -> Minimisation:
    """Q ← Q − step ∇R(Q) with the published step and number of steps; λ acts as weight decay since ∇R contains λQ.

    All `max_iterations` steps are made, and everything is reported at the final Q; the published metrics are means over
    the last steps, along which they no longer change visibly. `converged` says whether
    ‖∇R‖ ≤ grad_tol there; the published 5000 steps often stop before that.
    """
    Q = start.clone()
    for _ in range(max_iterations):
        risk.descend_(Q, step)
    return _at(risk, Q, max_iterations, grad_tol)


@torch_on_one_thread
def adam(
    risk: EmpiricalRisk,
    start: torch.Tensor,
    *,
    step: float = 0.01,
    max_iterations: int = 2500,
    grad_tol: float = GRADIENT_TOLERANCE,
) -> Minimisation:
    """Adam with torch's defaults (β = .9, .999, ε = 1e-8) on the full risk, λ included in the gradient."""
    Q = start.clone().requires_grad_()
    # Adam acts on every entry by itself, so all runs can be one parameter.
    optimizer = torch.optim.Adam([Q], lr=step)
    for _ in range(max_iterations):
        Q.grad = risk(Q.detach())[1]
        optimizer.step()
    return _at(risk, Q.detach(), max_iterations, grad_tol)


def _at(risk, Q, iterations, grad_tol) -> Minimisation:
    loss, gradient = risk(Q)
    grad_norm = torch.linalg.vector_norm(gradient, dim=(1, 2))
    counts = torch.full_like(loss, iterations, dtype=torch.int64)
    return Minimisation(Q, loss, grad_norm, counts, grad_norm <= grad_tol)
