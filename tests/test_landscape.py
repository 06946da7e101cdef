"""The empirical risk on the plane through both minima."""

import numpy as np
import pytest

from solvable_attention.simulation.landscape import plane_through_minima
from solvable_attention.task import TeacherStudent

TASK = TeacherStudent(omega=0.3)
POINTS = 21


@pytest.fixture(scope="module")
def plane():
    return plane_through_minima(TASK, d=200, alpha=1.5, seed=3, restarts=4, points=POINTS)


def grid_of(plane):
    grid = plane[plane.point == "grid"].pivot(index="u", columns="v", values="train_loss")
    return grid.index.to_numpy(), grid.to_numpy()


def test_the_risk_is_even_and_the_origin_in_the_middle(plane):
    axis, values = grid_of(plane)
    assert values.shape == (POINTS, POINTS) and axis[POINTS // 2] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(values, values[::-1, ::-1], rtol=1e-5)


def test_minima_are_minima_of_the_plane_and_of_the_whole_space(plane):
    minima = plane[plane.point != "grid"].set_index("point")
    assert set(minima.index) == {"positional", "semantic"} and (minima.grad_norm < 2e-3).all()
    axis, values = grid_of(plane)
    step = axis[1] - axis[0]
    for at in minima.itertuples():
        near = np.abs(np.subtract.outer(axis, [at.u])[:, 0]) < 2 * step
        beside = values[np.ix_(near, np.abs(axis - at.v) < 2 * step)]
        assert at.train_loss < beside.min()
    assert minima.m.positional > minima.theta.positional / TASK.sigma
    assert minima.theta.semantic / TASK.sigma > minima.m.semantic


def test_coordinates_are_lengths_and_overlaps_are_linear_in_them(plane):
    np.testing.assert_allclose(plane.q, TASK.sigma**2 * (plane.u**2 + plane.v**2), rtol=1e-9, atol=1e-12)
    minima = plane[plane.point != "grid"].set_index("point")
    assert minima.v.positional == pytest.approx(0, abs=1e-9) and minima.u.positional > 0 and minima.v.semantic > 0
    edge = plane[(plane.point == "grid") & np.isclose(plane.v, 0)]
    slope = minima.m.positional / minima.u.positional
    np.testing.assert_allclose(edge.m, slope * edge.u.abs(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("task", "change", "words"),
    [
        (TeacherStudent(omega=0.3, rank=2), {}, ["task", "rank"]),
        (TeacherStudent(omega=0.3, tied=False), {}, ["task", "tied"]),
        (TASK, {"points": 2}, ["points", "is 2", "≥ 3"]),
        (TASK, {"points": 10}, ["points", "is 10", "odd"]),
        (TASK, {"d": 0}, ["d: is 0"]),
        (TASK, {"alpha": 0.05}, ["alpha", "is 0.05", "side"]),
    ],
)
def test_bad_arguments_are_named(task, change, words):
    with pytest.raises(ValueError) as refusal:
        plane_through_minima(task, **({"d": 40, "alpha": 1.0, "seed": 0} | change))
    for word in words:
        assert word in str(refusal.value)
