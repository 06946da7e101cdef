"""Minima of the positional basin on common data: loss, m and q of many noisy starts, and the lowest of k of them."""

import click
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from scipy.special import gammaln
from selection import on_positional_side
from style import TEXT_WIDTH, save, save_caption, use_style
from tables import read_table
from unit_teacher import common_slope_at_unit_teacher

from solvable_attention.errors import ArgumentError
from solvable_attention.finite_d import encoding_parts
from solvable_attention.task import TeacherStudent

NUMBERS = {"train_loss": r"$\varepsilon_t$  $[10^{-3}]$", "m": r"$m/\sigma^2$", "q": r"$q/\sigma^2$"}
PLAIN = {"train_loss": "10³ ε_t", "m": "m/σ²", "q": "q/σ²"}


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--minima", required=True, help="Experiment with theory and many noisy positional starts.")
@figure_options
def main(fixed_points, runs, minima, pdf, png, caption, A):
    table, theory = read_table(RUNS, runs), read_table(FIXED_POINTS, fixed_points)
    table = table[table.experiment == minima]
    theory = theory[(theory.experiment == minima) & (theory.branch == "positional")].set_index("alpha")
    inside = table[on_positional_side(table)]
    lost = sorted(set(zip(table.d, table.alpha, strict=True)) - set(zip(inside.d, inside.alpha, strict=True)))
    if lost:
        where = "d = {}, α = {:g}".format(*lost[0])
        raise ArgumentError(f"minima: no run of {minima!r} at {where} ended with m > θ/σ, allowed is one at least")
    if not (theory.converged & ~theory.merged).reindex(table.alpha.unique(), fill_value=False).all():
        raise ArgumentError(
            f"minima: theory of {minima!r} lacks a positional branch at an α, allowed are α that have one"
        )
    table_of_k = lowest_of_k(scaled(inside))
    lowest = summary_of(table_of_k, scaled(inside))
    alphas = sorted(table.alpha.unique())
    use_style()
    size = (TEXT_WIDTH, 0.35 + 1.95 * len(alphas))
    figure, axes = plt.subplots(len(alphas), 4, figsize=size, layout="constrained", squeeze=False)
    sizes = sorted(table.d.unique())
    colours = dict(zip(sizes, mpl.colormaps["viridis_r"](np.linspace(0.15, 1, len(sizes))), strict=True))
    for row, alpha in zip(axes, alphas, strict=True):
        point = scaled(theory.loc[[alpha]]).iloc[0]
        draw_cloud(row[0], scaled(inside[inside.alpha == alpha]), point, colours)
        for axis, number in zip(row[1:], NUMBERS, strict=True):
            draw_lowest(axis, lowest, alpha, number, point, colours)
        row[0].set_title(rf"$\alpha = {alpha:g}$", loc="left", fontsize="medium")
    for axis in axes[-1, 1:]:
        axis.set_xlabel("starts $k$")
    axes[-1, 0].set_xlabel(NUMBERS["m"])
    axes[0, 0].legend(fontsize="x-small")
    save(figure, pdf, png)
    save_caption(caption, caption_of(table, inside, table_of_k, lowest, theory), A)


def scaled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with losses in 1e-3 and overlaps over σ²."""
    square = frame.sigma**2
    return frame.assign(train_loss=1e3 * frame.train_loss, m=frame.m / square, q=frame.q / square)


def lowest_of_k(runs: pd.DataFrame) -> pd.DataFrame:
    """Expected numbers of the run of lowest loss among k of a data set's starts, a row for each (k, d, alpha, seed).

    Of N runs sorted by loss, the i-th (from 0) is the lowest of a random k with probability C(N−1−i, k−1)/C(N, k).
    """
    rows = []
    for (d, alpha, seed), group in runs.groupby(["d", "alpha", "seed"]):
        values = group.sort_values("train_loss", kind="stable")[list(NUMBERS)].to_numpy()
        variance = group.teacher_variance.iloc[0]
        for k in range(1, len(values) + 1):
            expected = dict(zip(NUMBERS, chances(len(values), k) @ values, strict=True))
            rows.append({"k": k, "d": d, "alpha": alpha, "seed": seed, "variance": variance, **expected})
    table = pd.DataFrame(rows)
    # Every k needs all data sets, or the means along k are those of different ones.
    reach = table.groupby(["d", "alpha", "seed"]).k.max().groupby("alpha").min()
    return table[table.k <= table.alpha.map(reach)]


def summary_of(table: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error over data sets, by (k, d, alpha), at ‖Q⋆‖²/d = 1 and less the encodings' part of ε_t."""
    parts = {number: common_slope_at_unit_teacher(table, number) for number in NUMBERS}
    summary = pd.concat(parts, axis=1)
    first = runs.iloc[0]
    task = TeacherStudent(first.omega, first.sigma, first.lam)
    means = runs.groupby(["d", "alpha"])[["q", "m", "theta"]].mean()
    for (d, alpha), overlaps in means.iterrows():
        known = encoding_parts(task, d, alpha, overlaps.q * task.rho, overlaps.m * task.rho, overlaps.theta)
        summary.loc[(slice(None), d, alpha), ("train_loss", "mean")] -= 1e3 * known["train_loss"]
    return summary


