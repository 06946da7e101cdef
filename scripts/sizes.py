"""Test error and overlaps against d from both starts, with the limit of the theory and a fit of the approach to it."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from selection import lowest_positional, positional_starts
from size_fit import LEAST_SIZE, Fit, fit_of
from style import BRANCH_COLOUR, TEXT_WIDTH, save, save_caption, use_style
from tables import read_table
from unit_teacher import at_unit_teacher

# Numbers of a row of panels: column of the tables, symbol, power of σ and factor by which it is drawn.
NUMBERS = {
    "test_error": (r"$\varepsilon_g$  $[10^{-3}]$", 0, 1e3),
    "theta": (r"$\theta/\sigma^2$", -2, 1.0),
    "m": (r"$m/\sigma^2$", -2, 1.0),
}
PLAIN = {"test_error": "10³ ε_g", "theta": "θ/σ²", "m": "m/σ²"}
VANISHING = {"semantic": "m", "positional": "theta"}  # goes to 0 on that branch


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--scaling", required=True, help="Experiment with theory, and runs from all starts at several d.")
@figure_options
def main(fixed_points, runs, scaling, pdf, png, caption, A):
    table, theory = read_table(RUNS, runs), read_table(FIXED_POINTS, fixed_points)
    table, theory = table[table.experiment == scaling], theory[theory.experiment == scaling].set_index("branch")
    positional = table[table.start.isin(["positional", "noisy_positional"])]
    kinds = {
        "semantic": table[table.start == "semantic"],
        "one start": table[table.start == "positional"],
        "lowest": lowest_positional(positional),
    }
    restarts = positional_starts(positional)
    use_style()
    figure, axes = plt.subplots(2, 3, figsize=(TEXT_WIDTH, 3.9), layout="constrained", sharex=True)
    fits = {}
    for row, branch in zip(axes, BRANCH_COLOUR, strict=True):
        for axis, number in zip(row, NUMBERS, strict=True):
            fits[branch, number] = draw_panel(axis, kinds, theory.loc[branch], branch, number, restarts)
            axis.set_title(f"{branch} start" if number == "test_error" else "", loc="left", fontsize="medium")
    for axis in axes[-1]:
        axis.set_xlabel("$d$")
    axes[0, 0].legend(fontsize="x-small")
    axes[1, 0].legend(fontsize="x-small")
    save(figure, pdf, png)
    save_caption(caption, caption_of(table, kinds, theory, fits, restarts), A)


def draw_panel(axis, kinds: dict, point: pd.Series, branch: str, number: str, restarts: int) -> Fit | None:
    """Runs of one start, the limit of the theory and the fit; returns the fit."""
    symbol, power, factor = NUMBERS[number]
    scale, colour = factor * point.sigma**power, BRANCH_COLOUR[branch]
    limit = scale * point[number] if point.converged else np.nan
    axis.axhline(limit, color="black", lw=0.9, label="theory, $d\\to\\infty$", zorder=0)
    shown = {"semantic": "minimisers"} if branch == "semantic" else {"one start": "one start", "lowest": ""}
    for kind, label in shown.items():
        summary = by_size(kinds[kind], number) * scale
        hollow = {"mfc": "none", "alpha": 0.55} if kind == "one start" else {}
        axis.errorbar(
            summary.index, summary["value"], summary["error"], fmt="o" if kind == "semantic" else "s", ms=3.2, mew=0.7,
            color=colour, elinewidth=0.7, label=label or f"lowest of {restarts}", **hollow,
        )  # fmt: skip
    fit = fit_of(summary, vanishing=VANISHING[branch] == number)
    if fit is not None:
        d = np.geomspace(LEAST_SIZE, summary.index.max(), 100)
        form = r"$c\,d^{-p}$" if VANISHING[branch] == number else r"$v+c/d$"
        axis.plot(d, fit(d), color=colour, lw=1, ls="--", label=f"fit {form}", zorder=1)
    if number != "test_error":
        axis.legend(fontsize="x-small")
    axis.set(xscale="log", ylabel=symbol)
    axis.set_ylim(bottom=0)
    return fit


def by_size(runs: pd.DataFrame, number: str) -> pd.DataFrame:
    """Value and standard error at each d: the intercept, at ‖Q⋆‖²/d = 1, of the regression over data sets on it."""
    rows = {d: at_unit_teacher(group[number], group.teacher_variance) for d, group in runs.groupby("d")}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "error"])


def caption_of(table, kinds: dict, theory: pd.DataFrame, fits: dict, restarts: int) -> str:
    point, d = theory.iloc[0], sorted(kinds["semantic"].d.unique())
    lines = []
    for (branch, number), fit in fits.items():
        scale = NUMBERS[number][2] * point.sigma ** NUMBERS[number][1]
        exact = scale * theory.loc[branch, number]
        if fit is None:
            continue
        quality = f"χ² = {fit.chi_square:.1f} for {fit.freedom}"
        if VANISHING[branch] == number:
            lines.append(f"{PLAIN[number]} {branch}: p = {fit.power:.3f} ± {fit.power_error:.3f} ({quality})")
        else:
            gap = (fit.limit - exact) / fit.limit_error
            lines.append(
                f"{PLAIN[number]} {branch}: v = {fit.limit:.4f} ± {fit.limit_error:.4f}, theory {exact:.4f}"
                f" ({gap:+.1f} s.e.), c = {fit.slope:.2g} ± {fit.slope_error:.1g} ({quality})"
            )
    lowest = kinds["lowest"].groupby("d").size()
    fewer = ", ".join(f"{count} at d = {d}" for d, count in lowest.items() if count < lowest.max())
    return f"""**Approach to the limit.** Test error and both overlaps against d = {", ".join(map(str, d))} at
α = {point.alpha:g}, ω = {kinds["semantic"].omega.iloc[0]:g}, σ = {point.sigma:g}, λ = {point.lam:g}. Above: semantic
start; below: positional start, one start (pale) and the lowest of {restarts} (one plain and {restarts - 1} noisy ones).
Horizontal lines: state evolution. Points: minimisers (L-BFGS), n = {kinds["semantic"].seed.nunique()} data sets at each
d, the value at ‖Q⋆‖²/d = 1 of the regression over data sets; error bars: its standard error. m and θ are absolute
values, so that the one that theory has at 0 is positive at finite d. Of single starts all runs are counted, also those
that left the basin of their start, as some do at small d; the lowest is taken of the runs with m > θ/σ, which some data
sets lack ({lowest.max()} data sets, {fewer or "at every d"}). {int((~table.converged).sum())} of all {len(table)} runs
did not converge. The term of the encodings in the values, of order 1/d, is left in: it is part of what c fits.

Dashed: weighted fits to d ≥ {LEAST_SIZE} (below: to the lowest of {restarts}), v + c/d for numbers with a finite limit,
c d^-p for the others; errors are enlarged by √(χ²/degrees of freedom) where that exceeds 1, and hold no systematic part
of the choice of form and of the smallest d. {"; ".join(lines)}.
"""


if __name__ == "__main__":
    run(main)
