"""The proximal operator of one sample's loss, compiled: global minimum over the wells, by Newton's method."""

from __future__ import annotations

import itertools
from math import sqrt

import numba
import numpy as np

from solvable_attention import sample_loss as sample_loss_module
from solvable_attention.kernel_cache import source_digest
from solvable_attention.numba_threads import follow_omp_num_threads
from solvable_attention.sample_loss import sample_derivatives, sample_loss, student_of, workspace
from solvable_attention.task import TeacherStudent

_NEWTON_STEPS = 100
_HALVINGS = 40
# Newton's error is squared by the step: a squared length of 1e-14 leaves 1e-14.
_SHORTEST_STEP = 1e-14
# Distance from the token mean of a start that has to lie inside a well, in units of a field.
_WELL_DISTANCE = 0.4 * sqrt(2)


def global_prox(task: TeacherStudent, w: np.ndarray, V: np.ndarray, target: np.ndarray):
    """argmin_z ½(z−w)ᵀV⁻¹(z−w) + ℓ(z, target) and its value, for w (N, L, c), V (Lc, Lc), target T (N, L, L).

    The energy has several wells: tokens can exchange their places. Newton starts from w and from w with its tokens
    permuted, pushed away from their mean so that each start lies inside a well; the lowest minimum is kept.
    Returns z (N, L, c) and energies (N,); an energy is NaN where no start converged.
    """
    follow_omp_num_threads()
    precision = np.linalg.inv(V)
    return _prox_batch(np.ascontiguousarray(w), precision, target, task.C, student_of(task), token_orders(task.L))


def token_orders(L: int) -> np.ndarray:
    """Orders of the tokens from which minima are sought: all permutations up to L = 3, above it single exchanges."""
    if L <= 3:
        return np.array(list(itertools.permutations(range(L))))
    orders = [np.arange(L)]
    for i, j in itertools.combinations(range(L), 2):
        order = np.arange(L)
        order[[i, j]] = j, i
        orders.append(order)
    return np.array(orders)


@numba.njit(error_model="numpy")
def newton_arrays(L, c):
    """What a thread reuses in `lowest_minimum`: gradient, direction, factor of the Hessian, a trial point, a start."""
    D = L * c
    return np.empty(D), np.empty(D), np.empty((D, D)), np.empty((L, c)), np.empty((L, c))


@numba.njit(error_model="numpy")
def lowest_minimum(z, w, precision, target, C, student, orders, work, newton):
    """Global minimiser into z (L, c); returns its energy, NaN where no start converged."""
    L, c = w.shape
    attending = c - student.outputs
    found = newton[4]
    z[:] = w
    lowest = _local_minimum(z, w, precision, target, C, student, work, newton)
    if np.isnan(lowest):
        lowest = np.inf
    stretch = _stretch(w, attending)
    for order in orders:
        for a in range(c):
            mean = 0.0
            for i in range(L):
                mean += w[i, a] / L
            for i in range(L):
                found[i, a] = mean + stretch * (w[order[i], a] - mean) if a < attending else w[i, a]
        energy = _local_minimum(found, w, precision, target, C, student, work, newton)
        if energy < lowest:
            lowest = energy
            z[:] = found
    return lowest if lowest < np.inf else np.nan


@numba.njit(error_model="numpy")
def _stretch(w, columns):
    """Factor that brings the tokens' distance from their mean to that of a well."""
    spread = 0.0
    for a in range(columns):
        mean = np.mean(w[:, a])
        for i in range(len(w)):
            spread += (w[i, a] - mean) ** 2
    spread = sqrt(spread)
    return max(spread, _WELL_DISTANCE) / max(spread, 1e-12)


@numba.njit(error_model="numpy")
def _quadratic(z, w, precision):
    """½(z−w)ᵀV⁻¹(z−w)."""
    L, c = w.shape
    total = 0.0
    for i in range(L):
        for a in range(c):
            for j in range(L):
                for b in range(c):
                    total += (z[i, a] - w[i, a]) * precision[i * c + a, j * c + b] * (z[j, b] - w[j, b])
    return 0.5 * total


@numba.njit(error_model="numpy")
def _local_minimum(z, w, precision, target, C, student, work, newton):
    """Moves z to a minimum by damped Newton, by Gauss–Newton where the Hessian is not positive; energy or NaN."""
    L, c = w.shape
    gradient, direction, factor, trial = newton[0], newton[1], newton[2], newton[3]
    energy = _quadratic(z, w, precision) + sample_loss(z, target, C, student, work)
    for _ in range(_NEWTON_STEPS):
        whole = True
        while True:
            sample_derivatives(z, student, whole, work, gradient, factor)
            factor += precision
            if _cholesky(factor):
                break
            if not whole:
                return np.nan
            whole = False
        for p in range(L * c):
            for j in range(L):
                for b in range(c):
                    gradient[p] += precision[p, j * c + b] * (z[j, b] - w[j, b])
        _solve(factor, gradient, direction)
        slope, length = 0.0, 0.0
        for p in range(L * c):
            slope += gradient[p] * direction[p]
            length += direction[p] ** 2
        step, moved = 1.0, False
        for _ in range(_HALVINGS):
            for i in range(L):
                for a in range(c):
                    trial[i, a] = z[i, a] + step * direction[i * c + a]
            value = _quadratic(trial, w, precision) + sample_loss(trial, target, C, student, work)
            if value <= energy + 1e-4 * step * slope + 1e-15:
                moved = True
                break
            step *= 0.5
        if not moved:
            # No visible decrease is left: a minimum if Newton promises none either.
            return energy if slope > -1e-13 else np.nan
        z[:] = trial
        energy = value
        if length < _SHORTEST_STEP:
            return energy
    return np.nan


@numba.njit(error_model="numpy")
def _cholesky(matrix):
    """Lower Cholesky factor in place; False where the matrix is not safely positive definite."""
    size = len(matrix)
    for j in range(size):
        least = 1e-9 * abs(matrix[j, j])
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] ** 2
        if not pivot > least:
            return False
        root = sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, size):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = value / root
    return True


@numba.njit(error_model="numpy")
def _solve(factor, gradient, direction):
    """direction = −(factor factorᵀ)⁻¹ gradient."""
    size = len(gradient)
    for i in range(size):
        value = -gradient[i]
        for k in range(i):
            value -= factor[i, k] * direction[k]
        direction[i] = value / factor[i, i]
    for i in range(size - 1, -1, -1):
        value = direction[i]
        for k in range(i + 1, size):
            value -= factor[k, i] * direction[k]
        direction[i] = value / factor[i, i]


def _compiled_prox_batch(called: int):
    """The loop over samples; called : digest of the file that it calls into, see `kernel_cache`."""

    @numba.njit(parallel=True, cache=True, error_model="numpy")
    def prox_batch(w, precision, target, C, student, orders):
        n, L, c = w.shape
        z, energies = np.empty((n, L, c)), np.empty(n)
        if called < 0:  # never: the mention is what makes it part of the key
            return z, energies
        for i in numba.prange(n):
            work, newton = workspace(student), newton_arrays(L, c)
            energies[i] = lowest_minimum(z[i], w[i], precision, target[i], C, student, orders, work, newton)
        return z, energies

    return prox_batch


_prox_batch = _compiled_prox_batch(source_digest(sample_loss_module))
