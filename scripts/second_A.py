"""Both maps for a positional matrix that tied attention cannot represent, and what becomes of the positional branch."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from diagram import LABEL, QUANTITIES, SCALE, image, lines, nice_limit, one_task_a_point, run_maps, theory_maps
from schemas.fixed_points import FIXED_POINTS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from selection import mean_and_error
from style import (
    BRANCH_COLOUR,
    POSITIONAL,
    TEXT_WIDTH,
    draw_map,
    draw_transition,
    mark_open,
    save,
    save_caption,
    use_style,
)
from tables import read_table

OVERLAPS = {"m": (r"$m/\sigma^2$", "--", "s"), "theta": (r"$\theta/\sigma^2$", "-", "o")}


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--diagram", required=True, help="Experiment with theory, runs and baseline on one grid (α, ω).")
@click.option("--lines", "lines_name", required=True, help="Experiment with transitions.")
@figure_options
def main(fixed_points, transitions, runs, linear, diagram, lines_name, A, pdf, png, caption):
    where = "appendix.second_A.diagram"
    runs, linear, points = (
        one_task_a_point(read_table(table, path), diagram, where)
        for table, path in ((RUNS, runs), (LINEAR, linear), (FIXED_POINTS, fixed_points))
    )
    theory = theory_maps(points, linear.groupby("omega").theory_test_error.first())
    mean, _ = run_maps(runs, linear)
    drawn = lines(one_task_a_point(read_table(TRANSITIONS, transitions), lines_name, "appendix.second_A.lines"))
    limits = {name: nice_limit(theory[name].where(theory.known), mean[name]) for name in QUANTITIES}
    use_style()
    figure, axes = plt.subplots(2, 3, figsize=(TEXT_WIDTH, 4.2), layout="constrained")
    for row, name in zip(axes, QUANTITIES, strict=True):
        # The loss difference is 0 over whole regions, where its sign is noise.
        zero = name == "gain"
        draw_map(row[0], image(SCALE * theory[name].where(theory.known)), limits[name], LABEL[name], zero)
        draw_map(row[1], image(SCALE * mean[name]), limits[name], LABEL[name], zero)
        mark_open(row[1], mean)
        for axis in row[:2]:
            for kind, line in drawn.items():
                draw_transition(axis, line, kind)
        row[1].set_ylabel("")
    positional = points[(points.branch == "positional") & points.converged & ~points.merged]
    axes[0, 0].plot(positional.alpha, positional.omega, ".", color="black", ms=2.5, label="positional branch")
    axes[0, 0].legend(fontsize="x-small", loc="upper right", framealpha=0.9)
    omega = middle(runs.omega)
    draw_fate(axes[0, 2], points[points.omega == omega], runs[runs.omega == omega])
    draw_losses(axes[1, 2], points[points.omega == omega], runs[runs.omega == omega])
    for axis, title in zip(axes[0], ("theory", f"runs, $d = {runs.d.iloc[0]}$", rf"$\omega = {omega:g}$"), strict=True):
        axis.set_title(title, fontsize="medium")
    save(figure, pdf, png)
    save_caption(caption, caption_of(A, points, runs, theory, mean, omega), A)


def middle(omegas: pd.Series) -> float:
    """The value of the grid nearest to half its largest."""
    grid = np.sort(omegas.unique())
    return float(grid[np.argmin(np.abs(grid - grid[-1] / 2))])


def draw_fate(axis, points: pd.DataFrame, runs: pd.DataFrame):
    """Overlaps from both starts and of both branches against α, at one ω."""
    scale = 1 / points.sigma.iloc[0] ** 2
    for branch, colour in BRANCH_COLOUR.items():
        curve = points[points.branch == branch].sort_values("alpha")
        group = runs[runs.start == branch]
        for number, (symbol, pattern, marker) in OVERLAPS.items():
            axis.plot(curve.alpha, scale * curve[number].where(curve.converged), color=colour, ls=pattern, lw=1)
            summary = mean_and_error(scale * group.set_index("alpha")[number])
            style = {"fmt": marker, "ms": 2.8, "color": colour, "mfc": "none" if number == "m" else colour, "mew": 0.7}
            label = f"{symbol}, {branch} start"
            axis.errorbar(summary.index, summary["mean"], summary["error"], elinewidth=0.7, label=label, **style)
    axis.set(xlabel=r"$\alpha$", ylabel="overlap", ylim=(None, 1.5 * axis.get_ylim()[1]))
    axis.legend(fontsize="x-small", loc="upper left")


def draw_losses(axis, points: pd.DataFrame, runs: pd.DataFrame):
    """Training loss of the positional branch, or the point it has merged into, less that of the semantic one."""
    curves = {b: g.set_index("alpha").sort_index() for b, g in points.groupby("branch")}
    gap = SCALE * (curves["positional"].train_loss - curves["semantic"].train_loss)
    known = curves["positional"].converged & curves["semantic"].converged
    axis.plot(gap.index, gap.where(known), color="black", lw=1, label="theory, positional (merged: $m=0$)")
    loss = {s: g.set_index(["alpha", "seed"]).train_loss for s, g in runs.groupby("start")}
    summary = mean_and_error(SCALE * (loss["positional"] - loss["semantic"]))
    style = {"fmt": "s", "ms": 2.8, "color": POSITIONAL, "mew": 0.7, "elinewidth": 0.7}
    axis.errorbar(summary.index, summary["mean"], summary["error"], label="runs, positional start", **style)
    axis.axhline(0, color="0.7", lw=0.7, zorder=0)
    axis.set(xlabel=r"$\alpha$", ylabel=r"$\varepsilon_t-\varepsilon_t^{\rm sem}$  $[10^{-3}]$")
    axis.set_ylim(top=1.3 * axis.get_ylim()[1])  # room for the legend
    axis.legend(fontsize="x-small", loc="upper left")


def caption_of(A, points, runs, theory, mean, omega: float) -> str:
    positional = points[(points.branch == "positional") & points.converged]
    there = positional[~positional.merged]
    where = f", all at ω ≤ {there.omega.max():g}" if len(there) else ""
    return f"""**Second A.** Maps for the positional matrix below, σ = {runs.sigma.iloc[0]:g}, λ = {runs.lam.iloc[0]:g}.
