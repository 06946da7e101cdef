"""One number of threads for torch and numba."""

from __future__ import annotations

import numba
import torch


def match_threads() -> None:
    """Let numba use as many threads as torch does, which takes its number from OMP_NUM_THREADS."""
    count = torch.get_num_threads()
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    # Starting numba's OpenMP pool sets the number of threads of the whole process, torch included.
    torch.set_num_threads(count)
