"""The command-line programs on their own: help, one-line refusals, one complete table."""

import subprocess
import sys
from pathlib import Path

import pytest
from schemas.linear import LINEAR
from tables import read_table

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted(p.name for p in (ROOT / "scripts").glob("*.py") if "__main__" in p.read_text(encoding="utf-8"))
TASK = ["--experiment", "x", "--omega", "0.3", "--sigma", "0.5", "--lam", "0.01"]
RUN = ["--d", "30", "--alpha", "1", "--seed", "0", "--start", "semantic"]


def call(script, *arguments):
    command = [sys.executable, str(ROOT / "scripts" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "src")}, check=False)


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_tells_what_the_program_does(script):
    result = call(script, "--help")
    assert result.returncode == 0 and any(f"--{name} " in result.stdout for name in ("output", "png", "curves"))


@pytest.mark.parametrize(
    ("script", "arguments", "words"),
    [
        ("theory_fixed_points.py", [*TASK, "--branch", "semantic", "--alpha", "-1"], ["alpha", "-1", "positive"]),
        ("theory_fixed_points.py", [*TASK, "--branch", "lexical", "--alpha", "1"], ["branch", "lexical", "semantic"]),
        ("theory_fixed_points.py", [*TASK, "--omega", "1.3", "--branch", "semantic", "--alpha", "1"], ["omega", "1.3"]),
        ("gd_simulations.py", [*TASK, *RUN, "--d", "0"], ["d: is 0", "allowed"]),
        ("gd_simulations.py", [*TASK, *RUN, "--start", "lexical"], ["start", "lexical", "allowed"]),
        ("gd_simulations.py", [*TASK, *RUN, "--optimizer", "sgd"], ["optimizer", "sgd", "lbfgs"]),
        ("gd_simulations.py", [*TASK, *RUN, "--seed", "-1"], ["seed", "-1", "allowed"]),
        ("gd_simulations.py", [*TASK, *RUN, "--A", "[[1,0]]"], ["A", "2 × 2"]),
        ("gd_simulations.py", [*TASK, *RUN, "--A", "half"], ["A", "half", "list of rows"]),
        ("linear_baseline.py", [*TASK, "--d", "30", "--alpha", "1", "--seed", "0", "--ridge", "-1"], ["ridge", "-1"]),
    ],
)
def test_bad_arguments_end_in_one_line(script, arguments, words, tmp_path):
    result = call(script, *arguments, "--output", tmp_path / "table.parquet")
    assert result.returncode != 0 and not list(tmp_path.iterdir())
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0]


def test_a_missing_input_is_named(tmp_path):
    options = ("--table", "runs", "--rows", 1, "--output", tmp_path / "table.parquet")
    result = call("gather_tables.py", *options, "none.parquet")
    assert result.returncode != 0 and "none.parquet" in result.stderr and "Traceback" not in result.stderr


def test_gather_counts_rows(tmp_path):
    part, table = tmp_path / "part.parquet", tmp_path / "table.parquet"
    grid = ("--d", 40, "--alpha", 1, "--seed", 0, "--seed", 1)
    assert call("linear_baseline.py", *TASK, *grid, "--output", part).returncode == 0
    result = call("gather_tables.py", "--table", "linear", "--rows", 3, "--output", table, part)
    assert result.returncode != 0 and "2 rows" in result.stderr and not table.exists()
    assert call("gather_tables.py", "--table", "linear", "--rows", 2, "--output", table, part).returncode == 0
    assert len(read_table(LINEAR, table)) == 2
