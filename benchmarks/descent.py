"""What a step, a minimisation and a run cost, in units of the two products with the data matrix.

Every number comes from one run of this program, so that the ratios do not depend on the machine's load that day.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import replace

import click
import numba
import numpy as np
import torch

from solvable_attention.simulation.data import draw_dataset
from solvable_attention.simulation.optimizers import gradient_descent, lbfgs
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.task import TeacherStudent

OMEGAS = np.linspace(0.02, 0.5, 25)


@click.command()
@click.option("--d", default=1000, show_default=True, help="Dimension of a token.")
@click.option("--alpha", default=1.0, show_default=True, help="Samples per dimension.")
@click.option("--repeats", default=9, show_default=True, help="Interleaved repeats; medians are printed.")
@click.option("--memory-job", is_flag=True, hidden=True, help="Only run the d=1000, α=2 job and print its peak.")
def main(d: int, alpha: float, repeats: int, memory_job: bool) -> None:
    """Print the cost of 25 values of ω × 2 starts on one data set."""
    if memory_job:
        click.echo(peak_of_one_job())
        return
    for name, value in environment().items():
        click.echo(f"{name:<28}{value}")
    # Before anything large is allocated here: a child's peak starts at the memory of its parent.
    rows = [*peak_memory()]
    problem = Problem(d, alpha)
    for name, value in [*products_and_steps(problem, repeats), *lone_run(problem, repeats), *rows]:
        click.echo(f"{name:<58}{value}")


def environment() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "torch / numba / numpy": f"{torch.__version__} / {numba.__version__} / {np.__version__}",
        "cores": str(len(os.sched_getaffinity(0))),
    }


class Problem:
    """25 tasks × 2 starts: their risk, their starts, and the two bare products of a step."""

    def __init__(self, d: int, alpha: float):
        task = TeacherStudent(omega=0.3)
        self.data = draw_dataset(task, d=d, alpha=alpha, seed=0)
        self.tasks = [replace(task, omega=omega) for omega in OMEGAS for _ in range(2)]
        both = np.stack([np.full(d, d**-0.5), self.data.teacher_weights[:, 0]])
        self.start = torch.tensor(np.tile(both, (len(OMEGAS), 1))[:, None], dtype=torch.float32)
        self.risk = EmpiricalRisk(self.data, self.tasks)
        self.X = torch.from_numpy(self.data.tokens).view(-1, d)
        self.Q = self.start[:, 0].t().contiguous()
        self.R = torch.randn(len(self.X), len(self.tasks))

    def products(self) -> dict:
        """The bare products X Q and Xᵀ R by each library and layout at hand."""
        X, Q, R = self.X, self.Q, self.R
        Q_rows, R_rows = Q.t().contiguous(), R.t().contiguous()
        out, out_rows = torch.empty_like(R), torch.empty_like(Q_rows)
        return {
            "torch": (lambda: torch.mm(X, Q, out=out), lambda: X.t() @ R),
            "torch, runs as rows": (lambda: torch.mm(X, Q_rows.t(), out=out), lambda: torch.mm(R.t(), X, out=out_rows)),
            "torch, all as rows": (lambda: Q_rows @ X.t(), lambda: torch.mm(R_rows, X, out=out_rows)),
            "numpy": (lambda: X.numpy() @ Q.numpy(), lambda: X.numpy().T @ R.numpy()),
        }


def products_and_steps(problem: Problem, repeats: int):
    """Rows on the bare products, on a descent iteration and on converged minimisations.

    Timings of the parts alternate within each repeat: a change of the machine's load then meets all of them.
    """
    products = problem.products()
    parts = {name: (lambda pair=pair: (pair[0](), pair[1]())) for name, pair in products.items()}
    parts["step"] = lambda: gradient_descent(problem.risk, problem.start, max_iterations=20)
    ends = [lbfgs(problem.risk, problem.start)]
    times = {name: [] for name in [*parts, "minimise"]}
    for _ in range(repeats):
        for name, part in parts.items():
            times[name].append(seconds(part, 1 if name == "step" else 20))
        times["minimise"].append(seconds(lambda: ends.append(lbfgs(problem.risk, problem.start)), 1))
    # gradient_descent evaluates once more, for its report.
    times["step"] = [t / 21 for t in times["step"]]
    median = {name: statistics.median(t) for name, t in times.items()}
    fastest = min(products, key=median.get)
    pair, end = median[fastest], ends[-1]
    in_pairs = {name: ratio(times[name], times[fastest]) for name in ("step", "minimise")}
    yield f"two bare products ({fastest})", f"{1e3 * pair:.2f} ms"
    yield f"one descent iteration of {len(problem.tasks)} runs", f"{1e3 * median['step']:.2f} ms"
    yield "  in bare pairs", f"{in_pairs['step']:.2f}"
    yield f"{len(problem.tasks)} minimisations, {int(end.converged.sum())} converged", f"{median['minimise']:.3f} s"
    iterations = end.iterations.double()
    yield "  iterations, mean and largest", f"{iterations.mean():.1f}, {int(iterations.max())}"
    yield "  in bare pairs, all together", f"{in_pairs['minimise']:.0f}"


def lone_run(problem: Problem, repeats: int, steps: int = 20):
    """One run alone by torch autograd on (n, L, d) tensors, against one of ours, over a few steps each."""
    alone = PlainRun(problem)
    ours, plain = [], []
    for _ in range(repeats):
        plain.append(seconds(alone.step, steps))
        moved = seconds(lambda: gradient_descent(problem.risk, problem.start, max_iterations=10 * steps), 1)
        ours.append(moved / (10 * steps + 1) / len(problem.tasks))
    per_run, lone = statistics.median(ours), statistics.median(plain)
    yield f"plain autograd, one run, per step ({steps} steps timed)", f"{1e3 * lone:.2f} ms"
    yield f"ours, per run and step ({10 * steps} steps timed)", f"{1e3 * per_run:.4f} ms"
    yield "  ratio (a descent costs the same at every step)", f"{ratio(plain, ours):.0f}"


class PlainRun:
    """Gradient descent as a first implementation would have it."""

    def __init__(self, problem: Problem):
        data, self.task = problem.data, problem.tasks[0]
        p = torch.tensor(data.encodings, dtype=torch.float32)
        self.x = torch.from_numpy(data.tokens).transpose(0, 1) - p
        self.p = p
        T = (1 - self.task.omega) * torch.tensor(data.teacher_attention, dtype=torch.float32)
        T += self.task.omega * torch.tensor(self.task.A)
        self.y = T @ self.x
        self.d = data.d
        self.Q = problem.start[0].t().clone().requires_grad_()
        self.optimizer = torch.optim.SGD([self.Q], lr=0.15, weight_decay=self.task.lam)

    def step(self) -> None:
        self.optimizer.zero_grad()
        u = self.x + self.p
        z = u @ self.Q / self.d**0.5
        attention = torch.softmax(z @ z.mT, dim=-1)
        (((self.y - attention @ u) ** 2).sum() / (2 * self.d)).backward()
        self.optimizer.step()


def ratio(numerators: list[float], denominators: list[float]) -> float:
    """Median of the ratios within each repeat, which a change of the machine's load hardly moves."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def seconds(part, count: int) -> float:
    """Mean time of a call after one that is not timed."""
    # Idle threads of a BLAS go on spinning for a while, and would slow whatever comes next down.
    time.sleep(0.1)
    part()
    begin = time.perf_counter()
    for _ in range(count):
        part()
    return (time.perf_counter() - begin) / count


def peak_memory():
    done = subprocess.run([sys.executable, __file__, "--memory-job"], capture_output=True, text=True, check=True)
    yield "peak memory of a job, d=1000, α=2, 50 runs", f"{float(done.stdout):.2f} GB"


def peak_of_one_job() -> float:
    from solvable_attention.simulation import simulate

    simulate([TeacherStudent(omega=omega) for omega in OMEGAS], d=1000, alpha=2.0, seed=0)
    # Linux counts in kB.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main()
