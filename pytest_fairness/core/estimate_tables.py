"""Estimates as rows of a table: a data frame, Markdown, LaTeX, HTML, and a figure of their intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from importlib.util import find_spec
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean, install
from pytest_fairness.core.formatting import decimals, format_level, number
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.significance import holm

BACKENDS = ("pandas", "polars", "pyarrow")
"""Libraries of data frames, the usual one first."""
_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_MARKDOWN = re.compile(r'[\\`*{}\[\]>"|~$&@#]|<(?! )|(?<!\w)_|_(?!\w)')
"""The characters that are markup in a cell; neither the sign before a p-value, nor an underscore within a word."""
_NEGATIVE = re.compile(r"(?<!\w)-(?=\d)")
"""The hyphen of a negative number, for which LaTeX has a minus."""
_SHIFT = 0.2
"""Distance of a second drawing from the first, in rows."""
_SMALLEST_SHOWN = 0.001
"""The p-value below which a table for readers says that it is smaller."""


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """Return a data frame.

    >>> make_frame({"item": ["a", "b"]}, "polars").shape
    (2, 1)

    Args:
        columns: The values by column.
        backend: One of `BACKENDS`; None for the first that is installed.

    Raises:
        FairnessError: The backend is none of them, or is not installed.
    """
    name = backend or next((library for library in BACKENDS if find_spec(library)), "pandas")
    if name not in BACKENDS:
        raise FairnessError(f"the backend is {backend!r}: {did_you_mean(str(backend), BACKENDS)}")
    if find_spec(name) is None:
        raise FairnessError(f"a data frame needs its library: pip install {name}")
    import narwhals

    return narwhals.from_dict({key: list(values) for key, values in columns.items()}, backend=name).to_native()


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One estimate in a table for readers."""

    name: str
    estimate: Any
    """An `Estimate`, which this module is below of."""
    p: float
    p_holm: float

    def cells(self) -> list[float]:
        """Return the value and both ends, of which a table's precision follows."""
        return [self.estimate.value, self.estimate.low, self.estimate.high]


