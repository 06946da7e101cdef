"""The extensions of the pipeline: which runs belong to which branch, the limit in 1/d, and what the figures refuse."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from configuration import ConfigError, check
from extension_points import extrapolated, lowest_of_branches
from extension_titles import plain_title
from schemas.runs import RUNS

ROOT = Path(__file__).resolve().parents[1]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
SIGMA, TERM = 0.5, 0.8


def point(branch, m, theta, loss, **other):
    return {
        "experiment": "e", "omega": 0.3, "sigma": SIGMA, "lam": 0.01, "alpha": 2.0, "branch": branch, "tokens": 2,
        "m": m, "theta": theta, "train_loss": loss, "test_error": 0.5 * loss, "value_overlap": np.nan,
        "converged": True, "merged": False, "quadrature_error": 1e-3, "encoding_term": TERM,
        "growth_m": np.nan, "growth_theta": np.nan,
        "train_loss_error": 1e-3 * loss, "test_error_error": 1e-3 * loss, **other,
    }  # fmt: skip


POINTS = pd.DataFrame([point("semantic", 0.0, 0.2, 0.03), point("positional", 0.25, 0.0, 0.04)])


def runs(d, seed, m, theta, loss, variance=1.0, restart=0):
    row = dict.fromkeys(RUNS.columns, 0)
    row |= {
        "experiment": "e", "d": d, "alpha": 2.0, "n": 2 * d, "omega": 0.3, "sigma": SIGMA, "lam": 0.01,
        "start": "noisy_positional", "restart": restart, "seed": seed, "m": m, "theta": theta, "q": 0.1,
        "train_loss": loss, "test_error": 0.5 * loss, "teacher_variance": variance, "converged": True,
    }  # fmt: skip
    return row


def test_a_run_belongs_to_the_nearest_branch_and_the_lowest_counts():
    table = pd.DataFrame(
        [
            runs(500, 0, 0.02, 0.19, 0.031),
            runs(500, 0, 0.26, 0.01, 0.042, restart=1),
            runs(500, 0, 0.24, 0.01, 0.041, restart=2),
            runs(500, 1, 0.01, 0.01, 0.09),  # near no branch: in neither
        ]
    )
    chosen = lowest_of_branches(POINTS, table)
    assert chosen[["branch", "train_loss"]].to_numpy().tolist() == [["semantic", 0.031], ["positional", 0.041]]


@pytest.mark.parametrize("change", [{"merged": True}, {"growth_m": 1.5}, {"converged": False}])
def test_a_branch_that_is_no_minimum_has_no_runs(change):
    assert lowest_of_branches(POINTS.assign(**change), pd.DataFrame([runs(500, 0, 0.02, 0.19, 0.031)])).empty


@pytest.mark.parametrize("shift", [0.0, 0.02])
def test_the_limit_is_found_and_a_shift_is_seen(shift):
    """ε_t(d) = v(1 + shift) + c/d + the term of the encodings, with a slope on ‖Q⋆‖²/d and noise of 1 % at d = 500."""
    rng = np.random.default_rng(0)
    rows = []
    for d in (500, 1000, 2000):
        for seed in range(12):
            variance = 1 + rng.normal() * np.sqrt(2 / d)
            value = 0.03 * (1 + shift) + 0.4 / d + 0.02 * (variance - 1) + rng.normal() * 3e-4 * np.sqrt(500 / d)
            row = runs(d, seed, 0.0, 0.2 + rng.normal() * 0.1 / np.sqrt(d), value + 2.0 * TERM / (2 * d), variance)
            rows.append({**row, "test_error": 0.5 * value + TERM / (2 * d)})
    ends = extrapolated(POINTS, pd.DataFrame(rows)).set_index("number")
    assert set(ends.index) == {"train_loss", "test_error", "theta"}
    end = ends.loc["train_loss"]
    assert end.theory == 0.03 and end.within == (shift == 0.0)
    assert abs(end.limit - 0.03 * (1 + shift)) < 4 * end.limit_error < 0.01
    assert end.slope == pytest.approx(0.4, abs=0.5)
    # Without the term of the encodings both are one line: half of ε_t is ε_g.
    assert ends.loc["test_error"].limit == pytest.approx(0.5 * end.limit, rel=1e-9)
    assert ends.loc["test_error"].slope == pytest.approx(0.5 * end.slope, rel=1e-6)


def test_titles_name_what_differs():
    assert plain_title({}) == "the paper's case"
    assert plain_title({"tied": False, "A": [[0.3, 0.7], [0.8, 0.2]]}) == "untied, second A"
    assert plain_title({"covariance": [[0.25, -0.15], [-0.15, 0.25]]}) == "c = -0.6"
    assert plain_title({"rank": 2, "teacher_rank": 2}) == "r = 2, r⋆ = 2"


def change(path, value):
    """The configuration with one entry set, or removed where value is None."""
    config = copy.deepcopy(CONFIG)
    *parents, last = path
    part = config
    for key in parents:
        part = part[key]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return config


UNTIED = ("extensions", "untied")
REFUSED = {
    "a name of an experiment": (("extensions", "slice"), CONFIG["extensions"]["untied"], r"extensions\.slice: is"),
    "a part that none reads": ((*UNTIED, "baseline"), CONFIG["experiments"]["slice"]["baseline"], r"untied\.baseline"),
    "too few sizes": ((*UNTIED, "simulations", "d"), [500, 1000], r"untied\.simulations\.d: is \[500, 1000\]"),
    "runs without theory": ((*UNTIED, "simulations", "alphas"), [1.7], r"untied\.theory\.alphas"),
    "no theory": ((*UNTIED, "theory"), None, r"extensions\.untied: is without a part theory"),
    "unknown": (("extension_figures", "correlation"), ["nothing"], r"extension_figures\.correlation: is 'nothing'"),
    "no covariance": (("extension_figures", "correlation"), ["untied"], r"without a covariance of two tokens"),
    "two figures of one name": (
        ("extension_figures", "branches", 1, "figure"), "untied", r"branches\[1\]\.figure: is 'untied'"),
    "a baseline of trained values": (
        ("extensions", "trained_values", "transitions", "kinds"), ["alpha_l"], r"trained_values\.transitions\.kinds"),
    "several ω in a row": ((*UNTIED, "omega"), [0.2, 0.3], r"untied\.omega: is \[0\.2, 0\.3\], allowed is one value"),
    "one ω in the plane": (("extensions", "tied_lines", "omega"), [0.3], r"tied_lines\.omega: is \[0\.3\]"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "value", "message"), REFUSED.values(), ids=REFUSED)
def test_what_could_not_be_drawn_is_refused(path, value, message):
    with pytest.raises(ConfigError, match=message):
        check(change(path, value))
