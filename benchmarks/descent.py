"""What a step, a minimisation and a run cost, in units of the two products with the data matrix.

Every number comes from one run of this program, so that the ratios do not depend on the machine's load that day.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import dataclass, replace
from statistics import median

import click
import numpy as np
import torch
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits
from timing import environment, interleaved, ratio

from solvable_attention.simulation.data import draw_dataset
from solvable_attention.simulation.optimizers import gradient_descent, lbfgs
from solvable_attention.simulation.optimizers.result import GRADIENT_TOLERANCE
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.task import TeacherStudent

OMEGAS = np.linspace(0.02, 0.5, 25)
STARTS = ("positional", "semantic")
# ω = .1 and .3 from both starts: together they take ours fewer iterations than its average run.
LONE_RUNS = (8, 9, 28, 29)


@click.command()
@click.option("--d", default=1000, show_default=True, help="Dimension of a token.")
@click.option("--alpha", default=1.0, show_default=True, help="Samples per dimension.")
@click.option("--repeats", default=9, show_default=True, help="Interleaved repeats; medians are printed.")
@click.option("--lone", default=3, show_default=True, help="Repeats of the minimisations of one run at a time.")
@click.option("--memory-job", is_flag=True, hidden=True, help="Only run the d=1000, α=2 job and print its peak.")
def main(d: int, alpha: float, repeats: int, lone: int, memory_job: bool) -> None:
    """Print the cost of 25 values of ω × 2 starts on one data set."""
    if memory_job:
        click.echo(peak_of_one_job())
        return
    for name, value in environment().items():
        click.echo(f"{name:<32}{value}")
    # Before anything large is allocated here: a child's peak starts at the memory of its parent.
    memory = [*peak_memory()]
    problem = Problem(d, alpha)
    rows = [*products_and_steps(problem, repeats), *lone_run(problem, repeats), *lone_minimisations(problem, lone)]
    for name, value in rows + memory:
        click.echo(f"{name:<64}{value}")


class Problem:
    """Tasks × 2 starts: their risk, their starts, and the two bare products of a step."""

    def __init__(self, d: int, alpha: float, omegas=OMEGAS):
        task = TeacherStudent(omega=0.3)
        self.data = draw_dataset(task, d=d, alpha=alpha, seed=0)
        self.tasks = [replace(task, omega=omega) for omega in omegas for _ in range(2)]
        both = np.stack([np.full(d, d**-0.5), self.data.teacher_weights[:, 0]])
        self.start = torch.tensor(np.tile(both, (len(omegas), 1))[:, None], dtype=torch.float32)
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
    """Rows on the bare products, on a descent iteration and on converged minimisations."""
    products = problem.products()
    parts = {name: (lambda pair=pair: (pair[0](), pair[1]())) for name, pair in products.items()}
    ends = [lbfgs(problem.risk, problem.start)]
    parts["step"] = lambda: gradient_descent(problem.risk, problem.start, max_iterations=20)
    parts["minimise"] = lambda: ends.append(lbfgs(problem.risk, problem.start))
    times = interleaved(parts, repeats, calls=dict.fromkeys(products, 20))
    # gradient_descent evaluates once more, for its report.
    times["step"] = [t / 21 for t in times["step"]]
    fastest = min(products, key=lambda name: median(times[name]))
    end, iterations = ends[-1], ends[-1].iterations.double()
    in_pairs = {name: ratio(times[name], times[fastest]) for name in ("step", "minimise")}
    yield f"two bare products ({fastest})", f"{1e3 * median(times[fastest]):.2f} ms"
    yield f"one descent iteration of {len(problem.tasks)} runs", f"{1e3 * median(times['step']):.2f} ms"
    yield "  in bare pairs", f"{in_pairs['step']:.2f}"
    total = median(times["minimise"])
    yield f"{len(problem.tasks)} minimisations, {int(end.converged.sum())} converged", f"{total:.3f} s"
    yield "  iterations, mean and largest", f"{iterations.mean():.1f}, {int(iterations.max())}"
    yield "  in bare pairs, all together", f"{in_pairs['minimise']:.0f}"


def lone_run(problem: Problem, repeats: int, steps: int = 20):
    """One run alone by torch autograd on (n, L, d) tensors, against one of ours, over a few steps each."""
    parts = {
        "plain": PlainDescent(problem).step,
        "ours": lambda: gradient_descent(problem.risk, problem.start, max_iterations=10 * steps),
    }
    times = interleaved(parts, repeats, calls={"plain": steps})
    times["ours"] = [t / (10 * steps + 1) / len(problem.tasks) for t in times["ours"]]
    yield f"plain autograd, one run, per step ({steps} steps timed)", f"{1e3 * median(times['plain']):.2f} ms"
    yield f"ours, per run and step ({10 * steps} steps timed)", f"{1e3 * median(times['ours']):.4f} ms"
    yield "  ratio (a descent costs the same at every step)", f"{ratio(times['plain'], times['ours']):.0f}"


def lone_minimisations(problem: Problem, repeats: int):
    """Some runs one at a time by scipy's L-BFGS-B on autograd gradients, against all of ours at once."""
    ends, risks = {}, {run: PlainRisk(problem, run) for run in LONE_RUNS}
    parts = {run: lambda run=run: ends.update({run: plain_minimisation(problem, risks[run], run)}) for run in LONE_RUNS}
    parts["ours"] = lambda: ends.update(ours=lbfgs(problem.risk, problem.start))
    times = interleaved(parts, repeats, warm=False)
    ours = ends.pop("ours")
    plain = [sum(t) / len(LONE_RUNS) for t in zip(*(times[run] for run in LONE_RUNS), strict=True)]
    per_run = [t / len(problem.tasks) for t in times["ours"]]
    yield f"scipy L-BFGS-B on autograd (float32), mean of {len(LONE_RUNS)} runs alone", f"{median(plain):.3f} s"
    yield "  evaluations", listed(str(ends[run].evaluations) for run in LONE_RUNS)
    yield f"  gradient norms, asked {GRADIENT_TOLERANCE:.0e}", listed(f"{ends[run].grad_norm:.0e}" for run in LONE_RUNS)
    yield f"ours, {len(problem.tasks)} at once, per minimisation", f"{1e3 * median(per_run):.2f} ms"
    yield "  iterations of the same runs", listed(str(int(ours.iterations[run])) for run in LONE_RUNS)
    yield "  ratio", f"{ratio(plain, per_run):.0f}"
    for run in LONE_RUNS:
        label = f"  loss of scipy's end over ours − 1, ω = {problem.tasks[run].omega:.1f}, {STARTS[run % 2]} start"
        yield label, f"{ends[run].loss / float(ours.risk[run]) - 1:.0e}"


