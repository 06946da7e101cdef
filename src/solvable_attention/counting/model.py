"""One layer of attention and a perceptron, for many runs at once: every tensor has the runs as its first axis.

The embedding of a letter fills the first half of the width and that of a place the second half. In the restricted
models queries and keys read one half only, "semantic" the letters and "positional" the places, so that scores depend
on a *code* of each token: its letter, or its place; in the model "both" the code is the pair. All scores of a run are
one table over pairs of codes, and values are a sum of one row for the letter and one for the place: no product ever
runs over tokens times width before the perceptron. The numbers are those of the model as written,

    A = softmax((x Q)(x K)ᵀ/√width),  out = W_2 relu(W_1 LayerNorm(A x V) + b_1) + b_2,  x = letter + place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch

from solvable_attention.counting.data import CountingTask
from solvable_attention.counting.seeding import WEIGHTS, generator
from solvable_attention.errors import ArgumentError

MECHANISMS = ("positional", "semantic", "both")
_LAYER_NORM_EPSILON = 1e-5
# The gradient of a product with 11 columns takes nine times as long as that of one with 16.
_BLOCK = 16

Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Architecture:
    """width of the embeddings (even), hidden units of the perceptron, and what it counts.

    Raises ArgumentError for a width that is odd or a size below 1.
    """

    task: CountingTask = field(default_factory=CountingTask)
    width: int = 64
    hidden: int = 128

    def __post_init__(self):
        if not isinstance(self.width, int) or self.width < 2 or self.width % 2:
            raise ArgumentError(f"width: is {self.width!r}, allowed is an even number ≥ 2")
        if not isinstance(self.hidden, int) or self.hidden < 1:
            raise ArgumentError(f"hidden: is {self.hidden!r}, allowed is a whole number ≥ 1")


def check_mechanism(mechanism: str) -> None:
    """Raise ArgumentError unless the mechanism is one of MECHANISMS."""
    if mechanism not in MECHANISMS:
        raise ArgumentError(f"mechanism: is {mechanism!r}, allowed is one of {', '.join(MECHANISMS)}")


def initial_weights(architecture: Architecture, mechanism: str, runs: list[int], root_seed: int) -> Weights:
    """Weights at the start: N(0, 1) embeddings, all else uniform in ±1/√fan-in, as torch's layers have it.

    A run's weights are a function of (root_seed, mechanism, run). The half of an embedding that a restricted model
    masks is zero from the start.
    """
    check_mechanism(mechanism)
    draws = [_draw(architecture, mechanism, run, root_seed) for run in runs]
    return {name: torch.from_numpy(np.stack([draw[name] for draw in draws])) for name in draws[0]}


def _draw(architecture: Architecture, mechanism: str, run: int, root_seed: int) -> dict[str, np.ndarray]:
    rng = generator(root_seed, WEIGHTS, (MECHANISMS.index(mechanism), run))
    task, width, hidden = architecture.task, architecture.width, architecture.hidden

    def uniform(*shape, fan_in):
        return rng.uniform(-(fan_in**-0.5), fan_in**-0.5, shape)

    weights = {
        "letters": rng.standard_normal((task.letters, width)),
        "places": rng.standard_normal((task.length, width)),
        **{name: uniform(width, width, fan_in=width) for name in ("Q", "K", "V")},
        "norm_scale": np.ones(width),
        "norm_shift": np.zeros(width),
        "W1": uniform(width, hidden, fan_in=width),
        "b1": uniform(hidden, fan_in=width),
        "W2": uniform(hidden, task.classes, fan_in=hidden),
        "b2": uniform(task.classes, fan_in=hidden),
    }
    if mechanism != "both":
        weights["letters"][:, width // 2 :] = 0.0
        weights["places"][:, : width // 2] = 0.0
    return {name: value.astype(np.float32) for name, value in weights.items()}


def scores(weights: Weights, mechanism: str) -> torch.Tensor:
    """Scores before the softmax of every pair of codes, (runs, codes, codes).

    Codes are letters, places, or letter · L + place. Raises ArgumentError for an unknown mechanism.
    """
    check_mechanism(mechanism)
    letters, places = _masked(weights, mechanism)
    width = letters.shape[-1]
    if mechanism == "both":
        tokens = (letters[:, :, None] + places[:, None, :]).flatten(1, 2)
        queries, keys = tokens @ weights["Q"], tokens @ weights["K"]
    else:
        half = slice(width // 2) if mechanism == "semantic" else slice(width // 2, None)
        read = letters if mechanism == "semantic" else places
        queries, keys = (read[:, :, half] @ weights[name][:, half] for name in ("Q", "K"))
    return queries @ keys.mT * width**-0.5


def attention(weights: Weights, mechanism: str, sequences: torch.Tensor) -> torch.Tensor:
    """Attention matrices (runs, batch, L, L) of sequences (runs, batch, L)."""
    return _attention_by_key(weights, mechanism, sequences).permute(0, 2, 3, 1)


def _attention_by_key(weights: Weights, mechanism: str, sequences: torch.Tensor) -> torch.Tensor:
    """Attention as (runs, key, batch, query): torch's softmax is fast along an axis that is not the last."""
    table = scores(weights, mechanism)
    runs, batch, length = sequences.shape
    if mechanism == "positional":
        return torch.softmax(table.mT, dim=1)[:, :, None].expand(-1, -1, batch, -1)
    codes = sequences if mechanism == "semantic" else sequences * length + torch.arange(length)
    pairs = codes[:, None] * table.shape[-1] + codes.permute(0, 2, 1)[..., None]
    chosen = table.flatten(1).gather(1, pairs.flatten(1)).view(runs, length, batch, length)
    return torch.softmax(chosen, dim=1)


def logits(weights: Weights, mechanism: str, sequences: torch.Tensor) -> torch.Tensor:
    """Outputs (runs, classes, batch · L) of sequences (runs, batch, L)."""
    letters, places = _masked(weights, mechanism)
    A = _attention_by_key(weights, mechanism, sequences)
    runs, _, batch, length = A.shape
    # What each token attends to, as a share for each letter and for each place.
    letter_of_key = sequences.permute(0, 2, 1)[..., None].expand_as(A)
    by_letter = A.new_zeros(runs, letters.shape[1], batch, length).scatter_add(1, letter_of_key, A)
    attended = torch.cat([by_letter, A], dim=1).flatten(2)
    mixed = attended.mT @ (torch.cat([letters, places], dim=1) @ weights["V"])
    normal = torch.nn.functional.layer_norm(mixed, mixed.shape[-1:], eps=_LAYER_NORM_EPSILON)
    # The scale and shift of the norm are taken into the next layer, whose weights are the smaller tensor.
    W1 = weights["norm_scale"][:, :, None] * weights["W1"]
    b1 = weights["b1"][:, None] + weights["norm_shift"][:, None] @ weights["W1"]
    hidden = torch.relu(torch.baddbmm(b1, normal, W1))
    classes = weights["W2"].shape[2]
    W2, b2 = (torch.nn.functional.pad(weights[name], (0, -classes % _BLOCK)) for name in ("W2", "b2"))
    return torch.baddbmm(b2[:, :, None], W2.mT, hidden.mT)[:, :classes]


def _masked(weights: Weights, mechanism: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Embeddings of letters and places; of a restricted model only the half of each that it reads."""
    letters, places = weights["letters"], weights["places"]
    if mechanism == "both":
        return letters, places
    half = letters.shape[-1] // 2
    pad = torch.nn.functional.pad
    return pad(letters[:, :, :half], (0, half)), pad(places[:, :, half:], (half, 0))
