"""Minimisers of the extensions, extrapolated in 1/d, beside theory."""

from tables import Table, count, number, one_of, pa, task_columns

EXTENSION_AGREEMENT = Table(
    "extension_agreement",
    {
        **task_columns(),
        "alpha": number(0),
        "branch": one_of(["semantic", "positional", "uninformative", "mixed"]),
        "number": one_of(["train_loss", "test_error", "theta", "m", "value_overlap"]),
        **{name: number(0) for name in ("theory", "theory_error")},
        "runs": count(1),
        "limit": number(),
        "limit_error": number(0),
        "slope": number(),
        "chi_square": number(0),
        "gap": number(),
        "within": pa.Column(bool),
    },
    ["experiment", "omega", "sigma", "lam", "alpha", "branch", "number"],
)
