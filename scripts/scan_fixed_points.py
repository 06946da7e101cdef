"""All fixed points that many starts of the full state evolution reach, for one or several tasks along α."""

import time

import click
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.scan import SCAN
from tables import write_table
from theory_fixed_points import row
from tqdm import tqdm

from solvable_attention.census import FIXED_STARTS, scan


@click.command(help=__doc__)
@task_options
@click.option("--alpha", type=float, multiple=True, required=True, help="Sample complexity α; repeat for a grid.")
@click.option("--random-starts", type=int, default=16, show_default=True, help="Random starts of the full map.")
@click.option("--root-seed", type=int, default=0, show_default=True, help="Seed of the random starts.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(alpha, random_starts, root_seed, output, **options):
    started = time.perf_counter()
    made_from = {"alpha": alpha, "random_starts": random_starts, "root_seed": root_seed, **options}
    experiment, tasks = tasks_from(options)
    grid = tqdm([(task, a) for task in tasks for a in alpha], desc="points", disable=None)
    starts = random_starts + FIXED_STARTS
    rows = [
        {**row(experiment, found.point), "solution": i, "starts": starts, "reached_by": found.starts}
        for task, a in grid
        for i, found in enumerate(scan(task, a, random_starts=random_starts, seed=root_seed))
    ]
    write_table(pd.DataFrame(rows), SCAN, output, started, made_from)


if __name__ == "__main__":
    run(main)
