"""Thresholds of a task in texts: ``accuracy >= 0.8``, or any expression of a declared suite."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Protocol

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.declarative.expressions import Expression, ExpressionError, ProbeVocabulary

_OPERATORS: Mapping[type[ast.cmpop], tuple[Callable[[Any, Any], bool], str]] = {
    ast.GtE: (operator.ge, "at_least"),
    ast.LtE: (operator.le, "at_most"),
    ast.Gt: (operator.gt, "above"),
    ast.Lt: (operator.lt, "below"),
}


class LoadedHarnessTask(Protocol):
    """A task that its harness has loaded."""

    @property
    def unsent_settings(self) -> list[str]:
        """The decoding settings of the task that are not sent to models."""
        ...


class HarnessTask(Protocol):
    """A task of another harness, as a probe."""

    spec: str

    @property
    def loaded(self) -> LoadedHarnessTask:
        """The loaded task."""
        ...

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a probe's mark."""
        ...

    @property
    def grades(self) -> list[str]:
        """The grades that can be measured."""
        ...

    def items(self) -> list[ProbeItem]:
        """Return the samples as items."""
        ...

    def metrics(self, measured: Any) -> Mapping[str, Any]:
        """Return the task's own metrics by name, as estimates."""
        ...


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
    number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
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
