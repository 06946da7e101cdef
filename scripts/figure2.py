"""Figure 2: one slice of the phase diagram, from theory, minimisers at finite d and the linear baseline."""

import click
import matplotlib.pyplot as plt
import pandas as pd
from cli import figure_options, run
from schemas.fixed_points import FIXED_POINTS
from schemas.linear import LINEAR
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from selection import lowest_positional, mean_and_error, positional_starts
from style import BASELINE, BRANCH_COLOUR, NEUTRAL, TEXT_WIDTH, save, save_caption, use_style
from tables import read_table

from solvable_attention.errors import ArgumentError

OVERLAP = {"semantic": "theta", "positional": "m"}
SYMBOL = {"semantic": r"\theta", "positional": "m"}
# Marker of each kind of run: single starts, the lowest of many, the published protocol.
MARKERS = {
    "minimisers": {"fmt": "o", "ms": 3},
    "lowest": {"fmt": "s", "ms": 5.5},
    "descent": {"fmt": "x", "ms": 4.5},
    "baseline": {"fmt": "D", "ms": 2},
}
OPEN_MARKERS = ("lowest", "descent")
SCALE = 1e3  # losses are drawn in units of 1e-3


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--slice", "slice_name", required=True, help="Experiment with theory, minimisers and baseline.")
@click.option("--restarts", required=True, help="Experiment with many noisy positional starts.")
@click.option("--descent", required=True, help="Experiment with the published descent protocol.")
@figure_options
def main(fixed_points, transitions, runs, linear, slice_name, restarts, descent, pdf, png, caption, A):
    paths = {FIXED_POINTS: fixed_points, TRANSITIONS: transitions, RUNS: runs, LINEAR: linear}
    tables = {table.name: read_table(table, path) for table, path in paths.items()}
    data = Slice(tables, slice_name, restarts, descent)
    use_style()
    figure, axes = plt.subplots(1, 3, figsize=(TEXT_WIDTH, 2.5), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06)
    for axis, letter, draw in zip(axes, "abc", (draw_loss_difference, draw_overlaps, draw_test_error), strict=True):
        draw(axis, data)
        axis.set_xlabel(r"sample complexity $\alpha = n/d$")
        axis.set_xlim(left=0)
        axis.set_title(f"({letter})", loc="left", fontsize="medium")
        mark_transitions(axis, data)
    save(figure, pdf, png)
    save_caption(caption, caption_of(data), A)


class Slice:
    """What figure 2 draws, for one task: theory by branch, runs by kind, transitions, baseline."""

    def __init__(self, tables, slice_name, restarts, descent):
        theory = tables["fixed_points"].query("experiment == @slice_name")
        tasks = theory[["omega", "sigma", "lam"]].drop_duplicates()
        if len(tasks) != 1:
            raise ArgumentError(f"figure2.slice: {slice_name!r} has {len(tasks)} tasks with theory, allowed is one")
        self.task = tasks.iloc[0]
        self.theory = {branch: group.set_index("alpha") for branch, group in theory.groupby("branch")}
        self.linear = tables["linear"].query("experiment == @slice_name")
        lines = tables["transitions"].query("experiment == @slice_name").set_index("kind")
        self.transitions = lines[["alpha", "error"]].dropna()
        noisy = _of_one_d(tables["runs"], restarts)
        self.starts = positional_starts(noisy)
        lowest = lowest_positional(noisy)
        self.runs = {
            "minimisers": _of_one_d(tables["runs"], slice_name),
            "lowest": lowest.assign(start="positional").sort_values(["alpha", "seed"]),
            "descent": _of_one_d(tables["runs"], descent),
        }

    @property
    def winner(self) -> pd.Series:
        """By α, the branch of smaller training loss in theory; only where both converged."""
        losses = pd.DataFrame({b: self.theory[b].train_loss.where(self.theory[b].converged) for b in BRANCH_COLOUR})
        return losses.dropna().idxmin(axis=1)

    def winning(self, kind: str, branch: str) -> pd.DataFrame:
        """Runs from the branch's start, at the α where that start has the smaller mean training loss.

        The lowest of many positional starts is held against the semantic starts of the minimisers.
        """
        runs = self.runs[kind]
        if kind == "lowest":
            minimisers = self.runs["minimisers"]
            runs = pd.concat([runs, minimisers[(minimisers.start == "semantic") & minimisers.alpha.isin(runs.alpha)]])
        winners = runs.groupby(["alpha", "start"]).train_loss.mean().unstack().idxmin(axis=1)
        chosen = runs[(runs.start == branch) & (winners.reindex(runs.alpha) == branch).to_numpy()]
        return chosen.iloc[:0] if kind == "lowest" and branch == "semantic" else chosen


