"""The section of a report's page on what the models did with each probe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from pytest_fairness.core.controls import NO_GAP
from pytest_fairness.core.formatting import counted, figures, number
from pytest_fairness.core.probe_results import FormatResult, GradeResult, ProbeResult
from pytest_fairness.core.threshold_results import ComparisonResult, ResponseResult
from pytest_fairness.report.html.svg import element
from pytest_fairness.report.probe_phrases import ProbeLine, level_text, outcome_of, probe_labels, probe_lines

STATES = {"true": ("fair", "follow"), "false": ("invalid", "do not follow")}
"""The look of a verdict, and the words, for the decision on a response."""
_UNDECIDED = ("undecided", "may not follow")


@dataclass(frozen=True, slots=True)
class ResponseLine:
    """One response: a row of the table."""

    probe: str
    model: str
    answers: int
    grade: str
    attribute: str
    """The attribute that should move the grade."""
    bars: Markup
    """The rate or mean at both levels, the one that should be higher first."""
    numbers: str
    at_least: str
    look: str
    state: str
    consequence: str


@dataclass(frozen=True, slots=True)
class LevelLine:
    """One grade of a probe: a row of the folded table."""

    probe: str
    model: str
    grade: str
    level: str
    graded: int
    attempts: int


@dataclass(frozen=True, slots=True)
class ProbeSection:
    """The section: a table of responses, sentences below it, and folded levels."""

    responses: Sequence[ResponseLine] = ()
    remarks: Sequence[tuple[str, ProbeLine]] = ()
    """The model, where there are several, and the sentence."""
    levels: Sequence[LevelLine] = ()
    formats: Sequence[tuple[str, str, Mapping[str, FormatResult]]] = field(default_factory=tuple)
    """Probe, model and the answers by format."""


def probe_section(probes: Sequence[ProbeResult], names: Mapping[str, str]) -> ProbeSection:
    """Return the section on what the models did with their probes, the worst responses first.

    Args:
        probes: The results of probes.
        names: The names of the models on the page.
    """
    labeled = list(zip(probes, probe_labels(probes), strict=True))
    models = list(dict.fromkeys(probe.model for probe in probes))
    remarks = [
        (names[model] if len(models) > 1 else "", line)
        for model in models
        for line in probe_lines([_without_numbers(probe) for probe in probes if probe.model == model])
        if line.state != "shown"
    ]
    responses = [
        _response(probe, label, names[probe.model], response)
        for probe, label in labeled
        for response in probe.responses
    ]
    order = [*(look for look, _ in (STATES["false"], _UNDECIDED, STATES["true"]))]
    return ProbeSection(
        sorted(responses, key=lambda line: order.index(line.look)),
        remarks,
        [line for probe, label in labeled for line in _levels(probe, label, names[probe.model])],
        [(label, names[probe.model], probe.formats) for probe, label in labeled if probe.formats],
    )


def _without_numbers(probe: ProbeResult) -> ProbeResult:
    """Return a probe without the sentences whose numbers the table has."""
    without_row = [response for response in probe.responses if response.value is None or response.constant]
    state = probe.sensitivity if without_row or not probe.responses else "shown"
    return replace(probe, responses=without_row, sensitivity=state)


def _response(probe: ProbeResult, label: str, model: str, response: ResponseResult) -> ResponseLine:
    look, state = STATES.get(response.decision, _UNDECIDED)
    if response.value is None and not response.constant:
        state = "not known"
    return ResponseLine(
        label,
        model,
        probe.attempts,
        outcome_of(response),
        response.attribute,
        _bars(response),
        f"difference {_numbers(response)[0]}" if response.value is not None else "not known",
        _smallest(response),
        look,
        state,
        NO_GAP if response.decision == "false" and not response.constant else "",
    )


def _smallest(response: ResponseResult) -> str:
    """Return the smallest response that counts, for decisions with its odds ratio; empty where none is known."""
    if response.at_least is None or response.constant:
        return ""
    odds_ratio = "" if response.odds_ratio is None else f", an odds ratio of {response.odds_ratio:g}"
    return f"at least {_numbers(response)[1]} counts{odds_ratio}"


def _numbers(response: ResponseResult) -> tuple[str, str]:
    """Return the difference with its interval and the smallest that counts, with digits enough to compare them."""
    least = math.nan if response.at_least is None else response.at_least
    value, low, high = figures(response, [ComparisonResult(op=">=", bound=least)])
    return f"{value} ({low} to {high})", number(least, len(value.partition(".")[2]))


def _bars(response: ResponseResult) -> Markup:
    """Return the rate or mean at both levels as two bars from 0, with the numbers beside them."""
    values = [response.levels.get(level) for level in (response.of, response.to)]
    largest = 1.0 if response.odds_ratio is not None else max((abs(value or 0.0) for value in values), default=0)
    texts = [f"{level} {level_text(value)}" for level, value in zip((response.of, response.to), values, strict=True)]
    scene = []
    for index, (text, value) in enumerate(zip(texts, values, strict=True)):
        top = 30.0 * index
        scene += [
            element("text", text, x=0, y=top + 11),
            element("rect", x=0, y=top + 15, width=200, height=7, class_="track"),
            element(
                "rect", x=0, y=top + 15, width=200 * max(value or 0.0, 0.0) / (largest or 1.0), height=7, class_="bar"
            ),
        ]
    return element("svg", element("title", ", ".join(texts)), *scene, viewBox="0 0 200 54", role="img", class_="bars")


def _levels(probe: ProbeResult, label: str, model: str) -> Iterator[LevelLine]:
    for grade in probe.grades:
        yield LevelLine(label, model, grade.grade, _level(grade), grade.graded, probe.attempts)


def _level(grade: GradeResult) -> str:
    if grade.mean is not None:
        return level_text(grade.mean)
    if grade.shares:
        return ", ".join(f"{value} {share:.1%}" for value, share in grade.shares.items())
    return counted(0, "graded answer") if not grade.graded else "many values"
