"""The tables: their columns and ranges, and files that are complete or absent.

What a table holds is said in schemas/, one file each, so that a new table touches nothing else. A table is checked when
it is written and when it is read. Its metadata hold the hash of the arguments that made it, the
package's version and the seconds it took.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
import pyarrow as arrow
import pyarrow.parquet as parquet

from solvable_attention import __version__
from solvable_attention.errors import ArgumentError

_METADATA_KEY = b"solvable_attention"


@dataclass(frozen=True, eq=False)
class Table:
    """name, columns (pandera, in order) and key (the columns that name a row and order the table)."""

    name: str
    columns: dict[str, pa.Column]
    key: list[str]


def number(low: float | None = None, high: float | None = None, nullable: bool = False) -> pa.Column:
    """A column of floats in [low, high]; nullable where a value that did not converge may be missing."""
    checks = [pa.Check.ge(low)] if low is not None else []
    checks += [pa.Check.le(high)] if high is not None else []
    return pa.Column(float, checks, nullable=nullable)


def count(least: int = 0) -> pa.Column:
    """A column of whole numbers ≥ least."""
    return pa.Column("int64", pa.Check.ge(least))


def one_of(values: Iterable[str]) -> pa.Column:
    """A column of words from a list."""
    return pa.Column(str, pa.Check.isin(list(values)))


def task_columns() -> dict[str, pa.Column]:
    """experiment, omega, sigma and lam, which every table of results has."""
    return {"experiment": pa.Column(str), "omega": number(0, 1), "sigma": number(0), "lam": number(0)}


def check_table(frame: pd.DataFrame, table: Table, where: str) -> pd.DataFrame:
    """The frame with its columns in order, rows sorted by their key; ArgumentError unless it fits the schema."""
    wrong = sorted(set(frame.columns) ^ set(table.columns))
    if wrong:
        raise ArgumentError(f"{where}: is not a table of {table.name}: column {wrong[0]!r} is missing or unknown")
    schema = pa.DataFrameSchema(table.columns, strict=True, unique=table.key)
    try:
        schema.validate(frame, lazy=True)
    except pa.errors.SchemaErrors as errors:
        first = errors.failure_cases.iloc[0]
        reason = f"column {first.column or first.failure_case!r} fails {first.check} with {first.failure_case}"
        raise ArgumentError(f"{where}: is not a table of {table.name}: {reason}") from None
    return frame[list(table.columns)].sort_values(table.key, ignore_index=True)


def write_table(frame: pd.DataFrame, table: Table, path: str | Path, started: float, made_from: dict) -> None:
    """Check, sort and write a table. The file appears complete or not at all.

    started : time.perf_counter() at the start of the work; made_from : the arguments that determine the table.
    """
    frame = check_table(frame, table, str(path))
    description = {
        "made_from": hashlib.sha256(json.dumps(made_from, sort_keys=True, default=str).encode()).hexdigest()[:16],
        "version": __version__,
        "seconds": round(time.perf_counter() - started, 3),
    }
    columns = arrow.Table.from_pandas(frame, preserve_index=False)
    metadata = {**columns.schema.metadata, _METADATA_KEY: json.dumps(description).encode()}
    with complete_file(path) as temporary:
        parquet.write_table(columns.replace_schema_metadata(metadata), temporary)
    print(f"{path}: {len(frame)} rows in {description['seconds']:.1f} s", file=sys.stderr)


def read_table(table: Table, path: str | Path) -> pd.DataFrame:
    """Read and check a table. ArgumentError names the file when it is missing, broken or of another kind."""
    try:
        frame = pd.read_parquet(path)
    except (OSError, arrow.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise ArgumentError(f"{path}: cannot be read as parquet ({reason}); delete it and run again") from None
    return check_table(frame, table, str(path))


def description_of(path: str | Path) -> dict:
    """The metadata that `write_table` left: made_from, version, seconds; ArgumentError for a table from elsewhere."""
    metadata = parquet.read_schema(path).metadata or {}
    if _METADATA_KEY not in metadata:
        raise ArgumentError(f"{path}: was not written by this program; delete it and run again")
    return json.loads(metadata[_METADATA_KEY])


@contextmanager
def complete_file(path: str | Path) -> Iterator[Path]:
    """A temporary name beside `path`; the file moves to `path` once everything was written, and never half of it.

    The name is always the same, so that what a kill leaves behind is overwritten by the next run.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        yield temporary
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
