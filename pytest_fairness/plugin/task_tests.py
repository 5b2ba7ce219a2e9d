"""Tests of other harnesses' tasks, which no file of the user's holds: a test of each sample, and of each threshold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import pytest

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import LONGEST_TITLE
from pytest_fairness.plugin.compat import MadeModule
from pytest_fairness.plugin.task_thresholds import HarnessTask, TaskThreshold

SOURCE = "source"
"""The group that names the cluster of a sample rather than a person in it."""


class TaskModule(MadeModule):
    """A test module that is made, not read."""

    suite: str
    tasks: Mapping[str, HarnessTask]
    thresholds: Sequence[str]

    def make(self) -> ModuleType:
        module = ModuleType(self.suite)
        for name, task in self.tasks.items():
            test = pytest.mark.probe(**task.arguments)(probe_test(f"test_{slug(name)}", self.suite))
            setattr(module, test.__name__, test)
            for text in texts_for(name, self.thresholds):
                made = self._threshold_test(name, TaskThreshold(text, task))
                title = f"{name}: {text}"
                mark = pytest.mark.threshold(probe=test, title=title if len(title) <= LONGEST_TITLE else None)
                setattr(module, made.__name__, mark(made))
        return module

    def _threshold_test(self, name: str, threshold: TaskThreshold) -> Callable[..., None]:
        def test(measured: Any) -> None:
            threshold.require(measured)

        return named_test(test, f"test_{slug(name)}_{threshold.name}", self.suite)


def probe_test(name: str, suite: str) -> Callable[..., None]:
    """Return the test that measures an item of a probe; it needs the mark of one."""

    def test(probe_item: Any, model: Any) -> None:
        probe_item.measure(model)

    return named_test(test, name, suite)


def named_test(test: Any, name: str, suite: str) -> Callable[..., None]:
    """Return a function under the name of a test, of a suite that no file holds."""
    test.__name__ = test.__qualname__ = name
    test.fairness_suite = suite
    made: Callable[..., None] = test
    return made


def add_tests(config: pytest.Config, items: list[pytest.Item], module: MadeModule) -> None:
    """Add the tests of a module that is made to those that pytest has collected.

    Not by way of pytest's report hooks: `--lf` would leave out a file that is none.
    """
    ours = list(module.collect())
    config.hook.pytest_collectreport(report=pytest.CollectReport(module.nodeid, "passed", None, ours))
    items.extend(node for node in ours if isinstance(node, pytest.Item))


class TaskTests:
    """Hooks that add the tests of tasks to those that pytest has collected.

    A subclass names its ``suite``, which begins the tests' ids, and its ``harness``, as messages do.

    Args:
        tasks: The tasks by name.
        thresholds: Comparisons: those that name no task are thresholds of every task.

    Raises:
        FairnessError: A threshold is of an unknown task.
    """

    suite: ClassVar[str]
    harness: ClassVar[str]

    def __init__(self, tasks: Mapping[str, HarnessTask], thresholds: Sequence[str]) -> None:
        self._tasks, self._thresholds = tasks, thresholds
        for text in thresholds:
            task, separator, _ = text.partition(":")
            if separator and task.strip() not in tasks:
                raise FairnessError(
                    f"--fairness-{self.harness}-threshold {text!r}: {did_you_mean(task.strip(), tasks)}"
                )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        name = self.suite
        module: Any = TaskModule.from_parent(session, path=config.rootpath / name, nodeid=name, name=name)
        module.suite, module.tasks, module.thresholds = name, self._tasks, self._thresholds
        try:
            add_tests(config, items, module)
        except FairnessError as error:
            raise pytest.UsageError(str(error)) from None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write a line for each task whose settings of decoding were not sent."""
        for name, task in self._tasks.items():
            if settings := task.loaded.unsent_settings:
                terminalreporter.write_line(
                    f"fairness: {self.harness} task {name} sets {', '.join(settings)}, which is not sent: decoding is "
                    "part of the model's name, as in openai:gpt-5-mini?temperature=0",
                    yellow=True,
                )


def group_paths(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Return where groups are found, by name.

    Args:
        texts: Each is ``NAME=PATH``.
        option: The option, for messages.
        example: What to write, for messages.

    Raises:
        FairnessError: A text is no such pair.
    """
    paths = {}
    for text in texts:
        name, separator, path = (part.strip() for part in text.partition("="))
        if not (separator and name.isidentifier() and path):
            raise FairnessError(f"{option} is {text!r}: {example}")
        paths[name] = path
    return paths


def free_name(name: str, names: Mapping[str, Any]) -> str:
    """Return the name of a task's tests; a second task of one name is numbered."""
    taken = {slug(other) for other in names}
    number = 1
    while slug(free := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return free


def texts_for(name: str, thresholds: Sequence[str]) -> Iterator[str]:
    """Yield the thresholds of one task: those without a task's name before a colon are every task's."""
    for text in thresholds:
        task, separator, rest = text.partition(":")
        if not separator:
            yield text
        elif task.strip() == name:
            yield rest


def slug(name: str) -> str:
    """Return a name as part of that of a function.

    >>> slug("inspect_evals/bbq")
    'inspect_evals_bbq'
    """
    return re.sub(r"\W+", "_", name).strip("_").lower()
