import numpy as np
import pytest

from solvable_attention.encodings import cosine_vectors
from solvable_attention.simulation.data import draw_tokens
from solvable_attention.spectrum import eigenvalues, power_law, two_level
from solvable_attention.task import TeacherStudent


@pytest.mark.parametrize("spectrum", [two_level(9, 0.1), power_law(0.5), power_law(0.0, 4)])
def test_spectra_have_mean_one_and_are_accepted(spectrum):
    values, shares = np.array(spectrum).T
    assert shares.sum() == pytest.approx(1) and shares @ values == pytest.approx(1)
    assert TeacherStudent(0.3, spectrum=spectrum).levels == spectrum


def test_levels_are_as_asked_for():
    (high, share), (low, _) = two_level(9, 0.1)
    assert share == 0.1 and high / low == pytest.approx(9)
    # ∫ of (1−a)u^−a over the first of four quarters, times four.
    assert power_law(0.5, 4)[0][0] == pytest.approx(4 * 0.25**0.5)


@pytest.mark.parametrize("d", [7, 500])
def test_coordinates_follow_the_spectrum_and_no_direction_knows(d):
    spectrum = two_level(4, 0.3)
    variances = eigenvalues(spectrum, d)
    assert variances.mean() == pytest.approx(1)
    assert abs(np.mean(variances > 1) - 0.3) <= 0.5 / d + 1e-12
    if d > 100:
        for vector in cosine_vectors(4, d):
            assert vector**2 @ variances == pytest.approx(1, abs=0.02)


def test_tokens_have_the_covariance_that_is_stated():
    task = TeacherStudent(0.3, spectrum=two_level(9, 0.2), covariance=((0.25, 0.1), (0.1, 0.25)))
    d = 20
    x = draw_tokens(task, 20_000, d, np.random.default_rng(0)).astype(float)
    expected = task.C[:, :, None] * eigenvalues(task.levels, d)
    np.testing.assert_allclose(np.einsum("lni,kni->lki", x, x) / 20_000, expected, atol=0.02)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: two_level(0, 0.5), "ratio"),
        (lambda: two_level(2, 1.0), "share"),
        (lambda: power_law(1.0), "exponent"),
        (lambda: power_law(0.5, 0), "levels"),
    ],
)
def test_bad_arguments_are_named(make, name):
    with pytest.raises(ValueError, match=f"^{name}: is .*allowed"):
        make()
