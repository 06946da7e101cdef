"""Transitions measured in runs."""

from tables import Table, count, number, one_of, pa, task_columns

_TASK = task_columns()
CROSSINGS = Table(
    "crossings",
    {
        "experiment": _TASK.pop("experiment"),
        "d": count(1),
        **_TASK,
        "kind": one_of(["alpha_c", "alpha_l"]),
        "corrected": pa.Column(bool),
        **{name: number(0, nullable=True) for name in ("alpha", "error")},
        "share": number(0, 1),
        "seeds": count(1),
        "resamples": count(1),
    },
    ["experiment", "d", "omega", "sigma", "lam", "kind", "corrected"],
)
