"""Transitions between the branches, and their ends."""

from tables import Table, number, one_of, task_columns

KINDS = (
    *("alpha_c", "alpha_m", "alpha_s", "alpha_l", "alpha_lm", "semantic_onset", "semantic_stable"),
    *("positional_onset", "positional_end", "positional_unstable"),
)
TRANSITIONS = Table(
    "transitions",
    {
        **task_columns(),
        "kind": one_of(KINDS),
        **{name: number(0, nullable=True) for name in ("alpha", "error")},
        "status": one_of(["found", "absent", "unresolved"]),
        "low": number(0),
        "high": number(0),
    },
    ["experiment", "omega", "sigma", "lam", "kind"],
)
