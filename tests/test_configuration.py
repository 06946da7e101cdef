"""config.yaml: refused in one line that names key, value and what is allowed."""

import copy
from pathlib import Path

import pytest
import yaml
from code_files import code_files
from configuration import ConfigError, check, task_options
from grids import grid, task_grid

from solvable_attention.spectrum import two_level
from solvable_attention.task import TeacherStudent

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def config():
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def change(config, path, value):
    """The config with the value at a dotted path set; a missing last key is added."""
    changed = copy.deepcopy(config)
    *folders, last = path.split(".")
    target = changed
    for key in folders:
        target = target[int(key) if key.isdigit() else key]
    target[int(last) if last.isdigit() else last] = value
    return changed


def merged(base, overlay):
    """What Snakemake makes of --configfile: mappings merge, everything else is replaced."""
    result = dict(base)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        result[key] = merged(base[key], value) if both else value
    return result


def test_shipped_configurations_are_accepted(config):
    check(config)
    for overlay in (ROOT / "workflow" / "config").glob("*.yaml"):
        check(merged(config, yaml.safe_load(overlay.read_text(encoding="utf-8"))))


def test_paper_overlay_has_the_papers_grid_in_its_descent(config):
    overlay = yaml.safe_load((ROOT / "workflow/config/paper.yaml").read_text(encoding="utf-8"))
    paper = merged(config, overlay)["experiments"]
    assert paper["slice"]["simulations"]["seeds"] == paper["descent"]["simulations"]["seeds"] == 24
    assert grid(paper["descent"]["simulations"]["alphas"]) == grid(paper["slice"]["simulations"]["alphas"])


