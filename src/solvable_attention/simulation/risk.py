"""The empirical risk and its gradient for many runs on one data set.

R(Q) = Σ_μ ‖y − f_Q(x)‖²_F/(2d) + (λ/2)‖Q‖²_F,   f_Q(x) = S[(x+p)Q/√d](x+p),
S[z] = softmax(z zᵀ) tied, softmax(z_Q z_Kᵀ) untied (columns of Q: queries, then keys). With trained values
R(Q, U) = Σ_μ ‖y − f‖²_F/2 + (λ/2)(‖Q‖² + ‖U‖²), f = S[(x+p)Q/√d](x+p)U/√d, and U are the last columns.

All runs share the two products with the data matrix, so one evaluation costs two products with all runs as columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from solvable_attention.errors import ArgumentError
from solvable_attention.simulation.data import Dataset
from solvable_attention.simulation.fused import FusedLoss
from solvable_attention.simulation.general import GeneralLoss
from solvable_attention.simulation.products import products_with
from solvable_attention.simulation.values import ValuesLoss
from solvable_attention.task import TeacherStudent


class EmpiricalRisk:
    """R and ∇R of several runs at once.

    Parameters
    ----------
    data : the data set that all runs share.
    tasks : one task per run; they may differ in ω, λ and A.
    device : "cpu" or "cuda".

    Raises
    ------
    ArgumentError : the tasks mix tied and untied students, or activations, or the device is not available.
    """

    def __init__(self, data: Dataset, tasks: Sequence[TeacherStudent], device: str = "cpu"):
        check_device(device)
        if len({(task.tied, task.activation) for task in tasks}) != 1:
            raise ArgumentError("tasks: mix tied and untied students or activations, allowed is one kind per risk")
        self.device, self.d = device, data.d
        self._products = products_with(data.tokens.reshape(-1, data.d), device)
        self._lam = torch.tensor([task.lam for task in tasks], dtype=torch.float64, device=device)
        self._loss = _loss_of(data, tasks, device)
        self.fused = isinstance(self._loss, FusedLoss)
        self._shape = data.tokens.shape[:2]

    def select(self, runs: np.ndarray) -> EmpiricalRisk:
        """The same risk for some of the runs, sharing the data."""
        part = object.__new__(EmpiricalRisk)
        part.__dict__.update(self.__dict__)
        part._lam = self._lam[torch.as_tensor(runs, device=self.device)]
        part._loss = self._loss.select(runs)
        return part

    def __call__(self, Q: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Risk (runs,) float64 and gradient (runs, columns, d) float32 at Q (runs, columns, d) float32."""
        loss, derivatives = self._data_term(Q)
        gradient = self._lam.float()[:, None, None] * Q
        self._products.add_gradient_(gradient.view(-1, self.d), derivatives, self.d**-0.5)
        squares = torch.linalg.vector_norm(Q, dim=(1, 2), dtype=torch.float64) ** 2
        return loss + 0.5 * self._lam * squares, gradient

    def descend_(self, Q: torch.Tensor, step: float) -> None:
        """Q ← Q − step ∇R(Q) in place, without the passes over Q that the value of the risk takes."""
        _, derivatives = self._data_term(Q)
        Q.mul_(1 - step * self._lam.float()[:, None, None])
        self._products.add_gradient_(Q.view(-1, self.d), derivatives, -step * self.d**-0.5)

    def _data_term(self, Q):
        """Σ_μ ‖y − f‖²/(2d) of each run, and its derivatives in the fields (L·n, runs·columns)."""
        runs, columns, d = Q.shape
        fields = self._products.fields(Q.reshape(-1, d), d**-0.5)
        return self._loss.replace_fields_by_gradient(fields.view(*self._shape, runs, columns)), fields


def check_device(device: str) -> None:
    """Raise ArgumentError unless torch can use the device."""
    if device not in ("cpu", "cuda"):
        raise ArgumentError(f"device: is {device!r}, allowed is 'cpu' or 'cuda'")
    if device == "cuda" and not torch.cuda.is_available():
        raise ArgumentError("device: is 'cuda', allowed here is 'cpu' (torch finds no CUDA device)")


def _loss_of(data, tasks, device) -> FusedLoss | GeneralLoss | ValuesLoss:
    omega = np.array([task.omega for task in tasks])
    positional = np.array([task.A for task in tasks])
    task = tasks[0]
    if task.value_rank:
        return ValuesLoss(data, omega, positional, rank=task.rank, activation=task.activation, device=device)
    if device == "cpu" and (task.L, task.rank, task.tied, task.activation) == (2, 1, True, "softmax"):
        return FusedLoss(data, omega, positional)
    return GeneralLoss(data, omega, positional, tied=task.tied, activation=task.activation, device=device)
