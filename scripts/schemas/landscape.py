"""The empirical risk on the plane through both minima."""

from tables import Table, count, number, one_of, task_columns

_TASK = task_columns()
LANDSCAPE = Table(
    "landscape",
    {
        "experiment": _TASK.pop("experiment"),
        "d": count(1),
        "alpha": number(0),
        **_TASK,
        "seed": count(),
        "point": one_of(["grid", "positional", "semantic"]),
        "u": number(),
        "v": number(),
        **{name: number(0) for name in ("train_loss", "m", "theta", "q", "grad_norm")},
    },
    ["experiment", "d", "alpha", "omega", "sigma", "lam", "seed", "point", "u", "v"],
)
