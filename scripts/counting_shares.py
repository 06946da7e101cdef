"""How semantic the attention of each run is, from 0 (positional) to 1 (semantic), against its accuracy."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run
from counting_drawing import COLOUR, protocol_of, settings_option, spoken, validation_letters, wrong_counts
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
@settings_option
@figure_files
def main(accuracies, settings, pdf, png, caption):
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
        wrong = wrong_counts(group.validation_accuracy, validation_letters(settings))
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
    save_caption(caption, caption_of(table, settings))


def caption_of(table: pd.DataFrame, settings: dict) -> str:
    words, unknown = [], int(table.semantic_share.isna().sum())
    for (mechanism, stage), name in ROWS.items():
        group = table[(table.mechanism == mechanism) & (table.stage == stage)]
        low, high = group.semantic_share.min(), group.semantic_share.max()
        plain = name.replace("\n", " ")
        words.append(
            f"{plain}: S = {low:.3f} to {high:.3f}, validation accuracy"
            f" {spoken(group.validation_accuracy.mean(), group.validation_accuracy.std(ddof=1))}"
        )
    return f"""**How semantic are the scores?** (a) Semantic share S of each run before (open) and after (filled) its
training, n = {table.run.nunique()} runs of each kind. (b) Share of validation letters counted wrong (half a letter
where none is) against S. S = C/(C + P), where C is the variance of the scores (before the softmax) over the letter of
the key and P that over its place, averaged over queries: S = 0 where scores depend on places alone, S = 1 where they
depend on letters alone, whatever their scale.

{"; ".join(words)} (± standard deviation over runs{f"; {unknown} runs have flat scores and no S" if unknown else ""}).
{protocol_of(settings)}
"""


if __name__ == "__main__":
    run(main)
