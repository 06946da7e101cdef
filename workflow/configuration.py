"""Checks config.yaml and turns it into grids. Knows nothing of Snakemake; raises ConfigError with one line."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from solvable_attention.task import TeacherStudent

SCHEMA_FILE = Path(__file__).parent / "schemas" / "config.schema.yaml"
TASK_KEYS = ("L", "rank", "teacher_rank", "tied", "A", "covariance", "encodings_gram")


class ConfigError(Exception):
    """A refused configuration; the message is one line that names the key, its value and what is allowed."""


def check(config: dict) -> None:
    """Raise ConfigError unless the configuration has the right keys and every value is in range."""
    schema = yaml.safe_load(SCHEMA_FILE.read_text(encoding="utf-8"))
    error = best_match(Draft202012Validator(schema).iter_errors(config), key=_depth_first)
    if error is not None:
        raise ConfigError(f"config: {_describe(error)}")
    for name, experiment in config["experiments"].items():
        for omega, sigma, lam in task_grid(experiment):
            try:
                TeacherStudent(omega, sigma, lam, **task_options(experiment))
            except ValueError as refusal:
                raise ConfigError(f"config: experiments.{name}.{refusal}") from None
    for key, name in config["figure2"].items():
        if name not in config["experiments"]:
            allowed = ", ".join(config["experiments"])
            raise ConfigError(f"config: figure2.{key}: is {name!r}, allowed is one of the experiments {allowed}")


def task_grid(experiment: dict) -> list[tuple[float, float, float]]:
    """All (omega, sigma, lam) of an experiment."""
    return list(itertools.product(*(map(float, experiment[key]) for key in ("omega", "sigma", "lam"))))


def task_options(experiment: dict) -> dict:
    """The other arguments of TeacherStudent that the experiment sets."""
    return {key: experiment[key] for key in TASK_KEYS if key in experiment}


def alpha_grid(spec: list | dict) -> list[float]:
    """Sorted grid of α, rounded to the 6 significant digits that file names show."""
    if isinstance(spec, dict):
        values = [*np.linspace(spec["start"], spec["stop"], spec["points"]), *spec.get("also", [])]
    else:
        values = spec
    return sorted({float(f"{value:.6g}") for value in values})


def _depth_first(error):
    # The deepest error names the offending value itself, not the object that contains it.
    return (len(error.path), error.validator not in ("anyOf", "oneOf"))


def _describe(error) -> str:
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".") or "top level"
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema["properties"])
        unknown = sorted(set(error.instance) - set(allowed))
        return f"{where}: has the unknown key {unknown[0]!r}, allowed are {', '.join(allowed)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{where}: lacks the key {missing[0]!r}, needed are {', '.join(error.validator_value)}"
    value = " ".join(repr(error.instance).split())
    shown = value if len(value) <= 80 else value[:77] + "..."
    return f"{where}: is {shown}, allowed is {error.schema.get('description', error.message)}"
