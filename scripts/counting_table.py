"""Accuracies and distances of the counting experiment beside the published ones, as markdown and as LaTeX."""

import time

import click
import numpy as np
import pandas as pd
from claims import NOT, OWN, PAPER, REPRODUCED, UNTESTED, row
from cli import run
from counting_drawing import NAMES, departures, protocol_of, settings_option, spoken
from published import CITATION, COUNTING, COUNTING_PROTOCOL
from schemas.counting_accuracies import COUNTING_ACCURACIES
from schemas.counting_curves import COUNTING_CURVES
from schemas.counting_distances import COUNTING_DISTANCES
from schemas.scorecard import SCORECARD
from style import wrapped
from tables import complete_file, description_of, read_table, write_table

LEAST_ACCURACY, LEAST_RATIO = 0.998, 50.0
PUBLISHED_RUNS = COUNTING_PROTOCOL["runs"]
LATEX = {"±": r"$\pm$", "→": r"$\to$", "–": "--"}


@click.command(help=__doc__)
@click.option("--curves", type=click.Path(), required=True)
@click.option("--accuracies", type=click.Path(), required=True)
@click.option("--distances", type=click.Path(), required=True)
@settings_option
@click.option("--output", type=click.Path(), required=True, help="Parquet file of claims to write.")
@click.option("--page", type=click.Path(), required=True, help="Markdown file to write.")
@click.option("--latex", type=click.Path(), required=True, help="LaTeX file to write.")
def main(curves, accuracies, distances, settings, output, page, latex):
    started = time.perf_counter()
    paths = {COUNTING_CURVES: curves, COUNTING_ACCURACIES: accuracies, COUNTING_DISTANCES: distances}
    made_from = {"settings": settings, **{path: description_of(path)["made_from"] for path in paths.values()}}
    tables = {table.name: read_table(table, path) for table, path in paths.items()}
    table, card = values_of(tables), pd.DataFrame(claims(tables, settings))
    write_table(card.astype({"published": float, "ours": float, "error": float}), SCORECARD, output, started, made_from)
    with complete_file(page) as temporary:
        temporary.write_text(page_of(table, card, tables, settings), encoding="utf-8")
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


def claims(tables: dict[str, pd.DataFrame], settings: dict) -> list[dict]:
    """Verdicts, given only where the training is the published one."""
    runs, where = settings["runs"], f"{settings['runs']} runs"
    differs = departures(settings)
    untested = f"{UNTESTED} ({', '.join(differs)} not as published)" if differs else ""
    rows = []
    for at in values_of(tables).itertuples():
        if np.isnan(at.published):
            continue
        error, scatter = at.std / runs**0.5, at.published_std / PUBLISHED_RUNS**0.5
        verdict = untested or (REPRODUCED if abs(at.mean - at.published) <= 3 * np.hypot(error, scatter) else NOT)
        rows.append(row(PAPER, f"{at.number}, {at.mechanism}", where, at.mean, verdict, error, at.published, runs))
    for mechanism in NAMES:
        ends = tables["accuracies"].query("mechanism == @mechanism and stage == 1").validation_accuracy
        verdict = untested or (REPRODUCED if ends.mean() >= LEAST_ACCURACY else NOT)
        claim = f"the {mechanism} mechanism learns to count: mean validation accuracy ≥ {LEAST_ACCURACY}"
        rows.append(row(PAPER, claim, where, ends.mean(), verdict, ends.sem(), points=runs))
        for kind in ("summed", "whole"):
            own = tables["distances"].query("mechanism == @mechanism")
            moved = own.pivot(index="run", columns="stage", values=kind)
            ratio = (moved[1] / moved[2]).min()
            claim = f"stage 2 moves the {mechanism} solution at least {LEAST_RATIO:g} times less than stage 1, {kind}"
            verdict = untested or (REPRODUCED if ratio >= LEAST_RATIO else NOT)
            rows.append(row(OWN if kind == "whole" else PAPER, claim, f"{where}, smallest ratio", ratio, verdict,
                            points=runs))  # fmt: skip
    return rows


def page_of(table: pd.DataFrame, card: pd.DataFrame, tables: dict[str, pd.DataFrame], settings: dict) -> str:
    verdicts = card[["claim", "where", "ours", "verdict"]].assign(ours=card.ours.map("{:.4g}".format))
    opening = f"""{protocol_of(settings)} Mean ± standard deviation over runs; published: {CITATION}, {PUBLISHED_RUNS}
runs. Distances are Euclidean, of all weights: "summed" over tensors, as published, or "whole", as one vector. Those of
stage 2 are counted from the solution with the noise that opens the stage. The training loss in stage 2 goes
{losses(tables["curves"])} between its first and its last epoch."""
    return f"""# Counting letters, by position and by meaning

{wrapped(opening)}

{wide(table).to_markdown(index=False, disable_numparse=True)}

Verdicts are given where the training is the published one. A number is *reproduced* where the means differ by at most
three times their common standard error.

{verdicts.to_markdown(index=False, disable_numparse=True)}
"""


def losses(curves: pd.DataFrame) -> str:
    """Mean training loss at the ends of stage 2, by mechanism."""
    second = curves[curves.stage == 2]
    first, last = (second[second.epoch == epoch] for epoch in (second.epoch.min(), second.epoch.max()))
    start, end = (part.groupby("mechanism").train_loss.mean() for part in (first, last))
    return ", ".join(f"from {start[name]:.3g} to {end[name]:.3g} ({name})" for name in NAMES)


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


def latex_of(table: pd.DataFrame) -> str:
    """The same as a tabular environment, for booktabs."""
    text = wide(table).to_latex(index=False, column_format="lcccc", escape=False)
    for plain, command in LATEX.items():
        text = text.replace(plain, command)
    return text


if __name__ == "__main__":
    run(main)
