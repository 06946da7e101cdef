"""The batched risk against the objective as the paper states it, written out on (n, L, d) tensors."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from solvable_attention.simulation.data import draw_dataset
from solvable_attention.simulation.general import GeneralLoss
from solvable_attention.simulation.optimizers import gradient_descent
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.task import TeacherStudent

D = 24
A3 = ((0.5, 0.3, 0.2), (0.1, 0.6, 0.3), (0.25, 0.25, 0.5))
PAPER = TeacherStudent(omega=0.3)
TASKS = {
    "paper": PAPER,
    "untied": replace(PAPER, tied=False, A=((0.3, 0.7), (0.8, 0.2))),
    "rank 2": replace(PAPER, rank=2, teacher_rank=2),
    "other encodings": replace(PAPER, encodings_gram=((1.0, 0.3), (0.3, 0.5)), A=((0.9, 0.1), (0.5, 0.5))),
    "correlated": replace(PAPER, covariance=((0.25, 0.1), (0.1, 0.25))),
    "L=3": TeacherStudent(omega=0.2, L=3, A=A3, lam=0.03),
    "linear": replace(PAPER, activation="linear"),
    "linear untied": replace(PAPER, activation="linear", tied=False),
    "linearised": replace(PAPER, activation="linearised"),
    "anisotropic": replace(PAPER, spectrum=((3.0, 0.2), (0.5, 0.8))),
    "values": replace(PAPER, value_rank=1),
    "values, general": replace(PAPER, value_rank=2, tied=False, rank=2, spectrum=((3.0, 0.2), (0.5, 0.8))),
    "L=3 untied rank 2": TeacherStudent(omega=0.2, L=3, A=A3, rank=2, tied=False, sigma=0.7),
}


def stated_risk(task, data, Q):
    """R(Q) in float64 for one run, Q (columns, d), with nothing shared with the code under test."""
    p = torch.tensor(data.encodings)
    x = torch.tensor(data.tokens).double().transpose(0, 1) - p
    teacher = x @ torch.tensor(data.teacher_weights[:, : task.teacher_rank]) / D**0.5
    T = (1 - task.omega) * torch.softmax(teacher @ teacher.mT, dim=-1) + task.omega * torch.tensor(task.A)
    u = x + p
    z = u @ Q[: task.attention_columns].T / D**0.5
    z_queries, z_keys = (z, z) if task.tied else (z[..., : task.rank], z[..., task.rank :])
    scores = z_queries @ z_keys.mT
    S = {
        "softmax": torch.softmax(scores, dim=-1),
        "linear": scores,
        "linearised": (1 + scores - scores.mean(dim=-1, keepdim=True)) / task.L,
    }[task.activation]
    ridge = task.lam / 2 * (Q**2).sum()
    if task.value_rank:
        values = x @ torch.tensor(data.teacher_weights[:, task.teacher_rank :]) / D**0.5
        return ((T @ values - S @ u @ Q[task.attention_columns :].T / D**0.5) ** 2).sum() / 2 + ridge
    return ((T @ x - S @ u) ** 2).sum() / (2 * D) + ridge


def stated_gradient(task, data, Q):
    Q = Q.double().clone().requires_grad_()
    value = stated_risk(task, data, Q)
    value.backward()
    return value.item(), Q.grad


def weights(task, runs=3, size=1.5):
    noise = np.random.default_rng(5).standard_normal((runs, task.columns, D))
    return torch.tensor(size * noise, dtype=torch.float32)


@pytest.mark.parametrize("name", TASKS)
def test_risk_and_gradient_are_those_of_the_stated_objective(name):
    task = TASKS[name]
    data = draw_dataset(task, d=D, alpha=3.0, seed=1)
    tasks = [task, replace(task, omega=0.7, lam=0.2), replace(task, omega=0.0)]
    Q = weights(task)
    values, gradients = EmpiricalRisk(data, tasks)(Q)
    for run, one in enumerate(tasks):
        value, gradient = stated_gradient(one, data, Q[run])
        assert values[run].item() == pytest.approx(value, rel=1e-6)
        assert (gradients[run] - gradient).norm() <= 2e-5 * gradient.norm()


@pytest.mark.parametrize("name", ["paper", "L=3 untied rank 2"])
def test_gradient_agrees_with_finite_differences(name):
    task = TASKS[name]
    data = draw_dataset(task, d=D, alpha=3.0, seed=1)
    risk, Q = EmpiricalRisk(data, [task]), weights(task, runs=1)
    direction = torch.ones_like(Q)
    step = 1e-2
    ahead, behind = (risk(Q + sign * step * direction)[0].item() for sign in (1, -1))
    slope = (risk(Q)[1] * direction).sum().item()
    assert (ahead - behind) / (2 * step) == pytest.approx(slope, rel=1e-3)


def test_fused_path_equals_general_path():
    data = draw_dataset(PAPER, d=D, alpha=5.0, seed=2)
    tasks = [replace(PAPER, omega=omega, A=TASKS["other encodings"].A) for omega in (0.0, 0.4, 1.0)]
    risk = EmpiricalRisk(data, tasks)
    general = risk.select(np.arange(3))
    general._loss = GeneralLoss(
        data, np.array([t.omega for t in tasks]), np.array([t.A for t in tasks]),
        tied=True, activation="softmax", device="cpu",
    )  # fmt: skip
    Q = weights(PAPER)
    for fast, slow in zip(risk(Q), general(Q), strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["paper", "L=3"])
def test_runs_together_equal_runs_alone(name):
    task = TASKS[name]
    data = draw_dataset(task, d=D, alpha=3.0, seed=1)
    tasks = [replace(task, omega=omega) for omega in (0.1, 0.3, 0.5)]
    together, Q = EmpiricalRisk(data, tasks), weights(task)
    values, gradients = together(Q)
    for run in range(3):
        for alone in (EmpiricalRisk(data, [tasks[run]]), together.select(np.array([run]))):
            value, gradient = alone(Q[run : run + 1])
            assert value.item() == pytest.approx(values[run].item(), rel=1e-6)
            torch.testing.assert_close(gradient[0], gradients[run], rtol=1e-4, atol=1e-6)


def test_sign_of_the_weights_is_a_symmetry():
    data = draw_dataset(PAPER, d=D, alpha=3.0, seed=1)
    risk, Q = EmpiricalRisk(data, [PAPER] * 3), weights(PAPER)
    torch.testing.assert_close(risk(Q)[0], risk(-Q)[0], rtol=1e-12, atol=0)
    torch.testing.assert_close(risk(Q)[1], -risk(-Q)[1], rtol=0, atol=0)


def test_one_descent_step_follows_the_stated_objective():
    task = replace(PAPER, lam=0.3)
    data = draw_dataset(task, d=D, alpha=3.0, seed=1)
    Q = weights(task, runs=1)
    moved = gradient_descent(EmpiricalRisk(data, [task]), Q, step=0.15, max_iterations=1).Q
    expected = Q[0].double() - 0.15 * stated_gradient(task, data, Q[0])[1]
    torch.testing.assert_close(moved[0].double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["paper", "L=3"])
def test_not_a_number_and_large_weights_are_not_hidden(name):
    task = TASKS[name]
    data = draw_dataset(task, d=D, alpha=3.0, seed=1)
    Q = weights(task)
    Q[1, 0, 3] = torch.nan
    Q[2] *= 1e3
    values, gradients = EmpiricalRisk(data, [task] * 3)(Q)
    assert torch.isfinite(values).tolist() == [True, False, True]
    assert torch.isnan(gradients[1]).any() and torch.isfinite(gradients[[0, 2]]).all()
    assert values[2].item() == pytest.approx(stated_gradient(task, data, Q[2])[0], rel=1e-4)


def test_bad_devices_and_mixed_tying_are_refused():
    data = draw_dataset(PAPER, d=D, alpha=1.0, seed=0)
    with pytest.raises(ValueError, match="device: is 'tpu', allowed is 'cpu' or 'cuda'"):
        EmpiricalRisk(data, [PAPER], device="tpu")
    with pytest.raises(ValueError, match="tasks: mix tied and untied"):
        EmpiricalRisk(data, [PAPER, replace(PAPER, tied=False)])
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device: is 'cuda'"):
            EmpiricalRisk(data, [PAPER], device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", TASKS)
def test_cuda_equals_cpu(name):
    task = TASKS[name]
    data = draw_dataset(task, d=D, alpha=3.0, seed=1)
    Q = weights(task)
    here, there = EmpiricalRisk(data, [task] * 3)(Q), EmpiricalRisk(data, [task] * 3, device="cuda")(Q.cuda())
    for a, b in zip(here, there, strict=True):
        torch.testing.assert_close(a, b.cpu(), rtol=1e-4, atol=1e-5)


def test_large_scores_leave_the_gradient_finite():
    """A float32 e^x overflows where a score is far below zero; the product that tames it has to come first."""
    task = replace(PAPER, sigma=4.0)
    data = draw_dataset(task, d=D, alpha=2.0, seed=0)
    Q = torch.tensor(3 * data.teacher_weights.T[None], dtype=torch.float32)
    risk, gradient = EmpiricalRisk(data, [task])(Q)
    assert torch.isfinite(risk).all() and torch.isfinite(gradient).all()
