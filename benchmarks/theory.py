"""Cost of the theory: a map evaluation, a fixed point, the same by a plain implementation, a curve of both branches.

All numbers are of this run; what is compared is timed in turn.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from statistics import median

import click
import numba
import numpy as np
from plain_theory import MINIMISERS, PlainTheory, State, iterate
from timing import environment, interleaved, ratio

from solvable_attention.channel import general_moments, rule_dimension
from solvable_attention.fixed_points import branch, fixed_point
from solvable_attention.overlaps import Overlaps
from solvable_attention.pair_channel import pair_moments, pair_prox
from solvable_attention.quadrature import gauss_hermite, sobol, split_gauss_hermite
from solvable_attention.state_evolution import state_evolution_map
from solvable_attention.task import TeacherStudent

TASK = TeacherStudent(omega=0.3)
ALPHA = 1.0
BRANCHES = ("semantic", "positional")
# Where the library starts from as well.
COLD = {"semantic": State(q=0.1125, m=0.0, V=12.5, theta=0.125), "positional": State(q=0.05, m=0.25, V=12.5, theta=0.0)}
_UNIFORM = {L: np.full((L, L), 1 / L) for L in (3, 4)}
GENERAL = {
    "L=2, correlated": (replace(TASK, covariance=((0.25, 0.1), (0.1, 0.25))), "semantic"),
    "L=2, untied": (replace(TASK, tied=False), "semantic"),
    "L=2, rank 2": (replace(TASK, rank=2), "mixed"),
    "L=2, ranks 2 and 2": (replace(TASK, rank=2, teacher_rank=2), "semantic"),
    "L=3": (replace(TASK, L=3, A=_UNIFORM[3]), "semantic"),
    "L=4": (replace(TASK, L=4, A=_UNIFORM[4]), "semantic"),
}
_LOG2_POINTS = (12, 14, 16)
_FULL_ORDER = 16
_TIMED_ORDERS = (4, 6)
_LARGEST = _TIMED_ORDERS[-1]


@click.command(help=__doc__)
@click.option("--repeats", type=int, default=5, show_default=True, help="Timed calls; the median is printed.")
@click.option("--points", type=int, default=25, show_default=True, help="Values of α of the curve.")
def main(repeats, points):
    for name, value in {**environment(), "threads": numba.get_num_threads()}.items():
        print(f"{name:32s}{value}")
    for name in BRANCHES:
        fixed_point(TASK, ALPHA, name)  # compiles, or loads what an earlier run compiled
    one_map_evaluation(repeats)
    one_fixed_point(repeats)
    for name in BRANCHES:
        against_plain(name, repeats)
    curve(points)
    beyond_the_paper(repeats)


def one_map_evaluation(repeats):
    print("\none map evaluation, positional branch, α = 1, ω = .3")
    state = fixed_point(TASK, ALPHA, "positional").overlaps
    rules = {
        "split Gauss–Hermite, order 20": split_gauss_hermite(20),
        f"Gauss–Hermite {_FULL_ORDER}⁴": gauss_hermite(4, _FULL_ORDER),
        "Sobol 2^16": sobol(4, 16, 0),
    }
    parts = {label: lambda rule=rule: pair_moments(TASK, state, rule) for label, rule in rules.items()}
    parts["general"] = lambda: general_moments(TASK, state, sobol(4, 13, 0))
    times = interleaved(parts, repeats)
    for label in rules:
        print(f"  {label:32s} {1e3 * median(times[label]):8.1f} ms")
    general, compiled = median(times["general"]) / 2**13, median(times["Sobol 2^16"]) / 2**16
    print(f"  general path, Sobol 2^13: {1e6 * general:.1f} µs a node, kernel of the paper's case {1e6 * compiled:.2f} "
          f"µs: ratio {8 * ratio(times['general'], times['Sobol 2^16']):.0f}")  # fmt: skip


def beyond_the_paper(repeats):
    """Seconds and error of one evaluation of the general map against dimension and number of points."""
    print("\none evaluation of the general map at the semantic point of α = 2 (rank 2: mixed), ω = .3, all threads;")
    print("errors: spread over 4 scrambles of K, t, χ and ε_g after one map, relative to their sizes")
    for label, (task, name) in GENERAL.items():
        state = fixed_point(task, 2.0, name).overlaps
        print(f"  {label}, dimension {rule_dimension(task)}")
        for log2_points in _LOG2_POINTS:
            rules = [sobol(rule_dimension(task), log2_points, seed) for seed in range(4)]
            maps = [partial(state_evolution_map, task, 2.0, state, name, rule) for rule in rules]
            seconds = interleaved({"map": maps[0]}, repeats)["map"]
            shown = ", ".join(f"{key} {value:.0e}" for key, value in spreads([one() for one in maps]).items())
            print(f"    2^{log2_points} points: {median(seconds):6.3f} s; {shown}")


def spreads(maps) -> dict[str, float]:
    """Relative standard deviation over scrambles of the norms of what a map returns."""
    values = {name: [np.linalg.norm(getattr(new, name)) for new, _ in maps] for name in ("K", "t", "chi")}
    values["ε_g"] = [moments.test_error for _, moments in maps]
    return {name: np.std(value, ddof=1) / np.mean(value) for name, value in values.items()}


def one_fixed_point(repeats):
    print("\none fixed point from a cold start, warm code")
    times = interleaved({name: lambda name=name: fixed_point(TASK, ALPHA, name) for name in BRANCHES}, repeats)
    for name in BRANCHES:
        point = fixed_point(TASK, ALPHA, name)
        print(f"  {name:12s} {median(times[name]):6.3f} s, {point.evaluations} map evaluations of all rules, "
              f"residual {point.residual:.0e}, quadrature error {point.quadrature_error:.0e}")  # fmt: skip


def against_plain(name, repeats):
    """Rows on a fixed point by the plain implementation, extrapolated: one solve would take half an hour and more.

    Both on one core, in seconds of that core: the nodes of either could be shared among any number of them.
    """
    print(f"\n{name} fixed point against a plain implementation (product rule, scipy at each node), one core each")
    point = fixed_point(TASK, ALPHA, name)
    state = State(point.q, point.m, point.V, point.theta)
    maps = {(m, order): PlainTheory(TASK, ALPHA, order, m) for m in MINIMISERS for order in _TIMED_ORDERS}
    steps = {key: lambda plain=plain: plain.step(state) for key, plain in maps.items()}
    *_, last = maps.values()
    draws = last.fields_and_targets(state)
    ours = {"point": lambda: fixed_point(TASK, ALPHA, name), "prox": lambda: compiled_prox(draws, state.V)}
    ours["prox"]()  # compiles
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    times = interleaved(steps | ours, repeats, calls={"prox": 100}, warm=False, clock=time.process_time)
    numba.set_num_threads(threads)
    end, count = iterate(lambda old: compiled_step(name, _FULL_ORDER, old), COLD[name])
    print(f"  the damped iteration on {_FULL_ORDER}⁴ nodes takes {count} maps and ends {distance(end, state):.0e} "
          f"from ours, whose quadrature error is {point.quadrature_error:.0e}")  # fmt: skip
    print(f"  ours: {median(times['point']):.3f} s, {1 / median(times['point']):.1f} fixed points per second")
    for minimiser in MINIMISERS:
        print(f"  scipy, {minimiser}")
        cost_of_plain(minimiser, times, count)
        agreement(name, maps[minimiser, _LARGEST], state)


def cost_of_plain(minimiser, times, count):
    per_node = {order: median(times[minimiser, order]) / order**4 for order in _TIMED_ORDERS}
    nodes = count * _FULL_ORDER**4
    plain = times[minimiser, _LARGEST]
    print("    a node:", ", ".join(f"{1e3 * cost:.2f} ms (of {order}⁴)" for order, cost in per_node.items()))
    print(f"    the compiled minimiser on the same draws: {1e6 * median(times['prox']) / _LARGEST**4:.2f} µs a node, "
          f"ratio {ratio(plain, times['prox']):.0f}")  # fmt: skip
    print(f"    a fixed point, extrapolated from the cost per node: {nodes * per_node[_LARGEST]:.0f} s, "
          f"{ratio(plain, times['point']) * nodes / _LARGEST**4:.0f} times ours")  # fmt: skip


def agreement(name, plain, state):
    """That both maps are the same, but for the nodes where scipy does not find the global minimum."""
    w, targets = plain.fields_and_targets(state)
    apart = np.abs(plain.minimise(w, targets, state.V) - compiled_prox((w, targets), state.V)[0]).max(axis=1)
    missed = apart > 0.01
    print(f"    largest relative difference of q, V, m or θ after one map on the same nodes: "
          f"{distance(plain.step(state), compiled_step(name, _LARGEST, state)):.0e}")  # fmt: skip
    print(f"    of its minima {missed.sum()} of {missed.size} are not the global one (weight "
          f"{plain.weights[missed].sum():.0e}), the others agree to {apart[~missed].max():.0e}")  # fmt: skip


def compiled_step(name, order, state):
    """The library's map on the plain implementation's nodes."""
    K, t, mu, chi = (np.array([[x]]) for x in (state.q / TASK.rho, state.theta / TASK.rho, state.m, state.V / TASK.rho))
    new, _ = state_evolution_map(TASK, ALPHA, Overlaps(K, t, mu, chi), name, gauss_hermite(4, order))
    numbers = {"q": TASK.rho * new.K, "m": new.mu, "V": TASK.rho * new.chi, "theta": TASK.rho * new.t}
    return State(**{key: float(value[0, 0]) for key, value in numbers.items()})


def compiled_prox(draws, V):
    return pair_prox(draws[0], V, draws[1], TASK.rho)


def distance(a, b):
    """Largest relative difference, over the numbers that are not zero on the branch."""
    return max(abs(x / y - 1) for x, y in zip(a, b, strict=True) if y)


def curve(points):
    print(f"\ncurve of {points} α from .01 to 2, ω = .3")
    alphas = np.linspace(0.01, 2, points)
    start = time.perf_counter()
    found = [point for name in BRANCHES for point in branch(TASK, alphas, name)]
    total = time.perf_counter() - start
    print(f"  both branches {total:.2f} s, {len(found) / total:.1f} fixed points per second, "
          f"{sum(p.converged for p in found)} of {len(found)} converged")  # fmt: skip


if __name__ == "__main__":
    main()
