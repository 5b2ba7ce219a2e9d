"""Accepted verdicts: reviewed decisions in a file of the project, and whether each covers a verdict of today.

An accepted verdict keeps its word and its mark. Each estimate that did not hold its bounds is accepted up to the worse
end of its interval: a later estimate beyond that end is worse than what was accepted, and the acceptance is broken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path

from pytest_fairness.core.acceptance_results import AcceptanceResult, FailingEstimate, FirstAcceptance
from pytest_fairness.core.acceptance_states import ACCEPTED, BROKEN, EXPIRED, FILE, NOT_NEEDED, NOT_USED
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.field_readers import day, line_of_text, matching, number, some_text, whole
from pytest_fairness.core.formatting import slice_text, span_text
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.serialization import UNWRITTEN, RecordContext, checked, read_fields
from pytest_fairness.core.threshold_results import Bounds, ThresholdResult
from pytest_fairness.core.toml_files import TomlFile

TABLE = "accepted"
LONGEST = timedelta(days=366)
"""The longest time for which a verdict can be accepted."""
ACCEPTABLE = ("unfair", "undecided")
_WAY_OUT = "`pytest-fairness accept` writes such entries"


_verdict = matching(ACCEPTABLE.__contains__, f"only {' or '.join(ACCEPTABLE)} can be accepted")


def _interval(value: object) -> tuple[float, float]:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(is_number(end) and math.isfinite(end) for end in value)
    ):
        raise ValueError("write [LOW, HIGH], two finite numbers")
    return float(value[0]), float(value[1])


def _bounds(value: object) -> Bounds:
    if not isinstance(value, list) or len(value) != 2 or not all(map(is_number, value)):
        raise ValueError("write [LOW, HIGH], -inf or inf where there is none")
    low, high = map(float, value)
    if math.isnan(low) or math.isnan(high) or low > high or (low == -math.inf and high == math.inf):
        raise ValueError("write [LOW, HIGH], the first at most the second, one of them finite")
    return (None if low == -math.inf else low), (None if high == math.inf else high)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenEstimate:
    """An estimate as an entry has it."""

    metric: str = checked(some_text)
    slice: Mapping[str, str] = checked(dict, written=Mapping[str, str], rule="it must be a table of texts")
    verdict: str = checked(_verdict)
    estimate: float = checked(number())
    interval: tuple[float, float] = checked(_interval)
    bounds: Bounds = checked(_bounds)


def _estimates(written: Sequence[_WrittenEstimate]) -> tuple[FailingEstimate, ...]:
    if not written:
        raise ValueError("write a list of tables {metric, slice, verdict, estimate, interval, bounds}")
    if not all(part.interval[0] <= part.estimate <= part.interval[1] for part in written):
        raise ValueError("an estimate lies in its interval")
    names = [(part.metric, sorted(part.slice.items())) for part in written]
    if any(name in names[:index] for index, name in enumerate(names)):
        raise ValueError("one estimate is there twice")
    return tuple(
        FailingEstimate(
            metric=part.metric,
            slice=part.slice,
            verdict=part.verdict,
            value=float(part.estimate),
            low=part.interval[0],
            high=part.interval[1],
            bounds=part.bounds,
        )
        for part in written
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenFirst:
    """The first acceptance as an entry has it."""

    on: date = checked(day)
    estimate: float = checked(number())
    renewals: int = checked(whole(1, 1_000_000))


def _first(written: _WrittenFirst) -> FirstAcceptance:
    return FirstAcceptance(on=written.on.isoformat(), value=written.estimate, renewals=written.renewals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """One accepted verdict of a threshold on a model."""

    threshold: str = checked(some_text)
    """The id of its test."""
    title: str = checked(some_text)
    model: str = checked(some_text)
    probe: str = checked(some_text)
    verdict: str = checked(_verdict)
    """``unfair`` or ``undecided``."""
    estimates: Sequence[FailingEstimate] = checked(
        _estimates,
        written=Sequence[_WrittenEstimate],
        rule="write a list of tables {metric, slice, verdict, estimate, interval, bounds}",
    )
    """Every estimate that did not hold its bounds, with its interval."""
    items: str = checked(some_text)
    """A digest of the probe's items."""
    graders: str = checked(some_text)
    """A digest of the fingerprints of its graders."""
    on: date = checked(day)
    """The day of the decision."""
    until: date = checked(day)
    """The last day on which it holds."""
    by: str = checked(line_of_text)
    reason: str = checked(line_of_text)
    run: str = checked(some_text)
    """The run whose verdict was accepted."""
    first: FirstAcceptance | None = checked(_first, written=_WrittenFirst, default=None)
    """The first of the acceptances that it has replaced, one after the other; None for the first."""
    where: str = field(default="", metadata=UNWRITTEN)
    """The file and the line of the entry."""

    def renewal_of(self, entry: Acceptance) -> Acceptance:
        """Return this acceptance as it stands in place of an earlier one: with the first estimate, and its day."""
        first = entry.first or FirstAcceptance(on=entry.on.isoformat(), value=entry.estimates[0].value, renewals=0)
        return replace(self, first=replace(first, renewals=first.renewals + 1))

    def result(self, state: str = NOT_USED, why: str = "") -> AcceptanceResult:
        """Return the entry as the results file has it."""
        return AcceptanceResult(
            threshold=self.threshold,
            title=self.title,
            model=self.model,
            verdict=self.verdict,
            estimates=self.estimates,
            reason=self.reason,
            by=self.by,
            until=self.until.isoformat(),
            run=self.run,
            first=self.first,
            where=self.where,
            state=state,
            why=why,
        )

    def unused(self, today: date, why: str) -> AcceptanceResult:
        """Return the entry in a run that did not judge its threshold on its model, with the reason."""
        if today > self.until:
            return self.result(EXPIRED, f"it ended on {self.until}")
        return self.result(NOT_USED, why)

    def applied_to(self, row: ThresholdResult, today: date) -> AcceptanceResult:
        """Return whether the entry covers the verdict of its threshold.

        Args:
            row: The threshold, with the id and model of the entry.
            today: The day of the run.

        Returns:
            The entry with its state. Every change of what was accepted breaks it, and nothing that could not be
            measured is ever covered.
        """
        if row.verdict == "fair":
            return self.result(NOT_NEEDED, "the threshold is fair: remove the entry")
        if row.verdict not in ACCEPTABLE:
            return self.result(BROKEN, f"the verdict is {row.verdict}, and only {' or '.join(ACCEPTABLE)} is accepted")
        if today > self.until:
            return self.result(EXPIRED, f"it ended on {self.until}")
        why = self._clock_problem(today) or self._change(row) or self._worsening(row)
        return self.result(BROKEN if why else ACCEPTED, why)

    def _clock_problem(self, today: date) -> str:
        return f"the clock shows {today}, before the decision of {self.on}" if today < self.on else ""

    def _change(self, row: ThresholdResult) -> str:
        """Return what has changed since the verdict was accepted; empty where nothing has."""
        if row.threshold != self.title:
            return f"the title is {row.threshold!r} now, {self.title!r} was accepted"
        if row.probe != self.probe:
            return f"the probe is {row.probe} now, {self.probe} was accepted"
        if row.items_digest != self.items:
            return "the items of the probe have changed"
        if graders_digest(row) != self.graders:
            return "the graders have changed"
        return ""

    def _worsening(self, row: ThresholdResult) -> str:
        if self.verdict == "undecided" and row.verdict == "unfair":
            return "it was accepted as undecided and is unfair now"
        if problem := measurement_problem(row):
            return problem
        accepted = {(part.metric, tuple(sorted(part.slice.items()))): part for part in self.estimates}
        for failing in row.failing:
            part = accepted.get((failing.metric, tuple(sorted(failing.slice.items()))))
            if part is None:
                return f"{_name(failing)} is {failing.verdict} and was not accepted"
            if why := _beyond(failing, part):
                return why
        return ""


