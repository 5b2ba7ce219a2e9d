"""Evaluations of a threshold test that show which of its conditions can fail it.

In a test that passes, a missing assertion does not show. It does when a condition gets the opposite
answer and the test still passes. The same evaluations show which answer a
condition must have, so that ``not rate < 0.8`` is judged as ``rate >= 0.8``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import combinations

from pytest_fairness.core.comparisons import Comparison, ComparisonRecorder, key_of, recording
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.overrides import ONLY, BoundsOverride, shown

Answers = Mapping[str, bool]
"""Answers to conditions, by their keys."""

_DECIDES_BY_TEXT = (
    "what is compared depends on the text of an estimate, whose numbers have no interval there: compare the estimates "
    "themselves, their difference or ratio, or a whole family"
)
CHANGES = (
    "what is compared changes from one call of the test to the next: a threshold's test is called several times, so "
    "keep nothing between calls and draw nothing without a seed"
)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|\b(?:nan|inf)\b")
_OTHER_TEXTS: tuple[Callable[[str], str], ...] = (
    lambda _: "<an estimate>",
    *(partial(_NUMBER.sub, number) for number in ("-1000000", "0", "1000000")),
)
"""Functions from the text of an estimate to one without numbers, or with other ones: some guards act on these alone."""
_FEW = 8
"""Largest number of conditions of which all combinations of answers are tried: 256 evaluations."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of one call of a threshold test under given answers."""

    record: ComparisonRecorder
    failure: BaseException | None
    is_skipped: bool = False
    """Whether the test skipped itself: it is not judged then."""

    @property
    def fails(self) -> bool:
        """Return whether the test failed."""
        return self.failure is not None

    @property
    def given(self) -> dict[str, bool]:
        """The answers of the conditions, by their keys."""
        return self.record.given

    @property
    def line(self) -> int | None:
        """The line at which it failed: the innermost of its traceback."""
        entry = self.failure.__traceback__ if self.failure else None
        line = None
        while entry is not None:
            line, entry = entry.tb_lineno, entry.tb_next
        return line


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluator that calls a threshold test under given answers to its conditions."""

    test: Callable[[], object]
    scale: MarkScale | None = None
    bounds: BoundsOverride | None = None
    negated: Collection[tuple[str, str, float]] = ()
    endings: tuple[type[BaseException], ...] = ()
    """Exceptions that end a test without failing it: those of a skip."""
    failures: tuple[type[BaseException], ...] = (AssertionError,)
    """Exceptions by which a test fails after a comparison: those of ``assert`` and of ``pytest.fail``."""
    strict_tail: float | None = None
    """The probability to err on either side of a claim of unfairness; None: that of the intervals."""
    reports: bool = True
    """Whether the estimates are for a report (`ComparisonRecorder.reports`)."""

    def evaluate(self) -> Evaluation:
        """Return the evaluation with the answers of the intervals; open conditions hold.

        Raises:
            BaseException: The test raised it, and it is neither a failed assertion nor a `FairnessError`.
        """
        record = self._record({}, None)
        with recording(record):
            failure = _failure(self.test, self.failures)
        if failure is not None and not record.given and not isinstance(failure, (AssertionError, FairnessError)):
            raise failure
        return Evaluation(record, failure)

    def under(
        self,
        answers: Answers,
        default: bool | None = None,  # noqa: FBT001 - an answer
        *,
        show: Callable[[str], str] = str,
    ) -> Evaluation:
        """Return the test's evaluation under these answers, in which texts of estimates are as ``show`` makes them.

        An exception is a failure, a skip is none, and printed text is dropped.
        """
        record = self._record(answers, default)
        record.show = show
        is_skipped = False
        with recording(record), redirect_stdout(StringIO()):
            try:
                failure = _failure(self.test, self.failures)
            except self.endings:
                failure, is_skipped = None, True
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # noqa: BLE001 - of a path that the data do not take
                failure = error
        return Evaluation(record, failure, is_skipped)

    def _record(self, answers: Answers, default: bool | None) -> ComparisonRecorder:  # noqa: FBT001 - an answer
        return ComparisonRecorder(
            answers, default, self.scale, self.bounds, self.negated, self.strict_tail, self.reports
        )


@dataclass(frozen=True, slots=True)
class Dependence:
    """The answers that a threshold test needs to pass."""

    needs: Answers
    """Answers by the keys of its conditions."""
    problem: str = ""
    """The reason that the test cannot be judged, in one line; empty where it can."""


def depends_on(evaluator: Evaluator, passing: Evaluation, default: bool | None) -> Dependence:  # noqa: FBT001
    """Return the answers that a test needs to pass: each condition must be able to fail the test by itself.

    Args:
        evaluator: Calls the test.
        passing: An evaluation that passes.
        default: The answer of conditions that are checked only under other answers, as in ``passing``.
    """
    evaluator = replace(evaluator, reports=False)
    idle = [key for key in passing.given if not _fails_without(evaluator, passing, key, default)]
    conditions = passing.record.conditions
    problem = ""
    if idle:
        condition = conditions[idle[0]]
        line = f" (line {condition.line})" if condition.line else ""
        problem = f"{condition.text}{line} cannot fail the test by itself: write one `assert` for each comparison"
    for key, needed in passing.given.items():
        if (family := conditions[key].family) and not needed and not problem:
            problem = f"a family must hold as a whole, so its comparison cannot be negated: write `{family}`"
    return Dependence(dict(passing.given), problem or _other_dependence(evaluator, passing, default))


def _other_dependence(evaluator: Evaluator, passing: Evaluation, default: bool | None) -> str:  # noqa: FBT001
    """Return the reason that a test cannot be judged: what it compares depends on more than its conditions.

    It shows in further evaluations with the same answers, in which the texts of estimates are others: the test compares
    something else then, or fails.
    """
    reads_texts = passing.record.reads_texts
    reason = _DECIDES_BY_TEXT if reads_texts else CHANGES
    usual = _compared(passing)
    for show in _OTHER_TEXTS if reads_texts else _OTHER_TEXTS[:1]:
        again = evaluator.under(passing.given, default, show=show)
        compared = _compared(again)
        different = compared.keys() ^ usual.keys()
        if different:
            return f"{(usual | compared)[min(different)]}: {reason}"
        if again.fails or again.is_skipped:
            return reason
    return ""


def _compared(evaluation: Evaluation) -> dict[tuple[str, str, float], str]:
    """Return the metrics, operators and bounds that an evaluation has compared, with their text and line."""
    return {
        (key_of(comparison.estimate), comparison.op, comparison.bound): condition.text
        + (f" (line {condition.line})" if condition.line else "")
        for condition in evaluation.record.conditions.values()
        for comparison in condition.comparisons
    }


def _fails_without(evaluator: Evaluator, passing: Evaluation, key: str, default: bool | None) -> bool:  # noqa: FBT001
    """Return whether the test fails if one condition has the other answer, whatever further conditions it checks."""
    answers = {**passing.given, key: not passing.given[key]}
    flipped = evaluator.under(answers, default)
    if flipped.fails and flipped.given.keys() - answers.keys():
        # The further conditions may replace it, as in `a or b` and `if a: return`.
        return all(evaluator.under(answers, answer).fails for answer in (True, False))
    return flipped.fails


def find_passing(evaluator: Evaluator, failing: Evaluation) -> tuple[Evaluation, bool | None] | None:
    """Return an evaluation that passes, with the answer of its other conditions; None where none is found.

    First all conditions hold, or none does, as in most tests. Then the answers of conditions are reversed one by
    one, from the last checked one on, as long as the test gets farther.
    """
    for default in (True, False):
        evaluation = evaluator.under({}, default)
        if not evaluation.fails:
            return evaluation, default
    current = failing
    while (farther := _find_farther(evaluator, current)) is not None:
        current = farther
        if not current.fails:
            return current, None
    return next(((passing, None) for passing in _combinations(evaluator, failing) if not passing.fails), None)


def _find_farther(evaluator: Evaluator, current: Evaluation) -> Evaluation | None:
    for key in reversed(current.given):
        if key in current.record.answers:
            continue  # it has the opposite answer already
        flipped = evaluator.under({**current.record.answers, key: not current.given[key]})
        new = flipped.given.keys() - current.given.keys()
        if not flipped.fails or new or flipped.line != current.line:
            return flipped
    return None


def _combinations(evaluator: Evaluator, failing: Evaluation) -> Iterator[Evaluation]:
    if len(failing.given) > _FEW:
        return
    for count in range(1, len(failing.given) + 1):
        for flipped in combinations(failing.given, count):
            yield evaluator.under({name: answer != (name in flipped) for name, answer in failing.given.items()})


def _failure(test: Callable[[], object], failures: tuple[type[BaseException], ...]) -> BaseException | None:
    """Return the failed assertion, or the error of a wrong use of `measured`; else None."""
    try:
        test()
    except FairnessError as mistake:
        return mistake
    except failures as failure:
        return failure
    except ExceptionGroup as group:  # hypothesis has found several failures
        ours, others = group.split((AssertionError, FairnessError))
        if ours is None or others is not None:
            raise
        first: Exception = ours
        while isinstance(first, ExceptionGroup):
            first = first.exceptions[0]
        return first
    return None


def with_overrides(
    evaluator: Evaluator, bounds: BoundsOverride, needs: Answers, record: ComparisonRecorder
) -> Evaluator:
    """Return an evaluator with the project's bounds, each on the side that the test needs."""
    negated = {
        (comparison.estimate.metric, comparison.op, comparison.bound)
        for key, condition in record.conditions.items()
        if needs.get(key, not condition.opposite) == condition.opposite
        for comparison in condition.comparisons
    }
    return replace(evaluator, bounds=bounds, negated=frozenset(negated))


