"""Checked configuration, names of files, and the arguments that scripts receive. No rules."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

# Jobs run the interpreter that runs Snakemake (conda, where used, comes before it) and import the package in src.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(workflow.basedir) / "src"), os.environ.get("PYTHONPATH")])
)
os.environ["MPLBACKEND"] = "Agg"
sys.path[:0] = [str(Path(workflow.basedir) / folder) for folder in ("src", "workflow")]

from code_files import code_files
from configuration import ConfigError, check, task_options
from extension_configuration import drawn_extensions
from grids import blocks, grid, task_grid, values

from solvable_attention.task import TeacherStudent

try:
    check(config)
except ConfigError as refusal:
    # Not an exception: the user reads one line, not a traceback.
    sys.exit(str(refusal))

RESULTS, FIGURES = config["results"], config["figures"]
EXPERIMENTS = config["experiments"]
EXTENSIONS = {name: config["extensions"][name] for name in drawn_extensions(config["extension_figures"])}
STUDIES = {**EXPERIMENTS, **EXTENSIONS}  # configuration refuses a name in both
ENVIRONMENT = "../../envs/environment.yaml"


def pick(names: dict, *keys: str) -> dict:
    """Some entries of a dictionary."""
    return {key: names[key] for key in keys}


def number(value) -> str:
    """A float as file names show it; the configuration holds no ω, σ, λ or α that this would round."""
    return f"{value:.6g}"


def alternatives(values) -> str:
    """Wildcard constraint: one of the values of the grid, so that a file off the grid has no rule."""
    return "|".join(sorted({re.escape(str(value)) for value in values})) or "none"


def arguments(**options) -> str:
    """Command-line options in a fixed order; a list repeats its option, None is left out."""
    words = []
    for name, value in options.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                words += [f"--{name.replace('_', '-')}", repr(item) if isinstance(item, float) else str(item)]
    return shlex.join(words)


def task_arguments(experiment: str, omegas, sigma, lams) -> str:
    """Options that describe the tasks: all combinations of omegas and lams at one sigma."""
    options = task_options(STUDIES[experiment])
    if "tied" in options:
        options["tied"] = str(options["tied"]).lower()
    matrices = {key: str(value).replace(" ", "") if isinstance(value, list) else value for key, value in options.items()}
    return arguments(experiment=experiment, omega=omegas, sigma=sigma, lam=lams, **matrices)


def with_part(kind: str, among: dict = EXPERIMENTS) -> dict:
    """Experiments that have a part of this kind (theory, transitions, scan, simulations, baseline or landscape), by name."""
    return {name: experiment[kind] for name, experiment in among.items() if kind in experiment}


def share(part: dict, key: str) -> int:
    """seeds_per_job, alphas_per_job or sizes_per_job: that of the experiment, where it has its own."""
    return part.get(key, config[key])


def seed_blocks(part: dict) -> list[list[int]]:
    """Numbers of the data sets, cut into the lists that one job goes through."""
    return blocks(list(range(part["seeds"])), share(part, "seeds_per_job"))


def named_blocks(points: list[float], size: int) -> dict[str, list[float]]:
    """Values cut into the lists that one job goes through, by first and last value."""
    return {f"{number(block[0])}-{number(block[-1])}": block for block in blocks(points, size)}


def alpha_blocks(part: dict) -> dict[str, list[float]]:
    """Values of α that one simulation job goes through."""
    return named_blocks(grid(part["alphas"]), share(part, "alphas_per_job"))


def size_blocks(part: dict) -> dict[str, list[int]]:
    """Values of d that one simulation job goes through."""
    return named_blocks(part["d"], share(part, "sizes_per_job"))


def omega_blocks(experiment: str) -> dict[str, list[float]]:
    """Values of ω that one theory job goes through."""
    return named_blocks(values(STUDIES[experiment], "omega"), config["omegas_per_job"])


def data_task_arguments(wildcards) -> str:
    """Options of all tasks that share a data matrix: every ω and λ at one σ."""
    experiment = STUDIES[wildcards.experiment]
    omegas, lams = values(experiment, "omega"), values(experiment, "lam")
    return task_arguments(wildcards.experiment, omegas, float(wildcards.sigma), lams)


def diagram_task_arguments(_) -> str:
    """Options of all tasks of the experiment that figure 3 draws."""
    name = config["figure3"]["diagram"]
    omegas, (sigma, *_), lams = (values(EXPERIMENTS[name], key) for key in ("omega", "sigma", "lam"))
    return task_arguments(name, omegas, sigma, lams)


def theory_task_arguments(wildcards) -> str:
    """Options of the tasks of one theory job: some ω at one σ and λ."""
    omegas = omega_blocks(wildcards.experiment)[wildcards.omegas]
    return task_arguments(wildcards.experiment, omegas, float(wildcards.sigma), [float(wildcards.lam)])


def simulation_memory_mb(d: int, alpha: float, L: int = 2) -> int:
    """Memory of a simulation job: libraries, the float32 data matrix, and as much again for fields and histories."""
    return int(600 + 2 * 4e-6 * L * alpha * d**2)


wildcard_constraints:
    experiment=alternatives(STUDIES),
    branch="semantic|positional|uninformative|mixed",
    sigma=alternatives(number(s) for e in STUDIES.values() for s in values(e, "sigma")),
    lam=alternatives(number(x) for e in STUDIES.values() for x in values(e, "lam")),
    sizes=r"[0-9e+-]+",
    chunk=r"\d+",
    omegas=r"[0-9.e+-]+",
    alphas=r"[0-9.e+-]+",
