"""How semantic the attention of each run is, from 0 (positional) to 1 (semantic), against its accuracy."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run
from counting_drawing import COLOUR
from schemas.counting_accuracies import COUNTING_ACCURACIES
from style import TEXT_WIDTH, save, save_caption, use_style
from tables import read_table

ROWS = {
    ("positional", 1): "positional only",
    ("semantic", 1): "semantic only",
    ("positional", 2): "unrestricted,\nfrom positional",
    ("semantic", 2): "unrestricted,\nfrom semantic",
    ("both", 1): "unrestricted,\nfrom random",
}


@click.command(help=__doc__)
@click.option("--accuracies", type=click.Path(), required=True)
@figure_files
def main(accuracies, pdf, png, caption):
    table = read_table(COUNTING_ACCURACIES, accuracies)
    use_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(TEXT_WIDTH, 2.7), layout="constrained", width_ratios=[1.4, 1])
    for height, ((mechanism, stage), name) in enumerate(ROWS.items()):
        group = table[(table.mechanism == mechanism) & (table.stage == stage)]
        spread = height + 0.3 * np.linspace(-1, 1, len(group))
        colour = COLOUR[mechanism]
        left.plot([group.semantic_share_before, group.semantic_share], [spread, spread], color=colour, lw=0.6)
        left.plot(group.semantic_share_before, spread, "o", ms=3, mfc="white", mec=colour, mew=0.7)
        left.plot(group.semantic_share, spread, "o", ms=3, color=colour)
        wrong = 1 - group.validation_accuracy
        style = {"mfc": "none" if stage == 2 else colour, "mec": colour, "ls": "none", "ms": 4}
        right.plot(group.semantic_share, wrong, "s" if stage == 2 else "o", label=name.replace("\n", " "), **style)
    left.set_yticks(range(len(ROWS)), list(ROWS.values()), fontsize="small")
    left.invert_yaxis()
    left.set(xlabel="semantic share $S$", xlim=(-0.03, 1.03))
    right.set(xlabel="semantic share $S$", ylabel="share of wrong counts", xlim=(-0.03, 1.03), yscale="log")
    right.legend(fontsize="xx-small")
    for axis, letter in zip((left, right), "ab", strict=True):
        axis.set_title(f"({letter})", loc="left", fontsize="medium")
    save(figure, pdf, png)
    save_caption(caption, caption_of(table))


def caption_of(table: pd.DataFrame) -> str:
    words = []
    for (mechanism, stage), name in ROWS.items():
        group = table[(table.mechanism == mechanism) & (table.stage == stage)]
        low, high = group.semantic_share.min(), group.semantic_share.max()
        plain = name.replace("\n", " ")
        words.append(
            f"{plain}: S = {low:.3f} to {high:.3f}, validation accuracy {group.validation_accuracy.mean():.4f} ±"
            f" {group.validation_accuracy.std(ddof=1):.4f}"
        )
    return f"""**How semantic is attention?** (a) Semantic share S of each run before (open) and after (filled) its
training, n = {table.run.nunique()} runs of each kind. (b) Share of validation letters counted wrong against S.
S = C/(C + P), where C is the mean square change of an attention matrix when other letters stand at the same places and
P the one, beyond the matrix being moved along, when the same letters stand at other places: attention that depends on
places alone has S = 0, attention that depends on letters alone S = 1.

{"; ".join(words)} (± standard deviation over runs).
"""


if __name__ == "__main__":
    run(main)
