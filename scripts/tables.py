"""The tables: their columns and ranges, and files that are complete or absent.

A table is checked when it is written and when it is read. Its metadata hold the hash of the arguments that made it, the
package's version and the seconds it took.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
import pyarrow as arrow
import pyarrow.parquet as parquet

from solvable_attention import __version__
from solvable_attention.errors import ArgumentError

_METADATA_KEY = b"solvable_attention"


def _number(low=None, high=None, nullable=False):
    checks = [pa.Check.ge(low)] if low is not None else []
    checks += [pa.Check.le(high)] if high is not None else []
    return pa.Column(float, checks, nullable=nullable)


def _count(least=0):
    return pa.Column("int64", pa.Check.ge(least))


_TASK = {"omega": _number(0, 1), "sigma": _number(0), "lam": _number(0)}
# A value that did not converge may be missing; `converged` says so.
_COLUMNS = {
    "fixed_points": {
        "experiment": pa.Column(str),
        "alpha": _number(0),
        **_TASK,
        "branch": pa.Column(str, pa.Check.isin(["semantic", "positional", "uninformative", "mixed"])),
        **{name: _number(nullable=True) for name in ("q", "m", "V", "theta", "train_loss", "test_error")},
        "residual": _number(0, nullable=True),
        "quadrature_error": _number(0, nullable=True),
        "converged": pa.Column(bool),
        "merged": pa.Column(bool),
        "two_well_weight": _number(0, 1, nullable=True),
        "train_loss_error": _number(0, nullable=True),
        "test_error_error": _number(0, nullable=True),
    },
    "transitions": {
        "experiment": pa.Column(str),
        **_TASK,
        "kind": pa.Column(str, pa.Check.isin(["alpha_c", "alpha_l"])),
        "alpha": _number(0, nullable=True),
        "error": _number(0, nullable=True),
    },
    "runs": {
        "experiment": pa.Column(str),
        "d": _count(1),
        "alpha": _number(0),
        "n": _count(1),
        **_TASK,
        "start": pa.Column(str),
        "restart": _count(),
        "optimizer": pa.Column(str, pa.Check.isin(["lbfgs", "gd", "adam"])),
        "seed": _count(),
        **{name: _number(0, nullable=True) for name in ("train_loss", "test_error", "m", "theta", "q")},
        "teacher_variance": _number(0),
        "grad_norm": _number(0, nullable=True),
        "iterations": _count(),
        "converged": pa.Column(bool),
    },
    "linear": {
        "experiment": pa.Column(str),
        "d": _count(1),
        "alpha": _number(0),
        **_TASK,
        "seed": _count(),
        "test_error": _number(0),
        "theory_test_error": _number(0),
    },
}
_KEYS = {
    "fixed_points": ["experiment", "omega", "sigma", "lam", "branch", "alpha"],
    "transitions": ["experiment", "omega", "sigma", "lam", "kind"],
    "runs": ["experiment", "d", "alpha", "omega", "sigma", "lam", "start", "restart", "optimizer", "seed"],
    "linear": ["experiment", "d", "alpha", "omega", "sigma", "lam", "seed"],
}
TABLES = tuple(_COLUMNS)


def check_table(frame: pd.DataFrame, table: str, where: str) -> pd.DataFrame:
    """The frame with its columns in order, rows sorted by their key; ArgumentError unless it fits the schema."""
    wrong = sorted(set(frame.columns) ^ set(_COLUMNS[table]))
    if wrong:
        raise ArgumentError(f"{where}: is not a table of {table}: column {wrong[0]!r} is missing or unknown")
    schema = pa.DataFrameSchema(_COLUMNS[table], strict=True, unique=_KEYS[table])
    try:
        schema.validate(frame, lazy=True)
    except pa.errors.SchemaErrors as errors:
        first = errors.failure_cases.iloc[0]
        reason = f"column {first.column or first.failure_case!r} fails {first.check} with {first.failure_case}"
        raise ArgumentError(f"{where}: is not a table of {table}: {reason}") from None
    return frame[list(_COLUMNS[table])].sort_values(_KEYS[table], ignore_index=True)


def write_table(frame: pd.DataFrame, table: str, path: str | Path, started: float, made_from: dict) -> None:
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


def read_table(table: str, path: str | Path) -> pd.DataFrame:
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
