"""Test error against α in slices of ω, σ and λ: theory of both branches, minimisers from both starts, the baseline."""

import click
import matplotlib.pyplot as plt
import pandas as pd
from cli import figure_options, run
from matplotlib.lines import Line2D
from schemas.fixed_points import FIXED_POINTS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from selection import positional_starts
from style import BASELINE, BRANCH_COLOUR, POSITIONAL, SEMANTIC, TEXT_WIDTH, save, save_caption, use_style
from sweep_points import TASK, sweep_of, sweep_points
from tables import read_table

MARKERS = {
    "semantic": {"fmt": "o", "ms": 3.2},
    "lowest": {"fmt": "s", "ms": 3.2},
    "one start": {"fmt": "s", "ms": 5.4, "mfc": "none", "mew": 0.5},
}
SYMBOL = {"omega": r"\omega", "sigma": r"\sigma", "lam": r"\lambda"}
SCALE = 1e3  # errors are drawn in units of 1e-3


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--omega", required=True, help="Experiment with several ω.")
@click.option("--sigma", required=True, help="Experiment with several σ.")
@click.option("--lam", required=True, help="Experiment with several λ.")
@figure_options
def main(fixed_points, runs, linear, pdf, png, caption, A, **sweeps):
    theory, table, fits = read_table(FIXED_POINTS, fixed_points), read_table(RUNS, runs), read_table(LINEAR, linear)
    use_style()
    columns = max(sweep_of(table, sweeps, parameter)[parameter].nunique() for parameter in sweeps)
    size = (TEXT_WIDTH, 1.75 * len(sweeps))
    figure, axes = plt.subplots(len(sweeps), columns, figsize=size, layout="constrained", sharex=True, squeeze=False)
    drawn = []
    for row, parameter in zip(axes, sweeps, strict=True):
        curves, ends, errors = (sweep_of(frame, sweeps, parameter) for frame in (theory, table, fits))
        points = sweep_points(curves, ends)
        drawn.append((parameter, curves, ends))
        values = sorted(ends[parameter].unique())
        for axis, value in zip(row, values, strict=False):
            panel = [frame[frame[parameter] == value] for frame in (curves, points, errors)]
            draw_panel(axis, *panel)
            axis.set_title(rf"${SYMBOL[parameter]} = {value:g}$", fontsize="medium")
        row[0].set_ylabel(r"$\varepsilon_g$  $[10^{-3}]$")
        for axis in row[len(values) :]:
            axis.set_axis_off()
    for column in axes.T:
        lowest = [axis for axis in column if axis.axison][-1]
        lowest.tick_params(labelbottom=True)
        lowest.set_xlabel(r"$\alpha$")
    figure.legend(handles=legend_entries(drawn[0][2]), fontsize="small", loc="outside lower center", ncols=4)
    save(figure, pdf, png)
    save_caption(caption, caption_of(drawn), A)


def draw_panel(axis, curves: pd.DataFrame, points: pd.DataFrame, fits: pd.DataFrame):
    """One task: branches as lines, grey and thin where merged; runs as points; the baseline dashed."""
    uninformative = curves[curves.merged & curves.converged].drop_duplicates("alpha").sort_values("alpha")
    axis.plot(uninformative.alpha, SCALE * uninformative.test_error, color="0.55", lw=0.8, zorder=0)
    for branch, colour in BRANCH_COLOUR.items():
        curve = curves[curves.branch == branch].sort_values("alpha")
        drawn = curve.converged & ~curve.merged
        axis.plot(curve.alpha, SCALE * curve.test_error.where(drawn), color=colour, zorder=1)
        lost = curve[~curve.converged]
        axis.plot(lost.alpha, SCALE * lost.test_error, "o", ms=2.5, mfc="white", mec="0.55", mew=0.6, zorder=0)
    for kind, style in MARKERS.items():
        part = points[(points.kind == kind) & (points.number == "test_error")]
        colour = BRANCH_COLOUR["semantic" if kind == "semantic" else "positional"]
        error = SCALE * part.error.fillna(0)
        style = {"mew": 0.7, "elinewidth": 0.7, "lw": 0, "zorder": 2, **style}
        axis.errorbar(part.alpha, SCALE * part.value, error, color=colour, **style)
    axis.axhline(SCALE * fits.theory_test_error.iloc[0], color=BASELINE, ls="--", lw=1, zorder=0)
    axis.set_ylim(0, 1.3 * axis.get_ylim()[1])  # room for the note
    note = "\n".join(filter(None, (extent(curves, branch) for branch in BRANCH_COLOUR)))
    axis.text(0.97, 0.95, note, transform=axis.transAxes, ha="right", va="top", fontsize="xx-small")


