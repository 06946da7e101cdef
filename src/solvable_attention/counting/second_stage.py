"""From a restricted solution into the landscape of the unrestricted model, and how far training moves from there."""

from __future__ import annotations

import numpy as np
import torch

from solvable_attention.counting.model import MECHANISMS, Weights, check_mechanism
from solvable_attention.counting.seeding import NOISE, generator
from solvable_attention.errors import ArgumentError

_NOISY = ("Q", "K", "letters", "places")


def unrestricted_weights(
    weights: Weights, mechanism: str, runs: list[int], root_seed: int, noise: float = 1e-3
) -> Weights:
    """The same function in the model "both", plus noise · N(0, 1) on Q, K and the embeddings.

    The rows of Q and K and the halves of the embeddings that the restricted model does not read are zero before the
    noise, so that without it both models agree. Raises ArgumentError where the model is not restricted, or `runs` does
    not name each run of the weights.
    """
    check_mechanism(mechanism)
    if mechanism == "both":
        raise ArgumentError("mechanism: is 'both', allowed is a restricted one")
    if len(runs) != len(weights["Q"]):
        raise ArgumentError(f"runs: is {runs}, allowed are {len(weights['Q'])} numbers, one for each run")
    free = {name: value.detach().clone() for name, value in weights.items()}
    half = free["Q"].shape[1] // 2
    unread = slice(half, None) if mechanism == "semantic" else slice(half)
    for name in ("Q", "K"):
        free[name][:, unread] = 0.0
    free["letters"][:, :, half:] = 0.0
    free["places"][:, :, :half] = 0.0
    for place, run in enumerate(runs):
        rng = generator(root_seed, NOISE, (MECHANISMS.index(mechanism), run))
        for name in _NOISY:
            drawn = noise * rng.standard_normal(free[name].shape[1:])
            free[name][place] += torch.from_numpy(drawn.astype(np.float32))
    return free


def distances(before: Weights, after: Weights) -> dict[str, np.ndarray]:
    """Euclidean distance between two sets of weights, (runs,): "summed" over tensors and "whole", as one vector."""
    squares = torch.stack([((after[name] - before[name]).double() ** 2).flatten(1).sum(dim=1) for name in before])
    return {"summed": squares.sqrt().sum(dim=0).numpy(), "whole": squares.sum(dim=0).sqrt().numpy()}
