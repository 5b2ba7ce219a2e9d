"""The section of one threshold on the report's page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from markupsafe import Markup, escape

from pytest_fairness.core.formatting import bounds_phrase, counted, figures, format_level, format_subject
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.threshold_results import (
    GroupResult,
    MetricResult,
    PastResult,
    ResponseResult,
    SliceResult,
    ThresholdResult,
)
from pytest_fairness.report import findings, phrases
from pytest_fairness.report.decisions import acceptance_phrase, decision_facts
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.history.series import ThresholdSeries
from pytest_fairness.report.history.tables import RunLine, run_lines
from pytest_fairness.report.html.attempts import link_to
from pytest_fairness.report.html.charts import (
    declared_slices_chart,
    groups_chart,
    history_chart,
    slices_chart,
    slices_worst_first,
    threshold_chart,
)
from pytest_fairness.report.probe_phrases import levels_of
from pytest_fairness.report.release import NOT_JUDGED, reason_of
from pytest_fairness.report.threshold_view import ExampleView, SideView, ThresholdView

LONGEST_TEXT = 4_000
"""The most characters of an answer or prompt in an example; the list of attempts has the full text."""
MOST_RUNS = 30
"""The most runs for which the page lists changes."""
MOST_ANSWERS = 5
"""The most distinct answers on each side of an example."""


@dataclass(frozen=True, slots=True)
class ThresholdSection:
    """A threshold with its charts, sentences and numbers; every number comes from its row."""

    anchor: str
    row: ThresholdResult
    title: str
    model: str
    statement: str
    finding: str
    details: Sequence[str]
    """The sentences below the finding: chance, history, owner."""
    tallies: str
    own: str
    advice: str
    outcome: str
    level: str
    chart: Markup
    groups_chart: Markup
    groups_title: str
    groups: Sequence[dict[str, Any]]
    formats: Sequence[dict[str, Any]]
    formats_p: str
    slices: Sequence[dict[str, str]]
    """The declared slices, which have a veto."""
    slices_title: str
    declared_chart: Markup
    slices_chart: Markup
    """Recorded estimates on parts of the sample."""
    slices_key: str
    history_chart: Markup
    runs: Sequence[RunLine]
    example: dict[str, Any] | None
    ungraded: str
    rerun: str
    p_values: str
    looks: str
    response: str
    history: str
    command: str
    is_brief: bool = False
    """Whether its charts, tables and example are left out, since the page has too many thresholds."""

    @property
    def size(self) -> int:
        """The characters of its charts, tables and example on the page, roughly."""
        charts = (self.chart, self.groups_chart, self.declared_chart, self.slices_chart, self.history_chart)
        rows = len(self.groups) + len(self.slices) + len(self.formats) + len(self.runs)
        return sum(map(len, charts)) + len(str(self.example)) + 200 * rows + 1_500

    def brief(self) -> ThresholdSection:
        """Return it without charts, tables and example."""
        charts = dict.fromkeys(("chart", "groups_chart", "declared_chart", "slices_chart", "history_chart"), Markup(""))
        tables = dict.fromkeys(("groups", "slices", "formats", "runs"), ())
        return replace(self, **charts, **tables, example=None, is_brief=True)  # type: ignore[arg-type]


def article(threshold: ThresholdView, model: str, anchor: str) -> ThresholdSection:
    """Return the section of a threshold; ``model`` is its model's name on the page, ``anchor`` its id."""
    row = threshold.row
    key = _key(row, threshold.slices)
    by_group = row.by_group
    return ThresholdSection(
        anchor,
        row,
        phrases.title(row),
        model,
        statement(row),
        findings.finding(row),
        findings.details(row),
        phrases.unjudged_tallies(row) or phrases.tallies(row),
        ". ".join(filter(None, [*phrases.evaluation_remarks(row), phrases.without_group(row), *_decision(row)])),
        row.advice,
        row.special_outcome,
        _level(row),
        threshold_chart(row, f"{anchor}-value"),
        groups_chart(row, f"{anchor}-groups") if by_group else Markup(""),
        f"By {row.estimate.attribute or 'group'}",
        [_group(name, group) for name, group in sorted(by_group.items(), key=_rank)],
        [_group(name, group) for name, group in sorted(row.formats.by_format.items())] if row.formats else [],
        "" if row.formats is None or row.formats.p_value is None else f"{row.formats.p_value:.2g}",
        [_slice(name, part) for name, part in slices_worst_first(row)] if row.slices else [],
        f"By {_attributes(row)}, each with a veto",
        declared_slices_chart(row, f"{anchor}-declared") if row.slices else Markup(""),
        slices_chart(threshold.slices, key, f"{anchor}-slices") if _shows_recorded(threshold, key) else Markup(""),
        key,
        history_chart(_series(threshold), f"{anchor}-history") if threshold.history else Markup(""),
        _run_lines(_series(threshold)) if threshold.history else [],
        _example(threshold.example, row) if threshold.example else None,
        _ungraded(row),
        "" if row.outside_probability is None or row.verdict == "invalid" else _rerun(row),
        _p_values(row),
        _looks(row),
        "; ".join(map(_response, row.responses)),
        _history(row),
        threshold.command,
    )


