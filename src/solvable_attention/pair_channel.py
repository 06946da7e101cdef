"""Compiled channel averages for two tokens and one column: L=2, r=r⋆=1, tied, C=σ²I, p_1=−p_2.

Only two numbers of each attention matrix matter, a(z) = sigmoid(z_1(z_1−z_2)) and b(z) = sigmoid(z_2(z_2−z_1)), and
the energy of the proximal operator is |z−w|²/(2V) + σ²[(a−t_1)² + (b−t_2)²] with t_1 = (1−ω)a(h⋆) + ωA_11,
t_2 = (1−ω)b(h⋆) + ωA_22. Its minima (z_1, z_2) and −(z_1, z_2) of the loss make two wells, one on either side of
z_1 = z_2; the equations are defined by the global minimum.

No fastmath: it would remove the NaN checks.
"""

from __future__ import annotations

from math import exp, sqrt

import numba
import numpy as np
from scipy.special import roots_legendre

from solvable_attention.errors import ArgumentError
from solvable_attention.numba_threads import follow_omp_num_threads
from solvable_attention.overlaps import ChannelMoments, Overlaps
from solvable_attention.quadrature import GaussianRule, SplitRule
from solvable_attention.task import TeacherStudent

# The field along z_1 − z_2 is cut at ±_CUT standard deviations (2e-9 of the weight lies outside).
_CUT = 6.0
# Gauss–Legendre nodes and weights on [0, 1] for each panel. A number of nodes that followed the panel's length would
# make the map jump by the rule's error whenever it changed.
_PANEL = tuple(x.copy() for x in (0.5 * (roots_legendre(16)[0] + 1.0), 0.5 * roots_legendre(16)[1]))
# Above this σ²V there are more than two wells: every node is minimised from several starts. Below it a node that
# follows its neighbour stays in the lowest one (seen: all but 1e-7 of the weight up to σ²V = 7).
_STRONG = 8.0
# A single node may miss the lowest of several wells from the two usual starts well before that.
_SEVERAL = 1.0
# A minimum this far from where its neighbours point to lies in another well.
_JUMP = 0.2
_SQRT_HALF = sqrt(0.5)
_NORMAL_DENSITY = 1.0 / sqrt(2.0 * np.pi)
# Columns of the per-node sums, see _accumulate.
_SUMS = 9


def pair_moments(task: TeacherStudent, overlaps: Overlaps, rule: GaussianRule | SplitRule) -> ChannelMoments:
    """Channel averages of the paper's case, by a plain rule over (η_1, η_2, ξ_1, ξ_2) or a split rule.

    The fields are h⋆ = σ η and w_ℓ = ±m + t h⋆_ℓ + σ √R ξ_ℓ. Derivatives with respect to the fields are taken by
    Stein's lemma, which stays right where the proximal operator jumps.
    Raises ArgumentError for a half-space rule where m and θ both differ from zero.
    """
    if isinstance(rule, SplitRule) and rule.half_space and np.any(overlaps.mu) and np.any(overlaps.t):
        raise ArgumentError("rule: covers a half space, allowed where m and θ both differ from zero is a full rule")
    field, teacher = _fields_and_teacher(task, overlaps)
    _, t, spread, _ = field
    follow_omp_num_threads()
    if isinstance(rule, SplitRule):
        sums = rule.outer.mean(_split_sums(rule.outer.nodes, *_PANEL, field, teacher))
    else:
        sums = rule.mean(_plain_sums(rule.nodes, field, teacher))
    g_difference, g_squared, g_noise, g_teacher, moreau, loss, student_loss, g_places, g_along_teacher = sums
    dg_dw = g_noise / spread
    v_hat = -task.rho * dg_dw
    t_hat = task.rho * (g_teacher / task.sigma - dg_dw * t)
    return ChannelMoments(
        *(np.array([[x]]) for x in (g_difference, task.rho * g_squared, v_hat, t_hat)),
        moreau=float(moreau),
        loss=float(loss),
        test_error=float(student_loss),
        response_m=float(g_places / spread),
        response_theta=float(task.rho * (g_along_teacher - g_noise) / spread),
    )


def pair_two_well_weight(task: TeacherStudent, overlaps: Overlaps, rule: GaussianRule) -> float:
    """Weight of the draws of a plain rule whose proximal energy has two minima, one on each side of z_1 = z_2."""
    return float(rule.mean(_two_wells(rule.nodes, *_fields_and_teacher(task, overlaps))))


