"""The table at the end of a run, as lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.numerals import bounds_of, figures
from pytest_fairness.report import sentences
from pytest_fairness.report.release import NOT_JUDGED, NOT_SELECTED, reason_of, sentence
from pytest_fairness.report.texts import visible
from pytest_fairness.report.view import Row
from pytest_fairness.session.causes import CauseCounts
from pytest_fairness.session.outcomes import UNJUDGED, in_line

COLOURS = {
    "fair": {"green": True},
    "unfair": {"red": True},
    "undecided": {"yellow": True},
    "invalid": {"red": True},
    NOT_JUDGED: {"yellow": True},
}
_LONG_CAUSE = 400
"""Characters that tell a cause from others; a row may hold no more of it."""
_MOST_NAMES = 3
"""Of thresholds that were not selected."""


def tell(
    reporter: pytest.TerminalReporter, results: Row, causes: CauseCounts, written: Iterable[str], last: Iterable[str]
) -> None:
    """Write the sections of a run: each model's, what was searched, the files ``written``, and ``last`` in yellow."""
    width = reporter.config.get_terminal_writer().fullwidth
    if not results["thresholds"]:
        reporter.write_sep("=", "fairness")
    releases = {line["model"]: line for line in results["release"]}
    for model, of_model in by_model(results["thresholds"]).items():
        reporter.write_sep("=", visible(f"fairness: {model}"))
        for line, row in table(of_model, width):
            reporter.write_line(line, **({"bold": True} if row is None else COLOURS[row["verdict"]]))
        for line in notes(of_model, width, causes):
            reporter.write_line(line)
        for line in marks(results["marks"], of_model[0]["model"], width):
            reporter.write_line(line)
        release = releases[of_model[0]["model"]]
        for line in wrapped(sentence(release), width):
            reporter.write_line(line, **COLOURS[release["verdict"]])
    tell_searches(reporter, results["searches"], width)
    for line in [*closing(results, width), *written]:
        reporter.write_line(line)
    for text in last:
        for line in wrapped(text, width):
            reporter.write_line(line, yellow=True)


def table(rows: Sequence[Row], width: int) -> Iterator[tuple[str, Row | None]]:
    """The thresholds of one model, at most ``width`` columns wide, each with its row; the heads have none.

    Reasons follow on lines of their own. What the user did not select is left to them.
    """
    rows = [row for row in rows if not _is_not_selected(row)]
    if not rows:
        return
    cells = [
        (
            row["suite"],
            row["threshold"],
            _estimate(row),
            bounds_of(row) or "-",
            row["mark"] or NOT_MARKED,
            _verdict(row),
        )
        for row in rows
    ]
    heads = ("suite", "threshold", f"estimate ({_level(rows)} CI)", "bounds", "mark", "verdict")
    widths = [max(len(cell[column]) for cell in (*cells, heads)) for column in range(6)]
    # The threshold's name is what can be cut: its test is named in the failures.
    widths[1] = max(8, min(widths[1], width - 1 - sum(widths) + widths[1] - 2 * 5))
    for cell, of in zip((heads, *cells), (None, *rows), strict=True):
        name = cell[1] if len(cell[1]) <= widths[1] else cell[1][: widths[1] - 3] + "..."
        shown = (cell[0], name, *cell[2:])
        line = " " + "  ".join(text.ljust(size) for text, size in zip(shown, widths, strict=True)).rstrip()
        yield line, of


def _is_not_selected(row: Row) -> bool:
    return row["verdict"] == NOT_JUDGED and reason_of(row) == NOT_SELECTED


def tell_causes(reporter: pytest.TerminalReporter, causes: CauseCounts, width: int) -> None:
    """A section of what could not be asked at all, each cause once, if there is any."""
    for number, (cause, attempts) in enumerate(causes):
        if not number:
            reporter.write_sep("=", "fairness: not asked", red=True)
        count = f" ({attempts:,} attempt{'s' * (attempts != 1)} not made)" if attempts else ""
        for line in wrapped(cause + count, width):
            reporter.write_line(line, red=True)


