"""Choices among runs, and means over data sets, that figures and comparisons share."""

from __future__ import annotations

import numpy as np
import pandas as pd

LEAST_FREEDOM = 8
LEAST_MULTIPLE = 2.0  # of what a random direction has by chance


def fields(runs: pd.DataFrame) -> pd.DataFrame:
    """How much place (`positional`, m) and content (`semantic`, θ/σ) move the fields z_ℓ = Q·(x_ℓ+p_ℓ)/√d, rank 1.

    θ/σ = σ|Q·Q⋆|/d is the standard deviation of the part of z that the teacher's field h⋆ explains.
    """
    return pd.DataFrame({"positional": runs.m, "semantic": runs.theta / runs.sigma})


def on_positional_side(runs: pd.DataFrame) -> pd.Series:
    """Whether place moves the fields more than the teacher's field does, m > θ/σ."""
    moved = fields(runs)
    return moved.positional > moved.semantic


def basin(runs: pd.DataFrame) -> pd.Series:
    """Where each run ended: the side of the larger part, or "neither" where both are no more than chance.

    A random Q of the same norm has m ≈ √(K/d) and θ/σ ≈ σ√(K ‖Q⋆‖²/d²), K = q/σ²: both parts have to be below
    LEAST_MULTIPLE times these.
    """
    chance = LEAST_MULTIPLE * np.sqrt(runs.q / runs.sigma**2 / runs.d)
    moved = fields(runs)
    low = (moved.positional < chance) & (moved.semantic < chance * runs.sigma * np.sqrt(runs.teacher_variance))
    side = pd.Series(np.where(on_positional_side(runs), "positional", "semantic"), runs.index)
    return side.mask(low | (runs.q == 0), "neither")


def lowest_positional(runs: pd.DataFrame) -> pd.DataFrame:
    """Of each task and data set the run of lowest loss among those on the positional side, m > θ/σ."""
    positional = runs[on_positional_side(runs)].sort_values("train_loss", kind="stable")
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
