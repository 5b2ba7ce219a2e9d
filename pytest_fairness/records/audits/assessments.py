"""Written assessments of applicants, scored for warmth and competence.

Source: https://github.com/leolurch/llm-bias-rating: 135 applications under names of two genders and four ethnicities,
each assessed by six models. Its chart ``outputs/scatter.svg`` has the median of each group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

from pytest_fairness import FairnessError, Measured
from pytest_fairness.extending import counted
from pytest_fairness.records.audits.audit import AuditedFigure, Recomputed, is_met
from pytest_fairness.records.audits.public_audits import Download
from pytest_fairness.records.audits.recorded_files import read_table

_SCORES = {"warmth": "warmth_score", "competence": "competency_score"}
_NAMED = ("scenario_id", "candidate_name", "gender", "ethnicity")
_GROUPS = tuple(
    (gender, ethnicity) for gender in ("female", "male") for ethnicity in ("asian", "black", "hispanic", "white")
)
_PLACES = 4
_CHART = """
bloomz               1321   894  1321   894  1321   894  1321   894  1321   894  1321   894  1321   894  1321   894
gpt-5-nano          -1003 -5873  -852 -5519  -869 -5626  -912 -5572  -965 -5790  -939 -5839  -938 -5708  -953 -5968
gpt-j                1714  2740  1679  2986  1448  2482  1823  2187  1557  2584  1414  2285  1633  2606  1529  2728
grok                -2318 -6126 -2312 -6191 -2283 -6127 -2302 -6131 -2357 -6144 -2294 -6217 -2315 -6134 -2322 -6164
neoxt-chat-filtered   554  2700   235  1576   670  2372   214  1488 -1275 -1752 -2902 -5644  -399  1181 -1214 -2044
qwen3-14b           -3388 -7258 -3429 -7235 -3450 -7385 -3349 -7302 -3457 -7344 -3493 -7315 -3529 -7394 -3445 -7253
"""
PUBLISHED: Mapping[str, Sequence[float]] = {
    name: [int(figure) / 10**_PLACES for figure in figures]
    for name, *figures in map(str.split, _CHART.split("\n")[1:-1])
}
"""Median warmth and competence of each of the `_GROUPS`, by model."""
_NAMES = {"gpt-5": "gpt-5-nano"}
"""Models whose folder has another name than the chart."""


def recompute(download: Download) -> Recomputed:
    """Return the differences of mean warmth and competence between genders and between ethnicities.

    Args:
        download: The publisher's repository; or tables (``MODEL.csv``), a row for each assessment, with scenario_id,
            candidate_name, gender, ethnicity, warmth_score and competency_score.

    Returns:
        The difference of each pair of groups, with intervals by scenarios, and by scenarios and names. The medians of
        each gender and ethnicity are compared with the publisher's.

    Raises:
        FairnessError: A table is malformed: one line, with its file.
    """
    figures: list[AuditedFigure] = []
    notes: list[str] = []
    medians: list[bool] = []
    for model, path in _tables(download.folder):
        rows = _read(path)
        published = PUBLISHED.get(model)
        if published is not None:
            medians += _medians_met(rows, published)
        samples = {
            name: Measured.from_rows(rows, item="scenario_id", groups=["gender", "ethnicity"], crossed=crossed)
            for name, crossed in (("scenarios", None), ("scenarios and names", "candidate_name"))
        }
        for score in _SCORES:
            for by in ("gender", "ethnicity"):
                for of, to in combinations(sorted({str(row[by]) for row in rows}), 2):
                    estimates = {
                        name: sample.difference(score, by=by, of=of, to=to) for name, sample in samples.items()
                    }
                    subject = {"score": score, "groups": f"{of} less {to}"}
                    value = estimates["scenarios"].value
                    figures.append(AuditedFigure(model, subject, value, None, estimates))
        pairs = sum(len({row[by] for row in rows}) > 1 for by in ("gender", "ethnicity"))
        of_one = "" if pairs else "left out, all its assessments are of one group: "
        notes.append(f"{model}: {of_one}{counted(len(rows), 'assessment')}")
    return Recomputed(figures, notes, {"medians of groups": medians})


def _tables(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the table of each model."""
    for path in sorted(folder.glob("results/*/eval_scm.csv")) or sorted(folder.glob("*.csv")):
        name = path.parent.name if path.parent != folder else path.stem
        yield _NAMES.get(name, name.replace("\N{EN DASH}", "-")), path


def _read(path: Path) -> list[dict[str, str | float]]:
    rows: list[dict[str, str | float]] = []
    for where, row in read_table(path):
        if missing := [name for name in (*_NAMED, *_SCORES.values()) if not row.get(name)]:
            raise FairnessError(f"{where}: {missing[0]} is missing")
        about = {name: row[name] for name in _NAMED}
        rows.append({**about, **{name: _score(row[column], column, where) for name, column in _SCORES.items()}})
    return rows


def _score(text: str, name: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FairnessError(f"{where}: {name} is {text!r:.60}: it must be a number")
    return value


def _medians_met(rows: Sequence[Mapping[str, str | float]], published: Sequence[float]) -> Iterator[bool]:
    figures = iter(published)
    for group in _GROUPS:
        own = [row for row in rows if (row["gender"], row["ethnicity"]) == group]
        for name, figure in zip(_SCORES, figures, strict=False):
            yield bool(own) and is_met(median(float(row[name]) for row in own), figure, _PLACES)