Above: training loss from the semantic minus that from the positional start; below: test error of the linear baseline
minus that of the minimum of smaller training loss; left: state evolution, centre: minimisers at d = {runs.d.iloc[0]},
mean over n = {int(mean.seeds.min())} data sets that all ω and both starts share, less what ‖Q⋆‖²/d explains. Grey
cells: theory did not converge ({int((~theory.known).sum())}); crosses: cells with runs that did not converge
({int((mean.open > 0).sum())}). Lines: transitions by root search; thin contours: zero.

Tied attention of rank 1 has S_11 + S_22 ≥ 1, with equality for equal fields, while A_11 + A_22 = {A[0][0] + A[1][1]:g}.
In theory the positional branch exists at {len(there)} of the {len(positional)} points where it converged (dots){where};
elsewhere it is merged into the uninformative point (m = θ = 0), which the left maps then show in its place.

Right: ω = {omega:g}; overlaps of both branches (lines) and of runs from both starts (symbols), and the training loss of
the positional branch, or of the uninformative point where it has merged, and of the runs from a positional start,
relative to the semantic minimum. Error bars: standard error over data sets. At the largest α the
runs from a positional start have, on average, m/σ² and θ/σ² of {fates(runs)}.
"""


def fates(runs: pd.DataFrame) -> str:
    """Mean overlaps of the runs from a positional start at the largest α, by ω."""
    last = runs[(runs.start == "positional") & (runs.alpha == runs.alpha.max())]
    means = last[["m", "theta"]].div(last.sigma**2, axis=0).groupby(last.omega).mean()
    return "; ".join(f"ω = {row.Index:g}: {row.m:.2f}, {row.theta:.2f}" for row in means.itertuples())


if __name__ == "__main__":
    run(main)
