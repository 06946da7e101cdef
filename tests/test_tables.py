"""Tables: complete or absent, checked both ways, sorted, equal bytes for equal content."""

import time

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from schemas.linear import LINEAR
from tables import complete_file, description_of, read_table, write_table

from solvable_attention.errors import ArgumentError


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "experiment": "slice",
            "d": 100,
            "alpha": [2.0, 1.0],
            "omega": 0.3,
            "sigma": 0.5,
            "lam": 0.01,
            "seed": [0, 1],
            "test_error": [0.001, 0.002],
            "theory_test_error": 0.002,
        }
    )


def write(frame, path):
    write_table(frame, LINEAR, path, time.perf_counter(), {"argument": 1})


def test_written_table_is_sorted_and_described(frame, tmp_path):
    path = tmp_path / "new" / "linear.parquet"
    write(frame, path)
    assert list(read_table(LINEAR, path).alpha) == [1.0, 2.0]
    assert set(description_of(path)) == {"made_from", "version", "seconds"}
    assert not [p for p in path.parent.iterdir() if p != path]


def test_equal_rows_in_any_order_give_equal_bytes(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("tables.time.perf_counter", lambda: 1.0)
    write(frame, tmp_path / "a.parquet")
    write(frame[::-1][sorted(frame)], tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f.drop(columns="seed"),
        lambda f: f.assign(extra=1.0),
        lambda f: f.assign(omega=1.3),
        lambda f: f.assign(test_error=np.nan),
        lambda f: f.assign(alpha=1.0, seed=0),
        lambda f: f.assign(d=100.5),
    ],
    ids=["missing column", "unknown column", "range", "NaN", "repeated key", "type"],
)
def test_a_table_that_does_not_fit_is_neither_written_nor_read(spoil, frame, tmp_path):
    path = tmp_path / "linear.parquet"
    with pytest.raises(ArgumentError, match="not a table of linear") as refusal:
        write(spoil(frame), path)
    assert not list(tmp_path.iterdir()) and "\n" not in str(refusal.value)
    spoil(frame).to_parquet(path)
    with pytest.raises(ArgumentError, match=r"linear\.parquet"):
        read_table(LINEAR, path)


@pytest.mark.parametrize("content", [b"", b"PAR1 half a table"])
def test_a_broken_file_is_named_with_the_way_out(content, tmp_path):
    path = tmp_path / "linear.parquet"
    path.write_bytes(content)
    with pytest.raises(ArgumentError, match=r"linear\.parquet: cannot be read as parquet .*delete it"):
        read_table(LINEAR, path)


def test_a_failure_while_writing_keeps_the_old_file(tmp_path):
    path = tmp_path / "figure.txt"
    path.write_text("old")

    def fail():
        with complete_file(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_metadata_keep_pandas_types(frame, tmp_path):
    write(frame, tmp_path / "linear.parquet")
    assert b"pandas" in parquet.read_schema(tmp_path / "linear.parquet").metadata


def test_a_table_from_elsewhere_has_no_description(frame, tmp_path):
    frame.to_parquet(tmp_path / "foreign.parquet")
    with pytest.raises(ArgumentError, match="was not written by this program"):
        description_of(tmp_path / "foreign.parquet")
