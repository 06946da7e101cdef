import importlib

import numba

from solvable_attention import channel, prox
from solvable_attention.kernel_cache import source_digest


def test_the_digest_follows_the_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "some_kernel.py").write_text("x = 1\n")
    module = importlib.import_module("some_kernel")
    before = source_digest(module, prox)
    (tmp_path / "some_kernel.py").write_text("x = 2\n")
    assert source_digest(module, prox) != before >= 0


def test_the_digest_is_part_of_numbas_key():
    """Another digest must not find what was compiled for this one."""
    now, later = channel._block_sums, channel._compiled_block_sums(1)
    signature = (numba.int64,)
    codegen = numba.core.registry.cpu_target.target_context.codegen()
    assert now._cache._index_key(signature, codegen) != later._cache._index_key(signature, codegen)
    same = channel._compiled_block_sums(1)
    assert same._cache._index_key(signature, codegen) == later._cache._index_key(signature, codegen)
