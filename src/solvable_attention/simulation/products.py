"""The two products with the data matrix that a step costs, shared by all runs."""

from __future__ import annotations

import numpy as np
import torch

from solvable_attention.numba_threads import follow_omp_num_threads
from solvable_attention.simulation import few_columns

# Between these the kernels of `few_columns` are up to three times as fast as BLAS; one column is a matrix–vector
# product, where BLAS is as fast.
_FEWEST_COLUMNS, _MOST_COLUMNS = 2, 12
# A matrix that stays in the second cache gains nothing from being read once.
_LEAST_ENTRIES = 2**18


def products_with(X: np.ndarray, device: str) -> CpuProducts | TorchProducts:
    """Products with X (rows, d) float32 on the device. Results are overwritten by the next call of the same kind."""
    return CpuProducts(X) if device == "cpu" else TorchProducts(X, device)


class CpuProducts:
    """On the CPU, by numpy's BLAS or by our kernels for few columns. Takes and returns torch tensors."""

    def __init__(self, X: np.ndarray):
        follow_omp_num_threads()
        self._X = X
        self._fields = self._gradient = np.empty((0, 0), dtype=np.float32)

    def fields(self, Q: torch.Tensor, scale: float) -> torch.Tensor:
        """scale · X Qᵀ (rows, columns) for Q (columns, d)."""
        self._fields = _shaped(self._fields, len(self._X), len(Q))
        if self._few(len(Q)):
            few_columns.fields(self._X, Q.contiguous().numpy(), np.float32(scale), self._fields)
        else:
            np.dot(self._X, (Q.numpy() * np.float32(scale)).T, out=self._fields)
        return torch.from_numpy(self._fields)

    def add_gradient_(self, target: torch.Tensor, derivatives: torch.Tensor, scale: float) -> None:
        """target += scale · derivativesᵀ X, for derivatives (rows, columns) and target (columns, d)."""
        R, sums = derivatives.numpy(), target.numpy()
        if self._few(len(sums)):
            few_columns.add_gradient(self._X, R, np.float32(scale), sums)
            return
        self._gradient = _shaped(self._gradient, R.shape[1], self._X.shape[1])
        np.dot(R.T, self._X, out=self._gradient)
        self._gradient *= np.float32(scale)
        sums += self._gradient

    def _few(self, columns: int) -> bool:
        return _FEWEST_COLUMNS <= columns <= _MOST_COLUMNS and self._X.size >= _LEAST_ENTRIES


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
