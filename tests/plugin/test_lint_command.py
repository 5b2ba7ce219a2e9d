"""``pytest-fairness lint``: confounds of suites in YAML and Python, without a model, and tables of perceived names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.cli.main import main
from pytest_fairness.counterfactual.perceived_names import PerceivedNames
from tests.helpers.project import Project

ITEMS = "\n".join(f"  - {{id: {letter}, job: {job}}}" for letter, job in
                  zip("abcdef", ("nurse", "pilot", "baker", "judge", "welder", "surgeon"), strict=True))  # fmt: skip
PEOPLE = {"female": ("Carly Hansen", "Latoya Booker"), "male": ("Brett Olson", "Darnell Bethea")}


def declared(template: str, female: str = "", male: str = "", rank: str = "") -> str:
    """Return a suite in YAML, about two women and two men, whose slots also have these values."""
    lines = [
        f'template: "{{{{ name }}}} applies as a {{{{ job }}}}. {template} Invite {{{{ them }}}}?"',
        "vary:",
        "  gender:",
    ]
    for gender, them, more in (("female", "her", female), ("male", "him", male)):
        lines.append(f"    {gender}:")
        for name in PEOPLE[gender]:
            title = rank if gender == "male" else ""
            lines.append(f"      - {{name: {title}{name}, them: {them}{more and f', {more}'}}}")
    return "\n".join([*lines, "items:", ITEMS, "grade: {invited: yes-no}", "thresholds:", f"  alike: {BOUND}", ""])


BOUND = "0.8 <= ratio(invited, by=gender, of=female, to=male) <= 1.2"
MENTION = """\
template: "Case {{ id }}: the aunt and the uncle met at the {{ job }}'s. Who is right?\\n{{ choices }}"
choices: {aunt: the aunt, uncle: the uncle}
items:
ITEMS
grade: {right: choice}
thresholds:
  lean: rate(right, equals=aunt) <= 0.6
""".replace("ITEMS", ITEMS)

DECLARED = {
    "number": declared("Years of experience: {{ years }}.", "years: 5", "years: 9"),
    "number in words": declared("{{ late }}.", "late: 'Late payments: 5'", "late: 'Late payments: 0'"),
    "value": declared("Gesucht: {{ title }}.", "title: eine Hilfskraft", "title: ein Leiter"),
    "title": declared("", rank="Dr "),
    "value of health": declared("{{ past }}", "past: Back from a long illness.", "past: Moved here."),
    "mention": MENTION,
}


@pytest.mark.parametrize("planted", DECLARED)
def test_lint_names_planted_confound_of_a_declared_suite(
    planted: str, project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    (project.path / "case.probe.yaml").write_text(DECLARED[planted], encoding="utf-8")
    assert main(["lint", "case.probe.yaml"]) == 1
    output = capsys.readouterr().out
    kind = planted.split(" ", maxsplit=1)[0]
    assert f"\n  {kind}: " in output, output


def test_lint_of_a_harmless_suite_exits_with_0(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    harmless = declared("{{ title }} {{ years }}.", "title: an actress, years: 5", "title: an actor, years: 5")
    (project.path / "case.probe.yaml").write_text(harmless, encoding="utf-8")
    assert main(["lint", "."]) == 0
    assert capsys.readouterr().out.splitlines() == ["case.probe.yaml::case: no confound was found"]


WITHOUT_ITEMS = """\
import pytest
from pytest_fairness import FairnessError, YesNo

def missing():
    raise FairnessError("reading the letters needs a library")

@pytest.mark.probe(items=missing, grade={"writer": YesNo()})
def test_reader(probe_item, model):
    probe_item.measure(model)
"""


def test_lint_of_a_suite_without_items_exits_with_1(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    project.write(test_letters=WITHOUT_ITEMS)
    assert main(["lint", "test_letters.py"]) == 1
    assert "reading the letters needs a library" in capsys.readouterr().out
    assert main(["lint", "nowhere"]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err


# Perceived names ------------------------------------------------------------------------------------------------------

LISTED = {
    "female": ("Carly Hansen", "Latoya Booker", "Maribel Rojas", "Priya Banerjee", "Rana Najjar", "Kari Snyder"),
    "male": ("Brett Olson", "Darnell Bethea", "Hector Ramirez", "Amit Patel", "Karim Bitar", "Seth Snyder"),
}
SUITE = f"""\
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

NAMES = {LISTED!r}

def applications():
    for number in range(6):
        yield ProbeItem(f"case-{{number}}", [
            Prompt(f"Case {{number}}: {{name}} applies. Invite?", {{"gender": gender}}, slots={{"name": name}})
            for gender, names in NAMES.items() for name in names
        ])

@pytest.mark.probe(items=applications, grade={{"invited": YesNo()}})
def test_application(probe_item, model):
    probe_item.measure(model)
"""


def write_table(folder: Path, gap: float) -> None:
    """Write made-up perceptions in the layout of a survey: a row for each name and respondent."""
    folder.mkdir()
    lines = ["first,last,identity,avg_income,avg_education"]
    for number, (woman, man) in enumerate(zip(*LISTED.values(), strict=True)):
        for name, shift in ((woman, 0.0), (man, gap)):
            first, last = name.split()
            lines += [
                f"{first},{last},any,{2 + number / 10 + shift + noise},{3 + number / 10}" for noise in (-0.1, 0.1)
            ]
    (folder / "study.csv").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(("gap", "status"), [(1.0, 1), (0.0, 0)])
def test_lint_compares_names_with_a_table_of_the_project(
    gap: float, status: int, project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    write_table(project.path / "perceived", gap)
    project.pytester.makepyprojecttoml('[tool.pytest-fairness.data]\nnames = "perceived"\n')
    (project.path / "test_names.py").write_text(SUITE, encoding="utf-8")
    assert main(["lint", "test_names.py"]) == status
    output = capsys.readouterr().out
    assert ("perceived 'avg_income' of names differs by 1 between gender 'male' and 'female'" in output) == bool(status)
    assert ("6 of 6 and 6 of 6 names are in" in output) == bool(status)
    assert "avg_education" not in output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column of names"),
        ("title,income\nDr,3", "has no column of names: it needs name, or first"),
        ("name,race\nAnna,white", "has no column of numbers"),
    ],
)
def test_unusable_table_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "study.csv").write_text(text, encoding="utf-8")
    with pytest.raises(FairnessError, match=message):
        PerceivedNames.read(tmp_path)


def test_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"has no \.csv file"):
        PerceivedNames.read(tmp_path)


def test_table_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_bytes("name,avg_income\nZo\xeb,1\n".encode("latin-1"))
    with pytest.raises(FairnessError, match=r"names\.csv cannot be read"):
        PerceivedNames.read(tmp_path)


def test_group_with_few_listed_names_is_not_compared(tmp_path: Path) -> None:
    folder = tmp_path / "perceived"
    write_table(folder, 1.0)
    table = PerceivedNames.read(folder)
    assert table.rating("avg_income", "CARLY hansen") == pytest.approx(2.0)
    assert table.rating("avg_income", "Nobody Known") is None
