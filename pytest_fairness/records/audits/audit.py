"""An audit: published figures, the same figures recomputed, the verdicts of their intervals, and a chart of these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import Estimate, FairnessError, Verdict
from pytest_fairness.extending import EstimateFamily, align_columns, finite
from pytest_fairness.extending import svg_element as element
from pytest_fairness.extending import svg_lines as lines_of
from pytest_fairness.extending import svg_width as width_of
from pytest_fairness.records.audits.public_audits import Download, PublicAudit

if TYPE_CHECKING:
    from markupsafe import Markup

EQUAL = 1e-9
"""The largest relative difference of two figures that are printed with the same digits."""


def is_met(value: float, published: float, places: int | None = None) -> bool:
    """Return whether a figure is the published one, to the digit.

    Args:
        value: The figure, computed again.
        published: The published figure.
        places: The decimals to which it was rounded; None for a figure that was not.

    >>> is_met(0.1429, 0.143, 3), is_met(0.1429, 0.143)
    (True, False)
    """
    if places is not None:
        return abs(value - published) <= 0.5000001 * 10.0**-places
    return math.isclose(value, published, rel_tol=EQUAL, abs_tol=EQUAL)


@dataclass(frozen=True, slots=True)
class AuditInterval:
    """A 95% interval of a figure, and the verdict that it supports."""

    name: str
    """The unit of clustering: "runs", or "templates"."""
    value: float
    """The estimate: that of all answers together, where the publisher's rule may weigh them otherwise."""
    low: float
    high: float
    verdict: Verdict
    reason: str = ""
    """The reason that the figure is invalid, where it is."""

    @classmethod
    def of(cls, name: str, estimate: Estimate, bounds: tuple[float, float]) -> AuditInterval:
        """Return the interval of an estimate, judged by both bounds."""
        return cls(
            name, estimate.value, estimate.low, estimate.high, _verdict_of(estimate, bounds), estimate.invalid or ""
        )

    @property
    def width(self) -> float:
        """The distance of the ends."""
        return self.high - self.low


def _verdict_of(estimate: Estimate | EstimateFamily, bounds: tuple[float, float]) -> Verdict:
    """Return the verdict by both bounds; an infinite bound does not apply."""
    verdicts = [
        estimate.decide(op, bound) for op, bound in zip((">=", "<="), bounds, strict=True) if math.isfinite(bound)
    ]
    return min(verdicts, key=(Verdict.UNFAIR, Verdict.INVALID, Verdict.UNDECIDED, Verdict.FAIR).index)


