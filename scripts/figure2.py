"""Figure 2: one slice of the phase diagram, from theory, minimisers at finite d and the linear baseline."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import run
from style import BASELINE, NEUTRAL, POSITIONAL, SEMANTIC, TEXT_WIDTH, save, use_style
from tables import complete_file, read_table

from solvable_attention.errors import ArgumentError

START_OF = {"semantic": "semantic", "positional": "positional"}
COLOUR = {"semantic": SEMANTIC, "positional": POSITIONAL}
OVERLAP = {"semantic": "theta", "positional": "m"}
SYMBOL = {"semantic": r"\theta", "positional": "m"}
SCALE = 1e3  # losses are drawn in units of 1e-3


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--linear", type=click.Path(), required=True)
@click.option("--slice", "slice_name", required=True, help="Experiment with theory, minimisers and baseline.")
@click.option("--restarts", required=True, help="Experiment with many noisy positional starts.")
@click.option("--descent", required=True, help="Experiment with the published descent protocol.")
@click.option("--pdf", type=click.Path(), required=True)
@click.option("--png", type=click.Path(), required=True)
@click.option("--caption", type=click.Path(), required=True)
def main(fixed_points, transitions, runs, linear, slice_name, restarts, descent, pdf, png, caption):
    tables = {name: read_table(name, path) for name, path in
              {"fixed_points": fixed_points, "transitions": transitions, "runs": runs, "linear": linear}.items()}  # fmt: skip
    data = Slice(tables, slice_name, restarts, descent)
    use_style()
    figure, axes = plt.subplots(1, 3, figsize=(TEXT_WIDTH, 2.45), constrained_layout=True)
    draw_loss_difference(axes[0], data)
    draw_overlaps(axes[1], data)
    draw_test_error(axes[2], data)
    for letter, axis in zip("abc", axes, strict=True):
        axis.set_xlabel(r"sample complexity $\alpha = n/d$")
        axis.set_title(f"({letter})", loc="left", fontsize="medium")
        mark(axis, data)
    save(figure, pdf, png)
    with complete_file(caption) as temporary:
        temporary.write_text(data.caption(), encoding="utf-8")


class Slice:
    """What figure 2 draws, for one task: theory by branch, runs by experiment, transitions, baseline."""

    def __init__(self, tables, slice_name, restarts, descent):
        points = tables["fixed_points"].query("experiment == @slice_name")
        keys = points[["omega", "sigma", "lam"]].drop_duplicates()
        if len(keys) != 1:
            raise ArgumentError(f"figure2.slice: {slice_name!r} has {len(keys)} tasks with theory, allowed is one")
        self.task = keys.iloc[0]
        self.theory = {branch: group.set_index("alpha") for branch, group in points.groupby("branch")}
        runs = tables["runs"]
        self.minimisers = self._alone(runs, slice_name)
        self.descent = self._alone(runs, descent)
        noisy = self._alone(runs, restarts)
        best = noisy.sort_values("train_loss").drop_duplicates(["alpha", "seed"])
        self.restarts, self.best = int(noisy.restart.max()) + 1, best.assign(start="positional")
        self.linear = tables["linear"].query("experiment == @slice_name")
        lines = tables["transitions"].query("experiment == @slice_name").set_index("kind")
        self.transitions = lines[["alpha", "error"]].dropna()

    def _alone(self, runs, name):
        runs = runs[runs.experiment == name]
        if runs.groupby("d").ngroups != 1:
            raise ArgumentError(f"figure2: experiment {name!r} has {runs.d.nunique()} values of d, allowed is one")
        return runs

    @property
    def winner(self) -> pd.Series:
        """By α, the branch of smaller training loss in theory."""
        losses = pd.DataFrame({b: self.theory[b].train_loss.where(self.theory[b].converged) for b in COLOUR})
        return losses.idxmin(axis=1)

    def winning(self, runs: pd.DataFrame) -> pd.DataFrame:
        """The runs whose start has the smaller mean training loss at their α."""
        means = runs.groupby(["alpha", "start"]).train_loss.mean().unstack()
        winners = means.idxmin(axis=1)
        return runs[runs.start.to_numpy() == winners.reindex(runs.alpha).to_numpy()]

    def caption(self) -> str:
        d, (omega, sigma, lam) = int(self.minimisers.d.iloc[0]), self.task
        marks = "; ".join(f"{symbol(k)} = {r.alpha:.4f} ± {r.error:.4f}" for k, r in self.transitions.iterrows())
        seeds = {name: runs.seed.nunique() for name, runs in self.groups().items()}
        unfinished = sum((~runs.converged).sum() for runs in (self.minimisers, self.best))
        missing = sum((~points.converged).sum() for points in self.theory.values())
        return "\n".join(
            [
                f"**Figure 2.** ω = {omega:g}, σ = {sigma:g}, λ = {lam:g}, d = {d}. (a) Training loss of the semantic minus "
                "that of the positional minimum. (b) Overlaps m/σ² and θ/σ² of the minimum of smaller training loss; "
                "thin lines: the other branch. (c) Its test error and that of the linear positional baseline.",
                "",
                f"Lines: state evolution ({missing} of its points did not converge; they would be drawn hollow). "
                f"Vertical lines: {marks}.",
                f"Filled points: minimisers (L-BFGS), both starts on the same {seeds['minimisers']} data sets; "
                f"{unfinished} of these runs did not converge (hollow). Squares: on the positional side the lowest of "
                f"{self.restarts} noisy starts, {seeds['best']} data sets. Crosses: the published protocol, "
                f"{int(self.descent.iterations.max())} steps of gradient descent, {seeds['descent']} data sets.",
                "Error bars: standard error of the mean over data sets, in (a) of the paired difference.",
                "",
            ]
        )

    def groups(self):
        return {"minimisers": self.minimisers, "best": self.best, "descent": self.descent}


def symbol(kind: str) -> str:
    return {"alpha_c": "α_c", "alpha_l": "α_l"}[kind]


def mean_and_error(values: pd.Series) -> pd.DataFrame:
    """Mean and standard error over data sets, by α (index level 0)."""
    grouped = values.groupby(level=0)
    return pd.DataFrame({"mean": grouped.mean(), "error": grouped.std(ddof=1) / np.sqrt(grouped.count())})


def points(axis, summary, colour, marker="o", hollow=None, **options):
    """Means with error bars; hollow marks the α at which a run did not converge."""
    hollow = pd.Series(False, index=summary.index) if hollow is None else hollow.reindex(summary.index, fill_value=False)
    for empty, part in summary.groupby(hollow.to_numpy()):
        style = {"mfc": "white" if empty else colour, "mec": colour, "ecolor": colour, "ms": 3.2, "mew": 0.8, "elinewidth": 0.8}
        label = options.get("label") if not empty or hollow.all() else None
        axis.errorbar(part.index, part["mean"], part["error"], fmt=marker, **{**style, **options, "label": label})


def paired_difference(runs: pd.DataFrame, positional: pd.DataFrame) -> pd.Series:
    """ε_t(semantic start) − ε_t(positional) on common data, indexed by (alpha, seed)."""
    keys = ["alpha", "seed"]
    semantic = runs[runs.start == "semantic"].set_index(keys).train_loss
    return (semantic - positional.set_index(keys).train_loss).dropna()


def unfinished(runs: pd.DataFrame) -> pd.Series:
    return ~runs.groupby("alpha").converged.all()


def theory_line(axis, curve: pd.Series, converged: pd.Series, colour, **options):
    axis.plot(curve.index, curve.where(converged), color=colour, zorder=1, **options)
    lost = curve[~converged].dropna()
    axis.plot(lost.index, lost, "o", mfc="white", mec=colour, ms=4)


def draw_loss_difference(axis, data: Slice):
    semantic, positional = data.theory["semantic"], data.theory["positional"]
    difference = SCALE * (semantic.train_loss - positional.train_loss)
    theory_line(axis, difference, semantic.converged & positional.converged, NEUTRAL, label="theory")
    single = data.minimisers[data.minimisers.start == "positional"]
    summary = mean_and_error(SCALE * paired_difference(data.minimisers, single))
    points(axis, summary, NEUTRAL, hollow=unfinished(data.minimisers), label="minimisers")
    best = mean_and_error(SCALE * paired_difference(data.minimisers, data.best))
    points(axis, best, POSITIONAL, "s", mfc="none", ms=5.5, label=f"lowest of {data.restarts}")
    stopped = data.descent[data.descent.start == "positional"]
    points(axis, mean_and_error(SCALE * paired_difference(data.descent, stopped)), SEMANTIC, "x", ms=5, label="descent")
    axis.axhline(0, color="0.7", lw=0.7, zorder=0)
    axis.set_ylabel(r"$\Delta\varepsilon_t = \varepsilon_t^{\rm sem}-\varepsilon_t^{\rm pos}$  $[10^{-3}]$")
    axis.legend(fontsize="small", loc="lower left")


def draw_overlaps(axis, data: Slice):
    rho = data.task.sigma**2
    for branch, colour in COLOUR.items():
        theory = data.theory[branch]
        curve = theory[OVERLAP[branch]] / rho
        wins = (data.winner == branch).reindex(theory.index)
        axis.plot(curve.index, curve.where(theory.converged), color=colour, lw=0.7, alpha=0.6, zorder=0)
        theory_line(axis, curve.where(wins), theory.converged, colour, label=f"${SYMBOL[branch]}/\\sigma^2$ theory")
        for runs, marker, options in (
            (data.minimisers, "o", {"label": f"${SYMBOL[branch]}/\\sigma^2$ minimisers"}),
            (data.descent, "x", {"ms": 5}),
            (data.best, "s", {"ms": 5.5, "mfc": "none"}),
        ):
            chosen = data.winning(runs) if runs is not data.best else on_positional_side(runs, data)
            chosen = chosen[chosen.start == branch]
            summary = mean_and_error(chosen.set_index("alpha")[OVERLAP[branch]] / rho)
            points(axis, summary, colour, marker, hollow=None if marker == "x" else unfinished(chosen), **options)
    axis.set_ylabel(r"overlap of the global minimum")
    axis.set_ylim(bottom=-0.03)
    axis.legend(fontsize="small", loc="lower right")


def draw_test_error(axis, data: Slice):
    winner = data.winner
    for branch, colour in COLOUR.items():
        theory = data.theory[branch]
        curve = SCALE * theory.test_error
        axis.plot(curve.index, curve.where(theory.converged), color=colour, lw=0.7, alpha=0.6, zorder=0)
        wins = (winner == branch).reindex(theory.index)
        theory_line(axis, curve.where(wins), theory.converged, colour, label=f"{branch}, theory")
        for runs, marker, options in (
            (data.minimisers, "o", {}),
            (data.descent, "x", {"ms": 5}),
            (data.best, "s", {"ms": 5.5, "mfc": "none"}),
        ):
            chosen = data.winning(runs) if runs is not data.best else on_positional_side(runs, data)
            chosen = chosen[chosen.start == branch]
            summary = mean_and_error(SCALE * chosen.set_index("alpha").test_error)
            points(axis, summary, colour, marker, hollow=None if marker == "x" else unfinished(chosen), **options)
    exact = SCALE * data.linear.theory_test_error.iloc[0]
    axis.axhline(exact, color=BASELINE, ls="--", lw=1.2, zorder=0, label="linear baseline, theory")
    points(axis, mean_and_error(SCALE * data.linear.set_index("alpha").test_error), BASELINE, "D", ms=2.4, label="fitted")
    axis.set_ylabel(r"test error $\varepsilon_g$  $[10^{-3}]$")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize="small", loc="upper right")


def on_positional_side(runs: pd.DataFrame, data: Slice) -> pd.DataFrame:
    """Runs at the α where theory's global minimum is positional."""
    return runs[(data.winner.reindex(runs.alpha) == "positional").to_numpy()]


def mark(axis, data: Slice):
    """α_c and α_l as vertical lines with their error as a band."""
    top = axis.get_ylim()[1]
    for kind, line in data.transitions.iterrows():
        style = "-" if kind == "alpha_c" else ":"
        axis.axvspan(line.alpha - line.error, line.alpha + line.error, color="0.8", lw=0, zorder=0)
        axis.axvline(line.alpha, color="0.4", ls=style, lw=0.8, zorder=0)
        name = {"alpha_c": r"$\alpha_c$", "alpha_l": r"$\alpha_l$"}[kind]
        axis.annotate(name, (line.alpha, top), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize="small")


if __name__ == "__main__":
    run(main)
