"""Companion of figure 3: theory's map, the runs' map, and their difference in standard errors, side by side."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from diagram import LABEL, QUANTITIES, RANGE, SCALE, image, lines, one_task_a_point, run_maps, theory_maps
from schemas.fixed_points import FIXED_POINTS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from style import TEXT_WIDTH, draw_map, draw_transition, mark_open, save, save_caption, use_style
from tables import read_table

LINES = {"loss_difference": ("alpha_c",), "gain": ("alpha_c", "alpha_l")}
LARGE = 3.0  # standard errors, beyond which a cell is marked


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--diagram", required=True, help="Experiment with theory, runs and baseline on one grid (α, ω).")
@click.option("--lines", "lines_name", required=True, help="Experiment with transitions.")
@figure_options
def main(fixed_points, transitions, runs, linear, diagram, lines_name, pdf, png, caption, A):
    runs, linear = (
        one_task_a_point(read_table(table, path), diagram, "figure3.diagram")
        for table, path in ((RUNS, runs), (LINEAR, linear))
    )
    points = one_task_a_point(read_table(FIXED_POINTS, fixed_points), diagram, "figure3.diagram")
    theory = theory_maps(points, linear.groupby("omega").theory_test_error.first())
    mean, error = run_maps(runs, linear)
    # Where another branch wins in the runs, the gains are those of different branches and are not compared.
    same = {"loss_difference": theory.known, "gain": theory.known & (mean.winner == theory.winner)}
    drawn = lines(one_task_a_point(read_table(TRANSITIONS, transitions), lines_name, "figure3.lines"))
    use_style()
    figure, axes = plt.subplots(2, 3, figsize=(TEXT_WIDTH, 4.3), layout="constrained", sharex=True, sharey=True)
    gaps = {}
    for row, name in zip(axes, QUANTITIES, strict=True):
        gaps[name] = ((mean[name] - theory[name]) / error[name]).where(same[name])
        draw_map(row[0], image(SCALE * theory[name].where(theory.known)), RANGE[name], LABEL[name])
        draw_map(row[1], image(SCALE * mean[name]), RANGE[name], LABEL[name])
        draw_map(row[2], image(gaps[name]), 2 * LARGE, "(runs − theory) / s.e.", zero=False)
        mark_open(row[1], mean)
        mark_large(row[2], gaps[name])
        for axis in row:
            for kind in LINES[name]:
                draw_transition(axis, drawn[kind], kind)
    for axis in axes[0]:
        axis.set_xlabel("")
    for axis in axes[:, 1:].flat:
        axis.set_ylabel("")
    for axis, title in zip(axes[0], ("theory", f"runs, d = {runs.d.iloc[0]}", "difference"), strict=True):
        axis.set_title(title, fontsize="medium")
    axes[1, 0].legend(fontsize="small", loc="upper left", framealpha=0.9)
    save(figure, pdf, png)
    save_caption(caption, caption_of(runs, mean, gaps, theory, merged_cells(points)), A)


def mark_large(axis, gaps: pd.Series):
    """Signs on the cells beyond LARGE, which grey print would not show."""
    for sign, marker in ((1, "+"), (-1, "_")):
        cells = gaps[sign * gaps > LARGE].reset_index()
        axis.scatter(cells.alpha, cells.omega, marker=marker, s=7, lw=0.6, color="black")


def merged_cells(points: pd.DataFrame) -> int:
    """Number of (ω, α) at which one branch has merged into the uninformative one."""
    return int(points[points.branch.isin(["semantic", "positional"])].groupby(["omega", "alpha"]).merged.any().sum())


def caption_of(runs, mean, gaps, theory, merged: int) -> str:
    seeds = int(mean.seeds.min())
    parts = {name: gap.dropna() for name, gap in gaps.items()}
    within = {name: f"{100 * np.mean(np.abs(gap) <= LARGE):.0f} %" for name, gap in parts.items()}
    median = {name: f"{gap.median():+.1f}" for name, gap in parts.items()}
    return f"""**Figure 3, theory against runs.** Upper row: training loss of the semantic minus that of the positional
minimum. Lower row: test error of the linear baseline minus that of the minimum of smaller training loss. Left: state
evolution. Centre: minimisers at d = {runs.d.iloc[0]} from one positional and one semantic start, mean over {seeds} data
sets that all ω and both starts share, and the baseline fitted to the same data; what the data sets' ‖Q⋆‖²/d, of mean 1,
explains by a slope quadratic in α is taken off. Right: their difference in units of the
standard error over data sets, marked + or − beyond {LARGE:g}; σ = {runs.sigma.iloc[0]:g}, λ = {runs.lam.iloc[0]:g}.
Thick lines: theory; thin contours: zero of what is drawn (left and centre).

Within {LARGE:g} standard errors lie {within["loss_difference"]} of the cells above and {within["gain"]} below (medians
{median["loss_difference"]} and {median["gain"]}); all ω share their data, so that cells in a column are not
independent. Left out (grey) are cells where theory did not converge ({int((~theory.known).sum())}) and, below, those
where another branch wins in the runs than in theory ({int((theory.known & gaps["gain"].isna()).sum())}, the
uninformative one included); crosses mark cells with runs that did not converge ({int((mean.open > 0).sum())}). Known
to differ: one
positional start does not reach the lowest positional minimum; below the onset of the semantic branch runs from a
semantic start stay in minima that theory does not have, and so do runs from a positional start beyond the end of the
positional branch (positional_end in the table of transitions): they keep a large m. Where a branch is missing in
theory, in {merged} cells, the uninformative point stands in for it. The encodings add α E‖S p‖²/(2d) to ε_t and
E‖S p‖²/(L d) to ε_g. How much of the differences these explain was measured at ω = .3 only (agreement.md).
"""


if __name__ == "__main__":
    run(main)
