"""Train students at finite d: all tasks, starts and restarts of one (d, α) on each of the given data sets."""


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
@click.option("--d", type=int, required=True, help="Dimension of a token.")
@click.option("--alpha", type=float, required=True, help="Sample complexity α = n/d.")
@click.option("--seed", "seeds", type=int, multiple=True, required=True, help="Number of a data set; repeat for more.")
@click.option("--root-seed", type=int, default=0, show_default=True, help="Root of every random draw.")
@click.option("--start", "starts", multiple=True, required=True, help="positional, semantic, random, noisy_positional.")
@click.option("--restarts", type=int, default=1, show_default=True, help="Runs from each random start.")
@click.option("--optimizer", default="lbfgs", show_default=True, help="lbfgs, gd or adam.")
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option("--max-iterations", type=int, help="Iterations at most.  [default: the optimizer's]")
@click.option("--step", type=float, help="Step size.  [default: the optimizer's]")
@click.option("--grad-tol", type=float, help="Gradient norm that counts as converged.  [default: the optimizer's]")
@click.option("--noisy-mean", type=float, help="Mean of the entries of the noisy_positional start.")
@click.option("--noisy-std", type=float, help="Their standard deviation.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(seeds, output, **options):
    started, made_from = time.perf_counter(), {"seeds": seeds, **options}
    experiment, tasks = tasks_from(options)
    given = {key: value for key, value in options.items() if value is not None}
    frames = [simulate(tasks, seed=seed, **given) for seed in tqdm(seeds, desc="data sets", disable=None)]
    frame = pd.concat(frames, ignore_index=True).assign(experiment=experiment)
    write_table(frame, RUNS, output, started, made_from)


if __name__ == "__main__":
    run(main)
