"""Learning curves of all runs that count letters: loss and wrong counts against epochs, in both stages."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run
from counting_drawing import COLOUR
from matplotlib.lines import Line2D
from schemas.counting_curves import COUNTING_CURVES
from style import TEXT_WIDTH, save, save_caption, use_style
from tables import read_table


@click.command(help=__doc__)
@click.option("--curves", type=click.Path(), required=True)
@figure_files
def main(curves, pdf, png, caption):
    table = read_table(COUNTING_CURVES, curves)
    use_style()
    stages = sorted(table.stage.unique())
    size = (TEXT_WIDTH, 4.2)
    figure, axes = plt.subplots(2, len(stages), figsize=size, layout="constrained", squeeze=False, sharey="row")
    least = 0.5 * smallest_step(table)
    for column, stage in zip(axes.T, stages, strict=True):
        for (mechanism, _), group in table[table.stage == stage].groupby(["mechanism", "run"]):
            style = {"color": COLOUR[mechanism], "lw": 0.7, "alpha": 0.8}
            column[0].plot(group.epoch, group.train_loss, ls=":", **style)
            column[0].plot(group.epoch, group.validation_loss, **style)
            column[1].plot(group.epoch, (1 - group.validation_accuracy).clip(lower=least), **style)
        column[0].set(title=f"stage {stage}", yscale="log")
        column[1].set(xlabel="epoch", yscale="log")
    axes[0, 0].set_ylabel("cross entropy")
    axes[1, 0].set_ylabel("share of wrong counts")
    mechanisms = [name for name in COLOUR if name in set(table.mechanism)]
    entries = [Line2D([], [], color=COLOUR[name], label=LABEL[name]) for name in mechanisms]
    entries += [Line2D([], [], color="0.4", label="validation"), Line2D([], [], color="0.4", ls=":", label="training")]
    axes[0, 0].legend(handles=entries, fontsize="x-small")
    save(figure, pdf, png)
    save_caption(caption, caption_of(table, least))


LABEL = {"positional": "positional", "semantic": "semantic", "both": "unrestricted"}


def smallest_step(table: pd.DataFrame) -> float:
    """The smallest difference between two accuracies, a wrong count more or less."""
    values = np.unique(np.append(table.validation_accuracy, 1.0))
    return float(np.diff(values).min(initial=1.0))


def caption_of(table: pd.DataFrame, least: float) -> str:
    epochs = table.groupby("stage").epoch.max()
    last = table[table.epoch == table.stage.map(epochs)]
    ends = last.groupby(["stage", "mechanism"]).validation_accuracy.agg(["mean", "std"])
    words = [f"stage {s}, {LABEL[m]}: {row['mean']:.4f} ± {row['std']:.4f}" for (s, m), row in ends.iterrows()]
    spans = ", ".join(f"{count} epochs of stage {stage}" for stage, count in epochs.items())
    return f"""**Learning to count.** Above: cross entropy on the training set (dotted, mean over the batches of an
epoch) and on the validation set (solid); below: share of validation letters that are counted wrong (runs without a
wrong one are drawn at {least:.1g}). One line for each of n = {table.run.nunique()} runs; {spans}. Stage 1, Adam:
queries and keys see places only (positional), letters only (semantic), or both, from random weights (unrestricted).
Stage 2, plain gradient steps: the solutions of the two restricted models go on in the unrestricted one. Means of the
last epoch's validation accuracies ± standard deviation over runs: {"; ".join(words)}.
"""


if __name__ == "__main__":
    run(main)
