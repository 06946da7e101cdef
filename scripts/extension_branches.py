"""Overlaps, ε_t and ε_g of every branch against α, in theory and of minimisers, a row of panels for each extension."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run
from extension_points import Cases, extrapolated, resolved, task_of, with_tokens
from extension_titles import plain_title, title
from matplotlib.lines import Line2D
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from style import BASELINE, FOUR_COLOURS, FOUR_MARKERS, TEXT_WIDTH, TRANSITION_STYLES, save, save_caption, use_style
from tables import read_table

from solvable_attention.baseline import linear_baseline

SCALE = 1e3  # of ε_t and ε_g
LOSSES = {"train_loss": r"$\varepsilon_t$  $[10^{-3}]$", "test_error": r"$\varepsilon_g$  $[10^{-3}]$"}
# Overlaps as standard deviation or mean of a local field: symbol, dashes, and the power of σ by which it is divided.
OVERLAPS = {
    "theta": (r"$\theta/\sigma$", "-", 1),
    "m": (r"$m$", (0, (3, 1.5)), 0),
    "value_overlap": (r"$U\cdot V_\star/d$", (0, (1, 1)), 2),
}
OF_BRANCH = {"semantic": ["theta"], "positional": ["m"], "mixed": ["theta", "m"], "uninformative": ["theta"]}


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--cases", type=Cases(), required=True, help="Options of the tasks by extension, JSON.")
@figure_files
def main(fixed_points, transitions, runs, cases, pdf, png, caption):
    points = with_tokens(read_table(FIXED_POINTS, fixed_points), cases)
    found = read_table(TRANSITIONS, transitions)
    table = read_table(RUNS, runs)
    table = table[table.experiment.isin(cases)]
    ends = extrapolated(points, table)
    use_style()
    figure, axes = plt.subplots(
        len(cases), 3, figsize=(TEXT_WIDTH, 0.5 + 1.75 * len(cases)), layout="constrained", squeeze=False
    )
    for row, (name, options) in zip(axes, cases.items(), strict=True):
        ours = points[points.experiment == name]
        lines = found[(found.experiment == name) & (found.status == "found")]
        draw_case(row, ours, ends[ends.experiment == name], lines, options)
        row[0].set_title(f"{title(options)}, $\\omega={ours.omega.iloc[0]:g}$", loc="left", fontsize="medium")
    for axis in axes[-1]:
        axis.set_xlabel(r"$\alpha$")
    figure.legend(handles=legend(points, found, cases), loc="outside upper center", ncols=5, fontsize="x-small")
    save(figure, pdf, png)
    save_caption(caption, caption_of(points, table, ends, found, cases))


def draw_case(row, points: pd.DataFrame, ends: pd.DataFrame, transitions: pd.DataFrame, options: dict):
    """The three panels of one extension."""
    lowest = points[resolved(points)].groupby("alpha").train_loss.min()
    for branch, curve in points.groupby("branch"):
        curve = curve.sort_values("alpha").set_index("alpha")
        curve = curve.where(resolved(curve))
        is_lowest = np.isclose(curve.train_loss, lowest.reindex(curve.index), rtol=1e-9)
        here = ends[ends.branch == branch]
        for number in [*OF_BRANCH[branch], *(["value_overlap"] if curve.value_overlap.notna().any() else [])]:
            _, dashes, power = OVERLAPS[number]
            draw_number(row[0], curve, here, branch, number, points.sigma.iloc[0] ** -power, is_lowest, dashes)
        for axis, number in zip(row[1:], LOSSES, strict=True):
            draw_number(axis, curve, here, branch, number, SCALE, is_lowest, "-")
    row[0].set_ylabel("overlap")
    row[0].set_ylim(bottom=0, top=max(row[0].get_ylim()[1], 0.1))
    for axis, (number, label) in zip(row[1:], LOSSES.items(), strict=True):
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0 if number == "train_loss" else None)
    if not options.get("value_rank"):
        task = task_of(options, points.iloc[0])
        row[2].axhline(SCALE * linear_baseline(task).test_error, color=BASELINE, lw=1, ls=(0, (4, 1.5)), zorder=0)
    for axis in row:
        for kind, line in transitions.groupby("kind"):
            if kind not in ("alpha_l", "alpha_lm") or axis is row[2]:
                axis.axvline(line.alpha.iloc[0], color="0.35", lw=0.8, ls=TRANSITION_STYLES[kind][0], zorder=0)


def draw_number(axis, curve, ends, branch: str, number: str, scale: float, is_lowest, dashes):
    """Theory as a line, thick where the branch is the lowest; the runs' limit d → ∞, and those at the smallest d."""
    colour, marker = FOUR_COLOURS[branch], FOUR_MARKERS[branch]
    values = scale * curve[number]
    axis.plot(values.index, values, color=colour, ls=dashes, lw=0.8)
    axis.plot(values.index, values.where(is_lowest), color=colour, ls=dashes, lw=2.0, alpha=0.7)
    for end in ends[ends.number == number].itertuples():
        style = {"color": colour, "ms": 4.2, "mew": 0.7, "elinewidth": 0.8, "capsize": 1.5, "zorder": 3}
        axis.errorbar(end.alpha, scale * end.limit, scale * end.limit_error, fmt=marker, mec="white", **style)
        pale = {**style, "ms": 3.2, "alpha": 0.6, "zorder": 2, "mfc": "none"}
        axis.errorbar(end.alpha, scale * end.values[0], scale * end.errors[0], fmt=marker, **pale)


