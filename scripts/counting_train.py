"""Train all runs of one mechanism that counts letters, or go on from its solution in the unrestricted model."""

import hashlib
import json
import sys
import time
from pathlib import Path

import click
import numpy as np
import pandas as pd
import torch
from cli import run
from counting_files import architecture_from, counting_options, digest_of, read_weights, write_weights
from schemas.counting_curves import COUNTING_CURVES
from tables import complete_file, write_table
from tqdm import tqdm

from solvable_attention import counting
from solvable_attention.counting import (
    MECHANISMS,
    Training,
    draw_split,
    initial_weights,
    train,
    unrestricted_weights,
)
from solvable_attention.counting.model import Weights
from solvable_attention.counting.training import OPTIMIZERS, State

CURVES = ("train_loss", "validation_loss", "validation_accuracy")


@click.command(help=__doc__)
@counting_options
@click.option("--mechanism", type=click.Choice(MECHANISMS), required=True)
@click.option("--runs", type=click.IntRange(1), required=True, help="Runs, which train together.")
@click.option("--optimizer", type=click.Choice(OPTIMIZERS), required=True)
@click.option("--step", type=float, required=True, help="Step size.")
@click.option("--batch", type=int, required=True, help="Sequences in a batch.")
@click.option("--epochs", type=int, required=True, help="Passes over the training set.")
@click.option("--start", type=click.Path(), help="Weights of the restricted solution that a second stage starts from.")
@click.option("--noise", type=float, help="Standard deviation added to them.  [with --start]")
@click.option("--checkpoint", type=click.Path(dir_okay=False), required=True, help="File to resume from after a kill.")
@click.option("--weights", type=click.Path(dir_okay=False), required=True, help="File of weights to write.")
@click.option("--curves", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
def main(mechanism, runs, start, noise, checkpoint, weights, curves, root_seed, **options):
    if (start is None) != (noise is None):
        raise click.UsageError("noise: is allowed with --start, and needed there")
    begun = time.perf_counter()
    made_from = {"mechanism": mechanism, "runs": runs, "noise": noise, "root_seed": root_seed, **options}
    torch.set_num_threads(1)  # a job is granted one core
    architecture = architecture_from(options)
    numbers, split, training = list(range(runs)), draw_split(architecture.task, root_seed), Training(**options)
    if start is None:
        before, trained, stage = initial_weights(architecture, mechanism, numbers, root_seed), mechanism, 1
    else:
        made_from["start"] = digest_of(start)
        restricted = read_weights(start)[1]
        before, trained, stage = unrestricted_weights(restricted, mechanism, numbers, root_seed, noise), "both", 2
    stored = Checkpoint(checkpoint, made_from, before, begun)
    state = stored.read()
    with tqdm(total=training.epochs, initial=state.epochs, desc="epochs", disable=None) as bar:

        def after_epoch(reached: State):
            stored.write(reached)
            bar.update()

        key = MECHANISMS.index(mechanism)
        end = train(state, trained, split, training, [(key, stage, r) for r in numbers], root_seed, after_epoch)
    write_weights(before, end.weights, weights)
    write_table(frame_of(end, mechanism, stage), COUNTING_CURVES, curves, begun - stored.earlier, made_from)
    stored.delete()


def frame_of(state: State, mechanism: str, stage: int) -> pd.DataFrame:
    """One row a run and epoch."""
    values = {name: np.concatenate(getattr(state, name)) for name in CURVES}
    runs = len(state.train_loss[0])
    epochs = np.repeat(np.arange(1, state.epochs + 1), runs)
    names = {"mechanism": mechanism, "stage": stage, "run": np.tile(np.arange(runs), state.epochs), "epoch": epochs}
    return pd.DataFrame({**names, **values})


class Checkpoint:
    """The state of a training after its last complete epoch.

    A file that is broken, or of another training (other arguments, start, code or version of torch), counts for none.
    earlier : seconds that the training took before it was resumed.
    """

    def __init__(self, path, made_from: dict, before: Weights, begun: float):
        self.path, self._before, self._begun, self.earlier = Path(path), before, begun, 0.0
        digest = hashlib.sha256(json.dumps({"torch": torch.__version__, **made_from}, sort_keys=True).encode())
        for source in sorted(Path(counting.__file__).parent.glob("*.py")):
            digest.update(source.read_bytes())
        for value in before.values():
            digest.update(value.numpy().tobytes())
        self._made_from = digest.hexdigest()

    def read(self) -> State:
        """The stored state, or that before the first epoch."""
        if not self.path.exists():
            return State(self._before)
        try:
            stored = torch.load(self.path, weights_only=True)
            whole = stored["made_from"] == self._made_from
        except Exception:  # whatever torch makes of a broken file
            whole = False
        if not whole:
            print(f"{self.path}: is broken or of another training, and is not used", file=sys.stderr)
            return State(self._before)
        self.earlier = stored["seconds"]
        curves = ([row.numpy() for row in stored[name]] for name in CURVES)
        state = State(stored["weights"], stored["optimizer"], *curves)
        print(f"{self.path}: going on after epoch {state.epochs}", file=sys.stderr)
        return state

    def write(self, state: State) -> None:
        curves = {name: [torch.from_numpy(row) for row in getattr(state, name)] for name in CURVES}
        seconds = self.earlier + time.perf_counter() - self._begun
        content = {"made_from": self._made_from, "seconds": seconds, **curves}
        with complete_file(self.path) as temporary:
            torch.save({**content, "weights": state.weights, "optimizer": state.optimizer}, temporary)

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)


if __name__ == "__main__":
    run(main)
