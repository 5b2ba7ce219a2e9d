"""Collection of marked functions as tests: one per item and model, one per threshold and model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from unittest import TestCase

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.identity import (
    CollectionError,
    ItemParameter,
    SampleParameter,
    find_parameters,
    get_sample,
    grader_fixtures,
    is_bound,
    visible_fixtures,
)
from pytest_fairness.plugin.markers import get_mark, own_marks, threshold_probe
from pytest_fairness.plugin.own_tests import SEARCH, find_query_fixtures, load_search
from pytest_fairness.plugin.probe import Probe
from pytest_fairness.plugin.session import FairnessSession

if TYPE_CHECKING:
    pass

NO_MODEL = (
    "no model is named: give --fairness-model provider:name (openai:gpt-5-mini, say), "
    "or override the `model` fixture in conftest.py with your application"
)
TEST_CASE = "a method of unittest.TestCase is given no fixtures by pytest: write the test as a function"
LONE_CALLABLE = (
    "a mark that is given one callable and nothing else decorates it; write @pytest.mark.threshold(probe=...)"
)


def hide_parameters(items: Sequence[pytest.Item]) -> None:
    """Remove parameters that editors cannot list: those without brackets, or of tests outside of Python files.

    VS Code's plugin cuts the name of every test with a `callspec` at its bracket, and its id after ``.py``: one test
    without either empties its whole tree. A listing calls no test, so that parameters are not needed.
    """
    for item in items:
        if isinstance(item, pytest.Function) and (is_marked(item) or find_query_fixtures(item)):
            file = item.nodeid.removesuffix(item.name)
            if hasattr(item, "callspec") and not ("[" in item.name and ".py" in file):
                del item.callspec


def lists_only(config: pytest.Config) -> bool:
    """Return whether this run of pytest calls no test, so that it must not write anything."""
    names = ("collectonly", "setuponly", "setupplan", "showfixtures", "show_fixtures_per_test")
    return any(config.getoption(name, default=False) for name in names)


def parametrize(metafunc: pytest.Metafunc, fairness: FairnessSession) -> None:
    """Parametrize a probe by its items, a threshold by its probe, and both by the models of the run."""
    function = metafunc.function
    marked_probe, marked_threshold = (get_mark(function, mark) is not None for mark in ("probe", "threshold"))
    queries = find_query_fixtures(metafunc)
    if not (marked_probe or marked_threshold or queries):
        return
    fairness.use()
    if SEARCH in queries and "model_name" in metafunc.fixturenames:
        try:
            load_search(metafunc.config)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)
    if marked_probe:
        _parametrize_items(metafunc, fairness, both=marked_threshold)
    if marked_threshold and "measured" in metafunc.fixturenames:
        _parametrize_measured(metafunc, fairness)
    for name in sorted(queries):  # a parameter, since a class may override the fixtures
        fixtures = tuple(visible_fixtures(metafunc.definition, ("model", "grader", "judge")).values())
        metafunc.parametrize(name, [fixtures], ids=[pytest.HIDDEN_PARAM], indirect=True, scope="module")
    if "model_name" in metafunc.fixturenames:
        is_used = uses_model_name(metafunc.definition)
        models = [name for name in fairness.models.names() if name and is_used]
        names = [str(name) for name in models]
        ids = [fairness.models.test_ids[name] for name in names]
        metafunc.parametrize(
            "model_name", names or [None], ids=ids or [pytest.HIDDEN_PARAM], indirect=True, scope="session"
        )


def _parametrize_items(metafunc: pytest.Metafunc, fairness: FairnessSession, *, both: bool) -> None:
    try:
        sample = fairness.probes.get_sample(metafunc.definition, metafunc.function)
    except FairnessError as error:
        if "probe_item" in metafunc.fixturenames:
            metafunc.parametrize("probe_item", [CollectionError(str(error))], ids=["items"], indirect=True)
        return
    probe = sample.probe
    if both:
        probe.error = f"{metafunc.function.__name__} is marked both probe and threshold: {LONE_CALLABLE}"
    if "probe_item" not in metafunc.fixturenames:
        probe.error = format_missing_fixture("probe", metafunc.function, "probe_item")
        return
    if probe.error is not None:
        placeholder = pytest.param(CollectionError(probe.error, probe.is_skipped), id="items")
        metafunc.parametrize("probe_item", [placeholder], indirect=True)
        return
    ids = [item.test_id for item in probe.items]
    items = [ItemParameter(sample, index) for index in range(len(probe.items))]
    metafunc.parametrize("probe_item", items, ids=ids, indirect=True)


def _parametrize_measured(metafunc: pytest.Metafunc, fairness: FairnessSession) -> None:
    value: SampleParameter | CollectionError
    try:
        value = fairness.probes.get_sample(metafunc.definition, threshold_probe(metafunc.function))
        fairness.overrides.add(metafunc.definition.nodeid, metafunc.definition.path, value.probe)
    except FairnessError as error:
        value = CollectionError(str(error))
    # Of module scope: hypothesis refuses fixtures of function scope with `@given`.
    metafunc.parametrize("measured", [value], ids=[pytest.HIDDEN_PARAM], indirect=True, scope="module")


def check_model(item: pytest.Function) -> str | None:
    """Return an error for a marked test without a model: none is named, and the `model` fixture is the plugin's own."""
    if get_model_name(item) is not None or not uses_named_model(item):
        return None
    return TEST_CASE if is_test_case(item) else NO_MODEL


