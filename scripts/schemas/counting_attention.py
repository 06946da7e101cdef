"""Attention matrices on the example sequences, before and after each stage."""

from tables import Table, count, number, one_of

COUNTING_ATTENTION = Table(
    "counting_attention",
    {
        "mechanism": one_of(["positional", "semantic", "both"]),
        "stage": count(1),
        "run": count(),
        "when": one_of(["before", "after"]),
        "example": count(),
        "query": count(),
        "key": count(),
        "query_letter": count(),
        "key_letter": count(),
        "attention": number(0, 1.000001),
    },
    ["mechanism", "stage", "run", "when", "example", "query", "key"],
)
