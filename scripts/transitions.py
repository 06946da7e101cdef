"""α_c and α_l of one task, interpolated on its branches.

α_c: ε_t of the semantic branch falls below that of the positional one. α_l: its ε_g falls below ε_lin.
A transition that the grid does not hold is a row whose alpha is missing.
"""

import time

import click
import pandas as pd
from cli import run, task_options, tasks_from
from tables import description_of, read_table, write_table

from solvable_attention.baseline import linear_baseline
from solvable_attention.crossings import last_crossing
from solvable_attention.errors import ArgumentError


@click.command(help=__doc__)
@task_options
@click.option("--semantic", type=click.Path(), required=True, help="Fixed points of the semantic branch.")
@click.option("--positional", type=click.Path(), required=True, help="Fixed points of the positional branch.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(semantic, positional, output, **options):
    started = time.perf_counter()
    made_from = {"branches": [description_of(path)["made_from"] for path in (semantic, positional)], **options}
    experiment, tasks = tasks_from(options)
    if len(tasks) != 1:
        raise ArgumentError(f"omega, sigma, lam: give {len(tasks)} tasks, allowed is one")
    branches = converged(semantic).join(converged(positional).add_suffix("_positional"), how="outer")
    # Where both branches have merged into the uninformative one their losses differ by rounding alone.
    apart = ~(branches.merged.eq(True) & branches.merged_positional.eq(True))
    difference = (branches.train_loss - branches.train_loss_positional).where(apart)
    error = branches.train_loss_error + branches.train_loss_error_positional
    excess = branches.test_error - linear_baseline(tasks[0]).test_error
    found = {"alpha_c": (difference, error), "alpha_l": (excess, branches.test_error_error)}
    rows = [row(experiment, tasks[0], kind, *curve) for kind, curve in found.items()]
    write_table(pd.DataFrame(rows), "transitions", output, started, made_from)


def converged(path: str) -> pd.DataFrame:
    points = read_table("fixed_points", path)
    return points[points.converged].set_index("alpha")[
        ["train_loss", "test_error", "train_loss_error", "test_error_error", "merged"]
    ]


def row(experiment, task, kind, curve: pd.Series, errors: pd.Series) -> dict:
    crossing = last_crossing(*(x.to_numpy(dtype=float) for x in (curve.index, curve, errors)))
    return {
        "experiment": experiment,
        **{key: getattr(task, key) for key in ("omega", "sigma", "lam")},
        "kind": kind,
        "alpha": crossing.alpha,
        "error": crossing.error,
    }


if __name__ == "__main__":
    run(main)
