"""Rows of the scorecard, computed from the tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from agreement import ORDER, REST, SYMBOLS, compared
from diagram import run_maps, theory_maps
from published import LINES
from scipy.interpolate import PchipInterpolator
from selection import lowest_positional

from solvable_attention.errors import ArgumentError

NAMES = {"alpha_c": "α_c", "alpha_l": "α_l"}
REPRODUCED, NOT = "reproduced", "not reproduced"
# Shares of the value and of the points up to which a correction is all that is needed.
MOST_CORRECTION, LEAST_SHARE = 0.2, 0.8
ENOUGH = 0.95


def row(claim, where, ours, error=np.nan, published=np.nan, verdict="") -> dict:
    return {"claim": claim, "where": where, "published": published, "ours": ours, "error": error, "verdict": verdict}


def verdict_of_value(published: float, ours: float, error: float, unit: float) -> str:
    """unit : of the published last digit."""
    if not np.isfinite([ours, error]).all():
        return NOT
    if abs(published - ours) <= 3 * error + unit / 2:
        return REPRODUCED
    correction = ours / published - 1
    return f"reproduced with a correction ({100 * correction:+.1f} %)" if abs(correction) < MOST_CORRECTION else NOT


def verdict_of_share(share: float, correction: str = "", of_runs: bool = False) -> str:
    """share : of the points at which the statement holds; correction : what has to be added where that is not all.

    Statements on means of few runs, which scatter more than 3 standard errors now and then, need ENOUGH of the points.
    """
    if share >= (ENOUGH if of_runs else 1):
        return REPRODUCED
    holds = share >= LEAST_SHARE
    return f"reproduced with a correction ({correction or f'at {100 * share:.0f} % of the points'})" if holds else NOT


def of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of an experiment; ArgumentError where there are none."""
    chosen = table[table.experiment == name]
    if chosen.empty:
        raise ArgumentError(f"experiment: is {name!r}, allowed is one that this table holds")
    return chosen


def lines_of(tables, name) -> pd.DataFrame:
    return of(tables["transitions"], name).set_index(["kind", "omega"]).sort_index()


def slice_claims(tables, slice_name, lines) -> Iterator[dict]:
    """Two minima beside each other, and the change of the lower one."""
    points = of(tables["fixed_points"], slice_name)
    omega = points.omega.iloc[0]
    real = points[points.converged & ~points.merged]
    both = sorted(set(real[real.branch == "semantic"].alpha) & set(real[real.branch == "positional"].alpha))
    where = f"theory, ω = {omega:g}, " + (f"α from {both[0]:g} to {both[-1]:g}" if both else "no α")
    pinned = real.m.where(real.branch == "semantic", real.theta).abs().max()
    claim = "two minima exist side by side: positional (m > 0, θ = 0) and semantic (θ > 0, m = 0)"
    yield row(claim, where, float(len(both) > 0 and pinned == 0), verdict=REPRODUCED if both else NOT)
    runs = of(tables["runs"], slice_name)
    beyond = runs[(runs.alpha >= both[0]) & (runs.alpha <= both[-1])] if both else runs.iloc[:0]
    kept = np.where(beyond.start == "semantic", beyond.theta > beyond.m, beyond.m > beyond.theta)
    share = float(kept.mean()) if len(kept) else np.nan
    claim = "minimisers stay in the basin of their start (m > θ or θ > m)"
    where = f"{len(kept)} runs at these α, d = {runs.d.iloc[0]}"
    yield row(claim, where, share, verdict=verdict_of_share(share, of_runs=True))
    line = lines_of(tables, lines)
    if ("alpha_c", omega) in line.index:
        at = line.loc["alpha_c", omega]
        table = real.pivot(index="alpha", columns="branch", values="train_loss").loc[both]
        share = float(((table.semantic < table.positional) == (table.index > at.alpha)).mean())
        claim = "the global minimum switches once, from positional to semantic, at α_c"
        yield row(claim, f"theory, ω = {omega:g}, {len(table)} α", share, verdict=verdict_of_share(share))


def transition_claims(tables, lines) -> Iterator[dict]:
    """The published lines value by value, and their order."""
    line = lines_of(tables, lines)
    for kind, values in LINES.items():
        for omega, published in values.items():
            if (kind, omega) in line.index:
                at = line.loc[kind, omega]
                verdict = verdict_of_value(published, at.alpha, at.error, 1e-3)
                yield row(NAMES[kind], f"theory, ω = {omega:g}", at.alpha, at.error, published, verdict)
    c, later = (line.loc[kind].query("status == 'found'") for kind in NAMES)
    steps, noise = c.alpha.diff().dropna(), c.error.rolling(2).sum().dropna()
    share = float((steps > noise).mean())
    yield row("α_c grows with ω", f"theory, {len(c)} ω", share, verdict=verdict_of_share(share))
    both = c.join(later, rsuffix="_l", how="inner")
    share = float((both.alpha_l - both.alpha > both.error + both.error_l).mean())
    claim = "α_l ≥ α_c: the semantic phase beats the baseline only later"
    yield row(claim, f"theory, {len(both)} ω", share, verdict=verdict_of_share(share))


def map_claims(tables, diagram) -> Iterator[dict]:
    """The positional phase against the baseline."""
    linear, runs = of(tables["linear"], diagram), of(tables["runs"], diagram)
    theory = theory_maps(of(tables["fixed_points"], diagram), linear.groupby("omega").theory_test_error.first())
    positional = theory[theory.known & (theory.winner == "positional")]
    share = float((positional.gain < 0).mean())
    claim = "attention in the positional phase is beaten by the linear positional baseline"
    yield row(claim, f"theory, {len(positional)} points (α, ω)", share, verdict=verdict_of_share(share))
    mean, _ = run_maps(runs, linear)
    measured = mean[mean.loss_difference > 0]
    share = float((measured.gain < 0).mean())
    where = f"runs, d = {runs.d.iloc[0]}, {len(measured)} points (α, ω)"
    yield row(claim, where, share, verdict=verdict_of_share(share, of_runs=True))


