"""Spectra of anisotropic tokens: E x_ℓ x_κᵀ = C_{ℓκ} Σ with (1/d) tr Σ = 1.

A spectrum is a tuple of pairs (eigenvalue γ, share of the directions), of mean eigenvalue 1: the scale is σ's.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from solvable_attention.errors import ArgumentError

Spectrum = tuple[tuple[float, float], ...]
ISOTROPIC: Spectrum = ((1.0, 1.0),)
_GOLDEN = 0.5 * (np.sqrt(5) - 1)


def two_level(ratio: float, share: float) -> Spectrum:
    """A share of the directions has `ratio` (> 0) times the variance of the others.

    Raises ArgumentError for a ratio ≤ 0 or a share outside (0, 1).
    """
    if not 0 < ratio < np.inf:
        raise ArgumentError(f"ratio: is {ratio!r}, allowed is a number > 0")
    if not 0 < share < 1:
        raise ArgumentError(f"share: is {share!r}, allowed is a number in (0, 1)")
    low = 1.0 / (share * ratio + 1.0 - share)
    return ((ratio * low, float(share)), (low, 1.0 - share))


def power_law(exponent: float, levels: int = 16) -> Spectrum:
    """γ(u) ∝ u^−exponent for u in (0, 1), averaged over `levels` equal shares; exponent in [0, 1).

    Raises ArgumentError for an exponent out of range or less than one level.
    """
    if not 0 <= exponent < 1:
        raise ArgumentError(f"exponent: is {exponent!r}, allowed is a number in [0, 1)")
    if not isinstance(levels, int) or levels < 1:
        raise ArgumentError(f"levels: is {levels!r}, allowed is a whole number ≥ 1")
    edges = np.linspace(0, 1, levels + 1) ** (1 - exponent)
    return tuple((float(value), 1.0 / levels) for value in levels * np.diff(edges))


@lru_cache(maxsize=64)
def eigenvalues(spectrum: Spectrum, d: int) -> np.ndarray:
    """Variances (d,) of the coordinates, in units of σ², of mean exactly 1.

    Coordinates take their levels along a golden-ratio sequence: the spectrum looks the same from every slowly varying
    direction, such as the encodings, up to O(1/d).
    """
    values, shares = np.array(spectrum).T
    place = np.argsort(np.argsort((np.arange(d) + 0.5) * _GOLDEN % 1.0))
    level = np.searchsorted(np.cumsum(shares), (place + 0.5) / d).clip(max=len(values) - 1)
    variances = values[level]
    return variances / variances.mean()
