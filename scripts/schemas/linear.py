"""Linear positional baselines, fitted and in the limit."""

from tables import Table, count, number, task_columns

_TASK = task_columns()
LINEAR = Table(
    "linear",
    {
        "experiment": _TASK.pop("experiment"),
        "d": count(1),
        "alpha": number(0),
        **_TASK,
        "seed": count(),
        "test_error": number(0),
        "theory_test_error": number(0),
    },
    ["experiment", "d", "alpha", "omega", "sigma", "lam", "seed"],
)