@dataclass(frozen=True)
class AuditedFigure:
    """One figure of an audit: published, computed again, and with its intervals."""

    model: str
    subject: Mapping[str, str]
    """Job and group, or category, context and format."""
    value: float
    """The figure by the publisher's rule, computed from the answers."""
    published: float | None
    """The published figure; None where none was given for it."""
    estimates: Mapping[str, Estimate]
    """Estimates by their unit of clustering; the first has the narrowest interval, and the last is judged."""
    alternative: Estimate | None = None
    """The last estimate if answers are parsed by another rule."""
    places: int | None = None
    """The decimals of the published figure, where it was rounded."""
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @cached_property
    def intervals(self) -> tuple[AuditInterval, ...]:
        """The intervals of the estimates."""
        return tuple(AuditInterval.of(name, estimate, self.bounds) for name, estimate in self.estimates.items())

    @property
    def strict(self) -> AuditInterval | None:
        """The interval of the alternative."""
        return None if self.alternative is None else AuditInterval.of(self.judged.name, self.alternative, self.bounds)

    @property
    def breach(self) -> bool:
        """Whether the figure itself lies outside of the bounds."""
        return not self.bounds[0] <= self.value <= self.bounds[1]

    @property
    def is_equal(self) -> bool | None:
        """Return whether the published figure is reproduced to the digit; None where none was given."""
        return None if self.published is None else is_met(self.value, self.published, self.places)

    @property
    def judged(self) -> AuditInterval:
        """The interval that decides the verdict."""
        return self.intervals[-1]

    @property
    def name(self) -> str:
        """Model and subject, in one line."""
        return ", ".join((self.model, *self.subject.values()))


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Figures of a publisher's files, computed again and not yet judged."""

    figures: Sequence[AuditedFigure]
    notes: Sequence[str] = ()
    """Remarks on the files: answers that could not be read, files that are missing."""
    others: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    """Published figures without an interval here, by name: whether each is reproduced to the digit."""
    families: Mapping[str, EstimateFamily] = field(default_factory=dict)
    """All pairs of groups together, by model and job."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A published audit, judged again."""

    about: PublicAudit
    bounds: tuple[float, float]
    figures: Sequence[AuditedFigure]
    families: Mapping[str, Verdict]
    """The verdict over all pairs of groups together, by model and job."""
    notes: Sequence[str]
    others: Mapping[str, Sequence[bool]]

    @property
    def rule(self) -> str:
        """The bounds, in words: "at most 0.1 either way"."""
        low, high = self.bounds
        either_way = " either way" if math.isfinite(low) and math.isfinite(high) else ""
        return f"at most {high:g}{either_way}" if math.isfinite(high) else f"at least {low:g}"

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
        elif not any(self.others.values()):
            yield "no published figures were given to compare with"
        for name, reproduced in self.others.items():
            if reproduced:
                yield f"{sum(reproduced)} of {len(reproduced)} published {name} are met to the digit"
        breaches = [figure for figure in self.figures if figure.breach]
        yield f"{len(breaches)} of {len(self.figures)} figures break the rule by themselves ({self.rule})"
        for index, interval in enumerate(self.figures[0].intervals if self.figures else ()):
            of_all = _count_verdicts(figure.intervals[index].verdict for figure in self.figures)
            of_breaches = sum(figure.intervals[index].verdict is Verdict.UNFAIR for figure in breaches)
            yield f"by {interval.name}: {of_breaches} of these {len(breaches)} hold; of all figures {of_all}"
        yield from self._widths()
        yield from self._variation()
        if self.families:
            yield f"all pairs of groups together: {_count_verdicts(self.families.values())}"

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

    def _variation(self) -> Iterator[str]:
        varied = self.about.varied
        verdicts: dict[tuple[str, ...], list[Verdict]] = {}
        for figure in self.figures if varied else ():
            rest = (value for name, value in figure.subject.items() if name != varied)
            verdicts.setdefault((figure.model, *rest), []).append(figure.judged.verdict)
        several = [own for own in verdicts.values() if len(own) > 1]
        if several:
            changed = sum(len(set(own)) > 1 for own in several)
            yield f"the verdict depends on the {varied} in {changed} of {len(several)} cases"

    def lines(self) -> Iterator[str]:
        """Yield the audit as text, at most 100 columns wide."""
        yield self.about.title
        yield f"figure: {self.about.figure}; rule: {self.rule}; publisher: {self.about.publisher}"
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
            "audit": self.about.title,
            "figure": self.about.figure,
            "rule": self.rule,
            "publisher": self.about.publisher,
            "bounds": [finite(bound) for bound in self.bounds],
            "figures": [_figure(figure) for figure in self.figures],
            "families": dict(self.families),
            "summary": list(self.summary()),
            "notes": list(self.notes),
        }


