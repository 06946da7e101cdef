"""Learning curves of the counting experiment; stage 2 names the mechanism that the runs come from."""

from tables import Table, count, number, one_of

COUNTING_CURVES = Table(
    "counting_curves",
    {
        "mechanism": one_of(["positional", "semantic", "both"]),
        "stage": count(1),
        "run": count(),
        "epoch": count(1),
        "train_loss": number(0),
        "validation_loss": number(0),
        "validation_accuracy": number(0, 1),
    },
    ["mechanism", "stage", "run", "epoch"],
)
