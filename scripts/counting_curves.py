"""Learning curves of all runs that count letters: loss and wrong counts against epochs, in both stages."""

import click
import matplotlib.pyplot as plt
import pandas as pd
from cli import figure_files, run
from counting_drawing import (
    COLOUR,
    LABEL,
    protocol_of,
    settings_option,
    spoken,
    validation_letters,
    wrong_counts,
)
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from schemas.counting_curves import COUNTING_CURVES
from style import TEXT_WIDTH, save, save_caption, use_style
from tables import read_table


@click.command(help=__doc__)
@click.option("--curves", type=click.Path(), required=True)
@settings_option
@figure_files
def main(curves, settings, pdf, png, caption):
    table = read_table(COUNTING_CURVES, curves)
    use_style()
    stages = sorted(table.stage.unique())
    size = (TEXT_WIDTH, 4.2)
    figure, axes = plt.subplots(2, len(stages), figsize=size, layout="constrained", squeeze=False, sharey="row")
    letters = validation_letters(settings)
    for column, stage in zip(axes.T, stages, strict=True):
        for (mechanism, _), group in table[table.stage == stage].groupby(["mechanism", "run"]):
            style = {"color": COLOUR[mechanism], "lw": 0.7, "alpha": 0.8}
            column[0].plot(group.epoch, group.train_loss, ls=":", **style)
            column[0].plot(group.epoch, group.validation_loss, **style)
            column[1].plot(group.epoch, wrong_counts(group.validation_accuracy, letters), **style)
        column[0].set(title=f"stage {stage}", yscale="log")
        column[1].set(xlabel="epoch", yscale="log")
        for axis in column:
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0, 0].set_ylabel("cross entropy")
    axes[1, 0].set_ylabel("share of wrong counts")
    mechanisms = [name for name in COLOUR if name in set(table.mechanism)]
    entries = [Line2D([], [], color=COLOUR[name], label=LABEL[name]) for name in mechanisms]
    entries += [Line2D([], [], color="0.4", label="validation"), Line2D([], [], color="0.4", ls=":", label="training")]
    axes[0, 0].legend(handles=entries, fontsize="x-small")
    save(figure, pdf, png)
    save_caption(caption, caption_of(table, settings))


def caption_of(table: pd.DataFrame, settings: dict) -> str:
    epochs = table.groupby("stage").epoch.max()
    last = table[table.epoch == table.stage.map(epochs)]
    ends = last.groupby(["stage", "mechanism"]).validation_accuracy.agg(["mean", "std"])
    words = [f"stage {s}, {LABEL[m]}: {spoken(row['mean'], row['std'])}" for (s, m), row in ends.iterrows()]
    return f"""**Learning to count.** Above: cross entropy on the training set (dotted, mean over the batches of an
epoch) and on the validation set (solid); below: share of validation letters that are counted wrong (at half a
letter where none is). One line for each of n = {table.run.nunique()} runs. Stage 1, {settings["first"]["optimizer"]}:
queries and keys see places only (positional), letters only (semantic), or both, from random weights (unrestricted).
Stage 2, {settings["second"]["optimizer"]}: the solutions of the two restricted models go on in the unrestricted one.
Means of the last epoch's validation accuracies ± standard deviation over runs: {"; ".join(words)}.
{protocol_of(settings)}
"""


if __name__ == "__main__":
    run(main)
