"""Thresholds as expressions: ``0.8 <= ratio(advance, by=gender, of=female, to=male) <= 1.2``.

Python parses them. Only calls of `Measured` that stand in `MEASURES`, and registered metrics, are ever evaluated.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.extensions import METRICS
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.declarative.expression_mistakes import EXAMPLE, describe_mistake

LONGEST = 2_000
"""The most characters of an expression."""


class Measure(NamedTuple):
    """The signature of a measure: its number of grades, and its required and optional keywords."""

    grades: int
    needs: Sequence[str] = ()
    takes: Sequence[str] = ("equals",)


MEASURES: Mapping[str, Measure] = {
    "rate": Measure(1),
    "rates": Measure(1, ("equals",)),
    "mean": Measure(1, (), ()),
    "difference": Measure(1, ("by", "of", "to")),
    "differences": Measure(1, ("by",)),
    "ratio": Measure(1, ("by", "of", "to")),
    "ratios": Measure(1, ("by",), ("to", "equals")),
    "worst_ratio": Measure(1, ("by",)),
    "odds_ratio": Measure(1, ("by", "of", "to")),
    "odds_ratios": Measure(1, ("by",), ("to", "equals")),
    "correlation": Measure(2, (), ()),
    "flips": Measure(1, ("by",), ("equals", "same")),
}
_COMPARES: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FAMILIES = ("rates", "differences", "ratios", "odds_ratios")
"""Measures that stand for several estimates, all of which must hold."""
_NEGATED: Mapping[type[ast.cmpop], str] = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
_MARKS = ("A", "B", "C", "D")


@dataclass(frozen=True)
class ProbeVocabulary:
    """The names that an expression may use, with their values; None for values that are not known before the run."""

    grades: Mapping[str, Collection[str] | None]
    groups: Mapping[str, Collection[str]]
    others: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Attributes of items, for `where`."""
    explain_no_grade: Callable[[str], str] = lambda _: ""
    """Returns why a name that looks like a grade is none; empty where nothing is known of it."""


class ExpressionError(FairnessError):
    """A mistake in an expression; ``offset`` is its position, in characters from the beginning."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Expression:
    """A threshold as an expression, which any `Measured` can be compared with.

    >>> known = ProbeVocabulary({"hired": ["true", "false"]}, {"gender": ["female", "male"]})
    >>> expression = Expression.parse("0.8 <= ratio(hired, by=gender, of=female, to=male) <= 1.2", known)
    >>> from pytest_fairness.stats.measured import Measured
    >>> rows = [{"item": n, "gender": sex, "hired": n % 2} for n in range(40) for sex in ("female", "male")]
    >>> expression.holds(Measured.from_rows(rows, item="item", groups=["gender"]))
    True
    >>> Expression.parse("ratio(hired, by=gender, of=femal, to=male) < 1.2", known)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pytest_fairness.declarative.expressions.ExpressionError: gender has no group 'femal'; did you mean 'female' ...
    """

    text: str
    tree: ast.expr
    title: str = ""
    """The title of what it compares; empty where each estimate has its own."""

    @classmethod
    def parse(cls, text: str, vocabulary: ProbeVocabulary) -> Expression:
        """Return the expression of a text. Raises `ExpressionError` for a syntax error or an unknown name."""
        if len(text) > LONGEST:
            raise ExpressionError(f"it has {len(text):,} characters: at most {LONGEST:,} are read")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            message, offset = describe_mistake(text.strip(), error.msg)
            raise ExpressionError(message, (error.offset or 1) - 1 if offset is None else offset) from None
        except (ValueError, MemoryError, RecursionError):
            raise ExpressionError(describe_mistake(text.strip())[0]) from None
        checker = _Checker(text.strip(), vocabulary)
        try:
            tree = _Fractions().visit(tree)
            checker.condition(tree)
            tree = _Respelling(checker.respelled).visit(tree)
        except RecursionError:
            raise ExpressionError("it is nested too deep") from None
        return cls(text, tree)

    def holds(self, measured: object) -> bool:
        """Return whether it is true of a sample; `and` and `or` short-circuit as in Python."""
        return _is_true(self.tree, measured, self.title)

    def require(self, measured: object) -> None:
        """Raise `AssertionError` where it does not hold."""
        if not self.holds(measured):
            raise AssertionError(self.text)


def _is_true(node: ast.expr, measured: Any, title: str) -> bool:
    if isinstance(node, ast.BoolOp):
        combine = all if isinstance(node.op, ast.And) else any
        return combine(_is_true(value, measured, title) for value in node.values)
    if isinstance(node, ast.UnaryOp):
        return not _is_true(node.operand, measured, title)
    assert isinstance(node, ast.Compare)  # noqa: S101 - checked when parsed
    sides = pairwise(_side(side, measured, title) for side in (node.left, *node.comparators))
    # Both bounds are compared, even if the first fails, so that both are reported.
    outcomes = [_COMPARES[type(op)](left, right) for op, (left, right) in zip(node.ops, sides, strict=True)]
    return all(outcomes)


def _side(node: ast.expr, measured: Any, title: str) -> Any:
    if isinstance(node, ast.Attribute):  # .mark
        return _side(node.value, measured, title).mark
    value = _value(node, measured)
    return value.titled(title) if title and isinstance(value, Estimate | EstimateFamily) else value


def _value(node: ast.expr, measured: Any) -> Any:
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, measured)
    if not isinstance(node, ast.Call):
        return _literal(node)
    if isinstance(node.func, ast.Attribute):  # where(...).rate(...)
        return _evaluate_call(node, node.func.attr, _value(node.func.value, measured))
    assert isinstance(node.func, ast.Name)  # noqa: S101 - checked when parsed
    if node.func.id == "abs":
        return abs(_value(node.args[0], measured))
    return _evaluate_call(node, node.func.id, measured)


def _evaluate_call(node: ast.Call, name: str, measured: Any) -> Any:
    keywords = {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords}
    if "by" in keywords:  # the names of groups are texts, those of numbers too
        keywords |= {word: spelled(keywords[word]) for word in ("of", "to") if word in keywords}
    grades = map(_literal, node.args)
    if name in MEASURES or name == "where":
        return getattr(measured, name)(*grades, **keywords)
    return measured.metric(name, *grades, **keywords)


def _literal(node: ast.expr) -> Any:
    """Return a number, a text, or a bare name as a text; a list of them as a tuple."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}.get(node.id, node.id)
    if (operand := negated(node)) is not None:
        return -_literal(operand)
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(map(_literal, node.elts))
    raise TypeError(ast.dump(node))


