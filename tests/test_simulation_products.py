import numba
import numpy as np
import pytest
import torch

from solvable_attention.simulation import few_columns, products

ONE = np.float32(1)
COLUMNS = [1, 2, 3, 5, 12, 13]


def matrices(rows, d, columns, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(shape).astype(np.float32) for shape in ((rows, d), (columns, d), (rows, columns)))


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", [1, 7, 8, 3001])
def test_kernels_equal_the_products_in_double_precision(rows, columns):
    X, Q, R = matrices(rows, 101, columns)
    out = np.full((rows, columns), np.nan, dtype=np.float32)
    few_columns.fields(X, Q, ONE / 2, out)
    np.testing.assert_allclose(out, 0.5 * X.astype(float) @ Q.T, atol=2e-5)
    sums = Q.copy()
    few_columns.add_gradient(X, R, -ONE / 2, sums)
    np.testing.assert_allclose(sums, Q - 0.5 * R.T.astype(float) @ X, atol=2e-6 * rows**0.5 + 1e-6)


def test_results_do_not_depend_on_the_number_of_threads():
    X, Q, R = matrices(3001, 101, 3)
    results = []
    before = numba.get_num_threads()
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            fields, sums = np.empty_like(R), Q.copy()
            few_columns.fields(X, Q, ONE, fields)
            few_columns.add_gradient(X, R, ONE, sums)
            results.append(np.concatenate([fields, sums.T]))
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(*results)


def test_nan_stays_in_its_row_and_column():
    X, Q, R = matrices(40, 101, 3)
    X[5, 7] = np.nan
    fields = np.empty_like(R)
    few_columns.fields(X, Q, ONE, fields)
    assert np.isnan(fields[5]).all() and np.isfinite(np.delete(fields, 5, axis=0)).all()
    sums = Q.copy()
    few_columns.add_gradient(X, R, ONE, sums)
    assert np.isnan(sums[:, 7]).all() and np.isfinite(np.delete(sums, 7, axis=1)).all()


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", [20, 3001])
def test_results_do_not_depend_on_who_multiplies(rows, columns):
    X, Q, R = matrices(rows, 101, columns)
    shared = products.products_with(X, "cpu")
    np.testing.assert_allclose(shared.fields(torch.from_numpy(Q), 0.1).numpy(), 0.1 * X @ Q.T, atol=1e-5)
    target = torch.from_numpy(Q.copy())
    shared.add_gradient_(target, torch.from_numpy(R), 0.1)
    np.testing.assert_allclose(target.numpy(), Q + 0.1 * R.T @ X, atol=1e-4)
