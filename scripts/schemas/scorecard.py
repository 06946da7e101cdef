"""Claims and verdicts."""

from tables import Table, count, number, one_of, pa

SCORECARD = Table(
    "scorecard",
    {
        "section": one_of(["paper", "own check"]),
        "claim": pa.Column(str),
        "where": pa.Column(str),
        **{name: number(nullable=True) for name in ("published", "ours")},
        "error": number(0, nullable=True),
        "points": count(),
        "verdict": pa.Column(str),
    },
    ["claim", "where"],
)
