"""Fit the linear positional baseline at finite d, on the data sets that the simulations use."""

import itertools
import time

import click
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.linear import LINEAR
from tables import write_table
from tqdm import tqdm

from solvable_attention.simulation import fit_linear_baseline


@click.command(help=__doc__)
@task_options
@click.option("--d", type=int, multiple=True, required=True, help="Dimension of a token; repeat for more.")
@click.option("--alpha", type=float, multiple=True, required=True, help="Sample complexity α; repeat for a grid.")
@click.option("--seed", type=int, multiple=True, required=True, help="Number of a data set; repeat for more.")
@click.option("--root-seed", type=int, default=0, show_default=True, help="Root of every random draw.")
@click.option("--ridge", type=float, default=1e-4, show_default=True, help="Ridge of the baseline.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(d, alpha, seed, root_seed, ridge, output, **options):
    started = time.perf_counter()
    made_from = {"d": d, "alpha": alpha, "seed": seed, "root_seed": root_seed, "ridge": ridge, **options}
    experiment, tasks = tasks_from(options)
    data_sets = tqdm(list(itertools.product(d, alpha, seed)), desc="data sets", disable=None)
    frames = [
        fit_linear_baseline(tasks, d=dimension, alpha=a, seed=number, ridge=ridge, root_seed=root_seed)
        for dimension, a, number in data_sets
    ]
    frame = pd.concat(frames, ignore_index=True).assign(experiment=experiment)
    write_table(frame, LINEAR, output, started, made_from)


if __name__ == "__main__":
    run(main)