class TabularEstimates:
    """Base class of an estimate and of a family of them: each is a row of a table, or a line of a figure."""

    __slots__ = ()

    def _tabulated(self) -> list[tuple[str, Any]]:
        return [("", self)]

    def _rows(self) -> list[EstimateRow]:
        members = self._tabulated()
        p_values = [math.nan if one.null is None else one.p_value() for _, one in members]
        corrected = iter(holm([p for p in p_values if not math.isnan(p)]))
        return [
            EstimateRow(name or one.title, one, p, math.nan if math.isnan(p) else next(corrected))
            for (name, one), p in zip(members, p_values, strict=True)
        ]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each estimate.

        >>> from pytest_fairness import Measured
        >>> rows = [{"item": n, "sex": sex, "hired": n % 4 < 3} for n in range(80) for sex in "fm"]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> frame = measured.ratios("hired", by="sex").to_frame("pandas")
        >>> frame[["name", "estimate", "low", "high", "attempts"]].round(2).to_dict("records")
        [{'name': 'f/m', 'estimate': 1.0, 'low': 0.94, 'high': 1.0, 'attempts': 160}]

        Args:
            backend: "pandas", "polars" or "pyarrow"; by default the first of them that is installed.

        Returns:
            The columns ``name`` (of the member of a family), ``metric``, ``title``, a ``slice_<attribute>`` for each
            attribute of ``where``, ``estimate``, ``low``, ``high``, ``confidence``, ``error`` (standard error),
            ``p_value`` (of no difference between groups, two-sided), ``p_holm`` (corrected over the rows), ``items``,
            ``attempts``, ``ungraded``, ``mark`` and ``invalid``: why nothing can be concluded, else empty. The numbers
            of an invalid estimate are nan.

        Raises:
            FairnessError: The library is not installed; or a threshold's test is evaluated.
        """
        rows = self._rows()
        estimates = [row.estimate for row in rows]
        slices = sorted({name for one in estimates for name in one.slice})
        columns: dict[str, list[Any]] = {
            "name": [row.name for row in rows],
            "metric": [one.metric for one in estimates],
            "title": [one.title for one in estimates],
            **{f"slice_{name}": [one.slice.get(name) for one in estimates] for name in slices},
            **{
                column: [math.nan if one.invalid else float(getattr(one, attribute)) for one in estimates]
                for column, attribute in (("estimate", "value"), ("low", "low"), ("high", "high"))
            },
            "confidence": [float(one.confidence) for one in estimates],
            "error": [math.nan if one.invalid else float(one.error) for one in estimates],
            "p_value": [row.p for row in rows],
            "p_holm": [row.p_holm for row in rows],
            "items": [one.items for one in estimates],
            "attempts": [one.attempts for one in estimates],
            "ungraded": [sum(one.ungraded.values()) for one in estimates],
            "mark": [one.letter for one in estimates],
            "invalid": [one.invalid for one in estimates],
        }
        return make_frame(columns, backend)

    def to_markdown(self) -> str:
        r"""Return a table in Markdown: estimates with intervals, p-values where groups are compared, and sizes.

        >>> from pytest_fairness import Estimate
        >>> print(Estimate("rate(hired)", "rate of hired", value=0.5, low=0.42, high=0.58, items=90).to_markdown())
        |  | estimate (95% CI) | items | attempts |
        |---|--:|--:|--:|
        | rate of hired | 0.500 (0.420 to 0.580) | 90 | 0 |

        Raises:
            FairnessError: A threshold's test is evaluated.
        """
        heads, *rows = self._cells(_markdown_text)
        lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
        bars = [
            f"|{'|'.join(cells)}|" if index == 1 else f"| {' | '.join(cells)} |" for index, cells in enumerate(lines)
        ]
        return "\n".join(bars)

    def to_latex(self) -> str:
        r"""Return a table in LaTeX, a ``tabular`` with the rules of the package booktabs.

        >>> from pytest_fairness import Estimate
        >>> print(Estimate("rate(a_b)", "rate of a_b", value=0.5, low=0.42, high=0.58, items=90).to_latex())
        \begin{tabular}{lrrr}
        \toprule
         & estimate (95\% CI) & items & attempts \\
        \midrule
        rate of a\_b & 0.500 (0.420 to 0.580) & 90 & 0 \\
        \bottomrule
        \end{tabular}

        Raises:
            FairnessError: A threshold's test is evaluated.
        """
        heads, *rows = ([_NEGATIVE.sub("$-$", cell) for cell in cells] for cells in self._cells(_latex_text))
        lines = [
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
        ]
        return "\n".join([*lines, *(rf"{' & '.join(cells)} \\" for cells in rows), r"\bottomrule", r"\end{tabular}"])

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        heads, *rows = self._cells(_html_text)
        head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
        body = "".join(
            f'<tr><th scope="row">{cells[0]}</th>{"".join(f"<td>{cell}</td>" for cell in cells[1:])}</tr>'
            for cells in rows
        )
        reasons = "".join(
            f"<p>{_html_text(row.name)}: invalid, {_html_text(row.estimate.invalid)}</p>"
            for row in self._rows()
            if row.estimate.invalid
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{reasons}"

    def _cells(self, escape: Callable[[str], str]) -> list[list[str]]:
        """Return the heads, then the cells of each row, for readers."""
        rows = self._rows()
        levels = {row.estimate.confidence for row in rows}
        level = f" ({format_level(levels.pop())} CI)" if len(levels) == 1 else " (CI)"
        own_level = not levels
        digits = max(decimals(row.cells(), []) for row in rows)
        columns: list[tuple[str, list[str]]] = [
            ("", [row.name for row in rows]),
            (f"{_effect(rows)}{level}", [_with_interval(row, digits, shows_level=not own_level) for row in rows]),
        ]
        if any(not math.isnan(row.p) for row in rows):
            columns.append(("p", [_format_p(row.p) for row in rows]))
            if len(rows) > 1:
                columns.append(("p (Holm)", [_format_p(row.p_holm) for row in rows]))
        columns.append(("items", [f"{row.estimate.items:,}" for row in rows]))
        columns.append(("attempts", [f"{row.estimate.attempts:,}" for row in rows]))
        ungraded = [sum(row.estimate.ungraded.values()) for row in rows]
        if any(ungraded):
            columns.append(("ungraded", [f"{count:,}" for count in ungraded]))
        texts = [[head, *cells] for head, cells in columns]
        return [[escape(cell) for cell in cells] for cells in zip(*texts, strict=True)]

    def plot(self, ax: Any = None, *, label: str = "", bounds: Sequence[float] = ()) -> Any:
        """Draw each estimate with its interval, one below the other.

        A dotted line is where groups are alike, dashed ones are bounds. Ratios and odds ratios have a logarithmic axis.
        An arrow ends an interval without an end; an estimate that is invalid is written as such. Drawn once more on the
        same axes, a family with the same members stands below the first, to compare two models.

        >>> from pytest_fairness import Measured
        >>> rows = [{"item": n, "sex": sex, "hired": n % 4 < 3} for n in range(80) for sex in "fm"]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> axes = measured.ratios("hired", by="sex").plot(bounds=[0.8])
        >>> [text.get_text() for text in axes.get_yticklabels()]
        ['f/m']

        Args:
            ax: The axes of matplotlib; by default those of a new figure.
            label: A name for the legend, which the caller shows by ``ax.legend()``.
            bounds: Numbers at which a dashed line is drawn.

        Returns:
            The axes.

        Raises:
            FairnessError: matplotlib is not installed, the axes show other estimates, or a threshold's test is
                evaluated.
        """
        rows = self._rows()
        try:
            from matplotlib import pyplot
        except ImportError:
            raise FairnessError(f"a figure needs matplotlib: {install('plot')}") from None
        if ax is None:
            _, ax = pyplot.subplots(figsize=(6.4, 1.2 + 0.4 * len(rows)), layout="constrained")
        names = [row.name.replace("$", r"\$") for row in rows]
        drawn = len(ax.containers)
        if not drawn:
            if all(row.estimate.log_scale for row in rows):
                _use_log_scale(ax)
            ax.set_yticks(range(len(rows)), names)
            ax.set_ylim(len(rows) - 0.5, -0.5)
            ax.set_xlabel(_axis_title([row.estimate for row in rows]))
            parities = {row.estimate.parity for row in rows}
            if len(parities) == 1 and None not in parities:
                ax.axvline(parities.pop(), color="0.6", linestyle=":", zorder=0)
        elif [text.get_text() for text in ax.get_yticklabels()] != names:
            raise FairnessError(
                f"the axes show other estimates than {', '.join(names)}: draw these on axes of their own"
            )
        for bound in bounds:
            ax.axvline(bound, color="0.4", linestyle="--", zorder=0)
        _draw(ax, rows, drawn * _SHIFT, label)
        return ax


def _use_log_scale(ax: Any) -> None:
    """Give axes a logarithmic scale, with plain numbers at its ticks."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _draw(ax: Any, rows: Sequence[EstimateRow], shift: float, label: str) -> None:
    """Draw points and intervals; an end at infinity, or at zero on a logarithmic axis, is an arrow at the edge."""
    is_log = ax.get_xscale() == "log"

    def is_shown(value: float) -> bool:
        return (0.0 if is_log else -math.inf) < value < math.inf

    numbers = [value for row in rows if not row.estimate.invalid for value in row.cells() if is_shown(value)]
    low, high = (min(numbers), max(numbers)) if numbers else (0.5, 1.0)
    margin = (high - low or 1.0) / 10
    edges = (low / 1.2, high * 1.2) if is_log else (low - margin, high + margin)
    points: list[tuple[float, float, float, float]] = []
    for index, row in enumerate(rows):
        value, *ends = row.cells()
        if row.estimate.invalid or not math.isfinite(value):
            ax.annotate("invalid", (0.5, index + shift), xycoords=ax.get_yaxis_transform(), ha="center", va="center")
            continue
        value = max(value, edges[0])
        below, above = (end if is_shown(end) else edge for end, edge in zip(ends, edges, strict=True))
        points.append((value, index + shift, max(value - below, 0.0), max(above - value, 0.0)))
        for end, edge, marker in zip(ends, (below, above), "<>", strict=True):
            if not is_shown(end):
                ax.plot([edge], [index + shift], marker=marker, color="0.3", markersize=5)
    values, heights, lefts, rights = (list(column) for column in zip(*points, strict=True)) if points else ([],) * 4
    ax.errorbar(values, heights, xerr=[lefts, rights], fmt="o", capsize=3, label=label or None)