def chances(total: int, k: int) -> np.ndarray:
    """Probability of each of `total` sorted runs to be the lowest of k drawn without repetition."""
    rank = np.arange(total)
    left = total - 1 - rank
    with np.errstate(invalid="ignore"):
        log = _log_choose(left, k - 1) - _log_choose(total, k)
    return np.where(left >= k - 1, np.exp(log), 0.0)


def _log_choose(n, k):
    return gammaln(np.asarray(n) + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(np.asarray(n) - k, 0) + 1.0)


def draw_cloud(axis, runs: pd.DataFrame, point: pd.Series, colours: dict):
    """m and q of single minima."""
    for d, group in runs.groupby("d"):
        style = {"ms": 1.8, "mew": 0, "alpha": 0.7, "color": colours[d], "rasterized": True}
        axis.plot(group.m, group.q, "o", label=f"$d = {d}$", **style)
    axis.plot(point.m, point.q, "*", ms=10, mfc="white", mec="black", ls="none", label="theory")
    axis.set_ylabel(NUMBERS["q"])


def draw_lowest(axis, lowest: pd.DataFrame, alpha: float, number: str, point: pd.Series, colours: dict):
    """A number of the lowest of k starts against k, with its standard error as a band, and theory's line."""
    axis.axhline(point[number], color="black", lw=0.9, ls="--")
    for d, colour in colours.items():
        line = lowest.xs((d, alpha), level=["d", "alpha"])[number]
        low, high = line["mean"] - line.error, line["mean"] + line.error
        axis.plot(line.index, line["mean"], color=colour, lw=1.1)
        axis.fill_between(line.index, low, high, color=colour, alpha=0.2, lw=0)
    most = lowest.index.get_level_values("k").max()
    ticks = [k for k in (1, 2, 4, 8, 16, 32, 64) if k <= most]
    axis.set(xscale="log", ylabel=NUMBERS[number])
    axis.set_xticks(ticks, [str(k) for k in ticks])
    axis.minorticks_off()


def falls(table_of_k: pd.DataFrame, d: int, alpha: float) -> tuple[float, float]:
    """How much ε_t falls from one start to all, in per cent, data set by data set: mean and standard error."""
    here = table_of_k[(table_of_k.d == d) & (table_of_k.alpha == alpha)].pivot(
        index="seed", columns="k", values="train_loss")  # fmt: skip
    fall = 100 * (1 - here[here.columns.max()] / here[1])
    return float(fall.mean()), float(fall.std(ddof=1) / np.sqrt(len(fall)))


def caption_of(table, inside, table_of_k, lowest: pd.DataFrame, theory: pd.DataFrame) -> str:
    first, gaps = table.iloc[0], []
    most = lowest.index.get_level_values("k").max()
    exact = scaled(theory.reset_index()).set_index("alpha")
    for alpha, d in sorted({(alpha, d) for _, d, alpha in lowest.index}):
        lines = lowest.xs((d, alpha), level=["d", "alpha"])
        words = []
        for number in NUMBERS:
            mean, error = lines[number, "mean"], lines[number, "error"]
            relative = [f"{100 * (mean.loc[k] / exact.loc[alpha, number] - 1):+.1f}" for k in (1, mean.index.max())]
            bar = 100 * error.iloc[-1] / exact.loc[alpha, number]
            words.append(f"{PLAIN[number]} {' → '.join(relative)} ± {bar:.1f} %")
        fall, bar = falls(table_of_k, d, alpha)
        gaps.append(f"α = {alpha:g}, d = {d}: {', '.join(words)}; ε_t falls by {fall:.2f} ± {bar:.2f} %")
    restarts, seeds = table.restart.nunique(), table.seed.nunique()
    sizes = ", ".join(str(d) for d in sorted(table.d.unique()))
    return f"""**Positional minima.** ω = {first.omega:g}, σ = {first.sigma:g}, λ = {first.lam:g}, d = {sizes};
{restarts} noisy positional starts, whose entries have the standard deviation {first.start_std:g}, on each of
n = {seeds} data sets, minimised by L-BFGS; {int((~table.converged).sum())} of {len(table)} did not converge,
{len(table) - len(inside)} left the positional side (m < θ/σ) and are not counted. Left: m
and q of the single minima, stars: state evolution. Then loss, m and q of the lowest of k starts, averaged over the
choice of the k and over data sets; what ‖Q⋆‖²/d explains and, in ε_t, the term of the encodings are taken off. Bands:
standard error over data sets. Dashed: the positional fixed point, which theory takes for the lowest minimum.

Gap to theory of one start → of the lowest of all (at most {most}), ± standard error of the latter, and the fall of ε_t
from the one to the other on the same data, ± its standard error: {"; ".join(gaps)}.
"""


if __name__ == "__main__":
    run(main)
