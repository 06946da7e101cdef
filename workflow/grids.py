"""Grids of the configuration."""

from __future__ import annotations

import itertools

import numpy as np


def task_grid(experiment: dict) -> list[tuple[float, float, float]]:
    """All (omega, sigma, lam) of an experiment."""
    return list(itertools.product(*(map(float, experiment[key]) for key in ("omega", "sigma", "lam"))))


def alpha_grid(spec: list | dict) -> list[float]:
    """Sorted grid of α, rounded to the 6 significant digits that file names show."""
    if isinstance(spec, dict):
        values = [*np.linspace(spec["start"], spec["stop"], spec["points"]), *spec.get("also", [])]
    else:
        values = spec
    return sorted({float(f"{value:.6g}") for value in values})
