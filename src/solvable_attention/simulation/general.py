"""The empirical loss for any number of tokens, any ranks, tied or untied, any activation, on the CPU or a GPU.

With u = x + p and S the student's attention a sample's loss is a quadratic in S whose curvature does not
depend on the run,

    ‖T x − S u‖²/(2d) = ½ tr (S − T W) G (S − T W)ᵀ + constant,     G = u uᵀ/d,   W = (x uᵀ/d) G⁺,

so that float32 is enough for the part that moves; the constant is summed once in float64. Arrays over samples
and runs are kept as (L, L, samples, runs): the small matrix products then are a few elementwise passes.
"""

from __future__ import annotations

import numpy as np
import torch

from solvable_attention.simulation.data import Dataset

_ENTRIES_PER_BLOCK = {"cpu": 2**18, "cuda": 2**25}


class GeneralLoss:
    """Losses of runs that share the ranks, the tying and the activation; the same interface as `FusedLoss`."""

    def __init__(
        self, data: Dataset, omega: np.ndarray, positional: np.ndarray, *, tied: bool, activation: str, device: str
    ):
        """omega (runs,), positional (runs, L, L): each run's ω and A."""
        self._tied, self._activation, self._device = tied, activation, device
        projection = data.gram_xu @ np.linalg.pinv(data.gram_uu, hermitian=True)
        self._curvature = self._per_sample(data.gram_uu)
        self._projection = self._per_sample(projection)
        self._semantic_target = self._per_sample(data.teacher_attention @ projection)
        self._omega = torch.as_tensor(omega, dtype=torch.float32, device=device)
        self._positional = torch.as_tensor(positional, dtype=torch.float32, device=device)
        out_of_reach = data.gram_xx - projection @ data.gram_xu.transpose(0, 2, 1)
        targets = (_target(data, w, A) for w, A in zip(omega, positional, strict=True))
        constants = [0.5 * np.einsum("nij,njk,nik->", T, out_of_reach, T, optimize=True) for T in targets]
        self._constant = torch.tensor(constants, dtype=torch.float64, device=device)

    def _per_sample(self, matrices):
        """(n, L, L) → (L, L, n, 1) float32, ready to broadcast over runs."""
        ordered = np.ascontiguousarray(matrices.transpose(1, 2, 0)[..., None])
        return torch.as_tensor(ordered, dtype=torch.float32, device=self._device)

    def select(self, runs: np.ndarray) -> GeneralLoss:
        """The same losses for some of the runs."""
        part = object.__new__(GeneralLoss)
        part.__dict__.update(self.__dict__)
        index = torch.as_tensor(runs, device=self._device)
        for name in ("_omega", "_positional", "_constant"):
            setattr(part, name, getattr(self, name)[index])
        return part

    def replace_fields_by_gradient(self, fields: torch.Tensor) -> torch.Tensor:
        """Losses Σ_μ ‖y − f‖²/(2d), (runs,); `fields` (L, n, runs, columns) become their derivatives."""
        L, n, runs, _ = fields.shape
        size = max(1, _ENTRIES_PER_BLOCK[torch.device(self._device).type] // (L**3 * runs))
        losses = self._constant.clone()
        for start in range(0, n, size):
            losses += self._block(fields[:, start : start + size], slice(start, start + size))
        return losses

    def _block(self, fields, block):
        rank = fields.shape[-1] if self._tied else fields.shape[-1] // 2
        queries, keys = fields[..., :rank], fields[..., -rank:]
        attention = attention_of((queries[:, None] * keys[None]).sum(-1), self._activation)
        residual = attention - self._target(block)
        pull = _matmul(residual, self._curvature[:, :, block])
        losses = 0.5 * (residual * pull).sum(dim=(0, 1), dtype=torch.float64).sum(0)
        scores = pull_on_scores(attention, pull, self._activation)
        to_queries = (scores[..., None] * keys[None]).sum(1)
        to_keys = (scores[..., None] * queries[:, None]).sum(0)
        if self._tied:
            fields.copy_(to_queries + to_keys)
        else:
            fields.copy_(torch.cat([to_queries, to_keys], dim=-1))
        return losses

    def _target(self, block):
        """T W of each sample and run, (L, L, samples, runs)."""
        positional = self._positional.permute(1, 2, 0)[:, :, None]
        semantic = self._semantic_target[:, :, block]
        return (1 - self._omega) * semantic + self._omega * _matmul(positional, self._projection[:, :, block])


def _target(data: Dataset, omega: float, positional: np.ndarray) -> np.ndarray:
    return (1 - omega) * data.teacher_attention + omega * positional


def attention_of(scores: torch.Tensor, activation: str) -> torch.Tensor:
    """S of scores M (L, L, …), keys along the second axis; see `TeacherStudent` for the activations."""
    if activation == "linear":
        return scores
    if activation == "linearised":
        return (1 + scores - scores.mean(1, keepdim=True)) / len(scores)
    return torch.softmax(scores, dim=1)


def pull_on_scores(attention: torch.Tensor, pull: torch.Tensor, activation: str) -> torch.Tensor:
    """∂ℓ/∂M from ∂ℓ/∂S (`pull`)."""
    if activation == "linear":
        return pull
    if activation == "linearised":
        return (pull - pull.mean(1, keepdim=True)) / len(pull)
    return attention * (pull - (attention * pull).sum(1, keepdim=True))


def _matmul(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Product over the two leading axes, everything else broadcasts."""
    return (left[:, :, None] * right[None]).sum(1)