def is_test_case(item: pytest.Function) -> bool:
    """Return whether a test is a method of a `unittest.TestCase`."""
    return item.cls is not None and issubclass(item.cls, TestCase)


def check_any_model(items: Sequence[pytest.Function]) -> str | None:
    """Return an error if none of these tests has a model."""
    reasons = set(map(check_model, items))
    if None in reasons or not reasons:
        return None
    return TEST_CASE if reasons == {TEST_CASE} else NO_MODEL


def get_model_name(item: pytest.Function) -> str | None:
    """Return the name of the model under test; None if none is named."""
    return cast("str | None", item.callspec.params.get("model_name") if hasattr(item, "callspec") else None)


def uses_model_name(test: pytest.Item) -> bool:
    """Return whether the `model` fixture of a test depends on the models of the run: an override may test another."""
    names = [name for fixture in visible_fixtures(test, ("model",)).values() for name in fixture.argnames]
    return not {"model", "model_name", "request", "pytestconfig"}.isdisjoint(names)


def uses_named_model(item: pytest.Function) -> bool:
    """Return whether a test uses the plugin's own `model` fixture, not an override."""
    return "model" in item.fixturenames and is_not_overridden(item, "model")


def is_not_overridden(item: pytest.Function, name: str) -> bool:
    """Return whether a fixture that a test sees is the plugin's own."""
    fixture = visible_fixtures(item, [name]).get(name)
    return fixture is not None and getattr(fixture.func, "__module__", "") == "pytest_fairness.plugin.fixtures"


def check_fixture(item: pytest.Function) -> str | None:
    """Return an error for a marked test without the fixture of its mark, or a threshold whose model ends before it."""
    marks = own_marks(item)
    for is_marked, mark, fixture in ((marks.probe, "probe", "probe_item"), (marks.threshold, "threshold", "measured")):
        if is_marked and fixture not in item.fixturenames:
            return TEST_CASE if is_test_case(item) else format_missing_fixture(mark, item.function, fixture)
    model = visible_fixtures(item, ["model"]).get("model") if marks.threshold else None
    return check_scope(model) if model is not None else None


def check_scope(model: pytest.FixtureDef[Any]) -> str | None:
    """Return an error for a `model` fixture that is created more than once in a session."""
    if model.scope == "session":
        return None
    return (
        f"the `model` fixture has {model.scope} scope: answers are requested ahead of the tests, so it must be "
        '@pytest.fixture(scope="session")'
    )


def format_missing_fixture(mark: str, function: Callable[..., object], fixture: str) -> str:
    """Return the error for a marked test without its fixture."""
    return f"{mark} {function.__name__}: its test takes no `{fixture}`: add it to the arguments"


def is_imported(collector: pytest.Module | pytest.Class, function: object) -> bool:
    """Return whether a probe or threshold was imported from another test module, which collects it."""
    home = getattr(function, "__module__", None)
    test_module = collector.getparent(pytest.Module)
    if home is None or test_module is None or home == test_module.obj.__name__:
        return False
    module = sys.modules.get(home)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return False
    is_test_module = any(fnmatch(Path(file).name, pattern) for pattern in test_module.config.getini("python_files"))
    return is_test_module and callable(function) and is_bound(function, module)


