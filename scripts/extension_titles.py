"""What sets an extension apart from the paper's case, in words."""

from __future__ import annotations

from solvable_attention.task import STANDARD_A


def plain_title(options: dict) -> str:
    """In the text of a caption or a table."""
    words = ["untied" if not options.get("tied", True) else ""]
    if (options.get("rank", 1), options.get("teacher_rank", 1)) != (1, 1):
        words.append(f"r = {options.get('rank', 1)}, r⋆ = {options.get('teacher_rank', 1)}")
    if "covariance" in options and correlation(options) != 0:
        words.append(f"c = {correlation(options):g}")
    if "spectrum" in options:
        largest, smallest = (f([pair[0] for pair in options["spectrum"]]) for f in (max, min))
        words.append(f"Σ of {len(options['spectrum'])} levels, {smallest:.2g} to {largest:.2g}")
    if options.get("L", 2) != 2:
        words.append(f"L = {options['L']}")
    if options.get("value_rank"):
        words.append("trained values")
    if options.get("activation", "softmax") != "softmax":
        words.append(f"{options['activation']} attention")
    second = options.get("L", 2) == 2 and "A" in options and tuple(map(tuple, options["A"])) != STANDARD_A
    words.append("second A" if second else "")
    return ", ".join(filter(None, words)) or "the paper's case"


def title(options: dict) -> str:
    """For a panel, with symbols in mathematics."""
    text = plain_title(options).replace("-", "−")
    for plain, symbol in (
        ("r⋆ = ", r"$r_\star=$"),
        ("r = ", "$r=$"),
        ("c = ", "$c=$"),
        ("L = ", "$L=$"),
        ("Σ", r"$\Sigma$"),
    ):
        text = text.replace(plain, symbol)
    return text


def correlation(options: dict) -> float:
    """c of two tokens of covariance σ²[[1, c], [c, 1]]."""
    covariance = options["covariance"]
    return covariance[0][1] / covariance[0][0]
