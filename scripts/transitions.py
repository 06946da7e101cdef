"""Transitions of one or several tasks: α_c, α_l, and the ends and stability of the branches, by root finding.

A transition that does not exist in the range asked for is a row without an alpha, and its status says so.
"""

import time

import click
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.transitions import TRANSITIONS
from tables import write_table
from tqdm import tqdm

from solvable_attention.curves import BranchCurves
from solvable_attention.transitions import HIGH, KINDS, LOW, Transition, transition


@click.command(help=__doc__)
@task_options
@click.option("--kind", "kinds", type=click.Choice(list(KINDS)), multiple=True, required=True, help="Repeat for more.")
@click.option("--low", type=float, default=LOW, show_default=True, help="Smallest α of the search.")
@click.option("--high", type=float, default=HIGH, show_default=True, help="Largest α of the search.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(kinds, low, high, output, **options):
    started, made_from = time.perf_counter(), {"kinds": kinds, "low": low, "high": high, **options}
    experiment, tasks = tasks_from(options)
    rows = []
    for task in tqdm(tasks, desc="tasks", disable=None):
        curves = BranchCurves(task)
        rows += [row(experiment, transition(task, kind, low=low, high=high, curves=curves)) for kind in kinds]
    write_table(pd.DataFrame(rows), TRANSITIONS, output, started, made_from)


def row(experiment: str, found: Transition) -> dict:
    return {
        "experiment": experiment,
        **{key: getattr(found.task, key) for key in ("omega", "sigma", "lam")},
        **{key: getattr(found, key) for key in ("kind", "alpha", "error", "status", "low", "high")},
    }


if __name__ == "__main__":
    run(main)
