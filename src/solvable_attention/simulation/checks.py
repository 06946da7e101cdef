"""Checks of arguments; every message names the argument, its value and what is allowed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from numbers import Integral, Real

from solvable_attention.errors import ArgumentError
from solvable_attention.simulation.data import law_of_tokens
from solvable_attention.simulation.optimizers import OPTIMIZERS
from solvable_attention.simulation.starts import STARTS
from solvable_attention.task import TeacherStudent

_LARGEST_SEED = 2**63


def whole_number(name: str, value, least: int, below: float = math.inf) -> int:
    """`value` as an int with least ≤ value < below, or ArgumentError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= value < below:
        upper = "" if math.isinf(below) else f" and < {below}"
        raise ArgumentError(f"{name}: is {value!r}, allowed is a whole number ≥ {least}{upper}")
    return int(value)


def number(name: str, value, *, least: float = 0.0, strictly: bool = True) -> float:
    """`value` as a finite float above `least`, or ArgumentError."""
    valid = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not valid or value < least or (strictly and value == least):
        bound = "" if math.isinf(least) else f" {'>' if strictly else '≥'} {least:g}"
        raise ArgumentError(f"{name}: is {value!r}, allowed is a finite number{bound}")
    return float(value)


def data_key(d, alpha, seed, root_seed) -> dict:
    """The four numbers that name a data set."""
    return {
        "d": whole_number("d", d, 1),
        "alpha": number("alpha", alpha),
        "seed": whole_number("seed", seed, 0, _LARGEST_SEED),
        "root_seed": whole_number("root_seed", root_seed, 0, _LARGEST_SEED),
    }


def task_list(tasks) -> list[TeacherStudent]:
    """One task or several that share the law of x, as a list."""
    tasks = [tasks] if isinstance(tasks, TeacherStudent) else list(tasks)
    if not tasks:
        raise ArgumentError("tasks: is empty, allowed is one TeacherStudent or more")
    for task in tasks:
        if not isinstance(task, TeacherStudent):
            raise ArgumentError(f"tasks: contains {task!r}, allowed are TeacherStudent objects")
        if law_of_tokens(task) != law_of_tokens(tasks[0]):
            raise ArgumentError(
                f"tasks: contains {tasks[0]} and {task}, allowed are tasks that differ in omega, lam, A, "
                "tied and activation only"
            )
    return tasks


def start_list(starts) -> list[str]:
    """Names of starts, as a list."""
    starts = [starts] if isinstance(starts, str) else list(starts)
    if not starts:
        raise ArgumentError(f"starts: is empty, allowed are {', '.join(STARTS)}")
    for start in starts:
        if start not in STARTS:
            raise ArgumentError(f"starts: contains {start!r}, allowed are {', '.join(STARTS)}")
    return starts


def random_deviations(random_std) -> list[float]:
    """Standard deviations of random starts, one or several, as a list without repeats."""
    several = isinstance(random_std, Iterable) and not isinstance(random_std, str)
    deviations = [number("random_std", value) for value in (random_std if several else [random_std])]
    if not deviations or len(set(deviations)) < len(deviations):
        raise ArgumentError(f"random_std: is {random_std!r}, allowed is a number > 0, or several without repeats")
    return deviations


def optimizer_options(optimizer: str, options: dict) -> dict:
    """The options of an optimizer, checked by name and by value."""
    if not isinstance(optimizer, str) or optimizer not in OPTIMIZERS:
        raise ArgumentError(f"optimizer: is {optimizer!r}, allowed are {', '.join(OPTIMIZERS)}")
    allowed = _keyword_names(OPTIMIZERS[optimizer])
    for name, value in options.items():
        if name not in allowed:
            names = ", ".join(allowed)
            raise ArgumentError(f"{name}: is {value!r}, allowed options of {optimizer!r} are {names}")
        if name in ("max_iterations", "memory"):
            whole_number(name, value, 1)
        else:
            number(name, value, strictly=name != "grad_tol")
    return options


def _keyword_names(function) -> list[str]:
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
