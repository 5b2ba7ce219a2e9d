"""Sentences on what a model did with each probe, the same in every output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_fairness.core.controls import NO_GAP
from pytest_fairness.core.formatting import counted, number
from pytest_fairness.core.served_models import is_same_model
from pytest_fairness.report.phrases import probe_name

if TYPE_CHECKING:
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.core.threshold_results import ResponseResult

_MOST_LEVELS = 3
"""The most probes of one sentence with their levels; of more, names only."""


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """One sentence on what a model did."""

    text: str
    state: str
    """``shown``, ``not shown``, ``absent`` or ``no control``, as of a probe; ``remark`` for any other sentence."""

    @property
    def is_alarm(self) -> bool:
        """Whether nothing can be fair by the answers that it is about."""
        return self.state == "absent"


def probe_lines(probes: Sequence[ProbeResult]) -> list[ProbeLine]:
    """Return sentences on what one model did with its probes, the worst first.

    Probes whose answers follow their controls share one; so do those without a control. Of a probe without any graded
    answer there is nothing to tell.

    >>> from pytest_fairness.core.probe_results import GradeResult, ProbeResult
    >>> from pytest_fairness.core.threshold_results import ResponseResult
    >>> names = {"suite": "hiring", "model": "m", "attempts": 400, "grades": [GradeResult(grade="advance", graded=400)]}
    >>> case = {"grade": "advance", "attribute": "case", "of": "strong", "to": "weak"}
    >>> good = ResponseResult(**case, levels={"strong": 0.9, "weak": 0.2}, decision="true")
    >>> bad = ResponseResult(**case, decision="false", text="the answers do not depend on `case`")
    >>> probes = [
    ...     ProbeResult(**names, probe="a.py::test_offer", sensitivity="shown", responses=[good]),
    ...     ProbeResult(**names, probe="a.py::test_call", sensitivity="absent", responses=[bad]),
    ...     ProbeResult(**names, probe="a.py::test_letter", sensitivity="no control", remarks=["all are alike"]),
    ... ]
    >>> for line in probe_lines(probes): print(line.text)
    call: the answers do not depend on `case`: this probe cannot show a gap in this model
    letter: all are alike
    answers follow what should move them: offer (advance by case: strong 0.900, weak 0.200)
    sensitivity not shown, as no control is declared: letter
    """
    origins = [ProbeLine(text, "remark") for text in reply_sentences(probes)]
    probes = [probe for probe in probes if probe.remarks or any(grade.graded for grade in probe.grades)]
    labels = probe_labels(probes)
    lines = [
        *(ProbeLine(f"{label}: {finding(probe)}", "absent") for probe, label in _having(probes, labels, "absent")),
        *(
            ProbeLine(f"{label}: {finding(probe)}", "not shown")
            for probe, label in _having(probes, labels, "not shown")
        ),
        *(
            ProbeLine(f"{label}: {'; '.join(probe.remarks)}", "remark")
            for probe, label in zip(probes, labels, strict=True)
            if probe.remarks and probe.sensitivity in ("shown", "no control")
        ),
    ]
    if shown := list(_having(probes, labels, "shown")):
        has_levels = len(shown) <= _MOST_LEVELS
        names = [f"{label} ({_levels(probe)})" if has_levels else label for probe, label in shown]
        count = "" if has_levels else f" in {counted(len(shown), 'probe')}"
        lines.append(ProbeLine(f"answers follow what should move them{count}: {', '.join(names)}", "shown"))
    if missing := _without_control(probes, labels):
        lines.append(ProbeLine(f"{NOT_SHOWN}: {', '.join(missing)}", "no control"))
    return [*lines, *origins]


def reply_sentences(probes: Sequence[ProbeResult]) -> list[str]:
    """Return sentences on where the answers of one model came from, over all its probes.

    >>> from pytest_fairness.core.probe_results import ProbeResult, RepliesResult
    >>> replies = RepliesResult(
    ...     strays=90, reason="its reply is that to another prompt", from_cache=30, cache="x-cache: HIT",
    ...     identified=310, repeated=100, served_by={"gpt-4o-2024-08-06": 300, "gpt-4o-mini": 10},
    ... )
    >>> names = {"suite": "hiring", "probe": "a.py::test_a", "model": "openai:gpt-4o", "sensitivity": "shown"}
    >>> for text in reply_sentences([ProbeResult(**names, attempts=400, replies=replies)]): print(text)
    90 of 400 attempts are ungraded as misattributed: its reply is that to another prompt
    30 of 310 answers came from a cache (x-cache: HIT)
    100 of 310 answers repeat the reply to the same prompt: they show nothing new
    2 models answered under this name, as the server says: gpt-4o-2024-08-06 (300 answers), gpt-4o-mini (10 answers)
    """
    named = [(probe, probe.replies) for probe in probes if probe.replies is not None]
    attempts = sum(probe.attempts for probe, _ in named)
    answers = sum(sum(replies.served_by.values()) or replies.identified for _, replies in named)
    strays, from_cache, repeated = (
        sum(getattr(replies, name) for _, replies in named) for name in ("strays", "from_cache", "repeated")
    )
    sentences = []
    if strays:
        reason = next(replies.reason for _, replies in named if replies.strays)
        sentences.append(f"{strays:,} of {counted(attempts, 'attempt')} are ungraded as misattributed: {reason}")
    if from_cache:
        cache = next(replies.cache for _, replies in named if replies.from_cache)
        sentences.append(f"{from_cache:,} of {counted(max(answers, from_cache), 'answer')} came from a cache ({cache})")
    if repeated:
        sentences.append(
            f"{repeated:,} of {counted(answers, 'answer')} repeat the reply to the same prompt: they show nothing new"
        )
    served: Counter[str] = Counter()
    for _, replies in named:
        served.update(replies.served_by)
    if len(served) > 1:
        ordered = sorted(served.items(), key=lambda entry: (-entry[1], entry[0]))
        names = ", ".join(f"{name} ({counted(count, 'answer')})" for name, count in ordered)
        sentences.append(f"{len(served)} models answered under this name, as the server says: {names}")
    elif served and any(replies.identified for _, replies in named):
        ((name, count),) = served.items()
        requested = next((replies.requested for _, replies in named if replies.requested), "")
        if requested and not is_same_model(requested, name):
            sentences.append(
                f"{name} answered under the name {requested}, as the server says: {counted(count, 'answer')}"
            )
    return sentences


NOT_SHOWN = "sensitivity not shown, as no control is declared"


def finding(probe: ProbeResult) -> str:
    """Return why the answers to a probe do not show its sensitivity, with the remarks on them; empty if they do.

    Without a control only its remarks are returned.
    """
    open_texts = [response.text for response in probe.responses if response.decision != "true"]
    texts = "; ".join(filter(None, open_texts))
    if texts and probe.sensitivity == "absent":
        texts = f"{texts}: {NO_GAP}"
    return "; ".join(filter(None, (texts, *probe.remarks)))


def probe_labels(probes: Sequence[ProbeResult]) -> list[str]:
    """Return the names of probes, with their suites where there are several.

    >>> from pytest_fairness.core.probe_results import ProbeResult
    >>> names = {"model": "m", "attempts": 1, "sensitivity": "shown"}
    >>> probes = [ProbeResult(suite=suite, probe=f"{suite}.py::test_offer", **names) for suite in ("hiring", "own")]
    >>> probe_labels(probes), probe_labels(probes[:1])
    (['hiring/offer', 'own/offer'], ['offer'])
    """
    has_several = len({probe.suite for probe in probes}) > 1
    return [f"{probe.suite}/{probe_name(probe.probe)}" if has_several else probe_name(probe.probe) for probe in probes]


def levels_of(response: ResponseResult) -> str:
    """Return the rate or mean at both levels of a control: ``advance by case: strong 0.930, weak 0.210``."""
    levels = ", ".join(f"{name} {level_text(value)}" for name, value in response.levels.items())
    return f"{outcome_of(response)} by {response.attribute.replace('_', ' ')}: {levels}"


def outcome_of(response: ResponseResult) -> str:
    """Return the grade that should follow a control, with the value that is counted: ``answer unknown``."""
    return f"{response.grade} {response.equals}".rstrip()


def level_text(value: float | None) -> str:
    """Return a rate or mean with as many decimals as the estimates of thresholds have."""
    return "unknown" if value is None else number(value, 3)


def _levels(probe: ProbeResult) -> str:
    return "; ".join(map(levels_of, probe.responses))


def _having(probes: Sequence[ProbeResult], labels: Sequence[str], state: str) -> Iterator[tuple[ProbeResult, str]]:
    for probe, label in zip(probes, labels, strict=True):
        if probe.sensitivity == state:
            yield probe, label


def _without_control(probes: Sequence[ProbeResult], labels: Sequence[str]) -> list[str]:
    """Return the suites without any control, and the probes without one of the other suites."""
    with_control = {probe.suite for probe in probes if probe.sensitivity != "no control"}
    return list(
        dict.fromkeys(
            label if probe.suite in with_control else probe.suite or label
            for probe, label in _having(probes, labels, "no control")
        )
    )
