"""Look of the figures, and files whose bytes depend on the data alone."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import seaborn as sns
from tables import complete_file

# Colours that stay apart in grey; the same quantity has the same colour in every figure.
POSITIONAL, SEMANTIC, BASELINE, NEUTRAL = "#1b6ca8", "#d1495b", "#6c757d", "#222222"
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


def save(figure: plt.Figure, *paths: str | Path) -> None:
    """Write the figure under each name, complete or not at all, without dates, so that equal data give equal bytes."""
    for path in map(Path, paths):
        dates = {"CreationDate": None, "ModDate": None} if path.suffix == ".pdf" else {"Software": None}
        with complete_file(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], metadata=dates, bbox_inches="tight", pad_inches=0.03)
    plt.close(figure)
