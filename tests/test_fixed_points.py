"""Fixed points: published-grade accuracy, identities of the free energy, limits, and honest reports."""

from dataclasses import replace

import numpy as np
import pytest
from reference import read_reference

from solvable_attention.channel import channel_moments
from solvable_attention.coordinates import pinned
from solvable_attention.encodings import encoding_factor
from solvable_attention.fixed_points import branch, fixed_point
from solvable_attention.overlaps import free_energy
from solvable_attention.quadrature import sobol, split_gauss_hermite, split_sobol
from solvable_attention.state_evolution import Quadrature, state_evolution_map
from solvable_attention.task import TeacherStudent

TASK = TeacherStudent(omega=0.3)
RULE = split_gauss_hermite(20)
CASES = [(2.0, "semantic"), (2.0, "positional"), (0.9, "semantic"), (0.5, "positional"), (1.0, "uninformative")]


@pytest.fixture(scope="module", params=CASES, ids=[f"{b}-{a}" for a, b in CASES])
def point(request):
    return fixed_point(TASK, *request.param)


def test_converges_and_certifies_the_returned_point(point):
    new, _ = state_evolution_map(TASK, point.alpha, point.overlaps, point.branch, RULE)
    assert point.converged and point.residual <= 1e-8
    for name in ("K", "chi", "t", "mu"):
        np.testing.assert_allclose(getattr(new, name), getattr(point.overlaps, name), rtol=1e-8, atol=1e-9)


def test_two_expressions_of_the_training_loss_agree(point):
    assert point.free_energy == pytest.approx(point.train_loss, rel=1e-9)


def test_channel_averages_are_the_gradients_of_the_mean_envelope(point):
    """With M = E min_z[…]: ∂M/∂μ = −μ̂, ∂M/∂χ = −k̂/2, ∂M/∂K = v̂/2 at fixed t, ∂M/∂t = −t̂ (hats without α)."""
    exact = pinned(TASK, moments(point.overlaps), point.branch)
    expected = {"mu": -exact.mu_hat, "chi": -exact.k_hat / 2, "K": exact.v_hat / 2, "t": -exact.t_hat}
    for name, value in expected.items():
        at = getattr(point.overlaps, name)
        if np.any(at):
            step = 1e-3 * at
            up, down = (moments(replace(point.overlaps, **{name: at + s * step})).moreau for s in (1, -1))
            # relative to the envelope, for a relative change of the order parameter
            change = (up - down) / 2e-3
            assert change == pytest.approx(float((value * at).sum()), abs=2e-4 * exact.moreau), name


def test_free_energy_is_stationary(point):
    for name in ("K", "chi", "t", "mu"):
        at = getattr(point.overlaps, name)
        if np.any(at):
            shifted = [replace(point.overlaps, **{name: (1 + s) * at}) for s in (1e-3, -1e-3)]
            up, down = (free_energy(TASK, point.alpha, o, pinned(TASK, moments(o), point.branch)) for o in shifted)
            assert abs(up - down) / 2e-3 < 2e-3 * point.train_loss, name


def moments(overlaps):
    return channel_moments(TASK, overlaps, RULE)


def test_reported_quadrature_error_covers_an_independent_rule(point):
    """The split rule on Sobol points shares no node with the product rule; its own error is known from scrambles."""
    others = []
    for seed in range(3):
        rules = Quadrature(split_gauss_hermite(10), split_sobol(13, seed), (split_sobol(12, seed + 10),))
        others.append(fixed_point(TASK, point.alpha, point.branch, start=point, quadrature=rules))
    for name in ("q", "V", "train_loss", "test_error", "theta", "m"):
        values = [getattr(o, name) for o in others]
        allowed = point.errors[name] + 3 * np.std(values, ddof=1)
        assert abs(getattr(point, name) - np.mean(values)) <= allowed, name


# (α, ω, branch, m or θ, V, ε_t, ε_g), solved with the split rule of order 40
PINNED = [
    (2.0, 0.3, "positional", 0.258226, 11.369, 0.004512759, 0.003473064),
    (2.0, 0.3, "semantic", 0.158159, 12.6684, 0.003590618, 0.001404204),
    (1.24, 0.3, "positional", 0.252286, 14.9602, 0.002697222, 0.003392977),
    (0.9, 0.3, "semantic", 0.0808517, 23.588, 0.002150518, 0.003116824),
    (2.0, 0.4, "semantic", 0.148048, 14.3122, 0.003791144, 0.001642852),
    (0.5, 0.1, "positional", 0.180883, 22.7741, 0.001362431, 0.004390326),
]


