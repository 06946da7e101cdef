"""Sequences of letters whose labels say how often the letter at each place occurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvable_attention.counting.seeding import ORDER, SEQUENCES, SPLIT, generator
from solvable_attention.errors import ArgumentError


@dataclass(frozen=True)
class CountingTask:
    """letters T, length L of a sequence, sequences drawn, train_share of those that are left without duplicates.

    Raises ArgumentError for a value out of range, named with what is allowed.
    """

    letters: int = 15
    length: int = 10
    sequences: int = 50_000
    train_share: float = 0.7

    def __post_init__(self):
        for name, least in (("letters", 2), ("length", 2), ("sequences", 2)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ArgumentError(f"{name}: is {value!r}, allowed is a whole number ≥ {least}")
        if not 0 < self.train_share < 1:
            raise ArgumentError(f"train_share: is {self.train_share!r}, allowed is a number in (0, 1)")

    @property
    def classes(self) -> int:
        """A letter occurs 0 to L times; 0 is never seen, and kept as the published code keeps it."""
        return self.length + 1


@dataclass(frozen=True, eq=False)
class Split:
    """train, validation: sequences (n, L) of letters 0 … T−1, none of which is in both; labels likewise."""

    train: np.ndarray
    validation: np.ndarray
    train_labels: np.ndarray
    validation_labels: np.ndarray


def count_letters(sequences: np.ndarray) -> np.ndarray:
    """How often the letter at each place occurs in its sequence; sequences (n, L) to labels (n, L)."""
    return (sequences[:, :, None] == sequences[:, None, :]).sum(axis=2)


def draw_split(task: CountingTask, root_seed: int) -> Split:
    """Uniform letters, without the duplicates among the sequences, split at random.

    Raises ArgumentError where one side of the split would be empty.
    """
    drawn = generator(root_seed, SEQUENCES).integers(task.letters, size=(task.sequences, task.length))
    distinct = np.unique(drawn, axis=0)
    count = int(task.train_share * len(distinct))
    if not 0 < count < len(distinct):
        raise ArgumentError(
            f"train_share: is {task.train_share}, allowed is a share that leaves at least one of the {len(distinct)}"
            " distinct sequences on each side"
        )
    shuffled = distinct[generator(root_seed, SPLIT).permutation(len(distinct))]
    train, validation = shuffled[:count], shuffled[count:]
    return Split(train, validation, count_letters(train), count_letters(validation))


def epoch_order(root_seed: int, key: tuple[int, ...], epoch: int, size: int) -> np.ndarray:
    """Order in which a run sees the training set in one epoch: a function of the arguments, so that it can resume."""
    return generator(root_seed, ORDER, (*key, epoch)).permutation(size)
