"""Outcomes of attempts as numbers, and the range of values that ungraded ones could have had."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import Grade, GradedAttempt, value_or_none
from pytest_fairness.core.errors import FairnessError, UngradedError, describe_missing, did_you_mean, short_repr
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.stats.calibration.labels import Calibration
from pytest_fairness.stats.columns import Columns, Floats, Rows
from pytest_fairness.stats.function_values import Function, KeptValues, constant_key, grade_getter
from pytest_fairness.stats.grade_numbers import (
    PLAIN_TYPES,
    NeedsError,
    default_extremes,
    grade_number,
    grade_numbers,
    graded_options,
    hypothetical,
    is_plain,
    is_range_known,
    is_value,
    refuse_look_alike,
)
from pytest_fairness.stats.outcome_vectors import (
    Outcome,
    OutcomeVector,
    UnboundedError,
    around,
    impute,
    refuse_outside,
    usual_span,
)

Extremes = Mapping[str, Callable[[Prompt], Sequence[Any]]]
"""Per grade: from a prompt to the extreme values that an ungraded answer to it could have had."""

NO_ATTEMPTS = "this sample holds no attempts to compute an outcome from: name a grade"
MOST_HYPOTHESES = 16
"""Number of ways to grade one attempt with several ungraded grades; 16 are four grades of two values each."""
MOST_HYPOTHETICAL = 2_000
"""Largest number of attempts whose other possible grades are read; plenty for a mean."""


@dataclass(frozen=True, slots=True)
class IndependentSum:
    """An outcome whose ungraded attempts add 0 to its sum, and still count in the metric's other sums.

    For a metric made of several means, each over the attempts that are graded for it: numerators and denominators
    are then independent sums. An attempt that is ungraded for one of them counts as ungraded, and the interval
    holds for every value that it could have had, as for any metric.
    """

    outcome: Function

    def __call__(self, attempt: GradedAttempt) -> Any:
        return self.outcome(attempt)


_WAY_OUT = "extremes={{{!r}: (LOWEST, HIGHEST)}}, or the grader an attribute `extremes`"
"""Ends a message on a grade whose values no grader declares."""


class OutcomeReader:
    """Reader of outcomes from the attempts of a sample."""

    def __init__(self, columns: Columns, extremes: Extremes, calibration: Calibration | None) -> None:
        self._columns = columns
        self._calibration = calibration
        self._extremes = extremes
        self._grades: dict[str, list[Any]] = {}
        self._defaults: dict[str, tuple[tuple[Any, ...], bool]] = {}
        self._named: dict[tuple[str, Any], OutcomeVector] = {}
        self._kept = KeptValues(columns.count)

    @property
    def calibrated(self) -> bool:
        """Return whether labels correct some grade."""
        return self._calibration is not None

    def relabeled(self, columns: Columns) -> OutcomeReader:
        """Return a reader of the same answers under other labels."""
        reader = copy(self)
        reader._columns, reader._kept = columns, KeptValues(columns.count)
        return reader

    def thinned(self, columns: Columns, grade: str, lost: npt.NDArray[np.bool_]) -> OutcomeReader:
        """Return a reader of the same answers under other labels, with some positives of a grade made negative.

        Args:
            columns: The columns under the other labels.
            grade: The grade.
            lost: Whether each attempt's grade becomes negative, shape (attempts,).
        """
        vector, reader = self.named(grade), self.relabeled(columns)
        values, lowest, highest = (
            np.where(lost, 0.0, numbers) for numbers in (vector.values, vector.lowest, vector.highest)
        )
        pairs = zip(self.values(grade), lost.tolist(), strict=True)
        reader._grades = {**self._grades, grade: [type(value)(0) if is_lost else value for value, is_lost in pairs]}
        reader._named = {key: named for key, named in self._named.items() if key[0] != grade}
        reader._named[grade, None] = replace(vector, values=values, lowest=lowest, highest=highest)
        return reader

    def named(self, grade: str, equals: Any = None) -> OutcomeVector:
        """Return a grade of every attempt of the whole sample; with ``equals``, whether it has that value.

        Raises:
            FairnessError: The grade is unknown, a text is read without ``equals``, or ``equals`` is a value that the
                grader never gives.
        """
        if not is_plain(equals):
            raise FairnessError(f"equals is {short_repr(equals)}: give one value of {grade!r}, a text say")
        key = (grade, equals)
        if key not in self._named:
            self._named[key] = self._corrected(self._read_named(grade, equals), grade, equals)
        return self._named[key]

    def _corrected(self, vector: OutcomeVector, grade: str, equals: Any) -> OutcomeVector:
        if self._calibration is None or grade not in self._calibration:
            return vector
        if vector.weights is not None:
            raise FairnessError(
                f"labels correct the answers of {grade!r}, which holds propensities: leave out calibration"
            )
        possible = self._possible(grade) if equals is not None else set()
        span = self._declared_span(grade) if equals is None else None
        is_truth = all(value in (None, False, True) for value in self.values(grade))
        is_boolean = is_truth and any(isinstance(value, bool) for value in self.values(grade))

        def number(label: Any) -> float:
            if isinstance(label, bool) and not is_truth:
                raise FairnessError(f"a label of {grade!r} is {label!r}: the grade is no true or false")
            if possible and str(label) not in possible:
                raise FairnessError(f"a label of {grade!r} is {label!r}: {did_you_mean(str(label), possible)}")
            if equals is not None:
                refuse_look_alike(f"a label of {grade}", label, equals)
            label_number = grade_number(grade, label, equals)
            if span is not None and not span[0] <= label_number <= span[1]:
                low, high = span
                raise FairnessError(f"a label of {grade!r} is {label!r}: the grade goes from {low:g} to {high:g}")
            if equals is None and is_boolean and label_number not in (0, 1):
                raise FairnessError(f"a label of {grade!r} is {label!r}: the grade is true or false")
            return label_number

        return replace(vector, correction=self._calibration.of(grade, number).group)

    def _possible(self, grade: str) -> set[str]:
        """Return all possible values of a grade by its grader, as texts; empty where it declares none."""
        declared: set[str] = set()
        for attempt in self._columns.attempts:
            if not (values := self._declared(grade, attempt.prompt)):
                return set()
            declared.update(map(str, values))
        return declared | {str(value) for value in graded_options(self.values(grade))}

    def computed(self, functions: Sequence[Function], rows: Rows) -> Floats:
        """Return functions of these attempts, shape (rows, functions); a row that is ungraded in one is nan throughout.

        For propensities, their expected values over the graded probability (`graded_shares`).
        """
        kept = self._kept.of(functions)
        missing = rows[~kept.is_computed[rows]]
        if missing.size:
            kept.values[missing] = self._compute(functions, missing)
            kept.is_computed[missing] = True
        return kept.values[rows]

    def _compute(self, functions: Sequence[Function], rows: Rows) -> Floats:
        flat: list[float] = []
        ungraded = [np.nan] * len(functions)
        attempts = self._columns.attempts
        has_propensities = self._columns.has_propensities
        for row in rows.tolist():
            attempt = attempts[row]
            try:
                if has_propensities:
                    flat += self._expected(functions, attempt)[0]
                    continue
                flat += [_number(function, function(attempt)) for function in functions]
            except UngradedError:
                flat += ungraded
            except KeyError as error:
                # An attempt that failed may lack a grade altogether: that is ungraded as well.
                missing = error.args[0] if error.args else None
                if missing not in self._columns.known_grades or missing in attempt.grades:
                    columns = [*self._columns.known_attributes, *map(str, self._columns.known_grades)]
                    readers = ", ".join(dict.fromkeys(map(outcome_name, functions)))
                    raise FairnessError(f"{readers}: {describe_missing(error, columns)}") from error
                flat += ungraded
        try:
            values = np.array(flat, dtype=np.float64).reshape(len(rows), len(functions))
        except OverflowError:
            names = ", ".join(map(outcome_name, functions))
            raise FairnessError(
                f"{names}: an outcome is a number of more than 308 digits: give a smaller one"
            ) from None
        values[np.isnan(values).any(axis=1)] = np.nan
        return values

    def hypotheses(self, functions: Sequence[Function], rows: Rows) -> Iterator[list[list[float]]]:
        """Yield, for some of these attempts, the values of the functions under each way to grade it.

        Its actual grades do not count. Empty where no grades lead to a number.
        """
        rows = rows[:: max(1, len(rows) // MOST_HYPOTHETICAL)]
        key = tuple(map(constant_key, functions))
        # Where a grader declares no extremes, they are those of the sample's own grades.
        is_shared = None not in key and self._extremes.keys() >= self._columns.known_grades
        shared = self._columns.kept_hypotheses(key, rows) if is_shared else None
        kept, names = (self._kept.of(functions).hypotheses, rows) if shared is None else shared
        for row, name in zip(rows.tolist(), names.tolist(), strict=True):
            if name not in kept:
                kept[name] = self._hypotheses(functions, row, ignore_actual=True)
            yield kept[name]

    def _hypotheses(self, functions: Sequence[Function], row: int, *, ignore_actual: bool = False) -> list[list[float]]:
        attempt = self._columns.attempts[row]
        if not ignore_actual and self._columns.has_propensities and (imputed := self._expected(functions, attempt)[2]):
            return imputed
        candidates = islice(
            self._hypothetical_values(functions, attempt, {}, ignore_actual=ignore_actual), MOST_HYPOTHESES
        )
        return [values for values in candidates if not any(map(math.isnan, values))]

    def require_hypotheses(self, functions: Sequence[Function], row: int) -> list[list[float]]:
        """Return the values of functions under each grade of an attempt that is ungraded for one of them.

        Raises:
            UnboundedError: The values that they could have had are unknown.
        """
        candidates = self._hypotheses(functions, row)
        if not candidates:
            names = ", ".join(map(outcome_name, functions))
            raise UnboundedError(
                f"{names}: an attempt has no value under any grade that it could have had, so nobody knows how far "
                "it could move the result: give 0 for what is not counted, or `where` for a slice"
            )
        return candidates

    def computed_vector(self, function: Function, rows: Rows) -> OutcomeVector:
        """Return a function of an attempt as an outcome vector of the whole sample; nan outside ``rows``."""
        if self._columns.arrays:
            raise FairnessError(NO_ATTEMPTS)
        if self._calibration is not None:
            self._calibration.refuse(function)
        values = np.full(self._columns.count, np.nan)
        values[rows] = self.computed([function], rows)[:, 0]

        def ends(row: int) -> list[float]:
            return [numbers[0] for numbers in self.require_hypotheses([function], row)]

        name, shares = outcome_name(function), self.graded_shares([function], rows)
        span = self._widened(usual_span(values), function, rows)
        if shares is None:
            return impute(name, values, rows[np.isnan(values[rows])], ends, span)
        weights = np.ones(self._columns.count)
        weights[rows] = shares
        imputed = impute(name, values, rows[np.isnan(values[rows]) | (shares < 1)], ends, None)
        values = np.divide(values, weights, out=np.full_like(values, np.nan), where=weights > 0)
        return replace(imputed, values=values, span=span, weights=weights)

    def _widened(self, span: tuple[float, float] | None, function: Function, rows: Rows) -> tuple[float, float] | None:
        """Return a span that was taken from a function's values, with those that it has at the extremes of grades.

        A function of a rating from 1 to 5 that is always 1 is no event.
        """
        if span is None:
            return None
        try:
            possible = list(self.hypotheses([function], rows))
        except Exception:  # noqa: BLE001 - a function may refuse grades that it never has
            return span
        ends = [*span, *(numbers[0] for hypotheses in possible for numbers in hypotheses)]
        return min(ends), max(ends)

    def graded_shares(self, functions: Sequence[Function], rows: Rows) -> Floats | None:
        """Return, for each row, the probability of the options that have a value; None without propensities."""
        if not self._columns.has_propensities:
            return None
        attempts = self._columns.attempts
        return np.array([self._expected(functions, attempts[row])[1] for row in rows.tolist()], dtype=np.float64)

    def _expected(
        self, functions: Sequence[Function], attempt: GradedAttempt
    ) -> tuple[list[float], float, list[list[float]]]:
        """Return the expected values of functions of an attempt under its propensities.

        Returns:
            The expected values, to which probability outside of the options adds nothing; the probability of all
            options; and, where that is under 1, the values for each option that the remainder could have fallen on.
            All nan and 0 where it is ungraded.
        """
        try:
            return [_number(function, function(hypothetical(attempt, {}))) for function in functions], 1.0, []
        except NeedsError as needs:
            grade = needs.grade
        except UngradedError:
            return [np.nan] * len(functions), 0.0, []
        propensities = value_or_none(attempt.grades.get(grade, Grade.none("error")))
        if not isinstance(propensities, Propensities):  # ungraded
            return [np.nan] * len(functions), 0.0, []

        def values_for(value: Any) -> Floats:
            try:
                assumed = hypothetical(attempt, {grade: value})
                return np.array([_number(function, function(assumed)) for function in functions])
            except NeedsError as other:
                raise FairnessError(
                    f"{', '.join(map(outcome_name, functions))} takes two propensities of one attempt, {grade!r} and "
                    f"{other.grade!r}: their joint distribution is not known, so take one of them"
                ) from None

        expected = sum((share * values_for(value) for value, share in propensities.shares), np.zeros(len(functions)))
        if propensities.outside <= 0:
            return expected.tolist(), 1.0, []
        ends = [values_for(value) for value in self._ends(grade, attempt.prompt, propensities)]
        return (
            expected.tolist(),
            propensities.graded,
            [(expected + propensities.outside * end).tolist() for end in ends],
        )

    def _ends(self, grade: str, prompt: Prompt, propensities: Propensities) -> tuple[Any, ...]:
        """Return the values that probability outside of the options could have fallen on."""
        possible = dict.fromkeys(
            (*self._extreme_values(grade, prompt, guess=True), *(value for value, _ in propensities.shares))
        )
        return tuple(possible)

    def function(self, outcome: Outcome) -> Function:
        """Return the outcome as a function of an attempt."""
        if self._calibration is not None:
            self._calibration.refuse(outcome)
        if not isinstance(outcome, str):
            refuse_no_outcome(outcome)
            return outcome
        self._check(outcome)
        return grade_getter(outcome)

    def _read_named(self, grade: str, equals: Any) -> OutcomeVector:
        self._check(grade)
        name = grade if equals is None else f"{grade}={equals}"
        if grade in self._columns.arrays:
            values = self._columns.arrays[grade]
            values = values if equals is None else np.where(np.isnan(values), np.nan, values == equals)
            low, high = (0.0, 1.0) if equals is not None else around(values)
            return impute(name, values, np.flatnonzero(np.isnan(values)), lambda _: (low, high), usual_span(values))
        if equals is not None:
            self._check_value(grade, equals)
        raw = self.values(grade)
        values = grade_numbers(grade, raw, equals)
        weights, outside = None, np.zeros(len(raw))
        propensities_by_row: Sequence[Propensities | None] = ()
        if Propensities in map(type, raw):
            propensities_by_row = [value if type(value) is Propensities else None for value in raw]
            weights = np.array([1.0 if shares is None else shares.graded for shares in propensities_by_row])
            outside = np.array([0.0 if shares is None else shares.outside for shares in propensities_by_row])

        def ends(row: int) -> list[float]:
            propensities = propensities_by_row[row] if propensities_by_row else None
            prompt = self._columns.prompt(row)
            if propensities is None:
                return [grade_number(grade, value, equals) for value in self._extreme_values(grade, prompt)]
            sure = propensities.expected(lambda value: grade_number(grade, value, equals))
            possible = self._ends(grade, prompt, propensities)
            return [sure + propensities.outside * grade_number(grade, value, equals) for value in possible]

        declared = None if equals is not None else self._declared_span(grade)
        if declared is not None:
            refuse_outside(grade, values, declared, lambda row: self._declared(grade, self._columns.prompt(row)))
        span = (0.0, 1.0) if equals is not None else declared or usual_span(values)
        imputed = impute(name, values, np.flatnonzero(np.isnan(values) | (outside > 0)), ends, span)
        return replace(imputed, weights=weights)

    def _declared_span(self, grade: str) -> tuple[float, float] | None:
        # No attempts where another program holds the sample as arrays.
        declared = self._declared(grade, self._columns.prompt(0)) if self._columns.attempts else ()
        ends = [grade_number(grade, value, None) for value in declared]
        return (min(ends), max(ends)) if ends else None

    def holds_text(self, grade: str) -> bool:
        """Return whether a grade holds text: a value of it does, or one that its grader declares."""
        raw = self.values(grade)
        if set(map(type, raw)) <= {*PLAIN_TYPES, type(None)} and raw.count(None) < len(raw):
            return False  # most samples: a plan reads hundreds
        values = [*graded_options(raw)]
        if not values and self._columns.attempts:
            values = [*self._declared(grade, self._columns.prompt(0))]
        return any(isinstance(value, str) for value in values)

    def _check(self, grade: str) -> None:
        grades = self._columns.known_grades
        if grades and grade not in grades:
            raise FairnessError(f"no attempt has a grade {grade!r}: {did_you_mean(grade, grades)}")

    def _check_value(self, grade: str, equals: Any) -> None:
        """Raise `FairnessError` for a value that a grade never has: its rate of zero must not pass for a result."""
        values = {str(value): value for value in graded_options(self.values(grade))}
        seen = set(values)
        for value in values.values():
            refuse_look_alike(grade, value, equals)
        if any(is_value(value, equals) for value in values.values()):
            return
        for attempt in self._columns.attempts:
            if str(equals) in seen:
                return
            seen.update(str(value) for value in self._extreme_values(grade, attempt.prompt, guess=True))
        if seen and str(equals) not in seen:
            raise FairnessError(
                f"{grade} is never {equals!r}: {did_you_mean(str(equals), seen)}. Where it could have been, "
                f"give {_WAY_OUT.format(grade)}"
            )

    def values(self, grade: str) -> list[Any]:
        """Return the values of a grade, None where ungraded."""
        if grade not in self._grades:
            self._grades[grade] = self._columns.values(grade)
        return self._grades[grade]

    def _declared(self, grade: str, prompt: Prompt) -> tuple[Any, ...]:
        """Return the extreme values that a grade of an answer to this prompt has by its grader; empty where unknown."""
        return tuple(self._extremes[grade](prompt)) if grade in self._extremes else ()

    def _extreme_values(self, grade: str, prompt: Prompt, *, guess: bool = False) -> tuple[Any, ...]:
        """Return the extreme values that a grade of an answer to this prompt could have had.

        Where they are not declared: false and true for a grade of these, else, with ``guess``, the values observed.

        Raises:
            UnboundedError: They are needed and can only be guessed.
        """
        if declared := self._declared(grade, prompt):
            return declared
        if grade not in self._defaults:
            self._defaults[grade] = default_extremes(self.values(grade))
        extremes, is_known = self._defaults[grade]
        if not (guess or is_known):
            raise UnboundedError(
                f"answers are ungraded in {grade!r}, and nobody says which values they could have had: give "
                f"{_WAY_OUT.format(grade)}"
            )
        return extremes

    def _hypothetical_values(
        self,
        functions: Sequence[Function],
        attempt: GradedAttempt,
        assumed: Mapping[str, Any],
        *,
        ignore_actual: bool,
    ) -> Iterator[list[float]]:
        assumed_attempt = hypothetical(attempt, assumed, ignore_actual=ignore_actual)
        try:
            yield [_number(function, function(assumed_attempt)) for function in functions]
        except NeedsError as needs:
            possible = self._extreme_values(needs.grade, attempt.prompt, guess=ignore_actual)
            if not self._declared(needs.grade, attempt.prompt) and not is_range_known(possible):
                return
            for value in possible:
                yield from self._hypothetical_values(
                    functions, attempt, {**assumed, needs.grade: value}, ignore_actual=ignore_actual
                )
        except UngradedError:
            return


def refuse_no_outcome(outcome: object) -> None:
    """Raise `FairnessError` for an outcome that is no function; names of grades are not passed to this one."""
    if not callable(outcome):
        raise FairnessError(f"the outcome is {short_repr(outcome)}: name a grade, or give a function of an attempt")


def outcome_name(outcome: Outcome, equals: Any = None) -> str:
    """Return the name of an outcome in reports: ``advance``, ``answer=unknown``, or a function's name."""
    if isinstance(outcome, str):
        return outcome if equals is None else f"{outcome}={equals}"
    return str(getattr(outcome, "__name__", type(outcome).__name__)).strip("<>")


def _number(function: Callable[..., Any], value: Any) -> float:
    if type(value) in PLAIN_TYPES:
        return value  # type: ignore[no-any-return]
    if value is None:
        return np.nan
    if isinstance(value, Real | np.bool_):
        return float(value)
    name = outcome_name(function)
    raise FairnessError(f"the outcome {name} gave {value!r}: it must give true, false or a number")