_STATES = {"open": "crosses a bound", "inside": "inside the bounds", "unmeasured": "not measured"}
"""The states in words, where these are others."""


def _slice(name: str, part: SliceResult) -> dict[str, str]:
    value, low, high = figures(part)
    is_known = part.value is not None
    return {
        "name": name,
        "value": value if is_known else "-",
        "interval": f"{low} to {high}" if is_known else "-",
        "state": _STATES.get(part.state, part.state) if is_known or part.state != "open" else "no estimate",
        "reason": part.reason,
    }


def _attributes(row: ThresholdResult) -> str:
    return " and ".join(dict.fromkeys(name for part in row.slices for name in part.slice))


def _shows_recorded(threshold: ThresholdView, key: str) -> bool:
    """Return whether recorded estimates of parts are charted: those of no group, and of no declared slice."""
    declared = {name for part in threshold.row.slices for name in part.slice}
    return bool(threshold.slices) and not threshold.row.by_group and key not in declared


def _decision(row: ThresholdResult) -> list[str]:
    """Return sentences on the accepted verdict of a threshold; none where there is no entry."""
    if row.accepted is None:
        return []
    phrase = acceptance_phrase(row.accepted)
    return [f"{phrase[:1].upper()}{phrase[1:]}; {decision_facts(row.accepted)}"]


def _series(threshold: ThresholdView) -> ThresholdSeries:
    """Return the threshold in its earlier runs and in this one."""
    return ThresholdSeries([*threshold.history, PastResult("", 0.0, None, threshold.row)])


def _run_lines(series: ThresholdSeries) -> list[RunLine]:
    """Return the last runs that have changes or remarks."""
    return [line for line in run_lines(series)[-MOST_RUNS:] if line.changes or line.remarks]


def statement(row: ThresholdResult) -> str:
    """Return one sentence on a threshold: its estimate, interval and bounds, or the reason that it has none."""
    if row.verdict == "invalid":
        return f"{row.message.removeprefix('invalid: ')}."
    if row.verdict == NOT_JUDGED:
        reason = reason_of(row)
        return f"{reason[:1].upper()}{reason[1:]}."
    value, low, high = figures(row.estimate, row.comparisons)
    bounds = bounds_phrase(row)
    requirement = f"; required: {bounds}" if bounds else ""
    title = format_subject(row.estimate)
    return f"{title[:1].upper()}{title[1:]}: {value} ({_level(row)} CI {low} to {high}){requirement}."


def _level(row: ThresholdResult) -> str:
    return format_level(row.estimate.confidence or 0.95)


def _rank(entry: tuple[str, GroupResult]) -> tuple[bool, float]:
    estimate = entry[1].value
    return estimate is None, estimate or 0.0


def _group(name: str, group: GroupResult) -> dict[str, Any]:
    value, low, high = figures(group)
    shown = {"name": name, "value": value, "low": low, "high": high, "ungraded": group.ungraded}
    shown["count"] = "" if group.count is None else f"{group.count:,} of {group.graded:,}"
    return shown | {"items": group.items, "attempts": group.attempts}


def _key(row: ThresholdResult, slices: Sequence[MetricResult]) -> str:
    """Return the attribute by which the most slices differ."""
    keys = Counter(name for part in slices for name in part.slice if name not in row.estimate.slice)
    return keys.most_common(1)[0][0] if keys else ""


def _ungraded(row: ThresholdResult) -> str:
    total = sum(row.estimate.ungraded.values())
    if not total or len(row.estimate.ungraded) < 2:
        return f"{total:,}"
    return f"{total:,} ({', '.join(f'{group} {count:,}' for group, count in row.estimate.ungraded.items())})"


def _rerun(row: ThresholdResult) -> str:
    text = f"outside the bounds with probability {row.outside_probability:.0%}"
    if row.flip_probability is not None:
        text += f"; on the other side of the nearest bound with probability {row.flip_probability:.0%}"
    return text