def extent(curves: pd.DataFrame, branch: str) -> str:
    """Where on the grid a branch exists, if not everywhere; points that did not converge are left out."""
    curve = curves[(curves.branch == branch) & curves.converged].sort_values("alpha")
    there = curve[~curve.merged].alpha
    if there.empty:
        return f"no {branch} branch found"
    below, above = there.min() > curve.alpha.min(), there.max() < curve.alpha.max()
    if below and above:
        return rf"{branch}: ${there.min():.2g} \leq \alpha \leq {there.max():.2g}$"
    sign, edge = (r"\geq", there.min()) if below else (r"\leq", there.max())
    return rf"{branch}: $\alpha {sign} {edge:.2g}$" if below or above else ""


def legend_entries(ends: pd.DataFrame) -> list[Line2D]:
    """Theory as lines, runs as points."""
    restarts = positional_starts(ends)
    lines = [
        Line2D([], [], color=SEMANTIC, label="theory, semantic"),
        Line2D([], [], color=POSITIONAL, label="theory, positional"),
        Line2D([], [], color="0.55", lw=0.8, label="theory, uninformative"),
        Line2D([], [], color=BASELINE, ls="--", lw=1, label="linear baseline"),
    ]
    labels = {"semantic": "runs, semantic start", "one start": "runs, one positional start",
              "lowest": f"runs, lowest of {restarts}"}  # fmt: skip
    points = []
    for kind, style in MARKERS.items():
        style = {key: value for key, value in style.items() if key != "fmt"} | {"marker": style["fmt"], "ls": "none"}
        points.append(Line2D([], [], color=SEMANTIC if kind == "semantic" else POSITIONAL, label=labels[kind], **style))
    return lines + points


def caption_of(drawn: list) -> str:
    rows = []
    for parameter, curves, ends in drawn:
        fixed = [f"{name} = {ends[key].iloc[0]:g}" for key, name in zip(TASK, "ωσλ", strict=True) if key != parameter]
        missing = [
            f"{SYMBOL_TEXT[parameter]} = {value:g}: {branch}"
            for (value, branch), group in curves.groupby([parameter, "branch"])
            if group.merged[group.converged].all()
        ]
        lost, failed = int((~curves.converged).sum()), int((~ends.converged).sum())
        rows.append(
            f"{', '.join(fixed)}: {lost} of {len(curves)} fixed points (hollow circles) and {failed} of {len(ends)}"
            f" runs did not converge; branches found at no α where theory converged: {'; '.join(missing) or 'none'}."
        )
    ends = drawn[0][2]
    restarts = positional_starts(ends)
    return f"""**Slices.** Test error against α for several ω (top), σ (centre) and λ (bottom), d = {ends.d.iloc[0]}.
Lines: state evolution of both branches; where a branch has merged into the uninformative fixed point (m = θ = 0) that
one is drawn in grey, and the range on the grid in which a branch exists is written in the panel. Dashed: linear
positional baseline. {" ".join(rows)}

Points: minimisers (L-BFGS), n = {ends.seed.nunique()} data sets shared by both starts. Filled squares: the lowest of
{restarts} positional starts (one plain, {restarts - 1} noisy), of those that ended on the positional side, m > θ/σ.
Each point is the value at ‖Q⋆‖²/d = 1 of the regression over data sets on ‖Q⋆‖²/d, less the
term E‖S p‖²/(L d) of the encodings in the values; error bars, often smaller than the symbols: its standard error.
Number by number: sweeps_agreement.md.
"""


SYMBOL_TEXT = {"omega": "ω", "sigma": "σ", "lam": "λ"}


if __name__ == "__main__":
    run(main)
