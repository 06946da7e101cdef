"""The scorecard of the extensions: theory against minimisers extrapolated in 1/d, number by number, and transitions."""

import time

import click
import numpy as np
import pandas as pd
from cli import run
from extension_points import SYMBOLS, TASK, Cases, extrapolated, lowest_of_branches, resolved, with_tokens
from extension_titles import plain_title
from schemas.extension_agreement import EXTENSION_AGREEMENT
from schemas.fixed_points import FIXED_POINTS
from schemas.runs import RUNS
from schemas.transitions import TRANSITIONS
from scipy.stats import norm
from tables import complete_file, read_table, write_table


@click.command(help=__doc__)
@click.option("--fixed-points", type=click.Path(), required=True)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--runs", type=click.Path(), required=True)
@click.option("--cases", type=Cases(), required=True, help="Options of the tasks by extension, JSON.")
@click.option("--output", type=click.Path(dir_okay=False), required=True, help="Parquet file to write.")
@click.option("--page", type=click.Path(dir_okay=False), required=True, help="Markdown file to write.")
def main(fixed_points, transitions, runs, cases, output, page):
    started, made_from = time.perf_counter(), {"cases": cases}
    points = with_tokens(read_table(FIXED_POINTS, fixed_points), cases)
    table = read_table(RUNS, runs)
    table = table[table.experiment.isin(cases)]
    ends = extrapolated(points, table)
    write_table(ends[list(EXTENSION_AGREEMENT.columns)], EXTENSION_AGREEMENT, output, started, made_from)
    text = report(points, table, ends, read_table(TRANSITIONS, transitions), cases)
    with complete_file(page) as temporary:
        temporary.write_text(text, encoding="utf-8")


def report(points, runs, ends: pd.DataFrame, transitions: pd.DataFrame, cases: dict) -> str:
    sizes = sorted(runs.d.unique())
    chosen = lowest_of_branches(points, runs)
    beyond = ends[~ends.within]
    chance = len(ends) * 2 * norm.sf(3)
    return f"""# Scorecard of the extensions

Every extension of the theory is solved on its branches and minimised at d = {", ".join(map(str, sizes))} (L-BFGS from a
semantic and several noisy positional starts). Of each data set the lowest run on a branch counts; a run is on the
branch whose (m, θ/σ) is nearest to its own. The value of a number at each d is the intercept, at ‖Q⋆‖²/d = 1, of its
regression over data sets, less **the term of the encodings in the student's values**, α E‖S p‖²/(2d) in ε_t and
E‖S p‖²/(Ld) in ε_g, which the limit does not have (trained values have none). "limit" is v of the weighted fit v + c/d
to these, with its standard error, not enlarged where χ² (of {len(sizes) - 2} degree of freedom) is large. It agrees
where it lies within 3 standard errors and the quadrature's error of theory.

**{int(ends.within.sum())} of {len(ends)} numbers agree.** Of numbers that scatter normally about theory {chance:.1f}
would lie outside 3 standard errors; with so few data sets the standard errors are themselves uncertain.

{by_case(points, runs, chosen, ends, cases).to_markdown(index=False, disable_numparse=True)}

"fixed points": resolved of all solved; the others did not converge or have merged into another branch. "runs": data
sets (of all sizes and α) with a run on some branch, of all.

## Transitions

{transitions_of(transitions, cases).to_markdown(index=False, disable_numparse=True)}

α_c: the semantic branch falls below the positional one. α_m: the mixed branch (content and place at once) falls below
the positional one; where it leaves it continuously, at positional_unstable, that is its beginning. α_s: the semantic
branch falls below the mixed one. α_l, α_lm: the semantic, the mixed branch beats the linear positional baseline.

## What does not agree

{rows_of(beyond, cases).to_markdown(index=False, disable_numparse=True) if len(beyond) else "Nothing."}

## All numbers

{rows_of(ends, cases).to_markdown(index=False, disable_numparse=True)}
"""


def by_case(points, runs, chosen, ends, cases: dict) -> pd.DataFrame:
    """Numbers that agree, by extension and kind of number."""
    rows = []
    for name, options in cases.items():
        mine = ends[ends.experiment == name]
        counts = mine.groupby("number").within.agg(["sum", "size"])
        ours = runs[runs.experiment == name]
        data_sets = ours.drop_duplicates([*TASK, "alpha", "d", "seed"])
        placed = chosen[chosen.experiment == name].drop_duplicates([*TASK, "alpha", "d", "seed"])
        solved = points[points.experiment == name]
        rows.append(
            {
                "extension": plain_title(options),
                "fixed points": f"{int(resolved(solved).sum())} of {len(solved)}",
                "runs": f"{len(placed)} of {len(data_sets)}",
                **{
                    SYMBOLS[n]: f"{int(counts['sum'][n])} of {counts['size'][n]}" if n in counts.index else "–"
                    for n in SYMBOLS
                },
                "root mean square gap / s.e.": f"{np.sqrt(np.mean((mine.gap / mine.limit_error) ** 2)):.1f}"
                if len(mine)
                else "–",
            }
        )
    return pd.DataFrame(rows)


def transitions_of(transitions: pd.DataFrame, cases: dict) -> pd.DataFrame:
    """The transitions of the extensions that have runs, at one ω each."""
    mine = transitions[transitions.experiment.isin(cases)]
    return pd.DataFrame(
        {
            "extension": [plain_title(cases[name]) for name in mine.experiment],
            "ω": [f"{value:g}" for value in mine.omega],
            "kind": mine.kind.tolist(),
            "α": [
                f"{row.alpha:.4f} ± {row.error:.4f}"
                if row.status == "found"
                else f"{row.status} in [{row.low:g}, {row.high:g}]"
                for row in mine.itertuples()
            ],
        }
    )


def rows_of(ends: pd.DataFrame, cases: dict) -> pd.DataFrame:
    rows = []
    for end in ends.itertuples():
        values = zip(end.sizes, end.values, end.errors, strict=True)
        rows.append(
            {
                "extension": plain_title(cases[end.experiment]),
                "ω": f"{end.omega:g}",
                "α": f"{end.alpha:g}",
                "branch": end.branch,
                "number": SYMBOLS[end.number],
                "theory": f"{end.theory:.4g} ± {end.theory_error:.1g}",
                **{f"d = {d}": f"{value:.4g} ± {error:.1g}" for d, value, error in values},
                "limit": f"{end.limit:.4g} ± {end.limit_error:.1g}",
                "χ²": f"{end.chi_square:.1f}",
                "gap": f"{100 * end.gap / end.theory:+.1f} %",
                "gap / s.e.": f"{end.gap / end.limit_error:+.1f}",
                "within": "yes" if end.within else "no",
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    run(main)
