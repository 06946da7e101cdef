import numpy as np
import pytest

from solvable_attention.encodings import encoding_factor
from solvable_attention.task import TeacherStudent


def test_defaults_are_the_papers():
    task = TeacherStudent(omega=0.3)
    assert (task.L, task.sigma, task.lam, task.rank, task.teacher_rank, task.tied) == (2, 0.5, 0.01, 1, 1, True)
    assert task.A == ((0.6, 0.4), (0.4, 0.6))
    assert task.C.tolist() == [[0.25, 0.0], [0.0, 0.25]]
    assert task.is_paper_case and task.columns == 1 and task.rho == 0.25


def test_equal_arguments_make_equal_hashable_tasks():
    assert hash(TeacherStudent(0.3)) == hash(TeacherStudent(0.3, A=np.array([[0.6, 0.4], [0.4, 0.6]])))
    assert TeacherStudent(0.3) != TeacherStudent(0.4)


@pytest.mark.parametrize(
    "changes",
    [
        {"rank": 2},
        {"teacher_rank": 2},
        {"tied": False},
        {"value_rank": 1},
        {"activation": "linear"},
        {"spectrum": ((2.0, 0.25), (2 / 3, 0.75))},
        {"covariance": [[0.25, 0.1], [0.1, 0.25]]},
        {"encodings_gram": np.eye(2)},
        {"L": 3, "A": np.full((3, 3), 1 / 3)},
    ],
)
def test_other_cases_are_not_the_papers(changes):
    assert not TeacherStudent(0.3, **changes).is_paper_case


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"omega": 1.3}, "omega"),
        ({"omega": float("nan")}, "omega"),
        ({"omega": "0.3"}, "omega"),
        ({"sigma": 0.0}, "sigma"),
        ({"lam": -0.01}, "lam"),
        ({"lam": True}, "lam"),
        ({"L": 1}, "L"),
        ({"rank": 0}, "rank"),
        ({"teacher_rank": 1.5}, "teacher_rank"),
        ({"tied": "yes"}, "tied"),
        ({"value_rank": -1}, "value_rank"),
        ({"activation": "relu"}, "activation"),
        ({"spectrum": ((2.0, 0.5), (1.0, 0.5))}, "spectrum"),
        ({"spectrum": ((1.5, 0.5), (0.5, 0.4))}, "spectrum"),
        ({"spectrum": ((2.0, 1.0), (1.0, -1.0), (1.0, 1.0))}, "spectrum"),
        ({"spectrum": "flat"}, "spectrum"),
        ({"A": [[0.6, 0.5], [0.4, 0.6]]}, "A"),
        ({"A": [[1.2, -0.2], [0.4, 0.6]]}, "A"),
        ({"A": [[0.6, 0.4]]}, "A"),
        ({"L": 3}, "A"),
        ({"covariance": [[0.25, 0.0, 0.0], [0.0, 0.25, 0.0]]}, "covariance"),
        ({"covariance": [[0.25, 0.3], [0.3, 0.25]]}, "covariance"),
        ({"covariance": [[0.25, 0.1], [0.0, 0.25]]}, "covariance"),
        ({"covariance": [[1.0, 0.0], [0.0, 1.0]]}, "sigma"),
        ({"encodings_gram": [[1.0, 2.0], [2.0, 1.0]]}, "encodings_gram"),
        ({"encodings_gram": [[1.0, "a"], ["a", 1.0]]}, "encodings_gram"),
    ],
)
def test_bad_arguments_are_named_in_one_line(changes, name):
    with pytest.raises(ValueError, match=f"^{name}: .*allowed") as refusal:
        TeacherStudent(**{"omega": 0.3, **changes})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("gram", [[[1, -1], [-1, 1]], np.eye(2), [[1, 0.5], [0.5, 2]]])
def test_encoding_factor_reproduces_the_gram_matrix(gram):
    factor = encoding_factor(TeacherStudent(0.3, encodings_gram=gram))
    assert factor.shape[1] == np.linalg.matrix_rank(gram)
    np.testing.assert_allclose(factor @ factor.T, gram, atol=1e-12)


def test_encoding_factor_of_the_paper_gives_m_its_sign():
    np.testing.assert_allclose(encoding_factor(TeacherStudent(0.3)), [[1.0], [-1.0]])
