"""The field `placebo` of a declaration: other wordings of its template, and flips beside theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.placebos import with_placebos
from pytest_fairness.declarative.probe import read_probes
from tests.helpers.project import Project, in_one_process

VISIT = """\
template: "{{ name }} asks to visit room {{ room }}. Let {{ them }} in? Yes or no."
placebo:
  - "May {{ name }} visit room {{ room }}? Yes or no."
vary:
  gender:
    woman: {name: Anna, them: her}
    man: {name: Ben, them: him}
items: [{id: a, room: "1"}, {id: b, room: "2"}, {id: c, room: "3"}, {id: d, room: "4"}, {id: e, room: "5"},
        {id: f, room: "6"}]
grade: {let_in: yes-no}
thresholds:
  few are let in by their name: flips(let_in, by=gender) <= 0.2
"""


def test_wordings_are_filled_in_for_the_person_of_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "visit.probe.yaml").write_text(VISIT, encoding="utf-8")
    (probe,) = read_probes(tmp_path / "visit.probe.yaml")
    items = with_placebos(probe.arguments["items"], probe.arguments["placebo"])
    names = {"woman": "Anna", "man": "Ben"}
    for item in items:
        *_, reworded = item.prompts
        assert len(item.prompts) == 3
        room = item.metadata["room"]
        assert reworded.text == f"May {names[reworded.groups['gender']]} visit room {room}? Yes or no."


def test_unknown_name_in_a_wording_is_refused_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "visit.probe.yaml").write_text(VISIT.replace("May {{ name }}", "May {{ nam }}"), encoding="utf-8")
    with pytest.raises(FairnessError, match=r":3.*nothing fills in \{\{ nam \}\}"):
        read_probes(tmp_path / "visit.probe.yaml")


@in_one_process
def test_declared_flips_are_judged(project: Project) -> None:
    (project.path / "visit.probe.yaml").write_text(VISIT, encoding="utf-8")
    output = project.run("--fairness-model=simulated:x", "--fairness-report=none").stdout.str()
    assert project.results()["run"]["attempts"] == 18
    (row,) = project.rows()
    assert row["metric"] == "flips(let_in; gender)"
    assert row["groups"].keys() == {"another gender", "another wording"}
    assert "confound" not in output
