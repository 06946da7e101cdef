"""Where runs start. The noise is keyed by data set, start and restart, never by the other runs."""

from __future__ import annotations

import numpy as np

from solvable_attention.encodings import cosine_vectors, encoding_factor
from solvable_attention.simulation.seeding import START, generator
from solvable_attention.task import TeacherStudent

STARTS = ("positional", "semantic", "random", "noisy_positional")
RANDOM_STARTS = ("random", "noisy_positional")
_OTHER_COLUMNS_STD = 0.01


def start_weights(
    task: TeacherStudent,
    start: str,
    restart: int,
    teacher_weights: np.ndarray,
    data_key: dict,
    *,
    mean: float,
    std: float,
) -> np.ndarray:
    """Initial weights (columns, d).

    "positional"        first column g/√d, g the direction that tells the places apart: (1, …, 1) in the paper's case
    "semantic"          the columns of Q⋆, of norm √d
    "random"            every entry std·N(0, 1)
    "noisy_positional"  first column mean·g + std·N(0, 1)

    The other two starts ignore mean and std.

    Columns that a start does not mention get .01·N(0, 1): exact zeros would be a saddle. Untied students
    start with equal queries and keys, except "random", where they are independent. Trained values start at V⋆, except
    "random": they find it on every branch.
    """
    d = len(teacher_weights)
    rng = generator(**data_key, purpose=START, more=(STARTS.index(start), restart))
    noise = rng.standard_normal((task.columns, d))
    if start == "random":
        return std * noise
    weights, values = _OTHER_COLUMNS_STD * noise[: task.rank], teacher_weights.T[task.teacher_rank :]
    if start == "positional":
        weights[0] = place_direction(task, d) / np.sqrt(d)
    elif start == "semantic":
        shared = min(task.rank, task.teacher_rank)
        weights[:shared] = teacher_weights.T[:shared]
    else:
        weights[0] = mean * place_direction(task, d) + std * noise[0]
    return np.concatenate([weights, values] if task.tied else [weights, weights, values])


def place_direction(task: TeacherStudent, d: int) -> np.ndarray:
    """g (d,) in the span of the encodings with g·p_ℓ/√d nearest to +1, −1, +1, …: 1 everywhere in the paper's case."""
    B = encoding_factor(task)
    signs = np.resize([1.0, -1.0], task.L)
    along = np.linalg.lstsq(B, signs)[0] @ cosine_vectors(B.shape[1], d) * np.sqrt(d)
    # Equal encodings of the paper's case have to give exactly 1, whatever the rounding of the solver.
    return along.round(12)
