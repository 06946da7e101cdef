"""The pipeline from end to end at a tiny size, and what a change re-runs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("Snakefile", "config.yaml", "workflow", "scripts", "src", "envs", "profiles")
TABLES = (
    *("theory/fixed_points", "theory/transitions", "theory/scan", "simulations/runs", "simulations/crossings"),
    *("simulations/landscape", "baseline/linear", "scorecard"),
)
DRAWN = (
    *("figure2", "figure3", "figure3_maps", "transition_lines", "sweeps", "sizes", "basins", "positional_minima"),
    *("second_A", "rank2", "landscape"),
)
COUNTED = ("curves", "accuracies", "distances", "attention")
FIGURES = [
    *(f"{name}.{suffix}" for name in DRAWN for suffix in ("pdf", "png", "md")),
    *("agreement.md", "sweeps_agreement.md", "scorecard.md"),
]
# Branches of slice, diagram, scaling, three sweeps, positional_minima and second_A; data sets of slice, scaling,
# and the ten other experiments with simulations, three of them sweeps.
THEORY_JOBS, SIMULATION_JOBS = 3 + 2 + 2 + 3 * 2 + 1 + 2, 2 + 1 + 13


class Pipeline:
    """A copy of the project in a folder of its own, run with the tiny overlay."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for name in PARTS:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy(source, target)
        self.overlay = yaml.safe_load((ROOT / "tests/tiny.yaml").read_text(encoding="utf-8"))

    def run(self, *arguments, overlay=None, jobs=2):
        (self.folder / "tiny.yaml").write_text(yaml.safe_dump(overlay or self.overlay), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", *arguments, "-j", str(jobs), "--configfile", "tiny.yaml"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def planned(self, overlay=None) -> dict[str, int]:
        """Jobs of each rule that a dry run announces."""
        result = self.run("-n", overlay=overlay)
        assert result.returncode == 0, result.stdout + result.stderr
        report = result.stdout + result.stderr
        if "Nothing to be done" in report:
            return {}
        table = report.split("Job stats:")[1].split("\n\n")[0]
        return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", table, flags=re.M) if rule != "total"}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    made = Pipeline(tmp_path_factory.mktemp("project"))
    result = made.run()
    assert result.returncode == 0, result.stdout + result.stderr
    return made


def test_every_table_and_figure_is_made_and_nothing_is_left_to_do(pipeline):
    for table in TABLES:
        assert len(pd.read_parquet(pipeline.folder / "results" / f"{table}.parquet"))
    for figure in FIGURES:
        assert (pipeline.folder / "paper_figures" / figure).stat().st_size > 0
    assert pipeline.planned() == {}


def test_every_job_leaves_a_log_and_a_benchmark(pipeline):
    parts = list((pipeline.folder / "results").rglob("*.parquet"))
    logs = pipeline.folder / "logs"
    for part in parts:
        base = logs / part.relative_to(pipeline.folder).with_suffix("")
        assert Path(f"{base}.log").is_file() and Path(f"{base}.benchmark.tsv").is_file()


def test_runs_table_holds_the_grid(pipeline):
    runs = pd.read_parquet(pipeline.folder / "results/simulations/runs.parquet")
    sizes = {
        **{"slice": 12, "restarts": 4, "descent": 4, "diagram": 16, "scaling": 18, "basins": 4},
        **{"sweep_omega": 6, "sweep_sigma": 6, "sweep_lam": 6, "random_adam": 2, "random_descent": 2},
        **{"positional_minima": 4, "second_A": 16, "rank2": 8, "rank1": 8},
    }
    assert runs.groupby("experiment").size().to_dict() == sizes
    paired = runs[runs.experiment == "slice"].groupby(["alpha", "seed"]).start.apply(set)
    assert (paired == {"positional", "semantic"}).all()


def test_counting_is_a_target_of_its_own(pipeline):
    result = pipeline.run("counting")
    assert result.returncode == 0, result.stdout + result.stderr
    folder = pipeline.folder / "results/counting"
    curves, accuracies, distances, attention = (pd.read_parquet(folder / f"{name}.parquet") for name in COUNTED)
    assert len(curves) == 2 * (3 * 3 + 2 * 2) and len(accuracies) == len(distances) == 2 * 5
    assert len(attention) == 2 * 5 * 2 * 2 * 5 * 5
    sums = attention.groupby(["mechanism", "stage", "run", "when", "example", "query"]).attention.sum()
    assert sums.between(1 - 1e-5, 1 + 1e-5).all()
    last = curves[curves.epoch == curves.groupby("stage").epoch.transform("max")]
    ends = accuracies.merge(last, on=["mechanism", "stage", "run"], suffixes=("", "_of_curve"))
    assert (ends.validation_accuracy - ends.validation_accuracy_of_curve).abs().max() < 1e-9
    assert not list(folder.rglob("*.pt"))
    for name in ("attention", "curves", "second_stage", "shares"):
        for suffix in ("pdf", "png", "md"):
            assert (pipeline.folder / f"paper_figures/counting_{name}.{suffix}").stat().st_size > 0
    files = (pipeline.folder / f"paper_figures/counting.{suffix}" for suffix in ("md", "tex"))
    page, latex = (file.read_text(encoding="utf-8") for file in files)
    assert "validation accuracy, stage 1" in page and r"\begin{tabular}" in latex and r"$\pm$" in latex
    parts = [path.relative_to(pipeline.folder).with_suffix("") for path in folder.rglob("*.parquet")]
    assert all((pipeline.folder / "logs" / f"{part}.benchmark.tsv").is_file() for part in parts)
    again = pipeline.run("counting", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


def test_extensions_are_a_target_of_their_own(pipeline):
    folder = pipeline.folder / "results/extensions"
    assert not folder.exists()
    result = pipeline.run("extensions")
    assert result.returncode == 0, result.stdout + result.stderr
    rows = {"fixed_points": 2, "transitions": 1 + 2, "runs": 3 * 2 * 2 + 2 * 2 * 2 * 2}
    for name, expected in rows.items():
        assert len(pd.read_parquet(folder / f"{name}.parquet")) == expected, name
    assert "extension_agreement" not in pipeline.planned() and (folder / "agreement.parquet").is_file()
    for name in ("correlated", "correlation_line", "untied_diagram"):
        for suffix in ("pdf", "png", "md"):
            assert (pipeline.folder / f"paper_figures/extension_{name}.{suffix}").stat().st_size > 0
    assert "numbers agree" in (pipeline.folder / "paper_figures/scorecard_extensions.md").read_text(encoding="utf-8")
    again = pipeline.run("extensions", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


def test_touched_files_re_run_nothing(pipeline):
    for folder in ("scripts", "src"):
        for path in (pipeline.folder / folder).rglob("*.py"):
            path.touch()
    assert pipeline.planned() == {}


def test_an_edited_module_re_runs_what_uses_it(pipeline):
    module = pipeline.folder / "src/solvable_attention/root_finding.py"
    before = module.read_text(encoding="utf-8")
    module.write_text(before + "\n# edited\n", encoding="utf-8")
    planned = pipeline.planned()
    module.write_text(before, encoding="utf-8")
    assert planned["theory_branch"] == THEORY_JOBS and not {"simulate", "fit_baseline"} & set(planned)
    assert pipeline.planned() == {}


def test_a_changed_key_re_runs_what_depends_on_it(pipeline):
    overlay = yaml.safe_load(yaml.safe_dump(pipeline.overlay))
    overlay["experiments"]["descent"]["simulations"]["max_iterations"] = 30
    planned = pipeline.planned(overlay)
    assert planned["simulate"] == 1 and not {"theory_branch", "transitions", "fit_baseline"} & set(planned)
    overlay = yaml.safe_load(yaml.safe_dump(pipeline.overlay))
    for name in ("slice", "restarts", "descent", "random_adam", "random_descent", "basins"):
        overlay["experiments"][name]["omega"] = [0.4]
    planned = pipeline.planned(overlay)
    assert planned["simulate"] == 7 and planned["theory_branch"] == 3 and planned["fit_baseline"] == 1
    assert planned["transitions"] == 1 and "scan" not in planned


def test_a_further_seed_adds_only_its_own_jobs(pipeline):
    overlay = yaml.safe_load(yaml.safe_dump(pipeline.overlay))
    overlay["experiments"]["slice"]["simulations"]["seeds"] = 3
    assert pipeline.planned(overlay)["simulate"] == 1


def test_a_fresh_clone_with_committed_figures_computes_everything(pipeline, tmp_path):
    clone = Pipeline(tmp_path / "clone")
    shutil.copytree(pipeline.folder / "paper_figures", clone.folder / "paper_figures")
    planned = clone.planned()
    assert planned["simulate"] == SIMULATION_JOBS and planned["theory_branch"] == THEORY_JOBS
    assert all(planned[name] == 1 for name in (*DRAWN, "agreement", "sweeps_agreement", "scorecard"))


def test_tables_do_not_depend_on_the_number_of_jobs(pipeline):
    again = yaml.safe_load(yaml.safe_dump(pipeline.overlay)) | {"results": "again", "figures": "again/figures"}
    landscape = "again/simulations/landscape.parquet"
    result = pipeline.run("theory_map", "simulation_map", landscape, overlay=again, jobs=1)
    assert result.returncode == 0, result.stdout + result.stderr
    made = list((pipeline.folder / "again").rglob("*.parquet"))
    assert len(made) == 2 + 1 + 2
    for path in made:
        first = pd.read_parquet(pipeline.folder / "results" / path.relative_to(pipeline.folder / "again"))
        pd.testing.assert_frame_equal(first, pd.read_parquet(path), check_exact=True)


def test_figures_are_redrawn_from_the_tables_alone_with_equal_bytes(pipeline):
    folder, kept = pipeline.folder / "paper_figures", pipeline.folder / "kept"
    folder.rename(kept)
    assert set(pipeline.planned()) == {*DRAWN, "agreement", "sweeps_agreement", "scorecard", "all"}
    result = pipeline.run("paper_figures")
    assert result.returncode == 0, result.stdout + result.stderr
    for figure in FIGURES:
        assert (kept / figure).read_bytes() == (folder / figure).read_bytes(), figure


def test_a_misspelt_key_ends_in_one_line_before_any_work(pipeline):
    overlay = yaml.safe_load(yaml.safe_dump(pipeline.overlay))
    overlay["experiments"]["slice"]["omgea"] = [0.3]
    result = pipeline.run(overlay=overlay)
    assert result.returncode != 0 and "Traceback" not in result.stderr
    # Snakemake itself says which profile and configuration it read.
    words = ("Using workflow specific profile", "Config file")
    (line,) = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith(words)]
    assert "experiments.slice" in line and "omgea" in line and "omega" in line


def test_a_broken_part_is_named_with_the_way_out(pipeline):
    part = next((pipeline.folder / "results/baseline/parts").rglob("*.parquet"))
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    result = pipeline.run("results/baseline/linear.parquet")
    report = result.stdout + result.stderr
    part.write_bytes(whole)
    assert result.returncode != 0 and part.name in report and "delete it and run again" in report
    assert pipeline.run().returncode == 0
