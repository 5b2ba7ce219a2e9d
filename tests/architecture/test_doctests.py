"""Examples in docstrings run as they are written."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import pytest_fairness

PACKAGE = Path(pytest_fairness.__file__).parent
MODULES = sorted(
    ".".join(("pytest_fairness", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_hold(name: str) -> None:
    module = import_module(name)
    if "import torch" in inspect.getsource(module):
        pytest.importorskip("torch", reason="the examples of this module need torch")
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed
