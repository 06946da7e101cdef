"""Rules for expectations over independent standard normal variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, roots_hermitenorm

from solvable_attention.errors import ArgumentError

_LARGEST_TENSOR = 4
_LEAST_WEIGHT = 1e-10


@dataclass(frozen=True, eq=False)
class GaussianRule:
    """Nodes and weights with E f(x) ≈ Σ_i weights_i f(nodes_{:,i}) for x ~ N(0, I).

    nodes : (dimension, N); weights : (N,), positive, of sum 1;
    degree : largest degree in each variable that is integrated exactly, None for point sets.
    """

    nodes: np.ndarray
    weights: np.ndarray
    degree: int | None = None

    @property
    def dimension(self) -> int:
        return self.nodes.shape[0]

    @property
    def size(self) -> int:
        return self.nodes.shape[1]

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Weighted mean over the first axis of `values` (N, …)."""
        return np.tensordot(self.weights, values, axes=(0, 0))


@dataclass(frozen=True, eq=False)
class SplitRule:
    """Four-dimensional rule of the pair kernel whose last direction follows the jump of the proximal operator.

    outer : rule over (η_1, η_2, ξ_s), the two teacher fields and the mean of the student's noise; the remaining
        direction ξ_d, along z_1 − z_2, is integrated panel by panel up to the point where the minimiser changes
        wells, so that the integrand stays smooth on each panel and in the state.
    half_space : the outer nodes cover η_1 > 0 only, with doubled weights. Right on the pure branches: averages are
        unchanged by (η, ξ) → −(η, ξ) where m = 0, and by η → −η where θ = 0.
    """

    outer: GaussianRule
    half_space: bool = False

    @property
    def size(self) -> int:
        return self.outer.size


@lru_cache(maxsize=32)
def gauss_hermite(dimension: int, order: int) -> GaussianRule:
    """Tensor Gauss–Hermite rule with `order` nodes per direction, exact to degree 2·order − 1 in each variable.

    scipy's nodes are used because numpy's `hermegauss` returns NaN above a few hundred.
    """
    x, w = roots_hermitenorm(order)
    nodes = np.stack([g.ravel() for g in np.meshgrid(*[x] * dimension, indexing="ij")])
    weights = w / w.sum()
    product = weights
    for _ in range(dimension - 1):
        product = np.multiply.outer(product, weights).ravel()
    return GaussianRule(nodes, product, degree=2 * order - 1)


@lru_cache(maxsize=32)
def sobol(dimension: int, log2_points: int, seed: int) -> GaussianRule:
    """2^log2_points scrambled Sobol points, mapped to normal variables; replicates are other seeds.

    Only powers of two keep the balance of the sequence, hence the argument.
    """
    from scipy.stats import qmc  # here, because importing it takes a quarter of a short job's start

    uniform = qmc.Sobol(dimension, scramble=True, rng=np.random.default_rng(seed)).random_base2(log2_points)
    # A scrambled point may be exactly 0, whose normal image is infinite.
    nodes = ndtri(np.clip(uniform, 2.0**-53, 1 - 2.0**-53)).T.copy()
    return GaussianRule(nodes, np.full(nodes.shape[1], 1.0 / nodes.shape[1]))


@lru_cache(maxsize=32)
def symmetric_sobol(dimension: int, log2_points: int, seed: int, flips: tuple[tuple[int, ...], ...]) -> GaussianRule:
    """2^log2_points points that stay the same set when the sign of all variables of one group in `flips` turns.

    What is odd under such a flip averages to exactly 0, where plain points leave their noise. The points are those of
    `sobol`, fewer by a factor of two for each flip, and their images.
    """
    nodes = sobol(dimension, log2_points - len(flips), seed).nodes
    for group in flips:
        signs = np.ones((dimension, 1))
        signs[list(group)] = -1.0
        nodes = np.concatenate([nodes, signs * nodes], axis=1)
    return GaussianRule(nodes, np.full(nodes.shape[1], 1.0 / nodes.shape[1]))


def smooth_rule(dimension: int, order: int, log2_points: int) -> GaussianRule:
    """For smooth integrands: a tensor rule of `order` nodes up to four dimensions, above it 2^log2_points Sobol points.

    The scramble is always the same: an error is then a smooth function of what the integrand depends on.
    """
    if dimension <= _LARGEST_TENSOR:
        return gauss_hermite(dimension, order)
    return sobol(dimension, log2_points, 0)


@lru_cache(maxsize=32)
def split_gauss_hermite(order: int, half_space: bool = True) -> SplitRule:
    """Split rule with a product of `order` (even) Gauss–Hermite nodes in each outer direction.

    Nodes of weight below 1e-10 are dropped. At order 20 that moves averages by less than a hundredth of their
    quadrature error, at order 40 by less than 2e-5 of their value.
    Raises ArgumentError for an odd order.
    """
    if order % 2:
        raise ArgumentError(f"order: is {order}, allowed is an even number (no node may sit on η_1 = 0)")
    full = gauss_hermite(3, order)
    keep = full.weights > _LEAST_WEIGHT
    if half_space:
        keep &= full.nodes[0] > 0
    weights = full.weights[keep] / full.weights[keep].sum()
    outer = GaussianRule(full.nodes[:, keep].copy(), weights, full.degree)
    return SplitRule(outer, half_space)


@lru_cache(maxsize=32)
def split_sobol(log2_points: int, seed: int) -> SplitRule:
    """Full-space split rule on scrambled Sobol points: the independent check of `split_gauss_hermite`."""
    return SplitRule(sobol(3, log2_points, seed))
