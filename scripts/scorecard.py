"""The claims of the paper and of its figures, one by one: published value, ours with its error, and a verdict.

Every verdict follows from the numbers of the tables by the rules in `verdict_of_value` and `verdict_of_share`.
"""

import time
from dataclasses import replace

import click
import numpy as np
import pandas as pd
from claims import (
    OWN,
    PAPER,
    REPRODUCED,
    census_claims,
    crossing_claims,
    lowest_claims,
    map_claims,
    of,
    run_claims,
    scaling_claims,
    slice_claims,
    transition_claims,
)
from cli import run, task_options, tasks_from
from published import CITATION
from schemas.crossings import CROSSINGS
from schemas.fixed_points import FIXED_POINTS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.scan import SCAN
from schemas.scorecard import SCORECARD
from schemas.transitions import TRANSITIONS
from tables import complete_file, description_of, read_table, write_table

TABLES = {table.name: table for table in (FIXED_POINTS, TRANSITIONS, SCAN, RUNS, LINEAR, CROSSINGS)}
SHOWN = ["claim", "where", "published", "ours", "verdict"]


@click.command(help=__doc__)
@task_options
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--scan", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--crossings", type=click.Path(), required=True)
@click.option("--slice", "slice_name", required=True, help="Experiment of figure 2.")
@click.option("--restarts", required=True, help="Experiment with many noisy positional starts.")
@click.option("--scaling", required=True, help="Experiment with runs at several d, and theory.")
@click.option("--lines", required=True, help="Experiment with α_c and α_l.")
@click.option("--census", required=True, help="Experiment with a scan for fixed points.")
@click.option("--output", type=click.Path(), required=True, help="Parquet file to write.")
@click.option("--page", type=click.Path(), required=True, help="Markdown file to write.")
def main(slice_name, restarts, scaling, lines, census, output, page, **options):
    started, paths = time.perf_counter(), {name: options.pop(name) for name in TABLES}
    sources = {name: description_of(path)["made_from"] for name, path in paths.items()}
    names = {"slice": slice_name, "restarts": restarts, "scaling": scaling, "lines": lines, "census": census}
    made_from = {**names, **sources, **options}
    diagram, tasks = tasks_from(options)
    tables = {name: read_table(TABLES[name], path) for name, path in paths.items()}
    task = replace(tasks[0], omega=float(of(tables["fixed_points"], slice_name).omega.iloc[0]))
    rows = [
        *slice_claims(tables, slice_name),
        *transition_claims(tables, lines, tasks[0]),
        *map_claims(tables, diagram),
        *lowest_claims(tables, slice_name, restarts, task),
        *scaling_claims(tables, scaling),
        *census_claims(tables, census),
        *run_claims(tables, diagram, tasks),
        *crossing_claims(tables, diagram, lines),
    ]
    card = pd.DataFrame(rows).astype({"published": float, "ours": float, "error": float})
    write_table(card, SCORECARD, output, started, made_from)
    with complete_file(page) as temporary:
        temporary.write_text(page_of(card), encoding="utf-8")


def page_of(card: pd.DataFrame) -> str:
    values = card[card.published.notna()]
    gaps = 100 * (values.published / values.ours - 1)
    agree = (values.verdict == REPRODUCED).sum()
    lines = (f"{agree} of {len(values)} published transition values agree with ours within the errors; they lie "
             f"{gaps.max():+.1f} to {gaps.min():+.1f} % from ours.\n\n") if len(values) else ""  # fmt: skip
    return f"""# Scorecard

{lines}Every verdict is computed from the tables. A published number, read from the authors' plotting code, is
*reproduced* where it agrees with ours within three of our error bars and half a unit of its last digit, *reproduced
with a correction* where it lies within 7 % of ours (a limit chosen after the fact), else *not reproduced*. A statement
is *reproduced* where it holds at every point tested, one on means of runs where it holds at 95 % of them, *with a
correction* where it holds at 80 %; that two minima exist, where they do at one α at least; an approach to theory, where
the power of d is negative by three of its errors. 5/d of the value is granted to unknown terms of order 1/d. The claims
are in the words of this project.

## Claims of {CITATION} and of its figures

{_table(card[card.section == PAPER])}

## Checks of our own, of theory against runs and of what the paper does not show

{_table(card[card.section == OWN])}
"""


def _table(rows: pd.DataFrame) -> str:
    shown = rows.assign(published=rows.published.map(_number), ours=[_ours(r) for r in rows.itertuples()])[SHOWN]
    counts = rows.verdict.str.split(" (", regex=False).str[0].value_counts()
    total = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"{total}.\n\n{shown.to_markdown(index=False, disable_numparse=True)}"


def _ours(row) -> str:
    """A value with its error, or at how many of the points a statement holds."""
    if np.isfinite(row.error):
        return f"{_number(row.ours, row.error)} ± {row.error:.1g}"
    return f"{round(row.ours * row.points)} of {row.points}" if np.isfinite(row.ours) else ""


def _number(value: float, error: float = np.nan) -> str:
    if not np.isfinite(value):
        return ""
    if np.isfinite(error) and error > 0:
        return f"{value:.{max(0, min(6, -int(np.floor(np.log10(error)))))}f}"
    return f"{value:.4g}"


if __name__ == "__main__":
    run(main)
