"""The general state evolution: its gauge, and what it reduces to."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from solvable_attention.baseline import linear_baseline
from solvable_attention.census import scan
from solvable_attention.channel import general_moments, rule_dimension
from solvable_attention.coordinates import freedom, pack, unpack
from solvable_attention.fixed_points import fixed_point
from solvable_attention.overlaps import Overlaps, next_overlaps
from solvable_attention.quadrature import GaussianRule, sobol, symmetric_sobol
from solvable_attention.simulation import simulate
from solvable_attention.spectrum import two_level
from solvable_attention.state_evolution import Quadrature, state_evolution_map
from solvable_attention.task import TeacherStudent
from solvable_attention.transitions import transition

PAPER = TeacherStudent(0.3)
WIDE, UNTIED = replace(PAPER, rank=2), replace(PAPER, tied=False)


def quick(task, log2_points=12):
    d = rule_dimension(task)
    return Quadrature(sobol(d, 10, 0), sobol(d, log2_points, 0), (sobol(d, log2_points, 1), sobol(d, log2_points, 2)))


@pytest.mark.parametrize("branch", ["semantic", "positional", "mixed"])
def test_rank_two_converges_in_its_gauge(branch):
    # Without a gauge the noise of the points turns the columns, and no point is at rest.
    point = fixed_point(WIDE, 2.0, branch, quadrature=quick(WIDE))
    assert point.converged and not point.merged
    assert point.residual < 1e-9
    assert point.train_loss == pytest.approx(point.free_energy, rel=1e-6)


def test_rank_two_holds_both_mechanisms_at_once():
    losses = {b: fixed_point(WIDE, 2.0, b, quadrature=quick(WIDE)) for b in ("semantic", "positional", "mixed")}
    mixed = losses.pop("mixed")
    assert all(mixed.train_loss < 0.9 * point.train_loss for point in losses.values())
    # One column sees the teacher, the other the places.
    assert mixed.overlaps.t[0, 0] > 0.4 and mixed.overlaps.mu[0, 1] > 0.1


def test_a_column_of_zeros_changes_nothing():
    """Rank 2 with a narrow second column is rank 1: fields of no width leave the attention alone."""
    one = Overlaps(*(np.array([[x]]) for x in (0.45, 0.6, 0.0, 40.0)))
    tiny = 1e-10
    two = Overlaps(np.diag([0.45, tiny]), np.array([[0.6], [0.0]]), np.zeros((1, 2)), np.diag([40.0, tiny]))
    wide = sobol(6, 11, 0)
    # Columns 0, 1: η; the noise of token ℓ and column a is row 2 + 2ℓ + a.
    narrow = GaussianRule(wide.nodes[[0, 1, 2, 4]], wide.weights)
    ours, plain = general_moments(WIDE, two, wide), general_moments(PAPER, one, narrow)
    for name in ("k_hat", "t_hat", "mu_hat"):
        np.testing.assert_allclose(getattr(ours, name)[..., :1, :1], getattr(plain, name), rtol=1e-6, atol=1e-10)
    assert ours.moreau == pytest.approx(plain.moreau, rel=1e-6)
    assert ours.test_error == pytest.approx(plain.test_error, rel=1e-6)


def test_untied_weights_that_move_together_are_tied():
    """Queries and keys of equal fields, in w and in what the minimiser may change: K, χ ∝ [[1, 1], [1, 1]]."""
    one = Overlaps(*(np.array([[x]]) for x in (0.45, 0.6, 0.1, 40.0)))
    both, tiny = np.ones((2, 2)), 1e-4 * np.eye(2)
    pair = Overlaps(0.45 * both + tiny, np.full((2, 1), 0.6), np.full((1, 2), 0.1), 40.0 * (both + tiny))
    wide = sobol(6, 10, 0)
    # Rows 0, 1: η; the noise of token ℓ in the query is row 2 + 2ℓ. That of the key has no width.
    narrow = GaussianRule(wide.nodes[[0, 1, 2, 4]], wide.weights)
    ours, plain = general_moments(UNTIED, pair, wide), general_moments(PAPER, one, narrow)
    assert ours.moreau == pytest.approx(plain.moreau, rel=5e-4)
    assert ours.test_error == pytest.approx(plain.test_error, rel=5e-4)


@pytest.mark.parametrize("flips", [((2, 3),), ((2, 3), (0, 1))])
def test_symmetric_points_average_odd_functions_to_zero(flips):
    rule = symmetric_sobol(4, 8, 0, flips)
    assert rule.size == 2**8 and rule.weights.sum() == pytest.approx(1)
    x = rule.nodes
    for group in flips:
        odd = np.exp(x[list(set(range(4)) - set(group))].sum(axis=0)) * np.tanh(x[list(group)].sum(axis=0))
        assert abs(rule.mean(odd)) < 1e-13
    assert abs(sobol(4, 8, 0).mean(np.tanh(sobol(4, 8, 0).nodes[0] + 0.3))) > 1e-3


def test_a_branch_beyond_its_end_merges_exactly():
    """With plain points the positional branch of tokens of correlation −.6 keeps a small m of their own noise."""
    task = replace(PAPER, covariance=((0.25, -0.15), (-0.15, 0.25)))
    point = fixed_point(task, 2.0, "positional")
    assert point.converged and point.merged and point.m < 1e-6


def test_two_columns_before_a_teacher_of_two_divide_the_work():
    """ω = .3, α = 2: one column by content, one by place, is below both branches of a single mechanism."""
    task = replace(PAPER, rank=2, teacher_rank=2)
    losses = {b: fixed_point(task, 2.0, b, quadrature=quick(task, 13)) for b in ("semantic", "positional", "mixed")}
    mixed = losses.pop("mixed")
    assert mixed.converged and not mixed.merged and mixed.overlaps.t[1, 1] == 0 and mixed.overlaps.t[0, 0] > 0.3
    assert all(mixed.train_loss < 0.99 * point.train_loss for point in losses.values())


def test_uncorrelated_limit_is_the_paper_case():
    state = Overlaps(*(np.array([[x]]) for x in (0.45, 0.6, 0.1, 40.0)))
    rule = sobol(4, 10, 0)
    near = replace(PAPER, covariance=((0.25, 1e-8), (1e-8, 0.25)))
    for name in ("k_hat", "v_hat", "t_hat", "mu_hat", "moreau", "test_error"):
        np.testing.assert_allclose(
            getattr(general_moments(near, state, rule), name), getattr(general_moments(PAPER, state, rule), name),
            rtol=1e-6, err_msg=name,
        )  # fmt: skip


@pytest.mark.parametrize("branch", ["semantic", "positional", "mixed"])
def test_gauge_is_kept_by_the_map(branch):
    """What the gauge sets to zero stays zero under the free map, up to the noise of the points."""
    rng = np.random.default_rng(0)
    u = pack(WIDE, Overlaps(np.eye(2), np.zeros((2, 1)), np.zeros((1, 2)), 40 * np.eye(2)), branch)
    state = unpack(WIDE, u + rng.normal(scale=0.3, size=u.size), branch, 1)
    free = freedom(WIDE, branch, 1)
    new, _ = state_evolution_map(WIDE, 2.0, state, "free", sobol(6, 15, 0))
    assert np.abs(new.K[~free.pairs]).max() < 1e-2 * np.trace(new.K)
    assert np.abs(new.chi[~free.pairs]).max() < 1e-2 * np.trace(new.chi)
    for moved, name in ((free.t, "t"), (free.mu, "mu")):
        if (~moved).any():
            assert np.abs(getattr(new, name)[~moved]).max() < 1e-2 * np.sqrt(np.trace(new.K))


ANISOTROPIC = replace(PAPER, spectrum=two_level(4, 0.3))


def test_equal_eigenvalues_are_no_anisotropy():
    equal = replace(PAPER, spectrum=((1.0, 0.4), (1.0, 0.6)))
    state = Overlaps(*(np.array([[x]]) for x in (0.45, 0.6, 0.1, 40.0)))
    moments = general_moments(PAPER, state, sobol(4, 10, 0))
    for name in ("K", "t", "mu", "chi"):
        one, two = (getattr(next_overlaps(task, 2.0, moments), name) for task in (PAPER, equal))
        np.testing.assert_allclose(one, two, rtol=1e-12)


CASES = {
    "anisotropic": (ANISOTROPIC, "semantic"),
    "anisotropic, by place": (ANISOTROPIC, "positional"),
    # Without the softmax a student of rank one finds neither: at this α its only fixed point has m = θ = 0.
    "linear": (replace(PAPER, activation="linear"), "uninformative"),
    "linearised": (replace(PAPER, activation="linearised"), "semantic"),
    "untied": (replace(PAPER, tied=False), "semantic"),
    "trained values": (replace(PAPER, value_rank=1, lam=0.05), "positional"),
}


@pytest.mark.parametrize(("task", "branch"), CASES.values(), ids=CASES)
def test_both_expressions_of_the_training_loss_agree(task, branch):
    point = fixed_point(task, 2.0, branch, quadrature=quick(task))
    assert point.converged and not point.merged
    assert point.train_loss == pytest.approx(point.free_energy, rel=1e-6)


def test_trained_values_by_an_independent_solve():
    """α = 4, λ = .05: ε_t = .0355, ε_g = .0037, U·V⋆/d = .94, from a rougher solve of the same equations."""
    task = replace(PAPER, value_rank=1, lam=0.05)
    point = fixed_point(task, 4.0, "semantic", quadrature=quick(task, 13))
    assert point.converged and not point.merged
    assert point.train_loss == pytest.approx(0.0355, rel=0.02)
    assert point.test_error == pytest.approx(0.0037, rel=0.03)
    assert point.value_overlap / task.rho == pytest.approx(0.94, rel=0.01)


@pytest.mark.parametrize("branch", ["semantic", "positional"])
def test_trained_values_meet_their_minimisers(branch):
    task = replace(PAPER, value_rank=1, lam=0.05)
    point = fixed_point(task, 4.0, branch, quadrature=quick(task, 13))
    runs = pd.concat([simulate(task, d=300, alpha=4.0, seed=seed, starts=branch) for seed in range(4)])
    assert runs.converged.all()
    numbers = {"train_loss": 0.06, "test_error": 0.1, "value_overlap": 0.03}
    for name, of_order_one_over_d in numbers.items():
        value = getattr(point, name)
        allowance = 3 * runs[name].std() / 2 + of_order_one_over_d * value
        assert runs[name].mean() == pytest.approx(value, abs=allowance), name


@pytest.mark.parametrize("refused", [linear_baseline, partial(scan, alpha=1.0), partial(transition, kind="alpha_l")])
def test_what_trained_values_do_not_have_is_refused(refused):
    with pytest.raises(ValueError, match=r"^value_rank: is 1, allowed .* is 0"):
        refused(replace(PAPER, value_rank=1))


def test_slope_of_the_training_loss_in_alpha_is_the_moreau_envelope():
    losses = [fixed_point(ANISOTROPIC, a, "semantic", quadrature=quick(ANISOTROPIC)) for a in (1.98, 2.0, 2.02)]
    slope = (losses[2].train_loss - losses[0].train_loss) / 0.04
    assert slope == pytest.approx(losses[1].loss_slope, rel=1e-3)


def test_coordinates_go_there_and_back():
    task = replace(PAPER, rank=2, teacher_rank=2, tied=False)
    rng = np.random.default_rng(1)
    for branch in ("semantic", "positional", "mixed", "uninformative"):
        size = 2 * freedom(task, branch, 1).count_pairs + freedom(task, branch, 1).count_order
        u = rng.normal(size=size)
        np.testing.assert_allclose(pack(task, unpack(task, u, branch, 1), branch), u, atol=1e-9)


def test_rotations_of_the_columns_turn_the_moments():
    """K, t, mu and χ turned by O give moments turned by O: the symmetry that the gauge fixes."""
    state = Overlaps(np.diag([0.5, 0.2]), np.array([[0.5], [0.0]]), np.array([[0.0, 0.2]]), np.diag([40.0, 30.0]))
    angle = 0.7
    O = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])  # noqa: E741
    turned = Overlaps(O @ state.K @ O.T, O @ state.t, state.mu @ O.T, O @ state.chi @ O.T)
    rule = sobol(6, 15, 0)
    plain, other = (next_overlaps(WIDE, 2.0, general_moments(WIDE, s, rule)) for s in (state, turned))
    np.testing.assert_allclose(O @ plain.K @ O.T, other.K, atol=5e-3)
    np.testing.assert_allclose(O @ plain.t, other.t, atol=5e-3)
    np.testing.assert_allclose(plain.mu @ O.T, other.mu, atol=5e-3)
