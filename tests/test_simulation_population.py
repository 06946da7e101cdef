"""The exact test error against fresh samples, against other quadratures and in its limits."""

from dataclasses import replace

import numpy as np
import pytest

from solvable_attention.baseline import linear_baseline
from solvable_attention.encodings import positional_encodings
from solvable_attention.simulation import population as module
from solvable_attention.simulation import population_test_error, sampled_test_error
from solvable_attention.task import TeacherStudent

PAPER = TeacherStudent(omega=0.3)
A3 = ((0.5, 0.3, 0.2), (0.1, 0.6, 0.3), (0.25, 0.25, 0.5))
TASKS = {
    "paper": PAPER,
    "untied": replace(PAPER, tied=False, A=((0.3, 0.7), (0.8, 0.2))),
    "rank 2": replace(PAPER, rank=2, teacher_rank=2),
    "other encodings": replace(PAPER, encodings_gram=((2.0, 0.3), (0.3, 0.5)), A=((0.9, 0.1), (0.5, 0.5))),
    "correlated": replace(PAPER, covariance=((0.3, 0.1), (0.1, 0.2))),
    "linear": replace(PAPER, activation="linear"),
    "linearised": replace(PAPER, activation="linearised"),
    "anisotropic": replace(PAPER, spectrum=((3.0, 0.2), (0.5, 0.8))),
    "anisotropic rank 2": replace(PAPER, rank=2, spectrum=((3.0, 0.2), (0.5, 0.8))),
    "values": replace(PAPER, value_rank=1),
    "L=3": TeacherStudent(omega=0.2, L=3, A=A3),
}


def draw(task, d, seed=0):
    """Weights (1, columns, d) that share half of their direction with Q⋆ (d, r⋆), plus a positional part."""
    rng = np.random.default_rng(seed)
    teacher = rng.standard_normal((d, task.teacher_columns))
    Q = 0.5 * teacher[:, 0] + 0.4 * rng.standard_normal((task.columns, d)) + 0.3
    return Q[None], teacher


@pytest.mark.parametrize("d", [2, 50])
@pytest.mark.parametrize("name", TASKS)
def test_exact_error_agrees_with_fresh_samples(name, d):
    task = TASKS[name]
    d = max(d, task.L)
    Q, teacher = draw(task, d)
    exact = population_test_error([task], Q, teacher)[0]
    estimate, error = sampled_test_error(task, Q[0], teacher, samples=20_000, rng=np.random.default_rng(1))
    assert abs(exact - estimate) < 4 * error
    assert error < 0.03 * exact


def test_terms_of_order_one_over_d_are_visible():
    """At d = 50 the limit law of the same overlaps is far outside the error bar that the exact value meets."""
    Q, teacher = draw(PAPER, 50)
    _, error = sampled_test_error(PAPER, Q[0], teacher, samples=20_000, rng=np.random.default_rng(1))
    exact = population_test_error([PAPER], Q, teacher)[0]
    assert abs(exact - limit_error(PAPER, Q[0, 0], teacher[:, 0])) > 8 * error


def test_limit_of_large_d():
    gaps = []
    for d in (100, 1000, 10_000):
        Q, teacher = draw(PAPER, d)
        gaps.append(abs(population_test_error([PAPER], Q, teacher)[0] / limit_error(PAPER, Q[0, 0], teacher[:, 0]) - 1))
    assert gaps[1] < 0.2 * gaps[0] and gaps[2] < 0.2 * gaps[1] and gaps[2] < 2e-3


