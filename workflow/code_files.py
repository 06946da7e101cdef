"""Source files that a script depends on, so that rules can name them as inputs.

Snakemake compares small inputs by content: a touched file re-runs nothing, an edited one re-runs what imports it.
"""

from __future__ import annotations

import ast
from pathlib import Path


def code_files(script: str, search: tuple[str, ...] = ("src", "scripts")) -> list[str]:
    """The project's files that `script` imports, directly or not, sorted; relative to the working directory."""
    found: set[Path] = set()
    waiting = [Path(script)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_imports(path, [Path(folder) for folder in search]))
    return sorted(str(path) for path in found - {Path(script)})


def _imports(path: Path, search: list[Path]):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _resolve(search, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            folders = [path.parents[node.level - 1]] if node.level else search
            base = node.module.split(".") if node.module else []
            yield from _resolve(folders, base)
            for alias in node.names:
                yield from _resolve(folders, [*base, alias.name])


def _resolve(folders: list[Path], parts: list[str]):
    """Files of module a.b.c below the first folder that holds it: its packages' __init__ and the module."""
    for folder in folders:
        candidates = [folder.joinpath(*parts[: i + 1], "__init__.py") for i in range(len(parts))]
        if parts:
            candidates.append(folder.joinpath(*parts[:-1], parts[-1] + ".py"))
        existing = [candidate for candidate in candidates if candidate.is_file()]
        if existing:
            yield from existing
            return