def _of_one_d(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    runs = runs[runs.experiment == name]
    if runs.d.nunique() != 1:
        raise ArgumentError(f"figure2: experiment {name!r} has {runs.d.nunique()} values of d, allowed is one")
    return runs


def points(axis, kind: str, summary: pd.DataFrame, colour, unfinished=(), label=None):
    """Means with error bars; pale at the α in `unfinished`, where a run did not converge, and hollow if dots."""
    lost = summary.index.isin(list(unfinished))
    face = "none" if kind in OPEN_MARKERS else colour
    for part, fill, alpha in ((summary[~lost], face, 1.0), (summary[lost], "none", 0.5)):
        if len(part):
            style = {"mfc": fill, "color": colour, "mew": 0.8, "elinewidth": 0.8, "alpha": alpha, **MARKERS[kind]}
            axis.errorbar(part.index, part["mean"], part["error"], label=label, **style)
            label = None  # one entry in the legend, whichever part comes first


def unfinished(kind: str, runs: pd.DataFrame) -> pd.Index:
    """The α at which a run did not converge; descent is stopped on purpose and has its own marker."""
    done = runs.groupby("alpha").converged.all()
    return done.index[~done & (kind != "descent")]


def lost_points(axis, curve: pd.Series, converged: pd.Series, colour):
    """Hollow circles where theory did not converge."""
    lost = curve[~converged].dropna()
    axis.plot(lost.index, lost, "o", mfc="white", mec=colour, ms=4)


def branch_lines(axis, data: Slice, column_of, scale, label):
    """Each branch thin, and thick where it is the global minimum."""
    for branch, colour in BRANCH_COLOUR.items():
        theory = data.theory[branch]
        curve = scale * theory[column_of[branch]]
        axis.plot(curve.index, curve.where(theory.converged), color=colour, lw=0.7, alpha=0.6, zorder=0)
        wins = (data.winner == branch).reindex(theory.index, fill_value=False)
        axis.plot(curve.index, curve.where(wins & theory.converged), color=colour, zorder=1, label=label(branch))
        lost_points(axis, curve, theory.converged, colour)


def branch_points(axis, data: Slice, column_of, scale):
    for kind in data.runs:
        for branch, colour in BRANCH_COLOUR.items():
            runs = data.winning(kind, branch)
            summary = mean_and_error(scale * runs.set_index("alpha")[column_of[branch]])
            points(axis, kind, summary, colour, unfinished(kind, runs))


def draw_loss_difference(axis, data: Slice):
    semantic, positional = data.theory["semantic"], data.theory["positional"]
    difference = SCALE * (semantic.train_loss - positional.train_loss)
    converged = semantic.converged & positional.converged
    axis.plot(difference.index, difference.where(converged), color=NEUTRAL, zorder=1, label="theory")
    lost_points(axis, difference, converged, NEUTRAL)
    steps = int(data.runs["descent"].iterations.max())
    labels = {"minimisers": "minimisers", "lowest": f"lowest of {data.starts}", "descent": f"descent, {steps} steps"}
    for kind, runs in data.runs.items():
        semantic_runs = runs if kind == "descent" else data.runs["minimisers"]
        loss = {s: r[r.start == s].set_index(["alpha", "seed"]).train_loss
                for s, r in (("semantic", semantic_runs), ("positional", runs))}  # fmt: skip
        summary = mean_and_error(SCALE * (loss["semantic"] - loss["positional"]).dropna())
        points(axis, kind, summary, NEUTRAL, unfinished(kind, runs), label=labels[kind])
    axis.axhline(0, color="0.7", lw=0.7, zorder=0)
    axis.set_ylabel(r"$\varepsilon_t^{\rm sem}-\varepsilon_t^{\rm pos}$  $[10^{-3}]$")
    axis.legend(fontsize="small", loc="lower left")


def draw_overlaps(axis, data: Slice):
    scale = 1 / data.task.sigma**2
    branch_lines(axis, data, OVERLAP, scale, lambda branch: rf"${SYMBOL[branch]}/\sigma^2$, {branch}")
    branch_points(axis, data, OVERLAP, scale)
    axis.set_ylabel("overlap of the global minimum")
    axis.legend(fontsize="small", loc="lower right")


def draw_test_error(axis, data: Slice):
    test_error = dict.fromkeys(BRANCH_COLOUR, "test_error")
    branch_lines(axis, data, test_error, SCALE, str)
    branch_points(axis, data, test_error, SCALE)
    exact = SCALE * data.linear.theory_test_error.iloc[0]
    axis.axhline(exact, color=BASELINE, ls="--", lw=1.2, zorder=0, label="linear baseline")
    fitted = mean_and_error(SCALE * data.linear.set_index("alpha").test_error)
    points(axis, "baseline", fitted, BASELINE)
    axis.set_ylabel(r"test error $\varepsilon_g$  $[10^{-3}]$")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize="small", loc="lower left")


