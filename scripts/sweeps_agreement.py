"""The runs of the sweeps held against theory, point by point, on both branches.

A point agrees where the two lie within 3 standard errors plus an allowance for unknown terms of order 1/d.
"""

import click
import numpy as np
import pandas as pd
from agreement import REST, SYMBOLS
from cli import run
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from scipy.stats import t
from selection import LEAST_MULTIPLE
from sweep_points import TASK, sweep_of, sweep_points
from tables import complete_file, read_table

WORST = 20  # rows of the page
# Edges of the classes by weight of draws with two minima of the proximal operator.
WEIGHTS = (0.0, 1e-4, 0.01, 0.03, 0.1, 1.0)
CALM = 0.03


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--omega", required=True, help="Experiment with several ω.")
@click.option("--sigma", required=True, help="Experiment with several σ.")
@click.option("--lam", required=True, help="Experiment with several λ.")
@click.option("--output", type=click.Path(), required=True, help="Markdown file to write.")
def main(fixed_points, runs, output, **sweeps):
    theory, table = read_table(FIXED_POINTS, fixed_points), read_table(RUNS, runs)
    parts = [sweep_points(sweep_of(theory, sweeps, name), sweep_of(table, sweeps, name)) for name in sweeps]
    points = pd.concat(parts, ignore_index=True).drop_duplicates([*TASK, "alpha", "kind", "number"])
    text = report(points, int(table[table.experiment.isin(sweeps.values())].d.iloc[0]))
    with complete_file(output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(text)


def report(points: pd.DataFrame, d: int) -> str:
    """Share that agrees by kind of run and number, and the worst points."""
    counted = points[points.converged & points.exists & points.error.notna()].copy()
    counted["gap"] = counted.value - counted.theory
    counted["excess"] = (counted.gap.abs() - REST / d * counted.theory.abs()) / counted.error
    shares = counted.groupby(["kind", "number"]).within.agg(["sum", "size"])
    table = (shares["sum"].astype(str) + " of " + shares["size"].astype(str)).unstack("number").fillna("–")
    table = table.rename(columns=SYMBOLS).rename_axis(index="runs", columns=None)
    decided = counted[counted.kind != "one start"]
    beyond = decided[~decided.within]
    calm = decided[decided.two_well_weight < CALM]
    worst = beyond.sort_values("excess", ascending=False).head(WORST)
    left = points[points.kind != "one start"]
    absent = left[left.merged]
    order = absent[absent.number.isin(["m", "theta"])]
    g = decided[decided.number == "test_error"]
    return f"""# Runs of the sweeps against theory

d = {d}, {int(points.seeds.min())} to {int(points.seeds.max())} data sets a point. Each number is the intercept, at
‖Q⋆‖²/d = 1, of its regression over data sets, less the term of the encodings in the values. It agrees where it lies
within 3 standard errors + {REST:g}/d of the value. Counted are points whose branch exists and converged, in theory and
in all runs: {len(decided)} numbers. With so few data sets the standard error is itself uncertain; of numbers that
scatter normally around theory a share of {100 * expected_share(counted.seeds.min()):.1f} % would lie outside 3 standard
errors. On the positional side the lowest of several starts counts; one start is shown beside it.

**{int(decided.within.sum())} of {len(decided)} numbers agree; of ε_g, which the figure draws, {int(g.within.sum())} of
{len(g)}.**

{table.to_markdown()}

Not counted: {len(absent)} numbers where theory has merged the branch into the uninformative point, and
{int((~left.merged & ~(left.converged & left.exists)).sum())} where theory or a run did not converge. Of the former
{int(absent.within.sum())} agree with that point; of their {len(order)} order parameters, 0 in theory, {above(order)}
exceed {LEAST_MULTIPLE:g} times what a random Q of the same norm has.

By task:

{by_task(decided).to_markdown(index=False, disable_numparse=True)}

By the share of draws whose proximal operator has two minima, which theory knows without any run. Where it is large
replica symmetry, which theory assumes, is in doubt. It does not decide alone: see the tasks above, and how near a point
lies to an onset or end of its branch.

{by_weight(decided).to_markdown(index=False, disable_numparse=True)}

Below {100 * CALM:g} % of such draws, a threshold set after seeing this table, {int(calm.within.sum())} of {len(calm)}
agree. Those that do not:

{rows_of(calm[~calm.within]).to_markdown(index=False, disable_numparse=True)}

The {len(worst)} farthest of the {len(beyond)} that do not agree:

{rows_of(worst).to_markdown(index=False, disable_numparse=True)}
"""


def above(order: pd.DataFrame) -> int:
    """Order parameters above LEAST_MULTIPLE times what a random Q of the same norm has."""
    return int((order.value > LEAST_MULTIPLE * order.chance).sum())


def by_task(points: pd.DataFrame) -> pd.DataFrame:
    """Numbers that agree, by task and side."""
    rows = []
    for key, group in points.groupby(TASK):
        row = {"ω, σ, λ": ", ".join(f"{value:g}" for value in key)}
        for kind in ("semantic", "lowest"):
            part = group[group.kind == kind]
            row[kind] = f"{int(part.within.sum())} of {len(part)}" if len(part) else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def by_weight(points: pd.DataFrame) -> pd.DataFrame:
    """Numbers that agree, by class of two_well_weight and side."""
    classes = pd.cut(points.two_well_weight, WEIGHTS, include_lowest=True)
    rows = []
    for interval, group in points.groupby(classes, observed=True):
        row = {"two-well draws": f"{100 * max(interval.left, 0):g} to {100 * interval.right:g} %"}
        for kind in ("semantic", "lowest"):
            part = group[group.kind == kind]
            row[kind] = f"{int(part.within.sum())} of {len(part)}"
        rows.append(row)
    return pd.DataFrame(rows)


def expected_share(seeds: int) -> float:
    """Probability that Student's t with seeds − 2 degrees of freedom exceeds 3."""
    return 2 * t.sf(3, max(seeds - 2, 1))


def rows_of(points: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "ω, σ, λ": [f"{p.omega:g}, {p.sigma:g}, {p.lam:g}" for p in points.itertuples()],
            "α": [f"{p.alpha:.3g}" for p in points.itertuples()],
            "runs": [p.kind for p in points.itertuples()],
            "number": points.number.map(SYMBOLS).tolist(),
            "theory": [f"{p.theory:.4g}" for p in points.itertuples()],
            "value": [f"{p.value:.4g} ± {p.error:.1g}" for p in points.itertuples()],
            "gap": [f"{100 * p.gap / p.theory:+.1f} %" if p.theory else "–" for p in points.itertuples()],
            "gap / s.e.": [f"{p.gap / p.error:+.1f}" if p.error else "–" for p in points.itertuples()],
        },
        index=np.arange(len(points)),
    )


if __name__ == "__main__":
    run(main)
