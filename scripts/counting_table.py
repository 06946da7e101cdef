"""Accuracies and distances of the counting experiment beside the published ones, as markdown and as LaTeX."""

import time

import click
import numpy as np
import pandas as pd
from claims import NOT, OWN, PAPER, REPRODUCED, UNTESTED, row
from cli import run
from counting_drawing import NAMES
from published import CITATION, COUNTING
from schemas.counting_accuracies import COUNTING_ACCURACIES
from schemas.counting_curves import COUNTING_CURVES
from schemas.counting_distances import COUNTING_DISTANCES
from schemas.scorecard import SCORECARD
from tables import complete_file, description_of, read_table, write_table

LEAST_ACCURACY, LEAST_RATIO = 0.998, 50.0
EPOCHS = {1: 200, 2: 100}  # of the published protocol
LATEX = {"±": r"$\pm$", "→": r"$\to$"}


@click.command(help=__doc__)
@click.option("--curves", type=click.Path(), required=True)
@click.option("--accuracies", type=click.Path(), required=True)
@click.option("--distances", type=click.Path(), required=True)
@click.option("--output", type=click.Path(), required=True, help="Parquet file of claims to write.")
@click.option("--page", type=click.Path(), required=True, help="Markdown file to write.")
@click.option("--latex", type=click.Path(), required=True, help="LaTeX file to write.")
def main(curves, accuracies, distances, output, page, latex):
    started = time.perf_counter()
    sources = {path: description_of(path)["made_from"] for path in (curves, accuracies, distances)}
    tables = {table.name.removeprefix("counting_"): read_table(table, path) for table, path in (
        (COUNTING_CURVES, curves), (COUNTING_ACCURACIES, accuracies), (COUNTING_DISTANCES, distances))}  # fmt: skip
    table, card = values_of(tables), pd.DataFrame(claims(tables))
    write_table(card.astype({"published": float, "ours": float, "error": float}), SCORECARD, output, started, sources)
    with complete_file(page) as temporary:
        temporary.write_text(page_of(table, card, tables), encoding="utf-8")
    with complete_file(latex) as temporary:
        temporary.write_text(latex_of(table), encoding="utf-8")


def values_of(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean and standard deviation over runs of each number of the table, by mechanism, ours and published."""
    accuracies, moved = tables["accuracies"], tables["distances"]
    rows = []
    for mechanism in NAMES:
        first, second = (accuracies[(accuracies.mechanism == mechanism) & (accuracies.stage == s)] for s in (1, 2))
        far, near = (moved[(moved.mechanism == mechanism) & (moved.stage == s)] for s in (1, 2))
        numbers = {
            "validation accuracy, stage 1": first.validation_accuracy,
            "validation accuracy, stage 2": second.validation_accuracy,
            "distance, start → solution, summed": far.summed,
            "distance in stage 2, summed": near.summed,
            "distance, start → solution, whole": far.whole,
            "distance in stage 2, whole": near.whole,
        }
        for name, values in numbers.items():
            published = COUNTING.get((mechanism, name), (np.nan, np.nan))
            rows.append({"mechanism": mechanism, "number": name, "mean": values.mean(), "std": values.std(ddof=1),
                         "published": published[0], "published_std": published[1]})  # fmt: skip
    return pd.DataFrame(rows)


def claims(tables: dict[str, pd.DataFrame]) -> list[dict]:
    """Verdicts; the published protocol decides whether a number is held against the published one."""
    runs, epochs = tables["curves"].run.nunique(), tables["curves"].groupby("stage").epoch.max()
    full = all(epochs[stage] == count for stage, count in EPOCHS.items())
    where = f"{runs} runs, {epochs[1]} and {epochs[2]} epochs"
    rows = []
    for at in values_of(tables).itertuples():
        if np.isnan(at.published):
            continue
        within = abs(at.mean - at.published) <= 2 * np.hypot(at.std, at.published_std)
        verdict = (REPRODUCED if within else NOT) if full else f"{UNTESTED} (shortened training)"
        rows.append(row(PAPER, f"{at.number}, {at.mechanism}", where, at.mean, verdict, at.std, at.published, runs))
    for mechanism in NAMES:
        ends = tables["accuracies"].query("mechanism == @mechanism and stage == 1").validation_accuracy
        verdict = REPRODUCED if ends.mean() >= LEAST_ACCURACY else NOT
        claim = f"the {mechanism} mechanism learns to count: mean validation accuracy ≥ {LEAST_ACCURACY}"
        rows.append(row(PAPER, claim, where, ends.mean(), verdict, ends.std(ddof=1), points=runs))
        for kind in ("summed", "whole"):
            own = tables["distances"].query("mechanism == @mechanism")
            moved = own.pivot(index="run", columns="stage", values=kind)
            ratio = moved[1] / moved[2]
            claim = (f"the {mechanism} solution is a minimum of the unrestricted model: stage 2 moves it at least"
                     f" {LEAST_RATIO:g} times less than stage 1, distances {kind}")  # fmt: skip
            verdict = REPRODUCED if ratio.min() >= LEAST_RATIO else NOT
            rows.append(row(OWN if kind == "whole" else PAPER, claim, f"{where}; smallest ratio of a run",
                            ratio.min(), verdict, points=runs))  # fmt: skip
    return rows


def page_of(table: pd.DataFrame, card: pd.DataFrame, tables: dict[str, pd.DataFrame]) -> str:
    epochs = tables["curves"].groupby("stage").epoch.max()
    runs = tables["curves"].run.nunique()
    verdicts = card[["claim", "where", "ours", "verdict"]].assign(ours=card.ours.map("{:.4g}".format))
    return f"""# Counting letters, by position and by meaning

{runs} runs of each mechanism, {epochs[1]} epochs of stage 1 and {epochs[2]} of stage 2 (published: 10 runs, {EPOCHS[1]}
and {EPOCHS[2]} epochs). Mean ± standard deviation over runs. Distances are Euclidean, of all weights: "summed" over
tensors, as published, or "whole", as one vector. Published: {CITATION}.

{wide(table).to_markdown(index=False, disable_numparse=True)}

A number is held against the published one where the training has the published length: *reproduced* where the means
differ by at most twice the root of the summed squares of both standard deviations.

{verdicts.to_markdown(index=False, disable_numparse=True)}
"""


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers as rows, mechanisms as columns."""
    rows = []
    for number, group in table.groupby("number", sort=False):
        by_mechanism = group.set_index("mechanism")
        cells = {"": number}
        for mechanism in NAMES:
            at = by_mechanism.loc[mechanism]
            cells[mechanism] = spoken(at["mean"], at["std"])
            cells[f"{mechanism}, published"] = spoken(at.published, at.published_std)
        rows.append(cells)
    return pd.DataFrame(rows)


def spoken(mean: float, std: float) -> str:
    """mean ± std with two digits of the latter."""
    if np.isnan(mean):
        return "–"
    if np.isnan(std) or std == 0:
        return f"{mean:.5g}"
    digits = max(0, 1 - int(np.floor(np.log10(std))))
    return f"{mean:.{digits}f} ± {std:.{digits}f}"


def latex_of(table: pd.DataFrame) -> str:
    """The same as a tabular environment, for booktabs."""
    text = wide(table).to_latex(index=False, column_format="lcccc", escape=False)
    for plain, command in LATEX.items():
        text = text.replace(plain, command)
    return text.replace("–", "--")


if __name__ == "__main__":
    run(main)
