"""Rows of the scorecard, computed from the tables: claims of the paper, and checks of this project's own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from agreement import ORDER, REST, SYMBOLS, compared
from diagram import run_maps, theory_maps
from published import LINES, has_published_lines
from scipy.interpolate import PchipInterpolator
from selection import lowest_positional, positional_starts
from unit_teacher import adjusted_to_unit_teacher

from solvable_attention.errors import ArgumentError

NAMES = {"alpha_c": "α_c", "alpha_l": "α_l"}
PAPER, OWN = "paper", "own check"
REPRODUCED, CORRECTED, NOT, UNTESTED = "reproduced", "reproduced with a correction", "not reproduced", "not tested"
# A published value that lies farther from ours than this is not reproduced. Chosen after the fact, as the distance
# within which all but one lie.
MOST_CORRECTION = 0.07
# Shares of the points at which a statement holds up to a correction, and at which one on means of few runs holds: these
# scatter by more than 3 standard errors now and then.
LEAST_SHARE, ENOUGH = 0.8, 0.95
TASK = ["omega", "sigma", "lam"]


def row(section, claim, where, ours, verdict, error=np.nan, published=np.nan, points=1) -> dict:
    """ours : a value with its error, or, of several points, the share at which the statement holds."""
    return {"section": section, "claim": claim, "where": where, "published": published, "ours": ours, "error": error,
            "points": points, "verdict": verdict}  # fmt: skip


def share_row(section, claim, where, holds, correction="", of_runs=False) -> dict:
    """A statement and the points at which it holds, booleans."""
    share = float(np.mean(holds)) if len(holds) else np.nan
    return row(section, claim, where, share, verdict_of_share(share, correction, of_runs), points=len(holds))


def verdict_of_value(published: float, ours: float, error: float, unit: float) -> str:
    """unit : of the published last digit."""
    if not np.isfinite([ours, error]).all():
        return UNTESTED
    if abs(published - ours) <= 3 * error + unit / 2:
        return REPRODUCED
    gap = published / ours - 1
    return f"{CORRECTED if abs(gap) <= MOST_CORRECTION else NOT} (published {100 * gap:+.1f} %)"


def verdict_of_share(share: float, correction: str = "", of_runs: bool = False) -> str:
    """share : of the points at which the statement holds, NaN where there are none; correction : what to add to it."""
    if np.isnan(share):
        return UNTESTED
    if share >= (ENOUGH if of_runs else 1):
        return REPRODUCED
    correction = correction or f"at {100 * share:.0f} % of the points"
    return f"{CORRECTED if share >= LEAST_SHARE else NOT} ({correction})"


def of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of an experiment; ArgumentError where there are none."""
    chosen = table[table.experiment == name]
    if chosen.empty:
        raise ArgumentError(f"experiment: is {name!r}, allowed is one that this table holds")
    return chosen


def found_lines(tables, name) -> dict[str, pd.DataFrame]:
    """Transitions found, by kind, with ω as index."""
    table = of(tables["transitions"], name)
    return {kind: group[group.status == "found"].set_index("omega") for kind, group in table.groupby("kind")}


def stable(points: pd.DataFrame) -> pd.Series:
    """Whether a fixed point is converged, apart from the uninformative one, and stable in every direction."""
    eigenvalues = points[[name for name in points if name.startswith("eigenvalue") and name.endswith("real")]]
    growth = points[["growth_m", "growth_theta"]].fillna(-np.inf).max(axis=1)
    return points.converged & ~points.merged & (eigenvalues.max(axis=1) < 1) & (growth < 1)


def slice_claims(tables, slice_name) -> Iterator[dict]:
    """Two minima beside each other, in theory and for minimisers."""
    points, runs = of(tables["fixed_points"], slice_name), of(tables["runs"], slice_name)
    minima = points[stable(points)]
    alphas = {branch: set(group.alpha) for branch, group in minima.groupby("branch")}
    both = sorted(alphas.get("semantic", set()) & alphas.get("positional", set()))
    count = points.alpha.nunique()
    where = f"theory, ω = {points.omega.iloc[0]:g}, {count} α" + (f": {both[0]:g} to {both[-1]:g}" if both else "")
    claim = "two stable minima exist side by side at some α: positional (m > 0, θ = 0), semantic (θ > 0, m = 0)"
    yield row(PAPER, claim, where, len(both) / count, REPRODUCED if both else NOT, points=count)
    beyond = runs[runs.alpha.between(both[0], both[-1])] if both else runs.iloc[:0]
    kept = np.where(beyond.start == "semantic", beyond.theta > beyond.m, beyond.m > beyond.theta)
    where = f"{len(kept)} runs at these α, d = {runs.d.iloc[0]}"
    yield share_row(PAPER, "minimisers stay in the basin of their start (m > θ or θ > m)", where, kept, of_runs=True)


