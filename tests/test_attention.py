import numpy as np

from solvable_attention.attention import student_attention, teacher_attention
from solvable_attention.task import TeacherStudent


def test_attention_rows_are_probabilities():
    S = student_attention(np.random.default_rng(1).normal(size=(7, 3, 4)), tied=False)
    np.testing.assert_allclose(S.sum(axis=-1), 1)
    assert (S > 0).all()


def test_teacher_interpolates_between_content_and_place():
    h = np.random.default_rng(2).normal(size=(5, 2, 1))
    semantic, positional = teacher_attention(TeacherStudent(0.0), h), teacher_attention(TeacherStudent(1.0), h)
    np.testing.assert_allclose(positional, np.broadcast_to([[0.6, 0.4], [0.4, 0.6]], (5, 2, 2)))
    np.testing.assert_allclose(teacher_attention(TeacherStudent(0.3), h), 0.7 * semantic + 0.3 * positional)
