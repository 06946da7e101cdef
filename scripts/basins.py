"""Where single runs end: both informed starts, random starts by two algorithms, and shares of the basins."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from scipy.stats import binomtest
from selection import LEAST_MULTIPLE, basin
from style import POSITIONAL, SEMANTIC, TEXT_WIDTH, save, save_caption, use_style
from tables import read_table

# Basin: colour and marker.
BASINS = {"semantic": (SEMANTIC, "o"), "positional": (POSITIONAL, "s"), "neither": ("0.5", "^")}
ALGORITHM = {"gd": "gradient descent", "adam": "Adam", "lbfgs": "L-BFGS"}
CONFIDENCE = 0.95
SWEPT = {"alpha": r"$\alpha$", "d": "$d$", "start_std": "scale of the start"}
PLAIN = {"alpha": "α", "d": "d", "start_std": "scale"}


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--informed", required=True, help="Experiment with descent from both starts.")
@click.option("--theory", "theory_name", required=True, help="Experiment with the fixed points.")
@click.option("--adam", required=True, help="Experiment with random starts, the published protocol.")
@click.option("--descent", required=True, help="Experiment with random starts by gradient descent.")
@click.option("--shares", required=True, help="Experiment with random starts against α, d and the scale of the start.")
@figure_options
def main(fixed_points, runs, informed, theory_name, adam, descent, shares, pdf, png, caption, A):
    table, theory = read_table(RUNS, runs), read_table(FIXED_POINTS, fixed_points)
    table = table.assign(basin=basin(table))
    alpha = table[table.experiment == adam].alpha.iloc[0]
    here = table[table.alpha == alpha]
    clouds = {name: here[here.experiment == name] for name in (informed, adam, descent)}
    ends = minima(theory[(theory.experiment == theory_name) & (theory.alpha == alpha)])
    counts = count_basins(table[table.experiment == shares])
    centre = central_values(counts, clouds[adam])
    use_style()
    figure, axes = plt.subplots(2, 3, figsize=(TEXT_WIDTH, 4.4), layout="constrained")
    for axis, cloud in zip(axes[0], clouds.values(), strict=True):
        draw_cloud(axis, cloud, ends)
    top = max(axis.get_xlim()[1] for axis in axes[0])
    for axis in axes[0]:
        axis.set(xlim=(-0.05, top), ylim=(-0.05, top))
    for axis, key in zip(axes[1], SWEPT, strict=True):
        draw_shares(axis, counts, centre, key)
    axes[0, 0].legend(fontsize="x-small", loc="upper right")
    axes[1, 0].legend(fontsize="x-small", loc="best", title="share that ends", title_fontsize="x-small")
    axes[1, 0].set_ylabel("share of random starts")
    for axis, letter in zip(axes.flat, "abcdef", strict=True):
        axis.set_title(f"({letter}) {axis.get_title()}", loc="left", fontsize="medium")
        axis.set_title("")
    save(figure, pdf, png)
    save_caption(caption, caption_of(list(clouds.values()), ends, table[table.experiment == shares], counts, centre), A)


def minima(points: pd.DataFrame) -> pd.DataFrame:
    """The semantic and the positional fixed point, where they converged and exist."""
    return points[points.branch.isin(["semantic", "positional"]) & points.converged & ~points.merged]


def draw_cloud(axis, runs: pd.DataFrame, ends: pd.DataFrame):
    """Overlaps of single runs by the basin they ended in, hollow where not converged, and theory's fixed points."""
    first = runs.iloc[0]
    scale = 1 / first.sigma**2
    for name, (colour, marker) in BASINS.items():
        group = runs[runs.basin == name]
        for part, face in ((group[group.converged], colour), (group[~group.converged], "none")):
            axis.plot(scale * part.m, scale * part.theta, marker, ms=2.8, mfc=face, mec=colour, mew=0.6, ls="none")
    axis.plot(scale * ends.m, scale * ends.theta, "*", ms=10, mfc="white", mec="black", ls="none", label="theory")
    axis.set(xlabel=r"$m/\sigma^2$", ylabel=r"$\theta/\sigma^2$")
    axis.axline((0, 0), slope=first.sigma, color="0.6", ls="--", lw=0.7, zorder=0)
    start = "random" if first.start == "random" else "informed"
    axis.set_title(f"{start} starts, $d = {first.d}$")
    axis.text(0.96, 0.72, ALGORITHM[first.optimizer], transform=axis.transAxes, ha="right", fontsize="small")
    axis.set_aspect("equal", adjustable="box")