def test_a_spectrum_reaches_the_task_as_its_pairs(config):
    experiment = config["experiments"]["lines"] | {"spectrum": {"two_level": {"ratio": 4, "share": 0.3}}}
    task = TeacherStudent(0.3, **task_options(experiment))
    assert task.spectrum == two_level(4, 0.3)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("experiments.slice.omgea", [0.3], ["experiments.slice", "omgea", "omega"]),
        ("sed", 1, ["top level", "sed", "seed"]),
        ("experiments.slice.omega", [1.3], ["experiments.slice.omega[0]", "1.3", "[0, 1]"]),
        ("experiments.slice.omega", [float("nan")], ["experiments.slice", "omega", "nan"]),
        ("experiments.slice.lam", [-0.01], ["experiments.slice.lam[0]", "-0.01", "positive"]),
        ("experiments.slice.lam", ["1e400"], ["experiments.slice.lam[0]", "1e400", "positive"]),
        ("experiments.slice.A", [[0.6, 0.5], [0.4, 0.6]], ["experiments.slice.A", "0.5", "sum to 1"]),
        ("experiments.slice.covariance", [[0.25, 0, 0], [0, 0.25, 0]], ["slice.covariance", "2 × 2"]),
        ("experiments.slice.theory.alphas", [], ["slice.theory.alphas", "[]", "at least one"]),
        ("experiments.slice.theory.alphas", "all", ["slice.theory.alphas", "all", "list of positive numbers"]),
        ("experiments.slice.theory.alphas.stop", 0.001, ["slice.theory.alphas.stop", "0.001", "start 0.01"]),
        ("experiments.slice.baseline.d", [10], ["slice.baseline.alphas", "0.01", "d = 10", "n = αd"]),
        ("experiments.slice.theory.alphas.start", 0, ["slice.theory.alphas.start", "is 0", "positive"]),
        ("experiments.slice.theory.alphas.points", 10**9, ["slice.theory.alphas.points", "1000000000", "10000"]),
        ("experiments.slice.simulations.d", [0], ["slice.simulations.d[0]", "is 0", "≥ 1"]),
        ("experiments.slice.simulations.starts", ["lexical"], ["slice.simulations.starts[0]", "lexical", "semantic"]),
        ("experiments.slice.theory.branches", ["lexical"], ["slice.theory.branches[0]", "lexical", "positional"]),
        ("experiments.slice.simulations.optimizer", "sgd", ["simulations.optimizer", "sgd", "lbfgs"]),
        ("experiments.slice.simulations.seeds", 0, ["simulations.seeds", "is 0", "≥ 1"]),
        ("experiments.slice.simulations.seeds", 1.5, ["simulations.seeds", "1.5", "whole number"]),
        ("experiments.../../evil", "the descent", ["experiments", "letters"]),
        ("results", "../elsewhere", ["results", "../elsewhere", "relative folder"]),
        ("results", "/etc", ["results", "/etc", "relative folder"]),
        ("seed", -1, ["seed", "-1", "[0, 2^32)"]),
        ("device", "tpu", ["device", "tpu", "cpu or cuda"]),
        ("figure2.slice", "none", ["figure2.slice", "none", "slice, restarts, descent"]),
        ("figure2.slice", "descent", ["figure2.slice", "descent", "part theory"]),
        ("experiments.slice.theory.branches", ["semantic"], ["slice.theory.branches", "semantic and positional"]),
        ("experiments.descent.omega", [0.3, 0.4], ["descent.omega", "[0.3, 0.4]", "[0.3]"]),
        ("experiments.descent.simulations.d", [500], ["descent.simulations.d", "500", "one value"]),
        ("experiments.restarts.simulations.alphas", [0.7], ["restarts.simulations.alphas", "0.7", "slice"]),
        ("experiments.slice.simulations.alphas.stop", float("inf"), ["simulations.alphas.stop", "inf", "finite"]),
        ("experiments.slice.simulations.seeds", 24.0, ["simulations.seeds", "24.0", "whole number"]),
        ("experiments.slice.simulations.restarts", 3, ["slice.simulations.restarts", "no effect", "random"]),
        ("experiments.slice.lam", [0.0123456789], ["slice.lam", "0.0123456789", "6 digits"]),
        ("experiments.lines.sigma", [1.0], ["lines.sigma", "[1.0]", "[0.5]", "figure 3"]),
        ("experiments.diagram.A", [[0.3, 0.7], [0.8, 0.2]], ["A", "0.3", "figure 3"]),
        ("experiments.diagram.simulations.optimizer", "gd", ["diagram.simulations.optimizer", "gd", "lbfgs"]),
        ("figure3.lines", "none", ["figure3.lines", "none", "lines"]),
        ("figure3.census", "slice", ["figure3.census", "slice", "part scan"]),
        ("experiments.lines.activation", "relu", ["lines.activation", "relu", "softmax, linear, linearised"]),
        ("experiments.lines.spectrum", {"flat": 1}, ["lines.spectrum", "unknown key 'flat'", "two_level"]),
        ("experiments.lines.spectrum", {}, ["lines.spectrum", "is {}", "power_law"]),
        ("experiments.lines.spectrum", {"two_level": {"ratio": 2, "share": 1}}, ["two_level.share", "is 1", "(0, 1)"]),
        (
            "experiments.lines.spectrum",
            {"power_law": {"exponent": 0.5, "levels": 8.0}},
            ["power_law.levels", "8.0", "whole number"],
        ),
        ("figure3.bootstrap", 0, ["figure3.bootstrap", "is 0", "≥ 1"]),
        ("experiments.diagram.simulations.starts", ["semantic"], ["diagram.simulations.starts", "positional"]),
        ("experiments.diagram.baseline.seeds", 3, ["diagram.baseline.seeds", "is 3", "8"]),
        ("experiments.diagram.theory.alphas", [1.0, 2.0], ["diagram.theory.alphas", "same grid"]),
        ("experiments.diagram.simulations.seeds", 1, ["diagram.simulations.seeds", "is 1", "≥ 2"]),
        ("experiments.scaling.omega", [0.3, 0.4], ["scaling.omega", "one value"]),
        ("experiments.lines.omega", [0.3], ["lines.omega", "two values"]),
        ("experiments.lines.transitions.kinds", ["alpha_c"], ["lines.transitions.kinds", "alpha_l"]),
        ("omegas_per_job", 0, ["omegas_per_job", "is 0", "≥ 1"]),
        ("experiments.lines.transitions.kinds", [], ["lines.transitions.kinds", "at least one kind"]),
        ("experiments.lines.transitions.kinds", ["alpha_x"], ["transitions.kinds[0]", "alpha_x", "alpha_c, alpha_m"]),
        ("experiments.slice.transitions.kinds", ["alpha_c"] * 2, ["slice.transitions.kinds", "at least one kind"]),
        ("experiments.lines.transitions.low", 0, ["lines.transitions.low", "is 0", "positive"]),
        ("experiments.lines.transitions.high", 0.02, ["lines.transitions.high", "is 0.02", "> low 0.02"]),
        ("experiments.lines.transitions.alphas", [1.0], ["lines.transitions", "unknown key 'alphas'", "high"]),
        ("experiments.census.scan.random_starts", 0, ["census.scan.random_starts", "is 0", "≥ 1"]),
        ("experiments.census.scan.random_starts", 4.0, ["census.scan.random_starts", "4.0", "whole number"]),
        ("experiments.census.scan.alphas", [-1.0], ["census.scan.alphas[0]", "-1.0", "positive"]),
        ("experiments.census.scan.alphas.start", 3.0, ["census.scan.alphas.stop", "is 2.0", "start 3.0"]),
        ("experiments.diagram.omega.start", 0.6, ["diagram.omega.stop", "is 0.5", "start 0.6"]),
        ("experiments.diagram.omega.stop", 1.2, ["diagram.omega.stop", "1.2", "[0, 1]"]),
        ("experiments.diagram.omega.points", 2.5, ["diagram.omega.points", "2.5", "whole number"]),
        ("experiments.diagram.omega.also", [1.5], ["diagram.omega.also[0]", "1.5", "[0, 1]"]),
        ("experiments.basins.simulations.random_std", [], ["basins.simulations.random_std", "at least one"]),
        ("experiments.slice.simulations.random_std", [0.1], ["slice.simulations.random_std", "random"]),
        ("experiments.slice.simulations.alphas_per_job", 0, ["slice.simulations.alphas_per_job", "is 0", "≥ 1"]),
        ("experiments.landscape.landscape.points", 2, ["landscape.landscape.points", "is 2", "odd", "[3, 1001]"]),
        ("experiments.landscape.landscape.alphas", [1e-6], ["landscape.landscape.alphas", "d = 1000", "n = αd"]),
        ("appendix.sweeps.sigma", "none", ["appendix.sweeps.sigma", "none", "slice"]),
        ("appendix.sweeps.sigma", "rank2", ["appendix.sweeps.sigma", "rank2", "part theory"]),
        ("appendix.sweep", {}, ["appendix", "unknown key 'sweep'", "sweeps"]),
        ("experiments.sweep_sigma.omega", [0.2, 0.3], ["sweep_sigma.omega", "[0.2, 0.3]", "appendix.sweeps.sigma"]),
        ("experiments.sweep_lam.simulations.starts", ["noisy_positional"], ["lam.simulations.starts", "semantic"]),
        ("experiments.sweep_omega.theory.alphas", [1.0], ["sweep_omega.theory.alphas", "all α of the runs"]),
        ("experiments.basins.simulations.starts", ["random", "semantic"], ["basins.simulations.starts", "alone"]),
        ("experiments.random_adam.lam", [0.1], ["random_adam.lam", "[0.1]", "[0.01]", "descent"]),
        ("experiments.rank2.baseline.seeds", 2, ["rank2.baseline", "seeds as in simulations"]),
        ("experiments.rank2.rank", 1, ["experiments.rank2", "rank 1", "rank 2, tied"]),
        ("experiments.rank1.simulations.seeds", 1, ["rank1.simulations.seeds", "is 1", "≥ 2"]),
        ("experiments.random_adam.simulations.restarts", 2, ["random_adam.simulations.restarts", "is 2", "is 1"]),
        ("experiments.random_adam.simulations.random_std", [0.1, 0.2], ["random_adam.simulations", "one value"]),
        ("experiments.random_descent.simulations.seeds", 3, ["random_descent.simulations.seeds", "random_adam"]),
        ("experiments.random_descent.simulations.alphas", [1.0], ["random_descent.simulations.alphas", "without 2"]),
        ("experiments.sweep_sigma.A", [[0.9, 0.1], [0.1, 0.9]], ["sweep_sigma.A", "0.9", "sweep_omega"]),
        ("experiments.sweep_sigma.simulations.d", [500], ["sweep_sigma.simulations.d", "[500]", "sweep_omega"]),
        ("experiments.basins.simulations.optimizer", "gd", ["basins.simulations.optimizer", "gd", "lbfgs"]),
        ("experiments.rank1.omega", [0.3], ["rank1.omega", "two values"]),
        ("experiments.second_A_lines.transitions.kinds", ["alpha_c"], ["second_A_lines.transitions.kinds", "alpha_l"]),
        ("experiments.scaling.simulations.sizes_per_job", 0, ["scaling.simulations.sizes_per_job", "is 0", "≥ 1"]),
        ("counting.width", 7, ["counting.width", "is 7", "even"]),
        ("counting.letters", 1, ["counting.letters", "is 1", "[2, 1000]"]),
        ("counting.sequences", 50000.0, ["counting.sequences", "50000.0", "whole number"]),
        ("counting.train_share", 1, ["counting.train_share", "is 1", "(0, 1)"]),
        ("counting.first.optimizer", "lbfgs", ["counting.first.optimizer", "lbfgs", "adam or sgd"]),
        ("counting.first.noise", 0.1, ["counting.first.noise", "no effect", "counting.second"]),
        ("counting.second.noise", -0.1, ["counting.second.noise", "-0.1", "≥ 0"]),
        ("counting.examples", [[0] * 9], ["counting.examples[0]", "list of 10 letters 0 to 14"]),
        ("counting.examples", [[15] * 10], ["counting.examples[0]", "15", "0 to 14"]),
        ("counting.epochs", 3, ["counting", "unknown key 'epochs'", "first"]),
        ("experiments.empty", {"omega": [0.3], "sigma": [0.5], "lam": [0.01]}, ["experiments.empty", "theory"]),
    ],
)
def test_bad_values_are_named_in_one_line(config, path, value, words):
    if path.startswith("experiments.../"):
        changed = copy.deepcopy(config)
        changed["experiments"]["../../evil"] = changed["experiments"]["descent"]
    else:
        changed = change(config, path, value)
    with pytest.raises(ConfigError) as refusal:
        check(changed)
    message = str(refusal.value)
    assert "\n" not in message and ("allowed" in message)
    for word in words:
        assert word in message, message


