"""One sorted table from the parts that jobs wrote."""

import time

import click
import pandas as pd
from cli import run
from schemas.counting_curves import COUNTING_CURVES
from schemas.fixed_points import FIXED_POINTS
from schemas.landscape import LANDSCAPE
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.scan import SCAN
from schemas.transitions import TRANSITIONS
from tables import description_of, read_table, write_table

from solvable_attention.errors import ArgumentError

TABLES = {table.name: table for table in (COUNTING_CURVES, FIXED_POINTS, LANDSCAPE, LINEAR, RUNS, SCAN, TRANSITIONS)}


@click.command(help=__doc__)
@click.option("--table", type=click.Choice(list(TABLES)), required=True)
@click.option("--rows", type=int, help="Rows that the grid has; anything else is an error.  [default: any]")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
@click.argument("parts", nargs=-1, required=True, type=click.Path())
def main(table, rows, output, parts):
    started = time.perf_counter()
    frame = pd.concat([read_table(TABLES[table], part) for part in parts], ignore_index=True)
    if rows is not None and len(frame) != rows:
        raise ArgumentError(f"{output}: the parts hold {len(frame)} rows, allowed for this grid is {rows}")
    write_table(frame, TABLES[table], output, started, {part: description_of(part)["made_from"] for part in parts})


if __name__ == "__main__":
    run(main)