def judge(
    about: PublicAudit,
    folder: Path,
    *,
    bound: float | None = None,
    published: Path | None = None,
    items: Path | None = None,
) -> Audit:
    """Compute the figures of a public audit again from its recorded answers, and judge them by their intervals.

    Args:
        about: One of `AUDITS`.
        folder: The publisher's repository, or a folder of JSON lines (``*.jsonl``, ``*.jsonl.xz``).
        bound: Another bound of a fair figure, between 0 and 1.
        published: A file of the publisher's figures; default: the one in the folder, if there is one.
        items: A folder of the questions, where the answers do not have them.

    Raises:
        FairnessError: The folder holds nothing to judge, or a file is malformed: one line, with the file.
    """
    limit = about.bound if bound is None else bound
    if not 0 < limit < 1:
        raise FairnessError(f"bound is {limit:g}: it must lie between 0 and 1")
    for path in filter(None, (folder, items)):
        if not path.is_dir():
            problem = "a file" if path.exists() else "not there"
            raise FairnessError(f"{path} is {problem}: name the folder of the download")
    module = import_module(f"{__package__}.{about.module}")
    read: Recomputed = module.recompute(Download(folder, published, items))
    if not read.figures:
        raise FairnessError(f"{folder} holds nothing to judge: {'; '.join(read.notes) or f'it needs {about.needs}'}")
    bounds = {"either way": (-limit, limit), "at most": (-math.inf, limit), "at least": (limit, math.inf)}[about.sides]
    figures = [replace(figure, bounds=bounds) for figure in read.figures]
    families = {name: _verdict_of(family, bounds) for name, family in read.families.items()}
    return Audit(about, bounds, figures, families, read.notes, read.others)


def _figure(figure: AuditedFigure) -> dict[str, Any]:
    return {
        "model": figure.model,
        "subject": dict(figure.subject),
        "value": figure.value,
        "published": figure.published,
        "equal": figure.is_equal,
        "breach": figure.breach,
        "intervals": [_interval(interval) for interval in figure.intervals],
        "alternative": None if figure.strict is None else _interval(figure.strict),
    }


def _interval(interval: AuditInterval) -> dict[str, Any]:
    numbers = {name: finite(getattr(interval, name)) for name in ("value", "low", "high")}
    return {"by": interval.name, **numbers, "verdict": interval.verdict.value, "reason": interval.reason}


def _table(model: str, figures: Sequence[AuditedFigure]) -> Iterator[str]:
    names = [", ".join(figure.subject.values()) for figure in figures]
    has_alternative = any(figure.strict for figure in figures)
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
    yield from align_columns(
        [[model, *heads], *([name, *row] for name, row in zip(names, rows, strict=True))], to_right=True
    )


def _ends(interval: AuditInterval) -> str:
    return "-" if math.isnan(interval.low) else f"{interval.low:.3f} to {interval.high:.3f}"


def _alternative(figure: AuditedFigure) -> str:
    if figure.strict is None:
        return "-"
    return f"{figure.strict.value:.3f} ({_ends(figure.strict)}) {figure.strict.verdict}"


def _count_verdicts(verdicts: Iterable[Verdict]) -> str:
    listed = list(verdicts)
    counts = {verdict: listed.count(verdict) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count) or "none"


_MOST = 40
"""The most figures of a picture: those furthest from the rule."""
_ROW, _LEFT, _RIGHT, _TOP, _FOOT = 22, 16, 110, 74, 66
_PLOT = 420
_STYLE = """
svg { background: #fff; font: 12px system-ui, sans-serif; }
text { fill: #1b1f24; } .note { fill: #57606a; }
.bound { stroke: #b42318; stroke-width: 1.5; stroke-dasharray: 4 3; } .grid { stroke: #e3e6ea; }
.wide { stroke: #57606a; stroke-width: 2; } .narrow { stroke: #0b5cad; stroke-width: 6; opacity: .45; }
.dot { fill: #1b1f24; } .unfair { fill: #b42318; } .fair { fill: #1a7f37; } .undecided { fill: #57606a; }
"""


def chart(audit: Audit) -> str:
    """Return an SVG document: figures that break the rule first, each with two intervals and its verdict.

    It holds aggregate figures only. Where there are more than 40 figures, those that break the rule are drawn, at most
    40 of them.
    """
    from markupsafe import Markup

    shown = _select_figures(audit)
    left = _LEFT + max((width_of(figure.name) for figure in shown), default=0) + 12
    height = _TOP + _ROW * len(shown) + _FOOT
    width = left + _PLOT + _RIGHT
    axis = _Axis(shown, audit.bounds, left)
    scene = [*_head(audit, len(shown), width), *_grid(axis, audit, height)]
    for index, figure in enumerate(shown):
        scene += _figure_row(axis, figure, _TOP + _ROW * index + _ROW / 2)
    picture = element(
        "svg",
        element("title", audit.about.title),
        element("style", Markup(_STYLE)),  # noqa: S704 - our own text: its line ends are no part of a name
        *scene,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
    )
    return f"{picture}\n"


