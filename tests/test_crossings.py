import numpy as np
import pytest

from solvable_attention.crossings import last_crossing


def test_crossing_of_a_smooth_curve_lies_within_its_error():
    alphas = np.linspace(0.5, 2, 16)
    found = last_crossing(alphas, 1 / alphas - 0.8, np.full(16, 1e-6))
    assert abs(found.alpha - 1.25) <= found.error < 2e-3


def test_error_of_the_values_moves_the_crossing():
    alphas = np.linspace(0, 2, 21)
    assert last_crossing(alphas, 1.05 - alphas, np.full(21, 1e-2)).error == pytest.approx(1e-2, rel=1e-3)


def test_last_of_several_crossings_and_gaps():
    alphas = np.arange(7.0)
    values = np.array([1, -1, 1, np.nan, 1, -1, -2.0])
    assert 4 < last_crossing(alphas, values, np.zeros(7)).alpha < 5


def test_no_crossing_is_a_value():
    found = last_crossing(np.arange(3.0), np.array([3.0, 2, 1]), np.zeros(3))
    assert np.isnan(found.alpha) and np.isnan(found.error)
