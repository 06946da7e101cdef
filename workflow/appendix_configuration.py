"""What the figures beside 2 and 3 need of the experiments that they draw, as a table of demands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grids import grid, values

BOTH = frozenset({"semantic", "positional"})
NOISY, RANDOM = frozenset({"noisy_positional"}), frozenset({"random"})


@dataclass(frozen=True)
class Needs:
    """What an experiment has to have.

    parts; starts and branches among those of its runs and theory; kinds of its transitions; single: parameters with one
    value; map: at least two ω and α; theory: at every α of the runs; paired: a baseline on the grid and data of the
    runs; optimizer of the runs; rank of the student, always tied; seeds: the fewest data sets, two where the figure
    takes standard errors; one_start: one run for each data set and deviation.
    """

    parts: tuple[str, ...]
    starts: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    single: tuple[str, ...] = ("omega", "sigma", "lam", "d")
    map: bool = False
    theory: bool = False
    paired: bool = False
    optimizer: str = "lbfgs"
    rank: int = 1
    seeds: int = 2
    one_start: bool = False


SWEEP = {"parts": ("theory", "simulations", "baseline"), "starts": BOTH | NOISY, "branches": BOTH, "theory": True}
ONE_POINT = ("omega", "sigma", "lam", "d", "alphas")
MAP = {"single": ("sigma", "lam", "d"), "map": True, "paired": True}
NEEDS = {
    ("sweeps", "omega"): Needs(**SWEEP, single=("sigma", "lam", "d")),
    ("sweeps", "sigma"): Needs(**SWEEP, single=("omega", "lam", "d")),
    ("sweeps", "lam"): Needs(**SWEEP, single=("omega", "sigma", "d")),
    ("sizes", "scaling"): Needs(
        ("theory", "simulations"), BOTH | NOISY, BOTH, single=("omega", "sigma", "lam", "alphas"), theory=True
    ),
    ("basins", "informed"): Needs(("simulations",), BOTH, optimizer="gd"),
    ("basins", "theory"): Needs(("theory",), branches=BOTH, single=("omega", "sigma", "lam")),
    ("basins", "adam"): Needs(
        ("simulations",), RANDOM, optimizer="adam", seeds=1, one_start=True, single=(*ONE_POINT, "random_std")
    ),
    ("basins", "descent"): Needs(
        ("simulations",), RANDOM, optimizer="gd", seeds=1, one_start=True, single=(*ONE_POINT, "random_std")
    ),
    ("basins", "shares"): Needs(("simulations",), RANDOM, seeds=1, one_start=True, single=("omega", "sigma", "lam")),
    ("positional_minima", "minima"): Needs(
        ("theory", "simulations"), NOISY, frozenset({"positional"}), single=("omega", "sigma", "lam"), theory=True
    ),
    ("second_A", "diagram"): Needs(("theory", "simulations", "baseline"), BOTH, BOTH, theory=True, **MAP),
    ("second_A", "lines"): Needs(("transitions",), kinds=frozenset({"alpha_l"}), single=("sigma", "lam")),
    ("rank2", "rank2"): Needs(("simulations", "baseline"), RANDOM, rank=2, one_start=True, **MAP),
    ("rank2", "rank1"): Needs(("simulations", "baseline"), RANDOM, one_start=True, **MAP),
    ("rank2", "lines"): Needs(("transitions",), kinds=frozenset({"alpha_l"}), single=("sigma", "lam")),
    ("landscape", "landscape"): Needs(("landscape",), single=("omega", "sigma", "lam")),
}
_LAW = ("A", "L", "covariance", "encodings_gram", "tied", "teacher_rank", "value_rank", "activation", "spectrum")
# Where a figure draws several experiments in one panel, they are of one task, and their data of one σ.
ALIKE = {
    "sweeps": (*_LAW, "rank"),
    "basins": (*_LAW, "rank", "omega", "sigma", "lam"),
    "second_A": (*_LAW, "rank", "sigma", "lam"),
    "rank2": (*_LAW, "sigma", "lam"),
}
# Pairs whose runs are compared one by one: experiment and the one it follows, and what they share.
SAME_RUNS = (
    ("basins", "descent", "adam", ("d", "alphas", "seeds", "random_std")),
    ("rank2", "rank1", "rank2", ("d", "alphas", "seeds", "random_std")),
    ("sweeps", "sigma", "omega", ("d", "optimizer", "restarts")),
    ("sweeps", "lam", "omega", ("d", "optimizer", "restarts")),
)


def appendix_refusals(figures: dict, experiments: dict) -> Iterator[tuple[str, object, str]]:
    """(key, value, what is allowed) of everything that could not be drawn; nothing where all can."""
    for (figure, role), needs in NEEDS.items():
        name, key = figures[figure][role], f"appendix.{figure}.{role}"
        if name not in experiments:
            yield key, repr(name), f"one of the experiments {', '.join(experiments)}"
            return
        missing = [part for part in needs.parts if part not in experiments[name]]
        if missing:
            yield key, repr(name), f"an experiment with a part {missing[0]}"
            return
        yield from _refusals(f"experiments.{name}", experiments[name], needs, key)
    yield from _common_alpha(figures["basins"], experiments)
    for figure, role, other, keys in SAME_RUNS:
        name, followed = figures[figure][role], figures[figure][other]
        mine, theirs = experiments[name]["simulations"], experiments[followed]["simulations"]
        for key in keys:
            if mine.get(key) != theirs.get(key):
                allowed = f"{theirs.get(key)}, as in {followed}, for appendix.{figure}"
                yield f"experiments.{name}.simulations.{key}", mine.get(key), allowed
    for figure, parameters in ALIKE.items():
        first, *others = (experiments[name] for name in figures[figure].values())
        names = list(figures[figure].values())
        for name, other in zip(names[1:], others, strict=True):
            for parameter in parameters:
                if other.get(parameter) != first.get(parameter):
                    allowed = f"{first.get(parameter)}, as in {names[0]}, for appendix.{figure}"
                    yield f"experiments.{name}.{parameter}", other.get(parameter), allowed


def _common_alpha(names: dict, experiments: dict) -> Iterator[tuple[str, object, str]]:
    """The single runs of the basins are shown at the α of the random starts, beside theory there."""
    (alpha,) = grid(experiments[names["adam"]]["simulations"]["alphas"])
    for role, part in (("informed", "simulations"), ("descent", "simulations"), ("theory", "theory")):
        alphas = grid(experiments[names[role]][part]["alphas"])
        if alpha not in alphas:
            where, allowed = f"experiments.{names[role]}.{part}.alphas", f"a grid with {alpha:g}, for appendix.basins"
            yield where, f"a grid without {alpha:g}", allowed


def _refusals(where: str, experiment: dict, needs: Needs, reader: str) -> Iterator[tuple[str, object, str]]:
    """Refusals of one experiment, drawn by `reader`."""
    runs = experiment.get("simulations", {})
    for part, key, wanted in (
        ("simulations", "starts", needs.starts),
        ("theory", "branches", needs.branches),
        ("transitions", "kinds", needs.kinds),
    ):
        found = set(experiment.get(part, {}).get(key, ()))
        if not wanted <= found:
            yield f"{where}.{part}.{key}", sorted(found), f"a list with {', '.join(sorted(wanted))}, for {reader}"
        elif wanted == RANDOM and found != wanted:
            yield f"{where}.{part}.{key}", sorted(found), f"random alone, for {reader}"
    if experiment.get("rank", 1) != needs.rank or not experiment.get("tied", True):
        shown = f"rank {experiment.get('rank', 1)}, tied {experiment.get('tied', True)}"
        yield where, shown, f"rank {needs.rank}, tied, for {reader}"
    if runs:
        if runs["optimizer"] != needs.optimizer:
            yield f"{where}.simulations.optimizer", repr(runs["optimizer"]), f"{needs.optimizer}, for {reader}"
        if runs["seeds"] < needs.seeds:
            yield f"{where}.simulations.seeds", runs["seeds"], f"a whole number ≥ {needs.seeds}, for {reader}"
        if needs.one_start and runs.get("restarts", 1) != 1:
            yield f"{where}.simulations.restarts", runs["restarts"], f"1, for {reader}"
    for key in needs.single:
        inside = key in ("d", "alphas", "random_std")
        given = _values_of(experiment, runs, key)
        if len(given) != 1:
            yield f"{where}.{'simulations.' * inside}{key}", given, f"one value, for {reader}"
    if needs.theory and not set(grid(runs["alphas"])) <= set(grid(experiment["theory"]["alphas"])):
        yield f"{where}.theory.alphas", experiment["theory"]["alphas"], f"a grid with all α of the runs, for {reader}"
    if needs.map:
        for key, points in (("omega", values(experiment, "omega")), ("simulations.alphas", grid(runs["alphas"]))):
            if len(points) < 2:
                yield f"{where}.{key}", points, f"at least two values, for {reader}"
    if needs.paired:
        fits = experiment["baseline"]
        same = grid(fits["alphas"]) == grid(runs["alphas"])
        if not same or any(fits[key] != runs[key] for key in ("d", "seeds")):
            yield f"{where}.baseline", "on other data", f"d, alphas and seeds as in simulations, for {reader}"


def _values_of(experiment: dict, runs: dict, key: str) -> list:
    """The values that a parameter takes in an experiment."""
    if key == "alphas":
        return grid(runs["alphas"])
    if key == "random_std":
        return runs.get(key, [0.1])  # the default of `simulate`
    return runs["d"] if key == "d" else values(experiment, key)
