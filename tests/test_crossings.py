import numpy as np
import pytest

from solvable_attention.crossings import bootstrap_crossing, last_falling_zero

RNG = np.random.default_rng(0)


def test_zero_of_a_line_is_exact_and_curves_are_independent():
    alphas = np.linspace(0, 2, 9)
    curves = np.stack([1.05 - alphas, 0.3 - alphas, 5 - alphas, -1 - alphas])
    np.testing.assert_allclose(last_falling_zero(alphas, curves), [1.05, 0.3, np.nan, np.nan])


def test_the_last_of_several_zeros_counts():
    assert 4 < last_falling_zero(np.arange(7.0), np.array([1, -1, 1, 1, 1, -1, -2.0])) < 5


def test_a_curve_that_rises_again_has_no_crossing():
    assert np.isnan(last_falling_zero(np.arange(3.0), np.array([1.0, -1.0, 1.0])))


@pytest.mark.parametrize("samples", [3, 12])
def test_bootstrap_error_is_the_scatter_of_repeated_experiments(samples):
    alphas, slope, noise = np.linspace(0.5, 1.5, 5), 2.0, 0.05

    def experiment():
        return [slope * (1 - a) + noise * RNG.standard_normal(samples) for a in alphas]

    found = [bootstrap_crossing(alphas, experiment(), 200, RNG) for _ in range(1000)]
    scatter = np.std([f.alpha for f in found])
    # The mean square is unbiased; without the factor √(n/(n−1)) it would be a third too small for three samples.
    assert np.mean([f.error**2 for f in found]) ** 0.5 == pytest.approx(scatter, rel=0.08)
    assert abs(np.mean([f.alpha for f in found]) - 1) < 4 * scatter / 1000**0.5


def test_no_crossing_and_a_doubtful_one_have_no_error():
    alphas = np.arange(3.0)
    absent = bootstrap_crossing(alphas, [np.full(4, 3.0), np.full(4, 2.0), np.full(4, 1.0)], 50, RNG)
    assert np.isnan(absent.alpha) and np.isnan(absent.error) and absent.share == 0
    doubtful = [np.full(5, 2.0), np.full(5, 1.0), np.array([-5.0, -1.0, 1.0, 2.0, 2.9])]
    found = bootstrap_crossing(alphas, doubtful, 400, RNG)
    assert np.isfinite(found.alpha) and 0.1 < found.share < 0.9 and np.isnan(found.error)