def override_problem(bounds: BoundsOverride, comparisons: Sequence[Comparison]) -> str:
    """Return the reason that bounds cannot be matched to the comparisons of a test; empty where they can.

    Args:
        bounds: The project's bounds.
        comparisons: All comparisons of the test, each as it must hold: every bound must match one.
    """
    if ONLY in bounds.spans and any(comparison.instead_of is None for comparison in comparisons):
        return f"{bounds.where}: the test compares a mark: set a scale, not bounds"
    replaced: dict[tuple[str, str], set[float]] = {}
    for comparison in comparisons:
        if comparison.instead_of is not None:
            name, side = _name(bounds, comparison), "low" if comparison.op in (">", ">=") else "high"
            replaced.setdefault((name, side), set()).add(comparison.instead_of)
    names = sorted({name for name, _ in replaced})
    if ONLY in bounds.spans and len(names) > 1:
        example = f"bounds = {{{names[0]!r} = [LOW, HIGH]}}"
        return f"{bounds.where}: bounds may be for {' or '.join(names)}: name which, as in {example}"
    for (name, _), numbers in replaced.items():
        if len(numbers) > 1:
            several = " and ".join(f"{number:g}" for number in sorted(numbers))
            return f"{bounds.where}: the test compares {name} with {several}: one bound cannot stand for both"
    return _unmatched_problem(bounds, set(replaced), comparisons)


def _name(bounds: BoundsOverride, comparison: Comparison) -> str:
    """Return the key of a comparison's bounds: its metric, else its family."""
    metric = comparison.estimate.metric
    return metric if metric in bounds.spans else comparison.estimate.family_name


def _unmatched_problem(bounds: BoundsOverride, matched: set[tuple[str, str]], comparisons: Sequence[Comparison]) -> str:
    for name, span in bounds.spans.items():
        sides = {side for metric, side in matched if metric == name or name == ONLY}
        if name != ONLY and not sides:
            compared = {comparison.estimate.family_name for comparison in comparisons}
            compared |= {comparison.estimate.metric for comparison in comparisons}
            return f"{bounds.where}: the test does not compare {name!r}; {did_you_mean(name, compared)}"
        for side, end, far in (("low", span[0], "below"), ("high", span[1], "above")):
            if math.isfinite(end) and side not in sides:
                open_end = "-inf" if side == "low" else "inf"
                return f"{bounds.where}: bounds are {shown(span)}, but the test sets none {far}: write {open_end}"
    return ""
