"""The empirical loss for L = 2, rank 1, tied, on the CPU: one pass over samples and runs.

Each attention matrix has two free numbers, a = sigmoid(z_1(z_1 − z_2)) and b = sigmoid(z_2(z_2 − z_1)). With
Δ = u_1 − u_2 a sample's loss is a quadratic in them whose curvature does not depend on the run,

    ‖y − f‖²/(2d) = ½ G [(a − â)² + (b − b̂)²] + constant,     G = ‖Δ‖²/d,

and its minimum is affine in the targets t_1 = T_11 and t_2 = T_22: â = slope·t_1 + shift_1 and
b̂ = slope·t_2 + shift_2 with slope = Δ·(x_1 − x_2)/‖Δ‖². The constant does not depend on Q either, and is
summed once in float64.
"""

from __future__ import annotations

import numba
import numpy as np
import torch

from solvable_attention.simulation.data import Dataset

_SAMPLES_PER_BLOCK = 256


class FusedLoss:
    """Losses of runs with L = 2, rank 1, tied; the same interface as `GeneralLoss`."""

    def __init__(self, data: Dataset, omega: np.ndarray, positional: np.ndarray):
        """omega (runs,), positional (runs, 2, 2): each run's ω and A."""
        guu, gxu, gxx = data.gram_uu, data.gram_xu, data.gram_xx
        difference = np.array([1.0, -1.0])
        curvature = difference @ (guu @ difference[:, None])[:, :, 0].T
        target_uu = (gxu @ difference[:, None])[:, :, 0] - (guu @ difference[:, None])[:, :, 0]
        slope = np.einsum("l,nlk,k->n", difference, gxu, difference) / curvature
        # a moves f_1 away from u_2, b moves f_2 away from u_1, so each shift carries the other token's row.
        shift = np.stack([target_uu[:, 1], -target_uu[:, 0]]) / curvature
        teacher = np.stack([data.teacher_attention[:, 0, 0], data.teacher_attention[:, 1, 1]])
        self._samples = np.concatenate([[curvature, slope], shift, teacher * slope]).astype(np.float32)
        targets = np.stack([1 - omega, omega * positional[:, 0, 0], omega * positional[:, 1, 1]])
        self._runs = targets.astype(np.float32)
        moments = _quadratic_moments(guu, gxu, gxx)
        self._constant = np.array(
            [_constant(w, A, teacher, curvature, slope, shift, moments) for w, A in zip(omega, positional, strict=True)]
        )

    def select(self, runs: np.ndarray) -> FusedLoss:
        """The same losses for some of the runs."""
        part = object.__new__(FusedLoss)
        part._samples, part._runs, part._constant = self._samples, self._runs[:, runs], self._constant[runs]
        return part

    def replace_fields_by_gradient(self, fields: torch.Tensor) -> torch.Tensor:
        """Losses Σ_μ ‖y − f‖²/(2d) (runs,) float64; the float32 `fields` (2, n, runs, 1) become their derivatives."""
        z = fields.numpy()[..., 0]
        blocks = -(-z.shape[1] // _SAMPLES_PER_BLOCK)
        losses = np.zeros((blocks, z.shape[2]))
        _loss_and_gradient(z[0], z[1], self._samples, np.ascontiguousarray(self._runs), losses)
        return torch.from_numpy(losses.sum(axis=0) + self._constant)


def _quadratic_moments(guu, gxu, gxx) -> dict[str, np.ndarray]:
    """Per-sample scalars of ‖t (x_1 − x_2) + x_2 − u_2‖²/d and of its mirror image, as (2, n) arrays."""
    apart = gxx[:, 0, 0] + gxx[:, 1, 1] - 2 * gxx[:, 0, 1]
    toward_first = gxx[:, 0] - gxx[:, 1] - gxu[:, 0] + gxu[:, 1]
    own = np.einsum("nll->ln", gxx - 2 * gxu + guu)
    return {"apart": apart, "cross": np.stack([toward_first[:, 1], -toward_first[:, 0]]), "own": own[::-1]}


def _constant(omega, A, teacher, curvature, slope, shift, moments) -> float:
    """Σ_μ of the part of the loss that no Q can change."""
    target = (1 - omega) * teacher + omega * np.diag(A)[:, None]
    at_zero = target**2 * moments["apart"] + 2 * target * moments["cross"] + moments["own"]
    return 0.5 * float(np.sum(at_zero - curvature * (slope * target + shift) ** 2))


@numba.njit(inline="always")
def _exp(x):
    """e^x in float32 to 2 units in the last place, written so that LLVM vectorises it; NaN stays NaN."""
    x = np.float32(87.0) if x > np.float32(87.0) else x
    x = np.float32(-87.0) if x < np.float32(-87.0) else x
    # Adding 1.5·2²³ rounds to the nearest whole number and leaves it in the low bits of the float.
    shifted = x * np.float32(1.44269504) + np.float32(12582912.0)
    power = shifted - np.float32(12582912.0)
    r = x - power * np.float32(0.693359375) + power * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1.0)
    exponent = (np.float32(shifted).view(np.int32) - np.int32(0x4B400000) + np.int32(127)) << np.int32(23)
    return p * np.int32(exponent).view(np.float32)


@numba.njit(cache=True, error_model="numpy")
def _loss_and_gradient(z1, z2, samples, runs, losses):
    n, columns = z1.shape
    one = np.float32(1.0)
    for block in range(losses.shape[0]):
        for i in range(block * _SAMPLES_PER_BLOCK, min(n, (block + 1) * _SAMPLES_PER_BLOCK)):
            curvature, slope = samples[0, i], samples[1, i]
            for j in range(columns):
                x, y = z1[i, j], z2[i, j]
                gap = x - y
                ea = _exp(-x * gap)
                eb = _exp(y * gap)
                a, b = one / (one + ea), one / (one + eb)
                da = a - (runs[0, j] * samples[4, i] + runs[1, j] * slope + samples[2, i])
                db = b - (runs[0, j] * samples[5, i] + runs[2, j] * slope + samples[3, i])
                losses[block, j] += np.float64(np.float32(0.5) * curvature * (da * da + db * db))
                ga = curvature * da * (ea * a) * a
                gb = curvature * db * (eb * b) * b
                z1[i, j] = ga * (x + gap) - gb * y
                z2[i, j] = gb * (y - gap) - ga * x
