"""Checked configuration, names of files, and the arguments that scripts receive. No rules."""

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
from grids import alpha_grid, task_grid

try:
    check(config)
except ConfigError as refusal:
    # Not an exception: the user reads one line, not a traceback.
    sys.exit(str(refusal))

RESULTS, FIGURES = config["results"], config["figures"]
EXPERIMENTS = config["experiments"]
ENVIRONMENT = "../../envs/environment.yaml"


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
    options = task_options(EXPERIMENTS[experiment])
    if "tied" in options:
        options["tied"] = str(options["tied"]).lower()
    matrices = {key: str(value).replace(" ", "") if isinstance(value, list) else value for key, value in options.items()}
    return arguments(experiment=experiment, omega=omegas, sigma=sigma, lam=lams, **matrices)


def with_part(kind: str) -> dict:
    """Experiments that have a part of this kind (theory, simulations or baseline), by name."""
    return {name: experiment[kind] for name, experiment in EXPERIMENTS.items() if kind in experiment}


def sigmas(experiment: str) -> list[float]:
    return [float(sigma) for sigma in EXPERIMENTS[experiment]["sigma"]]


def chunks(part: dict) -> list[list[int]]:
    """Numbers of the data sets, cut into the lists that one job goes through."""
    size, seeds = config["seeds_per_job"], range(part["seeds"])
    return [list(seeds[first : first + size]) for first in range(0, part["seeds"], size)]


def simulation_memory_mb(d: int, alpha: float, L: int = 2) -> int:
    """Memory of a simulation job: libraries, the float32 data matrix, and as much again for fields and histories."""
    return int(600 + 2 * 4e-6 * L * alpha * d**2)


wildcard_constraints:
    experiment=alternatives(EXPERIMENTS),
    branch="semantic|positional|uninformative|mixed",
    omega=alternatives(number(w) for e in EXPERIMENTS.values() for w in e["omega"]),
    sigma=alternatives(number(s) for e in EXPERIMENTS.values() for s in e["sigma"]),
    lam=alternatives(number(x) for e in EXPERIMENTS.values() for x in e["lam"]),
    alpha=alternatives(number(a) for part in with_part("simulations").values() for a in alpha_grid(part["alphas"])),
    d=r"\d+",
    chunk=r"\d+",
