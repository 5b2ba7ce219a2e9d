"""Generated tests for the tasks of other harnesses: one for each sample and each threshold."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any, ClassVar

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    LONGEST_TITLE,
    Expression,
    ExpressionError,
    GeneratedModule,
    ProbeVocabulary,
    did_you_mean,
    negated,
    use_conftest_hooks,
)
from pytest_fairness.harnesses.task import HarnessTask

SOURCE = "source"
"""The name in a groups option whose path holds the cluster of a sample, not a group."""


class TaskModule(GeneratedModule):
    """The generated test module of tasks."""

    suite: str
    tasks: Mapping[str, HarnessTask]
    thresholds: Sequence[str]

    def generate(self) -> ModuleType:
        module = ModuleType(self.suite)
        for name, task in self.tasks.items():
            test = pytest.mark.probe(**task.arguments, literal=True)(make_probe_test(f"test_{slug(name)}", self.suite))
            setattr(module, test.__name__, test)
            for text in select_thresholds(name, self.thresholds):
                threshold_test = self._threshold_test(name, TaskThreshold(text, task))
                title = f"{name}: {text}"
                mark = pytest.mark.threshold(probe=test, title=title if len(title) <= LONGEST_TITLE else None)
                setattr(module, threshold_test.__name__, mark(threshold_test))
        return module

    def _threshold_test(self, name: str, threshold: TaskThreshold) -> Callable[..., None]:
        def test(measured: Any) -> None:
            threshold.require(measured)

        return name_test(test, f"test_{slug(name)}_{threshold.name}", self.suite)


def make_probe_test(name: str, suite: str) -> Callable[..., None]:
    """Return a test, still without a mark, that measures an item of a probe."""

    def test(probe_item: Any, model: Any) -> None:
        probe_item.measure(model)

    return name_test(test, name, suite)


def name_test(test: Any, name: str, suite: str) -> Callable[..., None]:
    """Return a function with the name of a test, as part of a suite without a file."""
    test.__name__ = test.__qualname__ = name
    test.fairness_suite = suite
    function: Callable[..., None] = test
    return function


def add_tests(config: pytest.Config, items: list[pytest.Item], module: GeneratedModule) -> None:
    """Add the tests of a generated module to those that pytest has collected.

    A collection hook would not do: `--lf` would leave out a module without a file.
    """
    use_conftest_hooks(module)
    nodes = list(module.collect())
    config.hook.pytest_collectreport(report=pytest.CollectReport(module.nodeid, "passed", None, nodes))
    items.extend(node for node in nodes if isinstance(node, pytest.Item))


class TaskTests:
    """Hooks that add the tests of tasks to those that pytest has collected.

    A subclass has the attributes ``suite``, the start of the tests' ids, and ``harness``, the name in messages.

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
        """Write a line for each task with decoding settings that were not sent."""
        for name, task in self._tasks.items():
            if settings := task.loaded.unsent_settings:
                terminalreporter.write_line(
                    f"fairness: {self.harness} task {name} sets {', '.join(settings)}, which is not sent: decoding is "
                    "part of the model's name, as in openai:gpt-5-mini?temperature=0",
                    yellow=True,
                )


