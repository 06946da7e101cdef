"""The transitions and branch ends over ω; and how far published and simulated crossings lie from them."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run, task_options, tasks_from
from diagram import lines, one_task_a_point
from published import CITATION, LINES, has_published_lines
from schemas.crossings import CROSSINGS
from schemas.transitions import TRANSITIONS
from scipy.interpolate import PchipInterpolator
from style import (
    NEUTRAL,
    POSITIONAL,
    SEMANTIC,
    TEXT_WIDTH,
    TRANSITION_STYLES,
    draw_transition,
    save,
    save_caption,
    use_style,
)
from tables import read_table

NAMES = {"alpha_c": r"$\alpha_c$", "alpha_l": r"$\alpha_l$"}
PLAIN = {"alpha_c": "α_c", "alpha_l": "α_l", "semantic_onset": "θ leaves 0"}
MARKERS = {"alpha_c": "s", "alpha_l": "v"}
COLOURS = {"alpha_c": POSITIONAL, "alpha_l": SEMANTIC}


@click.command(help=__doc__)
@task_options
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--crossings", type=click.Path(), required=True)
@click.option("--lines", "lines_name", required=True, help="Experiment with α_c and α_l.")
@click.option("--ends", "ends_name", required=True, help="Experiment with the ends and the stability of the branches.")
@figure_files
def main(transitions, crossings, lines_name, ends_name, pdf, png, caption, **options):
    _, tasks = tasks_from(options)
    published = LINES if has_published_lines(tasks[0]) else {}
    table, measured = read_table(TRANSITIONS, transitions), read_table(CROSSINGS, crossings)
    parts = [one_task_a_point(table, name, "figure3") for name in (lines_name, ends_name)]
    drawn = {kind: line for part in parts for kind, line in lines(part).items()}
    use_style()
    widths = {"width_ratios": [1.25, 1, 1]}
    figure, (plane, *gaps) = plt.subplots(1, 3, figsize=(TEXT_WIDTH, 3.1), layout="constrained", **widths)
    draw_plane(plane, drawn, published)
    for axis, kind in zip(gaps, NAMES, strict=True):
        draw_gaps(axis, kind, drawn[kind], measured[measured.kind == kind], published.get(kind, {}))
    for axis, letter in zip((plane, *gaps), "abc", strict=True):
        axis.set_title(f"({letter})", loc="left", fontsize="medium")
    save(figure, pdf, png)
    save_caption(caption, caption_of(drawn, measured, published), tasks[0].A)


def draw_plane(axis, drawn: dict[str, pd.DataFrame], published: dict):
    for kind, line in drawn.items():
        draw_transition(axis, line, kind, path_effects=[], lw=1.6 if kind in NAMES else 0.9)
    for kind, values in published.items():
        style = {"mfc": "none", "mec": "0.35", "ms": 4, "ls": "none"}
        axis.plot(list(values.values()), list(values), MARKERS[kind], label=f"published {NAMES[kind]}", **style)
    axis.set(xlabel=r"sample complexity $\alpha$", ylabel=r"$\omega$", xlim=(0, None))
    axis.figure.legend(*axis.get_legend_handles_labels(), fontsize="x-small", loc="outside lower center", ncols=5)


def draw_gaps(axis, kind, line: pd.DataFrame, measured: pd.DataFrame, published: dict):
    """Distances to theory's line, published and measured, in per cent of α."""
    known = line.dropna(subset="alpha")
    axis.set(xlabel=r"$\omega$", ylabel=f"difference to our {NAMES[kind]}  [%]")
    if len(known) < 2:
        return  # nothing to interpolate
    theory = PchipInterpolator(known.omega, known.alpha, extrapolate=False)
    axis.axhline(0, color=NEUTRAL, lw=0.8)
    bar = 100 * known.error / known.alpha
    axis.fill_between(known.omega, -bar, bar, color="0.6", lw=0)
    for corrected, group in measured.dropna(subset=["alpha", "error"]).groupby("corrected"):
        expected = theory(group.omega)
        face, label = (COLOURS[kind], "runs, less encodings") if corrected else ("white", "runs")
        style = {"fmt": "o", "ms": 3, "color": COLOURS[kind], "mfc": face, "elinewidth": 0.8, "label": label}
        axis.errorbar(group.omega, 100 * (group.alpha / expected - 1), 100 * group.error / expected, **style)
    omega, alpha = np.array(list(published)), np.array(list(published.values()))
    style = {"mfc": "none", "mec": "0.35", "ms": 4.5, "ls": "none", "label": "published"}
    if published:
        axis.plot(omega, 100 * (alpha / theory(omega) - 1), MARKERS[kind], **style)
    axis.legend(fontsize="x-small", loc="lower right", framealpha=0.9)


def caption_of(drawn: dict[str, pd.DataFrame], measured: pd.DataFrame, published: dict) -> str:
    first, line, end = measured.iloc[0], drawn["alpha_c"], drawn["semantic_onset"]
    largest = {kind: drawn[kind].error.max() for kind in NAMES}
    absent = [
        f"{PLAIN.get(kind, TRANSITION_STYLES[kind][1])} at {count}, from ω = {missing.min():g}"
        for kind, rows in drawn.items()
        if (count := len(missing := rows.omega[rows.status == "absent"]))
    ]
    unresolved = sum(int((rows.status == "unresolved").sum()) for rows in drawn.values())
    source = f"Open symbols: values in the plotting code of {CITATION}." if published else ""
    return f"""**Transitions.** σ = {line.sigma.iloc[0]:g}, λ = {line.lam.iloc[0]:g}. (a) Theory, by root search on the
branches for α in [{line.low.iloc[0]:g}, {line.high.iloc[0]:g}]. At {len(line)} values of ω: α_c, where the global
minimum changes from positional to semantic, and α_l, above which the semantic minimum beats the linear baseline. At
{len(end)} values of ω: where θ of the semantic branch leaves 0 and from where on that branch is stable towards m; where
m of the positional branch leaves 0 and returns to it, and up to where that branch is stable towards θ. No such
transition in that range of α: {"; ".join(absent) or "none"}; unresolved (crosses on the right edge): {unresolved}.
Where m does not return to 0 the positional branch goes on, stable, to the end of the range. {source}

(b, c) Published values and crossings of our runs relative to theory's line. The error bar of theory (grey; at most
{largest["alpha_c"]:.1g} in α_c and {largest["alpha_l"]:.1g} in α_l) comes from rules of lower order and from residuals.
Crossings: sign change of the mean paired difference, less what ‖Q⋆‖²/d explains, over {first.seeds} data sets at
d = {first.d}, linear between the α of the grid, with the
standard deviation of {first.resamples} bootstrap resamples; those without a crossing in 90 % of
the resamples are left out. Filled circles: less the term of order 1/d that the encodings in the values add to each
run's losses, as computed from its overlaps. All ω share their data sets: neighbouring points are not independent, and
the error bars do not hold the systematic part. One positional start does not reach the lowest positional minimum, which
shifts the crossings in (b) to smaller α; the other gaps are not explained.
"""


if __name__ == "__main__":
    run(main)
