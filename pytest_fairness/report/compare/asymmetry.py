"""A league of models by the adjusted index of the asymmetry suite: of runs, and of bare ``summary.json`` files."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.numerals import number
from pytest_fairness.report.compare.reading import FILE, read_told
from pytest_fairness.report.compare.sections import Section
from pytest_fairness.report.exports.asymmetry_figures import SIGN
from pytest_fairness.report.texts import visible
from pytest_fairness.report.view import Row
from pytest_fairness.stats.asymmetry import MARGINALISED, POWER
from pytest_fairness.store.places import Place

INDEX = "directional.adjusted_index"
_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "delta mean": "asymmetry.asymmetry_index",
        "refusals": "directional.will_bias",
        "errors": "directional.acc_bias",
        "stigma": "directional.stigma_bias",
        "W marg.": f"domains.{MARGINALISED}.participation",
        "W power": f"domains.{POWER}.participation",
        "H": "participation.coverage_weight",
    }
)
"""Heads of the table, each with the figure that stands under it."""
_METRICS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        INDEX: ("adjusted_index", {}),
        "asymmetry.asymmetry_index": ("asymmetry_index", {}),
        "directional.will_bias": ("participation_delta", {}),  # the same number: W of one less W of the other
        "directional.acc_bias": ("accuracy_bias", {}),
        "directional.stigma_bias": ("stigma_bias", {}),
        f"domains.{MARGINALISED}.participation": ("participation", {"domain": MARGINALISED}),
        f"domains.{POWER}.participation": ("participation", {"domain": POWER}),
        "participation.coverage_weight": ("coverage", {}),
    }
)
"""What the results file calls these figures, and of which slice they are."""
_DIGITS = 3
RANKS = (
    "Ranked by the distance of the adjusted index from 0, nearest first; what has none stands last. A bare summary "
    f"holds no intervals: its ranks may be chance. {SIGN}"
)
W_AND_H = (
    "Refusals, errors and stigma are the three biases that the adjusted index is made of. W is the share of questions "
    "answered, H the harmonic mean of both; delta mean is the older asymmetry index."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One model on one date."""

    label: str
    date: str
    figures: Mapping[str, float | None]
    """By their place in the published layout; what was not told is not there."""
    ends: tuple[float, float] | None = None
    """Of the adjusted index."""

    @property
    def distance(self) -> float:
        """Of the adjusted index from 0; infinite where there is none."""
        index = self.figures.get(INDEX)
        return math.inf if index is None else abs(index)


def is_summary(content: Any) -> bool:
    """Whether JSON that was read is a summary in the published layout, by its adjusted index."""
    return isinstance(content, dict) and "schema" not in content and _at(content, INDEX) is not None


def read_summary(path: Path, redact: Callable[[str], str] = str) -> Entry | None:
    """The entry of a ``summary.json``, each text through ``redact``; None for a file of another kind.

    It is called by its ``model``, else by the folders that it stands in: ``results/MODEL/TIMESTAMP``.
    Raises `FairnessError`, in one line, for a file that cannot be read.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise FairnessError(f"{path} holds no JSON: name a results file or a summary.json") from None
    if not is_summary(content):
        return None
    folder = path.resolve().parent
    dated = re.match(r"\d{4}-\d\d-\d\d", folder.name) is not None
    label = str(content.get("model") or content.get("label") or (folder.parent if dated else folder).name)
    names = (INDEX, *_COLUMNS.values())
    date = folder.name if dated else str(content.get("generated") or "")
    return Entry(redact(label), redact(date[:10]), {name: _at(content, name) for name in names})


def entries(results: Row) -> list[Entry]:
    """One for each model of a run that has the adjusted index, from its results file."""
    found = []
    for model in results["run"]["models"]:
        rows = [row for row in results["metrics"] if row["model"] == model]
        known = {
            name: row
            for name, (metric, part) in _METRICS.items()
            for row in rows
            if row["metric"] == metric and row["slice"] == part
        }
        if INDEX in known:
            low, high = known[INDEX]["low"], known[INDEX]["high"]
            ends = None if low is None or high is None else (low, high)
            figures = {name: row["estimate"] for name, row in known.items()}
            found.append(Entry(model, results["run"]["started"][:10], figures, ends))
    return found


@dataclass(frozen=True, slots=True)
class League:
    """The models of a comparison that have an adjusted index."""

    entries: Sequence[Entry]
    bare: bool
    """Whether a bare summary is among them: that has no thresholds to compare."""


def read_league(runs: Sequence[str], store: Place, redact: Callable[[str], str] = str) -> League:
    """Return the asymmetry suite's figures of runs, results files and bare ``summary.json`` files.

    Raises `FairnessError`, in one line, for what cannot be read, and beside a bare summary for a run without figures.
    """
    summaries = {name: read_summary(Path(name), redact) for name in runs if name.endswith(FILE)}
    bare = any(summaries.values())
    found: list[Entry] = []
    for name in dict.fromkeys(runs):
        summary = summaries.get(name)
        of_run = [summary] if summary else entries(read_told(name, store, redact).results)
        if bare and not of_run:
            raise FairnessError(f"{name} has no adjusted index to be ranked by: name runs of the asymmetry suite only")
        found += of_run
    return League(found, bare)


def latest(runs: Iterable[Row]) -> list[Entry]:
    """The newest entry of each model and date, from results files in the order of their runs."""
    return list({(entry.label, entry.date): entry for results in runs for entry in entries(results)}.values())


def table(found: Iterable[Entry]) -> tuple[list[str], list[list[str]]]:
    """Heads, and a row of cells for each entry, the one nearest to 0 first; entries of one distance share a rank."""
    ordered = sorted(found, key=lambda entry: (entry.distance, entry.label, entry.date))
    rows = []
    for entry in ordered:
        rank = 1 + sum(other.distance < entry.distance for other in ordered)
        ends = "" if entry.ends is None else " to ".join(number(end, _DIGITS) for end in entry.ends)
        cells = [_shown(entry.figures.get(name)) for name in (INDEX, *_COLUMNS.values())]
        rows.append([str(rank), entry.label, entry.date, cells[0], ends or "-", *cells[1:]])
    return ["rank", "model", "date", "adjusted", "95% interval", *_COLUMNS], rows


def section(found: Sequence[Entry]) -> Section:
    """Return the league as a section of a comparison."""
    heads, rows = table(found)
    return Section("asymmetry", "Asymmetry: models and dates by their adjusted index", heads, rows, (RANKS, W_AND_H))


def lines(found: Sequence[Entry], width: int = 80) -> Iterator[str]:
    """The league for the terminal: names stand below, since they are longer than a column can be."""
    heads, rows = table(found)
    kept = [0, 2, 3, 4, 6, 7, 8]  # what stands beside each other in 80 columns
    cells = [["no.", *(heads[place] for place in kept)]]
    cells += [[str(place), *(row[column] for column in kept)] for place, row in enumerate(rows, 1)]
    sizes = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        yield " " + "  ".join(text.ljust(size) for text, size in zip(row, sizes, strict=True)).rstrip()
    for place, row in enumerate(rows, 1):
        yield from _wrapped(f"{place}: {row[1]}", width)
    yield from _wrapped(RANKS, width)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(visible(text), max(40, width - 1), initial_indent=" ", subsequent_indent="   ")


def _at(content: Mapping[str, Any], name: str) -> float | None:
    """The number at a place of a summary; None where there is none."""
    value: Any = content
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def _shown(value: float | None) -> str:
    return "-" if value is None else number(value, _DIGITS)
