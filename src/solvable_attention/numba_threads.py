"""How many threads numba uses."""

from __future__ import annotations

import os

import numba


def follow_omp_num_threads() -> None:
    """Let numba use OMP_NUM_THREADS threads, which is what a workflow grants a job, where that is set."""
    granted = os.environ.get("OMP_NUM_THREADS", "")
    if granted.isdigit() and int(granted) > 0:
        numba.set_num_threads(min(int(granted), numba.config.NUMBA_NUM_THREADS))
