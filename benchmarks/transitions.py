"""Whether the error bars of α_c and α_l hold: the same places by rules of four times the points."""

from __future__ import annotations

import time

import click
import numpy as np

from solvable_attention.curves import BranchCurves
from solvable_attention.task import TeacherStudent
from solvable_attention.transitions import HIGH, KINDS, LOW, transition


@click.command(help=__doc__)
@click.option("--omega", type=float, multiple=True, help="Repeat for more.  [default: 0 to .45 in steps of .05]")
@click.option("--kind", "kinds", type=click.Choice(list(KINDS)), multiple=True, default=["alpha_c", "alpha_l"])
@click.option("--low", default=LOW, show_default=True)
@click.option("--high", default=HIGH, show_default=True)
def main(omega, kinds, low, high):
    shifts = []
    for w in omega or np.arange(0, 0.46, 0.05).round(6):
        task = TeacherStudent(omega=float(w))
        curves = BranchCurves(task)
        for kind in kinds:
            started = time.perf_counter()
            found = transition(task, kind, low=low, high=high, curves=curves)
            seconds = time.perf_counter() - started
            again = transition(task, kind, low=low, high=high, curves=curves, refinement=1)
            if found.status != "found":
                click.echo(f"ω = {w:<6g} {kind:20s} {found.status}")
                continue
            shifts.append((abs(again.alpha - found.alpha), found.error))
            click.echo(f"ω = {w:<6g} {kind:20s} {found.alpha:.5f} ± {found.error:.5f}, by four times the points "
                       f"{again.alpha:.5f} ± {again.error:.5f}  ({seconds:.1f} s)")  # fmt: skip
    shift, error = np.array(shifts).T
    click.echo(f"\nlargest shift {shift.max():.1e}; {np.mean(shift <= error):.0%} of {len(shift)} lie within the error "
               f"bar, the largest is {np.max(shift / error):.2f} of it")  # fmt: skip


if __name__ == "__main__":
    main()
