"""Train students at finite d: all tasks, starts and restarts on each of the given data sets."""

import itertools
import time

import click
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.runs import RUNS
from tables import write_table
from tqdm import tqdm

from solvable_attention.simulation import simulate


@click.command(help=__doc__)
@task_options
@click.option("--d", "sizes", type=int, multiple=True, required=True, help="Dimension d of a token; repeat.")
@click.option("--alpha", "alphas", type=float, multiple=True, required=True, help="Sample complexity n/d; repeat.")
@click.option("--seed", "seeds", type=int, multiple=True, required=True, help="Number of a data set; repeat for more.")
@click.option("--root-seed", type=int, default=0, show_default=True, help="Root of every random draw.")
@click.option("--start", "starts", multiple=True, required=True, help="positional, semantic, random, noisy_positional.")
@click.option("--restarts", type=int, default=1, show_default=True, help="Runs from each random start.")
@click.option("--optimizer", default="lbfgs", show_default=True, help="lbfgs, gd or adam.")
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option("--max-iterations", type=int, help="Iterations at most.  [default: the optimizer's]")
@click.option("--step", type=float, help="Step size.  [default: the optimizer's]")
@click.option("--grad-tol", type=float, help="Gradient norm that counts as converged.  [default: the optimizer's]")
@click.option("--random-std", type=float, multiple=True, help="Standard deviation of the random start; repeat.")
@click.option("--noisy-mean", type=float, help="Mean of the entries of the noisy_positional start.")
@click.option("--noisy-std", type=float, help="Their standard deviation.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(sizes, alphas, seeds, output, **options):
    started, made_from = time.perf_counter(), {"d": sizes, "alphas": alphas, "seeds": seeds, **options}
    experiment, tasks = tasks_from(options)
    given = {key: value for key, value in options.items() if value not in (None, ())}
    data_sets = tqdm(list(itertools.product(sizes, alphas, seeds)), desc="data sets", disable=None)
    frames = [simulate(tasks, d=d, alpha=alpha, seed=seed, **given) for d, alpha, seed in data_sets]
    frame = pd.concat(frames, ignore_index=True).assign(experiment=experiment)
    frame = frame if "value_overlap" in frame else frame.assign(value_overlap=float("nan"))  # without trained values
    write_table(frame, RUNS, output, started, made_from)


if __name__ == "__main__":
    run(main)
