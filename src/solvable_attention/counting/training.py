"""Training of many runs together, epoch by epoch, so that it can stop after any epoch and go on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from solvable_attention.counting.data import Split, epoch_order
from solvable_attention.counting.model import Weights, logits
from solvable_attention.errors import ArgumentError

_VALIDATION_BATCH = 1000
OPTIMIZERS = ("adam", "sgd")


@dataclass(frozen=True)
class Training:
    """optimizer "adam" (β = .9, .98, ε = 1e-9) or "sgd", step, batch and epochs; the published values are the defaults.

    Raises ArgumentError for a value out of range.
    """

    optimizer: str = "adam"
    step: float = 1e-3
    batch: int = 32
    epochs: int = 200

    def __post_init__(self):
        if self.optimizer not in OPTIMIZERS:
            raise ArgumentError(f"optimizer: is {self.optimizer!r}, allowed is one of {', '.join(OPTIMIZERS)}")
        if not 0 < self.step < np.inf:
            raise ArgumentError(f"step: is {self.step!r}, allowed is a positive number")
        for name in ("batch", "epochs"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ArgumentError(f"{name}: is {getattr(self, name)!r}, allowed is a whole number ≥ 1")

    def optimizer_of(self, weights: Weights) -> torch.optim.Optimizer:
        """Runs are independent: every entry of a weight moves by itself, and so a run by itself."""
        if self.optimizer == "sgd":
            return torch.optim.SGD(weights.values(), lr=self.step, fused=True)
        return torch.optim.Adam(weights.values(), lr=self.step, betas=(0.9, 0.98), eps=1e-9, fused=True)


@dataclass
class State:
    """What a training goes on from: weights, the optimizer's state, and one array (runs,) an epoch for each curve."""

    weights: Weights
    optimizer: dict = field(default_factory=dict)
    train_loss: list[np.ndarray] = field(default_factory=list)
    validation_loss: list[np.ndarray] = field(default_factory=list)
    validation_accuracy: list[np.ndarray] = field(default_factory=list)

    @property
    def epochs(self) -> int:
        return len(self.train_loss)


def train(
    state: State,
    mechanism: str,
    split: Split,
    training: Training,
    keys: Sequence[tuple[int, ...]],
    root_seed: int,
    after_epoch: Callable[[State], None] = lambda state: None,
) -> State:
    """Train all runs from `state` to `training.epochs` epochs of cross entropy, each run in an order of its own.

    keys : for each run the whole numbers that, with root_seed, name its orders; after_epoch is called with the state,
    which it may store. A training that is resumed from a stored state ends in the same weights.
    Raises ArgumentError where the loss of a run is no longer finite.
    """
    weights = {name: value.detach().clone().requires_grad_() for name, value in state.weights.items()}
    optimizer = training.optimizer_of(weights)
    if state.optimizer:
        optimizer.load_state_dict(state.optimizer)
    sequences, labels = (torch.from_numpy(x).long() for x in (split.train, split.train_labels))
    held_out = [torch.from_numpy(x).long() for x in (split.validation, split.validation_labels)]
    while state.epochs < training.epochs:
        orders = np.stack([epoch_order(root_seed, key, state.epochs, len(sequences)) for key in keys])
        batches = torch.from_numpy(orders).split(training.batch, dim=1)
        loss = _epoch(weights, mechanism, optimizer, sequences, labels, batches)
        held_out_loss, accuracy = evaluate(weights, mechanism, *held_out)
        if not np.isfinite([loss, held_out_loss]).all():
            raise ArgumentError(f"step: is {training.step}, allowed is one with which no run diverges")
        state = State(
            {name: value.detach().clone() for name, value in weights.items()},
            copy.deepcopy(optimizer.state_dict()),  # the original goes on changing
            [*state.train_loss, loss],
            [*state.validation_loss, held_out_loss],
            [*state.validation_accuracy, accuracy],
        )
        after_epoch(state)
    return state


def _epoch(weights, mechanism, optimizer, sequences, labels, batches) -> np.ndarray:
    """One pass over the training set in batches of indices (runs, batch); mean loss of each run over them."""
    total = torch.zeros(len(batches[0]), dtype=torch.float64)
    for chosen in batches:
        optimizer.zero_grad(set_to_none=True)
        loss = _cross_entropy(logits(weights, mechanism, sequences[chosen]), labels[chosen])
        loss.sum().backward()
        optimizer.step()
        total += loss.detach()
    return (total / len(batches)).numpy()


def _cross_entropy(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean over the letters of a batch, (runs,)."""
    return torch.nn.functional.cross_entropy(outputs, labels.flatten(1), reduction="none").mean(dim=1)


def evaluate(weights: Weights, mechanism: str, sequences: torch.Tensor, labels: torch.Tensor):
    """Cross entropy and share of letters that are counted right, (runs,) each, on sequences (n, L)."""
    runs = len(next(iter(weights.values())))
    loss, right = (torch.zeros(runs, dtype=torch.float64) for _ in range(2))
    with torch.no_grad():
        for x, y in zip(sequences.split(_VALIDATION_BATCH), labels.split(_VALIDATION_BATCH), strict=True):
            outputs = logits(weights, mechanism, x.expand(runs, -1, -1))
            loss += len(x) * _cross_entropy(outputs, y.expand(runs, -1, -1))
            right += (outputs.argmax(dim=1) == y.flatten()).sum(dim=1)
    return (loss / len(sequences)).numpy(), (right / labels.numel()).numpy()
