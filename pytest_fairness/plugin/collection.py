"""Collection of marked functions as tests: one per item and model, one per threshold and model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.identity import (
    CollectionError,
    ItemParameter,
    SampleParameter,
    bound_name,
    grader_fixtures,
    parameters_of,
    sample_of,
    visible_fixtures,
)
from pytest_fairness.plugin.markers import mark_of, threshold_probe
from pytest_fairness.plugin.probe import Probe
from pytest_fairness.plugin.session import FairnessSession

if TYPE_CHECKING:
    from pytest_fairness.models.names import ModelName

NO_MODEL = (
    "no model is named: give --fairness-model provider:name (openai:gpt-5-mini, say), "
    "or override the `model` fixture in conftest.py with your application"
)
TEST_CASE = "a method of unittest.TestCase is given no model by pytest: write the test as a function"
LONE_CALLABLE = (
    "a mark that is given one callable and nothing else decorates it; write @pytest.mark.threshold(probe=...)"
)


def hide_parameters(items: Sequence[pytest.Item]) -> None:
    """Remove parameters that editors cannot list: those without brackets, or of tests in other files than Python.

    VS Code's plugin cuts the name of every test with a `callspec` at its bracket, and its id behind ``.py``: one test
    without either empties its whole tree. No test of a listing is called, so none needs its parameters.
    """
    for item in items:
        if isinstance(item, pytest.Function) and (is_marked(item) or "flips" in item.fixturenames):
            file = item.nodeid.removesuffix(item.name)
            if hasattr(item, "callspec") and not ("[" in item.name and ".py" in file):
                del item.callspec


def lists_only(config: pytest.Config) -> bool:
    """Return whether this run of pytest calls no test: it leaves no trace."""
    names = ("collectonly", "setuponly", "setupplan", "showfixtures", "show_fixtures_per_test")
    return any(config.getoption(name, default=False) for name in names)


def parametrize(metafunc: pytest.Metafunc, fairness: FairnessSession) -> None:
    """Give a probe its items and a threshold its probe, and both the models of the run."""
    function = metafunc.function
    marked_probe, marked_threshold = (mark_of(function, mark) is not None for mark in ("probe", "threshold"))
    if not (marked_probe or marked_threshold or "flips" in metafunc.fixturenames):
        return
    fairness.use()
    if marked_probe:
        _parametrize_items(metafunc, fairness, both=marked_threshold)
    if marked_threshold and "measured" in metafunc.fixturenames:
        _parametrize_measured(metafunc, fairness)
    if "flips" in metafunc.fixturenames:  # of module scope, while a class may have a model or a grader of its own
        fixtures = tuple(visible_fixtures(metafunc.definition, ("model", "grader", "judge")).values())
        metafunc.parametrize("flips", [fixtures], ids=[pytest.HIDDEN_PARAM], indirect=True, scope="module")
    if "model_name" in metafunc.fixturenames:
        models = [name for name in fairness.models.names() if name]
        names, ids = [str(name) for name in models], _model_ids(models)
        metafunc.parametrize("model_name", names or [None], ids=ids or [pytest.HIDDEN_PARAM], scope="session")


def _model_ids(names: Sequence[ModelName]) -> list[str]:
    if not names:
        return []
    from pytest_fairness.models.names import ids_of

    return list(ids_of(names).values())


def _parametrize_items(metafunc: pytest.Metafunc, fairness: FairnessSession, *, both: bool) -> None:
    try:
        sample = fairness.probes.sample_of(metafunc.definition, metafunc.function)
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
        value = fairness.probes.sample_of(metafunc.definition, threshold_probe(metafunc.function))
        fairness.overrides.add(metafunc.definition.nodeid, metafunc.definition.path, value.probe)
    except FairnessError as error:
        value = CollectionError(str(error))
    # Not of function scope, so that hypothesis lets `@given` use it.
    metafunc.parametrize("measured", [value], ids=[pytest.HIDDEN_PARAM], indirect=True, scope="module")


def check_model(item: pytest.Function) -> str | None:
    """Return why a marked test has no model: none is named, and the `model` fixture is the plugin's own."""
    if name_of(item) is not None or not uses_named_model(item):
        return None
    if item.cls is None:
        return NO_MODEL
    from unittest import TestCase

    return TEST_CASE if issubclass(item.cls, TestCase) else NO_MODEL


def check_any_model(items: Sequence[pytest.Function]) -> str | None:
    """Return why none of these tests can run: none has a model."""
    reasons = set(map(check_model, items))
    if None in reasons or not reasons:
        return None
    return TEST_CASE if reasons == {TEST_CASE} else NO_MODEL