def legend(points: pd.DataFrame, transitions: pd.DataFrame, cases: dict) -> list[Line2D]:
    """Handles of what the figure shows."""
    handles = []
    there = points[resolved(points)]
    for branch in FOUR_COLOURS:
        if branch in set(there.branch):
            style = {"color": FOUR_COLOURS[branch], "marker": FOUR_MARKERS[branch], "ms": 4, "mec": "white", "lw": 1.4}
            handles.append(Line2D([], [], label=branch, **style))
    shown = ["theta", "m", *(["value_overlap"] if points.value_overlap.notna().any() else [])]
    for symbol, dashes, _ in (OVERLAPS[name] for name in shown):
        handles.append(Line2D([], [], color="0.3", ls=dashes, lw=1, label=symbol))
    found = transitions[transitions.experiment.isin(cases) & (transitions.status == "found")]
    for kind in TRANSITION_STYLES:
        if kind in set(found.kind):
            pattern, label = TRANSITION_STYLES[kind]
            handles.append(Line2D([], [], color="0.35", lw=0.8, ls=pattern, label=label))
    if not all(options.get("value_rank") for options in cases.values()):
        handles.append(Line2D([], [], color=BASELINE, lw=1, ls=(0, (4, 1.5)), label="linear baseline"))
    return handles


def caption_of(points, runs, ends, transitions, cases: dict) -> str:
    sizes, smallest = sorted(runs.d.unique()), int(runs.d.min())
    seeds = several(runs.groupby("experiment").seed.nunique().reindex(cases), " and ")
    lost = points[~points.converged]
    unclear = points[points.converged & ~resolved(points)]
    kinds = "; ".join(told(transitions[transitions.experiment == name], options) for name, options in cases.items())
    agree = f"{int(ends.within.sum())} of {len(ends)}"
    titles = "; ".join(plain_title(options) for options in cases.values())
    return f"""**{titles}.** Overlaps, training loss and test error
against α; σ = {points.sigma.iloc[0]:g}, λ = {points.lam.iloc[0]:g}, ω = {several(points.omega)}. Lines: fixed points of
the state evolution, thick where the branch has the lowest loss of those solved. Full symbols: minimisers (L-BFGS) at
d = {", ".join(map(str, sizes))}, {seeds} data sets at each, extrapolated by v + c/d, with standard
errors; hollow: those at d = {smallest}. The value at each d is that at ‖Q⋆‖²/d = 1 of a regression over data sets, less
the term of the encodings in the values. Of each data set the lowest run on a branch counts; a run is on the branch
whose (m, θ/σ) is nearest to its own. Overlaps as they move the fields: θ/σ and m, norms over the columns that attend.

{agree} numbers of these minimisers agree with theory within 3 standard errors and the quadrature's error (see
scorecard_extensions.md). Transitions: {kinds}. Not drawn: {len(lost)} of {len(points)} fixed points that did not
converge, {len(unclear)} at which the branch is merged or not resolved from 0. {int((~runs.converged).sum())} of
{len(runs)} runs did not converge.
"""


def told(transitions: pd.DataFrame, options: dict) -> str:
    """The transitions of one extension in words."""
    words = []
    for row in transitions.itertuples():
        value = (
            f"= {row.alpha:.4g} ± {row.error:.1g}"
            if row.status == "found"
            else f"{row.status} in {row.low:g}–{row.high:g}"
        )
        words.append(f"{row.kind} {value}")
    return f"{plain_title(options)}: {', '.join(words) or 'none sought'}"


def several(values: pd.Series, word: str = ", ") -> str:
    return word.join(f"{value:g}" for value in sorted(values.unique()))


if __name__ == "__main__":
    run(main)
