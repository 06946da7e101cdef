"""Where a difference of two measured curves changes sign, with a bootstrap error over samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# With fewer resamples that have a crossing its error means nothing.
_LEAST_SHARE = 0.9


@dataclass(frozen=True)
class Crossing:
    """alpha : place of the sign change of the mean; error : its bootstrap standard deviation, absolute.

    share : of the resamples, those with a crossing. alpha and error are NaN where the mean has none, error also where
    the share is below .9.
    """

    alpha: float
    error: float
    share: float


def last_falling_zero(alphas: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """α from which on each curve (..., n) is negative, linear between its grid points (n,); NaN where there is none."""
    alphas, curves = np.asarray(alphas, dtype=float), np.asarray(curves, dtype=float)
    positive = curves > 0
    left = curves.shape[-1] - 1 - np.argmax(positive[..., ::-1], axis=-1)
    exists = positive.any(axis=-1) & ~positive[..., -1]
    left = np.where(exists, left, 0)
    right = np.minimum(left + 1, curves.shape[-1] - 1)
    before, after = (np.take_along_axis(curves, i[..., None], axis=-1)[..., 0] for i in (left, right))
    with np.errstate(divide="ignore", invalid="ignore"):
        place = alphas[left] + before / (before - after) * (alphas[right] - alphas[left])
    return np.where(exists, place, np.nan)


def bootstrap_crossing(
    alphas: Sequence[float], samples: Sequence[np.ndarray], resamples: int, rng: np.random.Generator
) -> Crossing:
    """Crossing of the mean over the samples (samples,) of each α, which are resampled on their own."""
    means = np.array([np.mean(sample) for sample in samples])
    draws = np.stack([_resampled_means(np.asarray(sample), resamples, rng) for sample in samples], axis=1)
    places = last_falling_zero(alphas, draws)
    found, share = places[np.isfinite(places)], float(np.isfinite(places).mean())
    alpha = float(last_falling_zero(alphas, means))
    known = np.isfinite(alpha) and share >= _LEAST_SHARE and len(found) > 1
    return Crossing(alpha, float(np.std(found, ddof=1)) if known else np.nan, share)


def _resampled_means(sample: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Bootstrap means (resamples,), spread by √(n/(n−1)) so that their variance is that of the mean."""
    n, mean = len(sample), np.mean(sample)
    means = sample[rng.integers(0, n, (resamples, n))].mean(axis=1)
    return mean + np.sqrt(n / max(n - 1, 1)) * (means - mean)
