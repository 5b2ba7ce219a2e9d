"""Rankings of résumés: the published layouts, the published figures, verdicts by interval, and bad files."""

from __future__ import annotations

import json
import lzma
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["bloomberg"]
GROUPS = ("older", "younger", "unmarked")


def runs(count: int, chances: dict[str, float], *, job: str = "baker", seed: int = 1) -> list[dict[str, Any]]:
    """Return runs of three résumés; the group that is ranked first is drawn by these chances."""
    chance = random.Random(f"{seed}/{job}")
    records = []
    for number in range(count):
        groups = chance.sample(GROUPS, k=3)
        names = [f"{group.title()} Name{chance.randrange(40)}" for group in groups]
        first = chance.choices(groups, [chances[group] for group in groups])[0]
        order = sorted(zip(groups, names, strict=True), key=lambda pair: (pair[0] != first, chance.random()))
        answer = "\n".join(f"{rank}. {name.upper()}" for rank, (_, name) in enumerate(order, 1))
        records.append({"job": job, "run": f"run_{number}", "names": names, "groups": groups, "answer": answer})
    return records


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    path.write_bytes(lzma.compress(text.encode()) if path.suffix == ".xz" else text.encode())


def write_repository(folder: Path, records: list[dict[str, Any]], model: str = "some-model") -> None:
    """Write runs in the publisher's layout, a file each, with the résumés in the prompt."""
    for record in records:
        path = folder / "data/intermediary/resume_ranking" / model / record["job"] / "0101" / f"{record['run']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        cvs = [f"**{name}**\n\nrésumé number {number}" for number, name in enumerate(record["names"])]
        context = {
            "job": record["job"],
            "default_order": record["names"],
            "demo_order": record["groups"],
            "inputs": "Rank these:\n\n" + "<hr>\n\n".join(cvs) + "<hr>",
        }
        choices = [{"message": {"content": record["answer"]}}]
        path.write_text(json.dumps({"choices": choices, "context": context}), encoding="utf-8")


ALIKE = dict.fromkeys(GROUPS, 1.0)
UNLIKE = ALIKE | {"older": 0.25}


def test_a_gap_is_unfair_and_equal_chances_are_not(tmp_path: Path) -> None:
    write_lines(tmp_path / "new-model.jsonl", [*runs(500, ALIKE, job="equal"), *runs(500, UNLIKE, job="unequal")])
    audit = judge(AUDIT, tmp_path)
    verdicts = {tuple(figure.subject.values()): figure.judged.verdict.value for figure in audit.figures}
    assert verdicts["unequal", "older"] == "unfair"
    assert "unfair" not in [verdict for (job, _), verdict in verdicts.items() if job == "equal"]
    assert audit.families == {"new-model, equal": audit.families["new-model, equal"], "new-model, unequal": "unfair"}


def test_all_layouts_give_the_same_figures(tmp_path: Path) -> None:
    records = runs(60, UNLIKE)
    for name in ("lines", "packed", "repository"):
        (tmp_path / name).mkdir()
    write_lines(tmp_path / "lines" / "some-model.jsonl", records)
    write_lines(tmp_path / "packed" / "some-model.jsonl.xz", records)
    write_repository(tmp_path / "repository", records)
    plain, packed, whole = (judge(AUDIT, tmp_path / name) for name in ("lines", "packed", "repository"))
    lines = [list(audit.lines())[2:5] for audit in (plain, packed, whole)]
    assert lines[0] == lines[1]
    assert [figure.value for figure in plain.figures] == [figure.value for figure in whole.figures]
    ends = [[(f.judged.low, f.judged.high) for f in audit.figures] for audit in (plain, whole)]
    assert ends[0] == [pytest.approx(end) for end in ends[1]]
    names = [interval.name for interval in whole.figures[0].intervals]
    assert names == ["runs", "runs and résumés", "runs and names"]


