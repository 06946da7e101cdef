"""Figure 2 from tables in which something did not converge."""

import matplotlib

matplotlib.use("Agg")

import pandas as pd
import pytest
from figure2 import Slice, draw_overlaps, draw_test_error
from matplotlib import pyplot as plt

from solvable_attention.errors import ArgumentError


@pytest.fixture
def tables():
    theory = pd.DataFrame(
        [
            {"experiment": "s", "alpha": alpha, "omega": 0.3, "sigma": 0.5, "lam": 0.01, "branch": branch,
             "m": 0.2, "theta": 0.1, "train_loss": loss, "test_error": 2 * loss, "converged": True}
            for alpha in (0.5, 1.0, 2.0)
            for branch, loss in (("semantic", 3.0 - alpha), ("positional", alpha))
        ]
    )  # fmt: skip
    run = {"d": 100, "alpha": 1.0, "omega": 0.3, "sigma": 0.5, "lam": 0.01, "seed": 0, "test_error": 1.0,
           "m": 0.2, "theta": 0.05, "iterations": 5, "converged": True}  # fmt: skip
    runs = pd.DataFrame(
        [
            {**run, "experiment": "s", "start": start, "restart": 0, "train_loss": loss}
            for start, loss in (("semantic", 2.0), ("positional", 1.0))
        ]
        + [{**run, "experiment": "r", "start": "noisy_positional", "restart": i, "train_loss": 1.0 - i} for i in (0, 1)]
        + [{**run, "experiment": "g", "start": s, "restart": 0, "train_loss": 1.5} for s in ("semantic", "positional")]
    )
    linear = pd.DataFrame({"experiment": "s", "alpha": [1.0], "test_error": 1.0, "theory_test_error": 1.0})
    places = {"kind": ["alpha_c", "alpha_l"], "alpha": [1.5, float("nan")]}
    transitions = pd.DataFrame({"experiment": "s", **places, "error": 0.1})
    return {"fixed_points": theory, "runs": runs, "linear": linear, "transitions": transitions}


def hollow(axis):
    """Hollow circles and their number of points."""
    circles = [line for line in axis.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"]
    return sum(len(line.get_xdata()) for line in circles)


@pytest.mark.parametrize("draw", [draw_overlaps, draw_test_error])
def test_theory_that_did_not_converge_is_hollow(tables, draw):
    axis = plt.figure().subplots()
    draw(axis, Slice(tables, "s", "r", "g"))
    assert hollow(axis) == 0
    tables["fixed_points"].loc[[0, 1, 4], "converged"] = False  # both branches at one α, one at another
    axis = plt.figure().subplots()
    draw(axis, Slice(tables, "s", "r", "g"))
    assert hollow(axis) == 3
    plt.close("all")


def test_winner_and_missing_transition(tables):
    data = Slice(tables, "s", "r", "g")
    assert data.winner.to_dict() == {0.5: "positional", 1.0: "positional", 2.0: "semantic"}
    assert list(data.transitions.index) == ["alpha_c"]
    assert data.runs["lowest"].train_loss.tolist() == [0.0] and data.starts == 2


def test_several_tasks_are_refused(tables):
    more = tables["fixed_points"].assign(omega=0.4)
    tables["fixed_points"] = pd.concat([tables["fixed_points"], more])
    with pytest.raises(ArgumentError, match="has 2 tasks with theory, allowed is one"):
        Slice(tables, "s", "r", "g")
