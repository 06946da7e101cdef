"""How far the weights moved in a stage: Euclidean distances summed over tensors, and of all weights as one vector."""

from schemas.counting_run import RUN
from tables import Table, number

COUNTING_DISTANCES = Table(
    "distances",
    {
        **RUN,
        "summed": number(0),
        "whole": number(0),
    },
    [*RUN],
)
