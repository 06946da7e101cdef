"""Checks config.yaml and turns it into grids. Knows nothing of Snakemake; raises ConfigError with one line."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import yaml
from appendix_configuration import appendix_refusals
from extension_configuration import extension_refusals
from figure2_configuration import NOT_OF_THE_TASK, figure2_refusals
from figure3_configuration import figure3_refusals
from grids import grid, task_grid, values
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from solvable_attention.spectrum import power_law, two_level
from solvable_attention.task import TeacherStudent

SCHEMA_FILE = Path(__file__).parent / "schemas" / "config.schema.yaml"
TASK_KEYS = (
    *("L", "rank", "teacher_rank", "value_rank", "tied", "activation", "spectrum"),
    *("A", "covariance", "encodings_gram"),
)
WHOLE_NUMBERS = (
    *("seed", "seeds", "seeds_per_job", "alphas_per_job", "sizes_per_job", "omegas_per_job", "points", "d", "L"),
    *("rank", "teacher_rank", "value_rank", "levels"),
    *("restarts", "max_iterations", "random_starts", "bootstrap"),
    *("letters", "length", "sequences", "width", "hidden", "runs", "batch", "epochs"),
)
# Keys that mean something for some starts only; elsewhere they would be without effect.
EFFECTIVE_FOR = {
    "restarts": ("random", "noisy_positional"),
    "random_std": ("random",),
    "noisy_mean": ("noisy_positional",),
    "noisy_std": ("noisy_positional",),
}


class ConfigError(Exception):
    """A refused configuration; the message is one line that names the key, its value and what is allowed."""


def check(config: dict) -> None:
    """Raise ConfigError unless the configuration has the right keys and every value is in range."""
    _refuse_inexact_numbers(config)
    schema = yaml.safe_load(SCHEMA_FILE.read_text(encoding="utf-8"))
    error = best_match(Draft202012Validator(schema).iter_errors(config), key=_depth_first)
    if error is not None:
        raise ConfigError(f"config: {_describe(error)}")
    for section in ("experiments", "extensions"):
        for name, experiment in config[section].items():
            _check_experiment(f"{section}.{name}", experiment)
    _check_counting(config["counting"])
    experiments = config["experiments"]
    for where, value, allowed in chain(
        figure2_refusals(config["figure2"], experiments),
        figure3_refusals(config["figure3"], experiments),
        appendix_refusals(config["appendix"], experiments),
        extension_refusals(config["extension_figures"], config["extensions"], experiments),
    ):
        raise ConfigError(f"config: {where}: is {value}, allowed is {allowed}")


def _check_experiment(where: str, experiment: dict) -> None:
    if isinstance(experiment["omega"], dict):
        _check_range(f"{where}.omega", experiment["omega"])
    for key in ("omega", "sigma", "lam"):
        for value in values(experiment, key):
            if float(f"{value:.6g}") != value:
                raise ConfigError(f"config: {where}.{key}: is {value!r}, allowed are numbers of at most 6 digits")
    for omega, sigma, lam in task_grid(experiment):
        try:
            TeacherStudent(omega, sigma, lam, **task_options(experiment))
        except ValueError as refusal:
            raise ConfigError(f"config: {where}.{refusal}") from None
    for kind in ("theory", "scan", "simulations", "baseline", "landscape"):
        _check_grid(f"{where}.{kind}", experiment.get(kind))
    asked = experiment.get("transitions")
    if asked is not None and asked["low"] >= asked["high"]:
        high, low = asked["high"], asked["low"]
        raise ConfigError(f"config: {where}.transitions.high: is {high}, allowed is a number > low {low}")
    part = experiment.get("simulations", {})
    for key, needed in EFFECTIVE_FOR.items():
        if key in part and not set(part["starts"]) & set(needed):
            key, allowed = f"{where}.simulations.{key}", " or ".join(needed)
            raise ConfigError(f"config: {key}: has no effect here, allowed only with a start {allowed}")


def _check_counting(counting: dict) -> None:
    if "noise" in counting["first"]:
        raise ConfigError("config: counting.first.noise: has no effect here, allowed only in counting.second")
    letters, length = counting["letters"], counting["length"]
    for i, example in enumerate(counting["examples"]):
        if len(example) != length or max(example) >= letters:
            where, allowed = f"counting.examples[{i}]", f"a list of {length} letters 0 to {letters - 1}"
            raise ConfigError(f"config: {where}: is {example}, allowed is {allowed}")


def _check_grid(where: str, part: dict | None) -> None:
    if part is None:
        return
    spec = part["alphas"]
    if isinstance(spec, dict):
        _check_range(f"{where}.alphas", spec)
    smallest, fewest = grid(spec)[0], np.min(part.get("d", np.inf))
    if smallest * fewest < 0.5:
        raise ConfigError(f"config: {where}.alphas: contains {smallest}, allowed with d = {fewest} is n = αd ≥ 1")


def _check_range(where: str, spec: dict) -> None:
    if spec["start"] > spec["stop"]:
        stop, start = spec["stop"], spec["start"]
        raise ConfigError(f"config: {where}.stop: is {stop}, allowed is a number ≥ start {start}")


def _refuse_inexact_numbers(value, where: str = "") -> None:
    """Infinite and undefined numbers pass every comparison of a schema, or none: name them first."""
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_inexact_numbers(item, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _refuse_inexact_numbers(item, f"{where}[{i}]")
    elif isinstance(value, float) and not np.isfinite(value):
        raise ConfigError(f"config: {where}: is {value}, allowed is a finite number")
    elif isinstance(value, float) and where.split(".")[-1].split("[")[0] in WHOLE_NUMBERS:
        raise ConfigError(f"config: {where}: is {value}, allowed is a whole number, written without a point")


def task_options(experiment: dict) -> dict:
    """The other arguments of TeacherStudent that the experiment sets; a spectrum as its pairs."""
    options = {key: experiment[key] for key in TASK_KEYS if key in experiment}
    if "spectrum" in options:
        ((kind, parameters),) = options["spectrum"].items()
        pairs = {"two_level": two_level, "power_law": power_law}[kind](**parameters)
        options["spectrum"] = [list(pair) for pair in pairs]
    return options


def _depth_first(error):
    # The deepest error names the offending value itself, not the object that contains it.
    return (len(error.path), error.validator != "anyOf")


def _describe(error) -> str:
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path).lstrip(".") or "top level"
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema["properties"])
        unknown = sorted(set(error.instance) - set(allowed))
        return f"{where}: has the unknown key {unknown[0]!r}, allowed are {', '.join(allowed)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{where}: lacks the key {missing[0]!r}, needed are {', '.join(error.validator_value)}"
    if error.validator == "anyOf":
        return f"{where}: computes nothing, allowed is a part {', '.join(NOT_OF_THE_TASK)}"
    value = " ".join(repr(error.instance).split())
    shown = value if len(value) <= 80 else value[:77] + "..."
    return f"{where}: is {shown}, allowed is {error.schema.get('description', error.message)}"
