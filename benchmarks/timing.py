"""How the benchmarks measure: parts in turn, medians over repeats, ratios within a repeat."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np


def environment() -> dict[str, str]:
    """What the numbers depend on; the load says whether somebody else was at work."""
    return {
        "python, machine": f"{platform.python_version()}, {platform.machine()}",
        "torch / numba / numpy / scipy": " / ".join(version(name) for name in ("torch", "numba", "numpy", "scipy")),
        "cores": str(len(os.sched_getaffinity(0))),
        "load of the last minute": f"{os.getloadavg()[0]:.1f}",
    }


def interleaved(parts: dict, repeats: int, calls: dict | None = None, warm=True, clock=time.perf_counter) -> dict:
    """Seconds of a call of each part, one number a repeat: a change of the machine's load meets all of them.

    calls : how many calls of a part are timed at once, 1 where it is not named; warm, clock : see `seconds`.
    """
    times = {name: [] for name in parts}
    for _ in range(repeats):
        for name, part in parts.items():
            times[name].append(seconds(part, (calls or {}).get(name, 1), warm, clock))
    return times


def seconds(part: Callable, count: int, warm: bool, clock: Callable[[], float]) -> float:
    """Mean time of a call, after one that is not timed where `warm`. The clock may be that of the cores' work."""
    # Idle threads of a BLAS go on spinning for a while, and would slow whatever comes next down.
    time.sleep(0.1)
    if warm:
        part()
    begin = clock()
    for _ in range(count):
        part()
    return (clock() - begin) / count


def ratio(numerators: list[float], denominators: list[float]) -> float:
    """Median of the ratios within each repeat, which a change of the machine's load hardly moves."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def exponent(cost: dict[float, float]) -> float:
    """Power of the size with which the cost grows: slope of log cost against log size."""
    return float(np.polyfit(np.log(list(cost)), np.log(list(cost.values())), 1)[0])
