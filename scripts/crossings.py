"""Where simulated differences change sign: α_c from paired training losses, α_l from test errors and fitted baseline.

Both differences are taken on common data, as they are and less the known term of order 1/d. The error is a bootstrap
over data sets, whose known differences in ‖Q⋆‖²/d are taken off.
"""

import time
import zlib

import click
import numpy as np
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.crossings import CROSSINGS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from tables import description_of, read_table, write_table
from unit_teacher import adjusted_to_unit_teacher

from solvable_attention.crossings import bootstrap_crossing
from solvable_attention.errors import ArgumentError
from solvable_attention.finite_d import encoding_parts
from solvable_attention.task import TeacherStudent

KEY = ["d", "omega", "sigma", "lam"]


@click.command(help=__doc__)
@task_options
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--bootstrap", type=click.IntRange(2), default=2000, show_default=True, help="Resamplings.")
@click.option("--root-seed", type=int, default=0, show_default=True, help="Seed of the resampling.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(runs, linear, bootstrap, root_seed, output, **options):
    started, tables = time.perf_counter(), [description_of(path)["made_from"] for path in (runs, linear)]
    made_from = {"tables": tables, "bootstrap": bootstrap, "root_seed": root_seed, **options}
    experiment, tasks = tasks_from(options)
    runs, linear = read_table(RUNS, runs), read_table(LINEAR, linear)
    runs, linear = (table[table.experiment == experiment] for table in (runs, linear))
    rows = []
    for corrected in (False, True) if all(task.is_paper_case for task in tasks) else (False,):
        losses = less_encodings(runs, tasks) if corrected else runs
        for task, group in paired_differences(losses, linear, experiment).groupby(KEY):
            for kind in ("alpha_c", "alpha_l"):
                samples = {alpha: sample.to_numpy() for alpha, sample in group.groupby("alpha")[kind]}
                # Each crossing has draws of its own, whatever else the table holds.
                name = " ".join([*(f"{value:.6g}" for value in task), kind])
                rng = np.random.default_rng([root_seed, zlib.crc32(name.encode())])
                found = bootstrap_crossing(list(samples), list(samples.values()), bootstrap, rng)
                names = {"experiment": experiment, **dict(zip(KEY, task, strict=True)), "kind": kind}
                sizes = {"seeds": group.seed.nunique(), "resamples": bootstrap}
                rows.append({**names, "corrected": corrected, **vars(found), **sizes})
    write_table(pd.DataFrame(rows), CROSSINGS, output, started, made_from)


def less_encodings(runs: pd.DataFrame, tasks: list[TeacherStudent]) -> pd.DataFrame:
    """The runs without the terms of order 1/d that the encodings in the values add to ε_t and ε_g."""
    by_parameters = {(task.omega, task.sigma, task.lam): task for task in tasks}
    known = pd.DataFrame(
        [
            encoding_parts(by_parameters[r.omega, r.sigma, r.lam], r.d, r.alpha, r.q, r.m, r.theta)
            for r in runs.itertuples()
        ],
        index=runs.index,
    )
    return runs.assign(**{name: runs[name] - known[name] for name in known})


def paired_differences(runs: pd.DataFrame, linear: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """One row a task, α and data set: alpha_c is ε_t^sem − ε_t^pos, alpha_l is ε_g^sem − ε_lin of the fit.

    Both are adjusted to ‖Q⋆‖²/d = 1, see `adjusted_to_unit_teacher`.
    """
    key = [*KEY, "alpha", "seed"]
    starts = {start: group.set_index(key) for start, group in runs.groupby("start")}
    if not {"semantic", "positional"} <= set(starts) or linear.empty:
        raise ArgumentError(f"experiment: is {experiment!r}, allowed is one with both starts and a baseline")
    semantic, positional = starts["semantic"], starts["positional"]
    baseline = linear.set_index(key).test_error
    differences = {"alpha_c": semantic.train_loss - positional.train_loss, "alpha_l": semantic.test_error - baseline}
    samples = pd.DataFrame(differences).dropna()
    return adjusted_to_unit_teacher(samples, semantic.teacher_variance).reset_index()


if __name__ == "__main__":
    run(main)