def mark_transitions(axis, data: Slice):
    """α_c and α_l as vertical lines with their error as a band."""
    for kind, line in data.transitions.iterrows():
        axis.axvspan(line.alpha - line.error, line.alpha + line.error, color="0.8", lw=0, zorder=0)
        axis.axvline(line.alpha, color="0.4", ls="-" if kind == "alpha_c" else ":", lw=0.8, zorder=0)
        name = {"alpha_c": r"$\alpha_c$", "alpha_l": r"$\alpha_l$"}[kind]
        axis.annotate(
            name, (line.alpha, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", va="bottom", fontsize="small",
        )  # fmt: skip


def caption_of(data: Slice) -> str:
    d, (omega, sigma, lam) = int(data.runs["minimisers"].d.iloc[0]), data.task
    symbols = {"alpha_c": "α_c", "alpha_l": "α_l"}
    marks = "; ".join(f"{symbols[k]} = {line.alpha:.5f} ± {line.error:.1g}" for k, line in data.transitions.iterrows())
    seeds = {kind: runs.seed.nunique() for kind, runs in data.runs.items()}
    open_runs = sum(int((~data.runs[kind].converged).sum()) for kind in ("minimisers", "lowest"))
    open_theory = sum(int((~points.converged).sum()) for points in data.theory.values())
    steps = int(data.runs["descent"].iterations.max())
    unfinished = int((~data.runs["descent"].converged).sum())
    return f"""**Figure 2.** ω = {omega:g}, σ = {sigma:g}, λ = {lam:g}, d = {d}. (a) Training loss of the semantic minus
that of the positional minimum. (b) Overlaps m/σ² and θ/σ² of the minimum of smaller training loss. (c) Its test error,
and that of the linear positional baseline (dashed, theory; diamonds, fitted to the same data).

Lines: state evolution, thick where the branch is the global minimum, thin where it is not; points that did not converge
({open_theory}) are hollow. Vertical lines: {marks} (theory, by root search). In (b) and (c) runs are
shown of the start whose mean training loss is the smaller one at that α.

Dots: minimisers (L-BFGS) from one positional and one semantic start on the same {seeds["minimisers"]} data sets. Below
the onset of the semantic branch the rough landscape remembers its start, and semantic starts end above theory. Squares:
the lowest of {data.starts} noisy positional starts that ended with m > θ/σ, {seeds["lowest"]} data sets. Crosses:
{steps}
steps of gradient descent, the published protocol, {seeds["descent"]} data sets. An α where a dot or square holds a run
that did not converge is pale ({open_runs} runs); {unfinished} of the {len(data.runs["descent"])} descent runs had not
converged when they were stopped. Dots are plain means. Error bars, often smaller than the symbols: standard error of
the mean over data sets, in (a) of the paired difference on common data.
"""


if __name__ == "__main__":
    run(main)
