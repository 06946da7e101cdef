"""Choices among runs, and means over data sets, that figures and comparisons share."""

from __future__ import annotations

import numpy as np
import pandas as pd

LEAST_FREEDOM = 8
LEAST_COSINE = 3.0  # in units of 1/√d, the typical cosine of a random direction


def cosines(runs: pd.DataFrame) -> pd.DataFrame:
    """|cos| of the angles of Q with the encodings, `positional`, and with Q⋆, `semantic`, of runs of rank 1.

    They are m/√K and (θ/σ²)/√(K ‖Q⋆‖²/d) with K = q/σ² = ‖Q‖²/d; a random direction has cosines of order 1/√d.
    """
    length = np.sqrt(runs.q / runs.sigma**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        semantic = runs.theta / runs.sigma**2 / (length * np.sqrt(runs.teacher_variance))
        return pd.DataFrame({"positional": runs.m / length, "semantic": semantic})


def basin(runs: pd.DataFrame) -> pd.Series:
    """Where each run ended: the side of the larger cosine, or "neither" where both are below LEAST_COSINE/√d."""
    angle = cosines(runs).fillna(0)
    side = pd.Series(np.where(angle.positional > angle.semantic, "positional", "semantic"), runs.index)
    return side.mask(angle.max(axis=1) < LEAST_COSINE / np.sqrt(runs.d), "neither")


def lowest_positional(runs: pd.DataFrame) -> pd.DataFrame:
    """Of each task and data set the run of lowest loss among those that ended on the positional side.

    That is where the cosine with the encodings is the larger one.
    """
    angle = cosines(runs)
    positional = runs[angle.positional > angle.semantic].sort_values("train_loss", kind="stable")
    return positional.drop_duplicates(["omega", "sigma", "lam", "d", "alpha", "seed"]).sort_index()


def mean_and_error(values: pd.Series) -> pd.DataFrame:
    """Mean and standard error over data sets, by α (index level 0)."""
    grouped = values.groupby(level=0)
    return pd.DataFrame({"mean": grouped.mean(), "error": grouped.std(ddof=1) / np.sqrt(grouped.count())})


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