def _axis_title(estimates: Sequence[Any]) -> str:
    """Return what all estimates are of, as far as their titles say the same, with the level of their intervals."""
    titles = {one.title.partition(",")[0] for one in estimates}
    levels = {one.confidence for one in estimates}
    level = f" ({format_level(levels.pop())} CI)" if len(levels) == 1 else ""
    return f"{titles.pop() if len(titles) == 1 else 'estimate'}{level}".replace("$", r"\$")


def _effect(rows: Sequence[EstimateRow]) -> str:
    """Return what all estimates are, such as odds ratio; "estimate" where their kinds differ, or are of one's own."""
    kinds = {row.estimate.kind for row in rows}
    return "estimate" if len(kinds) > 1 or MetricKind.CUSTOM in kinds else str(kinds.pop().noun)


def _with_interval(row: EstimateRow, digits: int, *, shows_level: bool) -> str:
    if row.estimate.invalid:
        return "invalid"
    value, low, high = (number(one, digits) for one in row.cells())
    level = f"{format_level(row.estimate.confidence)} CI " if shows_level else ""
    return f"{value} ({level}{low} to {high})"


def _format_p(p: float) -> str:
    if math.isnan(p):
        return ""
    return f"< {_SMALLEST_SHOWN}" if p < _SMALLEST_SHOWN else f"{p:.3f}"


def _printable(text: str) -> str:
    """Return a text on one line; a character that cannot be printed is its code."""
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in line)


def _html_text(text: str) -> str:
    return escape_html(_printable(text))


def _markdown_text(text: str) -> str:
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[0])};", _printable(text))


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in _printable(text))
