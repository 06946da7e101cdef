"""Random generators keyed by what they are for, never by the order of calls."""

from __future__ import annotations

import numpy as np

DATA, TEACHER, START, FRESH = range(4)


def generator(
    root_seed: int, d: int, alpha: float, seed: int, purpose: int, more: tuple[int, ...] = ()
) -> np.random.Generator:
    """A generator that is a function of its arguments alone.

    α enters by its first 12 significant digits, so that .3 and .1 + .2 name the same data set. Every number
    takes a fixed width in the entropy: SeedSequence would otherwise read (2³² + 1, 0) like (1, 1).
    """
    alpha_bits = int(np.float64(f"{alpha:.12g}").view(np.uint64))
    key = np.array([root_seed, d, alpha_bits, seed, purpose, *more], dtype=np.uint64)
    return np.random.default_rng(np.random.SeedSequence(key.view(np.uint32).tolist()))
