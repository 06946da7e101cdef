"""Attention matrices on the example sequences, before and after each stage."""

from schemas.counting_run import RUN
from tables import Table, count, number, one_of

COUNTING_ATTENTION = Table(
    "attention",
    {
        **RUN,
        "when": one_of(["before", "after"]),
        "example": count(),
        "query": count(),
        "key": count(),
        "query_letter": count(),
        "key_letter": count(),
        "attention": number(0, 1.000001),
    },
    [*RUN, "when", "example", "query", "key"],
)
