"""How the cost of theory and simulation grows with the order of the rule, d, α and the number of runs.

A power law is the slope of log seconds against log size. All numbers are of this run, the sizes are timed in turn.
Seconds are those of one core at work: what else the machine does hardly moves them.
"""

from __future__ import annotations

import time
from statistics import median

import click
import numba
import numpy as np
from descent import Problem
from threadpoolctl import threadpool_limits
from timing import environment, exponent, interleaved, ratio

from solvable_attention.fixed_points import fixed_point
from solvable_attention.pair_channel import pair_moments
from solvable_attention.quadrature import split_gauss_hermite
from solvable_attention.simulation.optimizers import lbfgs
from solvable_attention.state_evolution import Quadrature
from solvable_attention.task import TeacherStudent

TASK = TeacherStudent(omega=0.3)
ORDERS = (10, 14, 20, 28, 40)
BRANCHES = {"semantic": "theta", "positional": "m"}
# A data matrix of 2 n d floats may take this many bytes.
_LARGEST_DATA = 4e9
# Up to here matrix–vector products are the faster ones.
_FEW_RUNS = 8


@click.command(help=__doc__)
@click.option("--repeats", default=3, show_default=True, help="Timed calls; medians are printed.")
@click.option("--most-d", default=4000, show_default=True, help="Largest dimension.")
def main(repeats, most_d):
    for name, value in environment().items():
        print(f"{name:32s}{value}")
    numba.set_num_threads(1)
    with threadpool_limits(1):
        growth(repeats, most_d)


def growth(repeats, most_d):
    orders(repeats)
    theory_alphas(repeats)
    print("\n50 minimisations at α = 1, d = …")
    simulation({d: (d, 1.0, 25) for d in (250, 500, 1000, 2000, 4000) if d <= most_d}, repeats)
    print("\n50 minimisations at d = 1000, α = …")
    simulation({alpha: (1000, alpha, 25) for alpha in (0.5, 1.0, 2.0, 4.0)}, repeats)
    print("\nminimisations at d = 1000, α = 1, runs …")
    simulation({2 * count: (1000, 1.0, count) for count in (1, 5, 25, 100)}, repeats)


def orders(repeats):
    """Seconds of a map evaluation, and how far a fixed point of each order lies from that of the largest."""
    rules = {order: split_gauss_hermite(order) for order in ORDERS}
    found = {(name, order): solve(name, rule) for order, rule in rules.items() for name in BRANCHES}
    state = found["positional", ORDERS[-1]].overlaps
    parts = {order: lambda rule=rule: pair_moments(TASK, state, rule) for order, rule in rules.items()}
    times = interleaved(parts, repeats, clock=time.process_time)
    cost = {order: median(times[order]) for order in ORDERS}
    print(f"\nsplit rule of order n at α = 1, ω = .3; seconds of a map evaluation ∝ n^{exponent(cost):.2f}")
    print(f"errors of the fixed points are relative to those of order {ORDERS[-1]}")
    print("  order  nodes   ms a map   semantic: ε_t, θ    positional: ε_t, m")
    for order, rule in rules.items():
        errors = [relative_errors(found[name, order], found[name, ORDERS[-1]]) for name in BRANCHES]
        columns = "   ".join(f"{loss:8.0e} {parameter:8.0e}" for loss, parameter in errors)
        print(f"  {order:5d} {rule.size:6d} {1e3 * cost[order]:10.1f}   {columns}")


def solve(name, rule):
    """The fixed point at α = 1 of the rule alone, without error estimate."""
    return fixed_point(TASK, 1.0, name, quadrature=Quadrature(split_gauss_hermite(ORDERS[0]), rule, ()))


def relative_errors(point, reference):
    names = ("train_loss", BRANCHES[point.branch])
    return [abs(getattr(point, name) / getattr(reference, name) - 1) for name in names]


def theory_alphas(repeats):
    print("\none fixed point from a cold start, error estimate included, ω = .3")
    for name in BRANCHES:
        alphas = (0.3, 1.0, 2.0, 4.0)
        parts = {alpha: lambda alpha=alpha, name=name: fixed_point(TASK, alpha, name) for alpha in alphas}
        times = interleaved(parts, repeats, clock=time.process_time)
        for alpha in alphas:
            point = fixed_point(TASK, alpha, name)
            print(f"  {name:12s} α = {alpha:<5} {median(times[alpha]):6.3f} s, {point.evaluations:4d} map evaluations, "
                  f"converged {point.converged}, merged {point.merged}")  # fmt: skip


def simulation(sizes, repeats):
    """Rows of converged minimisations; `sizes` maps what varies to (d, α, number of ω)."""
    skipped = [size for size, (d, alpha, _) in sizes.items() if 8 * alpha * d**2 > _LARGEST_DATA]
    sizes = {size: key for size, key in sizes.items() if size not in skipped}
    problems = {size: Problem(d, alpha, midpoints(count)) for size, (d, alpha, count) in sizes.items()}
    ends, parts = {}, {}
    for size, problem in problems.items():
        parts["pair", size] = bare_pair(problem)
        parts["end", size] = lambda size=size, problem=problem: ends.update({size: lbfgs(problem.risk, problem.start)})
    calls = {key: 10 for key in parts if key[0] == "pair"}
    times = interleaved(parts, repeats, calls, warm=False, clock=time.process_time)
    cost = {size: median(times["end", size]) for size in sizes}
    print("    size   seconds   ms each   in bare pairs   a pair, ms   iterations, mean and largest")
    for size, end in ends.items():
        each, pair = 1e3 * cost[size] / len(end.risk), 1e3 * median(times["pair", size])
        in_pairs, iterations = ratio(times["end", size], times["pair", size]), end.iterations.double()
        print(f"  {size:6g} {cost[size]:9.3f} {each:9.2f} {in_pairs:15.0f} {pair:12.2f}   "
              f"{iterations.mean():.1f}, {int(iterations.max())}")  # fmt: skip
    print(f"  seconds ∝ size^{exponent(cost):.2f}{f', skipped for memory: {skipped}' if skipped else ''}")


def midpoints(count):
    """Values of ω that spread over the same interval, however many."""
    return np.linspace(0.02, 0.5, 2 * count + 1)[1::2]


def bare_pair(problem):
    """The two products with the data matrix, column by column where that is the faster way."""
    X, Q, R = problem.X.numpy(), problem.Q.t().contiguous().numpy(), problem.R.t().contiguous().numpy()
    if len(Q) <= _FEW_RUNS:
        return lambda: [(X @ q, r @ X) for q, r in zip(Q, R, strict=True)]
    forward, backward = problem.products()["numpy"]
    return lambda: (forward(), backward())


if __name__ == "__main__":
    main()
