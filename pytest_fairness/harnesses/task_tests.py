"""Classes of tests for the tasks of other harnesses: a test for each sample and each threshold."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    LONGEST_TITLE,
    Expression,
    ExpressionError,
    ProbeVocabulary,
    did_you_mean,
    negated,
)
from pytest_fairness.harnesses.task import HarnessTask


class CollectableTask(HarnessTask):
    """A task whose tests pytest can collect."""

    def tests(self, *thresholds: str, name: str = "") -> type:
        """Return a class of tests: one for each sample, and one for each threshold.

        Assign it to a name that pytest collects, as in ``TestScreening = task.tests("accuracy >= 0.8")``.

        Args:
            thresholds: Comparisons of a metric of the task, such as ``accuracy >= 0.8``, or expressions over its grades
                as in declared suites; of several tasks, ``task: comparison`` is a threshold of one.
            name: The name of the task in the names of its tests, where two classes measure one task differently.

        Returns:
            The class.

        Raises:
            pytest.Collector.CollectError: The task cannot be loaded or run, or a threshold is malformed.
        """
        try:
            tasks = self.load_all()
            if name:
                if len(tasks) > 1:
                    raise self._refusal(f"name={name!r} is for one task, and these are {', '.join(tasks)}")
                tasks = {name: next(iter(tasks.values()))}
            return make_test_class(tasks, thresholds)
        except FairnessError as error:  # a traceback of the user's module would hide the line
            raise pytest.Collector.CollectError(str(error)) from None


def make_test_class(tasks: Mapping[str, HarnessTask], thresholds: Sequence[str]) -> type:
    """Return a class whose tests measure tasks, with thresholds.

    Args:
        tasks: The tasks by the names of their tests.
        thresholds: Comparisons: those that name no task are thresholds of every task.

    Raises:
        FairnessError: A threshold is malformed, or of an unknown task.
    """
    for text in thresholds:
        task_name, separator, _ = text.partition(":")
        if separator and task_name.strip() not in tasks:
            raise FairnessError(f"threshold {text!r}: {did_you_mean(task_name.strip(), tasks)}")
    tests: dict[str, Any] = {}
    for name, task in tasks.items():
        suite = task.harness.replace("-", "_")
        test = pytest.mark.probe(**task.arguments, literal=True)(make_probe_test(f"test_{slug(name)}", suite))
        tests[test.__name__] = test
        for text in select_thresholds(name, thresholds):
            threshold_test = _make_threshold_test(f"test_{slug(name)}", TaskThreshold(text, task), suite)
            title = f"{name}: {text}"
            mark = pytest.mark.threshold(probe=test, title=title if len(title) <= LONGEST_TITLE else None)
            tests[threshold_test.__name__] = mark(threshold_test)
        if settings := task.loaded.unsent_settings:
            warnings.warn(
                f"{task.harness} task {name} sets {', '.join(settings)}, which is not sent: decoding is a parameter of "
                "the model, as temperature = 0 in [tool.pytest-fairness.models.NAME]",
                stacklevel=3,
            )
    return type("HarnessTests", (), tests)


def make_probe_test(name: str, suite: str) -> Callable[..., None]:
    """Return a method of a test class, still without a mark, that measures an item of a probe."""

    def test(_: object, probe_item: Any, model: Any) -> None:
        probe_item.measure(model)

    return name_test(test, name, suite)


def _make_threshold_test(name: str, threshold: TaskThreshold, suite: str) -> Callable[..., None]:
    def test(_: object, measured: Any) -> None:
        threshold.require(measured)

    return name_test(test, f"{name}_{threshold.name}", suite)


def name_test(test: Any, name: str, suite: str) -> Callable[..., None]:
    """Return a function with the name of a test, whose probe has an id in a suite: its file is that of this package."""
    test.__name__ = test.__qualname__ = name
    test.fairness_suite = suite
    function: Callable[..., None] = test
    return function


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
