"""One sorted table from the parts that jobs wrote."""

import time

import click
import pandas as pd
from cli import run
from tables import TABLES, description_of, read_table, write_table

from solvable_attention.errors import ArgumentError


@click.command(help=__doc__)
@click.option("--table", type=click.Choice(TABLES), required=True)
@click.option("--rows", type=int, required=True, help="Rows that the grid has; anything else is an error.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
@click.argument("parts", nargs=-1, required=True, type=click.Path())
def main(table, rows, output, parts):
    started = time.perf_counter()
    frame = pd.concat([read_table(table, part) for part in parts], ignore_index=True)
    if len(frame) != rows:
        raise ArgumentError(f"{output}: the parts hold {len(frame)} rows, allowed for this grid is {rows}")
    write_table(frame, table, output, started, {part: description_of(part)["made_from"] for part in parts})


if __name__ == "__main__":
    run(main)
