"""``--fairness-inspect``: tests of inspect_ai's tasks, which no file of the user's holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_fairness.benchmarks.inspect_ai.task import SOURCE, InspectTask
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.plugin.compat import MadeModule
from pytest_fairness.plugin.inspect_thresholds import TaskThreshold
from pytest_fairness.plugin.markers import LONGEST_TITLE

SUITE = "inspect"
_HOW = "write NAME=metadata.KEY, as in gender=metadata.gender"


class InspectModule(MadeModule):
    """A test module that is made, not read."""

    tasks: dict[str, InspectTask]
    thresholds: Sequence[str]

    def make(self) -> ModuleType:
        module = ModuleType(SUITE)
        for name, task in self.tasks.items():
            test = pytest.mark.probe(**task.arguments)(_probe_test(name))
            setattr(module, test.__name__, test)
            for text in _texts_for(name, self.thresholds, self.tasks):
                made = _threshold_test(name, TaskThreshold(text, task))
                title = f"{name}: {text}"
                mark = pytest.mark.threshold(probe=test, title=title if len(title) <= LONGEST_TITLE else None)
                setattr(module, made.__name__, mark(made))
        return module


class InspectTests:
    """Adds the tests to those that pytest has collected.

    Args:
        specs: The tasks, as ``file.py@task?argument=value`` or ``package/task``.
        groups: Where samples have their groups, as ``gender=metadata.gender``.
        thresholds: Comparisons, each of which is a threshold of every task.
        folders: Where files are looked for, in order.

    Raises:
        FairnessError: A task cannot be loaded or run here, or a text cannot be read.
    """

    def __init__(
        self, specs: Sequence[str], groups: Sequence[str], thresholds: Sequence[str], folders: Sequence[Path]
    ) -> None:
        paths = dict(_group_path(text) for text in groups)
        source = paths.pop(SOURCE, None)
        self._tasks: dict[str, InspectTask] = {}
        for spec in specs:
            file = spec.partition("?")[0].partition("@")[0]
            root = next((folder for folder in folders if (folder / file).is_file()), folders[0])
            task = InspectTask(spec, paths, source, root)
            self._tasks[self._free_name(task.loaded.name)] = task
        self._thresholds = thresholds
        for text in thresholds:
            _refuse_unknown_task(text, self._tasks)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        # Not collected by way of pytest's report hooks: `--lf` would leave out a file that is none.
        module: Any = InspectModule.from_parent(session, path=config.rootpath / SUITE, nodeid=SUITE, name=SUITE)
        module.tasks, module.thresholds = self._tasks, self._thresholds
        try:
            ours = list(module.collect())
        except FairnessError as error:
            raise pytest.UsageError(str(error)) from None
        config.hook.pytest_collectreport(report=pytest.CollectReport(SUITE, "passed", None, ours))
        items.extend(ours)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write a line for each task whose settings of decoding were not sent."""
        for name, task in self._tasks.items():
            if settings := task.loaded.unsent_settings:
                terminalreporter.write_line(
                    f"fairness: inspect task {name} sets {', '.join(settings)}, which is not sent: decoding is part of "
                    "the model's name, as in openai:gpt-5-mini?temperature=0",
                    yellow=True,
                )

    def _free_name(self, name: str) -> str:
        """Return the name of a task's tests; a second task of one name is numbered."""
        names = {slug(taken) for taken in self._tasks}
        number = 1
        while slug(free := name if number == 1 else f"{name}_{number}") in names:
            number += 1
        return free


def _group_path(text: str) -> tuple[str, str]:
    name, separator, path = (part.strip() for part in text.partition("="))
    if not (separator and name.isidentifier() and path):
        raise FairnessError(f"--fairness-inspect-groups is {text!r}: {_HOW}")
    return name, path


def _texts_for(name: str, thresholds: Sequence[str], tasks: Collection[str]) -> Iterator[str]:
    """Yield the thresholds of one task: those without a task's name before a colon are every task's."""
    for text in thresholds:
        task, separator, rest = text.partition(":")
        if not separator:
            yield text
        elif task.strip() == name and name in tasks:
            yield rest


def _refuse_unknown_task(text: str, tasks: Collection[str]) -> None:
    task, separator, _ = text.partition(":")
    if separator and task.strip() not in tasks:
        raise FairnessError(f"--fairness-inspect-threshold {text!r}: {did_you_mean(task.strip(), tasks)}")


def slug(name: str) -> str:
    """Return a name as part of that of a function.

    >>> slug("inspect_evals/bbq")
    'inspect_evals_bbq'
    """
    return re.sub(r"\W+", "_", name).strip("_").lower()


def _probe_test(name: str) -> Callable[..., None]:
    def test(probe_item: Any, model: Any) -> None:
        probe_item.measure(model)

    return _named(test, f"test_{slug(name)}")


def _threshold_test(name: str, threshold: TaskThreshold) -> Callable[..., None]:
    def test(measured: Any) -> None:
        threshold.require(measured)

    return _named(test, f"test_{slug(name)}_{threshold.name}")


def _named(test: Any, name: str) -> Callable[..., None]:
    test.__name__ = test.__qualname__ = name
    test.fairness_suite = SUITE
    made: Callable[..., None] = test
    return made
