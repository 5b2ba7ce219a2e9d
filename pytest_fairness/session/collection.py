"""From marked functions to tests: one per item and model, one per threshold and model."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeGuard, cast

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.probes import is_declared, mark_of, threshold_probe
from pytest_fairness.session.state import FairnessSession, Unbuilt

LONE_CALLABLE = (
    "a mark that is given one callable and nothing else decorates it; write @pytest.mark.threshold(probe=...)"
)


def parametrize(metafunc: pytest.Metafunc, fairness: FairnessSession) -> None:
    """Give a probe its items and a threshold its probe, and both the models of the run."""
    function = metafunc.function
    is_probe, is_threshold = (mark_of(function, mark) is not None for mark in ("probe", "threshold"))
    if not (is_probe or is_threshold or "flips" in metafunc.fixturenames):
        return
    if is_probe:
        _parametrize_items(metafunc, fairness, both=is_threshold)
    if is_threshold and "measured" in metafunc.fixturenames:
        _parametrize_measured(metafunc, fairness)
    if "model_name" in metafunc.fixturenames:
        names = fairness.model_names()
        ids = [name.id if name else pytest.HIDDEN_PARAM for name in names]
        metafunc.parametrize("model_name", [name and str(name) for name in names], ids=ids, scope="session")


def _parametrize_items(metafunc: pytest.Metafunc, fairness: FairnessSession, *, both: bool) -> None:
    probe = fairness.probe(metafunc.function)
    if both:
        probe.error = f"{metafunc.function.__name__} is marked both probe and threshold: {LONE_CALLABLE}"
    if "probe_item" not in metafunc.fixturenames:
        probe.error = missing("probe", metafunc.function, "probe_item")
        return
    if probe.error is not None:
        placeholder = pytest.param(Unbuilt(probe.error, probe.is_skipped), id="items")
        metafunc.parametrize("probe_item", [placeholder], indirect=True)
        return
    ids = [item.test_id for item in probe.items]
    metafunc.parametrize("probe_item", range(len(probe.items)), ids=ids, indirect=True)


def _parametrize_measured(metafunc: pytest.Metafunc, fairness: FairnessSession) -> None:
    value: object
    try:
        value = fairness.probe(threshold_probe(metafunc.function))
        fairness.own.note(metafunc.definition.nodeid, metafunc.definition.path, value)
    except FairnessError as error:
        value = Unbuilt(str(error))
    # Not of function scope, so that hypothesis lets `@given` use it.
    metafunc.parametrize("measured", [value], ids=[pytest.HIDDEN_PARAM], indirect=True, scope="module")


def missing_fixture(item: pytest.Function) -> str | None:
    """Why a marked test cannot do what its mark says: it does not take the fixture for it."""
    for mark, fixture in (("probe", "probe_item"), ("threshold", "measured")):
        if mark_of(item.function, mark) is not None and fixture not in item.fixturenames:
            return missing(mark, item.function, fixture)
    return None


def missing(mark: str, function: Callable[..., object], fixture: str) -> str:
    """The line for a marked test that takes no such fixture."""
    return f"{mark} {function.__name__}: its test takes no `{fixture}`: add it to the arguments"


def belongs_elsewhere(collector: pytest.Module | pytest.Class, function: object) -> bool:
    """Whether a probe or threshold was only imported here from another test module, which collects it."""
    home = getattr(function, "__module__", None)
    here = collector.getparent(pytest.Module)
    if home is None or here is None or home == here.obj.__name__:
        return False
    module = sys.modules.get(home)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return False
    is_test_module = any(fnmatch(Path(file).name, pattern) for pattern in here.config.getini("python_files"))
    return is_test_module and getattr(module, getattr(function, "__name__", ""), None) is function


def unasserted_comparison(function: Callable[..., object]) -> int | None:
    """The line of a comparison that stands alone in a threshold, where it can fail nothing.

    Only the function's own source is read; None where there is none to read, or none in Python.
    """
    if is_declared(function):
        return None
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
    except (OSError, TypeError):
        return None
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _compares(node.value):
            return first + node.lineno - 1
    return None


def _compares(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return _compares(value.operand)
    if isinstance(value, ast.BoolOp):
        return any(map(_compares, value.values))
    return isinstance(value, ast.Compare)


def optimised(items: Sequence[pytest.Item]) -> str | None:
    """Why these tests are refused under ``python -O``: an assert is no code there, so every threshold would pass."""
    if sys.flags.optimize == 0 or not any(is_marked(item) for item in items):
        return None
    return "fairness thresholds are asserts, and python -O (or PYTHONOPTIMIZE) removes them: run without it"


def place_of(item: pytest.Function) -> int | Unbuilt | None:
    """Which item of its probe a test measures; None of one that measures none."""
    if mark_of(item.function, "probe") is None or not hasattr(item, "callspec"):
        return None
    return cast("int | Unbuilt | None", item.callspec.params.get("probe_item"))


def is_marked(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Whether a test is a probe's or a threshold."""
    return isinstance(item, pytest.Function) and any(
        mark_of(item.function, mark) is not None for mark in ("probe", "threshold")
    )
