"""How far the weights moved in a stage: Euclidean distances summed over tensors, and of all weights as one vector."""

from tables import Table, count, number, one_of

COUNTING_DISTANCES = Table(
    "counting_distances",
    {
        "mechanism": one_of(["positional", "semantic", "both"]),
        "stage": count(1),
        "run": count(),
        "summed": number(0),
        "whole": number(0),
    },
    ["mechanism", "stage", "run"],
)