def _select_figures(audit: Audit) -> Sequence[AuditedFigure]:
    if len(audit.figures) <= _MOST:
        return audit.figures
    breaches = [figure for figure in audit.figures if figure.breach]
    low, high = audit.bounds
    return sorted(breaches, key=lambda figure: min(figure.value - low, high - figure.value))[:_MOST]


class _Axis:
    """The horizontal axis: positions of values, and ticks at round numbers."""

    def __init__(self, figures: Sequence[AuditedFigure], bounds: tuple[float, float], left: float) -> None:
        drawn = [interval for figure in figures for interval in (figure.intervals[0], figure.judged)]
        ends = [end for interval in drawn for end in (interval.low, interval.high)]
        values = [value for value in (*ends, *bounds) if math.isfinite(value)] or [0.0, 1.0]
        span = max(values) - min(values) or 1.0
        self._left, self._low, self._high = left, min(values) - span * 0.03, max(values) + span * 0.03
        self.step = next(step for step in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, math.inf) if span / step <= 9)

    def at(self, value: float) -> float:
        """Return the position of a value."""
        return self._left + (value - self._low) / (self._high - self._low) * _PLOT

    @property
    def end(self) -> float:
        """The position of the right end."""
        return self.at(self._high)

    @property
    def ticks(self) -> list[float]:
        first = math.ceil(self._low / self.step)
        return [round(number * self.step, 10) for number in range(first, math.floor(self._high / self.step) + 1)]


def _head(audit: Audit, shown: int, width: float) -> Iterator[Markup]:
    subtitle = f"{shown} of {len(audit.figures)} figures: {audit.about.figure}"
    yield element("text", audit.about.title, x=_LEFT, y=22, font_size=15, font_weight="bold")
    for index, line in enumerate(lines_of(subtitle, width - 2 * _LEFT, 2)):
        yield element("text", line, x=_LEFT, y=40 + 15 * index, class_="note")


def _grid(axis: _Axis, audit: Audit, height: float) -> Iterator[Markup]:
    bottom = height - _FOOT + 4
    for tick in axis.ticks:
        x = axis.at(tick)
        yield element("line", x1=x, x2=x, y1=_TOP - 4, y2=bottom, class_="grid")
        yield element("text", f"{tick:g}", x=x, y=bottom + 14, text_anchor="middle", class_="note")
    for bound in audit.bounds:
        if math.isfinite(bound):
            x = axis.at(bound)
            yield element("line", x1=x, x2=x, y1=_TOP - 4, y2=bottom, class_="bound")
    if audit.figures:
        first, last = audit.figures[0].intervals[0].name, audit.figures[0].judged.name
        key = f"dashed: {audit.rule}; thick: 95% interval by {first}; thin: by {last}; verdict: by {last}"
        for index, line in enumerate(lines_of(key, axis.at(axis.ticks[-1]) if axis.ticks else _PLOT, 2)):
            yield element("text", line, x=_LEFT, y=bottom + 34 + 15 * index, class_="note")


def _figure_row(axis: _Axis, figure: AuditedFigure, y: float) -> Iterator[Markup]:
    yield element("text", figure.name, x=_LEFT, y=y + 4)
    for name, interval in (("narrow", figure.intervals[0]), ("wide", figure.judged)):
        if math.isfinite(interval.low) and math.isfinite(interval.high):
            yield element("line", x1=axis.at(interval.low), x2=axis.at(interval.high), y1=y, y2=y, class_=name)
    yield element("circle", cx=axis.at(figure.judged.value), cy=y, r=4, class_="dot")
    verdict = figure.judged.verdict
    name = verdict.value if verdict is not Verdict.INVALID else "undecided"
    yield element("text", verdict.value, x=axis.end + 12, y=y + 4, class_=name)
