"""Train students on one data set and tabulate where they end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from solvable_attention.simulation import checks
from solvable_attention.simulation.data import Dataset, draw_dataset
from solvable_attention.simulation.optimizers import OPTIMIZERS, Minimisation
from solvable_attention.simulation.population import population_test_error
from solvable_attention.simulation.risk import EmpiricalRisk, check_device
from solvable_attention.simulation.starts import RANDOM_STARTS, start_weights
from solvable_attention.spectrum import eigenvalues
from solvable_attention.task import TeacherStudent

COLUMNS = (
    *("d", "alpha", "n", "omega", "sigma", "lam", "start", "start_std", "restart", "optimizer", "seed"),
    *("train_loss", "test_error", "m", "theta", "q", "teacher_variance", "grad_norm", "iterations", "converged"),
)


@dataclass(frozen=True)
class Trained:
    """frame : the table of `simulate`; weights : Q (d, columns) of each row; teacher_weights : Q⋆ (d, r⋆)."""

    frame: pd.DataFrame
    weights: list[np.ndarray]
    teacher_weights: np.ndarray


@dataclass(frozen=True)
class _Run:
    task: TeacherStudent
    start: str
    std: float
    restart: int


def simulate(
    tasks: TeacherStudent | Sequence[TeacherStudent],
    *,
    d: int,
    alpha: float,
    seed: int,
    starts: Sequence[str] = ("positional", "semantic"),
    optimizer: str = "lbfgs",
    restarts: int = 1,
    device: str = "cpu",
    root_seed: int = 0,
    random_std: float | Sequence[float] = 0.1,
    noisy_mean: float = 0.25,
    noisy_std: float = 0.33,
    **optimizer_options,
) -> pd.DataFrame:
    """Train every task from every start on one data set of n = max(1, round(α d)) samples.

    Parameters
    ----------
    tasks : one task or several. They share the data, so they may differ in omega, lam, A, tied and activation
        only.
    d, alpha, seed, root_seed : together they name the data set and all noise; α counts to 12 digits.
    starts : any of "positional", "semantic", "random", "noisy_positional"; see `start_weights`.
    optimizer : "lbfgs" (to a small gradient), "gd" (the published descent) or "adam".
    restarts : runs from each random start ("random", "noisy_positional"); the other starts run once.
    random_std : standard deviation of the entries of the "random" start; of several, each is a start of its own, made
        of the same noise.
    device : "cpu" or "cuda".
    noisy_mean, noisy_std : law of the entries of the "noisy_positional" start. The defaults lie near the
        theory's positional minimum at α = 1, ω = .3.
    optimizer_options : passed to the optimizer: step, max_iterations, grad_tol; memory for "lbfgs".

    Returns
    -------
    One row a run, ordered by task, start, start_std and restart. start_std is the standard deviation that random_std
    or noisy_std gave the start, 0 for "positional" and "semantic". train_loss is R(Q)/d and test_error the exact
    population error. q = σ²‖QᵀΣQ‖_F/d, theta = σ²‖QᵀΣQ⋆‖_F/d and m = ‖Qᵀp_1‖/√d, which for rank 1 and Σ = I are
    σ²‖Q‖²/d, σ²|Q·Q⋆|/d and |mean_i Q_i|; untied students enter with queries and keys side by side. Signs are a
    symmetry of the problem.
    Trained values add a last column value_overlap, σ²‖UᵀΣV⋆‖_F/d.
    teacher_variance is ‖Q⋆‖²_F/(d r⋆), of mean 1: the common cause of most of the scatter between data sets.
    converged says whether grad_norm = ‖∇R(Q)‖ ≤ grad_tol at the reported Q, whatever the optimizer.

    Raises
    ------
    ArgumentError : an argument is out of range; the message names it, its value and what is allowed.
    """
    return minimise(
        tasks, d=d, alpha=alpha, seed=seed, starts=starts, optimizer=optimizer, restarts=restarts,
        device=device, root_seed=root_seed, random_std=random_std, noisy_mean=noisy_mean, noisy_std=noisy_std,
        **optimizer_options,
    ).frame  # fmt: skip


def minimise(
    tasks,
    *,
    d,
    alpha,
    seed,
    starts=("positional", "semantic"),
    optimizer="lbfgs",
    restarts=1,
    device="cpu",
    root_seed=0,
    random_std=0.1,
    noisy_mean=0.25,
    noisy_std=0.33,
    **optimizer_options,
) -> Trained:
    """The same as `simulate`, but the trained weights come with the table."""
    tasks, starts = checks.task_list(tasks), checks.start_list(starts)
    key = checks.data_key(d, alpha, seed, root_seed)
    restarts = checks.whole_number("restarts", restarts, 1)
    noisy_mean = checks.number("noisy_mean", noisy_mean, least=-np.inf)
    deviations = {
        "random": checks.random_deviations(random_std),
        "noisy_positional": [checks.number("noisy_std", noisy_std, strictly=False)],
    }
    options = checks.optimizer_options(optimizer, optimizer_options)
    check_device(device)
    data = draw_dataset(tasks[0], **key)
    runs = [
        _Run(task, start, std, restart)
        for task in tasks
        for start in starts
        for std in deviations.get(start, [0.0])
        for restart in range(restarts if start in RANDOM_STARTS else 1)
    ]
    rows, weights = [None] * len(runs), [None] * len(runs)
    kinds = [(run.task.tied, run.task.activation) for run in runs]
    for kind in sorted(set(kinds)):
        places = [i for i, one in enumerate(kinds) if one == kind]
        group = [runs[i] for i in places]
        end = _train(data, group, key, noisy_mean, OPTIMIZERS[optimizer], options, device)
        Q = end.Q.cpu().numpy().astype(np.float64)
        for i, row, weight in zip(places, _rows(data, group, end, Q, optimizer, seed), Q, strict=True):
            rows[i], weights[i] = row, weight.T
    columns = [*COLUMNS, "value_overlap"] if tasks[0].value_rank else COLUMNS
    return Trained(pd.DataFrame(rows, columns=columns), weights, data.teacher_weights)


def _train(data: Dataset, runs, key, mean, optimizer, options, device) -> Minimisation:
    starts = [start_weights(r.task, r.start, r.restart, data.teacher_weights, key, mean=mean, std=r.std) for r in runs]
    risk = EmpiricalRisk(data, [run.task for run in runs], device)
    return optimizer(risk, torch.as_tensor(np.array(starts), dtype=torch.float32, device=device), **options)


def _rows(data: Dataset, runs, end: Minimisation, Q: np.ndarray, optimizer: str, seed: int):
    """One dictionary a run."""
    test_errors = population_test_error([run.task for run in runs], Q, data.teacher_weights)
    for i, run in enumerate(runs):
        yield {
            "d": data.d, "alpha": data.alpha, "n": data.n,
            "omega": run.task.omega, "sigma": run.task.sigma, "lam": run.task.lam,
            "start": run.start, "start_std": run.std, "restart": run.restart, "optimizer": optimizer, "seed": int(seed),
            "train_loss": float(end.risk[i]) / data.d, "test_error": float(test_errors[i]),
            **overlaps(run.task, Q[i], data.teacher_weights, data.encodings),
            "teacher_variance": float(np.mean(data.teacher_weights[:, : run.task.teacher_rank] ** 2)),
            "grad_norm": float(end.grad_norm[i]), "iterations": int(end.iterations[i]),
            "converged": bool(end.converged[i]),
        }  # fmt: skip


def overlaps(
    task: TeacherStudent, Q: np.ndarray, teacher_weights: np.ndarray, encodings: np.ndarray
) -> dict[str, float]:
    """m, theta and q of weights Q (columns, d), and value_overlap of trained values, as defined in `simulate`."""
    d, attention, rank = Q.shape[1], slice(task.attention_columns), task.teacher_rank
    spread = Q * eigenvalues(task.levels, d)
    values = spread[task.attention_columns :] @ teacher_weights[:, rank:]
    of_values = {"value_overlap": float(task.rho * np.linalg.norm(values) / d)} if task.value_rank else {}
    return {
        "m": float(np.linalg.norm(Q[attention] @ encodings[0]) / np.sqrt(d)),
        "theta": float(task.rho * np.linalg.norm(spread[attention] @ teacher_weights[:, :rank]) / d),
        "q": float(task.rho * np.linalg.norm(spread[attention] @ Q[attention].T) / d),
        **of_values,
    }
