"""Runs at finite d held against theory, number by number, on the branch of smaller training loss.

Most of the scatter between data sets is that of ‖Q⋆‖²/d, whose mean is known to be 1: each number is regressed on it,
and the value at 1 is compared. It may differ from theory by 3 standard errors plus an allowance for terms of order
1/d: the known one of the encodings in the values, which is subtracted, and the unknown rest, for which a share of the
value is granted. On the positional side the lowest of many starts is compared; the single start stands beside it.
"""

import click
import pandas as pd
from cli import run, task_options, tasks_from
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from selection import lowest_positional, positional_starts
from tables import complete_file, read_table
from unit_teacher import at_unit_teacher

from solvable_attention.errors import ArgumentError
from solvable_attention.finite_d import encoding_parts

REST = 5.0  # the allowance for unknown terms is REST/d of the value
ORDER = {"semantic": "theta", "positional": "m"}
SYMBOLS = {"train_loss": "ε_t", "test_error": "ε_g", "theta": "θ", "m": "m"}


@click.command(help=__doc__)
@task_options
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--slice", "slice_name", required=True, help="Experiment with theory and minimisers.")
@click.option("--restarts", required=True, help="Experiment with many noisy positional starts; its α are compared.")
@click.option("--output", type=click.Path(), required=True, help="Markdown file to write.")
def main(fixed_points, runs, slice_name, restarts, output, **options):
    _, (task,) = tasks_from(options)
    theory = read_table(FIXED_POINTS, fixed_points).query("experiment == @slice_name")
    table = read_table(RUNS, runs)
    minimisers, noisy = (table[table.experiment == name] for name in (slice_name, restarts))
    lowest = lowest_positional(noisy)
    rows = []
    for alpha, group in theory[theory.alpha.isin(noisy.alpha) & theory.converged].groupby("alpha"):
        point = group[group.branch.isin(ORDER)].sort_values("train_loss").iloc[0]
        single = minimisers[(minimisers.alpha == alpha) & (minimisers.start == point.branch)]
        rows += compare(task, point, single, "one start")
        if point.branch == "positional":
            rows += compare(task, point, lowest[lowest.alpha == alpha], f"lowest of {positional_starts(noisy)}")
    if not rows:
        raise ArgumentError(f"{fixed_points}: has no converged point at an α of {restarts!r}, allowed is one at least")
    text = report(pd.DataFrame(rows), int(minimisers.d.iloc[0]), minimisers.seed.nunique())
    with complete_file(output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(text)


def compare(task, point, runs: pd.DataFrame, kind: str) -> list[dict]:
    """One row a quantity: theory, mean of the runs less the known 1/d term, standard error, allowance, verdict."""
    rows = []
    if runs.empty:
        return rows  # no start ended on the positional side
    names = ("train_loss", "test_error", ORDER[point.branch])
    estimates = {name: at_unit_teacher(runs[name], runs.teacher_variance) for name in names}
    for name, value, error, expected in compared(task, point, runs.d.iloc[0], estimates):
        gap, allowance = value - expected, 3 * error + REST / runs.d.iloc[0] * expected
        rows.append(
            {
                "α": point.alpha,
                "branch": point.branch,
                "start": f"{kind}, n = {len(runs)}",
                "number": SYMBOLS[name],
                "theory": f"{expected:.4g}",
                "runs": f"{value:.4g} ± {error:.1g}",
                "gap": f"{100 * gap / expected:+.2f} %",
                "gap / s.e.": f"{gap / error:+.1f}",
                "within": "yes" if abs(gap) <= allowance else "no",
            }
        )
    return rows


def compared(task, point, d: int, estimates: dict):
    """(name, value of the runs less the known 1/d term, its standard error, theory) of each (value, error) given."""
    known = encoding_parts(task, d, point.alpha, point.q, point.m, point.theta)
    for name, (value, error) in estimates.items():
        yield name, value - known.get(name, 0.0), error, getattr(point, name)


def report(rows: pd.DataFrame, d: int, seeds: int) -> str:
    decided = rows[(rows.branch == "semantic") | rows.start.str.startswith("lowest")]
    met = (decided.within == "yes").sum()
    return f"""# Runs against theory

d = {d}, {seeds} data sets. The column "runs" is the regression of each number on ‖Q⋆‖²/d over data sets, taken at
the known mean 1, less the term of the encodings in the values, α E‖S p‖²/(2d) in ε_t and E‖S p‖²/(L d) in ε_g.
"within": the gap is at most 3 standard errors + {REST:g}/d of the value. On the positional side the lowest of many
starts that ended with m > θ/σ counts; one start does not reach the lowest minimum. {met} of {len(decided)} numbers
agree.

{rows.to_markdown(index=False, disable_numparse=True)}
"""


if __name__ == "__main__":
    run(main)
