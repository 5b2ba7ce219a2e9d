"""Decisions that depend on the name: flip rates, published figures, and bad files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["agentfairbench"]
GROUPS = ("a", "b", "c")


def decisions(flipped: float, *, files: int = 200) -> list[dict[str, Any]]:
    """Return decisions of which this share depends on the group."""
    chance = random.Random(str(flipped))
    lines = []
    for number in range(files):
        flips, yes = chance.random() < flipped, chance.random() < 0.5
        for group in GROUPS:
            decision = {"grant": yes != (flips and group == "b"), "score": 50 + 10 * flips * (group == "b")}
            about = {"model": "m", "domain": "rent", "scaffold": "C0", "profile_id": f"file-{number}", "group": group}
            lines.append({**about, "decision": decision})
    return lines


def write(path: Path, lines: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(("flipped", "verdict"), [(0.02, "fair"), (0.1, "undecided"), (0.25, "unfair")])
def test_flip_rates_are_judged(flipped: float, verdict: str, tmp_path: Path) -> None:
    write(tmp_path / "m.jsonl", decisions(flipped))
    figure = judge(AUDIT, tmp_path).figures[0]
    assert figure.judged.verdict.value == verdict
    assert figure.value == pytest.approx(flipped, abs=0.05)


def test_published_figures_are_compared(tmp_path: Path) -> None:
    lines = decisions(0.25)
    write(tmp_path / "m.jsonl", [{"profile_id": "file-0", "text": "a profile"}, *lines])
    rate = judge(AUDIT, tmp_path).figures[0].value
    yes = {group: sum(line["decision"]["grant"] for line in lines if line["group"] == group) for group in GROUPS}
    gap = (max(yes.values()) - min(yes.values())) / 200
    cell = {"model": "m", "domain": "rent", "scaffold": "C0", "CFR": {"CFR": rate}, "MASD": {"MASD": 10 * rate}}
    report = {"cells": {"rent|C0|m": {**cell, "rate_disparity": {"disparity": gap}}}}
    (tmp_path / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    audit = judge(AUDIT, tmp_path)
    assert audit.is_equal
    assert audit.others == {"spreads of scores": [True], "gaps of rates": [True]}
    report["cells"]["rent|C0|m"]["CFR"] = {"CFR": rate + 0.005}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert not judge(AUDIT, tmp_path).is_equal


def test_incomplete_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "m.jsonl", decisions(0.5)[1:])
    audit = judge(AUDIT, tmp_path)
    assert audit.notes == ["m, rent, C0: ungraded, for want of a group: 1 file"]


def test_published_cells_without_decisions_are_noted(tmp_path: Path) -> None:
    write(tmp_path / "m.jsonl", decisions(0.02))
    cell = {"model": "other", "domain": "rent", "scaffold": "C0", "CFR": {"CFR": 0.1}, "MASD": {"MASD": 1.0}}
    report = {"cells": {"rent|C0|other": {**cell, "rate_disparity": {"disparity": 0.1}}}}
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert judge(AUDIT, tmp_path).notes == ["1 published cell without decisions, such as other, rent, C0"]


def test_missing_decisions_make_no_audit_fair(tmp_path: Path) -> None:
    lines = decisions(0.02)
    write(tmp_path / "m.jsonl", lines)
    assert judge(AUDIT, tmp_path).figures[0].judged.verdict.value == "fair"
    write(tmp_path / "m.jsonl", [line for index, line in enumerate(lines) if index % 12])
    assert judge(AUDIT, tmp_path).figures[0].judged.verdict.value == "invalid"


def test_repository_has_a_file_of_all_scaffolds(tmp_path: Path) -> None:
    """Read a tool's flag beside the decision, and no scaffold twice."""
    (tmp_path / "results/raw").mkdir(parents=True)
    lines = decisions(0.25)
    with_tool = [
        {**line, "scaffold": "C4", "decision": {**line["decision"], "request_more_info": index % 2 == 0}}
        for index, line in enumerate(lines)
    ]
    write(tmp_path / "results/raw/m_raw.jsonl", lines)
    write(tmp_path / "results/raw/m_full_raw.jsonl", [*lines, *with_tool])
    cell = {"model": "m", "domain": "rent", "scaffold": "C4", "CFR": {"CFR": 0.9}, "MASD": {"MASD": 1.0}}
    report = {"cells": {"rent|C4|m": {**cell, "rate_disparity": {"disparity": 0.1}}}}
    (tmp_path / "results/m_report.json").write_text(json.dumps(report), encoding="utf-8")
    first, second = judge(AUDIT, tmp_path).figures
    assert (first.value, first.published) == (second.value, None)
    assert (second.subject["scaffold"], second.published) == ("C4", 0.9)


def test_failed_decisions_make_no_audit_fair(tmp_path: Path) -> None:
    lines = [line if index % 12 else {**line, "decision": {}} for index, line in enumerate(decisions(0.02))]
    write(tmp_path / "m.jsonl", lines)
    assert judge(AUDIT, tmp_path).figures[0].judged.verdict.value == "invalid"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": {"grant": True}}, "it must have one true or false, one number"),
        ({"decision": {"grant": True, "hold": False, "score": 1}}, "it must have one true or false, one number"),
        ({"decision": "yes"}, "decision is 'yes': it must be an object"),
        ({"decision": {"grant": True, "score": 10**400}}, "it must be a number"),
        ({"group": None}, "group is None: it must be a text"),
        ({"group": "c", "profile_id": "file-0"}, "the file file-0 has occurred for c before"),
    ],
    ids=["no number", "two", "text", "huge", "group", "twice"],
)
def test_broken_records_are_named_in_one_line(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = decisions(0.5, files=1)
    write(tmp_path / "m.jsonl", [*lines, {**lines[-1], **change}])
    assert main(["audit", "agentfairbench", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_decisions_for_one_group_are_no_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = decisions(0.5)
    write(tmp_path / "m.jsonl", [line for line in lines if line["group"] == lines[0]["group"]])
    assert main(["audit", "agentfairbench", str(tmp_path)]) == 2
    assert "m, rent, C0: left out, its decisions are all for one group" in capsys.readouterr().err


@pytest.mark.parametrize("part", [None, 1, {"CFR": "0.5"}, {"CFR": None}])
def test_a_broken_report_is_named_in_one_line(part: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "m.jsonl", decisions(0.5))
    cell = {"model": "m", "domain": "rent", "scaffold": "C0", "CFR": part}
    (tmp_path / "report.json").write_text(json.dumps({"cells": {"c": cell}}), encoding="utf-8")
    assert main(["audit", "agentfairbench", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "report.json, c: CFR is" in error
    assert error.count("\n") == 1


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="holds nothing to judge: it needs"):
        judge(AUDIT, tmp_path)


def test_recorded_decisions_give_the_published_figures() -> None:
    audit = judge(AUDIT, recorded_path("evidence", "agentfairbench"))
    assert [figure.is_equal for figure in audit.figures] == [True] * 9
    assert audit.others == {"spreads of scores": [True] * 9, "gaps of rates": [True] * 9}
    assert {figure.judged.verdict.value for figure in audit.figures} == {"undecided"}, "twelve files decide nothing"
