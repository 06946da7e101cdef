"""Measures of trained weights that count letters: their accuracy, how far they moved, or attention on examples."""

import json
import time

import click
import numpy as np
import pandas as pd
import torch
from cli import run
from counting_files import architecture_from, counting_options, digest_of, read_weights
from schemas.counting_accuracies import COUNTING_ACCURACIES
from schemas.counting_attention import COUNTING_ATTENTION
from schemas.counting_distances import COUNTING_DISTANCES
from tables import write_table

from solvable_attention.counting import MECHANISMS, attention, distances, draw_split, semantic_share
from solvable_attention.counting.model import Weights
from solvable_attention.counting.training import evaluate
from solvable_attention.errors import ArgumentError

TABLES = {table.name: table for table in (COUNTING_ACCURACIES, COUNTING_DISTANCES, COUNTING_ATTENTION)}


@click.command(help=__doc__)
@counting_options
@click.option("--table", type=click.Choice(list(TABLES)), required=True)
@click.option("--weights", type=(click.Choice(MECHANISMS), int, click.Path()), multiple=True, required=True,
              help="Mechanism, stage and file; repeat.")  # fmt: skip
@click.option("--example", "examples", multiple=True, help="A sequence, such as [0,1,2]; repeat.  [for attention]")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(table, weights, examples, output, root_seed, **options):
    started = time.perf_counter()
    made_from = {"table": table, "examples": examples, "root_seed": root_seed, **options}
    torch.set_num_threads(1)
    measure = measure_of(table, architecture_from(options).task, examples, root_seed)
    frames = []
    for mechanism, stage, path in weights:
        # A second stage trains the unrestricted model, whatever it came from.
        model = mechanism if stage == 1 else "both"
        frames.append(measure(*read_weights(path), model).assign(mechanism=mechanism, stage=stage))
        made_from[f"{mechanism} {stage}"] = digest_of(path)
    write_table(pd.concat(frames, ignore_index=True), TABLES[table], output, started, made_from)


def measure_of(table: str, task, examples, root_seed: int):
    """What a table holds of weights before and after, and of the model that they belong to."""
    if table == "accuracies":
        return Accuracies(draw_split(task, root_seed))
    if table == "distances":
        return distances_of
    if not examples:
        raise ArgumentError("example: is missing, allowed with the table attention is one at least")
    return Attention(np.array([checked(example, task) for example in examples]))


def checked(text: str, task) -> list[int]:
    """An example as a list of letters; ArgumentError for anything else."""
    try:
        example = json.loads(text)
    except ValueError:
        example = None
    valid = isinstance(example, list) and len(example) == task.length
    if not valid or not all(type(x) is int and 0 <= x < task.letters for x in example):
        raise ArgumentError(f"example: is {text!r}, allowed is a list of {task.length} letters 0 to {task.letters - 1}")
    return example


class Accuracies:
    """Loss and accuracy on the validation set, and the semantic share of the scores before and after."""

    def __init__(self, split):
        self._held_out = [torch.from_numpy(x).long() for x in (split.validation, split.validation_labels)]

    def __call__(self, before: Weights, after: Weights, model: str) -> pd.DataFrame:
        loss, accuracy = evaluate(after, model, *self._held_out)
        values = {"validation_loss": loss, "validation_accuracy": accuracy}
        values["semantic_share_before"] = semantic_share(before, model)
        values["semantic_share"] = semantic_share(after, model)
        return pd.DataFrame(values).rename_axis("run").reset_index()


def distances_of(before: Weights, after: Weights, _) -> pd.DataFrame:
    return pd.DataFrame(distances(before, after)).rename_axis("run").reset_index()


class Attention:
    """Attention matrices on the examples."""

    def __init__(self, examples: np.ndarray):
        self._examples = examples

    def __call__(self, before: Weights, after: Weights, model: str) -> pd.DataFrame:
        parts = {when: self._frame(w, model) for when, w in (("before", before), ("after", after))}
        return pd.concat(parts, names=["when"]).reset_index("when").reset_index(drop=True)

    def _frame(self, weights: Weights, model: str) -> pd.DataFrame:
        runs = len(weights["Q"])
        with torch.no_grad():
            A = attention(weights, model, torch.from_numpy(self._examples).expand(runs, -1, -1)).numpy()
        run, example, query, key = (index.ravel() for index in np.indices(A.shape))
        letters = {"query_letter": self._examples[example, query], "key_letter": self._examples[example, key]}
        places = {"run": run, "example": example, "query": query, "key": key}
        return pd.DataFrame({**places, **letters, "attention": A.ravel().astype(float)})


if __name__ == "__main__":
    run(main)
