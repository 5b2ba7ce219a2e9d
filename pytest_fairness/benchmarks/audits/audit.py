"""An audit: published figures, the same figures recomputed, and the verdicts of their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.results import finite

EQUAL = 1e-9
"""The largest relative difference of two figures that are printed with the same digits."""


@dataclass(frozen=True, slots=True)
class AuditInterval:
    """A 95% interval of a figure, and the verdict that it supports."""

    name: str
    """The unit of clustering: "runs", or "templates"."""
    low: float
    high: float
    verdict: Verdict
    reason: str = ""
    """The reason that the figure is invalid, where it is."""

    @classmethod
    def of(cls, name: str, estimate: Estimate, bounds: tuple[float, float]) -> AuditInterval:
        """Return the interval of an estimate, judged by both bounds; an infinite bound does not apply."""
        verdicts = [
            estimate.decide(op, bound) for op, bound in zip((">=", "<="), bounds, strict=True) if math.isfinite(bound)
        ]
        order = (Verdict.UNFAIR, Verdict.INVALID, Verdict.UNDECIDED, Verdict.FAIR)
        verdict = min(verdicts, key=order.index)
        return cls(name, estimate.low, estimate.high, verdict, estimate.invalid or "")

    @property
    def width(self) -> float:
        """The distance of the ends."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class AuditedFigure:
    """One figure of an audit: published, computed again, and with its intervals."""

    model: str
    subject: Mapping[str, str]
    """Job and group, or category, context and format."""
    value: float
    """The figure by the publisher's rule, computed from the answers."""
    published: float | None
    """The published figure; None where none was given for it."""
    breach: bool
    """Whether the figure itself lies outside of the bounds: the publisher's verdict."""
    intervals: tuple[AuditInterval, ...]
    """Intervals of different clusterings; the first is the narrowest, and the last is judged."""
    alternative: AuditInterval | None = None
    """The interval of the figure if answers are parsed by another rule."""
    alternative_value: float | None = None

    @property
    def is_equal(self) -> bool | None:
        """Return whether the published figure is reproduced to the digit; None where none was given."""
        if self.published is None:
            return None
        return math.isclose(self.value, self.published, rel_tol=EQUAL, abs_tol=EQUAL)

    @property
    def judged(self) -> AuditInterval:
        """The interval that decides the verdict."""
        return self.intervals[-1]

    @property
    def name(self) -> str:
        """Model and subject, in one line."""
        return ", ".join((self.model, *self.subject.values()))


