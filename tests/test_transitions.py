"""Transitions: where they lie, how far the quoted error is to be trusted, and what is said where there is none."""

from functools import lru_cache

import numpy as np
import pytest
from schemas.transitions import TRANSITIONS
from tables import read_table
from test_scripts import TASK, call

from solvable_attention.amplitude import AmplitudeCurve
from solvable_attention.baseline import linear_baseline
from solvable_attention.curves import BranchCurves
from solvable_attention.errors import ArgumentError
from solvable_attention.fixed_points import fixed_point
from solvable_attention.state_evolution import default_quadrature
from solvable_attention.task import TeacherStudent
from solvable_attention.transitions import transition

# Ranges of α around the transitions of each ω: a search over the whole default range solves many merged points.
RANGES = {0.0: (0.45, 0.9), 0.1: (0.45, 1.5), 0.2: (0.5, 2.0), 0.3: (0.5, 2.0)}
LOSSES = ("alpha_c", "alpha_l")


@lru_cache
def curves(omega):
    return BranchCurves(TeacherStudent(omega))


@lru_cache
def found(omega, kind, refinement=0):
    low, high = RANGES[omega]
    task, known = TeacherStudent(omega), curves(omega)
    return transition(task, kind, low=low, high=high, refinement=refinement, curves=known)


def at(omega, alpha, name):
    return fixed_point(TeacherStudent(omega), alpha, name)


# Independent solves on 2^16 to 2^17 Sobol points, given to three digits.
INDEPENDENT = [
    *((0.1, "alpha_c", 0.750), (0.2, "alpha_c", 0.948), (0.3, "alpha_c", 1.251)),
    *((0.1, "alpha_l", 0.894), (0.2, "alpha_l", 1.118), (0.3, "alpha_l", 1.492)),
]


@pytest.mark.parametrize(("omega", "kind", "alpha"), INDEPENDENT)
def test_loss_transitions_meet_independent_solves(omega, kind, alpha):
    result = found(omega, kind)
    assert result.status == "found" and result.error < 1e-3
    assert result.alpha == pytest.approx(alpha, abs=2e-3)


@pytest.mark.parametrize("omega", [0.2, 0.3])
@pytest.mark.parametrize("kind", LOSSES)
def test_the_error_covers_what_four_times_the_points_change(omega, kind):
    coarse, fine = found(omega, kind), found(omega, kind, refinement=1)
    assert abs(coarse.alpha - fine.alpha) <= coarse.error


@pytest.mark.parametrize("kind", LOSSES)
def test_the_range_of_the_search_does_not_matter(kind):
    here, there = found(0.3, kind), transition(TeacherStudent(0.3), kind, low=0.6, high=1.9)
    assert there.status == "found"
    assert abs(there.alpha - here.alpha) <= min(here.error, there.error)


@pytest.mark.parametrize("omega", [0.2, 0.3])
def test_training_losses_are_equal_at_alpha_c_and_cross_there(omega):
    middle = found(omega, "alpha_c").alpha
    differences = []
    for alpha in (0.97 * middle, middle, 1.03 * middle):
        semantic, positional = at(omega, alpha, "semantic"), at(omega, alpha, "positional")
        errors = semantic.errors["train_loss"] + positional.errors["train_loss"]
        differences.append((semantic.train_loss - positional.train_loss) / errors)
    assert differences[0] > 3 and abs(differences[1]) < 1 and differences[2] < -3


@pytest.mark.parametrize("omega", [0.2, 0.3])
def test_semantic_test_error_is_the_linear_one_at_alpha_l(omega):
    point = at(omega, found(omega, "alpha_l").alpha, "semantic")
    assert abs(point.test_error - linear_baseline(point.task).test_error) <= point.errors["test_error"]


def test_theta_grows_like_a_square_root_above_the_semantic_onset():
    """At ω = .3 the branch leaves the uninformative one continuously: θ² is linear in α − α_onset."""
    onset = found(0.3, "semantic_onset").alpha
    assert at(0.3, 0.99 * onset, "semantic").merged
    one, two = (at(0.3, (1 + x) * onset, "semantic") for x in (0.01, 0.02))
    assert one.converged and not one.merged
    assert (two.theta / one.theta) ** 2 == pytest.approx(2, rel=0.15)


def test_m_is_zero_again_beyond_the_positional_end():
    end = found(0.1, "positional_end")
    below, above = (at(0.1, x * end.alpha, "positional") for x in (0.99, 1.01))
    assert below.converged and not below.merged and below.m > 0.02
    assert above.converged and above.merged


def test_purely_semantic_teacher_has_its_transitions_in_order():
    onset, middle, unstable = (found(0.0, k) for k in ("semantic_onset", "alpha_c", "positional_unstable"))
    assert onset.alpha == pytest.approx(0.512, abs=2e-3)
    assert middle.alpha == pytest.approx(0.615, abs=2e-3)
    assert unstable.alpha == pytest.approx(0.784, abs=2e-3)


