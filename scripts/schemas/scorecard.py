"""Claims and verdicts."""

from tables import Table, number, pa

SCORECARD = Table(
    "scorecard",
    {
        "claim": pa.Column(str),
        "where": pa.Column(str),
        **{name: number(nullable=True) for name in ("published", "ours")},
        "error": number(0, nullable=True),
        "verdict": pa.Column(str),
    },
    ["claim", "where"],
)