def transition_claims(tables, lines, task) -> Iterator[dict]:
    """The published lines value by value, and their order."""
    found = found_lines(tables, lines)
    for kind, values in LINES.items() if has_published_lines(task) else ():
        for omega, published in values.items():
            if omega in found[kind].index:
                at = found[kind].loc[omega]
                verdict = verdict_of_value(published, at.alpha, at.error, 1e-3)
                where = f"theory, ω = {omega:g}"
                yield row(PAPER, NAMES[kind], where, at.alpha, verdict, at.error, published)
    c, later = found["alpha_c"].sort_index(), found["alpha_l"]
    steps, noise = c.alpha.diff().dropna(), c.error.rolling(2).sum().dropna()
    yield share_row(PAPER, "α_c grows with ω", f"theory, {len(c)} ω", steps > noise)
    both = c.join(later[["alpha", "error"]].add_suffix("_l"), how="inner")
    claim = "α_l > α_c: the semantic minimum beats the baseline only after it has become the global one"
    yield share_row(PAPER, claim, f"theory, {len(both)} ω", both.alpha_l - both.alpha > both.error + both.error_l)


def map_claims(tables, diagram) -> Iterator[dict]:
    """The signs of the two maps of figure 3."""
    linear, runs = of(tables["linear"], diagram), of(tables["runs"], diagram)
    theory = theory_maps(of(tables["fixed_points"], diagram), linear.groupby("omega").theory_test_error.first())
    informed = theory[theory.known & (theory.winner != "uninformative")]
    falls = informed.loss_difference.groupby(level="omega").apply(lambda x: (np.diff(np.sign(x)) != 0).sum() <= 1)
    claim = "along α the global minimum switches once at most, from positional to semantic"
    starts = informed.winner.groupby(level="omega").first() == "positional"
    yield share_row(PAPER, claim, f"theory, {len(falls)} ω", falls & starts)
    claim = "attention in the positional phase is beaten by the linear positional baseline"
    positional = informed[informed.winner == "positional"]
    yield share_row(PAPER, claim, f"theory, {len(positional)} points (α, ω)", positional.gain < 0)
    mean, _ = run_maps(runs, linear)
    measured = mean[mean.winner == "positional"]
    where = f"runs, d = {runs.d.iloc[0]}, {len(measured)} points (α, ω)"
    yield share_row(PAPER, claim, where, measured.gain < 0, of_runs=True)


def scaling_claims(tables, scaling) -> Iterator[dict]:
    """Single runs at growing d against the two fixed points of figure 3a."""
    runs, points = of(tables["runs"], scaling), of(tables["fixed_points"], scaling)
    ends = points[points.converged].set_index("branch")[["m", "theta"]]
    runs = runs[runs.start.isin(ends.index)]
    distance = np.hypot(*(runs[name] - runs.start.map(ends[name]) for name in ("m", "theta"))) / runs.sigma**2
    typical = np.log(distance.groupby(runs.d).median())
    if len(typical) < 3:
        return
    (slope, _), covariance = np.polyfit(np.log(typical.index), typical, 1, cov=True)
    error = float(np.sqrt(covariance[0, 0]))
    claim = "single runs approach the two fixed points as d grows: power of d of their median distance"
    where = f"d = {runs.d.min()} to {runs.d.max()}, {runs.seed.nunique()} data sets, both starts"
    yield row(PAPER, claim, where, float(slope), REPRODUCED if slope < -3 * error else NOT, error)


def census_claims(tables, census) -> Iterator[dict]:
    """What other fixed points there are, and whether one of them wins."""
    scan = of(tables["scan"], census)
    key = ["omega", "alpha"]
    branches = {name: group.set_index(key) for name, group in scan[scan.converged].groupby("branch")}
    lowest = scan[scan.converged].sort_values("train_loss").drop_duplicates(key)
    mixed = branches.get("mixed", scan.iloc[:0].set_index(key))
    lost = int((~scan.converged).sum())
    where = f"theory, {len(lowest)} points (α, ω), {scan.starts.iloc[0]} starts each; {lost} solutions did not converge"
    claim = "no mixed fixed point (m > 0 and θ > 0) has the smallest loss"
    yield share_row(OWN, claim, where, lowest.branch != "mixed")
    where = f"theory, {mixed.index.nunique()} points (α, ω) with a mixed fixed point"
    pure = scan[scan.converged & scan.branch.isin(["semantic", "positional"])].groupby(key).train_loss.max()
    compared_with = pure.reindex(mixed.index)
    above = (mixed.train_loss > compared_with)[compared_with.notna()]
    yield share_row(OWN, "a mixed fixed point has a higher loss than the pure branches", where, above)
    growing = mixed[[f"eigenvalue_{i}_real" for i in range(1, 5)]].max(axis=1) > 1
    yield share_row(OWN, "a mixed fixed point is a saddle: an eigenvalue of the map lies above 1", where, growing)


