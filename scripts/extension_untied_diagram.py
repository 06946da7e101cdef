"""The plane (α, ω) for tied and untied attention, and both positional matrices: transitions and where runs end."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_files, run
from extension_points import Cases
from extension_titles import plain_title
from matplotlib.lines import Line2D
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from selection import fields
from style import TEXT_WIDTH, TRANSITION_STYLES, draw_transition, save, save_caption, use_style
from tables import read_table


@click.command(help=__doc__)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--cases", type=Cases(), required=True, help="Options of the tasks by extension, JSON, a panel each.")
@figure_files
def main(transitions, runs, cases, pdf, png, caption):
    found, table = read_table(TRANSITIONS, transitions), read_table(RUNS, runs)
    table = table[table.experiment.isin(cases)]
    lowest = share_of_place(lowest_runs(table))
    use_style()
    rows = -(-len(cases) // 2)
    figure, axes = plt.subplots(
        rows, 2, figsize=(TEXT_WIDTH, 0.4 + 2.1 * rows), layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    for axis, (name, options) in zip(axes.flat, cases.items(), strict=False):
        mine = lowest[lowest.experiment == name]
        axis.set(xlim=(0, 1.06 * table.alpha.max()), ylim=(0, 0.5))
        dots = axis.scatter(
            mine.alpha, mine.omega, c=mine.place, cmap="RdBu", vmin=0, vmax=1, s=26, ec="0.3", lw=0.4, zorder=2
        )
        for kind, line in found[found.experiment == name].groupby("kind"):
            draw_transition(axis, line.sort_values("omega"), kind, marker=".", ms=3, zorder=3)
        axis.set_title(titled(options), fontsize="medium", loc="left")
    for axis in axes[-1]:
        axis.set_xlabel(r"$\alpha$")
    for axis in axes[:, 0]:
        axis.set_ylabel(r"$\omega$")
    figure.colorbar(dots, ax=axes, label=r"$m^2/(m^2+\theta^2/\sigma^2)$ of the lowest run", aspect=35, pad=0.02)
    kinds = [kind for kind in TRANSITION_STYLES if kind in set(found[found.experiment.isin(cases)].kind)]
    handles = [
        Line2D([], [], color="black", lw=1.2, ls=TRANSITION_STYLES[k][0], label=TRANSITION_STYLES[k][1]) for k in kinds
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize="x-small")
    save(figure, pdf, png)
    save_caption(caption, caption_of(table, lowest, found[found.experiment.isin(cases)], cases))


def lowest_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Of each task and data set the run of lowest loss."""
    key = ["experiment", "omega", "sigma", "lam", "alpha", "d", "seed"]
    return runs.sort_values("train_loss", kind="stable").drop_duplicates(key)


def share_of_place(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean over data sets of `place`, the share m²/(m² + θ²/σ²) of what place and content move the fields by."""
    moved = fields(runs) ** 2
    place = moved.positional / (moved.positional + moved.semantic).replace(0, np.nan)
    key = ["experiment", "omega", "alpha"]
    return (
        runs.assign(place=place)
        .groupby(key)
        .agg(place=("place", "mean"), open=("converged", lambda c: (~c).sum()))
        .reset_index()
    )


def titled(options: dict) -> str:
    title = plain_title(options)
    title = title if "untied" in title else f"tied, {title}"
    return title if "second A" in title else f"{title.replace(', the paper' + chr(39) + 's case', '')}, standard A"


def caption_of(runs, lowest, transitions, cases: dict) -> str:
    lost = transitions[transitions.status != "found"]
    told = []
    for name, options in cases.items():
        mine = transitions[(transitions.experiment == name) & (transitions.status == "found")]
        for kind, line in mine.groupby("kind"):
            values = ", ".join(f"{row.alpha:.3g} ± {row.error:.1g} (ω = {row.omega:g})" for row in line.itertuples())
            told.append(f"{titled(options)}, {kind}: {values}")
    missing = ", ".join(
        f"{row.kind} of {row.experiment} at ω = {row.omega:g} ({row.status})" for row in lost.itertuples()
    )
    return f"""**Untied and tied attention.** Transitions in the plane (α, ω), by root search on the branches; dots:
minimisers (L-BFGS), d = {runs.d.iloc[0]}, the lowest of all starts, mean of {runs.seed.nunique()} data sets that all ω
share: blue where place moves the local fields more than content (m > θ/σ), red where content does.
σ = {runs.sigma.iloc[0]:g}, λ = {runs.lam.iloc[0]:g}. {int(lowest.open.sum())} of the lowest runs did not converge.

α_c: the semantic branch becomes the global minimum. Second A, untied: there the positional branch becomes unstable
towards the teacher ("positional stable below"), and a mixed one, which attends by place and content at once, leaves it
continuously and is the lowest from there on. Second A, tied: no positional branch to compare with (see second_A);
dotted, where the semantic one begins.

Values: {"; ".join(told)}. {f"Not found in the range searched: {missing}." if missing else ""}
"""


if __name__ == "__main__":
    run(main)
