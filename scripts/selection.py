"""Choices among runs, and means over data sets, that figures and comparisons share."""

from __future__ import annotations

import numpy as np
import pandas as pd


def lowest_positional(runs: pd.DataFrame) -> pd.DataFrame:
    """Of each data set the run of lowest loss among those that ended on the positional side, m > θ."""
    positional = runs[runs.m > runs.theta].sort_values("train_loss", kind="stable")
    return positional.drop_duplicates(["alpha", "seed"])


def mean_and_error(values: pd.Series) -> pd.DataFrame:
    """Mean and standard error over data sets, by α (index level 0)."""
    grouped = values.groupby(level=0)
    return pd.DataFrame({"mean": grouped.mean(), "error": grouped.std(ddof=1) / np.sqrt(grouped.count())})
