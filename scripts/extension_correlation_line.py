"""Transitions against the correlation c of the two tokens."""

import click
import matplotlib.pyplot as plt
import pandas as pd
from cli import figure_files, run
from extension_points import Cases
from extension_titles import correlation
from schemas.transitions import TRANSITIONS
from style import SEMANTIC, TEXT_WIDTH, save, save_caption, use_style
from tables import read_table

DRAWN = {"alpha_c": ("o-", "black", r"$\alpha_c$"), "alpha_l": ("s--", SEMANTIC, r"$\alpha_l$")}


@click.command(help=__doc__)
@click.option("--transitions", type=click.Path(), required=True)
@click.option("--cases", type=Cases(), required=True, help="Options of the tasks by extension, JSON; all of one ω.")
@figure_files
def main(transitions, cases, pdf, png, caption):
    table = read_table(TRANSITIONS, transitions)
    table = table[table.experiment.isin(cases)]
    table = table.assign(c=table.experiment.map({name: correlation(options) for name, options in cases.items()}))
    use_style()
    figure, axis = plt.subplots(figsize=(0.5 * TEXT_WIDTH, 2.4), layout="constrained")
    for kind, (style, colour, label) in DRAWN.items():
        line = table[(table.kind == kind) & (table.status == "found")].sort_values("c")
        if len(line):
            axis.errorbar(line.c, line.alpha, line.error, fmt=style, color=colour, ms=3.5, lw=1, capsize=2, label=label)
    axis.set(xlabel="correlation $c$ of the tokens", ylabel=r"$\alpha$", yscale="log")
    axis.set_yticks([0.5, 1, 2, 5, 10], labels=["0.5", "1", "2", "5", "10"])
    axis.minorticks_off()
    axis.legend()
    save(figure, pdf, png)
    save_caption(caption, caption_of(table, cases))


def caption_of(table: pd.DataFrame, cases: dict) -> str:
    values = ", ".join(f"{correlation(options):g}" for options in cases.values())
    absent = sorted(set(map(correlation, cases.values())) - set(table[table.kind == "alpha_c"].c))
    found = table[table.status == "found"].sort_values(["kind", "c"])
    told = "; ".join(f"{row.kind}({row.c:g}) = {row.alpha:.4g} ± {row.error:.1g}" for row in found.itertuples())
    values_without = ", ".join(f"{c:g}" for c in absent)
    reason = "none is sought: the positional branch has merged there, see extension_correlated"
    none = f" At c = {values_without} {reason}." if absent else ""
    lost = table[table.status != "found"]
    open_ = (
        f" Not found: {', '.join(f'{r.kind}({r.c:g}), {r.status}' for r in lost.itertuples())}." if len(lost) else ""
    )
    return f"""**Correlated tokens.** Transitions for two tokens of covariance σ²[[1, c], [c, 1]], c = {values}, at
ω = {table.omega.iloc[0]:g}, σ = {table.sigma.iloc[0]:g}, λ = {table.lam.iloc[0]:g}. α_c: the semantic branch becomes
the global minimum; α_l: it beats the linear positional baseline. {told}.{none}{open_}
"""


if __name__ == "__main__":
    run(main)