def _beyond(failing: FailingEstimate, accepted: FailingEstimate) -> str:
    """Return why an estimate is worse than what was accepted; empty where it is not."""
    if failing.bounds != accepted.bounds:
        return f"the bounds are {span_text(failing.bounds)} now, {span_text(accepted.bounds)} were accepted"
    if failing.verdict == "unfair" and accepted.verdict == "undecided":
        return f"{_name(failing)} was accepted as undecided and is unfair now"
    low, high = accepted_span(accepted)
    if failing.value is None or not low <= failing.value <= high:
        value = "unknown" if failing.value is None else f"{failing.value:.4g}"
        return f"{_name(failing)} is {value}, beyond the accepted {_span(low, high)}"
    return ""


def _name(part: FailingEstimate) -> str:
    """Return the metric of an estimate with its slice."""
    where = slice_text(part.slice)
    return f"{part.metric}{f' where {where}' if where else ''}"


def accepted_span(part: FailingEstimate) -> tuple[float, float]:
    """Return the values that an accepted estimate may take: its bounds, widened to the ends of its interval.

    >>> unfair = FailingEstimate(metric="m", verdict="unfair", value=0.6, low=0.5, high=0.7, bounds=(0.8, 1.25))
    >>> accepted_span(unfair)
    (0.5, 1.25)
    """
    low, high = part.bounds
    assert part.low is not None and part.high is not None  # noqa: S101, PT018 - for the type; no other is accepted
    return -math.inf if low is None else min(low, part.low), math.inf if high is None else max(high, part.high)


