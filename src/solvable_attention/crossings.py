"""Where a difference of two curves, known on a grid with errors, changes sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq


@dataclass(frozen=True)
class Crossing:
    """alpha : place of the sign change, NaN where the grid holds none; error : absolute, NaN likewise."""

    alpha: float
    error: float


def last_crossing(alphas: np.ndarray, difference: np.ndarray, errors: np.ndarray) -> Crossing:
    """Last α at which `difference` falls through zero, by monotone cubic interpolation between grid points.

    alphas (n,), increasing; difference (n,); errors (n,) of the difference, absolute. Points that are not finite are
    left out. The error adds what the errors of the two neighbours make of the place and the distance to the linear
    interpolation on half the grid's resolution, an upper bound for what the cubic one misses.
    """
    known = np.isfinite(difference)
    x, y, e = np.asarray(alphas)[known], np.asarray(difference)[known], np.asarray(errors)[known]
    falls = np.flatnonzero((y[:-1] > 0) & (y[1:] <= 0))
    if falls.size == 0:
        return Crossing(np.nan, np.nan)
    i = falls[-1]
    curve = PchipInterpolator(x, y)
    place = brentq(curve, x[i], x[i + 1])
    linear = x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])
    slope = abs(float(curve.derivative()(place)))
    return Crossing(float(place), float(max(e[i], e[i + 1]) / slope + abs(place - linear) / 4))