@pytest.mark.parametrize(("alpha", "omega", "name", "order", "V", "train_loss", "test_error"), PINNED)
def test_values_stay_what_a_finer_rule_gives(alpha, omega, name, order, V, train_loss, test_error):
    point = fixed_point(TeacherStudent(omega), alpha, name)
    assert (point.m if name == "positional" else point.theta) == pytest.approx(order, rel=1e-3)
    assert pytest.approx(V, rel=2e-3) == point.V
    assert point.train_loss == pytest.approx(train_loss, rel=1e-4)
    assert point.test_error == pytest.approx(test_error, rel=5e-4)


@pytest.mark.parametrize("row", read_reference("theory_targets.csv"), ids=str)
def test_reference_solutions(row):
    """Independent solves on 2^18 Sobol points, three scrambles."""
    point = fixed_point(TeacherStudent(row["omega"], row["sigma"], row["lam"]), row["alpha"], row["branch"])
    order, spread = ("m" if row["branch"] == "positional" else "theta"), row["rel_spread_m_or_theta"]
    assert point.train_loss == pytest.approx(row["train_loss"], rel=1e-3)
    assert point.test_error == pytest.approx(row["test_error"], rel=1e-3)
    assert getattr(point, order) == pytest.approx(row[order], rel=max(2e-3, 4 * spread))
    assert pytest.approx(row["V"], rel=5e-3) == point.V
    assert point.residual <= 1e-8 and point.quadrature_error < 5e-3


@pytest.mark.parametrize("name", ["semantic", "positional"])
def test_mixing_changes_neither_the_point_nor_its_residual(name):
    points = [fixed_point(TASK, 1.0, name, mixing=mixing) for mixing in (0.9, 0.8, 0.6)]
    for other in points[1:]:
        assert other.q == pytest.approx(points[0].q, rel=1e-8) and other.residual <= 1e-8


def test_derivative_of_the_loss_in_lambda_is_half_the_squared_norm():
    up, down = (fixed_point(replace(TASK, lam=0.01 + s), 1.5, "semantic") for s in (1e-4, -1e-4))
    middle = fixed_point(TASK, 1.5, "semantic")
    slope = (up.train_loss - down.train_loss) / 2e-4
    assert slope == pytest.approx(middle.q / (2 * TASK.rho), rel=1e-4)


def test_derivative_of_the_loss_in_alpha_is_the_mean_envelope():
    up, down = (fixed_point(TASK, 1.5 + s, "positional") for s in (1e-3, -1e-3))
    middle = fixed_point(TASK, 1.5, "positional")
    assert (up.train_loss - down.train_loss) / 2e-3 == pytest.approx(moments(middle.overlaps).moreau, rel=1e-4)


def test_positional_teacher_leaves_nothing_semantic():
    point = fixed_point(TeacherStudent(1.0), 1.5, "semantic")
    assert point.converged and point.merged and point.theta == pytest.approx(0, abs=1e-8)


def test_strong_ridge_kills_every_overlap():
    for name in ("semantic", "positional"):
        point = fixed_point(TeacherStudent(0.3, lam=10.0), 1.0, name)
        assert point.converged and max(point.q, point.m, point.theta) < 1e-4
        assert pytest.approx(0.25 / 10.0, rel=1e-3) == point.V


def test_without_data_V_is_rho_over_lambda():
    # V − σ²/λ falls like √α, since the proximal operator jumps at fields of size √q ~ √α
    excess = [fixed_point(TASK, alpha, "uninformative").V - TASK.rho / TASK.lam for alpha in (1e-3, 1e-5)]
    assert 0 < excess[1] < 0.15 * excess[0] < 0.15


def test_semantic_branch_merges_below_its_onset():
    below, above = fixed_point(TASK, 0.6, "semantic"), fixed_point(TASK, 0.8, "semantic")
    assert below.converged and below.merged and below.theta == 0
    assert above.converged and not above.merged and above.theta > 0.05
    assert below.train_loss == pytest.approx(fixed_point(TASK, 0.6, "uninformative").train_loss, rel=1e-9)


def test_branch_returns_the_order_asked_and_equals_single_solves():
    alphas = [1.0, 2.0, 0.8, 1.0]
    points = branch(TASK, alphas, "semantic")
    assert [p.alpha for p in points] == alphas and points[0] is points[3]
    alone = fixed_point(TASK, 0.8, "semantic")
    assert points[2].theta == pytest.approx(alone.theta, rel=1e-7)
    assert points[2].train_loss == pytest.approx(alone.train_loss, rel=1e-9)


