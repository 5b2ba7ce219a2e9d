"""Accepted verdicts in a run: the test's outcome, every output, and what breaks an acceptance."""

from __future__ import annotations

import html
import json
import re
import shutil
import tomllib
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pytest_fairness.cli.main import main
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, shown

TODAY = datetime.now(UTC).date()
LATER = (TODAY + timedelta(days=30)).isoformat()
FAIR = 'assert measured.rate("hired") >= 0.1'
HOSTILE = 'a <b>"review"</b> ::error:: \\u202e {{ 7 * 7 }} | ' + "x" * 900
TITLES = (
    "<script>alert(1)</script> | a || b {{ 7 * 7 }}",
    "**bold** __under__ [link](javascript:alert(1)) @someone #12 &lt;b&gt;",
    "::error file=x::injected %0A ]]> <!-- --> </details>",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f4bb \u05d0\u00a0?",
)
"""Markup, a command of the runner, and ordinary text with joiners and a space that does not break."""
LAWS = """\
[[clause]]
framework = "<b>F</b> | **x**"
clause = "c | [l](https://example.org)"
subject = "<img src=x onerror=alert(1)>"
relation = "::warning::x | y"
source = "https://example.org/?a=1&b=%22%3E"
match = [{suite = ["*"]}]
"""


def write(project: Project, woman: float = 0.4, *tests: str) -> None:
    project.write_suite(*tests, conftest=project_sources.application({"woman": woman, "man": 0.9}, version=str(woman)))
    (project.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


def accept(project: Project, *changes: str, reason: str = "under review", until: str = LATER) -> int:
    project.pytester.chdir()
    arguments = ["accept", "latest", "test_women_and_men_alike", "--by", "Ada Bell", "--reason", reason]
    return main([*arguments, "--until", until, *changes])


@pytest.fixture(scope="module")
def accepted_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the project of `accepted`, which is copied for all tests but the first."""
    return tmp_path_factory.mktemp("accepted") / "project"


@pytest.fixture
def accepted(project: Project, accepted_folder: Path) -> Project:
    """Return a project whose only threshold was unfair, and accepted."""
    if accepted_folder.exists() and not project.mode.distributed:
        shutil.copytree(accepted_folder, project.path, dirs_exist_ok=True)
        return project
    write(project)
    assert project.run("-m", "threshold").ret == 1
    assert accept(project) == 0
    if not project.mode.distributed:
        # Compiled files name the folder in which they were compiled.
        shutil.copytree(project.path, accepted_folder, ignore=shutil.ignore_patterns("__pycache__"))
    return project


def entry(project: Project) -> dict[str, Any]:
    (acceptance,) = project.results()["acceptances"]
    return dict(acceptance)


@every_mode
def test_accepted_verdict_does_not_fail_and_keeps_its_word(accepted: Project) -> None:
    before = accepted.row()
    result = accepted.run("-m", "threshold", "--junitxml=junit.xml", "--fairness-report=page.html")
    assert result.ret == 0
    assert result.parseoutcomes()["accepted"] == 1
    assert "failed" not in result.parseoutcomes()
    row = accepted.row()
    assert (row["verdict"], row["mark"]) == (before["verdict"], before["mark"]) == ("unfair", "D")
    assert row["outcome"] == "accepted"
    assert (row["accepted"]["state"], entry(accepted)["state"]) == ("accepted", "accepted")
    (release,) = accepted.results()["release"]
    assert (release["verdict"], release["accepted"]) == ("unfair", 1)
    (skipped,) = ET.parse(accepted.path / "junit.xml").iter("skipped")  # noqa: S314 - our own
    assert skipped.attrib["message"].startswith(f"accepted until {LATER}: unfair: ")
    text = re.sub(r"\s+", " ", shown(result))
    assert "unfair (accepted)" in text
    assert re.search(r"release: unfair \(.*1 accepted", text)
    assert f"accepted until {LATER}; unfair at" in text
    page = (accepted.path / "page.html").read_text(encoding="utf-8")
    assert "Accepted verdicts" in page
    assert f"Accepted until {LATER}" in page


def test_option_lets_accepted_verdicts_fail(accepted: Project) -> None:
    result = accepted.run("-m", "threshold", "--fairness-accepted=fail")
    assert result.ret == 1
    assert f"accepted until {LATER}" in shown(result)
    (accepted.path / "pytest.ini").write_text("[pytest]\nfairness_accepted = maybe\n", encoding="utf-8")
    assert "pytest.ini:2: fairness_accepted is 'maybe': write pass or fail" in shown(accepted.run())


def test_worse_estimate_breaks_the_acceptance(accepted: Project) -> None:
    write(accepted, 0.1)
    result = accepted.run("-m", "threshold")
    assert result.ret == 1
    assert entry(accepted)["state"] == "broken"
    assert "beyond the accepted" in entry(accepted)["why"]
    assert accepted.row()["outcome"] == "failed"
    assert "is broken: ratio(hired; gender: woman/man) is" in re.sub(r"\s+", " ", shown(result))


def test_better_estimate_is_still_covered_and_fair_needs_none(accepted: Project) -> None:
    write(accepted, 0.6)
    assert accepted.run("-m", "threshold").ret == 0
    assert entry(accepted)["state"] == "accepted"
    write(accepted, 0.9)
    project_fair = accepted.run("-m", "threshold", "--fairness-repetitions=6")
    state = entry(accepted)["state"]
    assert (project_fair.ret, state) in ((0, "not needed"), (0, "accepted"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("until = .*", f"until = {TODAY - timedelta(days=1)}", "it ended on"),
        ("title = .*", 'title = "another"', "the title is"),
        ("items = .*", 'items = "0000"', "the items of the probe have changed"),
        ("graders = .*", 'graders = "0000"', "the graders have changed"),
        (r"bounds = \[.*?\]", "bounds = [0.7, 1.25]", "the bounds are 0.8 to 1.25 now"),
        ("on = .*", f"on = {TODAY + timedelta(days=2)}", "the clock shows"),
    ],
)
def test_changed_entry_covers_nothing(accepted: Project, old: str, new: str, why: str) -> None:
    file = accepted.path / "fairness-accepted.toml"
    text = file.read_text(encoding="utf-8")
    if old.startswith("until"):
        text = re.sub("(?m)^on = .*", f"on = {TODAY - timedelta(days=9)}", text)
    file.write_text(re.sub(f"(?m){old if old.startswith('bounds') else '^' + old}", new, text), encoding="utf-8")
    assert accepted.run("-m", "threshold").ret == 1
    assert why in entry(accepted)["why"]
    assert accepted.row()["verdict"] == "unfair"


def test_malformed_file_ends_the_run_in_one_line(accepted: Project) -> None:
    file = accepted.path / "fairness-accepted.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('by = "Ada Bell"\n', ""), encoding="utf-8")
    result = accepted.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "fairness-accepted.toml:4: an entry needs `by`" in shown(result)


def test_entry_of_an_unknown_threshold_is_refused(accepted: Project) -> None:
    file = accepted.path / "fairness-accepted.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("::test_women_and_men_alike", "::test_women_and_men"), encoding="utf-8")
    result = accepted.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "has no threshold 'test_women_and_men'; the nearest is 'test_women_and_men_alike'" in shown(result)


def test_entry_that_no_threshold_uses_is_listed(accepted: Project) -> None:
    file = accepted.path / "fairness-accepted.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('model = "', 'model = "other:'), encoding="utf-8")
    result = accepted.run("-m", "threshold")
    assert result.ret == 1
    assert entry(accepted)["state"] == "not used"
    assert "this run has no such threshold on this model" in re.sub(r"\s+", " ", shown(result))


def test_entry_of_a_deleted_file_is_named_and_fails_nothing(accepted: Project) -> None:
    """Keep the nightly run alive, and say in one line what to remove; also after the last day."""
    accepted.write(test_hiring=project_sources.suite(project_sources.threshold(FAIR)))
    (accepted.path / "test_hiring.py").rename(accepted.path / "test_renamed.py")
    result = accepted.run("-m", "threshold")
    assert result.ret == 0
    assert "is not used: test_hiring.py is gone: remove the entry" in re.sub(r"\s+", " ", shown(result))
    file = accepted.path / "fairness-accepted.toml"
    text = re.sub("(?m)^on = .*", f"on = {TODAY - timedelta(days=9)}", file.read_text(encoding="utf-8"))
    text = re.sub("(?m)^until = .*", f"until = {TODAY - timedelta(days=1)}", text)
    file.write_text(text, encoding="utf-8")
    result = accepted.run("-m", "threshold")
    assert (result.ret, entry(accepted)["state"]) == (0, "expired")
    assert "acceptance ended on" in re.sub(r"\s+", " ", shown(result))


def test_entry_of_a_file_without_thresholds_is_named(accepted: Project) -> None:
    accepted.write(
        test_hiring="def test_plain():\n    pass\n",
        test_other=project_sources.suite(project_sources.threshold(FAIR)),
    )
    result = accepted.run("-m", "threshold")
    assert result.ret == 0
    assert "is not used: test_hiring.py has no thresholds: remove the entry" in re.sub(r"\s+", " ", shown(result))


def test_xfail_mark_that_applies_has_priority(accepted: Project) -> None:
    body = f"assert 0.8 <= {project_sources.RATIO} <= 1.25"

    def outcome(condition: str, *args: str) -> tuple[int, str, str, str]:
        marks = f"@pytest.mark.xfail({condition}reason='known')"
        test = project_sources.threshold(body, name="test_women_and_men_alike", marks=marks)
        accepted.write(test_hiring=project_sources.suite(test))
        ret = accepted.run("-m", "threshold", *args).ret
        return int(ret), accepted.row()["outcome"], accepted.row()["verdict"], entry(accepted)["state"]

    assert outcome("") == outcome("strict=True, ") == (0, "xfailed", "unfair", "accepted")
    assert outcome("False, ") == outcome("", "--runxfail") == (0, "accepted", "unfair", "accepted")


@pytest.mark.slow
def test_acceptance_holds_over_shards_merged_stores_and_in_comparisons(
    accepted: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = ("--fairness-run=r1",)
    for shard in ("1/2", "2/2"):
        result = accepted.run(f"--fairness-shard={shard}", f"--fairness-store={shard[0]}.sqlite", *parts)
        assert result.ret == 0
        assert (entry(accepted)["state"], accepted.row()["verdict"]) == ("not used", "not judged")
        assert entry(accepted)["why"] == "the threshold was not judged in this run"
    assert main(["merge", "1.sqlite", "2.sqlite", "--out", "all.sqlite"]) == 0
    gate = ("--fairness-store=all.sqlite", *parts)
    assert accepted.run("-m", "threshold", *gate).ret == 0
    assert (accepted.row()["verdict"], entry(accepted)["state"]) == ("unfair", "accepted")
    write(accepted, 0.1)
    assert accepted.run("-m", "threshold", "--fairness-json=worse.json").ret == 1
    capsys.readouterr()
    assert main(["compare", "results.json", "worse.json", "--markdown", "c.md"]) == 0
    out = capsys.readouterr().out
    assert "unfair (accepted)" in out
    assert " worse: hiring: women and men alike: " in out
    assert "unfair (accepted)" in (accepted.path / "c.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_second_failing_estimate_is_not_covered(project: Project) -> None:
    """Check that an acceptance of the worst group, which alone is shown, does not hide another group."""
    body = 'assert measured.ratios("hired", by="gender") >= 0.8'
    groups = ("woman", "man", "person")
    rates = {"woman": 0.3, "man": 0.95, "person": 0.95}

    def write_rates() -> None:
        project.write_suite(
            project_sources.threshold(body, name="test_women_and_men_alike"),
            conftest=project_sources.application(rates, version=str(rates)),
            count=100,
            groups=groups,
        )

    write_rates()
    assert project.run("-m", "threshold").ret == 1
    first = {part["metric"] for part in project.row()["failing"]}
    assert accept(project) == 0
    assert project.run("-m", "threshold").ret == 0
    rates["person"] = 0.32
    write_rates()
    assert project.run("-m", "threshold").ret == 1
    assert {part["metric"] for part in project.row()["failing"]} > first - {"ratio(hired; gender: woman/person)"}
    assert "was not accepted" in entry(project)["why"]


@pytest.mark.slow
def test_hostile_titles_and_reasons_stay_text(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pass texts that mean something to HTML, Markdown, XML, TOML, the terminal or the runner through every output."""
    body = f"assert 0.8 <= {project_sources.RATIO} <= 1.25"
    tests = [
        f"@pytest.mark.threshold(probe=test_hiring, title={title!r})\ndef test_{number}(measured):\n    {body}\n"
        for number, title in enumerate(TITLES)
    ]
    write(project, 0.4, *tests)
    keys = '[tool.pytest-fairness]\nevidence = "laws.toml"\n'
    (project.path / "pyproject.toml").write_text(keys, encoding="utf-8")
    (project.path / "laws.toml").write_text(LAWS, encoding="utf-8")
    project.run("-m", "threshold", "--fairness-json=first.json")
    project.pytester.chdir()
    for number in range(len(TITLES)):
        owner = ["--by", "A | <i>B</i>", "--reason", HOSTILE, "--until", LATER]
        assert main(["accept", "latest", f"test_{number}", *owner]) == 0
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    result = project.run("-m", "threshold", "--fairness-report=page.html", "--junitxml=junit.xml")
    assert (result.ret, result.parseoutcomes()["accepted"]) == (0, len(TITLES))
    assert [row["threshold"] for row in project.rows()] == list(TITLES)
    assert all(entry["reason"] == HOSTILE for entry in project.results()["acceptances"])
    commands = [line for line in result.outlines if line.startswith("::")]
    assert len(commands) == len(TITLES)
    assert all(line.startswith("::notice ") and f"unfair (accepted until {LATER})" in line for line in commands)
    capsys.readouterr()
    assert main(["history", "--html", "history.html"]) == 0
    assert main(["compare", "first.json", "results.json", "--html", "compare.html", "--markdown", "compare.md"]) == 0
    printed = shown(result) + capsys.readouterr().out
    assert not re.search("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f\u202a-\u202e\u2066-\u2069]", printed)
    assert len(list(ET.parse(project.path / "junit.xml").iter("skipped"))) == len(TITLES)  # noqa: S314 - our own
    for name in ("page", "history", "compare"):
        page = (project.path / f"{name}.html").read_text(encoding="utf-8")
        assert not re.search(r"<b>|<i>B|<img|<script>alert|href=.javascript", page)
        assert html.escape(TITLES[0], quote=False) in page
        assert "{{ 7 * 7 }}" in page
    for name in ("summary", "compare"):
        tokens = MarkdownIt("commonmark").enable("table").parse((project.path / f"{name}.md").read_text("utf-8"))
        flat = [inner for token in tokens for inner in (token, *(token.children or []))]
        assert not [token for token in flat if token.type in ("link_open", "image")]
        tags = [token.content for token in flat if token.type in ("html_block", "html_inline")]
        assert all(re.match(r"</?(details|summary)\b", tag) for tag in tags)


def test_entry_is_replaced_only_when_asked(accepted: Project, capsys: pytest.CaptureFixture[str]) -> None:
    file = accepted.path / "fairness-accepted.toml"
    file.write_text(f"{file.read_text(encoding='utf-8')}\n# a comment of ours\n", encoding="utf-8")
    assert accept(accepted) == 2
    assert "fairness-accepted.toml:4: this verdict is accepted until" in capsys.readouterr().err
    assert accept(accepted, "--replace", reason="another") == 0
    text = file.read_text(encoding="utf-8")
    assert text.count("[[accepted]]") == 1
    assert 'reason = "another"' in text
    assert text.count("first = {on = ") == text.count(", renewals = 1}") == 1
    assert text.endswith("\n# a comment of ours\n")
    assert text.startswith("# fairness-accepted.toml")


@pytest.mark.parametrize("option", [[], ["--replace"]])
def test_decision_is_not_written_into_another_layout(
    accepted: Project, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    """Regression: the command ended with an IndexError, or named a line that the file does not have."""
    file = accepted.path / "fairness-accepted.toml"
    entry = tomllib.loads(file.read_text(encoding="utf-8"))["accepted"][0]
    title = entry["threshold"] if option else "other"
    values = ", ".join(
        f"{key} = {json.dumps(title if key == 'threshold' else value) if isinstance(value, str) else value}"
        for key, value in entry.items()
        if key != "estimates"
    )
    estimate = re.search(r"estimates = (\[.*?\n\])", file.read_text(encoding="utf-8"), re.DOTALL)
    assert estimate is not None
    text = f"accepted = [{{{values}, estimates = {' '.join(estimate[1].split()).replace(', ]', ']')}}}]\n"
    file.write_text(text, encoding="utf-8")
    assert accept(accepted, *option) == 2
    assert "has another layout than this command writes: add or remove the entry by hand" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--until", "2020-01-01"], "--until 2020-01-01 is over"),
        (["--until", "2099-01-01"], "at most a year after"),
        (["--until", "20270101"], "'20270101' is no date"),
        (["--reason", "a\nb"], "write one line"),
        (["--model", "none"], "the run has no model 'none'"),
    ],
)
def test_odd_arguments_are_refused(
    project: Project, capsys: pytest.CaptureFixture[str], changes: list[str], message: str
) -> None:
    write(project)
    project.run("-m", "threshold")
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(accept(project, *changes))
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (project.path / "fairness-accepted.toml").exists()


def test_results_file_can_be_accepted_without_a_store(project: Project) -> None:
    write(project)
    project.run("-m", "threshold")
    project.store.unlink()
    project.pytester.chdir()
    names = ["test_hiring.py::test_women_and_men_alike", "hiring::test_women_and_men_alike", "women and men alike"]
    arguments = ["--by", "Ada", "--reason", "x", "--until", LATER]
    for name in names:
        assert main(["accept", "results.json", name, *arguments, "--replace"]) == 0
    assert json.loads((project.path / "results.json").read_text(encoding="utf-8"))["schema"] == 2
