"""Causes why a threshold is invalid, from the attempts that its sentence is about.

Each ungraded attempt has one kind of cause, by its reason and its evidence (`stats.cause_kinds`).
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_fairness.core.answer_formats import FORMAT
from pytest_fairness.core.attempts import GradedAttempt, value_or_none
from pytest_fairness.core.causes import CauseResult, quote
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import LIKELIHOODS
from pytest_fairness.core.formatting import number, one_line, slice_text
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.propensities import WAY_OUT, Propensities
from pytest_fairness.core.sensitivity import SliceState
from pytest_fairness.stats.cause_kinds import FINDINGS, KEEP_TO_FORM, cut_off, kind_of, remedy_of
from pytest_fairness.stats.flips import read_rows
from pytest_fairness.stats.validity import FEWEST_SOURCES, MOST_UNGRADED

if TYPE_CHECKING:
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.verdicts import Judgment
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.selection import Selection

FEWEST_ANSWERS = 10
"""The fewest answers of which it is said that none calls a tool."""
FAR_APART = 0.25
"""The difference of the shares of two groups from which on a cause names both."""
MOSTLY = 0.5
"""The unread share of one format or language from which on it is a cause, where another one is read."""
_CONTRASTED = (FORMAT, "language")
"""The attributes of prompts whose values can be measured alone, without a loss of what is asked."""
_MOST_GROUPS = 3
_LONGEST_DETAIL = 400


@dataclass(frozen=True)
class CauseContext:
    """The model and the graders of a run, for remedies."""

    model: str
    """The name of the model with its parameters."""
    graders: Mapping[str, str]
    """The ways out for answers that a grader could not read, by its grade; empty where none is known."""
    redact: Callable[[str], str] = str
    """Removes secrets from a text, before it is cut."""


class _Unread(NamedTuple):
    """An attempt that counts as ungraded for a threshold."""

    attempt: GradedAttempt
    grade: str
    kind: str
    reason: str


def find_causes(sample: Measured, judgment: Judgment, context: CauseContext) -> list[CauseResult]:
    """Return the causes that the attempts of a threshold show, the most frequent first.

    Counts and examples are those of the attempts that its verdict is about: the groups and the slice of the deciding
    estimate. An estimate over all of them is one of all attempts.

    Args:
        sample: The threshold's sample, without the groups that it leaves out.
        judgment: Its judgment.
        context: The model and the graders.
    """
    part = _Part.of(sample, judgment)
    if part is None:
        return []
    return _part_causes(part, context)


def find_answer_causes(sample: Measured, context: CauseContext) -> list[CauseResult]:
    """Return the causes that attempts show without a threshold: of all of them, and of any grade."""
    return _part_causes(_Part(sample.selection, None, ()), context)


def _part_causes(part: _Part, context: CauseContext) -> list[CauseResult]:
    counted = [*_format_causes(part, context), *_causes_by_kind(part, context), *_propensity_causes(part, context)]
    counted.sort(key=lambda cause: -(cause.count or 0))
    return [*_missing_calls(part, context), *counted]


def find_response_causes(sample: Measured, judgment: Judgment, redact: Callable[[str], str]) -> list[CauseResult]:
    """Return the controls that the answers do not follow as causes; ``redact`` removes secrets from examples."""
    causes = []
    for response in judgment.responses:
        if response.decision is not Decision.FALSE:
            continue
        level = response.control.to
        of_level = (
            graded
            for graded in sample.selection.columns.attempts
            if graded.attempt.answer is not None and level in _values_of(graded, response.control.by)
        )
        example = next((quote(redact(one.attempt.answer.transcript)) for one in of_level if one.attempt.answer), "")
        levels = ", ".join(f"{name} {number(value, 2)}" for name, value in response.levels.items())
        where = f" where {response.slice[0]} is {response.slice[1]}" if response.slice else ""
        causes.append(
            CauseResult(
                kind="no response",
                finding=f"the answers do not follow `{response.control.by}`{where} ({levels or 'all are alike'})",
                example=f"{example} to {level}" if example else "",
                remedy="find out why the answers do not follow what should move them: compare those to "
                f"{response.control.of} and {level} in the report; more answers will not help",
            )
        )
    return causes


class _Part:
    """The attempts that the sentence of a verdict is about, and those of them that count as ungraded."""

    def __init__(self, selection: Selection, estimate: Estimate | None, outcomes: Iterable[tuple[Any, Any]]) -> None:
        columns = selection.columns
        self.selection = selection
        self.estimate = estimate
        self.where = slice_text({} if estimate is None else estimate.slice)
        self.attribute = None if estimate is None else estimate.attribute
        rows = selection.rows
        if self.attribute is not None and estimate is not None and estimate.kind is MetricKind.FLIPS:
            # test_causes_of_flips_are_those_of_both_groups_and_wordings
            rows = read_rows(selection, self.attribute)
        elif self.attribute is not None and estimate is not None and estimate.groups:
            codes = columns.attribute(self.attribute).codes[rows]
            labels = columns.attribute(self.attribute).labels
            compared = [code for code, label in enumerate(labels) if label in estimate.groups]
            rows = rows[np.isin(codes, compared)]
        self.rows = rows.tolist()
        self.attempts = [columns.attempts[row] for row in self.rows]
        read = {name for outcome, _ in outcomes for name in selection.grades_read(outcome)}
        self.grades = sorted(read & columns.known_grades) or sorted(columns.known_grades)
        self.unread = [one for graded in self.attempts if (one := _unread(graded, self.grades)) is not None]

    @classmethod
    def of(cls, sample: Measured, judgment: Judgment) -> _Part | None:
        """Return the part of a sample; None where there are no attempts, as in a table."""
        selection = sample.selection
        if not selection.columns.attempts:
            return None
        outcomes = [
            outcome
            for comparison in judgment.comparisons
            for member in comparison.of_members()
            for outcome in member.estimate.outcomes
        ]
        unmeasured = next((part for part in judgment.slices if part.state is SliceState.UNMEASURED), None)
        if unmeasured is not None and unmeasured.by not in _CONTRASTED:
            selection = selection.where(**{unmeasured.by: unmeasured.value})
            return cls(selection, None, outcomes)
        estimate = None if judgment.deciding is None or judgment.sensitivity else judgment.deciding.estimate
        if estimate is not None:
            selection = selection.where(**_slice_values(selection, estimate))
            outcomes = list(estimate.outcomes) or outcomes
        return cls(selection, estimate, outcomes)

    def count_sources(self, of: Collection[GradedAttempt] | None = None) -> dict[str, int]:
        """Return the number of independent items or sources of each group, in all attempts or in some."""
        counted = None if of is None else {id(graded) for graded in of}
        codes = self.selection.columns.sources.codes
        sources: dict[str, set[int]] = defaultdict(set)
        for row, graded in zip(self.rows, self.attempts, strict=True):
            of_group = sources["" if self.attribute is None else str(graded.prompt.groups.get(self.attribute))]
            if counted is None or id(graded) in counted:
                of_group.add(int(codes[row]))
        return {group: len(own) for group, own in sources.items()}

    def group_counts(self, attempts: Iterable[GradedAttempt]) -> dict[str, dict[str, tuple[int, int]]]:
        """Return by attribute and group how many of these attempts there are, and of all attempts of the part."""
        names = [self.attribute] if self.attribute is not None else sorted(self.selection.columns.group_attributes)
        of_attempts = [graded.prompt.groups for graded in attempts]
        counts: dict[str, dict[str, tuple[int, int]]] = {}
        for name in names:
            of = Counter(graded.prompt.groups.get(name) for graded in self.attempts)
            own = Counter(groups.get(name) for groups in of_attempts)
            counts[name] = {group: (own[group], total) for group, total in of.items() if group is not None}
        return counts


def _slice_values(selection: Selection, estimate: Estimate) -> dict[str, list[str]]:
    """Return the values that an estimate's slice selects, by attribute: it joins several by "or".

    A slice of a published benchmark may have names of its own, which no attempt has.
    """
    values: dict[str, list[str]] = {}
    for name, text in estimate.slice.items():
        try:
            labels = selection.columns.attribute(name).labels
        except FairnessError:
            continue
        values[name] = [text] if text in labels else [label for label in labels if label in text.split(" or ")]
    return {name: chosen or [estimate.slice[name]] for name, chosen in values.items()}


def _values_of(graded: GradedAttempt, name: str) -> tuple[str, ...]:
    values = (graded.prompt.groups.get(name), graded.prompt.metadata.get(name), graded.item.metadata.get(name))
    return tuple(str(value) for value in values if value is not None)


def _unread(graded: GradedAttempt, grades: Sequence[str]) -> _Unread | None:
    """Return the first of these grades that is ungraded, with its kind of cause; None where all have values."""
    for name in grades:
        grade = graded.grades.get(name)
        if grade is not None and grade.ungraded:
            kind, reason = kind_of(graded, grade)
            return _Unread(graded, name, kind, reason)
    return None


def _causes_by_kind(part: _Part, context: CauseContext) -> Iterator[CauseResult]:
    """Yield a cause for each kind of ungraded attempt, except what one format or language explains."""
    explained = {id(one.attempt) for values in _contrasts(part).values() for one in values.unread}
    by_kind: dict[tuple[str, str], list[_Unread]] = defaultdict(list)
    for one in part.unread:
        if id(one.attempt) not in explained and one.kind != "outside":
            by_kind[one.kind, one.grade if one.kind == "unread" else ""].append(one)
    for (kind, grade), members in by_kind.items():
        if kind == "truncated":
            answers = filter(None, (one.attempt.attempt.answer for one in members))
            unit, (finding, remedy) = "answers", cut_off(answers, context.model)
        elif kind == "unread":
            reason = Counter(one.reason for one in members).most_common(1)[0][0]
            unit, finding = "answers", f"not read by the grader of {grade}{f': {reason}' if reason else ''}"
            remedy = _reader_remedy(context, grade)
        else:
            unit, finding, _ = FINDINGS[kind]
            remedy = remedy_of(kind, context.model)
        yield _counted(part, context, kind, members, unit, finding, remedy)


def _reader_remedy(context: CauseContext, grade: str) -> str:
    return context.graders.get(grade) or "read these answers in the report, and mend their grader or what is asked"


def _counted(
    part: _Part,
    context: CauseContext,
    kind: str,
    members: Sequence[_Unread],
    unit: str,
    finding: str,
    remedy: str,
    of: int | None = None,
) -> CauseResult:
    """Return a cause with its counts by group and one example."""
    groups, silent = _group_texts(part, members)
    return CauseResult(
        kind=kind,
        finding=finding,
        unit=unit,
        count=len(members),
        of=len(part.attempts) if of is None else of,
        where=part.where,
        groups=groups,
        silent=silent,
        example="" if kind == "empty" else _example(members, context.redact),
        remedy=remedy,
    )


def _group_texts(part: _Part, members: Sequence[_Unread]) -> tuple[str, tuple[str, ...]]:
    """Return the counts of the groups where they are far apart, and the groups of which nothing else is left."""
    texts, silent = [], []
    for counts in part.group_counts(one.attempt for one in members).values():
        shares = {group: own / total for group, (own, total) in counts.items()}
        if len(shares) < 2 or max(shares.values()) - min(shares.values()) < FAR_APART:
            continue
        ordered = sorted(counts.items(), key=lambda entry: -shares[entry[0]])
        shown = [f"{own:,} of {total:,} of {group}" for group, (own, total) in ordered[:_MOST_GROUPS]]
        texts.append(", ".join([*shown, *(["..."] if len(ordered) > _MOST_GROUPS else [])]))
        silent += [group for group, share in shares.items() if share == 1]
    return "; ".join(texts[:1]), tuple(silent)


def _example(members: Sequence[_Unread], redact: Callable[[str], str]) -> str:
    """Return an answer, or the error in place of it: of the most frequent reason, the shortest."""
    reason = Counter(one.reason for one in members).most_common(1)[0][0]
    texts = []
    for one in members:
        answer = one.attempt.attempt.answer
        if one.reason != reason:
            continue
        if answer is None:
            return one_line(redact(one.attempt.attempt.error or ""), _LONGEST_DETAIL)
        is_of_answer = one.kind not in ("judge", "misattributed") and answer.finish_reason != LIKELIHOODS
        detail = one.attempt.grades[one.grade].detail
        texts.append(quote(redact(answer.transcript)) if is_of_answer else one_line(redact(detail), _LONGEST_DETAIL))
    return min(texts, key=len, default="")


class _Contrast(NamedTuple):
    """One attribute of which some values are mostly unread, and others are read."""

    read: list[str]
    counts: Mapping[str, tuple[int, int]]
    """The unread answers, and all, by value."""
    unread: list[_Unread]
    """Those of the values that are not read."""


def _contrasts(part: _Part) -> dict[str, _Contrast]:
    """Return the formats and languages that explain why answers are not read."""
    contrasts = {}
    unread = [one for one in part.unread if one.kind in ("unread", "empty")]
    for name in _CONTRASTED if unread else ():
        of = Counter(value for graded in part.attempts for value in _values_of(graded, name)[:1])
        own = Counter(value for one in unread for value in _values_of(one.attempt, name)[:1])
        shares = {value: own[value] / total for value, total in of.items()}
        read = [value for value, share in shares.items() if share <= MOST_UNGRADED]
        if read and max(shares.values()) >= MOSTLY:
            lost = [one for one in unread if not {*read} & {*_values_of(one.attempt, name)[:1]}]
            contrasts[name] = _Contrast(sorted(read), {value: (own[value], of[value]) for value in of}, lost)
            break
    return contrasts


def _format_causes(part: _Part, context: CauseContext) -> Iterator[CauseResult]:
    """Yield a cause for formats, or languages, that are not read while others are."""
    for name, contrast in _contrasts(part).items():
        lost = [value for value in contrast.counts if value not in contrast.read]
        lost.sort(key=lambda value: -contrast.counts[value][0])
        finding = f"not read in {name} {', '.join(lost)}"
        parts = [f"{value} {contrast.counts[value][0]:,} of {contrast.counts[value][1]:,}" for value in lost]
        parts = parts if len(parts) > 1 else []
        for value in contrast.read:
            own, of = contrast.counts[value]
            parts.append(f"{value} is read, {of - own:,} of {of:,}")
        total = sum(contrast.counts[value][1] for value in lost)
        is_of_items = all(name in graded.item.metadata for graded in part.attempts)
        unread = {id(one.attempt) for one in part.unread}
        of_read = (graded for graded in part.attempts if not {*contrast.read}.isdisjoint(_values_of(graded, name)[:1]))
        sources = part.count_sources([graded for graded in of_read if id(graded) not in unread])
        is_enough = min(sources.values()) >= FEWEST_SOURCES
        options = shlex.join(f"--fairness-where={name}={value}" for value in contrast.read)
        alone = [f"measure {' and '.join(contrast.read)} alone: {options}"] if is_of_items and is_enough else []
        remedy = "; or ".join([*alone, KEEP_TO_FORM])
        cause = _counted(part, context, name, contrast.unread, "answers", finding, remedy, total)
        yield replace(cause, groups=", ".join(parts))


def _propensity_causes(part: _Part, context: CauseContext) -> Iterator[CauseResult]:
    """Yield that much of the probability lies on no option, with what the model begins with instead."""
    shares: list[tuple[float, GradedAttempt, str]] = []
    for graded in part.attempts:
        for name in part.grades:
            grade = graded.grades.get(name)
            if grade is None:
                continue
            if isinstance(value := value_or_none(grade), Propensities):
                shares.append((value.outside, graded, name))
            elif grade.ungraded and grade.detail.startswith("all probability fell"):
                shares.append((1.0, graded, name))
    outside = [entry for entry in shares if entry[0] > MOST_UNGRADED]
    if not outside:
        return
    outside.sort(key=lambda entry: -entry[0])
    members = [_Unread(graded, name, "outside", "") for _, graded, name in outside]
    mean = sum(share for share, _, _ in shares) / len(shares)
    finding = "whose answers begin with none of the options"
    cause = _counted(
        part, context, "outside", members, "prompts", finding, f"ask for one of the options alone; or {WAY_OUT}"
    )
    groups = "; ".join(filter(None, (f"{mean:.1%} of all probability", cause.groups)))
    instead = next((detail for one in members if (detail := _begun_with(one))), "")
    yield replace(cause, groups=groups, example=instead and f"{context.redact(instead)}, the most probable instead")


def _begun_with(one: _Unread) -> str:
    return one.attempt.grades[one.grade].detail.rpartition("most probable outside of the options: ")[2]


def _missing_calls(part: _Part, context: CauseContext) -> Iterator[CauseResult]:
    """Yield that no answer to prompts with tools calls one."""
    offered = [graded for graded in part.attempts if graded.prompt.tools]
    answered = [(graded, answer) for graded in offered if (answer := graded.attempt.answer) is not None]
    if len(answered) < FEWEST_ANSWERS or any(answer.actions for _, answer in answered):
        return
    yield CauseResult(
        kind="no tools",
        finding="without any tool call",
        count=len(answered),
        of=len(answered),
        where=part.where,
        example=quote(context.redact(answered[0][1].transcript)),
        remedy="check that the server passes tools on (its chat template; vLLM: --enable-auto-tool-choice), and that "
        "the model can call them",
    )


def counted_items(number: int) -> str:
    """Return the number of independent items or sources in words.

    >>> counted_items(1), counted_items(3)
    ('one independent item or source', '3 independent items or sources')
    """
    return "one independent item or source" if number == 1 else f"{number:,} independent items or sources"


def find_small_sample(sample: Measured, judgment: Judgment) -> CauseResult | None:
    """Return that a sample has too few independent items or sources whatever was answered; None where it has enough."""
    part = _Part.of(sample, judgment)
    if part is None or judgment.deciding is None:
        return None
    sources = part.count_sources()
    if not sources:
        return None
    fewest, group = min((count, group) for group, count in sources.items())
    if fewest >= FEWEST_SOURCES:
        return None
    is_of_one = len({*sources.values()}) > 1
    where = f" where {part.where}" if part.where else ""
    return CauseResult(
        kind="few",
        finding=f"{counted_items(fewest)}{f' of {group}' if is_of_one else ''}{where}: an interval needs "
        f"at least {FEWEST_SOURCES}",
        where=part.where,
    )