def count_basins(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs in each basin and their total, by (α, d, start_std)."""
    counts = runs.groupby([*SWEPT, "basin"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(BASINS), fill_value=0)
    return counts.assign(total=counts.sum(axis=1))


def central_values(counts: pd.DataFrame, published: pd.DataFrame) -> dict[str, float]:
    """The values of α, d and scale that stay fixed while another varies: the nearest to those of the published runs."""
    levels = {key: counts.index.get_level_values(key).unique() for key in SWEPT}
    wanted = published.iloc[0]
    return {key: min(level, key=lambda x, w=wanted[key]: abs(np.log(x / w))) for key, level in levels.items()}


def draw_shares(axis, counts: pd.DataFrame, centre: dict, key: str):
    """Shares of the basins along one parameter, the others at their central values, with binomial intervals."""
    others = {name: value for name, value in centre.items() if name != key}
    line = counts.xs(tuple(others.values()), level=list(others)).sort_index()
    for name, (colour, marker) in BASINS.items():
        share = line[name] / line.total
        tests = [binomtest(int(k), int(n)) for k, n in zip(line[name], line.total, strict=True)]
        interval = np.array([test.proportion_ci(CONFIDENCE, method="exact") for test in tests]).T
        bars = np.abs(interval - share.to_numpy())
        style = {"fmt": f"{marker}-", "ms": 3.2, "lw": 0.9, "elinewidth": 0.7, "color": colour, "label": name}
        axis.errorbar(line.index, share, bars, **style)
    fixed = ", ".join(f"{PLAIN[name]} = {value:g}" for name, value in others.items())
    axis.set(xlabel=SWEPT[key], ylim=(-0.03, 1.03), xscale="linear" if key == "alpha" else "log")
    axis.axvline(centre[key], color="0.85", lw=3, zorder=-1)
    if key != "alpha":
        axis.set_xticks(line.index, [f"{value:g}" for value in line.index])
        axis.minorticks_off()
    axis.set_title(fixed.replace("α", r"$\alpha$").replace("d =", "$d$ ="))


def shares_of(runs: pd.DataFrame) -> str:
    """Counts of the basins in words, with intervals."""
    words = []
    for name in BASINS:
        k, n = int((runs.basin == name).sum()), len(runs)
        low, high = binomtest(k, n).proportion_ci(CONFIDENCE, method="exact")
        words.append(f"{name} {k} of {n} ({low:.2f} to {high:.2f})")
    return ", ".join(words)


def caption_of(clouds: list[pd.DataFrame], ends, swept, counts: pd.DataFrame, centre: dict) -> str:
    informed, adam, descent = clouds
    first, started = informed.iloc[0], adam.iloc[0]
    both = adam.set_index("seed").basin.to_frame("adam").join(descent.set_index("seed").basin.rename("descent"))
    both = both.dropna()
    finished = set(adam.seed[adam.converged]) & set(descent.seed[descent.converged])
    both = both[both.index.isin(finished)]
    same = f"of the {len(both)} data sets on which both converged {int((both.adam == both.descent).sum())}"
    kept = informed.basin == informed.start
    hollow = ", ".join(f"{int((~cloud.converged).sum())} of {len(cloud)}" for cloud in clouds)
    algorithms = {key: ALGORITHM[runs.optimizer.iloc[0]] for key, runs in (("b", adam), ("c", descent), ("d", swept))}
    return f"""**Basins.** (a–c) Overlaps of single runs at α = {first.alpha:g}, ω = {first.omega:g}, σ =
{first.sigma:g},
λ = {first.lam:g}; stars: the {len(ends)} fixed points (semantic, positional) of the state evolution; colour and marker:
where a run ended; hollow: gradient norm above the tolerance ({hollow} in a, b, c). (a)
{ALGORITHM[first.optimizer].capitalize()}, {int(first.iterations)} steps, d = {first.d}, from both informed starts on
n = {informed.seed.nunique()} data sets; {int(kept.sum())} of {len(kept)} stay in the basin of their start. (b) Random
starts, entries {started.start_std:g}·N(0, 1), {algorithms["b"]}, {int(started.iterations)} steps, d = {started.d}, one
start on each of n = {len(adam)} data sets: {shares_of(adam)}. (c) The same starts and data by {algorithms["c"]},
{int(descent.iterations.iloc[0])} steps: {shares_of(descent)}; {same} end in the same
basin.

(d–f) Share of random starts that end in each basin against α, d and the scale of the start's entries, minimised by
{algorithms["d"]}, one start on each of n = {int(counts.total.min())} data sets; runs of a point are independent of one
another, while the points of (f) share data and noise. {int((~swept.converged).sum())} of these runs did not converge.
Grey bands mark the values that the other panels keep fixed, α = {centre["alpha"]:g}, d = {centre["d"]:g} and scale
{centre["start_std"]:g}; data and starts there are among those of (b). Error bars: exact binomial intervals
(Clopper–Pearson) of {100 * CONFIDENCE:.0f} %.

Rule: a run is positional where m > θ/σ (below the dashed line in a–c), that is where place moves the fields
z_ℓ = Q·(x_ℓ+p_ℓ)/√d more than the teacher's field does, semantic where not, and neither where both parts are less than
{LEAST_MULTIPLE:g} times what a random Q of the same norm has by chance.
"""


if __name__ == "__main__":
    run(main)