def census_claims(tables, census) -> Iterator[dict]:
    """What other fixed points there are."""
    scan = of(tables["scan"], census)
    scan = scan[scan.converged]
    points = scan.groupby(["omega", "alpha"])
    lowest = scan.loc[points.train_loss.idxmin()]
    mixed = scan[scan.branch == "mixed"]
    share = float((lowest.branch != "mixed").mean())
    where = f"theory, {points.ngroups} points (α, ω), {scan.starts.iloc[0]} starts each; mixed at {len(mixed)} of them"
    claim = "no mixed fixed point (m > 0 and θ > 0) has the smallest loss"
    yield row(claim, where, share, verdict=verdict_of_share(share))
    if len(mixed):
        share = float((mixed[[f"eigenvalue_{i}_real" for i in range(1, 5)]].max(axis=1) > 1).mean())
        claim = "mixed fixed points are saddles: an eigenvalue of the map above 1"
        yield row(claim, f"theory, {len(mixed)} points", share, verdict=verdict_of_share(share))


def run_claims(tables, diagram, tasks) -> Iterator[dict]:
    """Runs at finite d against theory, each number by the rule of `agreement`."""
    runs, points = of(tables["runs"], diagram), of(tables["fixed_points"], diagram)
    d, seeds = runs.d.iloc[0], runs.seed.nunique()
    known = points[points.converged & ~points.merged & points.branch.isin(ORDER)]
    lowest = known.loc[known.groupby(["omega", "sigma", "lam", "alpha"]).train_loss.idxmin()]
    by_parameters = {(task.omega, task.sigma, task.lam): task for task in tasks}
    groups = dict(list(runs.groupby(["omega", "sigma", "lam", "alpha", "start"])))
    rows = [
        (point.branch, *numbers)
        for point in lowest.itertuples()
        for numbers in compared(
            by_parameters[point.omega, point.sigma, point.lam],
            point,
            groups[point.omega, point.sigma, point.lam, point.alpha, point.branch],
        )
    ]
    frame = pd.DataFrame(rows, columns=["branch", "name", "value", "error", "theory"])
    for (branch, name), group in frame.groupby(["branch", "name"], sort=False):
        gap = group.value - group.theory
        share = float((gap.abs() <= 3 * group.error + REST / d * group.theory).mean())
        where = f"{len(group)} points (α, ω) where it is global, one start, {seeds} data sets"
        correction = f"at {100 * share:.0f} %; the median lies {100 * (gap / group.theory).median():+.1f} % off"
        claim = f"{SYMBOLS[name]} of the {branch} minimum at d = {d} is theory's within 3 s.e. + {REST:g}/d"
        yield row(claim, where, share, verdict=verdict_of_share(share, correction, of_runs=True))


def lowest_claims(tables, slice_name, restarts, tasks) -> Iterator[dict]:
    """The global minimum at finite d, on the positional side as the lowest of many starts."""
    points, table = of(tables["fixed_points"], slice_name), tables["runs"]
    minimisers, noisy = of(table, slice_name), of(table, restarts)
    task = {(task.omega, task.sigma, task.lam): task for task in tasks}.get(
        tuple(points[["omega", "sigma", "lam"]].iloc[0])
    )
    if task is None:
        return
    known = points[points.converged & points.branch.isin(ORDER) & points.alpha.isin(noisy.alpha)]
    lowest, d = lowest_positional(noisy), minimisers.d.iloc[0]
    within = []
    for point in known.loc[known.groupby("alpha").train_loss.idxmin()].itertuples():
        runs = lowest if point.branch == "positional" else minimisers[minimisers.start == "semantic"]
        for _, value, error, theory in compared(task, point, runs[runs.alpha == point.alpha]):
            within.append(abs(value - theory) <= 3 * error + REST / d * theory)
    share = float(np.mean(within))
    seeds, starts = minimisers.seed.nunique(), noisy.restart.max() + 1
    where = f"{len(within)} numbers at ω = {task.omega:g}, {seeds} data sets, see agreement.md"
    minimum = f"the global minimum (positional: lowest of {starts} starts) at d = {d}"
    claim = f"ε_t, ε_g and overlap of {minimum} are theory's within 3 s.e. + {REST:g}/d"
    yield row(claim, where, share, verdict=verdict_of_share(share, of_runs=True))


def crossing_claims(tables, diagram, lines) -> Iterator[dict]:
    """The crossings of the runs against theory's lines."""
    measured = of(tables["crossings"], diagram).dropna(subset=["alpha", "error"])
    for (kind, corrected), group in measured.groupby(["kind", "corrected"]):
        line = lines_of(tables, lines).loc[kind].dropna(subset=["alpha"])
        theory = PchipInterpolator(line.index, line.alpha, extrapolate=False)(group.omega)
        gap = (group.alpha - theory)[np.isfinite(theory)]
        share = float((gap.abs() <= 3 * group.error[gap.index]).mean())
        median = 100 * (gap / (group.alpha - gap)).median()
        where = f"runs, d = {group.d.iloc[0]}, {len(gap)} ω{', less the term of the encodings' if corrected else ''}"
        claim = f"{NAMES[kind]} measured in runs is theory's within 3 s.e."
        correction = f"at {100 * share:.0f} %; the median lies {median:+.1f} % off"
        yield row(claim, where, share, verdict=verdict_of_share(share, correction, of_runs=True))
