import numpy as np
import pytest

from solvable_attention.attention import attention_loss, loss_derivatives, student_attention, teacher_attention
from solvable_attention.task import TeacherStudent

COVARIANCE = {2: 0.25 * np.eye(2) + 0.05, 3: 0.25 * np.eye(3) + 0.05}


def make(L, rank, tied):
    return TeacherStudent(
        0.3, sigma=0.3**0.5, L=L, rank=rank, tied=tied, A=np.full((L, L), 1 / L), covariance=COVARIANCE[L]
    )


@pytest.mark.parametrize(("L", "rank", "tied"), [(2, 1, True), (2, 1, False), (3, 2, True), (3, 2, False)])
def test_loss_derivatives_are_those_of_the_loss(L, rank, tied):
    task, rng = make(L, rank, tied), np.random.default_rng(0)
    z = rng.normal(size=(1, L, task.columns))
    T = teacher_attention(task, rng.normal(size=(1, L, 1)))

    def loss(x):
        return attention_loss(student_attention(x.reshape(z.shape), tied) - T, task.C)[0]

    def gradient(x):
        return loss_derivatives(task, x.reshape(z.shape), T)[0][0]

    steps = 1e-5 * np.eye(z.size)
    x = z.ravel()
    central = [(loss(x + s) - loss(x - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(gradient(x), central, atol=1e-9)
    central = [(gradient(x + s) - gradient(x - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(loss_derivatives(task, z, T)[1][0], central, atol=1e-8)


def test_attention_rows_are_probabilities():
    S = student_attention(np.random.default_rng(1).normal(size=(7, 3, 4)), tied=False)
    np.testing.assert_allclose(S.sum(axis=-1), 1)
    assert (S > 0).all()


def test_teacher_interpolates_between_content_and_place():
    h = np.random.default_rng(2).normal(size=(5, 2, 1))
    semantic, positional = teacher_attention(TeacherStudent(0.0), h), teacher_attention(TeacherStudent(1.0), h)
    np.testing.assert_allclose(positional, np.broadcast_to([[0.6, 0.4], [0.4, 0.6]], (5, 2, 2)))
    np.testing.assert_allclose(teacher_attention(TeacherStudent(0.3), h), 0.7 * semantic + 0.3 * positional)
