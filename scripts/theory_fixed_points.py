"""Fixed points of the state evolution along α, for one branch of one or several tasks."""

import time

import click
import numpy as np
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.fixed_points import FIXED_POINTS, MOST_EIGENVALUES
from tables import write_table

from solvable_attention.coordinates import BRANCHES
from solvable_attention.finite_d import encoding_term
from solvable_attention.fixed_points import branch
from solvable_attention.solution import FixedPoint


@click.command(help=__doc__)
@task_options
@click.option("--branch", "name", type=click.Choice(BRANCHES), required=True)
@click.option("--alpha", type=float, multiple=True, required=True, help="Sample complexity α; repeat for a grid.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(name, alpha, output, **options):
    started, made_from = time.perf_counter(), {"branch": name, "alpha": alpha, **options}
    experiment, tasks = tasks_from(options)
    points = [point for task in tasks for point in branch(task, alpha, name)]
    write_table(pd.DataFrame([row(experiment, p) for p in points]), FIXED_POINTS, output, started, made_from)


def row(experiment: str, point: FixedPoint) -> dict:
    """One row of a table of fixed points."""
    names = ("alpha", "branch", "q", "m", "V", "theta", "value_overlap", "train_loss", "test_error", "residual")
    eigenvalues = np.full(MOST_EIGENVALUES, np.nan, dtype=complex)
    eigenvalues[: point.eigenvalues.size] = point.eigenvalues[:MOST_EIGENVALUES]
    return {
        "experiment": experiment,
        **{key: getattr(point.task, key) for key in ("omega", "sigma", "lam")},
        **{key: getattr(point, key) for key in (*names, "quadrature_error", "converged", "merged", "two_well_weight")},
        "encoding_term": encoding_term(point.task, point.overlaps) if point.converged else np.nan,
        "train_loss_error": point.errors["train_loss"],
        "test_error_error": point.errors["test_error"],
        "growth_m": point.growth_m,
        "growth_theta": point.growth_theta,
        **{f"eigenvalue_{i}_real": float(x.real) for i, x in enumerate(eigenvalues, start=1)},
        **{f"eigenvalue_{i}_imag": float(x.imag) for i, x in enumerate(eigenvalues, start=1)},
    }


if __name__ == "__main__":
    run(main)
