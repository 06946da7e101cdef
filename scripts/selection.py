"""Choices among runs, and means over data sets, that figures and comparisons share."""

from __future__ import annotations

import numpy as np
import pandas as pd

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


def positional_starts(runs: pd.DataFrame) -> int:
    """Number of positional starts of a data set, plain and noisy ones."""
    starts = runs[runs.start.isin(["positional", "noisy_positional"])]
    return int(starts.groupby("start").restart.nunique().sum())


def mean_and_error(values: pd.Series) -> pd.DataFrame:
    """Mean and standard error over data sets, by α (index level 0)."""
    grouped = values.groupby(level=0)
    return pd.DataFrame({"mean": grouped.mean(), "error": grouped.std(ddof=1) / np.sqrt(grouped.count())})
