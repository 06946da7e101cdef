"""Numbers of runs at ‖Q⋆‖²/d = 1.

Most of the scatter between data sets is that of ‖Q⋆‖²/d, whose mean is known to be 1, so that a regression on it takes
most of the scatter away. Three estimators differ in what shares a slope: `at_unit_teacher` takes one point by itself,
`adjusted_to_unit_teacher` lets the slope vary smoothly along α and returns single data sets, which may then be paired
or resampled, and `common_slope_at_unit_teacher` shares the relative slope among all d, for few data sets at each.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

LEAST_FREEDOM = 8


def at_unit_teacher(values: pd.Series, teacher_variance: pd.Series) -> tuple[float, float]:
    """Intercept, at ‖Q⋆‖²/d = 1, of the regression of a number on ‖Q⋆‖²/d over data sets, and its standard error.

    Fewer than three data sets allow no regression: mean and standard error of the mean, NaN for one data set.
    """
    if len(values) < 3:
        return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
    design = np.column_stack([np.ones(len(values)), teacher_variance - 1.0])
    coefficients = np.linalg.lstsq(design, values.to_numpy())[0]
    square = np.sum((values - design @ coefficients) ** 2) / (len(values) - 2)
    return float(coefficients[0]), float(np.sqrt(square * np.linalg.inv(design.T @ design)[0, 0]))


def adjusted_to_unit_teacher(values: pd.DataFrame, teacher_variance: pd.Series) -> pd.DataFrame:
    """The values of single data sets, less what their ‖Q⋆‖²/d, of known mean 1, explains.

    values : columns to adjust, by (…, alpha, seed); teacher_variance likewise. The slope on ‖Q⋆‖²/d is a polynomial in
    α, fitted for each column and each combination of the other index levels to deviations from the mean at each α:
    single α have too few data sets for a slope of their own. It is quadratic where every coefficient has at least
    LEAST_FREEDOM degrees of freedom, of lower order or absent where not. What is left of a deviation is enlarged by the
    degrees of freedom that the fit has used up, so that a standard error taken from it is not too small by them.
    """
    excess = teacher_variance.reindex(values.index) - 1.0
    levels = [name for name in values.index.names if name != "seed"]
    outer = [name for name in levels if name != "alpha"]
    adjusted = values.copy()
    for places in values.groupby(level=outer).indices.values() if outer else [slice(None)]:
        group, x = values.iloc[places], excess.iloc[places]
        means = group.groupby(level=levels).transform("mean")
        deviation = x - x.groupby(level=levels).transform("mean")
        freedom = len(group) - group.groupby(level=levels).ngroups
        powers = np.vander(x.index.get_level_values("alpha"), min(3, freedom // LEAST_FREEDOM))
        design = powers * deviation.to_numpy()[:, None]
        slopes, _, rank, _ = np.linalg.lstsq(design, (group - means).to_numpy(), rcond=1e-9)
        left = group - means - design @ slopes
        enlarged = np.sqrt(freedom / max(freedom - rank, 1))
        adjusted.iloc[places] = means - (powers @ slopes) * (x - deviation).to_numpy()[:, None] + enlarged * left
    return adjusted


def common_slope_at_unit_teacher(table: pd.DataFrame, number: str) -> pd.DataFrame:
    """Mean of a number at ‖Q⋆‖²/d = 1, and its standard error, by (k, d, alpha).

    The relative slope on ‖Q⋆‖²/d is common to all d of one α and k. The error holds the scatter at that d, the slope's
    degree of freedom and the slope's own error times the distance of the mean from 1; NaN without freedom.
    """
    key, place = ["k", "d", "alpha"], ["k", "alpha"]
    data = table.assign(x=table.variance, y=table[number])
    mean = data.groupby(key)[["x", "y"]].transform("mean")
    x, y = data.x - mean.x, data.y / mean.y - 1
    pooled = pd.DataFrame({"xx": x * x, "xy": x * y, "yy": y * y, "one": 1.0}).groupby([data.k, data.alpha]).sum()
    freedom = pooled.one - data.groupby(key).size().groupby(place).size() - 1
    slope = pooled.xy / pooled.xx
    scatter = ((pooled.yy - slope * pooled.xy) / freedom.where(freedom > 0)).clip(lower=0)
    groups = data.groupby(key)
    result = groups[["x", "y"]].mean()
    at = [result.index.get_level_values(name) for name in place]
    slope_at, error_at, freedom_at = (values.loc[list(zip(*at, strict=True))].to_numpy() for values in (
        slope, np.sqrt(scatter / pooled.xx), freedom))  # fmt: skip
    residual = data.assign(
        square=(mean.y * (y - slope.loc[list(zip(data.k, data.alpha, strict=True))].to_numpy() * x)) ** 2
    )
    size = groups.size()
    used = np.where(freedom_at > 0, (freedom_at + 1) / np.maximum(freedom_at, 1), np.nan)
    variance = residual.groupby(key).square.sum() / (size - 1) / size * used
    far = result.y * error_at * (result.x - 1)
    return pd.DataFrame({"mean": result.y * (1 - slope_at * (result.x - 1)), "error": np.sqrt(variance + far**2)})
