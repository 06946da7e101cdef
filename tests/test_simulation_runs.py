"""`simulate`: its table, its keys and its error messages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from solvable_attention.simulation import minimise, simulate
from solvable_attention.simulation.runs import COLUMNS
from solvable_attention.task import TeacherStudent

PAPER = TeacherStudent(omega=0.3)
TASKS = [replace(PAPER, omega=omega) for omega in (0.1, 0.3, 0.6)]
SMALL = {"d": 60, "alpha": 1.5, "seed": 0}
ALL_STARTS = ("positional", "semantic", "random", "noisy_positional")


def assert_same_rows(left, right):
    keys = ["omega", "start", "restart"]
    left, right = (frame.sort_values(keys).reset_index(drop=True) for frame in (left, right))
    pd.testing.assert_frame_equal(left, right, rtol=1e-3, atol=1e-5, check_exact=False)


def test_one_row_a_run_in_the_stated_columns():
    frame = simulate(TASKS, **SMALL, starts=ALL_STARTS, restarts=3, max_iterations=2)
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == 3 * (1 + 1 + 3 + 3)
    assert frame.groupby("start").restart.max().to_dict() == {
        "positional": 0, "semantic": 0, "random": 2, "noisy_positional": 2
    }  # fmt: skip
    assert (frame.n == 90).all() and frame.converged.dtype == bool
    assert not frame.isna().any(axis=None)


def test_random_starts_of_several_sizes_are_one_noise_scaled():
    options = {"starts": ("random", "semantic", "noisy_positional"), "restarts": 2, "random_std": [0.1, 0.5]}
    trained = minimise(PAPER, **SMALL, **options, optimizer="gd", step=1e-9, max_iterations=1)
    table = trained.frame
    assert table.start_std.tolist() == [0.1, 0.1, 0.5, 0.5, 0.0, 0.33, 0.33]
    assert table.restart.tolist() == [0, 1, 0, 1, 0, 0, 1]
    first, _, third, *_ = trained.weights
    np.testing.assert_allclose(third, 5 * first, rtol=1e-4)
    alone = minimise(PAPER, **SMALL, starts="random", random_std=0.5, optimizer="gd", step=1e-9, max_iterations=1)
    np.testing.assert_allclose(alone.weights[0], third, rtol=1e-6)


def test_overlaps_are_those_of_the_weights():
    trained = minimise(TASKS, **SMALL)
    for row, Q in zip(trained.frame.itertuples(), trained.weights, strict=True):
        assert row.m == pytest.approx(abs(Q.mean()), rel=1e-6)
        assert row.q == pytest.approx(0.25 * (Q**2).sum() / 60, rel=1e-6)
        assert row.theta == pytest.approx(0.25 * abs((Q * trained.teacher_weights).sum()) / 60, rel=1e-6)


# Short runs: a rough landscape would amplify the rounding of differently shaped products.
@pytest.mark.parametrize("optimizer", ["lbfgs", "gd", "adam"])
def test_a_task_does_not_depend_on_its_company(optimizer):
    options = {"optimizer": optimizer, "starts": ALL_STARTS, "restarts": 2, "max_iterations": 5}
    together = simulate(TASKS, **SMALL, **options)
    assert_same_rows(together, simulate(TASKS[::-1], **SMALL, **options))
    alone = pd.concat([simulate(task, **SMALL, **options) for task in TASKS])
    assert_same_rows(together, alone)
    assert_same_rows(together[together.start == "random"], simulate(TASKS, **SMALL, **(options | {"starts": "random"})))


def test_tied_and_untied_tasks_keep_their_order():
    tasks = [replace(PAPER, tied=False), PAPER, replace(PAPER, tied=False, omega=0.5)]
    trained = minimise(tasks, **SMALL, starts="semantic", max_iterations=3)
    assert trained.frame.omega.tolist() == [0.3, 0.3, 0.5]
    assert [Q.shape for Q in trained.weights] == [(60, 2), (60, 1), (60, 2)]


def test_restarts_and_seeds_differ_and_the_same_call_repeats():
    first = simulate(PAPER, **SMALL, starts="random", restarts=3, max_iterations=1)
    assert first.train_loss.nunique() == 3
    pd.testing.assert_frame_equal(
        first, simulate(PAPER, **SMALL, starts="random", restarts=3, max_iterations=1), rtol=1e-6
    )
    others = [simulate(PAPER, **(SMALL | change)) for change in ({"seed": 1}, {"root_seed": 1}, {"alpha": 1.6})]
    losses = [frame.train_loss[0] for frame in [simulate(PAPER, **SMALL), *others]]
    assert len(set(losses)) == 4


def test_positional_and_semantic_minima_are_found_near_their_theory():
    """Theory at α = 2, ω = .3: θ = .158 on the semantic branch, m = .255 on the positional one."""
    frame = simulate(PAPER, d=600, alpha=2.0, seed=0).set_index("start")
    assert frame.converged.all()
    assert frame.theta["semantic"] == pytest.approx(0.158, abs=0.02) and frame.m["semantic"] < 0.1
    assert frame.m["positional"] == pytest.approx(0.255, abs=0.03) and frame.theta["positional"] < 0.04
    assert frame.train_loss["semantic"] < frame.train_loss["positional"]


def test_number_of_threads_is_left_alone():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        simulate(PAPER, **SMALL, max_iterations=1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("start", ALL_STARTS)
def test_starts(start):
    def at_start(task):
        return minimise(task, **SMALL, starts=start, optimizer="gd", step=1e-12, max_iterations=1).weights[0]

    Q, wide, untied = at_start(PAPER), at_start(replace(PAPER, rank=2)), at_start(replace(PAPER, tied=False))
    teacher = minimise(PAPER, **SMALL, max_iterations=1).teacher_weights
    expected = {"positional": np.full((60, 1), 60**-0.5), "semantic": teacher}
    if start in expected:
        np.testing.assert_allclose(Q, expected[start], rtol=1e-5)
    else:
        mean, std = {"random": (0, 0.1), "noisy_positional": (0.25, 0.33)}[start]
        assert Q.mean() == pytest.approx(mean, abs=4 * std / 60**0.5)
        assert Q.std() == pytest.approx(std, rel=0.4)
    np.testing.assert_allclose(wide[:, :1], Q, rtol=1e-5)
    assert wide[:, 1].any()
    assert np.allclose(untied[:, 0], untied[:, 1]) == (start != "random")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": ("positional", "cold")}, "starts: contains 'cold', allowed are positional, semantic, random"),
        ({"starts": ()}, "starts: is empty"),
        ({"optimizer": "sgd"}, "optimizer: is 'sgd', allowed are lbfgs, gd, adam"),
        ({"d": 0}, "d: is 0, allowed is a whole number ≥ 1"),
        ({"d": 10.5}, "d: is 10.5, allowed is a whole number ≥ 1"),
        ({"alpha": 0}, "alpha: is 0, allowed is a finite number > 0"),
        ({"alpha": float("nan")}, "alpha: is nan, allowed is a finite number > 0"),
        ({"seed": -1}, "seed: is -1, allowed is a whole number ≥ 0"),
        ({"root_seed": 2**70}, "root_seed: is 1180591620717411303424, allowed is a whole number ≥ 0"),
        ({"restarts": 0}, "restarts: is 0, allowed is a whole number ≥ 1"),
        ({"device": "gpu"}, "device: is 'gpu', allowed is 'cpu' or 'cuda'"),
        ({"random_std": 0.0}, "random_std: is 0.0, allowed is a finite number > 0"),
        ({"random_std": [0.1, 0.1]}, "random_std: is [0.1, 0.1], allowed is a number > 0, or several without repeats"),
        ({"random_std": None}, "random_std: is None, allowed is a finite number > 0"),
        ({"random_std": [[0.1]]}, "random_std: is [0.1], allowed is a finite number > 0"),
        ({"random_std": []}, "random_std: is [], allowed is a number > 0, or several without repeats"),
        ({"noisy_std": -1.0}, "noisy_std: is -1.0, allowed is a finite number ≥ 0"),
        ({"noisy_mean": "x"}, "noisy_mean: is 'x', allowed is a finite number"),
        ({"momentum": 0.9}, "momentum: is 0.9, allowed options of 'lbfgs' are grad_tol, max_iterations, memory, step"),
        ({"optimizer": "gd", "memory": 3}, "memory: is 3, allowed options of 'gd' are step, max_iterations, grad_tol"),
        ({"max_iterations": 0}, "max_iterations: is 0, allowed is a whole number ≥ 1"),
        ({"optimizer": "gd", "step": -0.1}, "step: is -0.1, allowed is a finite number > 0"),
    ],
)
def test_bad_arguments_are_named_with_their_value_and_what_is_allowed(change, message):
    with pytest.raises(ValueError) as caught:
        simulate(PAPER, **(SMALL | change))
    assert str(caught.value).startswith(message)


def test_bad_tasks_are_named():
    for tasks, message in (
        ([], "tasks: is empty"),
        (["paper"], "tasks: contains 'paper'"),
        ([PAPER, TeacherStudent(omega=0.3, sigma=0.7)], "tasks: contains TeacherStudent"),
        ([PAPER, replace(PAPER, rank=2)], "tasks: contains TeacherStudent"),
    ):
        with pytest.raises(ValueError) as caught:
            simulate(tasks, **SMALL)
        assert str(caught.value).startswith(message)
