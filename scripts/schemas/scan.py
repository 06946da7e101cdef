"""Distinct fixed points that many starts of the full map reach at one α."""

from schemas.fixed_points import fixed_point_columns
from tables import Table, count

SCAN = Table(
    "scan",
    {**fixed_point_columns(), "solution": count(), "starts": count(1), "reached_by": count(1)},
    ["experiment", "omega", "sigma", "lam", "alpha", "solution"],
)