def limit_error(task, Q, teacher, order=24):
    """σ²/2·E[2(a − t_1)² + 2(b − t_2)²]: fields of variance σ²‖Q‖²/d and so on, tokens of norm σ²d."""
    d = len(Q)
    covariance = task.rho * np.array([[Q @ Q, Q @ teacher], [Q @ teacher, teacher @ teacher]]) / d
    line, weight = np.polynomial.hermite_e.hermegauss(order)
    root, weight = np.linalg.cholesky(covariance), weight / weight.sum()
    u = np.stack(np.meshgrid(line, line, line, line, indexing="ij"))
    z = np.tensordot(root, u[:2], 1)[0] + Q.mean(), np.tensordot(root, u[2:], 1)[0] - Q.mean()
    h = np.tensordot(root, u[:2], 1)[1], np.tensordot(root, u[2:], 1)[1]
    values = 0
    for one, other, A in ((0, 1, task.A[0][0]), (1, 0, task.A[1][1])):
        s, t = (1 / (1 + np.exp(-v[one] * (v[one] - v[other]))) for v in (z, h))
        values = values + (s - (1 - task.omega) * t - task.omega * A) ** 2
    return task.rho * np.einsum("ijkl,i,j,k,l", values, weight, weight, weight, weight)


def test_quadrature_has_converged():
    Q, teacher = draw(PAPER, 300)
    value, finer = (population_test_error([PAPER], Q, teacher, order=order)[0] for order in (16, 28))
    assert value == pytest.approx(finer, rel=1e-5)


def test_compiled_path_equals_general_path(monkeypatch):
    tasks = [replace(PAPER, omega=0.1), TASKS["other encodings"], replace(PAPER, omega=0.9)]
    for task in tasks:
        Q, teacher = draw(task, 40)
        fast = population_test_error([task], Q, teacher, order=8)
        with monkeypatch.context() as patch:
            patch.setattr(module, "two_token_errors", general)
            slow = population_test_error([task], Q, teacher, order=8)
        np.testing.assert_allclose(fast, slow, rtol=1e-12)


def general(tasks, xi, weights, student, teacher, encodings, d):
    means = encodings @ student[..., None]
    grams = np.broadcast_to(np.eye(xi.shape[-1]), (len(tasks), xi.shape[-1], xi.shape[-1]))
    runs = zip(tasks, student[..., None], teacher[..., None], encodings, means, grams, strict=True)
    return np.array([module._error(*run, xi, weights, d) for run in runs])


def test_sobol_points_serve_more_dimensions():
    """A rank-2 student whose second column vanishes is a rank-1 student."""
    Q, teacher = draw(PAPER, 80)
    wide = np.concatenate([Q, np.zeros_like(Q)], axis=1)
    one = population_test_error([PAPER], Q, teacher)[0]
    two = population_test_error([replace(PAPER, rank=2)], wide, teacher)[0]
    assert two == pytest.approx(one, rel=3e-3)


@pytest.mark.parametrize("factor", [0.0, 1.0, -0.7])
def test_parallel_and_vanishing_weights(factor):
    _, teacher = draw(PAPER, 60)
    Q = factor * teacher.T[None]
    exact = population_test_error([PAPER], Q, teacher)[0]
    nearby = population_test_error([PAPER], Q + 1e-6 * draw(PAPER, 60, seed=2)[0], teacher)[0]
    assert exact == pytest.approx(nearby, rel=1e-4)


def test_student_equal_to_teacher_pays_for_the_encodings_only():
    """With Q = Q⋆, ω = 0 and p = 0 the error vanishes."""
    task = TeacherStudent(omega=0.0, encodings_gram=((0.0, 0.0), (0.0, 0.0)))
    teacher = np.random.default_rng(0).standard_normal((30, 1))
    assert population_test_error([task], teacher.T[None], teacher)[0] == pytest.approx(0, abs=1e-15)


def test_sign_symmetry_and_uniform_attention():
    Q, teacher = draw(PAPER, 60)
    assert population_test_error([PAPER], Q, teacher) == pytest.approx(population_test_error([PAPER], -Q, teacher))
    zero = population_test_error([PAPER], 0 * Q, teacher)[0]
    # Q = 0 averages the tokens, which is one of the maps W of the linear baseline and so no better than it.
    assert zero > linear_baseline(PAPER).test_error
    assert np.allclose(positional_encodings(PAPER, 60).sum(axis=0), 0)
