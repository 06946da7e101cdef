"""Limited-memory BFGS for many runs that share their products with the data.

Every run has its own memory, line search and stop. A round evaluates one trial point of every unfinished run;
runs that accept theirs move on, the others shorten their step. Finished runs leave the products.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from solvable_attention.simulation.optimizers.inverse_hessian import InverseHessians
from solvable_attention.simulation.optimizers.result import GRADIENT_TOLERANCE, Minimisation
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.simulation.threads import torch_on_one_thread

_SUFFICIENT_DECREASE = 1e-4
_MOST_TRIALS = 20


@dataclass
class _Runs:
    """The unfinished runs. Vectors are (runs, D), all else (runs,)."""

    index: torch.Tensor
    Q: torch.Tensor
    risk: torch.Tensor
    gradient: torch.Tensor
    direction: torch.Tensor
    slope: torch.Tensor
    step: torch.Tensor
    trials: torch.Tensor
    iterations: torch.Tensor
    stuck: torch.Tensor

    def select(self, rows):
        for name, value in vars(self).items():
            setattr(self, name, value[rows])


@torch_on_one_thread
def lbfgs(
    risk: EmpiricalRisk,
    start: torch.Tensor,
    *,
    grad_tol: float = GRADIENT_TOLERANCE,
    max_iterations: int = 1000,
    memory: int = 8,
    step: float = 0.1,
) -> Minimisation:
    """Minimise the risk of every run until ‖∇R‖ ≤ grad_tol. The risk of a run never increases.

    Parameters
    ----------
    risk, start : the risk of the runs and their starts (runs, columns, d) float32.
    grad_tol : a run stops as converged at ‖∇R‖ ≤ grad_tol; ‖Q‖ is of order √d.
    max_iterations : accepted steps after which a run stops as not converged.
    memory : pairs (s, y) kept per run.
    step : longest first step, in units of max(‖Q‖, 1). It is short so that a run stays in the basin of its
        start; later steps may be as long as max(‖Q‖, 1)/2.
    """
    shape, total = start.shape, len(start)
    runs, memories = _begin(risk, start, memory, step)
    end = _Runs(**{name: torch.empty_like(value) for name, value in vars(runs).items()})
    rounds = 0
    while len(runs.index):
        norm = torch.linalg.vector_norm(runs.gradient, dim=1)
        finished = (norm <= grad_tol) | (runs.iterations >= max_iterations) | runs.stuck
        if finished.any():
            for name, value in vars(runs).items():
                getattr(end, name)[runs.index[finished]] = value[finished]
            keep = (~finished).nonzero()[:, 0]
            runs.select(keep)
            memories.select(keep)
            risk = risk.select(keep.cpu().numpy())
            continue
        rounds += 1
        _round(risk, runs, memories, shape[1:], rounds)
    norm = torch.linalg.vector_norm(end.gradient, dim=1)
    return Minimisation(end.Q.view(total, *shape[1:]), end.risk, norm, end.iterations, norm <= grad_tol)


def _begin(risk, start, memory, step):
    value, gradient = risk(start)
    Q, gradient = start.flatten(1).clone(), gradient.flatten(1)
    count = torch.zeros_like(value, dtype=torch.int64)
    first = step * torch.linalg.vector_norm(Q, dim=1).clamp(min=1)
    scale = (first / torch.linalg.vector_norm(gradient, dim=1)).nan_to_num(posinf=1.0).clamp(max=1.0).double()
    direction = -scale.float()[:, None] * gradient
    runs = _Runs(
        index=torch.arange(len(Q), device=Q.device),
        Q=Q,
        risk=value,
        gradient=gradient,
        direction=direction,
        slope=_dot(gradient, direction),
        step=torch.ones_like(value),
        trials=count,
        iterations=count,
        stuck=~torch.isfinite(value),
    )
    return runs, InverseHessians(gradient, scale, memory)


def _round(risk, runs: _Runs, memories: InverseHessians, shape, rounds: int) -> None:
    """One evaluation of every run, then either a new direction or a shorter step."""
    s = runs.step.float()[:, None] * runs.direction
    Q = runs.Q + s
    value, gradient = risk(Q.view(-1, *shape))
    gradient = gradient.flatten(1)
    accepted = value <= runs.risk + _SUFFICIENT_DECREASE * runs.step * runs.slope
    slope = _dot(gradient, runs.direction)
    shorter = _interpolate(runs.step, runs.risk, runs.slope, value, slope)

    dots = memories.inner_products(gradient)
    memories.move(accepted, dots, s, gradient - runs.gradient, gradient, rounds)
    runs.Q = torch.where(accepted[:, None], Q, runs.Q)
    runs.gradient = torch.where(accepted[:, None], gradient, runs.gradient)
    runs.risk = torch.where(accepted, value, runs.risk)
    runs.iterations = runs.iterations + accepted
    runs.trials = torch.where(accepted, 0, runs.trials + 1)
    runs.step = torch.where(accepted, 1.0, shorter)
    renewed = accepted | _restart_exhausted(runs, memories)
    _turn(runs, memories, renewed)


def _restart_exhausted(runs, memories):
    """Runs whose line search failed start again along −γ∇R; if that fails too, they are stuck."""
    exhausted = runs.trials >= _MOST_TRIALS
    empty = (memories.written < 0).all(dim=1)
    runs.stuck = exhausted & empty
    if exhausted.any():
        memories.forget(exhausted)
        runs.trials = torch.where(exhausted, 0, runs.trials)
        runs.step = torch.where(exhausted, 1.0, runs.step)
    return exhausted


def _turn(runs, memories, renewed):
    """New directions, no longer than max(‖Q‖, 1)/2, for the runs `renewed`."""
    direction = -memories.apply(runs.gradient)
    slope = _dot(runs.gradient, direction)
    uphill = renewed & ~(slope < 0)
    if uphill.any():
        memories.forget(uphill)
        downhill = -memories.scale.float()[:, None] * runs.gradient
        direction = torch.where(uphill[:, None], downhill, direction)
    longest = 0.5 * torch.linalg.vector_norm(runs.Q, dim=1).clamp(min=1)
    direction *= (longest / torch.linalg.vector_norm(direction, dim=1)).clamp(max=1.0)[:, None]
    runs.direction = torch.where(renewed[:, None], direction, runs.direction)
    runs.slope = torch.where(renewed, _dot(runs.gradient, runs.direction), runs.slope)


def _interpolate(step, risk, slope, trial_risk, trial_slope):
    """Minimum of the cubic through both ends of the step, kept between a tenth and a half of it."""
    middle = slope + trial_slope - 3 * (trial_risk - risk) / step
    root = (middle**2 - slope * trial_slope).clamp(min=0).sqrt()
    best = step * (1 - (trial_slope + root - middle) / (trial_slope - slope + 2 * root))
    return torch.clamp(torch.where(torch.isfinite(best), best, 0.0), 0.1 * step, 0.5 * step)


def _dot(a, b):
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0].double()