def lowest_claims(tables, slice_name, restarts, task) -> Iterator[dict]:
    """The global minimum at finite d, on the positional side as the lowest of many starts."""
    points, minimisers, noisy = (of(tables[table], name) for table, name in (
        ("fixed_points", slice_name), ("runs", slice_name), ("runs", restarts)))  # fmt: skip
    known = points[points.converged & points.branch.isin(ORDER) & points.alpha.isin(noisy.alpha)]
    lowest, d, within = lowest_positional(noisy), int(minimisers.d.iloc[0]), []
    for point in known.loc[known.groupby("alpha").train_loss.idxmin()].itertuples():
        runs = lowest if point.branch == "positional" else minimisers[minimisers.start == "semantic"]
        within += [agrees(numbers, d) for numbers in compared(task, point, d, estimates(runs, point))]
    where = f"{len(within)} numbers at ω = {task.omega:g}, {minimisers.seed.nunique()} data sets, see agreement.md"
    minimum = f"the global minimum (positional: lowest of {positional_starts(noisy)} starts) at d = {d}"
    claim = f"ε_t, ε_g and overlap of {minimum} are theory's within 3 s.e. + {REST:g}/d"
    yield share_row(PAPER, claim, where, within, of_runs=True)


def estimates(runs: pd.DataFrame, point) -> dict:
    """(mean, standard error) of ε_t, ε_g and the order parameter of the point's branch, at the point's α."""
    names = ["train_loss", "test_error", ORDER[point.branch]]
    table = runs.set_index(["alpha", "seed"])
    values = adjusted_to_unit_teacher(table[names], table.teacher_variance)
    if point.alpha not in values.index.get_level_values("alpha"):
        return {}
    values = values.loc[point.alpha]
    return {name: (values[name].mean(), values[name].sem()) for name in names}


def agrees(numbers: tuple, d: int) -> bool:
    _, value, error, theory = numbers
    return bool(abs(value - theory) <= 3 * error + REST / d * abs(theory))


def run_claims(tables, diagram, tasks) -> Iterator[dict]:
    """One start at finite d against theory, number by number, where the branch is global."""
    runs, points = of(tables["runs"], diagram), of(tables["fixed_points"], diagram)
    d, by_task = int(runs.d.iloc[0]), {(task.omega, task.sigma, task.lam): task for task in tasks}
    known = points[points.converged & ~points.merged & points.branch.isin(ORDER)]
    lowest = known.loc[known.groupby([*TASK, "alpha"]).train_loss.idxmin()]
    groups, rows = dict(list(runs.groupby([*TASK, "start"]))), []
    for point in lowest.itertuples():
        name = (point.omega, point.sigma, point.lam)
        numbers = estimates(groups[(*name, point.branch)], point)
        rows += [(point.branch, *one) for one in compared(by_task[name], point, d, numbers)]
    frame = pd.DataFrame(rows, columns=["branch", "name", "value", "error", "theory"])
    for (branch, name), group in frame.groupby(["branch", "name"], sort=False):
        off = 100 * (group.value / group.theory - 1).median()
        where = f"{len(group)} points (α, ω), {runs.seed.nunique()} data sets common to all ω"
        claim = f"{SYMBOLS[name]} of one {branch} start at d = {d} is theory's within 3 s.e. + {REST:g}/d"
        within = [agrees(one[1:], d) for one in group.itertuples(index=False)]
        correction = f"at {100 * np.mean(within):.0f} %; the median lies {off:+.1f} % off"
        yield share_row(OWN, claim, where, within, correction, of_runs=True)


def crossing_claims(tables, diagram, lines) -> Iterator[dict]:
    """The crossings of the runs, less the known term of the encodings where it is known, against theory's lines."""
    measured = of(tables["crossings"], diagram).dropna(subset=["alpha", "error"])
    measured = measured[measured.corrected == measured.corrected.max()]
    for kind, group in measured.groupby("kind"):
        line = found_lines(tables, lines)[kind].sort_index()
        if len(line) < 2:
            continue
        theory = PchipInterpolator(line.index, line.alpha, extrapolate=False)(group.omega)
        group = group.assign(theory=theory).dropna(subset="theory")
        within = (group.alpha - group.theory).abs() <= 3 * group.error
        off = 100 * (group.alpha / group.theory - 1).median()
        where = f"runs, d = {measured.d.iloc[0]}, {len(group)} ω, {measured.seeds.iloc[0]} data sets common to all ω"
        correction = f"at {100 * within.mean():.0f} %; the median lies {off:+.1f} % off"
        claim = f"{NAMES[kind]} measured in runs is theory's within 3 bootstrap errors"
        yield share_row(OWN, claim, where, within, correction, of_runs=True)
