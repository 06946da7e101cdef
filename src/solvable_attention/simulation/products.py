"""The two products with the data matrix that a step costs, shared by all runs."""

from __future__ import annotations

import numpy as np
import torch

# Up to here one matrix–vector product per column beats one matrix–matrix product, up to eightfold for two columns.
_FEW_COLUMNS = 8


def products_with(X: np.ndarray, device: str) -> NumpyProducts | TorchProducts:
    """Products with X (rows, d) float32 on the device. Results are overwritten by the next call of the same kind."""
    return NumpyProducts(X) if device == "cpu" else TorchProducts(X, device)


class NumpyProducts:
    """On the CPU: numpy's BLAS is faster than torch's for few columns. Takes and returns torch tensors."""

    def __init__(self, X: np.ndarray):
        self._X = X
        self._fields = self._gradient = np.empty((0, 0), dtype=np.float32)

    def fields(self, Q: torch.Tensor, scale: float) -> torch.Tensor:
        """scale · X Qᵀ (rows, columns) for Q (columns, d)."""
        self._fields = _shaped(self._fields, len(self._X), len(Q))
        scaled = Q.numpy() * np.float32(scale)
        if len(scaled) > _FEW_COLUMNS:
            np.dot(self._X, scaled.T, out=self._fields)
        else:
            for j, column in enumerate(scaled):
                self._fields[:, j] = self._X @ column
        return torch.from_numpy(self._fields)

    def add_gradient_(self, target: torch.Tensor, derivatives: torch.Tensor, scale: float) -> None:
        """target += scale · derivativesᵀ X, for derivatives (rows, columns) and target (columns, d)."""
        R = derivatives.numpy()
        self._gradient = _shaped(self._gradient, R.shape[1], self._X.shape[1])
        if len(self._gradient) > _FEW_COLUMNS:
            np.dot(R.T, self._X, out=self._gradient)
        else:
            for j, out in enumerate(self._gradient):
                np.dot(np.ascontiguousarray(R[:, j]), self._X, out=out)
        self._gradient *= np.float32(scale)
        sums = target.numpy()
        sums += self._gradient


class TorchProducts:
    """On a GPU."""

    def __init__(self, X: np.ndarray, device: str):
        self._X = torch.as_tensor(X, device=device)

    def fields(self, Q: torch.Tensor, scale: float) -> torch.Tensor:
        """scale · X Qᵀ (rows, columns) for Q (columns, d)."""
        return self._X @ Q.t() * scale

    def add_gradient_(self, target: torch.Tensor, derivatives: torch.Tensor, scale: float) -> None:
        """target += scale · derivativesᵀ X, for derivatives (rows, columns) and target (columns, d)."""
        target.addmm_(derivatives.t(), self._X, alpha=scale)


def _shaped(memory: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The memory if it fits: fresh pages would cost a tenth of a product."""
    return memory if memory.shape == (rows, columns) else np.empty((rows, columns), dtype=np.float32)
