"""Stability: derivatives of the map along and across the branches, by differences taken here in other variables."""

import numpy as np
import pytest

from solvable_attention.fixed_points import fixed_point
from solvable_attention.overlaps import Overlaps
from solvable_attention.quadrature import split_gauss_hermite
from solvable_attention.state_evolution import state_evolution_map
from solvable_attention.task import TeacherStudent

CASES = [(0.3, 0.8, "semantic"), (0.3, 1.24, "semantic"), (0.3, 1.24, "positional"), (0.1, 0.9, "positional")]
Q, M, V, THETA = range(4)


@pytest.fixture(scope="module", params=[*CASES, (0.3, 1.0, "uninformative")], ids=str)
def point(request):
    omega, alpha, branch = request.param
    return fixed_point(TeacherStudent(omega), alpha, branch)


def numbers(point):
    return np.array([point.q, point.m, point.V, point.theta])


def next_numbers(point, numbers, branch, rule):
    """q, m, V, θ after one undamped step."""
    q, m, V, theta = numbers
    rho = point.task.rho
    start = Overlaps(*(np.array([[x]]) for x in (q / rho, theta / rho, m, V / rho)))
    new, _ = state_evolution_map(point.task, point.alpha, start, branch, rule)
    return np.array([rho * new.K[0, 0], new.mu[0, 0], rho * new.chi[0, 0], rho * new.t[0, 0]])


def central_difference(point, which, step, branch, rule):
    shift = step * (np.arange(4) == which)
    up, down = (next_numbers(point, numbers(point) + s * shift, branch, rule) for s in (1, -1))
    return (up - down) / (2 * step)


def test_growth_across_the_branch_is_the_derivative_of_the_full_map(point):
    """Another rule, another step and both signs of it; undefined in a direction that the branch itself has."""
    rule, natural = split_gauss_hermite(16, half_space=False), np.sqrt(point.q)
    for which, growth, size in ((M, point.growth_m, natural), (THETA, point.growth_theta, point.task.sigma * natural)):
        if numbers(point)[which]:
            assert np.isnan(growth)
        else:
            expected = central_difference(point, which, 5e-3 * size, "mixed", rule)[which]
            assert growth == pytest.approx(expected, rel=0.01)


def test_eigenvalues_are_those_of_the_jacobian_in_the_papers_variables(point):
    """Eigenvalues do not depend on the coordinates; the finer rule used here moves them by less than 1 %."""
    rule, free = split_gauss_hermite(20), np.flatnonzero(numbers(point))
    steps = 1e-3 * numbers(point)
    columns = [central_difference(point, i, steps[i], point.branch, rule)[free] for i in free]
    expected = np.linalg.eigvals(np.stack(columns, axis=1)).astype(complex)
    expected = expected[np.lexsort((-expected.imag, -np.abs(expected).round(9)))]
    np.testing.assert_allclose(point.eigenvalues, expected, atol=0.01 * np.abs(expected[0]))


def test_loss_slope_is_the_derivative_along_the_branch(point):
    step = 1e-3 * point.alpha
    up, down = (fixed_point(point.task, point.alpha + s, point.branch, start=point) for s in (step, -step))
    assert point.loss_slope == pytest.approx((up.train_loss - down.train_loss) / (2 * step), rel=2e-4)


# Either side of the semantic onset at ω = .3 (α = .719) and of the positional end at ω = .1 (α = 1.286), where the
# branches end continuously. At α = 1.2776 the positional branch has m = .0412.
SIDES = [
    *((0.3, 0.7, "semantic"), (0.3, 0.735, "semantic")),
    *((0.1, 1.26, "positional"), (0.1, 1.2776, "positional"), (0.1, 1.3, "positional")),
]


@pytest.mark.parametrize(("omega", "alpha", "branch"), SIDES)
def test_a_branch_has_merged_where_its_order_parameter_does_not_grow(omega, alpha, branch):
    at, along = fixed_point(TeacherStudent(omega), alpha, branch), "m" if branch == "positional" else "theta"
    growth = getattr(fixed_point(TeacherStudent(omega), alpha, "uninformative"), f"growth_{along}")
    assert at.converged and at.merged == (growth < 1)
    assert np.isnan(getattr(at, f"growth_{along}"))


@pytest.mark.parametrize(
    ("omega", "alpha", "branch", "other"),
    [(0.3, 0.6, "semantic", "positional"), (0.1, 1.4, "positional", "semantic")],
)
def test_the_other_branch_exists_where_a_merged_point_is_unstable_to_it(omega, alpha, branch, other):
    end, beside = (fixed_point(TeacherStudent(omega), alpha, name) for name in (branch, other))
    growth = end.growth_m if other == "positional" else end.growth_theta
    assert end.merged and growth > 1
    assert not beside.merged and beside.train_loss < end.train_loss
