"""Look of the figures, and files whose bytes depend on the data alone."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.patheffects import withStroke
from tables import complete_file

# Colours that stay apart in grey; the same quantity has the same colour in every figure.
POSITIONAL, SEMANTIC, BASELINE, NEUTRAL = "#1b6ca8", "#d1495b", "#6c757d", "#222222"
BRANCH_COLOUR = {"semantic": SEMANTIC, "positional": POSITIONAL}
# The further branches, where a figure has them; markers tell all four apart in grey.
MIXED = "#e3a72f"
FOUR_COLOURS = {**BRANCH_COLOUR, "mixed": MIXED, "uninformative": NEUTRAL}
FOUR_MARKERS = {"semantic": "o", "positional": "s", "mixed": "D", "uninformative": "^"}
TEXT_WIDTH = 7.0  # inches, the width of a printed page


def use_style() -> None:
    sns.set_theme(style="ticks", context="paper", font_scale=0.85)
    mpl.rcParams.update(
        {
            "mathtext.fontset": "cm",
            "axes.linewidth": 0.7,
            "lines.linewidth": 1.4,
            "xtick.major.size": 3,
            "ytick.major.size": 3,
            "xtick.major.pad": 2,
            "ytick.major.pad": 2,
            "axes.labelpad": 2,
            "legend.labelspacing": 0.25,
            "legend.borderaxespad": 0.3,
            "legend.handletextpad": 0.5,
            "legend.framealpha": 0.85,
            "legend.edgecolor": "none",
            "legend.handlelength": 1.6,
            "svg.hashsalt": "solvable-attention",
            "savefig.dpi": 250,
        }
    )


# Black in one pattern each, on a white rim: legible on every colour and in grey.
TRANSITION_STYLES = {
    "alpha_c": ("-", r"$\alpha_c$"),
    "alpha_m": ((0, (5, 1, 1, 1)), r"$\alpha_m$"),
    "alpha_s": ((0, (8, 1, 1, 1)), r"$\alpha_s$"),
    "alpha_l": ((0, (4, 1.5)), r"$\alpha_l$"),
    "alpha_lm": ((0, (4, 1.5)), r"$\alpha_l$ of mixed"),
    "semantic_onset": ((0, (1, 1)), r"$\theta$ leaves 0"),
    "semantic_stable": ((0, (6, 1.5, 1, 1.5)), "semantic stable above"),
    "positional_onset": ((0, (1, 2.5)), "m leaves 0"),
    "positional_end": ((0, (3, 1, 1, 1, 1, 1)), "m back at 0"),
    "positional_unstable": ((0, (8, 2)), "positional stable below"),
}


def draw_transition(axis: plt.Axes, line: pd.DataFrame, kind: str, **options) -> None:
    """A transition line in the plane (α, ω), with gaps where it was not found."""
    pattern, label = TRANSITION_STYLES[kind]
    rim = [withStroke(linewidth=2.6, foreground="white")]
    style = {"color": "black", "lw": 1.2, "ls": pattern, "label": label, "path_effects": rim, **options}
    axis.plot(line.alpha, line.omega, **style)
    unresolved = line[line.status == "unresolved"]
    if len(unresolved):
        edge = np.full(len(unresolved), axis.get_xlim()[1])
        axis.plot(edge, unresolved.omega, "x", color="0.4", ms=4, clip_on=False)


def draw_map(axis: plt.Axes, image: tuple, limit: float, label: str, zero: bool = True) -> None:
    """A map over (α, ω), grey where unknown; its `zero` contour tells the signs apart in grey print."""
    alphas, omegas, values = image
    mesh = axis.pcolormesh(
        alphas, omegas, values, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="nearest", rasterized=True
    )
    axis.set_facecolor("0.7")
    if zero and np.nanmin(values) < 0 < np.nanmax(values):
        axis.contour(alphas, omegas, values, levels=[0.0], colors="0.25", linewidths=0.5)
    axis.set(xlabel=r"$\alpha$", ylabel=r"$\omega$", xlim=mesh_limits(alphas), ylim=mesh_limits(omegas))
    axis.figure.colorbar(mesh, ax=axis, label=label, pad=0.02, aspect=30, extend="both")


def mark_open(axis: plt.Axes, cells: pd.DataFrame) -> None:
    """Crosses on the cells, by (ω, α), that hold runs which did not converge."""
    lost = cells[cells.open > 0].reset_index()
    if len(lost):
        axis.scatter(lost.alpha, lost.omega, marker="x", s=7, lw=0.6, color="black")


def mesh_limits(values: np.ndarray) -> tuple[float, float]:
    """Outer edges of the cells around an increasing grid."""
    return values[0] - 0.5 * (values[1] - values[0]), values[-1] + 0.5 * (values[-1] - values[-2])


def wrapped(paragraph: str) -> str:
    """The paragraph in lines of at most 120 characters."""
    return textwrap.fill(" ".join(paragraph.split()), 120)


def save_caption(path: str | Path, text: str, A: Sequence[Sequence[float]] | None = None) -> None:
    """Write a caption, its paragraphs wrapped anew, and the positional matrix of what it describes."""
    if A is not None:
        rows = ", ".join("[" + ", ".join(f"{value:g}" for value in row) + "]" for row in A)
        text = f"{text.strip()}\n\nPositional matrix: A = [{rows}]."
    paragraphs = [wrapped(part) for part in text.strip().split("\n\n")]
    with complete_file(path) as temporary:
        temporary.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def save(figure: plt.Figure, *paths: str | Path) -> None:
    """Write the figure under each name, complete or not at all, without dates, so that equal data give equal bytes."""
    for path in map(Path, paths):
        dates = {"CreationDate": None, "ModDate": None} if path.suffix == ".pdf" else {"Software": None}
        with complete_file(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], metadata=dates, bbox_inches="tight", pad_inches=0.03)
    plt.close(figure)