def test_a_branch_that_ends_at_large_alpha_is_found_again_below():
    """At ω = .2 the positional branch has merged at α = 2 and exists at α = 1, also when it is followed from there."""
    merged, found = branch(TeacherStudent(0.2), [2.0, 1.0], "positional")
    assert merged.merged and not found.merged
    assert found.m == pytest.approx(fixed_point(TeacherStudent(0.2), 1.0, "positional").m, rel=1e-7)
    assert found.m > 0.2


def test_second_teacher_matrix_solves_too():
    point = fixed_point(TeacherStudent(0.3, A=[[0.3, 0.7], [0.8, 0.2]]), 2.0, "semantic")
    assert point.converged and point.theta > 0.05


def test_a_solve_that_fails_is_returned_as_such(monkeypatch):
    monkeypatch.setattr("solvable_attention.branch_problem._SOLVER_EVALUATIONS", 1)
    monkeypatch.setattr("solvable_attention.branch_problem._COARSE_TOLERANCE", 1.0)
    point = fixed_point(TASK, 1.0, "positional")
    assert not point.converged and point.residual > 1e-8


def test_correlated_tokens_by_the_general_path():
    """Values of an independent solve of the same equations: K = .227, t = .400, ε_t = .00261, ε_g = .00110."""
    task = TeacherStudent(0.3, covariance=0.25 * np.array([[1, 0.4], [0.4, 1]]))
    rules = Quadrature(sobol(4, 9, 0), sobol(4, 12, 0), (sobol(4, 12, 1), sobol(4, 12, 2)))
    point = fixed_point(task, 2.0, "semantic", quadrature=rules)
    assert point.converged
    assert point.overlaps.K[0, 0] == pytest.approx(0.227, rel=0.01)
    assert point.overlaps.t[0, 0] == pytest.approx(0.400, rel=0.01)
    assert point.train_loss == pytest.approx(0.00261, rel=0.01)
    assert point.test_error == pytest.approx(0.00110, rel=0.01)


def test_positional_branch_with_orthonormal_encodings():
    """P = I instead of p_1 = −p_2: the places still differ, m_1 = −m_2 by symmetry, and m_1 is positive by gauge."""
    task = TeacherStudent(0.3, encodings_gram=np.eye(2))
    point = fixed_point(task, 1.0, "positional")
    m_1, m_2 = (encoding_factor(task) @ point.overlaps.mu)[:, 0]
    assert point.converged and not point.merged
    assert point.m == m_1 > 0.05 and m_2 == pytest.approx(-m_1, rel=0.1)


def test_mixed_starts_end_in_a_pure_branch():
    point = fixed_point(TASK, 1.5, "mixed")
    assert point.converged and min(abs(point.m), abs(point.theta)) < 1e-3


def test_half_space_rules_are_refused_where_they_are_wrong():
    mixed = replace(fixed_point(TASK, 1.5, "semantic").overlaps, mu=np.array([[0.1]]))
    with pytest.raises(ValueError, match=r"^rule: covers a half space"):
        channel_moments(TASK, mixed, RULE)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0.0, "semantic"), "alpha"), ((float("inf"), "semantic"), "alpha"), ((1.0, "lexical"), "branch")],
)
def test_bad_arguments_are_named(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}: is .*allowed"):
        fixed_point(TASK, *arguments)


def test_empty_grid_and_bad_mixing_are_refused():
    with pytest.raises(ValueError, match=r"^alphas: is \[\], allowed"):
        branch(TASK, [], "semantic")
    with pytest.raises(ValueError, match=r"^alpha: is .a., allowed"):
        branch(TASK, ["a"], "semantic")
    with pytest.raises(ValueError, match=r"^mixing: is 1\.0, allowed"):
        fixed_point(TASK, 1.0, "semantic", mixing=1.0)


def test_a_nearly_collapsed_point_without_a_successor_is_marked_and_not_raised():
    """Second A near ω = ½: Q shrinks to 0, and at some α the equations have no admissible state beside it."""
    point = fixed_point(TeacherStudent(omega=0.48, A=((0.3, 0.7), (0.8, 0.2))), 1.25, "semantic")
    assert not point.converged and point.merged and point.q < 1e-6


def test_tied_attention_has_no_positional_branch_for_a_matrix_that_prefers_the_other_token():
    """S_11 + S_22 ≥ 1 for tied rank 1, while the teacher's mean asks for less; near ω = 0 it asks for more."""
    second = TeacherStudent(omega=0.3, A=((0.3, 0.7), (0.8, 0.2)))
    assert fixed_point(second, 1.0, "positional").merged
    assert not fixed_point(replace(second, omega=0.02), 0.5, "positional").merged
    assert not fixed_point(replace(second, A=((0.6, 0.4), (0.4, 0.6))), 1.0, "positional").merged
