"""What the figures of the extensions need of the experiments that they draw."""

from __future__ import annotations

from collections.abc import Iterator

from grids import grid, values

READ = ("theory", "transitions", "simulations")
NOT_READ = ("scan", "baseline", "landscape")
LEAST_SIZES = 3  # of the fit v + c/d
RESERVED = ("correlation_line", "untied_diagram")
# Parts that an extension of each kind of figure has, and the parameters of which it has one value.
NEEDS = {
    "branches": (("theory", "simulations"), ("omega", "sigma", "lam")),
    "correlation": ((), ("omega", "sigma", "lam")),
    "untied_diagram": (("transitions", "simulations"), ("sigma", "lam")),
}


def extension_refusals(figures: dict, extensions: dict, experiments: dict) -> Iterator[tuple[str, object, str]]:
    """(key, value, what is allowed) of everything that could not be computed or drawn; nothing where all can."""
    for name, extension in extensions.items():
        yield from _parts(name, extension, experiments)
    groups = [(f"branches[{i}].rows", "branches", part["rows"]) for i, part in enumerate(figures["branches"])]
    groups += [(kind, kind, figures[kind]) for kind in ("correlation", "untied_diagram")]
    taken = [*RESERVED]
    for i, part in enumerate(figures["branches"]):
        if part["figure"] in taken:
            yield f"extension_figures.branches[{i}].figure", repr(part["figure"]), f"any but {', '.join(taken)}"
        taken.append(part["figure"])
    for group, kind, names in groups:
        where = f"extension_figures.{group}"
        for name in names:
            if name not in extensions:
                yield where, repr(name), f"a list of the extensions {', '.join(extensions)}"
                return
            yield from _drawn(f"extensions.{name}", extensions[name], kind, where)
        yield from _alike(where, kind, names, extensions)
    if not any("alpha_c" in _kinds(extensions[name]) for name in figures["correlation"]):
        yield (
            "extension_figures.correlation",
            figures["correlation"],
            "a list with a transition alpha_c in one at least",
        )


def _parts(name: str, extension: dict, experiments: dict) -> Iterator[tuple[str, object, str]]:
    where = f"extensions.{name}"
    if name in experiments:
        yield where, "the name of an experiment too", "a name of its own"
    for part in NOT_READ:
        if part in extension:
            yield f"{where}.{part}", "given", f"a part {', '.join(READ)}"
    without_baseline = {"alpha_l", "alpha_lm"} & _kinds(extension)
    if extension.get("value_rank") and without_baseline:
        kinds = extension["transitions"]["kinds"]
        yield (
            f"{where}.transitions.kinds",
            kinds,
            "alpha_c or alpha_m with trained values, which have no linear baseline",
        )


def _drawn(where: str, extension: dict, kind: str, reader: str) -> Iterator[tuple[str, object, str]]:
    parts, single = NEEDS[kind]
    for part in parts:
        if part not in extension:
            yield where, f"without a part {part}", f"an extension with {', '.join(parts)}, for {reader}"
            return
    for key in single:
        if len(values(extension, key)) != 1:
            yield f"{where}.{key}", extension[key], f"one value, for {reader}"
    runs = extension.get("simulations", {})
    if kind != "correlation" and runs["optimizer"] != "lbfgs":
        yield f"{where}.simulations.optimizer", repr(runs["optimizer"]), f"lbfgs, for {reader}"
    if kind == "correlation" and (extension.get("L", 2) != 2 or "covariance" not in extension):
        yield where, "without a covariance of two tokens", f"an extension with one, for {reader}"
    if kind == "untied_diagram":
        if len(runs["d"]) != 1:
            yield f"{where}.simulations.d", runs["d"], f"one value, for {reader}"
        if len(values(extension, "omega")) < 2:
            yield f"{where}.omega", extension["omega"], f"at least two values, for {reader}"
    if kind == "branches":
        if len(runs["d"]) < LEAST_SIZES:
            yield f"{where}.simulations.d", runs["d"], f"at least {LEAST_SIZES} values, for {reader}"
        if runs["seeds"] < 2:
            yield f"{where}.simulations.seeds", runs["seeds"], f"a whole number ≥ 2, for {reader}"
        if not set(grid(runs["alphas"])) <= set(grid(extension["theory"]["alphas"])):
            allowed = f"a grid with all α of the runs, for {reader}"
            yield f"{where}.theory.alphas", extension["theory"]["alphas"], allowed


def _alike(where: str, kind: str, names: list[str], extensions: dict) -> Iterator[tuple[str, object, str]]:
    """The caption gives σ, λ and the sizes once."""
    first = extensions[names[0]]
    shared = ("sigma", "lam", *(("omega",) if kind == "correlation" else ()))
    for name in names[1:]:
        for key in shared:
            if values(extensions[name], key) != values(first, key):
                yield f"extensions.{name}.{key}", extensions[name][key], f"{first[key]}, as in {names[0]}, for {where}"
        if kind != "correlation":
            ours, theirs = (part["simulations"]["d"] for part in (extensions[name], first))
            if ours != theirs:
                yield f"extensions.{name}.simulations.d", ours, f"{theirs}, as in {names[0]}, for {where}"


def drawn_extensions(figures: dict) -> list[str]:
    """Names of the extensions that some figure draws, in the order in which figures name them."""
    rows = [name for part in figures["branches"] for name in part["rows"]]
    return list(dict.fromkeys([*rows, *figures["correlation"], *figures["untied_diagram"]]))


def _kinds(extension: dict) -> set[str]:
    return set(extension.get("transitions", {}).get("kinds", ()))
