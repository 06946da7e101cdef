"""Products of a large matrix with a few vectors, which read the matrix once.

BLAS is made for many columns. With two to a dozen, its matrix–matrix product works at a fraction of its speed, and one
matrix–vector product per column reads the matrix from memory once per column. Here a few rows stay in a near cache
while every column takes its turn. Threads share blocks of rows; the results do not depend on their number.
"""

from __future__ import annotations

import numba
import numpy as np

# The sums may be taken in any order; unlike fastmath=True this keeps NaN and infinity as they are.
_ANY_ORDER = {"reassoc", "contract"}
# Sums over more rows than these are taken block by block, which keeps their rounding as small as BLAS does.
_ROWS_PER_BLOCK = 512


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fields(X, Q, scale, out):
    """out = scale · X Qᵀ for X (rows, d), Q (columns, d) and out (rows, columns), all float32, C-contiguous."""
    for block in numba.prange(_blocks(len(X))):
        rows = slice(block * _ROWS_PER_BLOCK, min((block + 1) * _ROWS_PER_BLOCK, len(X)))
        _fields(X[rows], Q, scale, out[rows])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def add_gradient(X, R, scale, out):
    """out += scale · Rᵀ X for X (rows, d), R (rows, columns) and out (columns, d), all float32, C-contiguous."""
    sums = np.empty((_blocks(len(X)), out.shape[0], out.shape[1]), dtype=np.float32)
    for block in numba.prange(_blocks(len(X))):
        rows = slice(block * _ROWS_PER_BLOCK, min((block + 1) * _ROWS_PER_BLOCK, len(X)))
        _gradient(X[rows], R[rows], sums[block])
    _add(sums, scale, out)


@numba.njit(error_model="numpy")
def _blocks(rows):
    return -(-rows // _ROWS_PER_BLOCK)


@numba.njit(fastmath=_ANY_ORDER, cache=True, error_model="numpy")
def _fields(X, Q, scale, out):
    # Four rows by two columns: each of the six values read from cache is used at least twice.
    rows, d = X.shape
    columns = len(Q)
    for i in range(0, rows - rows % 4, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for j in range(0, columns - columns % 2, 2):
            q, r = Q[j], Q[j + 1]
            q0 = q1 = q2 = q3 = r0 = r1 = r2 = r3 = np.float32(0)
            for k in range(d):
                u, v = q[k], r[k]
                q0, q1, q2, q3 = q0 + x0[k] * u, q1 + x1[k] * u, q2 + x2[k] * u, q3 + x3[k] * u
                r0, r1, r2, r3 = r0 + x0[k] * v, r1 + x1[k] * v, r2 + x2[k] * v, r3 + x3[k] * v
            out[i, j], out[i, j + 1] = scale * q0, scale * r0
            out[i + 1, j], out[i + 1, j + 1] = scale * q1, scale * r1
            out[i + 2, j], out[i + 2, j + 1] = scale * q2, scale * r2
            out[i + 3, j], out[i + 3, j + 1] = scale * q3, scale * r3
    _plain_fields(X, Q, scale, out, 0, rows - rows % 4, columns - columns % 2)
    _plain_fields(X, Q, scale, out, rows - rows % 4, rows, 0)


@numba.njit(fastmath=_ANY_ORDER, cache=True, error_model="numpy")
def _plain_fields(X, Q, scale, out, first_row, last_row, first_column):
    """What the tiles leave over."""
    for i in range(first_row, last_row):
        for j in range(first_column, len(Q)):
            x, q = X[i], Q[j]
            total = np.float32(0)
            for k in range(X.shape[1]):
                total += x[k] * q[k]
            out[i, j] = scale * total


@numba.njit(fastmath=_ANY_ORDER, cache=True, error_model="numpy")
def _gradient(X, R, out):
    # Eight rows at a time, so that a sum is read and written once for eight.
    rows, d = X.shape
    out[:] = 0
    for i in range(0, rows - rows % 8, 8):
        x0, x1, x2, x3, x4, x5, x6, x7 = X[i], X[i + 1], X[i + 2], X[i + 3], X[i + 4], X[i + 5], X[i + 6], X[i + 7]
        for j in range(len(out)):
            r0, r1, r2, r3 = R[i, j], R[i + 1, j], R[i + 2, j], R[i + 3, j]
            r4, r5, r6, r7 = R[i + 4, j], R[i + 5, j], R[i + 6, j], R[i + 7, j]
            total = out[j]
            for k in range(d):
                total[k] += (
                    r0 * x0[k] + r1 * x1[k] + r2 * x2[k] + r3 * x3[k]
                    + r4 * x4[k] + r5 * x5[k] + r6 * x6[k] + r7 * x7[k]
                )  # fmt: skip
    for i in range(rows - rows % 8, rows):
        for j in range(len(out)):
            x, total, r0 = X[i], out[j], R[i, j]
            for k in range(d):
                total[k] += r0 * x[k]


@numba.njit(cache=True, error_model="numpy")
def _add(sums, scale, out):
    for j in range(len(out)):
        for k in range(out.shape[1]):
            total = np.float32(0)
            for block in range(len(sums)):
                total += sums[block, j, k]
            out[j, k] += scale * total
