"""The evidence map in a run: in the results file and the report, of pyproject.toml, and when malformed."""

from __future__ import annotations

import json

import pytest

from tests.helpers.project import Project, in_one_process, shown

EVIDENCE = '[tool.pytest-fairness]\nevidence = "laws.toml"\n'
ENTRY = """\
[[clause]]
framework = "House <script>alert(1)</script>"
clause = "7"
subject = "Nobody is left out & <b>behind</b>."
relation = "Counts."
source = "https://example.org/rules"
as_of = 2020-02-03
match = [{probe = ["test_hiring"]}]
"""


@in_one_process
def test_own_clause_is_in_results_and_report(project: Project) -> None:
    project.write_suite()
    (project.path / "pyproject.toml").write_text(EVIDENCE)
    (project.path / "laws.toml").write_text(ENTRY)
    options = [f"--fairness-{name}" for name in ("json=results.json", "report=report.html")]
    result = project.run(*options)
    assert "INTERNALERROR" not in shown(result)
    evidence = json.loads((project.path / "results.json").read_text())["evidence"]
    (entry,) = [entry for entry in evidence if entry["clause"] == "7"]
    assert (entry["where"], entry["as_of"]) == ("laws.toml:1", "2020-02-03")
    assert [threshold["verdict"] for threshold in entry["thresholds"]]
    page = (project.path / "report.html").read_text()
    assert "It is never a claim of compliance" in page
    assert (
        "1 clause of this table: checked against the text over 180 days before this run. Read the text again." in page
    )
    assert "checked on 2020-02-03: over 180 days before this run" in page
    assert "<script>alert(1)" not in page
    assert "<b>behind" not in page
    assert "House &lt;script&gt;" in page


def test_malformed_map_ends_the_run_before_the_first_test(project: Project) -> None:
    project.write_suite()
    (project.path / "laws.toml").write_text(ENTRY.replace("subject", "subjct"))
    (project.path / "pyproject.toml").write_text(EVIDENCE)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "laws.toml:4: an entry has no field 'subjct'; did you mean 'subject'" in shown(result)
    assert not project.calls(), "nothing was requested"
