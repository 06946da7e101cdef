"""Where the optimisers end, checked by code that shares nothing with them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from solvable_attention.simulation import minimise, simulate
from solvable_attention.simulation.data import draw_dataset
from solvable_attention.simulation.optimizers import adam, gradient_descent, lbfgs
from solvable_attention.simulation.optimizers.inverse_hessian import InverseHessians
from solvable_attention.simulation.risk import EmpiricalRisk
from solvable_attention.task import TeacherStudent

PAPER = TeacherStudent(omega=0.3)
TASKS = [replace(PAPER, omega=omega, lam=lam) for omega, lam in ((0.1, 0.01), (0.3, 0.01), (0.5, 0.03))]
D, ALPHA = 150, 1.5


def stated_risk_and_gradient(task, data, Q):
    """R and ∇R in float64 by autograd on (n, L, d) tensors, tied; Q (d, r)."""
    p = torch.tensor(data.encodings)
    u = torch.tensor(data.tokens).double().transpose(0, 1)
    Q = torch.tensor(Q).requires_grad_()
    teacher = (u - p) @ torch.tensor(data.teacher_weights) / data.d**0.5
    T = (1 - task.omega) * torch.softmax(teacher @ teacher.mT, dim=-1) + task.omega * torch.tensor(task.A)
    z = u @ Q / data.d**0.5
    residual = T @ (u - p) - torch.softmax(z @ z.mT, dim=-1) @ u
    value = (residual**2).sum() / (2 * data.d) + task.lam / 2 * (Q**2).sum()
    value.backward()
    return value.item(), Q.grad.numpy()


def test_minimisers_have_the_gradient_and_the_loss_that_are_reported():
    trained = minimise(TASKS, d=D, alpha=ALPHA, seed=3, grad_tol=1e-3)
    data = draw_dataset(PAPER, d=D, alpha=ALPHA, seed=3)
    assert trained.frame.converged.all()
    for row, Q in zip(trained.frame.itertuples(), trained.weights, strict=True):
        task = next(t for t in TASKS if t.omega == row.omega)
        value, gradient = stated_risk_and_gradient(task, data, Q)
        assert row.train_loss == pytest.approx(value / D, rel=1e-6)
        assert np.linalg.norm(gradient) == pytest.approx(row.grad_norm, rel=0.02)
        assert np.linalg.norm(gradient) <= 1.02e-3


def test_minimisers_of_other_shapes_converge():
    A = ((0.6, 0.2, 0.2),) * 3
    for task in (TeacherStudent(omega=0.1, L=3, A=A), replace(PAPER, rank=2), replace(PAPER, tied=False)):
        frame = simulate(task, d=60, alpha=2.0, seed=0, starts=("positional", "semantic", "random"))
        assert frame.converged.all()


def test_lbfgs_ends_no_higher_than_descent_from_the_semantic_start():
    keywords = {"d": D, "alpha": 2.0, "seed": 0, "starts": "semantic"}
    newton = simulate(PAPER, **keywords, grad_tol=1e-3)
    descent = simulate(PAPER, **keywords, optimizer="gd", step=0.6, max_iterations=1500)
    assert newton.train_loss[0] <= descent.train_loss[0] + 1e-6
    assert newton.theta[0] == pytest.approx(descent.theta[0], abs=0.003)


def test_lbfgs_never_increases_the_risk():
    task = replace(PAPER, lam=0.001)
    data = draw_dataset(task, d=D, alpha=0.7, seed=1)
    risk = EmpiricalRisk(data, [task] * 4)
    start = torch.tensor(np.random.default_rng(0).standard_normal((4, 1, D)), dtype=torch.float32)
    values = [risk(start)[0]] + [lbfgs(risk, start, max_iterations=k).risk for k in (1, 2, 3, 5, 9, 30, 200)]
    assert (torch.stack(values).diff(dim=0) <= 0).all()


def test_lbfgs_counts_iterations_and_says_when_it_stopped_early():
    short = simulate(TASKS, d=D, alpha=ALPHA, seed=0, max_iterations=2)
    assert (short.iterations == 2).all() and not short.converged.any()
    assert (short.grad_norm > 3e-3).all()


def test_lbfgs_ends_when_the_tolerance_is_below_the_rounding_of_the_data():
    frame = simulate(PAPER, d=D, alpha=ALPHA, seed=0, grad_tol=0.0, max_iterations=100)
    assert not frame.converged.any()
    assert (frame.grad_norm < 1e-3).all()


def test_a_start_that_is_not_a_number_is_a_run_that_did_not_converge():
    data = draw_dataset(PAPER, d=D, alpha=ALPHA, seed=0)
    start = torch.ones(2, 1, D)
    start[0, 0, 0] = torch.nan
    end = lbfgs(EmpiricalRisk(data, [PAPER] * 2), start)
    assert end.converged.tolist() == [False, True]


def test_a_start_at_a_stationary_point_stays_there():
    data = draw_dataset(PAPER, d=D, alpha=ALPHA, seed=0)
    end = lbfgs(EmpiricalRisk(data, [PAPER]), torch.zeros(1, 1, D))
    assert end.iterations.item() == 0 and end.converged.item() and not end.Q.any()


def test_inverse_hessian_equals_the_textbook_recursion():
    rng = np.random.default_rng(0)
    size, memory = 12, 4
    curvature = np.diag(rng.uniform(0.5, 3, size))
    Q, pairs, gamma = rng.standard_normal(size), [], 1.0
    g = curvature @ Q
    compact = InverseHessians(as_row(g), torch.ones(1, dtype=torch.float64), memory)
    for count in range(1, 8):
        s = 0.3 * rng.standard_normal(size)
        new = curvature @ (Q + s)
        dots = compact.inner_products(as_row(new))
        compact.move(torch.tensor([True]), dots, as_row(s), as_row(new - g), as_row(new), count)
        pairs, gamma = [*pairs, (s, new - g)][-memory:], s @ (new - g) / ((new - g) @ (new - g))
        Q, g = Q + s, new
        np.testing.assert_allclose(compact.apply(as_row(g))[0], two_loops(g, pairs, gamma), atol=1e-4)


def as_row(vector):
    return torch.tensor(vector, dtype=torch.float32)[None]


def two_loops(g, pairs, gamma):
    """Nocedal & Wright, algorithm 7.4."""
    r, alphas = g.copy(), []
    for s, y in reversed(pairs):
        alphas.append(s @ r / (s @ y))
        r -= alphas[-1] * y
    r *= gamma
    for (s, y), a in zip(pairs, reversed(alphas), strict=True):
        r += (a - y @ r / (s @ y)) * s
    return r


def test_descent_and_adam_follow_torch_optimisers():
    data = draw_dataset(PAPER, d=30, alpha=2.0, seed=0)
    risk = EmpiricalRisk(data, [PAPER])
    start = torch.tensor(data.teacher_weights.T[None], dtype=torch.float32)
    pairs = ((gradient_descent, torch.optim.SGD, 0.15), (adam, torch.optim.Adam, 0.01))
    for ours, theirs, step in pairs:
        Q = torch.tensor(data.teacher_weights).requires_grad_()
        optimizer = theirs([Q], lr=step)
        for _ in range(20):
            _, gradient = stated_risk_and_gradient(PAPER, data, Q.detach().numpy())
            Q.grad = torch.tensor(gradient)
            optimizer.step()
        end = ours(risk, start, step=step, max_iterations=20)
        np.testing.assert_allclose(end.Q[0, 0].numpy(), Q.detach().numpy()[:, 0], atol=2e-4)
        assert end.iterations.item() == 20
