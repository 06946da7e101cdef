"""What figure 3, its companions and the scorecard need of the experiments that they draw."""

from __future__ import annotations

from collections.abc import Iterator

from figure2_configuration import NOT_OF_THE_TASK
from grids import grid, values

BOTH = {"semantic", "positional"}
PARTS = {
    "diagram": ("theory", "simulations", "baseline"),
    "scaling": ("theory", "simulations"),
    "lines": ("transitions",),
    "ends": ("transitions",),
    "census": ("scan",),
}
KINDS = {
    "lines": {"alpha_c", "alpha_l"},
    "ends": {"semantic_onset", "semantic_stable", "positional_onset", "positional_end", "positional_unstable"},
}


def figure3_refusals(names: dict, experiments: dict) -> Iterator[tuple[str, object, str]]:
    """(key, value, what is allowed) of everything that could not be drawn; nothing where all can."""
    for key, parts in PARTS.items():
        name = names[key]
        if name not in experiments:
            yield f"figure3.{key}", repr(name), f"one of the experiments {', '.join(experiments)}"
        for part in parts:
            if part not in experiments[name]:
                yield f"figure3.{key}", repr(name), f"an experiment with a part {part}"
        drawn = experiments[names["diagram"]] if names["diagram"] in experiments else experiments[name]
        for parameter in sorted((set(drawn) | set(experiments[name])) - {"omega", *NOT_OF_THE_TASK}):
            if experiments[name].get(parameter) != drawn.get(parameter):
                allowed = f"{drawn.get(parameter)}, as in the other experiments of figure 3"
                yield f"experiments.{name}.{parameter}", experiments[name].get(parameter), allowed
        for parameter in ("sigma", "lam"):
            if len(experiments[name][parameter]) != 1:
                yield f"experiments.{name}.{parameter}", experiments[name][parameter], "one value, for figure 3"
    for key, kinds in KINDS.items():
        name = names[key]
        if not set(experiments[name]["transitions"]["kinds"]) >= kinds:
            found = experiments[name]["transitions"]["kinds"]
            yield f"experiments.{name}.transitions.kinds", found, f"a list with {', '.join(sorted(kinds))}"
    if len(values(experiments[names["lines"]], "omega")) < 2:
        yield f"experiments.{names['lines']}.omega", experiments[names["lines"]]["omega"], "at least two values"
    yield from _diagram(f"experiments.{names['diagram']}", experiments[names["diagram"]])
    yield from _scaling(f"experiments.{names['scaling']}", experiments[names["scaling"]])


def _diagram(where: str, experiment: dict) -> Iterator[tuple[str, object, str]]:
    """Theory, both starts and baseline on one grid, the last two on the same data."""
    runs = experiment["simulations"]
    yield from _both(where, experiment)
    if runs["optimizer"] != "lbfgs":
        yield f"{where}.simulations.optimizer", repr(runs["optimizer"]), "lbfgs, for figure 3"
    if len(runs["d"]) != 1:
        yield f"{where}.simulations.d", runs["d"], "one value, for figure 3"
    if runs["seeds"] < 2:
        yield f"{where}.simulations.seeds", runs["seeds"], "a whole number ≥ 2, for standard errors"
    for key in ("d", "seeds"):
        if experiment["baseline"][key] != runs[key]:
            yield f"{where}.baseline.{key}", experiment["baseline"][key], f"{runs[key]}, as in simulations"
    for part in ("theory", "baseline"):
        if grid(experiment[part]["alphas"]) != grid(runs["alphas"]):
            yield f"{where}.{part}.alphas", experiment[part]["alphas"], "the same grid as in simulations"
    for key, points in (("omega", values(experiment, "omega")), ("simulations.alphas", grid(runs["alphas"]))):
        if len(points) < 2:
            yield f"{where}.{key}", points, "at least two values, for a map"


def _scaling(where: str, experiment: dict) -> Iterator[tuple[str, object, str]]:
    """Both starts at one α and ω, and theory there."""
    yield from _both(where, experiment)
    if len(values(experiment, "omega")) != 1:
        yield f"{where}.omega", experiment["omega"], "one value, for figure 3"
    for part in ("simulations", "theory"):
        if grid(experiment[part]["alphas"]) != grid(experiment["simulations"]["alphas"])[:1]:
            yield f"{where}.{part}.alphas", experiment[part]["alphas"], "one value, the same for theory and simulations"


def _both(where: str, experiment: dict) -> Iterator[tuple[str, object, str]]:
    for part, key in (("theory", "branches"), ("simulations", "starts")):
        if not set(experiment[part][key]) >= BOTH:
            yield f"{where}.{part}.{key}", experiment[part][key], "a list with semantic and positional"
