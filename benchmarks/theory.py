"""Cost of the theory: one map evaluation, one fixed point, a curve of both branches. All numbers are of this run."""

import platform
import time
from statistics import median

import click
import numba
import numpy as np

from solvable_attention.channel import general_moments
from solvable_attention.fixed_points import branch, fixed_point
from solvable_attention.pair_channel import pair_moments
from solvable_attention.quadrature import gauss_hermite, sobol, split_gauss_hermite
from solvable_attention.task import TeacherStudent

TASK = TeacherStudent(omega=0.3)


@click.command(help=__doc__)
@click.option("--repeats", type=int, default=5, show_default=True, help="Timed calls; the median is printed.")
@click.option("--points", type=int, default=25, show_default=True, help="Values of α of the curve.")
def main(repeats, points):
    print(f"{numba.get_num_threads()} threads, numpy {np.__version__}, numba {numba.__version__}, {platform.machine()}")
    for name in ("semantic", "positional"):
        fixed_point(TASK, 1.0, name)  # compiles, or loads what an earlier run compiled
    state = fixed_point(TASK, 1.0, "positional").overlaps
    print("\none map evaluation, positional branch, α = 1, ω = .3")
    general_rule = sobol(4, 13, 0)
    general = seconds(lambda: general_moments(TASK, state, general_rule), 1) / general_rule.size
    for label, rule in {
        "split Gauss–Hermite, order 20": split_gauss_hermite(20),
        "Gauss–Hermite 16⁴": gauss_hermite(4, 16),
        "Sobol 2^16": sobol(4, 16, 0),
    }.items():
        cost = seconds(lambda rule=rule: pair_moments(TASK, state, rule), repeats)
        print(f"  {label:32s} {1e3 * cost:8.1f} ms")
    compiled = cost / 2**16
    print(f"  general path (numpy), Sobol 2^13: {1e6 * general:.1f} µs a node, compiled {1e6 * compiled:.2f} µs: "
          f"ratio {general / compiled:.0f}")  # fmt: skip
    print("\none fixed point from a cold start, warm code")
    for name in ("semantic", "positional"):
        point = fixed_point(TASK, 1.0, name)
        cost = seconds(lambda name=name: fixed_point(TASK, 1.0, name), repeats)
        print(f"  {name:12s} {cost:6.3f} s, {point.evaluations} map evaluations of all rules, "
              f"residual {point.residual:.0e}, quadrature error {point.quadrature_error:.0e}")  # fmt: skip
    print(f"\ncurve of {points} α from .01 to 2, ω = .3")
    alphas = np.linspace(0.01, 2, points)
    start = time.perf_counter()
    found = [point for name in ("semantic", "positional") for point in branch(TASK, alphas, name)]
    total = time.perf_counter() - start
    print(f"  both branches {total:.2f} s, {len(found) / total:.1f} fixed points per second, "
          f"{sum(p.converged for p in found)} of {len(found)} converged")  # fmt: skip


def seconds(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)


if __name__ == "__main__":
    main()
