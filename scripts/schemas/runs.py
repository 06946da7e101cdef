"""Students trained at finite d."""

from tables import Table, count, number, one_of, pa, task_columns

_TASK = task_columns()
RUNS = Table(
    "runs",
    {
        "experiment": _TASK.pop("experiment"),
        "d": count(1),
        "alpha": number(0),
        "n": count(1),
        **_TASK,
        "start": pa.Column(str),
        "start_std": number(0),
        "restart": count(),
        "optimizer": one_of(["lbfgs", "gd", "adam"]),
        "seed": count(),
        **{name: number(0, nullable=True) for name in ("train_loss", "test_error", "m", "theta", "q", "value_overlap")},
        "teacher_variance": number(0),
        "grad_norm": number(0, nullable=True),
        "iterations": count(),
        "converged": pa.Column(bool),
    },
    ["experiment", "d", "alpha", "omega", "sigma", "lam", "start", "start_std", "restart", "optimizer", "seed"],
)
