"""Proximal operators and channel averages: compiled against general, both against independent routes."""

import numpy as np
import pytest
from scipy.optimize import minimize

from solvable_attention.attention import attention_loss, student_attention, teacher_attention
from solvable_attention.channel import general_moments
from solvable_attention.overlaps import Overlaps
from solvable_attention.pair_channel import pair_moments, pair_prox, pair_two_well_weight
from solvable_attention.prox import global_prox
from solvable_attention.quadrature import sobol, split_gauss_hermite, split_sobol
from solvable_attention.task import TeacherStudent

NAMES = ("mu_hat", "k_hat", "v_hat", "t_hat", "moreau", "loss", "test_error")


def overlaps(q, m, V, theta, rho=0.25):
    return Overlaps(*(np.array([[x]]) for x in (q / rho, theta / rho, m, V / rho)))


STATES = {
    "semantic": overlaps(0.1148, 0.0, 12.67, 0.158),
    "positional": overlaps(0.0511, 0.258, 11.37, 0.0),
    "two wells": overlaps(0.05, 0.1, 26.0, 0.04),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("A", [[[0.6, 0.4], [0.4, 0.6]], [[0.3, 0.7], [0.8, 0.2]]])
def test_compiled_kernel_equals_the_general_path(state, A):
    task, rule = TeacherStudent(0.3, A=A), sobol(4, 11, 0)
    fast, general = pair_moments(task, state, rule), general_moments(task, state, rule)
    for name in NAMES:
        np.testing.assert_allclose(getattr(fast, name), getattr(general, name), rtol=1e-6, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["semantic", "positional"])
def test_split_rule_agrees_with_plain_points(name):
    task, state = TeacherStudent(0.3), STATES[name]
    split = pair_moments(task, state, split_gauss_hermite(20))
    plain = [pair_moments(task, state, sobol(4, 16, seed)) for seed in range(4)]
    for quantity in ("k_hat", "v_hat", "moreau", "loss", "test_error", "t_hat" if name == "semantic" else "mu_hat"):
        values = [float(np.squeeze(getattr(p, quantity))) for p in plain]
        allowance = 4 * np.std(values, ddof=1) / 2 + 3e-4 * abs(np.mean(values))
        assert float(np.squeeze(getattr(split, quantity))) == pytest.approx(np.mean(values), abs=allowance), quantity


def test_split_rule_on_points_carries_every_average():
    # The half-space rule is right on pure branches only; with m and θ both at work the full one has to be.
    task, state = TeacherStudent(0.3), STATES["two wells"]
    split, plain = pair_moments(task, state, split_sobol(14, 0)), pair_moments(task, state, sobol(4, 17, 1))
    for name in NAMES:
        np.testing.assert_allclose(getattr(split, name), getattr(plain, name), rtol=6e-3, err_msg=name)


@pytest.fixture(scope="module")
def draws():
    rng = np.random.default_rng(0)
    w = rng.normal(scale=0.4, size=(150, 2))
    return w, teacher_attention(TeacherStudent(0.3), rng.normal(scale=0.5, size=(150, 2, 1)))


@pytest.mark.parametrize("V", [3.0, 12.0, 26.0])
def test_prox_is_the_lowest_of_many_scipy_minima(draws, V):
    w, T = draws
    targets = np.stack([T[:, 0, 0], T[:, 1, 1]], axis=1)
    z, energies = pair_prox(w, V, targets, 0.25)

    def energy(y, i):
        a, b = 1 / (1 + np.exp(-y[0] * (y[0] - y[1]))), 1 / (1 + np.exp(-y[1] * (y[1] - y[0])))
        fit = 0.25 * ((a - targets[i, 0]) ** 2 + (b - targets[i, 1]) ** 2)
        return np.sum((y - w[i]) ** 2) / (2 * V) + fit

    starts = [(0.5, -0.5), (-0.5, 0.5), (1.0, 0.2), (-0.2, -1.0)]
    for i in range(0, 150, 5):
        lowest = min(minimize(energy, start, args=(i,), tol=1e-12).fun for start in [*starts, w[i]])
        assert energies[i] <= lowest + 1e-9
        assert energy(z[i], i) == pytest.approx(energies[i], abs=1e-12)


def test_general_prox_finds_the_compiled_minimum(draws):
    w, T = draws
    task, V = TeacherStudent(0.3), 12.0
    z, energies = global_prox(task, w[:, :, None], V * np.eye(2), T)
    own, compiled = pair_prox(w, V, np.stack([T[:, 0, 0], T[:, 1, 1]], axis=1), task.rho)
    np.testing.assert_allclose(energies, compiled, atol=1e-12)
    np.testing.assert_allclose(z[:, :, 0], own, atol=1e-6)


A3 = ((0.6, 0.3, 0.1), (0.2, 0.5, 0.3), (0.1, 0.3, 0.6))
A4 = ((0.5, 0.2, 0.2, 0.1), (0.1, 0.6, 0.2, 0.1), (0.2, 0.1, 0.5, 0.2), (0.1, 0.2, 0.2, 0.5))
GENERAL = {
    "untied": TeacherStudent(0.3, tied=False, A=((0.3, 0.7), (0.8, 0.2))),
    "rank 2": TeacherStudent(0.3, rank=2, sigma=0.3**0.5, covariance=((0.3, 0.1), (0.1, 0.3))),
    "L=3": TeacherStudent(0.3, L=3, A=A3),
    "L=4": TeacherStudent(0.3, L=4, A=A4),
}


@pytest.mark.parametrize("task", GENERAL.values(), ids=GENERAL)
def test_general_prox_is_the_lowest_of_many_scipy_minima(task):
    rng = np.random.default_rng(3)
    shape = (task.L, task.columns)
    w = rng.normal(scale=0.4, size=(8, *shape))
    T = teacher_attention(task, rng.normal(scale=0.5, size=(8, task.L, 1)))
    V = np.kron(task.C, 48.0 * np.eye(task.columns))
    z, energies = global_prox(task, w, V, T)

    def energy(x, i):
        step = x - w[i].ravel()
        difference = student_attention(x.reshape(1, *shape), task.tied) - T[i]
        return 0.5 * step @ np.linalg.solve(V, step) + attention_loss(difference, task.C)[0]

    for i in range(8):
        starts = [w[i].ravel(), *(w[i].ravel() + rng.normal(scale=0.7, size=(6, w[i].size)))]
        assert energies[i] <= min(minimize(energy, start, args=(i,)).fun for start in starts) + 1e-9
        assert energy(z[i].ravel(), i) == pytest.approx(energies[i], abs=1e-12)


def test_envelope_gradient_is_minus_g(draws):
    w, T = draws
    targets, V, step = np.stack([T[:, 0, 0], T[:, 1, 1]], axis=1), 3.0, 1e-5
    z, _ = pair_prox(w, V, targets, 0.25)
    shift = step * np.array([1.0, 0.0])
    derivative = (pair_prox(w + shift, V, targets, 0.25)[1] - pair_prox(w - shift, V, targets, 0.25)[1]) / (2 * step)
    np.testing.assert_allclose(derivative, (w - z)[:, 0] / V, atol=1e-6)


def test_two_wells_are_rare_on_the_semantic_branch_and_common_below_its_onset():
    task, rule = TeacherStudent(0.3), sobol(4, 13, 0)
    assert pair_two_well_weight(task, STATES["semantic"], rule) == 0.0
    assert pair_two_well_weight(task, overlaps(0.05, 0, 29.0, 0.04), rule) > 0.1


def test_a_rule_of_the_wrong_dimension_is_refused():
    with pytest.raises(ValueError, match=r"^rule: has dimension 3, allowed for this task is 4"):
        general_moments(TeacherStudent(0.3), STATES["semantic"], sobol(3, 4, 0))
