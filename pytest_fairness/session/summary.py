"""The table at the end of a run, as lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.numerals import bounds_of, figures
from pytest_fairness.report import sentences
from pytest_fairness.report.texts import visible

COLOURS = {"fair": {"green": True}, "unfair": {"red": True}, "undecided": {"yellow": True}, "invalid": {"red": True}}


def table(rows: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    """The thresholds of one model, at most ``width`` columns wide; reasons follow on lines of their own."""
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
    for cell in (heads, *cells):
        name = cell[1] if len(cell[1]) <= widths[1] else cell[1][: widths[1] - 3] + "..."
        shown = (cell[0], name, *cell[2:])
        yield " " + "  ".join(text.ljust(size) for text, size in zip(shown, widths, strict=True)).rstrip()


def notes(rows: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    """What more there is to say of a model's thresholds: looks, what is the project's own, what would decide them, why
    none could, who judged.
    """
    for row in rows:
        looks = row["looks"]
        if looks and looks["of"] > 1 and row["estimate"] is not None:
            yield from wrapped(
                f"{row['threshold']}: look {looks['number']} of {looks['of']} ({row['items']:,} items, "
                f"{row['attempts']:,} attempts), judged with a {row['confidence'] * 100:.4g}% interval",
                width,
            )
        if own := sentences.own(row):
            yield from wrapped(f"{row['threshold']}: {own}", width)
        if row["verdict"] == "undecided":
            yield from wrapped(f"{row['threshold']}: {row['advice']}", width)
        elif row["verdict"] == "invalid":
            yield from wrapped(f"{row['threshold']}: {row['message'].removeprefix('invalid: ')}", width)
    for sentence in sentences.judges(rows):
        yield from wrapped(sentence, width)


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
    if results["thresholds"]:
        yield from wrapped(sentences.promise(results["thresholds"]), width)


def wrapped(text: str, width: int) -> list[str]:
    """A sentence in lines of at most ``width`` columns; words of a stranger's text lose control characters."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return textwrap.wrap(plain, max(40, width - 1), initial_indent=" ", subsequent_indent="   ")


def _level(rows: Sequence[Mapping[str, Any]]) -> str:
    levels = sorted({1 - 2 * row["risk"] for row in rows if row["risk"]})
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