def name_of(item: pytest.Function) -> str | None:
    """Return the name of the model that a test measures; None where none is named."""
    return cast("str | None", item.callspec.params.get("model_name") if hasattr(item, "callspec") else None)


def uses_named_model(item: pytest.Function) -> bool:
    """Return whether a test takes the plugin's own `model` fixture, rather than one of the user's."""
    fixture = visible_fixtures(item, ["model"]).get("model") if "model" in item.fixturenames else None
    return fixture is not None and getattr(fixture.func, "__module__", "") == "pytest_fairness.plugin.fixtures"


def check_fixture(item: pytest.Function) -> str | None:
    """Return why a marked test does not work: it does not take the fixture of its mark."""
    for mark, fixture in (("probe", "probe_item"), ("threshold", "measured")):
        if mark_of(item.function, mark) is not None and fixture not in item.fixturenames:
            return format_missing_fixture(mark, item.function, fixture)
    return None


def format_missing_fixture(mark: str, function: Callable[..., object], fixture: str) -> str:
    """Return the line for a marked test that takes no such fixture."""
    return f"{mark} {function.__name__}: its test takes no `{fixture}`: add it to the arguments"


def is_imported(collector: pytest.Module | pytest.Class, function: object) -> bool:
    """Return whether a probe or threshold was only imported here from another test module, which collects it."""
    home = getattr(function, "__module__", None)
    test_module = collector.getparent(pytest.Module)
    if home is None or test_module is None or home == test_module.obj.__name__:
        return False
    module = sys.modules.get(home)
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return False
    is_test_module = any(fnmatch(Path(file).name, pattern) for pattern in test_module.config.getini("python_files"))
    return is_test_module and callable(function) and bound_name(function, module) is not None


def check_optimization(items: Sequence[pytest.Function]) -> str | None:
    """Return why marked tests are refused under ``python -O``, which removes asserts: every threshold would pass."""
    if sys.flags.optimize == 0 or not items:
        return None
    return "fairness thresholds are asserts, and python -O (or PYTHONOPTIMIZE) removes them: run without it"


def check_forks(items: Sequence[pytest.Function]) -> str | None:
    """Return why marked tests are refused where pytest-forked gives each a process: no thread lives on in a fork."""
    for item in items:
        if item.config.getoption("forked", default=False) or item.get_closest_marker("forked"):
            return (
                "pytest-forked runs each test in a process of its own, where the connections to model and store do "
                "not exist: leave out --forked and the mark `forked` for probes and thresholds; -n 2 isolates workers"
            )
    return None


def get_item_parameter(item: pytest.Function) -> ItemParameter | CollectionError | None:
    """Return the item of its probe that a test measures; None for a test that measures none."""
    if mark_of(item.function, "probe") is None or not hasattr(item, "callspec"):
        return None
    return cast("ItemParameter | CollectionError | None", item.callspec.params.get("probe_item"))


def check_shared_results(items: Sequence[pytest.Function]) -> str | None:
    """Return why marked tests are refused: one would overwrite the results of another, or use its graders."""
    by_id: dict[str, pytest.Function] = {}
    for item in items:
        first = by_id.setdefault(item.nodeid, item)
        if first.function is not item.function:
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
    """Yield the fixtures of a marked test that grade its probe, and have parameters."""
    if (sample := sample_of(item)) and (graders := grader_fixtures(sample.probe.function)):
        # With another model comes another sample, so that graders may depend on the model.
        yield from parameters_of(item, graders).keys() - parameters_of(item, ["model", "model_name"]).keys()


def is_marked(item: pytest.Item) -> TypeGuard[pytest.Function]:
    """Return whether a test is a probe's or a threshold."""
    if not isinstance(item, pytest.Function):
        return False
    function = item.function  # each look-up on a method makes a new object
    return mark_of(function, "probe") is not None or mark_of(function, "threshold") is not None


def is_threshold(item: pytest.Item) -> bool:
    """Return whether a test is marked ``threshold``."""
    return isinstance(item, pytest.Function) and mark_of(item.function, "threshold") is not None


def selected_probes(items: Iterable[pytest.Item]) -> list[Probe]:
    """Return the probes that the selected tests measure or judge, each once."""
    samples = (sample_of(item) for item in items if is_marked(item))
    return list({id(sample.probe): sample.probe for sample in samples if sample is not None}.values())
