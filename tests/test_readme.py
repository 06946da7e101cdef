"""What the README says about files and columns is what the code has."""

import re
from pathlib import Path

import yaml
from schemas.counting_accuracies import COUNTING_ACCURACIES
from schemas.counting_attention import COUNTING_ATTENTION
from schemas.counting_curves import COUNTING_CURVES
from schemas.counting_distances import COUNTING_DISTANCES
from schemas.landscape import LANDSCAPE
from schemas.scorecard import SCORECARD
from scorecard import TABLES

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


COUNTING = (COUNTING_CURVES, COUNTING_ACCURACIES, COUNTING_DISTANCES, COUNTING_ATTENTION)
TABLES = {**TABLES, "scorecard": SCORECARD, "landscape": LANDSCAPE, **{table.name: table for table in COUNTING}}


def test_columns_are_those_of_the_schemas():
    rows = dict(re.findall(r"\| results/(?:\w+/)?(\w+)\.parquet \|[^|]*\| ([\w ]+) \|", TEXT))
    assert {name: columns.split() for name, columns in rows.items()} == {
        table.name: list(table.columns) for table in TABLES.values()
    }


def test_no_placeholder_is_left():
    assert not re.search(r"@[A-Z]", TEXT)


def test_linked_files_exist():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT)
    assert links and all((ROOT / link).exists() for link in links)


def test_named_overlays_and_targets_exist():
    for path in re.findall(r"workflow/config/\w+\.yaml", TEXT):
        assert yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    files = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    rules = "".join(path.read_text(encoding="utf-8") for path in files)
    for target in ("all", "paper_figures", "theory", "simulations", "baseline", "counting"):
        assert f"`{target}`" in TEXT and f"rule {target}:" in rules
