"""AgentFairBench: decisions of assistants on equal files under names of six groups.

Source: AgentFairBench, https://github.com/rohithreddybc/AgentFairBench (its PROTOCOL.md, section 5, has the figures).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from pytest_fairness import FairnessError, Measured
from pytest_fairness.extending import counted, is_number, read_document, read_records
from pytest_fairness.records.audits.audit import AuditedFigure, Recomputed, is_met
from pytest_fairness.records.audits.public_audits import Download
from pytest_fairness.records.audits.recorded_files import RECORD, field, line_files, number

_FIGURES = (("CFR", "CFR"), ("MASD", "MASD"), ("rate_disparity", "disparity"))
"""Figures of a report that are computed here: their objects, and their numbers in these."""
_RAW = "results/raw"
_TOOL = "request_more_info"
"""The flag of the scaffold whose assistant may request more information before it decides."""
Cell = tuple[str, str, str]
"""A model, a domain and a scaffold."""


def recompute(download: Download) -> Recomputed:
    """Return how often a decision changes with the name in the file, by model, domain and scaffold.

    Args:
        download: The publisher's repository; or JSON lines, one a decision, with model, domain, scaffold, profile_id,
            group and decision: an object with one true or false and one number, empty where there was none; and
            ``report.json`` with the publisher's figures, if it is there.

    Returns:
        The counterfactual flip rate of each cell: the share of files whose decision is not the same for all groups,
        with an interval by files. The spread of scores and the gap of rates are compared too.

    Raises:
        FairnessError: A record or a figure is malformed: one line, with its file.
    """
    raw = download.folder / _RAW
    cells = _read_decisions(raw if raw.is_dir() else download.folder)
    reports = [path.relative_to(download.folder).as_posix() for path in sorted(raw.parent.glob("*_report.json"))]
    report = download.published_file("report.json", *reports)
    published = {} if report is None else _published(report)
    figures, notes = [], []
    others: dict[str, list[bool]] = {"spreads of scores": [], "gaps of rates": []}
    for cell, files in sorted(cells.items()):
        groups = {group for decisions in files.values() for group in decisions}
        whole = [own for own in files.values() if own.keys() == groups]
        if len(whole) < len(files):
            lacking = counted(len(files) - len(whole), "file")
            notes.append(f"{', '.join(cell)}: ungraded, for want of a group: {lacking}")
        if len(groups) < 2:
            notes.append(f"{', '.join(cell)}: left out, its decisions are all for one group: {', '.join(groups)}")
        if not whole or len(groups) < 2:
            continue
        row = published.get(cell)
        figures.append(_figure(cell, files, groups, None if row is None else row["CFR"]))
        if row is not None:
            spread = sum(_span([score for _, score in own.values()]) for own in whole) / len(whole)
            gap = _span([sum(own[group][0] for own in whole) / len(whole) for group in groups])
            others["spreads of scores"].append(is_met(spread, row["MASD"]))
            others["gaps of rates"].append(is_met(gap, row["rate_disparity"]))
    if unanswered := sorted(published.keys() - cells.keys()):
        notes.append(
            f"{counted(len(unanswered), 'published cell')} without decisions, such as {', '.join(unanswered[0])}"
        )
    return Recomputed(figures, notes, others)


def _figure(
    cell: Cell, files: Mapping[str, Mapping[str, tuple[bool, float]]], groups: Collection[str], published: float | None
) -> AuditedFigure:
    """Return the flip rate of a cell, of its files with a decision for each group; the others may have flipped."""
    rows = [
        {"item": name, "flipped": len({yes for yes, _ in own.values()}) > 1 if own.keys() == groups else None}
        for name, own in files.items()
    ]
    flips = [bool(row["flipped"]) for row in rows if row["flipped"] is not None]
    sample = Measured.from_rows(rows, item="item", groups=[], extremes={"flipped": lambda _: (False, True)})
    model, domain, scaffold = cell
    subject = {"domain": domain, "scaffold": scaffold}
    return AuditedFigure(model, subject, sum(flips) / len(flips), published, {"files": sample.rate("flipped")})


def _read_decisions(folder: Path) -> dict[Cell, dict[str, dict[str, tuple[bool, float]]]]:
    """Return the decision and the score of each group, by cell and file."""
    cells: dict[Cell, dict[str, dict[str, tuple[bool, float]]]] = {}
    files = line_files(folder)
    # The publisher's first files lack a scaffold, and stand beside those that have all.
    first = [path.with_name(path.name.replace("_full_raw.", "_raw.")) for path in files if "_full_raw." in path.name]
    for where, record in (record for path in files if path not in first for record in read_records(path, RECORD)):
        if "decision" not in record:
            continue  # the publisher's profiles stand beside the decisions
        model, domain, scaffold, name, group = (
            field(record, key, str, where) for key in ("model", "domain", "scaffold", "profile_id", "group")
        )
        decision = field(record, "decision", dict, where)
        yes = [value for name, value in decision.items() if isinstance(value, bool) and name != _TOOL]
        scores = [number(value, name, where) for name, value in decision.items() if is_number(value)]
        of_file = cells.setdefault((model, domain, scaffold), {}).setdefault(name, {})
        if not decision:
            continue
        if len(yes) != 1 or len(scores) != 1:
            raise FairnessError(f"{where}: decision is {decision!r:.60}: it must have one true or false, one number")
        if group in of_file:
            raise FairnessError(f"{where}: the file {name} has occurred for {group} before")
        of_file[group] = yes[0], scores[0]
    return cells


def _published(path: Path) -> Mapping[Cell, Mapping[str, float]]:
    """Return the published figures of each cell, by their name in the report."""
    cells = field(read_document(path, "a report"), "cells", dict, str(path))
    named = ("model", "domain", "scaffold")
    found = {}
    for name in cells:
        where = f"{path}, {name}"
        cell = field(cells, name, dict, where)
        model, domain, scaffold = (field(cell, key, str, where) for key in named)
        found[model, domain, scaffold] = {
            figure: number(field(cell, figure, dict, where).get(value), value, where) for figure, value in _FIGURES
        }
    return found


def _span(values: list[float]) -> float:
    return max(values) - min(values)
