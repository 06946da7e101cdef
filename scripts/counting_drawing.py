"""What the figures and the table of the counting experiment share."""

from __future__ import annotations

import json
import string

import click
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle
from published import COUNTING_PROTOCOL
from style import POSITIONAL, SEMANTIC

# Restricted mechanisms in the order of the figures, and their colours; "both" is the unrestricted model.
NAMES = ("positional", "semantic")
COLOUR = {"positional": POSITIONAL, "semantic": SEMANTIC, "both": "#6a4c93"}
LABEL = {"positional": "positional", "semantic": "semantic", "both": "unrestricted"}
_CROWDED = 14  # places beyond which letters at the axes would overlap


class Settings(click.ParamType):
    """The counting part of the configuration, as JSON."""

    name = "settings"

    def convert(self, value, param, ctx):
        try:
            return json.loads(value)
        except ValueError:
            self.fail(f"is {value!r}, allowed is JSON", param, ctx)


settings_option = click.option("--settings", type=Settings(), required=True, help="How the models were trained, JSON.")


def departures(settings: dict) -> dict[str, tuple]:
    """Settings that differ from the published protocol: ours and the published one, by key."""
    ours, published = _flat(settings), _flat(COUNTING_PROTOCOL)
    return {key: (ours.get(key), value) for key, value in published.items() if ours.get(key) != value}


def protocol_of(settings: dict) -> str:
    """A sentence on the training, for captions."""
    differing = [f"{key} = {ours} (published: {value})" for key, (ours, value) in departures(settings).items()]
    return f"Trained as published but for {', '.join(differing)}." if differing else "Trained as published."


def _flat(settings: dict, prefix: str = "") -> dict:
    flat = {}
    for key, value in settings.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


def spoken(mean: float, std: float) -> str:
    """mean ± std with two digits of the latter, which a single run does not have."""
    if np.isnan(mean):
        return "–"
    if np.isnan(std) or std == 0:
        return f"{mean:.5g}"
    digits = max(0, 1 - int(np.floor(np.log10(std))))
    return f"{mean:.{digits}f} ± {std:.{digits}f}"


def wrong_counts(accuracy: pd.Series, validation_letters: float) -> pd.Series:
    """Share of wrong counts for a logarithmic axis: half a letter of the validation set where there is none."""
    return (1 - accuracy).clip(lower=0.5 / validation_letters)


def validation_letters(settings: dict) -> float:
    """Letters in the validation set, but for duplicates."""
    return settings["length"] * settings["sequences"] * (1 - settings["train_share"])


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