def listed(words) -> str:
    return ", ".join(words)


def peak_memory():
    done = subprocess.run([sys.executable, __file__, "--memory-job"], capture_output=True, text=True, check=True)
    yield "peak memory of a job, d=1000, α=2, 50 runs", f"{float(done.stdout):.2f} GB"


def peak_of_one_job() -> float:
    from solvable_attention.simulation import simulate

    simulate([TeacherStudent(omega=omega) for omega in OMEGAS], d=1000, alpha=2.0, seed=0)
    # Linux counts in kB.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


class PlainRisk:
    """The loss of one run by autograd on (n, L, d) tensors, as a first implementation would have it."""

    def __init__(self, problem: Problem, run: int):
        data, self.task = problem.data, problem.tasks[run]
        self.d, self.p = data.d, torch.tensor(data.encodings, dtype=torch.float32)
        self.x = torch.from_numpy(data.tokens).transpose(0, 1) - self.p
        T = (1 - self.task.omega) * torch.tensor(data.teacher_attention, dtype=torch.float32)
        T += self.task.omega * torch.tensor(self.task.A)
        self.y = T @ self.x

    def loss(self, Q: torch.Tensor) -> torch.Tensor:
        """Σ_μ ‖y − f‖²/(2d) at Q (d, 1)."""
        u = self.x + self.p
        z = u @ Q / self.d**0.5
        attention = torch.softmax(z @ z.mT, dim=-1)
        return ((self.y - attention @ u) ** 2).sum() / (2 * self.d)


class PlainDescent:
    """Gradient descent of the first run."""

    def __init__(self, problem: Problem):
        self.risk = PlainRisk(problem, 0)
        self.Q = problem.start[0].t().clone().requires_grad_()
        self.optimizer = torch.optim.SGD([self.Q], lr=0.15, weight_decay=self.risk.task.lam)

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.risk.loss(self.Q).backward()
        self.optimizer.step()


@dataclass
class PlainEnd:
    """Where a lone minimisation ended; it counts its evaluations on the way."""

    evaluations: int = 0
    loss: float = np.nan
    grad_norm: float = np.inf


def plain_minimisation(problem: Problem, risk: PlainRisk, run: int) -> PlainEnd:
    """scipy's L-BFGS-B on one run until the gradient norm is that at which ours stops."""
    end = PlainEnd()

    def value_and_gradient(flat):
        Q = torch.tensor(flat, dtype=torch.float32)[:, None].requires_grad_()
        value = risk.loss(Q) + 0.5 * risk.task.lam * (Q**2).sum()
        value.backward()
        end.evaluations += 1
        end.loss, end.grad_norm = value.item(), float(Q.grad.norm())
        return end.loss, Q.grad[:, 0].double().numpy()

    def stop(_):
        # The accepted point is the one that was evaluated last.
        if end.grad_norm <= GRADIENT_TOLERANCE:
            raise StopIteration

    exact = {"ftol": 0, "gtol": 0, "maxiter": 1000}
    start = problem.start[run, 0].double().numpy()
    # With more threads scipy's BLAS spins against torch's, and everything takes three times as long.
    with threadpool_limits(1, user_api="blas"):
        minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", callback=stop, options=exact)
    return end


if __name__ == "__main__":
    main()
