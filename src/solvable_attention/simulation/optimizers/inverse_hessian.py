"""Limited-memory BFGS inverse Hessians of many runs, in the compact form of Byrd, Nocedal & Schnabel (1994).

With the pairs s, y of a run as columns of S and Y, ordered by age, R = triu(SᵀY) and D = diag(SᵀY),

    H g = γ g + S v − γ Y u,    u = R⁻¹ Sᵀg,    v = R⁻ᵀ[(D + γ YᵀY) u − γ Yᵀg].

The large arrays are read twice an iteration, once for the inner products with the new gradient and once for
the sum; inner products with a new y are differences of those with the gradients.
"""

from __future__ import annotations

import torch


class InverseHessians:
    """One approximation per run. Vectors are (runs, D) float32, the small matrices float64.

    Empty memory slots hold zeros and a unit diagonal in R, which makes their part of the formula vanish.
    """

    def __init__(self, gradient: torch.Tensor, scale: torch.Tensor, memory: int):
        """gradient (runs, D) at the start; scale (runs,) float64, the first γ."""
        runs, size = gradient.shape
        small = {"dtype": torch.float64, "device": gradient.device}
        self.pairs = gradient.new_zeros(runs, 2, memory, size)
        self.sy = torch.zeros(runs, memory, memory, **small)
        self.yy = torch.zeros(runs, memory, memory, **small)
        self.dots = torch.zeros(runs, 2, memory, **small)
        self.written = torch.full((runs, memory), -1, device=gradient.device)
        self.scale = scale

    def select(self, rows: torch.Tensor) -> None:
        """Keep only some runs."""
        for name, value in vars(self).items():
            setattr(self, name, value[rows])

    def inner_products(self, gradient: torch.Tensor) -> torch.Tensor:
        """Sᵀg and Yᵀg of every run, (runs, 2, memory) float64."""
        flat = self.pairs.flatten(1, 2)
        return torch.bmm(flat, gradient[:, :, None])[:, :, 0].view(self.dots.shape).double()

    def move(self, moved: torch.Tensor, dots: torch.Tensor, s, y, gradient, count: int) -> None:
        """Take in the accepted steps s and gradient changes y of the runs `moved` (a mask).

        A pair with little or negative curvature is left out; γ is doubled instead, so that a run leaves a
        saddle at a growing pace.
        """
        sy, yy, ss = _dot(s, y), _dot(y, y), _dot(s, s)
        convex = sy > 1e-6 * (ss * yy).sqrt()
        change = dots - self.dots
        self.dots = torch.where(moved[:, None, None], dots, self.dots)
        self.scale = torch.where(moved & ~convex, 2 * self.scale, self.scale)
        rows = (moved & convex).nonzero()[:, 0]
        slot = self.written[rows].argmin(dim=1)
        self.pairs[rows, 0, slot] = s[rows]
        self.pairs[rows, 1, slot] = y[rows]
        self.sy[rows, :, slot] = change[rows, 0]
        self.yy[rows, :, slot] = change[rows, 1]
        self.yy[rows, slot, :] = change[rows, 1]
        self.sy[rows, slot, slot] = sy[rows]
        self.yy[rows, slot, slot] = yy[rows]
        self.dots[rows, 0, slot] = _dot(s[rows], gradient[rows])
        self.dots[rows, 1, slot] = _dot(y[rows], gradient[rows])
        self.scale[rows] = sy[rows] / yy[rows]
        self.written[rows, slot] = count

    def forget(self, rows: torch.Tensor) -> None:
        """Empty the memory of some runs (a mask), keeping γ."""
        for value in (self.pairs, self.sy, self.yy, self.dots):
            value[rows] = 0
        self.written[rows] = -1

    def apply(self, gradient: torch.Tensor) -> torch.Tensor:
        """H g of every run, (runs, D); `move` has set the inner products with this gradient."""
        age = self.written.argsort(dim=1)
        R = _reorder(self.sy, age).triu()
        R.diagonal(dim1=1, dim2=2)[self.written.gather(1, age) < 0] = 1
        s_g, y_g = (self.dots[:, k].gather(1, age)[:, :, None] for k in (0, 1))
        gamma = self.scale[:, None, None]
        u = torch.linalg.solve_triangular(R, s_g, upper=True)
        right = R.diagonal(dim1=1, dim2=2)[:, :, None] * u + gamma * (_reorder(self.yy, age) @ u - y_g)
        v = torch.linalg.solve_triangular(R.mT, right, upper=False)
        weights = torch.zeros_like(self.dots)
        weights[:, 0].scatter_(1, age, v[:, :, 0])
        weights[:, 1].scatter_(1, age, (-gamma * u)[:, :, 0])
        combination = torch.bmm(weights.flatten(1)[:, None].float(), self.pairs.flatten(1, 2))[:, 0]
        return combination.addcmul_(self.scale.float()[:, None], gradient)


def _dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.bmm(a[:, None], b[:, :, None])[:, 0, 0].double()


def _reorder(matrices: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Rows and columns of each (memory, memory) matrix in the given order."""
    size = order.shape[1]
    rows = matrices.gather(1, order[:, :, None].expand(-1, -1, size))
    return rows.gather(2, order[:, None].expand(-1, size, -1))
