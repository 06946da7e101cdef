"""How semantic an attention is, between 0 (positional) and 1 (semantic)."""

from __future__ import annotations

import numpy as np
import torch

from solvable_attention.counting.model import Weights, attention
from solvable_attention.counting.seeding import PROBES, generator


def semantic_share(
    weights: Weights, mechanism: str, sequences: np.ndarray, root_seed: int, permutations: int = 8
) -> np.ndarray:
    """S = C/(C + P) for each run, (runs,), from two invariances that tell the mechanisms apart.

    C = E ‖A(x) − A(x')‖² measures what other letters at the same places change; purely positional attention has C = 0.
    P = E ‖A(πx) − π A(x) πᵀ‖² measures what other places π of the same letters change; purely semantic attention is
    moved along, P = 0. x, x' are distinct `sequences` (n, L), π random permutations of the places. Attention that
    changes with neither (uniform, or every token to itself) is neither: NaN.
    """
    rng = generator(root_seed, PROBES)
    runs = next(iter(weights.values())).shape[0]
    length = sequences.shape[1]

    def of(x: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            return attention(weights, mechanism, torch.from_numpy(x).expand(runs, -1, -1)).double()

    A = of(sequences)
    by_content = ((A - A.roll(1, dims=1)) ** 2).sum(dim=(2, 3)).mean(dim=1)
    by_place = torch.zeros_like(by_content)
    for _ in range(permutations):
        order = rng.permutation(length)
        carried = A[:, :, order][:, :, :, order]
        by_place += ((of(sequences[:, order]) - carried) ** 2).sum(dim=(2, 3)).mean(dim=1) / permutations
    return (by_content / (by_content + by_place)).numpy()
