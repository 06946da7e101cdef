"""One-off checks that comments and docstrings of the library quote: error estimates, and the search for the prox.

1. Whether the quoted quadrature errors cover the distance to a rule of twice the order. The 16 nodes of each panel are
   common to both.
2. Whether the few starts of the proximal operator find the global minimum, against a grid of starts.
"""

from __future__ import annotations

import click
import numba
import numpy as np

from solvable_attention.fixed_points import branch, fixed_point
from solvable_attention.pair_channel import _minimise, pair_prox
from solvable_attention.quadrature import sobol, split_gauss_hermite
from solvable_attention.state_evolution import Quadrature
from solvable_attention.task import TeacherStudent

OMEGAS = (0.1, 0.3, 0.5)
PARAMETERS = {"semantic": "theta", "positional": "m"}
_REFERENCE = split_gauss_hermite(40)
# (σ²V, σ), and the fields of the proximal operator: (m, t, K) as on the two branches at λ = .01, and as wide as
# fixed points at λ = 1e-4 have them.
STRENGTHS = (*((strength, 0.5) for strength in (1, 4, 8, 30, 125)), (150, 1.0))
FIELDS = {"semantic": (0.0, 0.5, 0.45), "positional": (0.25, 0.0, 0.2), "wide": (0.0, 0.0, 1.4)}
_GRID = np.stack(np.meshgrid(*[np.linspace(-4, 4, 13)] * 2), axis=-1).reshape(-1, 2)


@click.command(help=__doc__)
@click.option("--alphas", "count", default=24, show_default=True, help="Values of α from .1 to 2.")
@click.option("--log2-draws", default=14, show_default=True, help="Draws of the proximal operator, as a power of 2.")
def main(count, log2_draws):
    coverage(np.linspace(0.1, 2.0, count))
    proximal_search(log2_draws)


def coverage(alphas):
    """Print how the quoted errors compare with the distance to the reference rule."""
    points = [
        point
        for omega in OMEGAS
        for name in PARAMETERS
        for point in branch(TeacherStudent(omega=omega), alphas, name)
        if point.converged and not point.merged
    ]
    rows = [row for point in points for row in compared(point)]
    true, shift, quoted = (np.array(column) for column in list(zip(*rows, strict=True))[:3])
    print(f"error estimates: {len(rows)} numbers of {len(points)} fixed points, order 20 against order 40")
    print(f"  covered by the largest shift of a coarser rule {np.mean(true <= shift):.1%}, by the quoted error "
          f"({np.median(quoted / shift):.1f} shifts) {np.mean(true <= quoted):.1%}")  # fmt: skip
    print(f"  true error over the quoted one: median {np.median(true / quoted):.2f}, the worst are")
    for i in np.argsort(-true / quoted)[:5]:
        print(f"    {true[i] / quoted[i]:5.2f}  {rows[i][-1]}")


def compared(point):
    """True error, largest shift of a coarser rule, quoted error and a label for each number."""
    rules = Quadrature(split_gauss_hermite(10), _REFERENCE, checks=())
    reference = fixed_point(point.task, point.alpha, point.branch, start=point, quadrature=rules)
    for name in ("q", PARAMETERS[point.branch], "V", "train_loss", "test_error"):
        value = getattr(point, name)
        true, label = abs(value - getattr(reference, name)), f"ω = {point.task.omega}, α = {point.alpha:.2f}"
        yield (true, np.max(np.abs(point.shifts[name])), point.errors[name],
               f"{name} of the {point.branch} branch at {label} (true error {true / abs(value):.0e})")  # fmt: skip


def proximal_search(log2_draws):
    """Print how often, and by how much of the mean energy, a grid of starts finds something lower."""
    print(f"\nglobal minimum: the library's starts against a grid of {len(_GRID)}, {2**log2_draws} draws, ω = .3")
    print("  fields         σ    σ²V   draws missed   energy missed   draws that the grid misses")
    for name, fields in FIELDS.items():
        for strength, sigma in STRENGTHS:
            w, targets = draws(sigma, *fields, log2_draws)
            _, found = pair_prox(w, strength / sigma**2, targets, sigma**2)
            grid = grid_minimum(_GRID, w, sigma**2 / strength, targets, sigma**2)
            missed = above(found, grid)
            lost = np.sum((found - grid)[missed]) / np.sum(found)
            print(f"  {name:12s} {sigma:3.1f} {strength:6d} {missed.mean():14.0e} {lost:15.0e} "
                  f"{above(grid, found).mean():15.0e}")  # fmt: skip


def draws(sigma, m, t, K, log2_draws, omega=0.3):
    """Fields w and targets t_1, t_2, (draws, 2), of a student with these overlaps."""
    eta, xi = np.split(sobol(4, log2_draws, 0).nodes, 2)
    h = sigma * eta
    w = np.array([[m], [-m]]) + t * h + sigma * np.sqrt(K - t**2) * xi
    own = 1 / (1 + np.exp(-h * (h - h[::-1])))
    return w.T, ((1 - omega) * own + omega * 0.6).T


@numba.njit(parallel=True, error_model="numpy")
def grid_minimum(starts, w, precision, targets, rho):
    """Lowest energy that the library's Newton iteration reaches from any of the starts, for each draw."""
    lowest = np.full(len(w), np.inf)
    for i in numba.prange(len(w)):
        for start in starts:
            _, _, energy = _minimise(start[0], start[1], w[i, 0], w[i, 1], precision, rho, targets[i, 0], targets[i, 1])
            if energy < lowest[i]:
                lowest[i] = energy
    return lowest


def above(energy, other):
    """Draws whose energy lies above the other by more than 1e-9 of it, or where no start converged (NaN)."""
    return ~(energy <= other * (1 + 1e-9))


if __name__ == "__main__":
    main()
