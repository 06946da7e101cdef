"""The empirical risk on the plane through a positional minimum, a semantic minimum and the origin."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from solvable_attention.errors import ArgumentError
from solvable_attention.simulation import checks
from solvable_attention.simulation.data import Dataset, draw_dataset
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.simulation.runs import Trained, minimise, overlaps
from solvable_attention.task import TeacherStudent

# Frame of the plane, in units of the larger coordinate of the two minima.
_MARGIN = 1.35
# Points whose risk is computed together; bounds the memory of the fields.
_TOGETHER = 256


def plane_through_minima(
    task: TeacherStudent, *, d: int, alpha: float, seed: int, root_seed: int = 0, restarts: int = 8, points: int = 81
) -> pd.DataFrame:
    """Risk on a square grid in the plane through both minima of one data set, and the minima themselves.

    Coordinates are u = e₁·Q/√d and v = e₂·Q/√d, with e₁ the unit vector along the positional minimum and e₂ the one
    orthogonal to it towards the semantic minimum, so that u² + v² = ‖Q‖²/d. R is even in Q: every minimum stands there
    twice. Signs are those with Σ_i Q_i > 0 (positional) and Q·Q⋆ > 0 (semantic).

    Parameters
    ----------
    task : tied, of rank 1 and teacher's rank 1.
    d, alpha, seed, root_seed : name the data set, as in `simulate`.
    restarts : noisy positional starts beside the semantic one. Of all that converged, the lowest with m > θ/σ and the
        lowest with m ≤ θ/σ span the plane.
    points : grid points a side, an odd number.

    Returns
    -------
    Rows (point, u, v, train_loss, m, theta, q, grad_norm); `point` is "grid", "positional" or "semantic", and
    grad_norm = ‖∇R(Q)‖ in all directions, not in the plane alone.

    Raises
    ------
    ArgumentError : an argument is out of range, or no start ended on its side.
    """
    if not task.tied or task.columns != 1 or task.teacher_rank != 1:
        raise ArgumentError(f"task: is {task}, allowed is tied attention with rank 1 and teacher_rank 1")
    points = checks.whole_number("points", points, 3)
    if points % 2 == 0:
        raise ArgumentError(f"points: is {points}, allowed is an odd number, so that the origin is on the grid")
    data_key = {"d": d, "alpha": alpha, "seed": seed, "root_seed": root_seed}
    trained = minimise(task, **data_key, starts=("semantic", "noisy_positional"), restarts=restarts)
    data = draw_dataset(task, **data_key)
    minima = {name: _minimum(trained, name, data) for name in ("positional", "semantic")}
    basis, corners = _plane(minima)
    reach = _MARGIN * max(np.abs(corner).max() for corner in corners.values())
    axis = np.linspace(-reach, reach, points)
    u, v = (coordinate.ravel() for coordinate in np.meshgrid(axis, axis, indexing="ij"))
    names = np.array(["grid"] * u.size + list(corners))
    place = np.vstack([np.column_stack([u, v]), *corners.values()])
    weights = np.sqrt(d) * place @ basis
    risk = _risk(task, data, weights)
    end = pd.DataFrame([overlaps(task, Q[None], data.teacher_weights, data.encodings) for Q in weights])
    return end.assign(point=names, u=place[:, 0], v=place[:, 1], **risk)


def _minimum(trained: Trained, name: str, data: Dataset) -> np.ndarray:
    """The lowest minimum of a basin, (d,), with the sign of `plane_through_minima`."""
    direction = {"positional": data.encodings[0], "semantic": data.teacher_weights[:, 0]}[name]
    converged = trained.frame[trained.frame.converged]
    for row in converged.sort_values("train_loss", kind="stable").itertuples():
        if (row.m > row.theta / row.sigma) == (name == "positional"):
            Q = trained.weights[row.Index][:, 0]
            return Q * np.sign(direction @ Q)
    raise ArgumentError(
        f"alpha: is {data.alpha:g}, where no run converged on the {name} side, allowed is an α with both"
    )


def _plane(minima: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Orthonormal basis (2, d) of the plane, and the coordinates (2,) of both minima."""
    first = minima["positional"] / np.linalg.norm(minima["positional"])
    second = minima["semantic"] - (first @ minima["semantic"]) * first
    basis = np.stack([first, second / np.linalg.norm(second)])
    return basis, {name: basis @ Q / np.sqrt(Q.size) for name, Q in minima.items()}


def _risk(task: TeacherStudent, data: Dataset, weights: np.ndarray) -> dict[str, np.ndarray]:
    """train_loss = R(Q)/d and grad_norm of weights (points, d)."""
    parts = []
    for first in range(0, len(weights), _TOGETHER):
        block = torch.as_tensor(weights[first : first + _TOGETHER, None], dtype=torch.float32)
        risk, gradient = EmpiricalRisk(data, [task] * len(block))(block)
        parts.append(torch.stack([risk / data.d, torch.linalg.vector_norm(gradient, dim=(1, 2)).double()]).numpy())
    loss, norm = np.concatenate(parts, axis=1)
    return {"train_loss": loss, "grad_norm": norm}