def _p_values(row: ThresholdResult) -> str:
    p_values = {"unfair": row.p_value, "unfair after Holm": row.p_holm}
    if row.pooled is None:  # else it is that of all slices, and one slice has decided
        p_values["fair"] = row.p_fair
    return ", ".join(f"{name} {value:.2g}" for name, value in p_values.items() if value is not None)


def _response(response: ResponseResult) -> str:
    """Return the levels of a response; the whole sentence of one that is missing, or of one slice.

    The probe's section has the interval, at the probe's confidence, which is not that of the threshold's look.
    """
    return levels_of(response) if response.decision == "true" and not response.slice else response.text


def _looks(row: ThresholdResult) -> str:
    looks = row.looks
    return f"{looks.number} of {looks.of}" if looks and looks.of > 1 else ""


def _history(row: ThresholdResult) -> str:
    history = row.history
    if history is None or history.runs < 2:
        return ""
    return f"outside the bounds in {history.outside} of {history.runs} runs with new answers"


def _example(example: ExampleView, row: ThresholdResult) -> dict[str, Any]:
    prompts = [_messages(side) for side in example.sides]
    if len(prompts) == 2 and len(prompts[0]) == len(prompts[1]):
        pairs = [highlight_diff(one, other) for (_, one), (_, other) in zip(*prompts, strict=True)]
        shown = [[pair[side] for pair in pairs] for side in range(2)]
    else:
        shown = [[escape(escape_controls(text, lines=True)) for _, text in messages] for messages in prompts]
    return {
        "sentence": _example_sentence(example),
        "link": link_to(item=example.item, probe=row.probe, model=row.model),
        "command": example.command,
        "sides": [
            {
                "heading": side.group or side.label.capitalize(),
                "counts": "" if side.label else phrases.tally(side.numbers),
                "messages": [
                    {"role": role, "text": text} for (role, _), text in zip(messages, texts, strict=True)
                ],
                "answers": _answers(side),
            }
            for side, messages, texts in zip(example.sides, prompts, shown, strict=True)
        ],
    }  # fmt: skip


def _example_sentence(example: ExampleView) -> str:
    groups = [side for side in example.sides if side.group]
    counts = [f"{side.group} {phrases.tally(side.numbers)}" for side in groups]
    predicate = f": {'; '.join(counts)}" if groups else ", of those with the largest influence on the estimate"
    return f"{example.item}{predicate}."


def _messages(side: SideView) -> list[tuple[str, str]]:
    return [(message["role"], _cut(message["content"])) for message in side.prompt.conversation]


def _answers(side: SideView) -> list[dict[str, Any]]:
    """Return the distinct answers, the most frequent first."""
    counts = Counter((_cut(phrases.answer_or_error(graded)), phrases.grades(graded)) for graded in side.attempts)
    return [{"text": text, "grade": grade, "times": times} for (text, grade), times in counts.most_common(MOST_ANSWERS)]


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= LONGEST_TEXT
        else f"{text[:LONGEST_TEXT]}… ({counted(len(text) - LONGEST_TEXT, 'more character')})"
    )


_WORDS = lazy_pattern(r"\s+|[^\W_]+(?:['\u2019][^\W_]+)*|.", re.DOTALL)
MOST_WORDS = 4_000
"""The most words of a text; comparing longer ones takes seconds."""


def highlight_diff(first: str, second: str) -> tuple[Markup, Markup]:
    """Return both texts as HTML, with words that differ in ``<mark>``.

    >>> print(*highlight_diff("Should Anna be hired?", "Should Paul be hired?"), sep="\\n")
    Should <mark>Anna</mark> be hired?
    Should <mark>Paul</mark> be hired?
    """
    first, second = (escape_controls(text, lines=True) for text in (first, second))
    words, others = _WORDS.findall(first), _WORDS.findall(second)
    if first == second or max(len(words), len(others)) > MOST_WORDS:
        return escape(first), escape(second)
    ours, theirs = [], []
    for kind, start, end, other_start, other_end in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        is_equal = kind == "equal"
        ours.append(_shown("".join(words[start:end]), is_equal=is_equal))
        theirs.append(_shown("".join(others[other_start:other_end]), is_equal=is_equal))
    return Markup("").join(ours), Markup("").join(theirs)


def _shown(text: str, *, is_equal: bool) -> Markup:
    return escape(text) if is_equal or not text.strip() else Markup("<mark>{}</mark>").format(text)