def notes(rows: Sequence[Row], width: int, causes: CauseCounts) -> Iterator[str]:
    """What more there is to say of a model's thresholds: looks, what is the project's own, what would decide them, why
    none could, who judged. What a section of its own says is left out.
    """
    begins = ("invalid: ", "undecided: ", f"invalid: {UNJUDGED}")
    told = tuple(begin + in_line(cause)[:_LONG_CAUSE] for cause, _ in causes for begin in begins)
    for row in rows:
        looks = row["looks"]
        if looks and looks["of"] > 1 and row["estimate"] is not None:
            yield from wrapped(
                f"{row['threshold']}: look {looks['number']} of {looks['of']} ({row['items']:,} items, "
                f"{row['attempts']:,} attempts), judged with a {row['confidence'] * 100:.4g}% interval",
                width,
            )
        for more in sentences.remarks(row):
            yield from wrapped(f"{row['threshold']}: {more}", width)
        if row["verdict"] == "undecided" and not row["message"].startswith(told):
            yield from wrapped(f"{row['threshold']}: {row['advice']}", width)
    reasons: dict[str, list[str]] = {}  # one cause may be that of many
    for row in rows:
        if row["verdict"] == "invalid" and not row["message"].startswith(told):
            reasons.setdefault(row["message"].removeprefix("invalid: "), []).append(row["threshold"])
    for reason, names in reasons.items():
        yield from wrapped(f"{'; '.join(names)}: {reason}", width)
    for judged in sentences.judges(rows):
        yield from wrapped(judged, width)
    if left := [row["threshold"] for row in rows if _is_not_selected(row)]:
        more = f" and {len(left) - _MOST_NAMES} more" if len(left) > _MOST_NAMES else ""
        yield from wrapped(f"not selected: {'; '.join(left[:_MOST_NAMES])}{more}", width)


def marks(aggregated: Sequence[Mapping[str, Any]], model: str, width: int) -> Iterator[str]:
    """``marks: bbq B; stereotyping B``: of a model's suites, their fields, its harms. Nothing where none is marked."""
    of_model = [line for line in aggregated if line["model"] == model]
    names = [next(line[kind] for kind in ("suite", "field", "harm") if kind in line) for line in of_model]
    shown = [f"{name} {line['mark'] or NOT_MARKED}" for name, line in zip(names, of_model, strict=True)]
    if shown:
        yield from wrapped(f"marks: {'; '.join(shown)}", width)


def tell_searches(reporter: pytest.TerminalReporter, rows: Sequence[Mapping[str, Any]], width: int) -> None:
    """A section of what the tests have searched, if any has."""
    if rows:
        reporter.write_sep("=", "fairness: searches")
    for row in rows:
        for line in _search(row, width):
            reporter.write_line(line, red=row["flip"] is not None)


def _search(row: Mapping[str, Any], width: int) -> Iterator[str]:
    """What one search has come to; of a flip both texts, and the line that replays it, never broken in two."""
    yield from wrapped(f"{row['id']}: {sentences.search(row)}", width)
    if row["flip"]:
        for text in row["flip"]["texts"]:
            yield from wrapped(f"  {text}", width)
        yield f"   replay: {visible(row['command'])}"


def by_model(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Rows of each model, in the order in which they came."""
    models: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        models.setdefault(row["model"] or "no model", []).append(row)
    return models


def closing(results: Mapping[str, Any], width: int) -> Iterator[str]:
    """What was measured, and what the verdicts promise."""
    run = results["run"]
    if any(map(sentences.is_simulated, run["models"])):
        yield from wrapped(f"simulated: {sentences.SIMULATED}", width)
    yield from wrapped(f"run {run['id'][:8]}: {sentences.totals(run)}", width)
    for told in (*sentences.asked_by_graders(run), sentences.failed_requests(run)):
        yield from wrapped(told, width)
    if promise := sentences.promise(results["thresholds"]):
        yield from wrapped(promise, width)


def wrapped(text: str, width: int) -> list[str]:
    """A sentence in lines of at most ``width`` columns; words of a stranger's text lose control characters."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    # A command is to be copied: its words stay whole.
    return textwrap.wrap(plain, max(40, width - 1), initial_indent=" ", subsequent_indent="   ", break_on_hyphens=False)


def _level(rows: Sequence[Mapping[str, Any]]) -> str:
    levels = sorted({row["confidence"] for row in rows if row["confidence"]})
    return "/".join(f"{level * 100:.4g}%" for level in levels) or "95%"


def _estimate(row: Mapping[str, Any]) -> str:
    if row["estimate"] is None:
        return "-"
    value, low, high = figures(row)
    return f"{value} ({low} to {high})"


def _verdict(row: Mapping[str, Any]) -> str:
    verdict = str(row["verdict"])
    outcome = row.get("outcome")
    return f"{verdict} ({outcome})" if outcome in ("flaky", "xfailed", "xpassed") else verdict
