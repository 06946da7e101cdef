"""Figure 3: single runs at growing d, and the maps of loss difference and gain over the baseline at finite d."""

import click
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cli import figure_options, run
from diagram import LABEL, RANGE, SCALE, image, lines, one_task_a_point, run_maps
from matplotlib.colors import BoundaryNorm, ListedColormap
from schemas.fixed_points import FIXED_POINTS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from style import NEUTRAL, TEXT_WIDTH, draw_map, draw_transition, mark_open, save, save_caption, use_style
from tables import read_table

# What the sign of a map means, and where that is written: panel, (x, y, text, colour).
REGIONS = [
    (1, (0.06, 0.62, "positional", "black")),
    (1, (0.94, 0.06, "semantic", "white")),
    (2, (0.12, 0.55, "baseline\nbetter", "white")),
    (2, (0.96, 0.06, "attention\nbetter", "white")),
]
STARTS = {"positional": "s", "semantic": "o"}


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--diagram", required=True, help="Experiment with runs from both starts and baseline on a grid (α, ω).")
@click.option("--scaling", required=True, help="Experiment with runs at several d, and theory, at one α and ω.")
@click.option("--lines", "lines_name", required=True, help="Experiment with transitions.")
@figure_options
def main(fixed_points, transitions, runs, linear, diagram, scaling, lines_name, pdf, png, caption, A):
    runs, theory = read_table(RUNS, runs), read_table(FIXED_POINTS, fixed_points)
    single = runs[runs.experiment == scaling]
    ends = theory[(theory.experiment == scaling) & theory.converged]
    grid = one_task_a_point(runs, diagram, "figure3.diagram")
    fits = one_task_a_point(read_table(LINEAR, linear), diagram, "figure3.diagram")
    mean, _ = run_maps(grid, fits)
    drawn = lines(one_task_a_point(read_table(TRANSITIONS, transitions), lines_name, "figure3.lines"))
    use_style()
    figure, axes = plt.subplots(1, 3, figsize=(TEXT_WIDTH, 2.35), layout="constrained", width_ratios=[1, 1.12, 1.12])
    draw_scatter(axes[0], single, ends)
    for axis, name in zip(axes[1:], ("loss_difference", "gain"), strict=True):
        draw_map(axis, image(SCALE * mean[name]), RANGE[name], LABEL[name])
        mark_open(axis, mean)
        draw_transition(axis, drawn["alpha_c"], "alpha_c")
    draw_transition(axes[2], drawn["alpha_l"], "alpha_l")
    for axis, (x, y, text, colour) in REGIONS:
        style = {"fontsize": "small", "color": colour, "ha": "left" if x < 0.5 else "right"}
        axes[axis].text(x, y, text, transform=axes[axis].transAxes, **style)
    for axis, letter in zip(axes, "abc", strict=True):
        axis.set_title(f"({letter})", loc="left", fontsize="medium")
    for axis in axes[1:]:
        axis.legend(fontsize="small", loc="upper left", framealpha=0.9)
    save(figure, pdf, png)
    save_caption(caption, caption_of(single, ends, grid, mean), A)


def draw_scatter(axis, single, ends):
    """Overlaps of single runs, coloured by d, and the fixed points that they approach."""
    scale = 1 / single.sigma.iloc[0] ** 2
    sizes = sorted(single.d.unique())
    # One colour for each d, without the palest, which paper would swallow.
    colours = mpl.colormaps["viridis_r"](np.linspace(0.12, 1, len(sizes)))
    colour_of = dict(zip(sizes, colours, strict=True))
    for start, marker in STARTS.items():
        for d, group in single[(single.start == start) & single.converged].groupby("d"):
            style = {"marker": marker, "s": 7, "color": [colour_of[d]], "linewidths": 0, "alpha": 0.8}
            axis.scatter(scale * group.m, scale * group.theta, rasterized=True, **style)
        lost = single[(single.start == start) & ~single.converged]
        axis.plot(scale * lost.m, scale * lost.theta, marker, ms=3, mfc="none", mec="0.5", ls="none")
        axis.scatter([], [], marker=marker, s=14, color=NEUTRAL, label=f"{start} start")
    axis.plot(scale * ends.m, scale * ends.theta, "*", ms=10, mfc="white", mec="black", ls="none", label="theory")
    top = scale * np.nanquantile(single[["m", "theta"]].max(axis=1), 0.995) + 0.05
    axis.set(xlabel=r"$m/\sigma^2$", ylabel=r"$\theta/\sigma^2$", xlim=(-0.05, top), ylim=(-0.05, top))
    axis.legend(fontsize="small", loc="upper right")
    norm = BoundaryNorm(np.arange(len(sizes) + 1) - 0.5, len(sizes))
    mappable = mpl.cm.ScalarMappable(norm, ListedColormap(colours))
    bar = axis.figure.colorbar(mappable, ax=axis, label="$d$", pad=0.02, aspect=30, ticks=range(0, len(sizes), 3))
    bar.ax.set_yticklabels([str(d) for d in sizes[::3]])
    bar.ax.minorticks_off()


def caption_of(single, ends, grid, mean) -> str:
    task, d = single.iloc[0], sorted(single.d.unique())
    low, high = mean.seeds.min(), mean.seeds.max()
    seeds = f"{low}" if low == high else f"{low} to {high}"
    outside = {name: int((SCALE * mean[name].abs() > RANGE[name]).sum()) for name in RANGE}
    return f"""**Figure 3.** (a) Overlaps of single runs at α = {task.alpha:g}, ω = {task.omega:g}, σ = {task.sigma:g},
λ = {task.lam:g}, from both starts on the same {single.seed.nunique()} data sets at each of d = {", ".join(map(str, d))}
(colour); stars are the {len(ends)} fixed points of the state evolution. The largest half per cent of the overlaps lies
outside the frame; {int((~single.converged).sum())} runs that did not converge are hollow.
(b) Training loss of the semantic minus that of the positional minimum at d = {grid.d.iloc[0]}, mean
over {seeds} data sets that all ω and both starts share; above the line α_c(ω) the positional minimum is the lower one.
(c) Test error of the linear positional baseline, fitted to the same data, minus that of the minimum of smaller mean
training loss; below the line α_l(ω) attention is the better one.

In (b) and (c) what the data sets' ‖Q⋆‖²/d, of mean 1, explains by a slope quadratic in α is taken off. Lines: theory,
by root search on the branches; thin contours: zero of what is drawn. Runs: minimisers (L-BFGS) from one positional and
one semantic start;
{int((~grid.converged).sum())} of {len(grid)} did not converge (cells with a cross). Colours end at
±{RANGE["loss_difference"]:g} and ±{RANGE["gain"]:g}, which {outside["loss_difference"]} and {outside["gain"]} cells
exceed.
"""


if __name__ == "__main__":
    run(main)
