"""What figure 2 needs of the experiments that it draws: one task, one d, both branches, common α."""

from __future__ import annotations

from collections.abc import Iterator

from grids import grid, values

BOTH = {"semantic", "positional"}
PARTS = {
    "slice": ("theory", "transitions", "simulations", "baseline"),
    "restarts": ("simulations",),
    "descent": ("simulations",),
}
NOT_OF_THE_TASK = ("theory", "transitions", "scan", "simulations", "baseline", "landscape")


def figure2_refusals(names: dict, experiments: dict) -> Iterator[tuple[str, object, str]]:
    """(key, value, what is allowed) of everything that figure 2 could not draw; nothing where it can."""
    for key, name in names.items():
        if name not in experiments:
            yield f"figure2.{key}", repr(name), f"one of the experiments {', '.join(experiments)}"
        for part in PARTS[key]:
            if part not in experiments[name]:
                yield f"figure2.{key}", repr(name), f"an experiment with a part {part}"
    drawn = experiments[names["slice"]]
    for name in names.values():
        yield from _against(f"experiments.{name}", experiments[name], drawn)
    for part, key in (("theory", "branches"), ("simulations", "starts")):
        if not set(drawn[part][key]) >= BOTH:
            yield f"experiments.{names['slice']}.{part}.{key}", drawn[part][key], "a list with semantic and positional"
    for key, wanted in (("restarts", {"noisy_positional"}), ("descent", BOTH)):
        starts = experiments[names[key]]["simulations"]["starts"]
        if set(starts) != wanted:
            yield f"experiments.{names[key]}.simulations.starts", starts, f"{sorted(wanted)} for figure 2"


def _against(where: str, experiment: dict, drawn: dict) -> Iterator[tuple[str, object, str]]:
    """Refusals of one experiment beside the slice that is drawn."""
    for key in sorted((set(drawn) | set(experiment)) - set(NOT_OF_THE_TASK)):
        if experiment.get(key) != drawn.get(key):
            yield f"{where}.{key}", experiment.get(key), f"{drawn.get(key)}, as in the other experiments of figure 2"
    for key in ("omega", "sigma", "lam"):
        if len(values(experiment, key)) != 1:
            yield f"{where}.{key}", experiment[key], "one value, since figure 2 shows one task"
    part = experiment["simulations"]
    if part["d"] != drawn["simulations"]["d"] or len(part["d"]) != 1:
        yield f"{where}.simulations.d", part["d"], "one value, the same in all experiments of figure 2"
    for alpha in grid(part["alphas"]):
        if alpha not in grid(drawn["simulations"]["alphas"]):
            yield f"{where}.simulations.alphas", f"a grid with {alpha}", "a grid of values that the slice has too"
