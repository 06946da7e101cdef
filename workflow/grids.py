"""Grids of the configuration."""

from __future__ import annotations

import itertools

import numpy as np


def task_grid(experiment: dict) -> list[tuple[float, float, float]]:
    """All (omega, sigma, lam) of an experiment."""
    return list(itertools.product(*(values(experiment, key) for key in ("omega", "sigma", "lam"))))


def values(experiment: dict, key: str) -> list[float]:
    """The values of omega, sigma or lam, in the order of the configuration."""
    spec = experiment[key]
    return grid(spec) if isinstance(spec, dict) else [float(value) for value in spec]


def grid(spec: list | dict) -> list[float]:
    """Sorted grid, rounded to the 6 significant digits that file names show."""
    if isinstance(spec, dict):
        points = [*np.linspace(spec["start"], spec["stop"], spec["points"]), *spec.get("also", [])]
    else:
        points = spec
    return sorted({float(f"{value:.6g}") for value in points})


def blocks(items: list, size: int) -> list[list]:
    """The items cut into lists of at most `size`, the share of one job each."""
    return [items[first : first + size] for first in range(0, len(items), size)]
