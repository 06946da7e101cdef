"""Gain over the linear baseline from random starts: a student of rank 2 beside one of rank 1, teacher of rank 1."""

import click
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from diagram import LABEL, SCALE, image, lines, nice_limit, one_task_a_point
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from selection import on_positional_side
from style import TEXT_WIDTH, draw_map, draw_transition, mark_open, save, save_caption, use_style
from tables import read_table


@click.command(help=__doc__)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--rank2", required=True, help="Experiment with a student of rank 2, random starts and baseline.")
@click.option("--rank1", required=True, help="The same with a student of rank 1.")
@click.option("--lines", "lines_name", required=True, help="Experiment with transitions of a student of rank 1.")
@figure_options
def main(transitions, runs, linear, rank2, rank1, lines_name, pdf, png, caption, A):
    table, fits = read_table(RUNS, runs), read_table(LINEAR, linear)
    students = {rank: one_task_a_point(table, name, "appendix.rank2") for rank, name in ((2, rank2), (1, rank1))}
    ends = {
        rank: paired_gains(runs[runs.alpha == runs.alpha.max()], fits[fits.experiment == runs.experiment.iloc[0]])
        for rank, runs in students.items()
    }
    gains = {rank: gain_map(ends, fits[fits.experiment == ends.experiment.iloc[0]]) for rank, ends in students.items()}
    drawn = lines(one_task_a_point(read_table(TRANSITIONS, transitions), lines_name, "appendix.rank2.lines"))
    limit = nice_limit(*(gain.gain for gain in gains.values()))
    use_style()
    figure, axes = plt.subplots(1, 3, figsize=(TEXT_WIDTH, 2.4), layout="constrained", width_ratios=[1.12, 1.12, 1])
    for axis, (rank, gain) in zip(axes, gains.items(), strict=False):
        draw_map(axis, image(SCALE * gain.gain), limit, LABEL["gain"])
        mark_open(axis, gain)
        frame = axis.get_xlim(), axis.get_ylim()
        draw_transition(axis, drawn["alpha_l"], "alpha_l", label=r"$\alpha_l$, rank 1")
        axis.set(xlim=frame[0], ylim=frame[1])
        axis.set_title(f"student of rank {rank}", fontsize="medium")
    axes[0].legend(fontsize="small", loc="lower right", framealpha=0.9)
    draw_overlaps(axes[2], students)
    for axis, letter in zip(axes, "abc", strict=True):
        axis.set_title(f"({letter})", loc="left", fontsize="medium")
    save(figure, pdf, png)
    save_caption(caption, caption_of(students, gains, ends), A)


def paired_gains(runs: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """The runs with their gain, ε_lin − ε_g on the data of the run."""
    key = ["omega", "alpha", "seed"]
    joined = runs.merge(fits[[*key, "test_error"]], on=key, suffixes=("", "_linear"), validate="one_to_one")
    return joined.assign(gain=joined.test_error_linear - joined.test_error)


def gain_map(runs: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """By (ω, α): mean and standard error over runs of ε_lin − ε_g on common data, and runs that did not converge."""
    joined = paired_gains(runs, fits)
    groups = joined.groupby(["omega", "alpha"])
    error = groups.gain.std(ddof=1) / np.sqrt(groups.gain.count())
    return pd.DataFrame({"gain": groups.gain.mean(), "error": error, "open": (~joined.converged).groupby(
        [joined.omega, joined.alpha]).sum()})  # fmt: skip


def draw_overlaps(axis, students: dict[int, pd.DataFrame]):
    """Overlaps of single runs at the largest α."""
    colours = mpl.colormaps["viridis_r"]
    norm = mpl.colors.Normalize(*(getattr(students[2].omega, end)() for end in ("min", "max")))
    for rank, marker in ((2, "o"), (1, "s")):
        end = students[rank][students[rank].alpha == students[rank].alpha.max()]
        scale = 1 / end.sigma**2
        style = {"marker": marker, "s": 13, "linewidths": 0.8, "edgecolors": colours(norm(end.omega))}
        face = colours(norm(end.omega)) if rank == 2 else "none"
        axis.scatter(scale * end.m, scale * end.theta, facecolors=face, **style)
        axis.plot(
            [], [], marker, ms=4, color="0.3", mfc="0.3" if rank == 2 else "none", ls="none", label=f"rank {rank}"
        )
    mesh = mpl.cm.ScalarMappable(norm, colours)
    axis.set(xlabel=r"$\|Q^\top p_1\|/(\sqrt{d}\,\sigma^2)$", ylabel=r"$\|Q^\top Q_\star\|_F/d$", xlim=(-0.05, None))
    axis.figure.colorbar(mesh, ax=axis, label=r"$\omega$", pad=0.02, aspect=30)
    axis.legend(fontsize="small")


def caption_of(students: dict[int, pd.DataFrame], gains: dict[int, pd.DataFrame], gains_at_the_end: dict) -> str:
    runs = students[2]
    last = {rank: ends[ends.alpha == ends.alpha.max()] for rank, ends in students.items()}
    place, least = on_positional_side(last[1]), [(last[2][n] / last[2].sigma ** 2).min() for n in ("m", "theta")]
    wins = {rank: f"{int((part.gain > 0).sum())} of {len(part)}" for rank, part in gains_at_the_end.items()}
    lost = {rank: f"{int((~ends.converged).sum())} of {len(ends)}" for rank, ends in students.items()}
    return f"""**Rank 2.** Test error of the linear positional baseline minus that of attention trained from a random
start
(entries {runs.start_std.iloc[0]:g}·N(0, 1)), student of rank 2 (a) and of rank 1 (b), teacher of rank 1; d =
{runs.d.iloc[0]},
σ = {runs.sigma.iloc[0]:g}, λ = {runs.lam.iloc[0]:g}, minimised by L-BFGS; mean over n = {runs.seed.nunique()} data
sets,
one start on each, shared by all ω. Mean standard error of a cell: {SCALE * gains[2].error.mean():.2f} (a) and
{SCALE * gains[1].error.mean():.2f} (b) · 10⁻³. Crosses: cells with runs that did not converge ({lost[2]} runs at
rank 2,
{lost[1]} at rank 1). Dashed: theory's α_l of a student of rank 1, to whose right its semantic minimum beats
the baseline.
(c) Overlaps of the single runs at the largest α, α = {runs.alpha.max():g}: rank 2 filled, rank 1 open.

At that α {wins[2]} runs of rank 2 and {wins[1]} of rank 1 beat the baseline on their data. There {int(place.sum())}
of {len(place)} runs of rank 1 end on the positional side (m > θ/σ); the smallest
overlaps of the runs of rank 2 are m/σ² = {least[0]:.2f} and θ/σ² = {least[1]:.2f}: each holds both.
"""


if __name__ == "__main__":
    run(main)
