"""The state evolution of the paper's case as a first author would write it: what the library is measured against.

A product Gauss–Hermite rule over the four Gaussian directions, scipy's minimiser at each node, a damped iteration. It
shares only the task's parameters with the library, so that agreement on the same nodes checks both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

# Weight of the old state: with less the iteration oscillates along m.
MIXING = 0.8
TOLERANCE = 1e-6
# scipy's default, and the fastest that we found. The default leaves 1e-4 in z.
MINIMISERS = {
    "BFGS, differences": {},
    "L-BFGS-B, gradient": {"method": "L-BFGS-B", "jac": True, "options": {"ftol": 0, "gtol": 1e-8}},
}


class State(NamedTuple):
    q: float
    m: float
    V: float
    theta: float


class PlainTheory:
    """The undamped map at one α, by a product of `order` nodes in each direction."""

    def __init__(self, task, alpha: float, order: int, minimiser: str):
        self.task, self.alpha, self.options = task, alpha, MINIMISERS[minimiser]
        nodes, weights = np.polynomial.hermite_e.hermegauss(order)
        self.nodes = np.array(list(itertools.product(nodes, repeat=4)))
        self.weights = np.prod(list(itertools.product(weights / weights.sum(), repeat=4)), axis=1)

    def step(self, state: State) -> State:
        rho, theta, spread = self.task.rho, state.theta, self.spread(state)
        w, targets = self.fields_and_targets(state)
        g = (self.minimise(w, targets, state.V) - w) / state.V
        eta, xi = self.nodes[:, :2], self.nodes[:, 2:]
        # Stein's lemma: a derivative along the field is a correlation with the noise.
        dg_dw = self.mean(g * xi) / spread
        q_hat, m_hat = self.mean(g**2), self.mean(g * [1, -1])
        theta_hat = self.mean(g * eta) / self.task.sigma - dg_dw * theta / rho
        D = self.task.lam - rho * dg_dw
        q = rho * (rho * q_hat + m_hat**2 + rho**2 * theta_hat**2) / D**2
        return State(q, m_hat / D, rho / D, rho**2 * theta_hat / D)

    def minimise(self, w: np.ndarray, targets: np.ndarray, V: float) -> np.ndarray:
        """The proximal operator at every node, (nodes, 2)."""
        # With more threads scipy's BLAS takes up to ten times as long where the other cores are busy.
        with threadpool_limits(1, user_api="blas"):
            return np.array([prox(*draw, V, self.task.rho, self.options) for draw in zip(w, targets, strict=True)])

    def mean(self, values: np.ndarray) -> float:
        """α times the average of the sum over both tokens of values (nodes, 2)."""
        return self.alpha * float(self.weights @ values.sum(axis=1))

    def spread(self, state: State) -> float:
        """Standard deviation of a field given the teacher's."""
        return float(np.sqrt(state.q - state.theta**2 / self.task.rho))

    def fields_and_targets(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """The student's fields w and the numbers t_1, t_2 of the teacher's attention, both (nodes, 2)."""
        h = self.task.sigma * self.nodes[:, :2]
        w = state.m * np.array([1, -1]) + state.theta / self.task.rho * h + self.spread(state) * self.nodes[:, 2:]
        omega = self.task.omega
        return w, (1 - omega) * attention(h.T).T + omega * np.diag(self.task.A)


def attention(z):
    """S_11 and S_22 of softmax(z zᵀ)."""
    gap = z[0] - z[1]
    return np.array([1 / (1 + np.exp(-z[0] * gap)), 1 / (1 + np.exp(z[1] * gap))])


def prox(w, targets, V: float, rho: float, options: dict) -> np.ndarray:
    """The minimum that scipy reaches from the field w."""

    def value(step, difference):
        return step @ step / (2 * V) + rho * difference @ difference

    def energy(z):
        return value(z - w, attention(z) - targets)

    def with_gradient(z):
        S = attention(z)
        a, b = 2 * rho * (S - targets) * S * (1 - S)
        slope = np.array([a * (2 * z[0] - z[1]) - b * z[1], b * (2 * z[1] - z[0]) - a * z[0]])
        return value(z - w, S - targets), (z - w) / V + slope

    return minimize(with_gradient if options.get("jac") else energy, w, **options).x


def iterate(step: Callable[[State], State], state: State, most_steps: int = 2000) -> tuple[State, int]:
    """The damped iteration until no number of the state changes by TOLERANCE, and how many maps that took."""
    for count in range(1, most_steps + 1):
        new = State(*(MIXING * old + (1 - MIXING) * mapped for old, mapped in zip(state, step(state), strict=True)))
        if max(abs(a - b) for a, b in zip(new, state, strict=True)) < TOLERANCE:
            return new, count
        state = new
    raise RuntimeError(f"no fixed point in {most_steps} steps; the last state is {state}")
