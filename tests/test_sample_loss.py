"""The compiled loss of a sample against its definition, its derivatives against finite differences."""

import numpy as np
import pytest

from solvable_attention.attention import attention_loss, student_attention
from solvable_attention.sample_loss import Student, sample_derivatives, sample_loss, workspace
from solvable_attention.task import ACTIVATIONS

CASES = [
    Student(tokens, rank, outputs, tied, activation)
    for tokens, rank in ((2, 1), (3, 2))
    for outputs in (0, 2)
    for tied in (True, False)
    for activation in range(len(ACTIVATIONS))
]


def draw(student):
    """Fields, a target, and a covariance of the tokens."""
    rng = np.random.default_rng(0)
    L, s = student.tokens, student.outputs
    columns = (1 if student.tied else 2) * student.rank + s
    z, target = rng.normal(size=(L, columns)), rng.normal(size=(L, s or L))
    return z, target, 0.25 * np.eye(L) + 0.05


@pytest.mark.parametrize("student", CASES, ids=str)
def test_loss_is_the_definition(student):
    z, target, C = draw(student)
    keys = 0 if student.tied else student.rank
    scores = z[:, : student.rank] @ z[:, keys : keys + student.rank].T
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    linearised = (1 + scores - scores.mean(axis=1, keepdims=True)) / student.tokens
    S = {"softmax": softmax, "linear": scores, "linearised": linearised}[ACTIVATIONS[student.activation]]
    if student.outputs:
        expected = 0.5 * np.sum((S @ z[:, -student.outputs :] - target) ** 2)
    else:
        expected = 0.5 * np.trace((S - target) @ C @ (S - target).T)
    assert sample_loss(z, target, C, student, workspace(student)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("student", CASES, ids=str)
def test_derivatives_are_those_of_the_loss(student):
    z, target, C = draw(student)
    work, shape, D = workspace(student), z.shape, z.size

    def loss(x):
        return sample_loss(x.reshape(shape), target, C, student, work)

    def derivatives(x, whole=True):
        loss(x)
        gradient, hessian = np.empty(D), np.empty((D, D))
        sample_derivatives(x.reshape(shape), student, whole, work, gradient, hessian)
        return gradient, hessian

    x, steps = z.ravel(), 1e-5 * np.eye(D)
    central = [(loss(x + s) - loss(x - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(derivatives(x)[0], central, atol=3e-8)
    central = [(derivatives(x + s)[0] - derivatives(x - s)[0]) / 2e-5 for s in steps]
    np.testing.assert_allclose(derivatives(x)[1], central, atol=3e-7)
    # What Newton falls back to has no direction of negative curvature.
    assert np.linalg.eigvalsh(derivatives(x, whole=False)[1]).min() > -1e-12


def test_attention_of_the_loss_is_that_of_the_simulations():
    student = Student(3, 2, 0, False, 0)
    z, target, C = draw(student)
    difference = student_attention(z[None], tied=False) - target
    assert sample_loss(z, target, C, student, workspace(student)) == pytest.approx(attention_loss(difference, C)[0])


def test_linearised_attention_is_the_softmax_of_small_scores():
    z = 1e-3 * np.random.default_rng(0).normal(size=(5, 3, 2))
    ours, softmax = (student_attention(z, True, activation) for activation in ("linearised", "softmax"))
    np.testing.assert_allclose(ours, softmax, atol=1e-10)
    assert np.abs(softmax - 1 / 3).max() > 1e-7