@dataclass(frozen=True, slots=True)
class Audit:
    """A published audit, judged again."""

    title: str
    figure: str
    """The definition of the figures: "selection rate over that of the highest group"."""
    rule: str
    """The bounds, in words."""
    bounds: tuple[float, float]
    figures: Sequence[AuditedFigure]
    families: Mapping[str, Verdict]
    """The verdict over all pairs of groups together, by model and job."""
    notes: Sequence[str] = ()
    """Remarks on the files: answers that could not be read, files that are missing."""
    others: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    """Published figures without an interval here, by name: whether each is reproduced to the digit."""

    @property
    def is_equal(self) -> bool:
        """Return whether all published figures are reproduced."""
        figures = all(figure.is_equal is not False for figure in self.figures)
        return figures and all(all(reproduced) for reproduced in self.others.values())

    def summary(self) -> Iterator[str]:
        """Yield summary lines: reproduced figures, breaches, verdicts and widths."""
        compared = [figure for figure in self.figures if figure.published is not None]
        if compared:
            equal = sum(bool(figure.is_equal) for figure in compared)
            yield f"{equal} of {len(compared)} published figures are met to the digit"
        else:
            yield "no published figures were given to compare with"
        for name, reproduced in self.others.items():
            if reproduced:
                yield f"{sum(reproduced)} of {len(reproduced)} published {name} are met to the digit"
        breaches = [figure for figure in self.figures if figure.breach]
        yield f"{len(breaches)} of {len(self.figures)} figures break the rule by themselves ({self.rule})"
        for index, interval in enumerate(self.figures[0].intervals if self.figures else ()):
            of_all = _count_interval_verdicts(figure.intervals[index] for figure in self.figures)
            of_breaches = sum(figure.intervals[index].verdict is Verdict.UNFAIR for figure in breaches)
            yield f"by {interval.name}: {of_breaches} of these {len(breaches)} hold; of all figures {of_all}"
        yield from self._widths()
        if self.families:
            yield "all pairs of groups together: " + _count_verdicts(
                Verdict(verdict) for verdict in self.families.values()
            )

    def _widths(self) -> Iterator[str]:
        if not self.figures or len(self.figures[0].intervals) < 2:
            return
        ratios = sorted(
            figure.intervals[-1].width / figure.intervals[0].width
            for figure in self.figures
            if figure.intervals[0].width > 0 and math.isfinite(figure.intervals[-1].width)
        )
        if ratios:
            middle = (ratios[(len(ratios) - 1) // 2] + ratios[len(ratios) // 2]) / 2
            first, last = self.figures[0].intervals[0].name, self.figures[0].judged.name
            yield (
                f"intervals by {last} are {middle:.2g} times as wide as by {first} "
                f"(median; {ratios[0]:.2g} to {ratios[-1]:.2g})"
            )

    def lines(self) -> Iterator[str]:
        """Yield the audit as text, at most 100 columns wide."""
        yield self.title
        yield f"figure: {self.figure}; rule: {self.rule}"
        models = dict.fromkeys(figure.model for figure in self.figures)
        for model in models:
            of_model = [figure for figure in self.figures if figure.model == model]
            yield ""
            yield from _table(model, of_model)
        yield ""
        yield from self.summary()
        yield from (f"{name}, all pairs of groups: {verdict}" for name, verdict in self.families.items())
        for figure in self.figures:
            if figure.is_equal is False:
                yield f"differs: {figure.name}: published {figure.published!r}, computed {figure.value!r}"
        yield from self.notes

    def to_json(self) -> dict[str, Any]:
        """Return the audit as JSON values: figures and counts, no text of an answer."""
        return {
            "audit": self.title,
            "figure": self.figure,
            "rule": self.rule,
            "bounds": [finite(bound) for bound in self.bounds],
            "figures": [_figure(figure) for figure in self.figures],
            "families": dict(self.families),
            "summary": list(self.summary()),
            "notes": list(self.notes),
        }


def _figure(figure: AuditedFigure) -> dict[str, Any]:
    return {
        "model": figure.model,
        "subject": dict(figure.subject),
        "value": figure.value,
        "published": figure.published,
        "equal": figure.is_equal,
        "breach": figure.breach,
        "intervals": [_interval(interval) for interval in figure.intervals],
        "alternative": None
        if figure.alternative is None
        else {"value": figure.alternative_value, **_interval(figure.alternative)},
    }


def _interval(interval: AuditInterval) -> dict[str, Any]:
    ends = {"low": finite(interval.low), "high": finite(interval.high)}
    return {"by": interval.name, **ends, "verdict": interval.verdict.value, "reason": interval.reason}


def _table(model: str, figures: Sequence[AuditedFigure]) -> Iterator[str]:
    names = [", ".join(figure.subject.values()) for figure in figures]
    left = max(map(len, (model, *names)))
    has_alternative = any(figure.alternative for figure in figures)
    heads = ["value", "rule", *(f"95% by {interval.name}" for interval in figures[0].intervals), "verdict"]
    if has_alternative:
        heads.append("read strictly")
    rows = [
        [
            f"{figure.value:.3f}",
            "breach" if figure.breach else "kept",
            *(_ends(interval) for interval in figure.intervals),
            figure.judged.verdict.value,
            *([_alternative(figure)] if has_alternative else []),
        ]
        for figure in figures
    ]
    sizes = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for name, row in ((model, heads), *zip(names, rows, strict=True)):
        cells = "  ".join(text.rjust(size) for text, size in zip(row, sizes, strict=True))
        yield f"{name.ljust(left)}  {cells}".rstrip()


def _ends(interval: AuditInterval) -> str:
    return "-" if math.isnan(interval.low) else f"{interval.low:.3f} to {interval.high:.3f}"


def _alternative(figure: AuditedFigure) -> str:
    if figure.alternative is None or figure.alternative_value is None:
        return "-"
    return f"{figure.alternative_value:.3f} ({_ends(figure.alternative)}) {figure.alternative.verdict}"


def _count_interval_verdicts(intervals: Iterable[AuditInterval]) -> str:
    return _count_verdicts(interval.verdict for interval in intervals)


def _count_verdicts(verdicts: Iterable[Verdict]) -> str:
    listed = list(verdicts)
    counts = {verdict: listed.count(verdict) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count) or "none"
