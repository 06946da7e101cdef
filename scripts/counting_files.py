"""Weights of the counting experiment as files: those before and after a stage, without pickled objects."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path

import click
import numpy as np
import torch
from tables import complete_file

from solvable_attention.counting import Architecture, CountingTask
from solvable_attention.counting.model import Weights
from solvable_attention.errors import ArgumentError


def counting_options(command):
    """Options that say what is counted, and the size of the model."""
    options = [
        click.option("--letters", type=int, required=True, help="Letters T of the alphabet."),
        click.option("--length", type=int, required=True, help="Places L of a sequence."),
        click.option("--sequences", type=int, required=True, help="Sequences drawn, before duplicates are dropped."),
        click.option("--train-share", type=float, required=True, help="Share of them in the training set."),
        click.option("--width", type=int, required=True, help="Width of the embeddings."),
        click.option("--hidden", type=int, required=True, help="Hidden units of the perceptron."),
        click.option("--root-seed", type=click.IntRange(0, 2**32 - 1), required=True, help="Root of all random draws."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def architecture_from(options: dict) -> Architecture:
    """Take the options of the task and the model out of `options`."""
    task = CountingTask(*(options.pop(name) for name in ("letters", "length", "sequences", "train_share")))
    return Architecture(task, options.pop("width"), options.pop("hidden"))


def write_weights(before: Weights, after: Weights, path: str | Path) -> None:
    """Both sets of weights in one file, complete or absent."""
    sets = {"before": before, "after": after}
    arrays = {f"{when} {name}": value.numpy() for when, part in sets.items() for name, value in part.items()}
    with complete_file(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def digest_of(path: str | Path) -> str:
    """Hash of a file's content."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


def read_weights(path: str | Path) -> tuple[Weights, Weights]:
    """Weights before and after a stage. ArgumentError names a file that is broken or of another kind."""
    try:
        # numpy leaves a file open that it cannot read.
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: torch.from_numpy(file[name]) for name in file}
    except (OSError, ValueError, TypeError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        reason = (str(error) or repr(error)).splitlines()[0]
        raise ArgumentError(f"{path}: cannot be read as weights ({reason}); delete it and run again") from None
    sets = [
        {name.removeprefix(when): value for name, value in arrays.items() if name.startswith(when)}
        for when in ("before ", "after ")
    ]
    if not sets[0] or sets[0].keys() != sets[1].keys():
        raise ArgumentError(f"{path}: holds no weights before and after a stage; delete it and run again")
    return sets[0], sets[1]
