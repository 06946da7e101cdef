"""What the figures beside 2 and 3 need of the experiments that they draw, as a table of demands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grids import grid, values

BOTH = frozenset({"semantic", "positional"})
NOISY, RANDOM = frozenset({"noisy_positional"}), frozenset({"random"})


@dataclass(frozen=True)
class Needs:
    """parts the experiment has; starts and branches among those of its runs and theory; kinds of its transitions;
    parameters with one value; `map`: at least two ω and α; `theory`: at every α of the runs; `paired`: a baseline on
    the grid and data of the runs."""

    parts: tuple[str, ...]
    starts: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    single: tuple[str, ...] = ("omega", "sigma", "lam", "d")
    map: bool = False
    theory: bool = False
    paired: bool = False


SWEEP = {"parts": ("theory", "simulations", "baseline"), "starts": BOTH | NOISY, "branches": BOTH, "theory": True}
MAP = {"single": ("sigma", "lam", "d"), "map": True, "paired": True}
NEEDS = {
    ("sweeps", "omega"): Needs(**SWEEP, single=("sigma", "lam", "d")),
    ("sweeps", "sigma"): Needs(**SWEEP, single=("omega", "lam", "d")),
    ("sweeps", "lam"): Needs(**SWEEP, single=("omega", "sigma", "d")),
    ("sizes", "scaling"): Needs(
        ("theory", "simulations"), BOTH | NOISY, BOTH, single=("omega", "sigma", "lam", "alphas"), theory=True
    ),
    ("basins", "informed"): Needs(("simulations",), BOTH),
    ("basins", "theory"): Needs(("theory",), branches=BOTH, single=("omega", "sigma", "lam")),
    ("basins", "adam"): Needs(("simulations",), RANDOM, single=("omega", "sigma", "lam", "d", "alphas")),
    ("basins", "descent"): Needs(("simulations",), RANDOM, single=("omega", "sigma", "lam", "d", "alphas")),
    ("basins", "shares"): Needs(("simulations",), RANDOM, single=("omega", "sigma", "lam")),
    ("positional_minima", "minima"): Needs(
        ("theory", "simulations"), NOISY, frozenset({"positional"}), single=("omega", "sigma", "lam"), theory=True
    ),
    ("second_A", "diagram"): Needs(("theory", "simulations", "baseline"), BOTH, BOTH, theory=True, **MAP),
    ("second_A", "lines"): Needs(("transitions",), kinds=frozenset({"alpha_l"}), single=("sigma", "lam")),
    ("rank2", "rank2"): Needs(("simulations", "baseline"), RANDOM, **MAP),
    ("rank2", "rank1"): Needs(("simulations", "baseline"), RANDOM, **MAP),
    ("rank2", "lines"): Needs(("transitions",), kinds=frozenset({"alpha_l"}), single=("sigma", "lam")),
    ("landscape", "landscape"): Needs(("landscape",), single=("omega", "sigma", "lam")),
}
# Where a figure draws two experiments in one panel, they are of one task, and their data of one σ.
ALIKE = {
    "basins": ("omega", "sigma", "lam", "A", "L", "covariance", "encodings_gram", "tied", "rank", "teacher_rank"),
    "second_A": ("sigma", "lam", "A", "L", "covariance", "encodings_gram", "tied", "rank", "teacher_rank"),
    "rank2": ("sigma", "lam", "A", "L", "covariance", "encodings_gram", "tied", "teacher_rank"),
}


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
            yield where, alphas, allowed


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
    for key in needs.single:
        inside = key in ("d", "alphas")
        given = grid(runs["alphas"]) if key == "alphas" else runs["d"] if key == "d" else values(experiment, key)
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
            yield f"{where}.baseline", fits, f"d, alphas and seeds as in simulations, for {reader}"