def _fields_and_teacher(task, overlaps):
    """(m, t, standard deviation of the noise, V) and (σ, ω, A_11, A_22), as the compiled loops take them."""
    t, mu, chi = (float(x[0, 0]) for x in (overlaps.t, overlaps.mu, overlaps.chi))
    spread = sqrt(max(float(overlaps.residual_covariance[0, 0]), 1e-300)) * task.sigma
    return (mu, t, spread, task.rho * chi), (task.sigma, task.omega, task.A[0][0], task.A[1][1])


def pair_prox(w, V: float, targets, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Global minimisers z (N, 2) and energies (N,) for fields w (N, 2) and targets (t_1, t_2) (N, 2)."""
    return _prox_batch(np.ascontiguousarray(w, float), float(V), np.ascontiguousarray(targets, float), float(rho))


@numba.njit(inline="always", error_model="numpy")
def _sigmoid(x):
    return 1.0 / (1.0 + exp(-x))


@numba.njit(inline="always", error_model="numpy")
def _attention(z1, z2):
    return _sigmoid(z1 * (z1 - z2)), _sigmoid(z2 * (z2 - z1))


@numba.njit(inline="always", error_model="numpy")
def _targets(h1, h2, omega, A11, A22):
    a, b = _attention(h1, h2)
    return (1.0 - omega) * a + omega * A11, (1.0 - omega) * b + omega * A22


@numba.njit(inline="always", error_model="numpy")
def _energy(z1, z2, w1, w2, precision, rho, t1, t2):
    a, b = _attention(z1, z2)
    quadratic = 0.5 * precision * ((z1 - w1) ** 2 + (z2 - w2) ** 2)
    return a, b, quadratic + rho * ((a - t1) ** 2 + (b - t2) ** 2)


@numba.njit(inline="always", error_model="numpy")
def _newton_step(z1, z2, a, b, w1, w2, precision, rho, t1, t2):
    """Newton direction, made a descent direction by a shift where the Hessian is not positive, and its slope."""
    slope_a, slope_b = a * (1.0 - a), b * (1.0 - b)
    pa, pb = 2.0 * rho * (a - t1) * slope_a, 2.0 * rho * (b - t2) * slope_b
    qa = 2.0 * rho * slope_a * (slope_a + (a - t1) * (1.0 - 2.0 * a))
    qb = 2.0 * rho * slope_b * (slope_b + (b - t2) * (1.0 - 2.0 * b))
    u1, u2, v1, v2 = 2.0 * z1 - z2, -z1, -z2, 2.0 * z2 - z1
    g1 = precision * (z1 - w1) + pa * u1 + pb * v1
    g2 = precision * (z2 - w2) + pa * u2 + pb * v2
    h11 = precision + qa * u1 * u1 + qb * v1 * v1 + 2.0 * pa
    h12 = qa * u1 * u2 + qb * v1 * v2 - pa - pb
    h22 = precision + qa * u2 * u2 + qb * v2 * v2 + 2.0 * pb
    least = 1e-3 * precision
    if h11 < least or (h11 - least) * (h22 - least) < h12 * h12:
        # The lower eigenvalue is replaced by its modulus: a larger shift would crawl through flat places.
        smallest = 0.5 * (h11 + h22) - sqrt(0.25 * (h11 - h22) ** 2 + h12 * h12)
        shift = max(-smallest, least) - smallest
        h11, h22 = h11 + shift, h22 + shift
    det = h11 * h22 - h12 * h12
    d1, d2 = (h12 * g2 - h22 * g1) / det, (h12 * g1 - h11 * g2) / det
    return d1, d2, g1 * d1 + g2 * d2


@numba.njit(error_model="numpy")
def _minimise(z1, z2, w1, w2, precision, rho, t1, t2):
    """Local minimum reached from (z1, z2) by damped Newton; a NaN energy marks a failure."""
    a, b, energy = _energy(z1, z2, w1, w2, precision, rho, t1, t2)
    for _ in range(100):
        d1, d2, slope = _newton_step(z1, z2, a, b, w1, w2, precision, rho, t1, t2)
        step, accepted = 1.0, False
        for _ in range(40):
            y1, y2 = z1 + step * d1, z2 + step * d2
            a, b, trial = _energy(y1, y2, w1, w2, precision, rho, t1, t2)
            if trial <= energy + 1e-4 * step * slope + 1e-15:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            # No visible decrease is left: a minimum if Newton promises none either.
            return z1, z2, energy if -slope < 1e-13 else np.nan
        z1, z2, energy = y1, y2, trial
        # Newton's error is squared by the step: one of 1e-5 leaves 1e-10.
        if d1 * d1 + d2 * d2 < 1e-10:
            return z1, z2, energy
    return z1, z2, np.nan


@numba.njit(inline="always", error_model="numpy")
def _from_side(side, mean, half_difference, w1, w2, precision, rho, t1, t2):
    """Local minimum from a start on the given side (±1) of z_1 = z_2, at least .05 away from the ridge."""
    d = side * max(side * half_difference, 0.05)
    return _minimise(mean + d, mean - d, w1, w2, precision, rho, t1, t2)


@numba.njit(inline="always", error_model="numpy")
def _well(t1, t2):
    """Mean and half-difference of the zero of the loss with z_1 > z_2: 2d² ± 2ds = logit t_{1,2}."""
    logit1, logit2 = np.log(t1 / (1.0 - t1)), np.log(t2 / (1.0 - t2))
    d = sqrt(max(0.25 * (logit1 + logit2), 0.01))
    return (logit1 - logit2) / (4.0 * d), d


@numba.njit(error_model="numpy")
def _global_minimum(w1, w2, precision, rho, t1, t2):
    """Lowest minimum, and whether the two sides of z_1 = z_2 hold one each.

    Starts on both sides of z_1 = z_2; unless V is small also at the two zeros of the loss and at the field itself. A
    grid of 169 starts finds nothing lower in 16 384 draws up to σ²V = 125 at σ = ½, and for fields that are wide too
    (σ = 1, σ²V = 150) 5e-4 of the energy (benchmarks/calibration.py).
    """
    mean, distance = 0.5 * (w1 + w2), max(0.5 * abs(w1 - w2), 0.4)
    z1, z2, lowest = _from_side(1.0, mean, distance, w1, w2, precision, rho, t1, t2)
    y1, y2, energy = _from_side(-1.0, mean, -distance, w1, w2, precision, rho, t1, t2)
    two_wells = (z1 - z2) * (y1 - y2) < 0.0
    # A comparison with NaN is false: a NaN that comes first stays.
    if energy < lowest or energy != energy:
        z1, z2, lowest = y1, y2, energy
    if rho > _SEVERAL * precision:
        s, d = _well(t1, t2)
        for start1, start2 in ((s + d, s - d), (-s - d, -s + d), (w1, w2)):
            y1, y2, energy = _minimise(start1, start2, w1, w2, precision, rho, t1, t2)
            if energy < lowest or energy != energy:
                z1, z2, lowest = y1, y2, energy
    return z1, z2, lowest, two_wells


@numba.njit(error_model="numpy")
def _accumulate(sums, weight, w1, w2, z1, z2, energy, eta1, eta2, xi1, xi2, precision, rho, t1, t2):
    g1, g2 = precision * (z1 - w1), precision * (z2 - w2)
    squared = g1 * g1 + g2 * g2
    a, b = _attention(w1, w2)
    sums[0] += weight * (g1 - g2)
    sums[1] += weight * squared
    sums[2] += weight * (g1 * xi1 + g2 * xi2)
    sums[3] += weight * (g1 * eta1 + g2 * eta2)
    sums[4] += weight * energy
    sums[5] += weight * (energy - 0.5 * squared / precision)
    sums[6] += weight * rho * ((a - t1) ** 2 + (b - t2) ** 2)
    sums[7] += weight * (g1 - g2) * (xi1 - xi2)
    sums[8] += weight * (g1 * eta1 + g2 * eta2) * (eta1 * xi1 + eta2 * xi2)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _plain_sums(nodes, field, teacher):
    mu, t, spread, V = field
    sigma, omega, A11, A22 = teacher
    sums = np.zeros((nodes.shape[1], _SUMS))
    for i in numba.prange(nodes.shape[1]):
        eta1, eta2, xi1, xi2 = nodes[0, i], nodes[1, i], nodes[2, i], nodes[3, i]
        t1, t2 = _targets(sigma * eta1, sigma * eta2, omega, A11, A22)
        w1 = mu + t * sigma * eta1 + spread * xi1
        w2 = -mu + t * sigma * eta2 + spread * xi2
        z1, z2, energy, _ = _global_minimum(w1, w2, 1.0 / V, sigma**2, t1, t2)
        _accumulate(sums[i], 1.0, w1, w2, z1, z2, energy, eta1, eta2, xi1, xi2, 1.0 / V, sigma**2, t1, t2)
    return sums


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _two_wells(nodes, field, teacher):
    mu, t, spread, V = field
    sigma, omega, A11, A22 = teacher
    flags = np.zeros(nodes.shape[1])
    for i in numba.prange(nodes.shape[1]):
        h1, h2 = sigma * nodes[0, i], sigma * nodes[1, i]
        t1, t2 = _targets(h1, h2, omega, A11, A22)
        w1, w2 = mu + t * h1 + spread * nodes[2, i], -mu + t * h2 + spread * nodes[3, i]
        flags[i] = _global_minimum(w1, w2, 1.0 / V, sigma**2, t1, t2)[3]
    return flags


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _prox_batch(w, V, targets, rho):
    z, energy = np.empty_like(w), np.empty(w.shape[0])
    for i in numba.prange(w.shape[0]):
        t1, t2 = targets[i, 0], targets[i, 1]
        z[i, 0], z[i, 1], energy[i], _ = _global_minimum(w[i, 0], w[i, 1], 1.0 / V, rho, t1, t2)
    return z, energy


@numba.njit(error_model="numpy")
def _single_well_split(mean_field, precision, rho, t1, t2):
    """Field w_d at which z = (w̄, w̄) is stationary, and whether it is the global minimum there.

    On the ridge a = b = ½ and ∇E = 0 gives w_d = ρV w̄ (t_2 − t_1)/2: where the prox crosses z_1 = z_2 continuously it
    does so here. In s = (z_1+z_2)/2 and d = (z_1−z_2)/2 the Hessian is E_ss = 2/V, E_sd = ρ(t_2 − t_1) and
    E_dd = 2/V + ρ(2 − 2t_1 − 2t_2 + s²).
    """
    w_d = 0.5 * rho * mean_field * (t2 - t1) / precision
    coupling, curvature = rho * (t2 - t1), 2.0 * precision + rho * (2.0 - 2.0 * t1 - 2.0 * t2 + mean_field * mean_field)
    if 2.0 * precision * curvature <= coupling * coupling:
        return w_d, False
    w1, w2 = mean_field + w_d, mean_field - w_d
    _, _, ridge = _energy(mean_field, mean_field, w1, w2, precision, rho, t1, t2)
    well_s, well_d = _well(t1, t2)
    for side in (1.0, -1.0):
        _, _, energy = _from_side(side, side * well_s, side * well_d, w1, w2, precision, rho, t1, t2)
        if not energy > ridge - 1e-12:
            return w_d, False
    return w_d, True


@numba.njit(error_model="numpy")
def _find_split(mean_field, precision, rho, t1, t2):
    """Half-difference field w_d at which the global minimiser crosses z_1 = z_2, and the minima on its two sides.

    With E_± the lowest energies on the two sides, D(w_d) = E_+ − E_− falls with w_d at the rate
    −2(z_d^+ − z_d^−)/V, so that its only zero is found by Newton where there are two wells. Solved sharply: the map has
    to be smooth in the state.
    """
    w_d, single = _single_well_split(mean_field, precision, rho, t1, t2)
    if single:
        return w_d, mean_field, mean_field, mean_field, mean_field
    low, high, w_d, step = -1e9, 1e9, 0.0, 0.2
    well_s, well_d = _well(t1, t2)
    p1, p2, n1, n2 = mean_field + 0.6, mean_field - 0.6, mean_field - 0.6, mean_field + 0.6
    last_w, last_z = np.nan, np.nan
    for _ in range(60):
        w1, w2 = mean_field + w_d, mean_field - w_d
        y1, y2, plus = _from_side(1.0, 0.5 * (p1 + p2), 0.5 * (p1 - p2), w1, w2, precision, rho, t1, t2)
        x1, x2, minus = _from_side(-1.0, 0.5 * (n1 + n2), 0.5 * (n1 - n2), w1, w2, precision, rho, t1, t2)
        # A side on which nothing was found may still hold a minimum near the zero of the loss.
        if y1 <= y2:
            y1, y2, plus = _from_side(1.0, well_s, well_d, w1, w2, precision, rho, t1, t2)
        if x1 >= x2:
            x1, x2, minus = _from_side(-1.0, -well_s, -well_d, w1, w2, precision, rho, t1, t2)
        y_d, x_d = 0.5 * (y1 - y2), 0.5 * (x1 - x2)
        if y_d > 0.0:
            p1, p2 = y1, y2
        if x_d < 0.0:
            n1, n2 = x1, x2
        z_d = y_d if plus < minus else x_d
        if z_d > 0.0:
            high = w_d
        else:
            low = w_d
        two_wells = y_d - x_d > 1e-6
        trial = np.nan
        if two_wells:
            trial = w_d + (plus - minus) / (2.0 * precision * (y_d - x_d))
        elif z_d != last_z:
            trial = w_d - z_d * (w_d - last_w) / (z_d - last_z)
        last_w, last_z = w_d, z_d
        if not low < trial < high:
            if low > -1e8 and high < 1e8:
                trial = 0.5 * (low + high)
            else:
                step *= 2.0
                trial = w_d - step if z_d > 0.0 else w_d + step
        moved, w_d = abs(trial - w_d), trial
        if moved < (1e-10 if two_wells else 1e-8) or abs(w_d) > 1e3:
            break
    return w_d, p1, p2, n1, n2


@numba.njit(error_model="numpy")
def _follow(z1, z2, energies, start, fields, nodes, precision, rho, t1, t2):
    """Lowest minima (z1, z2) and energies at w = w̄ ± (w_0 + length·node) on one side of the split, into the arrays.

    Outwards from the split each minimum starts from its neighbours', extrapolated, and stays in its well. Where that
    well ends and the minimum jumps to one farther out, the latter is followed back inwards while it is the lower one.
    """
    mean, origin, length = fields
    y1, y2 = start
    last1, last2, step1, step2 = y1, y2, 0.0, 0.0
    jumped = 0
    for j in range(nodes.size):
        w_d = origin + length * nodes[j]
        if j > 1:
            stretch = (nodes[j] - nodes[j - 1]) / (nodes[j - 1] - nodes[j - 2])
            step1, step2 = stretch * (y1 - last1), stretch * (y2 - last2)
        last1, last2 = y1, y2
        y1, y2, energy = _minimise(y1 + step1, y2 + step2, mean + w_d, mean - w_d, precision, rho, t1, t2)
        if rho > _STRONG * precision:
            x1, x2, other, _ = _global_minimum(mean + w_d, mean - w_d, precision, rho, t1, t2)
            if other < energy - 1e-14:
                y1, y2, energy = x1, x2, other
        if j > 0 and abs(y1 - last1 - step1) + abs(y2 - last2 - step2) > _JUMP:
            jumped = j
        z1[j], z2[j], energies[j] = y1, y2, energy
    for j in range(jumped - 1, -1, -1):
        w_d = origin + length * nodes[j]
        y1, y2, energy = _minimise(z1[j + 1], z2[j + 1], mean + w_d, mean - w_d, precision, rho, t1, t2)
        if not energy < energies[j] - 1e-14:
            break
        z1[j], z2[j], energies[j] = y1, y2, energy


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _split_sums(nodes, panel_nodes, panel_weights, field, teacher):
    mu, t, spread, V = field
    sigma, omega, A11, A22 = teacher
    precision, rho = 1.0 / V, sigma**2
    sums = np.zeros((nodes.shape[1], _SUMS))
    for i in numba.prange(nodes.shape[1]):
        eta1, eta2, xi_s = nodes[0, i], nodes[1, i], nodes[2, i]
        t1, t2 = _targets(sigma * eta1, sigma * eta2, omega, A11, A22)
        mean = 0.5 * t * sigma * (eta1 + eta2) + spread * _SQRT_HALF * xi_s
        offset = mu + 0.5 * t * sigma * (eta1 - eta2)
        w_d, p1, p2, n1, n2 = _find_split(mean, precision, rho, t1, t2)
        split = min(max((w_d - offset) / (spread * _SQRT_HALF), 1.0 - _CUT), _CUT - 1.0)
        z1, z2, energies = np.empty(panel_nodes.size), np.empty(panel_nodes.size), np.empty(panel_nodes.size)
        for side in (1.0, -1.0):
            length = _CUT - side * split
            start = (p1, p2) if side > 0.0 else (n1, n2)
            fields = (mean, offset + spread * _SQRT_HALF * split, side * spread * _SQRT_HALF * length)
            _follow(z1, z2, energies, start, fields, panel_nodes, precision, rho, t1, t2)
            for j in range(panel_nodes.size):
                xi_d = split + side * length * panel_nodes[j]
                weight = length * panel_weights[j] * _NORMAL_DENSITY * exp(-0.5 * xi_d * xi_d)
                shift = offset + spread * _SQRT_HALF * xi_d
                xi1, xi2 = _SQRT_HALF * (xi_s + xi_d), _SQRT_HALF * (xi_s - xi_d)
                w1, w2, y1, y2, energy = mean + shift, mean - shift, z1[j], z2[j], energies[j]
                _accumulate(sums[i], weight, w1, w2, y1, y2, energy, eta1, eta2, xi1, xi2, precision, rho, t1, t2)
    return sums
