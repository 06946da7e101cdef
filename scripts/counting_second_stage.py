"""Attention before and after the second stage, and what it changed."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run
from counting_drawing import NAMES, draw_matrix, matrix_of, protocol_of, settings_option, words_of
from schemas.counting_attention import COUNTING_ATTENTION
from schemas.counting_distances import COUNTING_DISTANCES
from style import TEXT_WIDTH, save, save_caption, use_style
from tables import read_table

EXAMPLE = RUN = 0


@click.command(help=__doc__)
@click.option("--attention", type=click.Path(), required=True)
@click.option("--distances", type=click.Path(), required=True)
@settings_option
@figure_files
def main(attention, distances, settings, pdf, png, caption):
    table, moved = read_table(COUNTING_ATTENTION, attention), read_table(COUNTING_DISTANCES, distances)
    second = table[table.stage == 2]
    pairs = {name: [matrix_of(second[second.when == when], name, EXAMPLE, RUN) for when in ("before", "after")]
             for name in NAMES}  # fmt: skip
    largest = max(np.abs(after - before).to_numpy().max() for before, after in pairs.values())
    use_style()
    figure, axes = plt.subplots(len(NAMES), 3, figsize=(TEXT_WIDTH, 0.5 + 2.0 * len(NAMES)), layout="constrained")
    for row, (name, (before, after)) in zip(axes, pairs.items(), strict=True):
        draw_matrix(row[0], before)
        image = draw_matrix(row[1], after)
        change = draw_matrix(row[2], after - before, frame="0.3", cmap="RdBu_r", vmin=-largest, vmax=largest)
        row[0].set_ylabel(f"{name}\nquery")
    for axis, title in zip(axes[0], ("before", "after", "after − before"), strict=True):
        axis.set_title(title, fontsize="medium")
    for axis in axes[-1]:
        axis.set_xlabel("key")
    figure.colorbar(image, ax=axes[:, 1], label="attention", pad=0.02, aspect=30)
    figure.colorbar(change, ax=axes[:, 2], label="change", pad=0.02, aspect=30)
    save(figure, pdf, png)
    save_caption(caption, caption_of(second, moved, largest, settings))


def caption_of(second: pd.DataFrame, moved: pd.DataFrame, largest: float, settings: dict) -> str:
    key = ["mechanism", "run", "example", "query", "key"]
    before, after = (second[second.when == when].set_index(key).attention for when in ("before", "after"))
    change = (after - before).abs().groupby(["mechanism", "run"]).max().groupby("mechanism").max()
    ratio = moved.pivot(index=["mechanism", "run"], columns="stage", values="summed")
    ratio = (ratio[1] / ratio[2]).dropna().groupby("mechanism").min()
    words = "; ".join(
        f"{name}: at most {change[name]:.2g} in one entry, over all runs and examples; the weights moved at least"
        f" {ratio[name]:.0f} times less, summed over tensors, than from random start to solution" for name in NAMES
    )
    return f"""**The second stage.** Attention on the sequence {words_of(second)[EXAMPLE]} of the first run
of each mechanism, put into the unrestricted model with noise of
standard deviation {settings["second"]["noise"]:g}: before and after the second stage of training
(note the scale of the change, ±{largest:.1g}). Frames: equal letters.

Change of attention in the second stage, n = {second.run.nunique()} runs: {words}.
That weights stay where they are says that the slope is small there, as far as this training tells.
{protocol_of(settings)}
"""


if __name__ == "__main__":
    run(main)
