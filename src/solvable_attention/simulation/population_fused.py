"""The Gaussian integral of `population` for L = 2 and ranks 1, tied: all runs and nodes in one compiled loop.

With δ = x_1 − x_2, π = p_1 − p_2, s_ℓ = S_ℓℓ and t_ℓ = T_ℓℓ,

    y_1 − f_1 =  (t_1 − s_1) δ − p_2 − s_1 π,       y_2 − f_2 = −(t_2 − s_2) δ − p_1 + s_2 π,

so a node needs s, t, E[‖δ‖² | ξ] and E[δ | ξ]·p_ℓ only.
"""

from __future__ import annotations

import numba
import numpy as np


def two_token_errors(tasks, xi, weights, student, teacher, encodings, d) -> np.ndarray:
    """ε_g (runs,) from ξ (N, 2, 2) and coordinates: student, teacher (runs, 2), encodings (runs, 2, 2)."""
    C, P = tasks[0].C, tasks[0].P
    rest = (d - 2) * (C[0, 0] + C[1, 1] - 2 * C[0, 1])
    targets = np.array([(1 - t.omega, t.omega * t.A[0][0], t.omega * t.A[1][1]) for t in tasks])
    fields = np.ascontiguousarray(encodings @ student[:, :, None])[:, :, 0]
    totals = _totals(xi, weights, student, teacher, encodings, fields, targets, rest, P)
    return totals / (2 * d)


@numba.njit(inline="always")
def _sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


@numba.njit(cache=True, error_model="numpy")
def _totals(xi, weights, student, teacher, encodings, fields, targets, rest, P):
    runs, count = student.shape[0], xi.shape[0]
    totals = np.zeros(runs)
    norm = P[0, 0] + P[1, 1] - 2 * P[0, 1]
    for run in range(runs):
        total = 0.0
        for i in range(count):
            z1 = fields[run, 0] + xi[i, 0, 0] * student[run, 0] + xi[i, 0, 1] * student[run, 1]
            z2 = fields[run, 1] + xi[i, 1, 0] * student[run, 0] + xi[i, 1, 1] * student[run, 1]
            h1 = xi[i, 0, 0] * teacher[run, 0] + xi[i, 0, 1] * teacher[run, 1]
            h2 = xi[i, 1, 0] * teacher[run, 0] + xi[i, 1, 1] * teacher[run, 1]
            s1, s2 = _sigmoid(z1 * (z1 - z2)), _sigmoid(z2 * (z2 - z1))
            e1 = targets[run, 0] * _sigmoid(h1 * (h1 - h2)) + targets[run, 1] - s1
            e2 = targets[run, 0] * _sigmoid(h2 * (h2 - h1)) + targets[run, 2] - s2
            d0, d1 = xi[i, 0, 0] - xi[i, 1, 0], xi[i, 0, 1] - xi[i, 1, 1]
            along1 = d0 * encodings[run, 0, 0] + d1 * encodings[run, 0, 1]
            along2 = d0 * encodings[run, 1, 0] + d1 * encodings[run, 1, 1]
            value = (e1 * e1 + e2 * e2) * (d0 * d0 + d1 * d1 + rest)
            value -= 2 * e1 * (along2 + s1 * (along1 - along2))
            value += 2 * e2 * (along1 - s2 * (along1 - along2))
            value += P[1, 1] + 2 * s1 * (P[0, 1] - P[1, 1]) + s1 * s1 * norm
            value += P[0, 0] + 2 * s2 * (P[0, 1] - P[0, 0]) + s2 * s2 * norm
            total += weights[i] * value
        totals[run] = total
    return totals
