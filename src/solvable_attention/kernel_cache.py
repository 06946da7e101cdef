"""What numba's cache on disk does not see by itself.

A cached function is taken for stale when its own file has changed, but not when that of a function which it calls has:
after an update, code of yesterday would go on running. Numba's key does hold the values that a function closes over.
So a compiled function that calls into other files is made inside a function of one argument, their digest.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from types import ModuleType


def source_digest(*modules: ModuleType) -> int:
    """A number ≥ 0 that changes with the source of any of the modules."""
    digest = 0
    for module in modules:
        digest = zlib.crc32(Path(module.__file__).read_bytes(), digest)
    return digest
