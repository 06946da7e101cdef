"""Where runs of the counting experiment end: accuracy, and how semantic their attention was before and is after."""

from schemas.counting_run import RUN
from tables import Table, number

COUNTING_ACCURACIES = Table(
    "accuracies",
    {
        **RUN,
        "validation_loss": number(0),
        "validation_accuracy": number(0, 1),
        **{name: number(0, 1, nullable=True) for name in ("semantic_share_before", "semantic_share")},
    },
    [*RUN],
)
