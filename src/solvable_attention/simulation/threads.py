"""Threads of torch beside those of numpy."""

from __future__ import annotations

import functools

import torch


def torch_on_one_thread(optimizer):
    """Decorator: while numpy makes the products with the data, torch's small operations run on one thread.

    OpenMP threads spin while they wait for their next turn and keep numpy's BLAS from working: a descent step then
    took three to four times as long. The caller's number of threads is restored.
    """

    @functools.wraps(optimizer)
    def wrapped(risk, start, **options):
        before = torch.get_num_threads()
        if risk.fused:
            torch.set_num_threads(1)
        try:
            return optimizer(risk, start, **options)
        finally:
            torch.set_num_threads(before)

    return wrapped
