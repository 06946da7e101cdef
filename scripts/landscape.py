"""The empirical risk on the plane through the positional minimum, the semantic minimum and the origin."""

import click
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from cli import figure_options, run
from schemas.landscape import LANDSCAPE
from scipy.interpolate import RectBivariateSpline
from style import POSITIONAL, SEMANTIC, TEXT_WIDTH, save, save_caption, use_style
from tables import read_table

from solvable_attention.errors import ArgumentError

COLOUR = {"positional": (POSITIONAL, "s"), "semantic": (SEMANTIC, "o")}
SCALE = 1e3
LEVELS = 18
ANGLES, RADII = 361, 200


@click.command(help=__doc__)
@click.option("--landscape", type=click.Path(), required=True, help="Table of the risk on planes.")
@click.option("--experiment", required=True, help="Experiment in it.")
@figure_options
def main(landscape, experiment, pdf, png, caption, A):
    table = read_table(LANDSCAPE, landscape)
    table = table[(table.experiment == experiment)]
    table = table[table.seed == table.seed.min()]
    if table.empty:
        raise ArgumentError(f"experiment: is {experiment!r}, allowed is one that {landscape} holds")
    planes = dict(list(table.groupby("alpha")))
    use_style()
    size = (TEXT_WIDTH, 4.9)
    figure, axes = plt.subplots(
        2, len(planes), figsize=size, layout="constrained", squeeze=False, height_ratios=[1.7, 1]
    )
    for column, (alpha, plane) in zip(axes.T, planes.items(), strict=True):
        draw_plane(column[0], plane)
        draw_profile(column[1], plane)
        column[0].set_title(rf"$\alpha = {alpha:g}$", fontsize="medium")
    save(figure, pdf, png)
    save_caption(caption, caption_of(planes), A)


def grid_of(plane: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The axis (points,) and R/d in units of 1e-3, (points, points) by (u, v)."""
    values = plane[plane.point == "grid"].pivot(index="u", columns="v", values="train_loss")
    return values.index.to_numpy(), SCALE * values.to_numpy()


def minima_of(plane: pd.DataFrame) -> pd.DataFrame:
    return plane[plane.point != "grid"].set_index("point")


def draw_plane(axis, plane: pd.DataFrame):
    """Contours that grow denser towards the minima, and the minima with their mirror images."""
    u, values = grid_of(plane)
    minima = minima_of(plane)
    low, origin = SCALE * minima.train_loss.min(), values[len(u) // 2, len(u) // 2]
    levels = low + (origin - low) * np.linspace(0.02, 1.5, LEVELS) ** 1.5
    filled = np.concatenate([[0.0], levels])
    axis.contourf(u, u, values.T, levels=filled, cmap="Greys", extend="max", alpha=0.6)
    axis.contour(u, u, values.T, levels=levels, colors="0.3", linewidths=0.35)
    lowest = minima.train_loss.idxmin()
    for name, (colour, marker) in COLOUR.items():
        at = minima.loc[name]
        for sign in (1, -1):
            style = {"color": colour, "ms": 7 if name == lowest else 5, "mfc": colour if name == lowest else "white"}
            label = f"{name}, {SCALE * at.train_loss:.3f}" if sign == 1 else None
            axis.plot(sign * at.u, sign * at.v, marker, mew=1.2, ls="none", label=label, **style)
    axis.plot(0, 0, "+", color="black", ms=6)
    axis.set(xlabel=r"$u$ (along the positional minimum)", ylabel=r"$v$", aspect="equal")
    axis.legend(fontsize="x-small", loc="upper left", framealpha=0.9, title=r"$10^3 R/d$", title_fontsize="x-small")


def profile(plane: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Angle in degrees, and the smallest R/d along the ray from the origin, between the spline's grid points."""
    u, values = grid_of(plane)
    spline = RectBivariateSpline(u, u, values)
    angles, radii = np.linspace(-20, 110, ANGLES), np.linspace(0, u[-1], RADII)
    rays = np.deg2rad(angles)[:, None]
    return angles, spline(radii * np.cos(rays), radii * np.sin(rays), grid=False).min(axis=1)


def draw_profile(axis, plane: pd.DataFrame):
    """Lowest risk on each ray, with both minima: the ridge between them and which one is lower."""
    angles, lowest = profile(plane)
    axis.plot(angles, lowest, color="black", lw=1.1)
    for name, at in minima_of(plane).iterrows():
        colour, marker = COLOUR[name]
        value = SCALE * at.train_loss
        axis.axhline(value, color=colour, lw=0.6, ls=":")
        axis.plot(np.rad2deg(np.arctan2(at.v, at.u)), value, marker, color=colour, ms=5)
    axis.set(xlabel=r"angle $\arctan(v/u)$ [degrees]", ylabel=r"$\min_r R/d$  $[10^{-3}]$")


def caption_of(planes: dict) -> str:
    first = next(iter(planes.values())).iloc[0]
    words = []
    for alpha, plane in planes.items():
        minima = minima_of(plane)
        loss = SCALE * minima.train_loss
        words.append(
            f"α = {alpha:g}: positional {loss.positional:.4f}, semantic {loss.semantic:.4f}, so that the"
            f" {loss.idxmin()} one is lower by {abs(loss.positional - loss.semantic):.4f}; gradient norms"
            f" {minima.grad_norm.positional:.1g} and {minima.grad_norm.semantic:.1g}"
        )
    return f"""**Landscape.** Empirical risk R(Q)/d of one data set (n = 1) at each α, on the plane through the
positional
minimum, the semantic minimum and the origin; d = {first.d}, ω = {first.omega:g}, σ = {first.sigma:g},
λ = {first.lam:g}. Above: contours; u = e₁·Q/√d along the positional minimum, v = e₂·Q/√d orthogonal to it towards the
semantic one; the minima, found in all d dimensions (L-BFGS; the lowest on either side of m = θ/σ from a
semantic and several noisy positional starts), and their mirror images −Q; the lower one is filled. Levels are not
equidistant. Below: the smallest
value on each ray from the origin, with the heights of the minima dotted; where the place of that value moves
continuously with the angle, its largest value between the minima is the barrier within the plane. No error bars:
this is one landscape, not an average.

In units of 10⁻³: {"; ".join(words)}.
"""


if __name__ == "__main__":
    run(main)
