"""What the figures of the counting experiment share."""

from __future__ import annotations

import string

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from style import POSITIONAL, SEMANTIC

# Restricted mechanisms in the order of the figures, and their colours; "both" is the unrestricted model.
NAMES = ("positional", "semantic")
COLOUR = {"positional": POSITIONAL, "semantic": SEMANTIC, "both": "#6a4c93"}
_CROWDED = 14  # places beyond which letters at the axes would overlap


def letter(number: int) -> str:
    """A, B, …, Z, then A1, B1, …"""
    rest, place = divmod(int(number), 26)
    return string.ascii_uppercase[place] + (str(rest) if rest else "")


def words_of(table: pd.DataFrame) -> list[str]:
    """The example sequences as words."""
    places = table.drop_duplicates(["example", "query"]).sort_values(["example", "query"])
    return ["".join(map(letter, group.query_letter)) for _, group in places.groupby("example")]


def matrix_of(table: pd.DataFrame, mechanism: str, example: int, run: int) -> pd.DataFrame:
    """One attention matrix, indexed by (place, letter) of the query and of the key."""
    chosen = table[(table.mechanism == mechanism) & (table.example == example) & (table.run == run)]
    return chosen.pivot(index=["query", "query_letter"], columns=["key", "key_letter"], values="attention")


def draw_matrix(axis, matrix: pd.DataFrame, frame: str = "white", **options):
    """A matrix with its letters at the axes and frames on pairs of equal letters; returns the image."""
    options = {"cmap": "viridis", "vmin": 0, "vmax": 1, **options}
    image = axis.imshow(matrix.to_numpy(), rasterized=True, **options)
    letters = np.array(matrix.index.get_level_values("query_letter"))
    if len(letters) <= _CROWDED:
        names = list(map(letter, letters))
        axis.set_xticks(range(len(names)), names, fontsize="x-small")
        axis.set_yticks(range(len(names)), names, fontsize="x-small")
        axis.tick_params(length=0)
    border = {"fill": False, "ec": frame, "lw": 0.7}
    for i, j in zip(*np.nonzero(letters[:, None] == letters[None, :]), strict=True):
        axis.add_patch(Rectangle((j - 0.44, i - 0.44), 0.88, 0.88, **border))
    return image
