"""Fits of a number against d: its limit and the approach to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import curve_fit

LEAST_SIZE = 50  # at smaller d higher orders in 1/d rule, and single runs leave their basin


@dataclass(frozen=True)
class Fit:
    """limit + slope/d^power; chi_square of `freedom` degrees.

    Errors are those of the points, enlarged by √(chi_square/freedom) where that exceeds 1.
    """

    limit: float
    limit_error: float
    slope: float
    slope_error: float
    power: float
    power_error: float
    chi_square: float
    freedom: int

    def __call__(self, d):
        return self.limit + self.slope * d**-self.power


def fit_of(summary: pd.DataFrame, vanishing: bool) -> Fit | None:
    """Weighted fit of v + c/d, or of c d^-p to a number that vanishes, for d ≥ LEAST_SIZE; None for too few d.

    summary : columns value and error, by d.
    """
    used = summary[(summary.index >= LEAST_SIZE) & (summary.error > 0)]
    if len(used) < 3:
        return None
    d, value, error = used.index.to_numpy(float), used["value"].to_numpy(), used["error"].to_numpy()
    model = (lambda d, c, p: c * d**-p) if vanishing else (lambda d, c, v: v + c / d)
    start = (value[0] * d[0] ** 0.5, 0.5) if vanishing else (0.0, value[-1])
    best, covariance = curve_fit(model, d, value, start, error, absolute_sigma=True)
    chi_square, freedom = float(np.sum(((value - model(d, *best)) / error) ** 2)), len(used) - 2
    spread = np.sqrt(np.diag(covariance) * max(1.0, chi_square / freedom))
    (limit, limit_error), (power, power_error) = ((0.0, 0.0), (best[1], spread[1]))
    if not vanishing:
        (limit, limit_error), (power, power_error) = (best[1], spread[1]), (1.0, 0.0)
    return Fit(limit, limit_error, best[0], spread[0], power, power_error, chi_square, freedom)
