"""All fixed points from many starts: pure branches, the saddle between them, and nothing that depends on the day."""

import numpy as np
import pytest
from schemas.scan import SCAN
from tables import read_table
from test_scripts import TASK, call

from solvable_attention.census import FIXED_STARTS, scan
from solvable_attention.errors import ArgumentError
from solvable_attention.fixed_points import fixed_point
from solvable_attention.quadrature import split_gauss_hermite
from solvable_attention.state_evolution import state_evolution_map
from solvable_attention.task import TeacherStudent

# Here the semantic and the positional branch are both stable towards the other.
SOFT = TeacherStudent(0.1)
ALPHA = 0.9


@pytest.fixture(scope="module")
def found():
    return scan(SOFT, ALPHA, random_starts=8)


def by_branch(found):
    return {f.point.branch: f.point for f in found}


def test_two_minima_a_saddle_and_the_uninformative_point_are_found(found):
    assert [f.point.branch for f in found] == ["semantic", "positional", "mixed", "uninformative"]
    losses = [f.point.train_loss for f in found]
    assert losses == sorted(losses) and losses[2] > losses[1]
    assert all(f.point.converged and not f.point.merged for f in found)
    assert all(f.starts >= 1 for f in found) and sum(f.starts for f in found) <= 8 + FIXED_STARTS


def test_the_mixed_point_is_unstable_in_one_direction(found):
    mixed = by_branch(found)["mixed"]
    assert min(mixed.m, mixed.theta) > 0.01
    assert np.sum(mixed.eigenvalues.real > 1) == 1
    for name in ("semantic", "positional"):
        pure = by_branch(found)[name]
        across = pure.growth_m if name == "semantic" else pure.growth_theta
        assert across < 1 and (pure.eigenvalues.real < 1).all(), name


def test_every_point_stays_put_under_the_full_map_by_another_rule(found):
    rule = split_gauss_hermite(16, half_space=False)
    for point in (f.point for f in found):
        new, _ = state_evolution_map(SOFT, ALPHA, point.overlaps, "mixed", rule)
        size = np.sqrt(point.overlaps.K[0, 0])
        for name, scale in (("K", size**2), ("chi", point.overlaps.chi[0, 0]), ("t", size), ("mu", size)):
            change = (getattr(new, name) - getattr(point.overlaps, name)) / scale
            np.testing.assert_allclose(change, 0, atol=5e-3, err_msg=f"{point.branch} {name}")


@pytest.mark.parametrize("branch", ["semantic", "positional", "uninformative"])
def test_pure_points_are_those_of_the_branch_solver(found, branch):
    point, alone = by_branch(found)[branch], fixed_point(SOFT, ALPHA, branch)
    for name in ("q", "m", "V", "theta", "train_loss", "test_error"):
        assert getattr(point, name) == pytest.approx(getattr(alone, name), rel=1e-6), name


def test_the_seed_decides():
    first, again, other = (scan(SOFT, ALPHA, random_starts=2, seed=seed) for seed in (1, 1, 2))

    def losses(found):
        return [(f.point.train_loss, f.starts) for f in found]

    assert losses(first) == losses(again) != losses(other)


@pytest.mark.parametrize(
    ("name", "value"), [("random_starts", 0), ("random_starts", 1.5), ("seed", -1), ("alpha", 0), ("alpha", np.nan)]
)
def test_bad_arguments_are_named(name, value):
    with pytest.raises(ArgumentError, match=f"^{name}: is {value}, allowed"):
        scan(SOFT, **{"alpha": ALPHA, name: value})


def test_program_writes_one_row_per_solution(tmp_path):
    options = ("--alpha", 2.0, "--random-starts", 4, "--root-seed", 1, "--output", tmp_path / "table.parquet")
    result = call("scan_fixed_points.py", *TASK, *options)
    assert result.returncode == 0, result.stderr
    table = read_table(SCAN, tmp_path / "table.parquet")
    assert list(table.solution) == list(range(len(table))) and table.train_loss.is_monotonic_increasing
    assert (table.starts == 4 + FIXED_STARTS).all() and 1 <= table.reached_by.sum() <= 4 + FIXED_STARTS
    assert table.branch[0] == "semantic" and table.theta[0] == pytest.approx(0.1582, rel=5e-3)
