"""Random generators of the counting experiment, keyed by what they are for."""

from __future__ import annotations

import numpy as np

SEQUENCES, SPLIT, WEIGHTS, ORDER, NOISE = range(5)


def generator(root_seed: int, purpose: int, more: tuple[int, ...] = ()) -> np.random.Generator:
    """A generator that is a function of its arguments alone."""
    key = np.array([root_seed, purpose, *more], dtype=np.uint64)
    return np.random.default_rng(np.random.SeedSequence(key.view(np.uint32).tolist()))
