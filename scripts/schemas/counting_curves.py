"""Learning curves of the counting experiment; stage 2 names the mechanism that the runs come from."""

from schemas.counting_run import RUN
from tables import Table, count, number

COUNTING_CURVES = Table(
    "curves",
    {
        **RUN,
        "epoch": count(1),
        "train_loss": number(0),
        "validation_loss": number(0),
        "validation_accuracy": number(0, 1),
    },
    [*RUN, "epoch"],
)