@pytest.mark.parametrize("omega", [0.0, 0.1, 0.2, 0.3])
def test_the_semantic_branch_appears_then_wins_then_beats_the_baseline(omega):
    first, second, third = (found(omega, kind).alpha for kind in ("semantic_onset", *LOSSES))
    assert first < second < third


@pytest.mark.parametrize("omega", list(RANGES))
def test_the_semantic_onset_is_known_to_a_thousandth(omega):
    assert found(omega, "semantic_onset").error < 1e-3


def test_more_positional_teachers_are_learned_later():
    for kind in (*LOSSES, "semantic_onset"):
        assert (np.diff([found(omega, kind).alpha for omega in RANGES]) > 0.03).all(), kind


@pytest.mark.parametrize(
    ("omega", "kind", "low", "high"),
    [
        (0.3, "alpha_c", 0.02, 0.3),
        (0.3, "alpha_c", 1.3, 2.0),
        (0.3, "alpha_l", 0.8, 1.4),
        (0.1, "positional_unstable", 1.1, 1.25),
        (0.5, "positional_end", 0.5, 2.0),
        (1.0, "alpha_c", 0.5, 1.5),
    ],
)
def test_a_transition_that_does_not_exist_is_a_value(omega, kind, low, high):
    """Before, beyond and without the change of sign alike."""
    result = transition(TeacherStudent(omega), kind, low=low, high=high)
    assert result.status == "absent" and np.isnan(result.alpha) and np.isnan(result.error)
    assert (result.kind, result.low, result.high) == (kind, low, high)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"kind": "alpha_x"}, r"^kind: is 'alpha_x', allowed is one of alpha_c, alpha_m, alpha_s"),
        ({"kind": "alpha_c", "low": 0.0}, r"^low, high: are 0.0, 3.0, allowed"),
        ({"kind": "alpha_c", "low": 2.0, "high": 1.0}, r"^low, high: are 2.0, 1.0, allowed"),
        ({"kind": "alpha_c", "high": float("inf")}, r"^low, high: are 0.02, inf, allowed"),
        ({"kind": "alpha_c", "high": float("nan")}, r"^low, high: are 0.02, nan, allowed"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ArgumentError, match=named):
        transition(TeacherStudent(0.3), **arguments)


def test_curves_solve_each_point_once_and_as_a_single_solve_does():
    known = curves(0.3)
    point, alone = known.at("semantic", 0.95), at(0.3, 0.95, "semantic")
    assert known.at("semantic", 0.95) is point
    assert point.theta == pytest.approx(alone.theta, rel=1e-7)
    assert known.exists("semantic", 0.95) and not known.exists("semantic", 0.68)


@pytest.fixture(scope="module", params=["semantic", "positional"])
def curve_and_points(request):
    """α as a function of the order parameter, from the first of two points of the branch."""
    omega, alphas = {"semantic": (0.3, (1.0, 0.85)), "positional": (0.1, (1.2, 1.25))}[request.param]
    points = [at(omega, alpha, request.param) for alpha in alphas]
    return AmplitudeCurve(points[0], default_quadrature(points[0].task, request.param)), points


def amplitude(point):
    return float(point.overlaps.mu[0, 0] if point.branch == "positional" else point.overlaps.t[0, 0])


def test_alpha_of_the_amplitude_inverts_the_branch(curve_and_points):
    curve, points = curve_and_points
    for point in points[::-1]:
        assert curve.alpha(amplitude(point)) == pytest.approx(point.alpha, rel=1e-6)


def test_alpha_is_even_in_the_amplitude_and_starts_at_the_pitchfork(curve_and_points):
    curve, (point, _) = curve_and_points
    kind = "positional_end" if point.branch == "positional" else "semantic_onset"
    pitchfork = found(point.task.omega, kind)
    a, b, c = (curve.alpha(s * amplitude(point)) for s in (0.2, 0.1, 0.05))
    assert (a - b) / (b - c) == pytest.approx(4, rel=0.1)
    # The default rules move the pitchfork by 2e-4 beside those that it was found with.
    assert (4 * c - b) / 3 == pytest.approx(pitchfork.alpha, abs=pitchfork.error + 2e-4)


def test_program_writes_found_and_absent_transitions(tmp_path):
    options = ("--kind", "alpha_l", "--kind", "alpha_c", "--low", 1.4, "--high", 1.6)
    result = call("transitions.py", *TASK, *options, "--output", tmp_path / "table.parquet")
    assert result.returncode == 0, result.stderr
    table = read_table(TRANSITIONS, tmp_path / "table.parquet").set_index("kind")
    assert table.status.to_dict() == {"alpha_c": "absent", "alpha_l": "found"}
    assert table.alpha["alpha_l"] == pytest.approx(1.492, abs=2e-3) and np.isnan(table.alpha["alpha_c"])


def test_curves_of_another_task_are_refused():
    with pytest.raises(ArgumentError, match="curves: are of"):
        transition(TeacherStudent(omega=0.3), "alpha_c", curves=BranchCurves(TeacherStudent(omega=0.28)))