class _Fractions(ast.NodeTransformer):
    """Replaces quotients of two numbers by their values: a bound may be written as 2/3."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sides = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
        numbers = [side for side in sides if is_number(side)]
        if not isinstance(node.op, ast.Div) or len(numbers) != 2 or not numbers[1]:
            return node
        return ast.copy_location(ast.Constant(numbers[0] / numbers[1]), node)


class _Checker:
    """Checks of an expression against the names that it may use."""

    def __init__(self, text: str, vocabulary: ProbeVocabulary) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self.respelled: dict[ast.AST, ast.Constant] = {}
        """The truths and numbers that a table or the items write otherwise, each with the text there."""

    def condition(self, node: ast.expr) -> None:
        """Check a comparison, or several joined by and, or, not."""
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self.condition(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.condition(node.operand)
            self._refuse_negated_family(node)
        elif isinstance(node, ast.Compare):
            self._comparison(node)
        else:
            message, offset = describe_mistake(self._text)
            raise ExpressionError(message, offset or 0)

    def _comparison(self, node: ast.Compare) -> None:
        for op in node.ops:
            if type(op) not in _COMPARES:
                self._fail(node, "an estimate has an interval and equals nothing: compare it by <, <=, > or >=")
        sides = [node.left, *node.comparators]
        measures = [side for side in sides if not self._is_bound(side)]
        if not measures:
            self._fail(node, f"it compares numbers only: {EXAMPLE}")
        for first, second in pairwise(sides):
            if self._is_bound(first) == self._is_bound(second):
                self._fail(second, "an estimate is compared with a number: take a difference or a ratio of two groups")
        self._refuse_empty_ranges(node, sides)
        are_marks = {isinstance(side, ast.Attribute) for side in measures}
        for side in measures:
            self._measure(side.value if isinstance(side, ast.Attribute) and side.attr == "mark" else side)
        for side in sides:
            if self._is_bound(side) and (_literal(side) in _MARKS) != (True in are_marks):
                self._fail(side, "a mark is compared with A, B, C or D, an estimate with a number")

    def _refuse_negated_family(self, node: ast.UnaryOp) -> None:
        """Refuse ``not ratios(...) < 0.8``, which would be true if a single ratio is above."""
        family = next((call for call in ast.walk(node) if _is_family(call)), None)
        if family is None:
            return
        positive, operand = f"{_called_name(family)}(...) >= 0.8", node.operand
        if isinstance(operand, ast.Compare) and len(operand.ops) == 1:
            sides = [self._source_of(side) for side in (operand.left, operand.comparators[0])]
            positive = f" {_NEGATED[type(operand.ops[0])]} ".join(sides)
        self._fail(node, f"`not` of several estimates holds where one of them does: write what all must, {positive}")

    def _refuse_empty_ranges(self, node: ast.Compare, sides: Sequence[ast.expr]) -> None:
        for index, (first, second) in enumerate(pairwise(node.ops)):
            ends = sides[index], sides[index + 2]
            if not all(map(self._is_bound, ends)) or type(first) not in _COMPARES or _literal(ends[0]) in _MARKS:
                continue
            low, high = map(_literal, ends if isinstance(first, ast.Lt | ast.LtE) else ends[::-1])
            strict = isinstance(first, ast.Lt | ast.Gt) or isinstance(second, ast.Lt | ast.Gt)
            same = isinstance(first, ast.Lt | ast.LtE) == isinstance(second, ast.Lt | ast.LtE)
            if same and (low > high or (strict and low == high)):
                self._fail(ends[0], f"nothing lies between {low} and {high}: write the lower bound first")

    def _is_bound(self, node: ast.expr) -> bool:
        if (operand := negated(node)) is not None:
            number = isinstance(operand, ast.Constant) and isinstance(operand.value, int | float)
            return number and self._is_bound(operand)
        if isinstance(node, ast.Constant):
            number = is_number(node.value)
            if not number and node.value not in _MARKS:
                self._fail(node, f"{node.value!r} is no number: {EXAMPLE}")
            if isinstance(node.value, int | float) and abs(node.value) > sys.float_info.max:
                self._fail(node, f"{self._source_of(node)} is no finite number: leave the bound out")
            return True
        if isinstance(node, ast.Name):
            if node.id not in _MARKS:
                measure = node.id in MEASURES
                use = f"{node.id}({next(iter(self._vocabulary.grades), 'GRADE')})" if measure else f"rate({node.id})"
                self._fail(node, f"{node.id!r} is no number: write a measure such as {use}")
            return True
        return False

    def _measure(self, node: ast.expr) -> None:
        """Check a measure, its size (abs) or its opposite."""
        if (operand := negated(node)) is not None:
            self._single_measure(operand, "-")
            return
        if not isinstance(node, ast.Call):
            self._fail(node, f"{self._source_of(node)} is no measure; known: {', '.join(MEASURES)}")
        if isinstance(node.func, ast.Name) and node.func.id == "abs":
            if len(node.args) != 1 or node.keywords:
                self._fail(node, "abs takes one measure")
            self._single_measure(node.args[0], "abs")
            return
        name = node.func
        if isinstance(name, ast.Attribute):
            self._slice(name.value)
            self._call(node, name.attr)
        elif isinstance(name, ast.Name):
            self._call(node, name.id)
        else:
            self._fail(node, f"{self._source_of(name)} is no measure; known: {', '.join(MEASURES)}")

    def _single_measure(self, node: ast.expr, what: str) -> None:
        self._measure(node)
        if family := next((call for call in ast.walk(node) if _is_family(call)), None):
            self._fail(
                node,
                f"{what} takes one estimate, and {_called_name(family)} gives several: compare them with two bounds, "
                f"as in -0.1 <= {_called_name(family)}(...) <= 0.1",
            )

    def _slice(self, node: ast.expr) -> None:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "where"):
            self._fail(node, f"{self._source_of(node)} cannot stand before a measure: only where(name=value) can")
        if node.args or not node.keywords:
            self._fail(node, "where takes names with values, as in where(category=Religion)")
        attributes = {**self._vocabulary.others, **self._vocabulary.groups}
        for keyword in node.keywords:
            if keyword.arg not in attributes:
                self._fail(
                    keyword.value,
                    f"where: nothing is called {keyword.arg!r}; {did_you_mean(str(keyword.arg), attributes)}",
                )
            self._values(keyword.value, str(keyword.arg), attributes[keyword.arg], "value")

    def _call(self, node: ast.Call, name: str) -> None:
        measure = self._find_measure(node, name)
        if len(node.args) != measure.grades:
            grades = "one grade" if measure.grades == 1 else f"{measure.grades} grades"
            example = ", ".join(["GRADE"] * measure.grades + [f"{word}=..." for word in measure.needs])
            self._fail(
                node, f"{name} takes {grades} before its keywords, not {len(node.args)}: write {name}({example})"
            )
        keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
        accepted = [*measure.needs, *(word for word in measure.takes if word not in measure.needs)]
        for word, value in keywords.items():
            if word not in accepted:
                self._fail(value, f"{name} has no argument {word!r}; {did_you_mean(word, accepted)}")
        missing = next((word for word in measure.needs if word not in keywords), None)
        if missing is not None:
            self._fail(node, f"{name} needs `{missing}=`")
        self._names(node, keywords)

    def _find_measure(self, node: ast.Call, name: str) -> Measure:
        if name in MEASURES:
            return MEASURES[name]
        registered = METRICS.names()
        if name not in registered:
            self._fail(node, f"there is no measure {name!r}; {did_you_mean(name, [*MEASURES, *registered])}")
        from pytest_fairness.stats.metric_definition import read_signature

        try:
            signature = read_signature(name)
        except FairnessError as error:
            self._fail(node, str(error))
        return Measure(signature.grades, signature.required, signature.optional)

    def _names(self, node: ast.Call, keywords: Mapping[str, ast.expr]) -> None:
        is_builtin = _called_name(node) in MEASURES
        for value in [*node.args, *([keywords["same"]] if is_builtin and "same" in keywords else [])]:
            grade = self._single(value)
            if grade not in self._vocabulary.grades:
                reason = self._vocabulary.explain_no_grade(str(grade))
                similar = did_you_mean(str(grade), self._vocabulary.grades)
                self._fail(
                    value, f"{grade!r} is no grade: {reason}" if reason else f"there is no grade {grade!r}; {similar}"
                )
        if "by" in keywords:
            by = self._single(keywords["by"])
            if by not in self._vocabulary.groups:
                similar = did_you_mean(str(by), self._vocabulary.groups)
                is_other = by in self._vocabulary.others
                self._fail(
                    keywords["by"],
                    f"{by!r} is no group: vary it, or name it in `groups` of a table"
                    if is_other
                    else f"nothing varies by {by!r}; {similar}",
                )
            for word in ("of", "to"):
                if word in keywords:
                    self._values(keywords[word], str(by), self._vocabulary.groups[str(by)], "group", one=True)
        if "equals" in keywords:
            grade = str(self._single(node.args[0]))
            listed = isinstance(keywords["equals"], ast.List | ast.Tuple)
            if _called_name(node) == "rates" and not (listed and keywords["equals"].elts):  # type: ignore[attr-defined]
                self._fail(keywords["equals"], "rates takes a list of values: equals=[...], or rate(...) for one")
            self._values(keywords["equals"], grade, self._vocabulary.grades[grade], "value")
        for word in keywords.keys() - {
            "by",
            "of",
            "to",
            "equals",
            *(["same"] if is_builtin else []),
        }:  # an option of a registered metric
            self._values(keywords[word], word, None, "value")

    def _values(
        self, node: ast.expr, name: str, spellings: Collection[str] | None, what: str, *, one: bool = False
    ) -> None:
        nodes = node.elts if isinstance(node, ast.List | ast.Tuple) and not one else [node]
        for entry in nodes:
            value = self._single(entry)
            if spellings is None or spelled(value) in spellings:
                continue
            others = [text for text in spellings if _is_same(value, text)]
            if len(others) != 1:
                self._fail(entry, f"{name} has no {what} {spelled(value)!r}; {did_you_mean(spelled(value), spellings)}")
            self.respelled[entry] = ast.copy_location(ast.Constant(others[0]), entry)

    def _single(self, node: ast.expr) -> Any:
        """Return a name, text or number."""
        number = negated(node) or node
        if not isinstance(number, ast.Constant) and not isinstance(node, ast.Name):
            shown = self._source_of(node)
            self._fail(node, f"{shown} is no name: put it in quotation marks, as in 'non-binary', if it is one")
        return _literal(node)

    def _source_of(self, node: ast.expr) -> str:
        return re.sub(r"\s+", " ", ast.get_source_segment(self._text, node) or "it")[:60]

    def _fail(self, node: ast.expr, message: str) -> NoReturn:
        # ast counts bytes. Only in the first line the offset is exact, and most expressions have one line.
        line = self._text.encode().splitlines()[node.lineno - 1] if node.lineno == 1 else b""
        raise ExpressionError(message, len(line[: node.col_offset].decode(errors="replace")))


class _Respelling(ast.NodeTransformer):
    """Replacement of values by the texts of the same values in the probe."""

    def __init__(self, texts: Mapping[ast.AST, ast.Constant]) -> None:
        self._texts = texts

    def visit(self, node: ast.AST) -> Any:
        """Return the text in place of a value, and any other node as it is."""
        return self._texts.get(node) or self.generic_visit(node)


def negated(node: ast.expr) -> ast.expr | None:
    """Return what stands behind a minus sign; None for other nodes."""
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None


def _called_name(node: ast.AST) -> str:
    """Return the name of a called function or method; empty for other nodes."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_family(node: ast.AST) -> bool:
    return _called_name(node) in _FAMILIES


def _is_same(value: object, text: str) -> bool:
    """Return whether a truth or a number of an expression is the value that a text writes: true is True, 20 is 20.0.

    >>> _is_same(True, "TRUE"), _is_same(20, "20.0"), _is_same("20", "20.0")
    (True, True, False)
    """
    if isinstance(value, bool):
        return text.lower() == spelled(value)
    try:
        return isinstance(value, int | float) and float(text) == value
    except ValueError:
        return False


def spelled(value: object) -> str:
    """Return a value as the vocabulary spells it: true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)