def test_a_published_figure_that_differs_fails_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "m.jsonl", runs(80, UNLIKE))
    figures = judge(AUDIT, tmp_path).figures
    rows = [f"m,baker,{figure.subject['group']},0.1,{figure.value!r}" for figure in figures]
    published = tmp_path / "published.csv"
    published.write_text("\n".join(["model,job,demo,selection_rate,disparate_impact_ratio", *rows]), encoding="utf-8")
    assert judge(AUDIT, tmp_path).figures[0].is_equal
    published.write_text(published.read_text(encoding="utf-8").replace(rows[0], "m,baker,older,0.1,0.5"), "utf-8")
    assert main(["audit", "bloomberg", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "1 of 2 published figures are met to the digit" in out
    assert "differs: m, baker, older: published 0.5" in out


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("m,baker", ", row 2: no published ratio"),
        (f'm,baker,"{"x" * 200_000}",1,1', " cannot be read: field larger than"),
    ],
    ids=["short", "too-long"],
)
def test_broken_table_of_published_figures_is_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, message: str
) -> None:
    write_lines(tmp_path / "m.jsonl", runs(80, UNLIKE))
    head = "model,job,demo,selection_rate,disparate_impact_ratio"
    (tmp_path / "published.csv").write_text(f"{head}\n{row}\n", encoding="utf-8")
    assert main(["audit", "bloomberg", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"published.csv{message}" in error
    assert error.count("\n") == 1


def test_a_missing_name_is_last_and_equal_places_keep_their_order(tmp_path: Path) -> None:
    record = runs(1, ALIKE)[0]
    for number in range(10):
        record = {**record, "run": str(number), "names": ["Ann", "Bob", "Cy"], "groups": list("abc")}
        write_lines(tmp_path / f"m{number}.jsonl", [{**record, "model": "m", "answer": "CY first, then bob"}])
    audit = judge(AUDIT, tmp_path)
    assert {figure.subject["group"]: figure.value for figure in audit.figures} == {"a": 0.0, "b": 0.0}
    assert {figure.judged.verdict.value for figure in audit.figures} <= {"unfair", "invalid", "undecided"}
    assert "10 answers lack a name" in " ".join(audit.notes)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no-job": ({"job": None}, "job is None: it must be a text"),
    "one-group": ({"groups": ["a", "b"]}, "3 names, 2 groups"),
    "names-recur": ({"names": ["Ann", "ANN", "Bob"]}, "two résumés have the same name"),
    "names-are-text": ({"names": "Ann"}, "names are 'Ann': write a list"),
    "no-answer": ({"answer": 3}, "answer is 3: it must be a text"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_records_are_named_in_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, message = BROKEN[name]
    record = {**runs(1, ALIKE)[0], "names": ["Ann", "Bob", "Cy"], **change}
    write_lines(tmp_path / "m.jsonl", [record])
    assert main(["audit", "bloomberg", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "m.jsonl:1" in error
    assert error.count("\n") == 1


def test_odd_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="is not there: name the folder of the download"):
        judge(AUDIT, tmp_path / "none")
    with pytest.raises(FairnessError, match="holds nothing to judge: it needs data"):
        judge(AUDIT, tmp_path)
    (tmp_path / "m.jsonl.xz").write_bytes(b"no xz")
    with pytest.raises(FairnessError, match="is no file of xz"):
        judge(AUDIT, tmp_path)
    (tmp_path / "m.jsonl.xz").unlink()
    write_lines(tmp_path / "m.jsonl", [runs(1, ALIKE)[0]] * 2)
    with pytest.raises(FairnessError, match=r"run 'run_0' of m, baker stands at .*m.jsonl:1 already"):
        judge(AUDIT, tmp_path)


def test_files_hold_figures_only(tmp_path: Path) -> None:
    write_lines(tmp_path / "m.jsonl", runs(60, UNLIKE))
    chart, results = tmp_path / "out" / "audit.svg", tmp_path / "out" / "audit.json"
    command = ["audit", "bloomberg", str(tmp_path), "--chart", str(chart), "--json", str(results)]
    assert main(command) == 0
    assert main(command) == 0, "its own files are written again"
    document = json.loads(results.read_text(encoding="utf-8"))
    assert {figure["subject"]["group"] for figure in document["figures"]} < set(GROUPS)
    assert "<style>\nsvg {" in chart.read_text(encoding="utf-8"), "escaped line ends would spoil its selectors"
    for text in (chart.read_text(encoding="utf-8"), json.dumps(document)):
        assert "Name" not in text.replace("runs and names", "")
    assert main([*command[:-1], str(tmp_path / "m.jsonl")]) == 2, "the data are not written over"


@pytest.mark.slow
def test_published_figures_are_met_to_the_digit() -> None:
    audit = judge(AUDIT, recorded_path("evidence", "bloomberg"))
    assert [figure.is_equal for figure in audit.figures] == [True] * 14
    assert audit.others["selection rates"] == [True] * 16
    judged = {tuple(figure.subject.values()): figure.judged for figure in audit.figures}
    assert (round(judged["HR specialist", "W_M"].low, 3), round(judged["HR specialist", "W_M"].high, 3)) == (
        0.402,
        0.697,
    )
    assert sum(figure.breach for figure in audit.figures) == 7
    assert sum(interval.verdict == "unfair" for interval in judged.values()) == 4
