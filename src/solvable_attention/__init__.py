"""Positional and semantic learning in a solvable model of dot-product attention.

Theory and simulation of the model of Cui, Behrens, Krzakala & Zdeborová, arXiv:2402.03902.

>>> from solvable_attention import TeacherStudent, fixed_point
>>> fixed_point(TeacherStudent(omega=0.3), alpha=2.0, branch="semantic").test_error  # doctest: +SKIP
"""

import importlib

__version__ = "0.1.0"

# Loaded on first use: the workflow needs the task alone, and torch takes seconds to import.
_HOME = {
    "TeacherStudent": "task",
    "FixedPoint": "solution",
    "fixed_point": "fixed_points",
    "branch": "fixed_points",
    "transition": "transitions",
    "Transition": "transitions",
    "scan": "census",
    "linear_baseline": "baseline",
    "fit_linear_baseline": "simulation",
    "simulate": "simulation",
    "minimise": "simulation",
}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
