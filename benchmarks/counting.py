"""What training ten counting models together saves against one after another, in the same run of this program.

"One after another" twice: as the paper's authors train, a torch module with a DataLoader, and by our own code with one
run at a time, which shows what the batch alone is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import click
import torch
from timing import environment, interleaved, ratio
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from solvable_attention.counting import Architecture, Split, Training, draw_split, initial_weights, train
from solvable_attention.counting.training import State


@click.command(help=__doc__)
@click.option("--runs", default=10, show_default=True, help="Models that train together.")
@click.option("--batches", default=60, show_default=True, help="Steps of each model that are timed.")
@click.option("--repeats", default=5, show_default=True, help="Interleaved repeats; medians are printed.")
def main(runs: int, batches: int, repeats: int) -> None:
    for name, value in environment().items():
        click.echo(f"{name:<32}{value}")
    click.echo(f"{'threads of torch':<32}{torch.get_num_threads()}")
    timed = Timed(batches)
    for mechanism in ("positional", "semantic", "both"):
        parts = {
            "together": lambda m=mechanism: timed.ours(m, list(range(runs))),
            "one at a time": lambda m=mechanism: timed.ours(m, [0]),
            "module, DataLoader": lambda m=mechanism: timed.plain(m),
        }
        times = interleaved(parts, repeats)
        each = [t / batches / runs for t in times["together"]]
        click.echo(f"\n{mechanism}: {runs} runs together, {1e3 * median(each):.3f} ms for each run and step")
        for name in ("one at a time", "module, DataLoader"):
            click.echo(f"  against {name:<28}{ratio([t / batches for t in times[name]], each):.1f} times faster")


@dataclass
class Timed:
    """The same number of steps by both programs, with the published sizes."""

    batches: int

    def __post_init__(self):
        self.model = Architecture()
        split = draw_split(self.model.task, 0)
        few = 32 * self.batches
        # One validation sequence: what is compared is the training.
        self.split = Split(
            split.train[:few], split.validation[:1], split.train_labels[:few], split.validation_labels[:1]
        )

    def ours(self, mechanism: str, runs: list[int]) -> None:
        start = State(initial_weights(self.model, mechanism, runs, 0))
        train(start, mechanism, self.split, Training(epochs=1), [(run,) for run in runs], 0)

    def plain(self, mechanism: str) -> None:
        model = PlainModel(self.model, mechanism)
        data = TensorDataset(*(torch.from_numpy(x).long() for x in (self.split.train, self.split.train_labels)))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
        loss_of = nn.CrossEntropyLoss()
        for sequences, labels in DataLoader(data, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss_of(model(sequences).flatten(0, 1), labels.flatten()).backward()
            optimizer.step()


class PlainModel(nn.Module):
    """One run, written as the model is described."""

    def __init__(self, model: Architecture, mechanism: str):
        super().__init__()
        task, width = model.task, model.width
        self.letters, self.places = nn.Embedding(task.letters, width), nn.Embedding(task.length, width)
        self.Q, self.K, self.V = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(model.hidden, task.classes)
        self.first = nn.Linear(width, model.hidden)
        half = torch.arange(width) < width // 2
        self.of_letter, self.of_place = (half, ~half) if mechanism != "both" else (torch.ones(width), torch.ones(width))
        self.read = {"semantic": half, "positional": ~half, "both": torch.ones(width)}[mechanism]

    def forward(self, sequences):
        places = self.places(torch.arange(sequences.shape[1]))
        x = self.letters(sequences) * self.of_letter + places * self.of_place
        scores = self.Q(x * self.read) @ self.K(x * self.read).mT / x.shape[-1] ** 0.5
        return self.last(torch.relu(self.first(self.norm(torch.softmax(scores, dim=-1) @ self.V(x)))))


if __name__ == "__main__":
    main()