def parse_group_paths(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Return the paths of groups by name.

    Args:
        texts: Pairs ``NAME=PATH``.
        option: The option, for messages.
        example: An example, for messages.

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


def unique_name(name: str, names: Mapping[str, Any]) -> str:
    """Return the name of a task's tests, with a number for a second task of one name.

    >>> unique_name("bbq", {}), unique_name("bbq", {"bbq": 1, "BBQ 2": 1})
    ('bbq', 'bbq_3')
    """
    used = {slug(other) for other in names}
    number = 1
    while slug(candidate := name if number == 1 else f"{name}_{number}") in used:
        number += 1
    return candidate


def select_thresholds(name: str, thresholds: Sequence[str]) -> Iterator[str]:
    """Yield the thresholds of a task: those with its name before a colon, and those with no name."""
    for text in thresholds:
        task, separator, rest = text.partition(":")
        if not separator:
            yield text
        elif task.strip() == name:
            yield rest


def slug(name: str) -> str:
    """Return a name as part of a function's name.

    >>> slug("inspect_evals/bbq")
    'inspect_evals_bbq'
    """
    return re.sub(r"\W+", "_", name).strip("_").lower()


_OPERATORS: Mapping[type[ast.cmpop], tuple[Callable[[Any, Any], bool], str]] = {
    ast.GtE: (operator.ge, "at_least"),
    ast.LtE: (operator.le, "at_most"),
    ast.Gt: (operator.gt, "above"),
    ast.Lt: (operator.lt, "below"),
}


class TaskThreshold:
    """One comparison of a task's own metric, or of a measure of its grades.

    Args:
        text: ``accuracy >= 0.8``, ``0.2 <= choice.accuracy``, or an expression such as
            ``difference(choice, by=gender, of=female, to=male) <= 0.1``.
        task: The task, whose samples define the groups.

    Raises:
        FairnessError: The text is no comparison, or names an unknown grade or group.
    """

    def __init__(self, text: str, task: HarnessTask) -> None:
        self._text, self._task = text, task
        self._comparison = _metric_comparison(text)
        self._expression: Expression | None = None
        if self._comparison is None:
            self._expression = self._parse_expression()

    @property
    def name(self) -> str:
        """The name of its test."""
        text = self._text
        for node, (_, word) in sorted(_OPERATORS.items(), key=lambda entry: entry[0] in (ast.Gt, ast.Lt)):
            sign = {ast.GtE: ">=", ast.LtE: "<=", ast.Gt: ">", ast.Lt: "<"}[node]
            text = text.replace(sign, f" {word} ")
        return re.sub(r"\W+", "_", text).strip("_").lower()

    def require(self, measured: Any) -> None:
        """Check the threshold, and report every metric of the task.

        Raises:
            AssertionError: The threshold does not hold.
        """
        if self._expression is not None:
            self._expression.require(measured)
            return
        metrics = self._task.metrics(measured)
        measured.record(*metrics.values())
        assert self._comparison is not None  # noqa: S101 - one of both is there
        sides = [self._side_value(node, metrics) for node in (self._comparison.left, *self._comparison.comparators)]
        holds = [
            _OPERATORS[type(op)][0](left, right)
            for op, (left, right) in zip(self._comparison.ops, pairwise(sides), strict=True)
        ]
        if not all(holds):
            raise AssertionError(self._text)

    def _side_value(self, node: ast.expr, metrics: Mapping[str, Any]) -> Any:
        return ast.literal_eval(node) if _is_number(node) else metrics[_metric_name(node) or ""]

    def _parse_expression(self) -> Expression:
        groups: dict[str, set[str]] = {}
        others: dict[str, set[str]] = {}
        for item in self._task.items():
            for name, value in item.prompts[0].groups.items():
                groups.setdefault(name, set()).add(value)
            for name, value in item.metadata.items():
                others.setdefault(name, set()).add(str(value))
        try:
            return Expression.parse(self._text, ProbeVocabulary(dict.fromkeys(self._task.grades), groups, others))
        except ExpressionError as error:
            raise FairnessError(f"threshold {self._text!r} of {self._task.spec}: {error}") from None


def _metric_comparison(text: str) -> ast.Compare | None:
    """Return the comparison of a task's metric with numbers; None for anything else."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(node, ast.Compare) or not all(type(op) in _OPERATORS for op in node.ops):
        return None
    sides = [node.left, *node.comparators]
    metrics = [side for side in sides if not _is_number(side)]
    is_one_metric = len(metrics) == 1 and _metric_name(metrics[0]) is not None
    return node if is_one_metric and len(sides) > 1 else None


def _is_number(node: ast.expr) -> bool:
    number = negated(node) or node
    return isinstance(number, ast.Constant) and type(number.value) in (int, float)


def _metric_name(node: ast.expr) -> str | None:
    """Return the metric that a node names: ``accuracy``, ``choice.accuracy`` or ``metric('group a')``."""
    if isinstance(node, ast.Name | ast.Attribute):
        name = ast.unparse(node)
        return name if re.fullmatch(r"[\w.]+", name) else None
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "metric"
    if is_call and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):  # type: ignore[attr-defined]
        return str(node.args[0].value)  # type: ignore[attr-defined]
    return None
