"""The linear positional baseline: closed form, Monte Carlo, and the fit on data."""

from dataclasses import replace

import numpy as np
import pytest

from solvable_attention.attention import teacher_attention
from solvable_attention.baseline import linear_baseline, linear_test_error
from solvable_attention.simulation import fit_linear_baseline
from solvable_attention.simulation.data import draw_dataset, draw_tokens
from solvable_attention.task import TeacherStudent

PAPER = TeacherStudent(omega=0.3)
A3 = ((0.5, 0.3, 0.2), (0.1, 0.6, 0.3), (0.25, 0.25, 0.5))


@pytest.mark.parametrize("omega", [0.0, 0.3, 1.0])
def test_known_value_and_independence_of_the_positional_matrix(omega):
    task = replace(PAPER, omega=omega)
    assert linear_baseline(task).test_error == pytest.approx(0.0040232333 * (1 - omega) ** 2, rel=1e-8, abs=1e-15)
    other = linear_baseline(replace(task, A=((0.3, 0.7), (0.8, 0.2)))).test_error
    assert other == pytest.approx(linear_baseline(task).test_error, abs=1e-15)


@pytest.mark.parametrize(
    "task",
    [
        replace(PAPER, covariance=((0.3, 0.1), (0.1, 0.2))),
        replace(PAPER, teacher_rank=2),
        TeacherStudent(omega=0.1, L=3, A=A3, teacher_rank=2, sigma=0.7),
    ],
)
def test_closed_form_agrees_with_sampling(task):
    samples = 100_000
    noise = np.random.default_rng(0).standard_normal((samples, task.L, task.teacher_rank))
    T = teacher_attention(task, np.linalg.cholesky(task.C) @ noise)
    baseline = linear_baseline(task)
    np.testing.assert_allclose(baseline.weights, T.mean(axis=0), atol=5 * T.std() / samples**0.5)
    E = T - T.mean(axis=0)
    values = np.einsum("nij,jk,nik->n", E, task.C, E) / task.L
    assert baseline.test_error == pytest.approx(values.mean(), abs=5 * values.std() / samples**0.5)


@pytest.mark.parametrize("task", [PAPER, replace(PAPER, spectrum=((3.0, 0.2), (0.5, 0.8)))])
def test_error_of_given_weights_agrees_with_fresh_samples(task):
    d, W = 8, np.array([[0.5, 0.3], [0.2, 0.7]])
    teacher = np.random.default_rng(0).standard_normal((d, 1))
    x = draw_tokens(task, 40_000, d, np.random.default_rng(1)).astype(float).transpose(1, 0, 2)
    T = teacher_attention(task, x @ teacher / np.sqrt(d))
    values = ((T @ x - W @ x) ** 2).sum(axis=(1, 2)) / (2 * d)
    assert linear_test_error(task, W, teacher) == pytest.approx(values.mean(), abs=4 * values.std() / 200)


def test_fit_minimises_its_risk():
    """The fitted weights against a direct least-squares solution on the tokens."""
    d, ridge = 30, 0.5
    data = draw_dataset(PAPER, d=d, alpha=0.5, seed=4)
    x = data.tokens.astype(float).transpose(1, 0, 2) - data.encodings
    T = (1 - PAPER.omega) * data.teacher_attention + PAPER.omega * np.array(PAPER.A)
    inputs, outputs = (v.transpose(1, 0, 2).reshape(2, -1) for v in (x, T @ x))
    augmented = np.concatenate([inputs.T / np.sqrt(d), np.sqrt(ridge) * np.eye(2)])
    W = np.linalg.lstsq(augmented, np.concatenate([outputs.T / np.sqrt(d), np.zeros((2, 2))]))[0].T
    row = fit_linear_baseline(PAPER, d=d, alpha=0.5, seed=4, ridge=ridge).iloc[0]
    assert row.test_error == pytest.approx(linear_test_error(PAPER, W, data.teacher_weights), rel=1e-10)


def test_fit_approaches_the_closed_form():
    frame = fit_linear_baseline([PAPER, replace(PAPER, omega=0.0)], d=4000, alpha=0.5, seed=0)
    assert list(frame.columns) == ["d", "alpha", "omega", "sigma", "lam", "seed", "test_error", "theory_test_error"]
    # The spread of ‖Q⋆‖²/d is √(2/d), and ε_lin grows about as its square.
    np.testing.assert_allclose(frame.test_error, frame.theory_test_error, rtol=6 * np.sqrt(2 / 4000))


def test_bad_arguments_are_refused():
    for change, message in (({"d": 0}, "d: is 0"), ({"ridge": 0.0}, "ridge: is 0.0"), ({"seed": -3}, "seed: is -3")):
        with pytest.raises(ValueError) as caught:
            fit_linear_baseline(PAPER, **({"d": 10, "alpha": 1.0, "seed": 0} | change))
        assert str(caught.value).startswith(message)
