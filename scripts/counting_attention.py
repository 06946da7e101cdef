"""Attention of both mechanisms on the same sequences, equal letters framed."""

import click
import matplotlib.pyplot as plt
import pandas as pd
from cli import figure_files, run
from counting_drawing import NAMES, draw_matrix, matrix_of, protocol_of, settings_option, spoken, words_of
from schemas.counting_accuracies import COUNTING_ACCURACIES
from schemas.counting_attention import COUNTING_ATTENTION
from style import TEXT_WIDTH, save, save_caption, use_style
from tables import read_table


@click.command(help=__doc__)
@click.option("--attention", type=click.Path(), required=True)
@click.option("--accuracies", type=click.Path(), required=True)
@settings_option
@figure_files
def main(attention, accuracies, settings, pdf, png, caption):
    table, ends = read_table(COUNTING_ATTENTION, attention), read_table(COUNTING_ACCURACIES, accuracies)
    solutions = table[(table.stage == 1) & (table.when == "after")]
    examples = sorted(solutions.example.unique())
    use_style()
    size = (TEXT_WIDTH, 0.5 + 2.05 * len(NAMES))
    figure, axes = plt.subplots(len(NAMES), len(examples), figsize=size, layout="constrained", squeeze=False)
    for row, mechanism in zip(axes, NAMES, strict=True):
        for axis, example in zip(row, examples, strict=True):
            image = draw_matrix(axis, matrix_of(solutions, mechanism, example, 0))
        row[0].set_ylabel(f"{mechanism}\nquery")
    for axis in axes[-1]:
        axis.set_xlabel("key")
    figure.colorbar(image, ax=axes, label="attention", pad=0.02, aspect=30)
    save(figure, pdf, png)
    save_caption(caption, caption_of(solutions, ends, settings))


def caption_of(solutions: pd.DataFrame, ends: pd.DataFrame, settings: dict) -> str:
    runs = solutions.run.nunique()
    parts = []
    for mechanism in NAMES:
        group = solutions[solutions.mechanism == mechanism]
        own = group["query"] == group["key"]
        equal = (group.query_letter == group.key_letter) & ~own
        means = [group.attention[part].groupby(group.run).mean() for part in (own, equal, ~own & ~equal)]
        own, equal, other = (spoken(mean.mean(), mean.std(ddof=1)) for mean in means)
        accuracy = ends[(ends.mechanism == mechanism) & (ends.stage == 1)].validation_accuracy
        parts.append(
            f"{mechanism}: {own} on the diagonal, {equal} on other places of the same letter, {other} on other letters,"
            f" validation accuracy {accuracy.mean():.4f}"
        )
    words = "; ".join(words_of(solutions))
    return f"""**Counting by position and by meaning.** Attention matrices of the first run of each mechanism on the
same {solutions.example.nunique()} sequences ({words}); white frames: pairs of places that
hold the same letter. Above: queries and keys see places only; below: letters only.

Mean attention over the sequences, ± standard deviation over n = {runs} runs: {"; ".join(parts)}.
{protocol_of(settings)}
"""


if __name__ == "__main__":
    run(main)
