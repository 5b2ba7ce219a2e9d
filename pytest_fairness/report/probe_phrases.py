"""Sentences on what a model did with each probe, the same in every output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_fairness.core.controls import NO_GAP
from pytest_fairness.core.formatting import counted, number
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
    answers follow what should move them: offer (strong 0.90, weak 0.20)
    sensitivity not shown, as no control is declared: letter
    """
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
    return lines


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
    """Return the rate or mean at both levels of a control: ``strong 0.93, weak 0.21``."""
    return ", ".join(f"{name} {level_text(value)}" for name, value in response.levels.items())


def level_text(value: float | None, digits: int = 2) -> str:
    """Return a rate or mean with that many decimals."""
    return "unknown" if value is None else number(value, digits)


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
