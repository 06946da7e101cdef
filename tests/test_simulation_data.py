"""The data set: law of the tokens, keys of the draws, encodings."""

from dataclasses import replace

import numpy as np
import pytest

from solvable_attention.encodings import positional_encodings
from solvable_attention.simulation.data import draw_dataset, draw_tokens
from solvable_attention.task import TeacherStudent

TASK = TeacherStudent(omega=0.3)
A3 = ((0.6, 0.2, 0.2),) * 3


def drawn(task=TASK, *, d=20, alpha=2.0, seed=0, **more):
    return draw_dataset(task, d=d, alpha=alpha, seed=seed, **more)


def test_default_encodings_are_opposite_and_of_norm_one():
    p = positional_encodings(TASK, 7)
    np.testing.assert_array_equal(p, [np.full(7, 1 / np.sqrt(7)), np.full(7, -1 / np.sqrt(7))])


@pytest.mark.parametrize("gram", [np.eye(3), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0]], np.ones((3, 3)), np.zeros((3, 3))])
def test_encodings_have_their_gram_matrix(gram):
    task = TeacherStudent(omega=0.3, L=3, A=A3, encodings_gram=gram)
    p = positional_encodings(task, 9)
    np.testing.assert_allclose(p @ p.T, gram, atol=1e-12)


def test_encodings_of_too_large_rank_are_refused():
    with pytest.raises(ValueError, match="d: is 2, allowed with encodings of rank 3 is a whole number ≥ 3"):
        positional_encodings(TeacherStudent(omega=0.3, L=3, A=A3), 2)


@pytest.mark.parametrize("covariance", [((0.25, 0.0), (0.0, 0.25)), ((0.3, 0.1), (0.1, 0.2))])
def test_tokens_have_their_covariance(covariance):
    x = draw_tokens(replace(TASK, covariance=covariance), 4000, 50, np.random.default_rng(0)).astype(float)
    empirical = np.einsum("lnd,knd->lk", x, x) / (4000 * 50)
    np.testing.assert_allclose(empirical, covariance, atol=5 * 0.3 / np.sqrt(4000 * 50))
    assert abs(x.mean()) < 5 * 0.5 / np.sqrt(x.size)


def test_small_matrices_belong_to_the_stored_tokens():
    data = drawn()
    u = data.tokens.astype(float).transpose(1, 0, 2)
    x = u - data.encodings
    assert data.tokens.dtype == np.float32 and data.tokens.flags.c_contiguous
    np.testing.assert_allclose(data.gram_uu, u @ u.transpose(0, 2, 1) / 20, atol=1e-14)
    np.testing.assert_allclose(data.gram_xu, x @ u.transpose(0, 2, 1) / 20, atol=1e-14)
    np.testing.assert_allclose(data.gram_xx, x @ x.transpose(0, 2, 1) / 20, atol=1e-14)
    first = (x @ data.teacher_weights / np.sqrt(20))[..., 0]
    expected = 1 / (1 + np.exp(first[:, 0] * (first[:, 1] - first[:, 0])))
    np.testing.assert_allclose(data.teacher_attention[:, 0, 0], expected, atol=1e-12)


def test_same_key_same_data_and_every_part_of_the_key_counts():
    first, again = drawn(), drawn(replace(TASK, omega=0.1, lam=1.0, tied=False))
    np.testing.assert_array_equal(first.tokens, again.tokens)
    np.testing.assert_array_equal(first.teacher_weights, again.teacher_weights)
    others = [drawn(seed=1), drawn(alpha=2.1), drawn(root_seed=1), drawn(alpha=2.0 + 1e-9)]
    others.append(drawn(seed=2**32))
    for other in others:
        assert not np.isin(other.tokens.ravel()[:40], first.tokens).any()
        assert not np.isin(other.teacher_weights, first.teacher_weights).any()
    np.testing.assert_array_equal(drawn(alpha=0.3).tokens, drawn(alpha=0.1 + 0.2).tokens)


def test_draws_do_not_depend_on_the_size_of_a_block(monkeypatch):
    whole = drawn()
    monkeypatch.setattr("solvable_attention.simulation.data._BLOCK_ENTRIES", 120)
    np.testing.assert_array_equal(drawn().tokens, whole.tokens)


@pytest.mark.parametrize(("alpha", "n"), [(0.01, 1), (1.0, 20), (0.33, 7)])
def test_number_of_samples(alpha, n):
    assert drawn(alpha=alpha).n == n
