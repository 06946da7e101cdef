"""Our minimisers beside the authors' published runs: means over data sets, compared in units of their spread.

The published tables (mean and standard deviation over seeds, d = 1000, gradient descent stopped after 5000 steps) are
not part of this project; give their files. Two means agree where they differ by at most the spread, the root of the
summed variances over seeds. Both starts, one run each; the published ones saw different data. With --repeat the
farthest points are trained again by the published descent.
"""

from __future__ import annotations

import click
import numpy as np
import pandas as pd

from solvable_attention.simulation import simulate
from solvable_attention.task import TeacherStudent

KEY = ["omega", "sigma", "lam", "start", "alpha"]
# Our number: column of the published tables.
NUMBERS = {"train_loss": "attention_train_error", "test_error": "attention_gen_error",
           "m": "attention_mag", "theta": "attention_theta"}  # fmt: skip

EXPERIMENTS = ("sweep_omega", "sweep_sigma", "sweep_lam", "diagram")


@click.command(help=__doc__)
@click.option("--runs", type=click.Path(exists=True), default="results/simulations/runs.parquet", show_default=True)
@click.option("--mean", type=click.Path(exists=True), required=True, help="CSV of the published means.")
@click.option("--std", type=click.Path(exists=True), required=True, help="CSV of the published standard deviations.")
@click.option("--experiment", "experiments", multiple=True, default=EXPERIMENTS, show_default=True)
@click.option("--worst", default=10, show_default=True, help="Points to list.")
@click.option("--repeat", default=0, show_default=True, help="Farthest points (task, start, α) to train by descent.")
@click.option("--seeds", default=4, show_default=True, help="Data sets of each of them.")
def main(runs, mean, std, experiments, worst, repeat, seeds):
    published = published_runs(mean, std)
    table = pd.read_parquet(runs)
    parts = [compare(own_runs(table, name), published).assign(experiment=name) for name in experiments]
    # A task that stands in two experiments, on the same data, counts once.
    points = pd.concat(parts, ignore_index=True).drop_duplicates([*KEY, "number"])
    points["within"] = points.gap.abs() <= 1
    shares = points.groupby(["experiment", "start", "number"]).within.agg(["sum", "size"])
    click.echo((shares["sum"].astype(str) + " of " + shares["size"].astype(str)).unstack("number").to_string())
    click.echo(f"\n{points.within.mean():.1%} of {len(points)} numbers lie within the spread, median difference "
               f"{points.gap.abs().median():.2f} of it; the {worst} farthest:")  # fmt: skip
    listed = points.sort_values("gap", key=abs, ascending=False).head(worst)
    click.echo(listed.drop(columns=["within"]).to_string(index=False, float_format="{:.4g}".format))
    if repeat:
        farthest = points.sort_values("gap", key=abs, ascending=False)[KEY].drop_duplicates().head(repeat)
        trained = compare(descent_runs(farthest, seeds), published)
        click.echo(f"\nThe {len(farthest)} farthest points by the published descent, {seeds} data sets: "
                   f"{(trained.gap.abs() <= 1).sum()} of {len(trained)} numbers lie within the spread.")  # fmt: skip
        click.echo(trained.to_string(index=False, float_format="{:.4g}".format))


def descent_runs(points: pd.DataFrame, seeds: int) -> pd.DataFrame:
    """Mean and standard deviation by KEY of 5000 steps of gradient descent at d = 1000."""
    runs = [
        simulate(
            TeacherStudent(p.omega, p.sigma, p.lam), d=1000, alpha=p.alpha, seed=seed, starts=p.start, optimizer="gd"
        )
        for p in points.itertuples()
        for seed in range(seeds)
    ]
    return summary_of(pd.concat(runs))


def published_runs(mean: str, std: str) -> pd.DataFrame:
    """Mean and standard deviation by KEY, in our units and names: ε_t = R/d, θ over σ²."""
    frames = []
    for path, suffix in ((mean, "mean"), (std, "std")):
        table = pd.read_csv(path).rename(columns={"attention_lmbda": "lam"})
        table["start"] = np.where(table.informed, "semantic", "positional")
        table["alpha"] = table.alpha.map(six_digits)
        table = table[table.d == 1000].set_index(KEY)
        columns = {number: table[f"{name}_mean"].abs() for number, name in NUMBERS.items()}
        columns["train_loss"] = columns["train_loss"] / 1000
        frames.append(pd.DataFrame(columns).stack().rename(suffix))
    return pd.concat(frames, axis=1)


def own_runs(table: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Mean and standard deviation over data sets by KEY, of runs at d = 1000 from the two informed starts."""
    runs = table[(table.experiment == experiment) & (table.d == 1000) & table.start.isin(["semantic", "positional"])]
    return summary_of(runs)


def summary_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over data sets by KEY, θ over σ²."""
    runs = runs.assign(theta=runs.theta / runs.sigma**2, alpha=runs.alpha.map(six_digits))
    groups = runs.groupby(KEY)[list(NUMBERS)]
    return pd.concat([groups.mean().stack().rename("mean"), groups.std(ddof=1).stack().rename("std")], axis=1)


def compare(own: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Common points, and the difference of the means in units of the spread."""
    joined = own.add_suffix("_ours").join(published.add_suffix("_published"), how="inner")
    joined.index = joined.index.set_names("number", level=-1)
    spread = np.hypot(joined.std_ours, joined.std_published)
    return joined.assign(gap=(joined.mean_ours - joined.mean_published) / spread).reset_index()


def six_digits(alpha: float) -> float:
    return float(f"{alpha:.6g}")


if __name__ == "__main__":
    main()
