from math import factorial

import numpy as np
import pytest

from solvable_attention.fixed_points import fixed_point
from solvable_attention.pair_channel import pair_moments
from solvable_attention.quadrature import (
    GaussianRule,
    SplitRule,
    gauss_hermite,
    sobol,
    split_gauss_hermite,
    split_sobol,
)
from solvable_attention.task import TeacherStudent


def normal_moment(k):
    return 0.0 if k % 2 else factorial(k) / (2 ** (k // 2) * factorial(k // 2))


@pytest.mark.parametrize("order", [1, 4, 9])
def test_gauss_hermite_is_exact_to_its_degree(order):
    rule = gauss_hermite(2, order)
    assert rule.size == order**2 and rule.weights.sum() == pytest.approx(1, abs=1e-14)
    for i in range(rule.degree + 1):
        for j in range(rule.degree + 1):
            moment = rule.mean(rule.nodes[0] ** i * rule.nodes[1] ** j)
            scale = max(1.0, rule.mean(np.abs(rule.nodes[0] ** i * rule.nodes[1] ** j)))
            assert moment == pytest.approx(normal_moment(i) * normal_moment(j), abs=1e-12 * scale)


def test_gauss_hermite_stays_finite_at_high_order():
    rule = gauss_hermite(1, 400)
    assert np.isfinite(rule.nodes).all() and rule.mean(rule.nodes[0] ** 2) == pytest.approx(1, abs=1e-12)


def test_sobol_points_have_unit_variance_and_are_finite():
    rule = sobol(4, 14, 3)
    assert np.isfinite(rule.nodes).all() and rule.size == 2**14
    np.testing.assert_allclose(rule.nodes @ rule.nodes.T / rule.size, np.eye(4), atol=2e-3)


def test_sobol_scrambles_are_repeatable_and_differ():
    assert np.array_equal(sobol.__wrapped__(3, 8, 1).nodes, sobol(3, 8, 1).nodes)
    assert not np.array_equal(sobol(3, 8, 1).nodes, sobol(3, 8, 2).nodes)


def test_sobol_spread_falls_faster_than_monte_carlo():
    def spread(log2_points):
        estimates = [r.mean(np.exp(r.nodes.sum(axis=0) / 3)) for r in (sobol(3, log2_points, s) for s in range(12))]
        return np.std(estimates)

    assert spread(14) < spread(10) / 6  # a random sample would only reach 1/4


def test_half_space_covers_the_other_half_by_symmetry():
    half, full = split_gauss_hermite(8).outer, split_gauss_hermite(8, half_space=False).outer
    assert (half.nodes[0] > 0).all() and half.weights.sum() == pytest.approx(1)
    even = lambda x: np.cos(x[0] + 0.5 * x[1] - x[2])  # noqa: E731
    assert half.mean(even(half.nodes)) == pytest.approx(full.mean(even(full.nodes)), rel=1e-9)


def test_odd_split_order_is_refused():
    with pytest.raises(ValueError, match=r"^order: is 9, allowed"):
        split_gauss_hermite(9)


def test_split_sobol_is_a_full_space_rule():
    assert not split_sobol(6, 0).half_space and split_sobol(6, 0).size == 64


@pytest.mark.parametrize(("branch", "sigma"), [("semantic", 0.5), ("positional", 0.5), ("positional", 1.0)])
def test_dropped_nodes_do_not_matter(branch, sigma):
    task = TeacherStudent(omega=0.3, sigma=sigma)
    point = fixed_point(task, 1.5, branch)
    orders = {20: point.quadrature_error / 100} | ({40: 2e-5} if sigma == 0.5 else {})
    for order, allowed in orders.items():
        full = gauss_hermite(3, order)
        half = full.nodes[0] > 0
        every = SplitRule(GaussianRule(full.nodes[:, half].copy(), 2 * full.weights[half]), half_space=True)
        assert split_gauss_hermite(order).size < 0.5 * every.size
        with_all, without = (pair_moments(task, point.overlaps, rule) for rule in (every, split_gauss_hermite(order)))
        for name in ("k_hat", "v_hat", "moreau", "test_error"):
            assert getattr(without, name) == pytest.approx(getattr(with_all, name), rel=allowed)
