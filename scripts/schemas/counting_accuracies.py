"""Where runs of the counting experiment end: accuracy, and how semantic their attention was before and is after."""

from tables import Table, count, number, one_of

COUNTING_ACCURACIES = Table(
    "counting_accuracies",
    {
        "mechanism": one_of(["positional", "semantic", "both"]),
        "stage": count(1),
        "run": count(),
        "validation_loss": number(0),
        "validation_accuracy": number(0, 1),
        **{name: number(0, 1, nullable=True) for name in ("semantic_share_before", "semantic_share")},
    },
    ["mechanism", "stage", "run"],
)
