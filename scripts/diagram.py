"""What the phase diagrams draw: maps over (α, ω) of theory and of runs, and the transition lines."""

from __future__ import annotations

import numpy as np
import pandas as pd
from unit_teacher import adjusted_to_unit_teacher

from solvable_attention.errors import ArgumentError

QUANTITIES = ("loss_difference", "gain")
# Of the losses, in units of 1e-3, as in the published figure.
RANGE = {"loss_difference": 1.5, "gain": 2.0}
LABEL = {
    "loss_difference": r"$\varepsilon_t^{\rm sem}-\varepsilon_t^{\rm pos}$  $[10^{-3}]$",
    "gain": r"$\varepsilon_{\rm lin}-\varepsilon_g$  $[10^{-3}]$",
}
SCALE = 1e3


def one_task_a_point(frame: pd.DataFrame, name: str, where: str) -> pd.DataFrame:
    """The rows of an experiment; ArgumentError unless it has one σ, one λ and, for runs, one d."""
    chosen = frame[frame.experiment == name]
    if chosen.empty:
        raise ArgumentError(f"{where}: {name!r} has no rows in this table, allowed is an experiment that has")
    for key in ("sigma", "lam", "d"):
        if key in chosen and chosen[key].nunique() != 1:
            raise ArgumentError(f"{where}: {name!r} has {chosen[key].nunique()} values of {key}, allowed is one")
    return chosen


def theory_maps(fixed_points: pd.DataFrame, baseline_error: pd.Series) -> pd.DataFrame:
    """By (ω, α): loss_difference, gain (ε_lin − ε_g of the winning branch), winner, known.

    baseline_error : ε_lin by ω. `winner` is uninformative where both branches have merged; `known` is False where one
    did not converge.
    """
    columns = ["train_loss", "test_error", "converged", "merged"]
    table = fixed_points.pivot(index=["omega", "alpha"], columns="branch", values=columns)
    loss, error = table["train_loss"].astype(float), table["test_error"].astype(float)
    pair = ["semantic", "positional"]
    semantic_wins = loss.semantic < loss.positional
    winner = pd.Series(np.where(semantic_wins, "semantic", "positional"), table.index)
    winning = error.semantic.where(semantic_wins, error.positional)
    baseline = baseline_error.reindex(winning.index.get_level_values("omega")).to_numpy()
    return pd.DataFrame(
        {
            "loss_difference": loss.semantic - loss.positional,
            "gain": baseline - winning,
            "winner": winner.mask(table["merged"][pair].astype(bool).all(axis=1), "uninformative"),
            "known": table["converged"][pair].astype(bool).all(axis=1),
        }
    )


def run_maps(runs: pd.DataFrame, linear: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean and standard error over data sets, by (ω, α), of loss_difference and gain on common data.

    What the data sets' ‖Q⋆‖²/d explains is taken off. `winner` is the start of smaller mean training loss; `open`
    counts the runs that did not converge, `seeds` the data sets.
    """
    key = ["omega", "alpha", "seed"]
    starts = {start: group.set_index(key) for start, group in runs.groupby("start")}
    semantic, positional = starts["semantic"], starts["positional"]
    baseline = linear.set_index(key).test_error
    samples = pd.DataFrame(
        {
            "loss_difference": semantic.train_loss - positional.train_loss,
            "semantic": baseline - semantic.test_error,
            "positional": baseline - positional.test_error,
        }
    ).dropna()
    samples = adjusted_to_unit_teacher(samples, semantic.teacher_variance)
    semantic_wins = samples.loss_difference.groupby(level=["omega", "alpha"]).transform("mean") < 0
    samples["gain"] = samples.pop("semantic").where(semantic_wins, samples.pop("positional"))
    groups = samples.groupby(level=["omega", "alpha"])
    mean, error = groups.mean(), groups.std(ddof=1) / np.sqrt(groups.count())
    mean["winner"] = np.where(mean.loss_difference < 0, "semantic", "positional")
    mean["open"] = (~runs.converged).groupby([runs.omega, runs.alpha]).sum().reindex(mean.index)
    mean["seeds"] = groups.size()
    return mean, error


def nice_limit(*values: pd.Series) -> float:
    """Range of colours, in units of 1e-3: what 95 % of the cells stay within, of one digit."""
    largest = SCALE * np.nanquantile(np.abs(np.concatenate([v.to_numpy(float) for v in values])), 0.95)
    unit = 10.0 ** np.floor(np.log10(largest))
    return float(np.ceil(largest / unit) * unit)


def image(values: pd.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α (n,), ω (k,) and the values (k, n) of a series by (ω, α), as pcolormesh takes them."""
    grid = values.unstack("alpha")
    return grid.columns.to_numpy(), grid.index.to_numpy(), grid.to_numpy(dtype=float)


def lines(transitions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Transitions by kind, sorted by ω; those not found are gaps."""
    return {kind: group.sort_values("omega") for kind, group in transitions.groupby("kind")}
