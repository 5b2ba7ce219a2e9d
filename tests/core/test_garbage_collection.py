"""The search for reference cycles, and the objects that it leaves out."""

from __future__ import annotations

import gc
import sys
from importlib import import_module

import pytest

from pytest_fairness.core.garbage_collection import lasting_imports


@pytest.mark.slow
def test_only_imports_are_left_out_of_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = gc.get_freeze_count()
    with lasting_imports():
        held: list[list[int]] = [[] for _ in range(1000)]
    assert gc.get_freeze_count() <= frozen  # fewer where objects that were left out have gone
    monkeypatch.delitem(sys.modules, "this", raising=False)
    with lasting_imports():
        assert not gc.isenabled()
        import_module("this")
    assert gc.get_freeze_count() > frozen + len(held) // 2
    assert gc.isenabled()