def _span(low: float, high: float) -> str:
    finite = [None if math.isinf(end) else end for end in (low, high)]
    return span_text([None if end is None else float(f"{end:.4g}") for end in finite])


def measurement_problem(row: ThresholdResult) -> str:
    """Return why a verdict rests on no measurement that could be accepted; empty where it does."""
    if row.looks is not None and row.looks.tryout:
        return "a try-out of few items is never accepted"
    if not row.failing:
        return f"it is {row.verdict} for another reason than its estimates"
    if row.estimate.against_baseline:
        return "it is compared with a baseline, which another run changes"
    for part in row.failing:
        if part.verdict not in ACCEPTABLE or part.value is None:
            return f"{_name(part)} could not be measured"
    return ""


def graders_digest(row: ThresholdResult) -> str:
    """Return a digest of the graders' fingerprints of a threshold, of which one may have none."""
    text = "\n".join(f"{grade} {print_ or ''}" for grade, print_ in sorted(row.graders.items()))
    return digest(text)[:16]  # enough to see a change, short enough to review


def read_acceptances(path: Path) -> list[Acceptance]:
    """Return the entries of a file of accepted verdicts, in order; none where there is no file.

    Raises:
        FairnessError: An entry is malformed, or there twice; in one line, with file and line.
    """
    try:
        file = TomlFile.read(path, path.name)
    except FileNotFoundError:
        return []
    return _acceptances(file)


def parse_acceptances(text: str, name: str = FILE) -> list[Acceptance]:
    """Return the entries of the text of such a file.

    Args:
        text: TOML.
        name: The name of the file in errors.

    Raises:
        FairnessError: As of `read_acceptances`.
    """
    return _acceptances(TomlFile.parse(text, name))


def _acceptances(file: TomlFile) -> list[Acceptance]:
    entries: dict[tuple[str, str], Acceptance] = {}
    for acceptance, context in file.records(Acceptance, TABLE, _WAY_OUT):
        if problem := until_problem(acceptance.on, acceptance.until):
            raise context.error(problem, "until")
        key_ = acceptance.threshold, acceptance.model
        if (first := entries.setdefault(key_, acceptance)) is not acceptance:
            raise context.error(
                f"{acceptance.threshold!r} on {acceptance.model!r} is accepted at {first.where} too: keep one entry"
            )
    return list(entries.values())


def until_problem(on: date, until: date) -> str:
    """Return why a verdict cannot be accepted from one day to another; empty where it can."""
    if until < on:
        return f"until is {until}: it must not lie before the decision of {on}"
    if until > on + LONGEST:
        return f"until is {until}: it must lie at most a year after the decision of {on}"
    return ""


def acceptance_of(row: ThresholdResult, *, run: str, by: str, reason: str, on: date, until: date) -> Acceptance:
    """Return the entry that accepts the verdict of a threshold.

    Args:
        row: The threshold, of a results file or the store.
        run: The id of its run.
        by: The owner of the decision.
        reason: Why the verdict is accepted.
        on: The day of the decision.
        until: The last day on which it holds, at most a year later.

    Raises:
        FairnessError: The verdict cannot be accepted, or a text or a date is malformed; in one line.
    """
    name = f"{row.threshold!r} on {row.model or 'no model'}"
    if row.verdict not in ACCEPTABLE:
        raise FairnessError(f"{name} is {row.verdict}: only {' or '.join(ACCEPTABLE)} verdicts can be accepted")
    if not row.items_digest:
        raise FairnessError(f"{name} is of an older version, which recorded no digest of its items: run it again")
    if problem := measurement_problem(row):
        raise FairnessError(f"{name} cannot be accepted: {problem}")
    for part in row.failing:
        if part.low is None or part.high is None:
            raise FairnessError(f"{name}: the interval of {_name(part)} has no end: measure more items first")
    if problem := until_problem(on, until):
        raise FairnessError(problem)
    texts = read_fields({"by": line_of_text, "reason": line_of_text}, {"by": by, "reason": reason}, RecordContext())
    return Acceptance(
        threshold=row.stored_id,
        title=row.threshold,
        model=row.model,
        probe=row.probe,
        verdict=row.verdict,
        estimates=row.failing,
        items=row.items_digest,
        graders=graders_digest(row),
        on=on,
        until=until,
        run=run,
        **texts,
    )
