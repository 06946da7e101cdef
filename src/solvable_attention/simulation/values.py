"""The empirical loss of students with trained values, ½‖T h_V − S z_U‖²_F for each sample, a function of fields alone.

Arrays over samples and runs are kept as (L, L, samples, runs) and (L, samples, runs, s), as in `general`.
"""

from __future__ import annotations

import numpy as np
import torch

from solvable_attention.simulation.data import Dataset
from solvable_attention.simulation.general import attention_of, pull_on_scores

_ENTRIES_PER_BLOCK = {"cpu": 2**18, "cuda": 2**25}


class ValuesLoss:
    """Losses of runs that share the ranks, the tying and the activation; the same interface as `GeneralLoss`."""

    def __init__(
        self, data: Dataset, omega: np.ndarray, positional: np.ndarray, *, rank: int, activation: str, device: str
    ):
        """omega (runs,), positional (runs, L, L): each run's ω and A; rank: columns of the queries."""
        self._rank, self._activation, self._device = rank, activation, device
        semantic = data.teacher_attention @ data.teacher_values
        self._semantic = self._per_sample(semantic)
        self._values = self._per_sample(data.teacher_values)
        self._omega = torch.as_tensor(omega, dtype=torch.float32, device=device)
        self._positional = torch.as_tensor(positional, dtype=torch.float32, device=device)

    def _per_sample(self, fields):
        """(n, L, s) → (L, n, 1, s) float32, ready to broadcast over runs."""
        ordered = np.ascontiguousarray(fields.transpose(1, 0, 2)[:, :, None])
        return torch.as_tensor(ordered, dtype=torch.float32, device=self._device)

    def select(self, runs: np.ndarray) -> ValuesLoss:
        """The same losses for some of the runs."""
        part = object.__new__(ValuesLoss)
        part.__dict__.update(self.__dict__)
        index = torch.as_tensor(runs, device=self._device)
        part._omega, part._positional = self._omega[index], self._positional[index]
        return part

    def replace_fields_by_gradient(self, fields: torch.Tensor) -> torch.Tensor:
        """Losses Σ_μ ‖y − f‖²/2, (runs,); `fields` (L, n, runs, columns) become their derivatives."""
        L, n, runs, _ = fields.shape
        size = max(1, _ENTRIES_PER_BLOCK[torch.device(self._device).type] // (L**3 * runs))
        losses = torch.zeros(runs, dtype=torch.float64, device=self._device)
        for start in range(0, n, size):
            losses += self._block(fields[:, start : start + size], slice(start, start + size))
        return losses

    def _block(self, fields, block):
        s, rank = self._values.shape[-1], self._rank
        attending, values = fields[..., :-s], fields[..., -s:]
        queries, keys = attending[..., :rank], attending[..., -rank:]
        attention = attention_of((queries[:, None] * keys[None]).sum(-1), self._activation)
        residual = (attention[..., None] * values[None]).sum(1) - self._target(block)
        losses = 0.5 * (residual**2).sum(dim=(0, 3), dtype=torch.float64).sum(0)
        pull = (residual[:, None] * values[None]).sum(-1)
        scores = pull_on_scores(attention, pull, self._activation)
        to_queries = (scores[..., None] * keys[None]).sum(1)
        to_keys = (scores[..., None] * queries[:, None]).sum(0)
        to_values = (attention[..., None] * residual[:, None]).sum(0)
        tied = attending.shape[-1] == rank
        to_attention = to_queries + to_keys if tied else torch.cat([to_queries, to_keys], dim=-1)
        fields.copy_(torch.cat([to_attention, to_values], dim=-1))
        return losses

    def _target(self, block):
        """T h_V of each sample and run, (L, samples, runs, s)."""
        by_place = torch.einsum("rij,jnxs->inrs", self._positional, self._values[:, block])
        omega = self._omega[:, None]
        return (1 - omega) * self._semantic[:, block] + omega * by_place
