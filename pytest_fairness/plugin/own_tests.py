"""Marks of this plugin and fixtures that ask models, such as a search: a test with one is one of its own.

Every pytest run loads this module, so it imports next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from pytest_fairness.plugin.compat import allow_fixture_overrides

MARKS = (
    (
        "probe(items, grade={'name': grader}, repetitions=1, harm='', sources='random', crossed=None, "
        "formats=None, confidence=0.95, calibration=None, tools=None, profiles={}, expected={}, control=None, "
        "placebo=None, literal=(), id=...): one "
        "fairness question; each of its items becomes a test that measures it; formats=['letters', 'json'] asks in "
        "several answer formats; "
        "calibration='labels.jsonl' corrects a judge's grades by a human's labels; "
        "profiles={'audit': {'items': 400, 'repetitions': 3}} is its size in a profile of --fairness-profile; "
        "expected={'grade': {value: share}} is what a plan takes for a fair model's answers; "
        "control={'grade': {'attribute': ('higher', 'lower')}} is what should move its answers; "
        "placebo=reword is a function from a prompt to other wordings of it, beside which flips are judged; "
        "literal=['[AGE]'] are blanks in its prompts that the model is to read as they are; "
        "id='screening' is its name where a function or a loop makes it"
    ),
    (
        "threshold(probe, title='', scale=None, slices=(), exclude={}): a test of `measured`, the metrics of that "
        "probe's whole sample; title='Women and men advance alike' is its name in reports; "
        "slices=('language',) lets each language say unfair; exclude={'gender': 'nonbinary'} leaves a group out; "
        "scale=MarkScale(A=..., B=..., C=...) is for the marks of its estimates"
    ),
    (
        "flaky_threshold(reason, by, until, max_flip=0.2): accept this threshold while it is undecided, "
        "until that date; its owner and reason are shown"
    ),
)


def get_marks(value: Any) -> Iterator[pytest.Mark]:
    """Yield the marks on any value of a test module: mocks and proxies answer or raise for every attribute."""
    try:
        marks = getattr(value, "__func__", value).pytestmark  # of a static method, its function's
    except Exception:  # noqa: BLE001 - of the user's object
        return
    for mark in marks if isinstance(marks, list | tuple) else [marks]:
        mark = mark.mark if isinstance(mark, pytest.MarkDecorator) else mark
        if isinstance(mark, pytest.Mark):
            yield mark


_MENTIONS = re.compile(rb"threshold|pytest_fairness|\bmeasured\b", re.IGNORECASE)
"""The words of which a file with thresholds has one: an alias of the mark, a factory and a loop use one of them too."""


def mentions_thresholds(file: Path) -> bool:
    """Return whether a file that was not imported may have thresholds."""
    try:
        return file.is_file() and _MENTIONS.search(file.read_bytes()) is not None
    except OSError:
        return True


_NAMES = frozenset(("probe", "threshold"))


def is_class(value: object) -> TypeGuard[type]:
    """Return whether a value of a test module is a class; of a proxy, `isinstance` may raise."""
    return issubclass(type(value), type)


def has_own_mark(value: object) -> bool:
    """Return whether a value of a test module is marked as a probe or threshold, or is a class with one that is.

    A project may have marks of the same names: see `markers.get_mark`.
    """
    if not is_class(value):
        return any(mark.name in _NAMES for mark in get_marks(value))
    members = [member for base in type.mro(value)[:-1] for member in vars(base).values()]
    return any(has_own_mark(member) for member in members if not is_class(member) or _is_nested(member, value))


def _is_nested(member: type, cls: type) -> bool:
    return member.__qualname__.startswith(f"{cls.__qualname__}.")


QUERY_FIXTURES: pytest.StashKey[set[str]] = pytest.StashKey()
"""The names of the fixtures; the key is missing where this plugin is blocked."""
SEARCH = "flips"
"""The fixture of searches, and the plugin with its class and hooks."""


def add_query_fixture(config: pytest.Config, name: str, plugin: object) -> None:
    """Register a plugin with a fixture that asks models. Call it in ``pytest_configure``, after this plugin's own.

    The tests that take the fixture run for each model of the run. The fixture gets a parameter, the definitions of the
    `model`, `grader` and `judge` fixtures that the test sees, so it must be of the scope module.

    Args:
        config: The configuration of pytest.
        name: The name of the fixture.
        plugin: The module or object with the fixture and its hooks.
    """
    names = config.stash.get(QUERY_FIXTURES, None)
    if names is None or config.pluginmanager.has_plugin(f"fairness-{name}"):
        return
    names.add(name)
    config.pluginmanager.register(plugin, f"fairness-{name}")
    allow_fixture_overrides(config.pluginmanager)


def load_search(config: pytest.Config) -> Callable[..., object]:
    """Return the class of the fixture `flips`, whose hooks are registered at the first call.

    It is imported where a test takes the fixture.

    Raises:
        FairnessError: This package was installed without it.
    """
    from pytest_fairness.core.extensions import PLUGINS

    flip_finder: Callable[..., object] = PLUGINS.load_callable(SEARCH)(config)
    return flip_finder


def find_query_fixtures(node: pytest.Item | pytest.Metafunc) -> set[str]:
    """Return the names of the fixtures that ask models, of those that a test takes."""
    return node.config.stash.get(QUERY_FIXTURES, set()).intersection(getattr(node, "fixturenames", ()))


def asks_models(item: pytest.Item) -> bool:
    """Return whether a test takes a fixture that asks models."""
    # Another plugin may have a fixture of the same name.
    return bool(find_query_fixtures(item)) and "model_name" in getattr(item, "fixturenames", ())