def test_a_missing_key_is_named(config):
    del config["experiments"]["slice"]["omega"]
    with pytest.raises(ConfigError, match=r"experiments\.slice: lacks the key 'omega'"):
        check(config)


def test_grid_is_sorted_rounded_and_without_repeats():
    points = grid({"start": 0.01, "stop": 2.0, "points": 25, "also": [1.5, 0.01]})
    assert points == sorted(set(points)) and len(points) == 26 and points[1] == 0.0929167
    assert grid([2, 0.5, 0.1 + 0.2]) == [0.3, 0.5, 2.0]


def test_task_grid_holds_every_combination():
    assert task_grid({"omega": [0, 1], "sigma": [0.5], "lam": [1, 2]}) == [
        (0.0, 0.5, 1.0), (0.0, 0.5, 2.0), (1.0, 0.5, 1.0), (1.0, 0.5, 2.0)
    ]  # fmt: skip
    assert task_grid({"omega": {"start": 0, "stop": 0.5, "points": 3}, "sigma": [0.5], "lam": [1]}) == [
        (0.0, 0.5, 1.0), (0.25, 0.5, 1.0), (0.5, 0.5, 1.0)
    ]  # fmt: skip


def test_code_files_follow_imports_and_stop_there(monkeypatch):
    monkeypatch.chdir(ROOT)
    theory = set(code_files("scripts/theory_fixed_points.py"))
    assert {"scripts/cli.py", "scripts/tables.py", "src/solvable_attention/pair_channel.py"} <= theory
    assert "src/solvable_attention/__init__.py" in theory
    assert not any("simulation" in path for path in theory)
    simulation = set(code_files("scripts/gd_simulations.py"))
    assert "src/solvable_attention/simulation/risk.py" in simulation
    assert "src/solvable_attention/fixed_points.py" not in simulation