def why_uncollected(collector: pytest.Module | pytest.Class, name: str, value: object) -> str:
    """Return why pytest collects no thresholds from a value of a module or class; empty if it does, or there are none.

    Nothing would judge them. A probe without a test of its own is measured by its thresholds, or designed. A class with
    subclasses, or with ``__test__``, may be no test on purpose.
    """
    if type(value) is FunctionType and value.__name__ == name and get_mark(value, "threshold"):
        if collector.istestfunction(value, name):
            return ""
        return (
            f"{name} is marked as a threshold, and pytest collects no test of that name (see python_functions): "
            f"rename it, such as test_{name}, or remove the mark"
        )
    if not issubclass(type(value), type) or not _has_own_thresholds(collector, name, cast("type", value)):
        return ""
    if not collector.istestclass(value, name):
        return (
            f"the class {name} has thresholds, and pytest collects no class of that name (see python_classes): "
            f"rename it, such as Test{name}, or set __test__ = False in it"
        )
    if any(getattr(value, name) is not getattr(object, name) for name in ("__init__", "__new__")):
        return f"the class {name} has thresholds, and pytest collects no class with a constructor: use fixtures instead"
    return ""


def _has_own_thresholds(collector: pytest.Module | pytest.Class, name: str, cls: type) -> bool:
    module = collector.getparent(pytest.Module)
    if module is None or (cls.__module__, cls.__name__) != (module.obj.__name__, name):
        return False
    if not any(get_mark(value, "threshold") for value in list(vars(cls).values())):
        return False
    return not (issubclass(cls, TestCase) or hasattr(cls, "__test__") or type.__subclasses__(cls))


def check_optimization(items: Sequence[pytest.Function]) -> str | None:
    """Return why marked tests are refused under ``python -O``, which removes asserts: every threshold would pass."""
    if sys.flags.optimize == 0 or not items:
        return None
    return "fairness thresholds are asserts, and python -O (or PYTHONOPTIMIZE) removes them: run without it"


def check_forks(items: Sequence[pytest.Function]) -> str | None:
    """Return why marked tests are refused where pytest-forked gives each a process: no thread lives on in a fork."""
    is_forking = items[0].config.getoption("forked", default=None) if items else None
    for item in items if is_forking is not None else ():  # the option of an installed pytest-forked
        if is_forking or item.get_closest_marker("forked"):
            return (
                "pytest-forked runs each test in a process of its own, where the connections to model and store do "
                "not exist: leave out --forked and the mark `forked` for probes and thresholds; -n 2 isolates workers"
            )
    return None


def get_item_parameter(item: pytest.Function) -> ItemParameter | CollectionError | None:
    """Return the parameter of a probe's test: its item; None for any other test."""
    if not own_marks(item).probe or not hasattr(item, "callspec"):
        return None
    return cast("ItemParameter | CollectionError | None", item.callspec.params.get("probe_item"))


def check_shared_results(items: Sequence[pytest.Function]) -> str | None:
    """Return why marked tests are refused: one would overwrite the results of another, or use its graders."""
    by_id: dict[str, pytest.Function] = {}
    for item in items:
        first = by_id.setdefault(item.nodeid, item)
        if first is not item and first.function is not item.function:
            return (
                f"two tests have the id {item.nodeid!r} ({first.path} and {item.path}), as pytest names files outside "
                "of the rootdir: run them one after the other, or with a --rootdir above both"
            )
        for name in graders_with_parameters(item):
            return (
                f"{item.nodeid}: its grader fixture `{name}` has parameters, and a probe is graded once: "
                "write a probe for each grader"
            )
    return None


def graders_with_parameters(item: pytest.Function) -> Iterator[str]:
    """Yield the grader fixtures of a marked test that have parameters."""
    sample = get_sample(item)
    if sample and sample.probe.plain_graders is None and (graders := grader_fixtures(sample.probe.function)):
        # Graders may depend on the parameters of the model, since each model has a sample of its own.
        yield from find_parameters(item, graders).keys() - find_parameters(item, ["model", "model_name"]).keys()


def is_marked(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Return whether a test belongs to a probe or is a threshold."""
    if not isinstance(item, pytest.Function):
        return False
    marks = own_marks(item)
    return marks.probe or marks.threshold


def is_threshold(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Return whether a test is marked ``threshold``."""
    return isinstance(item, pytest.Function) and own_marks(item).threshold


def selected_probes(items: Iterable[pytest.Item]) -> list[Probe]:
    """Return the different probes of the selected tests."""
    return list({id(sample.probe): sample.probe for sample in map(get_sample, items) if sample is not None}.values())
