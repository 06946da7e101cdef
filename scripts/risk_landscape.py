"""Empirical risk on the plane through a positional minimum, a semantic minimum and the origin."""

import itertools
import time

import click
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.landscape import LANDSCAPE
from tables import write_table

from solvable_attention.simulation.landscape import plane_through_minima


@click.command(help=__doc__)
@task_options
@click.option("--d", type=int, required=True, help="Dimension of a token.")
@click.option("--alpha", "alphas", type=float, multiple=True, required=True, help="Sample complexity α = n/d; repeat.")
@click.option("--seed", type=int, required=True, help="Number of the data set.")
@click.option("--root-seed", type=int, default=0, show_default=True, help="Root of every random draw.")
@click.option("--restarts", type=int, required=True, help="Noisy positional starts, of which the lowest counts.")
@click.option("--points", type=int, required=True, help="Grid points a side.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(d, alphas, seed, output, **options):
    started, made_from = time.perf_counter(), {"d": d, "alphas": alphas, "seed": seed, **options}
    experiment, tasks = tasks_from(options)
    frames = []
    for task, alpha in itertools.product(tasks, alphas):
        plane = plane_through_minima(task, d=d, alpha=alpha, seed=seed, **options)
        names = {"omega": task.omega, "sigma": task.sigma, "lam": task.lam, "d": d, "alpha": alpha, "seed": seed}
        frames.append(plane.assign(experiment=experiment, **names))
    write_table(pd.concat(frames, ignore_index=True), LANDSCAPE, output, started, made_from)


if __name__ == "__main__":
    run(main)
