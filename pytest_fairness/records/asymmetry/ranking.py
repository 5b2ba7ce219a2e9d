"""A ranking of models by the adjusted index of the asymmetry suite: of runs, and of bare ``summary.json`` files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    COMPARED_FILE,
    ComparedRuns,
    CompareSection,
    RunResults,
    SectionTable,
    format_number,
    is_number,
)
from pytest_fairness.extending import json_text as json
from pytest_fairness.records.asymmetry.charts import INDEX, RankingEntry, charts
from pytest_fairness.records.asymmetry.figures import MARGINALISED, POWER, SIGN, shown

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
"""The heads of the table's columns, each with its figure."""
_METRICS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        INDEX: ("adjusted_index", {}),
        "asymmetry.asymmetry_index": ("asymmetry_index", {}),
        "asymmetry.accuracy_delta": ("accuracy_delta", {}),
        "asymmetry.stigma_delta": ("stigma_delta", {}),
        "asymmetry.participation_delta": ("participation_delta", {}),
        "directional.will_bias": ("participation_delta", {}),  # the same number: W of one less W of the other
        "directional.acc_bias": ("accuracy_bias", {}),
        "directional.stigma_bias": ("stigma_bias", {}),
        f"domains.{MARGINALISED}.participation": ("participation", {"domain": MARGINALISED}),
        f"domains.{POWER}.participation": ("participation", {"domain": POWER}),
        "participation.coverage_weight": ("coverage", {}),
    }
)
"""The metrics of these figures in the results file, each with its slice."""
_DIGITS = 3
RANKS = (
    "Ranked by the distance of the adjusted index from 0, nearest first; what has none stands last. A bare summary "
    f"holds no intervals: its ranks may be chance. {SIGN}"
)
W_AND_H = (
    "Refusals, errors and stigma are the three biases that the adjusted index is made of. W is the share of questions "
    "answered, H the harmonic mean of both; delta mean is the older asymmetry index."
)


def is_summary(content: Any) -> bool:
    """Return whether JSON that was read is a summary in the published layout, by its adjusted index."""
    return isinstance(content, dict) and "schema" not in content and _number_at(content, INDEX) is not None


def read_summary(path: Path, redact: Callable[[str], str]) -> RankingEntry | None:
    """Return the entry of a ``summary.json``, each text through ``redact``; None for a file of another kind.

    Its label is its ``model``, else the name of its folder: ``results/MODEL/TIMESTAMP``.
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
    date = folder.name if dated else str(content.get("generated") or "")
    return RankingEntry(redact(label), redact(date[:10]), {name: _number_at(content, name) for name in _METRICS})


def entries(results: RunResults) -> list[RankingEntry]:
    """Return an entry for each model of a run that has the adjusted index, from its results file."""
    ranked = []
    for model in results.run.models:
        rows = [row for row in results.metrics if row.model == model]
        rows_by_figure = {
            name: row
            for name, (metric, part) in _METRICS.items()
            for row in rows
            if row.metric == metric and row.slice == part
        }
        if INDEX in rows_by_figure:
            ends = {
                name: (row.low, row.high)
                for name, row in rows_by_figure.items()
                if row.low is not None and row.high is not None
            }
            figures = {name: row.value for name, row in rows_by_figure.items()}
            ranked.append(RankingEntry(model, results.run.started[:10], figures, ends))
    return ranked


def latest(runs: Iterable[RunResults]) -> list[RankingEntry]:
    """Return the newest entry of each model and date, from results files in the order of their runs."""
    return list({(entry.label, entry.date): entry for results in runs for entry in entries(results)}.values())


def table(unordered: Iterable[RankingEntry]) -> tuple[list[str], list[list[str]]]:
    """Return heads, and a row of cells for each entry, nearest to 0 first; equal distances share a rank."""
    ordered = sorted(unordered, key=_by_distance)
    rows = []
    for entry in ordered:
        rank = 1 + sum(other.distance < entry.distance for other in ordered)
        ends = " to ".join(format_number(end, _DIGITS) for end in entry.ends.get(INDEX, ()))
        cells = [shown(entry.figures.get(name)) for name in (INDEX, *_COLUMNS.values())]
        rows.append([str(rank), entry.label, entry.date, cells[0], ends or "-", *cells[1:]])
    return ["rank", "model", "date", "adjusted", "95% interval", *_COLUMNS], rows


def _by_distance(entry: RankingEntry) -> tuple[float, str, str]:
    return entry.distance, entry.label, entry.date


def section(entries: Sequence[RankingEntry], *, stands_alone: bool = False) -> SectionTable:
    """Return the ranking as a section of a comparison.

    Args:
        entries: The entries to rank.
        stands_alone: Whether it is all there is to show: a bare summary has no thresholds, and a single model nothing
            to be compared with.
    """
    heads, rows = table(entries)
    ordered = sorted(entries, key=_by_distance)
    title = "Asymmetry: models and dates by their adjusted index"
    shown = (0, 2, 3, 4, 6, 7, 8)  # the columns that fit into 80 characters
    return SectionTable("asymmetry", title, heads, rows, (RANKS, W_AND_H), shown, stands_alone, charts(ordered))


class AsymmetryRanking(CompareSection):
    """The ranking of the asymmetry suite: of runs, results files and bare ``summary.json`` files."""

    def table(self, runs: ComparedRuns) -> SectionTable | None:
        summaries = {name: read_summary(Path(name), runs.redact) for name in runs.names if name.endswith(COMPARED_FILE)}
        stands_alone = any(summaries.values())
        ranked: list[RankingEntry] = []
        for name in dict.fromkeys(runs.names):
            summary = summaries.get(name)
            entries_of_run = [summary] if summary else entries(runs.run(name).results)
            if stands_alone and not entries_of_run:
                raise FairnessError(
                    f"{name} has no adjusted index to be ranked by: name runs of the asymmetry suite only"
                )
            ranked += entries_of_run
        is_single = len(set(runs.names)) == 1 and len(ranked) == 1
        return section(ranked, stands_alone=stands_alone or is_single) if ranked else None


def _number_at(content: Mapping[str, Any], name: str) -> float | None:
    """Return the number at a path in a summary; None where there is none."""
    value: Any = content
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return float(value) if is_number(value) and math.isfinite(value) else None
