"""Terminal output: the work ahead, the table of verdicts, and their error rates."""

from __future__ import annotations

import json
import re

import pytest

from pytest_fairness.plugin.compat import terminal_width
from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, in_one_process, shown, unwrapped

LONG = "test_" + "_".join(["women_and_men_of_every_age_and_origin_are_hired_alike"] * 3)

RATES = {"woman": 0.7, "man": 0.95, "elder": 0.3}

TESTS = (
    project_sources.threshold(f"assert 0.5 <= {project_sources.RATIO} <= 1.3", name=LONG),
    project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.123456789', name="test_ratios"),
    project_sources.threshold(f"assert {project_sources.RATIO} >= 0.75", name="test_open"),
    project_sources.threshold('assert measured.where(gender="nobody").rate("hired") >= 0.3', name="test_nobody"),
    project_sources.threshold("pass", name="test_nothing"),
)


def ours(result: pytest.RunResult) -> list[str]:
    """Return the lines of our own sections, and of the work ahead."""
    lines = result.outlines
    start = next((number for number, line in enumerate(lines) if "= fairness: " in line), None)
    section = []
    for line in lines[start:] if start is not None else []:
        if line.startswith("==") and "fairness" not in line:
            break
        section.append(line)
    return [line for line in lines if line.startswith("fairness: ")] + section


def write(project: Project, *tests: str) -> None:
    project.write_suite(*(tests or TESTS), conftest=project_sources.application(RATES), groups=tuple(RATES))


@in_one_process
def test_lines_fit_the_terminal_width(project: Project) -> None:
    write(project)
    lines = ours(project.run())
    assert len(lines) > 10
    # A path is not broken.
    assert [line for line in lines if len(line) > 80 and not line.startswith("results: ")] == []


@pytest.mark.parametrize("width", [40, 100, 160])
def test_other_terminal_widths_are_respected(project: Project, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    write(project)
    lines = ours(project.run("-m", "threshold"))
    table = [line for line in lines if re.search(r"(fair|unfair|undecided|invalid)$", line)]
    assert len(table) >= 5
    if width >= 80:
        assert max(map(len, [line for line in lines if not line.startswith("results: ")])) <= width


TITLES = {
    "test_wide": "\u5973\u6027\u548c\u7537\u6027\u88ab\u540c\u7b49\u96c7\u7528",
    "test_combining": "Les fe\u0301es et les elfes sont embauche\u0301s aux me\u0302mes taux",
    "test_longest": "\u7537" * 70,
    "test_plain": "Women and men are hired equally often",
}


@pytest.mark.parametrize("color", ["no", "yes"])
@pytest.mark.parametrize("width", [60, 80, 120])
@in_one_process
def test_wide_and_combining_characters_keep_the_columns(
    project: Project, width: int, color: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    body = f"assert 0.5 <= {project_sources.RATIO} <= 1.3"
    tests = [
        project_sources.threshold(body, name=name).replace(
            "(probe=test_hiring", f"(probe=test_hiring, title={title!r}", 1
        )
        for name, title in TITLES.items()
    ]
    assert all("title=" in test for test in tests)
    write(project, *tests)
    result = project.run("-m", "threshold", f"--color={color}")
    assert ("\x1b[" in shown(result)) == (color == "yes")
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in result.outlines]
    start = next(index for index, line in enumerate(lines) if "= fairness: " in line)
    section = [line for line in lines[start:] if not line.startswith("results: ")]
    assert max(map(terminal_width, section)) <= width
    estimates = [re.match(r"(.*?)\d\.\d+ \(", line) for line in section]
    columns = {terminal_width(match[1]) for match in estimates if match and line_of_numbers(match)}
    assert len(columns) == 1
    shown_titles = "".join(line.strip() for line in section)
    assert all(title.replace(" ", "") in shown_titles.replace(" ", "") for title in TITLES.values())


def line_of_numbers(match: re.Match[str]) -> bool:
    """Return whether a line holds an estimate with its verdict, as those of the table do."""
    return match.string.endswith(("fair", "unfair", "undecided"))


@in_one_process
def test_verdict_table_is_printed(project: Project) -> None:
    write(project)
    lines = ours(project.run())
    assert any(re.match(r"=+ fairness: function:conftest\.application =+$", line) for line in lines)
    assert any(re.match(r" +threshold +estimate \(95\.5% CI\) +bounds +mark +verdict$", line) for line in lines)
    assert any(re.match(r"   nobody +- +>= 0\.3 +- +invalid$", line) for line in lines)
    assert any(
        re.match(r"   open +0\.\d{3,} \(0\.\d{3,} to \d\.\d{3,}\) +>= 0\.75 +B +undecided$", line) for line in lines
    )
    title = next(index for index, line in enumerate(lines) if line.startswith("   women and men of every age"))
    assert any(re.match(r" +0\.\d{3,} \(.*\) +0\.5 to 1\.3 +B +fair$", line) for line in lines[title : title + 4])


def test_titles_are_whole_and_worst_comes_first(project: Project) -> None:
    names = [f"test_women_and_men_of_all_ages_advance_alike_in_{country}" for country in ("spain", "sweden")]
    bodies = (f"assert 0.5 <= {project_sources.RATIO} <= 1.3", "assert measured.rate('hired') <= 0.123456")
    write(project, *(project_sources.threshold(body, name=name) for body, name in zip(bodies, names, strict=True)))
    lines = ours(project.run("-m", "threshold"))
    titles = [line.strip() for line in lines if line.startswith("   women and men")]
    assert titles == [name.removeprefix("test_").replace("_", " ") for name in reversed(names)]
    estimates = [re.match(r" +([\d.]+) \(", line) for line in lines]
    assert len({match.end() for match in estimates if match}) == 1, "numbers of one column have the same precision"
    assert any("180 attempts (0 from earlier runs), 0 ungraded (0.0%)" in line for line in lines)


@every_mode
def test_planned_work_is_printed_before_the_first_request(project: Project) -> None:
    write(project)
    lines = project.run().outlines
    (index,) = [number for number, line in enumerate(lines) if line.startswith("fairness: ")]
    assert re.match(r"fairness: 1 probe, 60 items, 180 attempts\b.*", lines[index])
    first = next(number for number, line in enumerate(lines) if re.match(r"(test_hiring\.py )?\.{5}", line))
    assert index < first


def test_planned_work_names_models_and_selection(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    models = ("--fairness-model=simulated:a", "--fairness-model=simulated:b")
    summary = ours(project.run(*models, "-k", "person-0001"))[0]
    assert re.match(r"fairness: 1 probe, 1 item, 4 attempts on simulated:a, simulated:b$", summary)


def test_simulated_models_are_labeled(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    result = project.run("--fairness-model=simulated:fair?base=0.95")
    assert any(line.strip().startswith("simulated: ") for line in ours(result))


def test_several_models_behind_one_name_are_named(project: Project) -> None:
    people = [(number, group) for number in range(60) for group in ("woman", "man")]
    lines = [
        {
            "prompt": f"Should a {group} of profile {number} be hired?",
            "text": "No." if number % 9 == 0 else "Yes.",
            "served_by": "large" if group == "man" else "small",
        }
        for number, group in people
    ]
    (project.path / "routed.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    project.write(test_hiring=project_sources.suite())
    text = unwrapped(project.run("--fairness-model=replay:routed.jsonl"))
    assert "2 models answered under this name, as the server says: large (60 answers), small (60 answers)" in text
    assert "woman was answered by small, and man by large" in text
    assert project.row()["verdict"] == "invalid"


def test_each_model_has_its_own_table(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    result = project.run("--fairness-model=simulated:a?base=0.9", "--fairness-model=simulated:b?base=0.8")
    heads = [line for line in ours(result) if line.startswith("==")]
    assert len(heads) == 2
    assert "fairness: simulated:a =" in heads[0]
    assert "fairness: simulated:b =" in heads[1]


@pytest.mark.parametrize("option", ["-q", "-qq", "--no-summary", "--no-header", "-rA", "--tb=no", "--color=yes", "-s"])
def test_terminal_options_do_not_crash(project: Project, option: str) -> None:
    write(project)
    result = project.run("-m", "threshold", option)
    assert result.ret == INVALID_CODE
    assert "INTERNALERROR" not in shown(result)


def test_run_without_a_terminal_reporter_works(project: Project) -> None:
    write(project)
    result = project.run("-m", "threshold", "-p", "no:terminal")
    assert result.ret == INVALID_CODE
    assert len(project.rows()) == 5


def test_unselected_probes_print_nothing(project: Project) -> None:
    write(project, project_sources.THRESHOLD, "def test_plain(): pass\n")
    result = project.bare_run("-k", "test_plain")
    assert not ours(result)
    assert not project.store.exists()


def test_unusual_texts_do_not_break_the_table(project: Project) -> None:
    groups = ("wömän\x1b[31m", "男" * 30, "a\nb")
    tests = project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.1')
    source = project_sources.suite(tests, groups=groups).replace("Should a", "Should a man or a")
    project.write(conftest=project_sources.application(), test_hiring=source)
    result = project.run("-m", "threshold")
    assert "\x1b[31m" not in shown(result)
    assert "INTERNALERROR" not in shown(result)


RECORDING = f"""\
from functools import partial
for part in (measured, *(measured.where(gender=gender) for gender in measured.groups("gender"))):
    part.record(part.rate("hired"), column="hired")
    share = partial(part.metric, lambda s: s.yes / s.n, yes=lambda a: a["hired"], n=lambda a: 1)
    part.record(share, column="share")
assert 0.5 <= {project_sources.RATIO} <= 1.3
"""


def table_by_group(lines: list[str]) -> dict[str, list[str]]:
    """Return the cells of the tables by group, by the names of their rows."""
    start = lines.index(" hiring, by group")
    rows: dict[str, list[str]] = {}
    for line in lines[start + 1 :]:
        if not line.startswith("   "):
            break
        name, *cells = line.split()
        rows.setdefault(name, []).extend(cells)
    return rows


def test_recorded_columns_are_a_table_by_group(project: Project) -> None:
    """Record an estimate again, without a column, in a later threshold: it stays in the table."""
    again = project_sources.threshold('measured.record(measured.rate("hired"))\nassert measured.rate("hired") >= 0.1',
                                      name="test_again")  # fmt: skip
    write(project, project_sources.threshold(RECORDING), again)
    rows = table_by_group(ours(project.run()))
    assert rows.pop("hired") == ["share"]
    metrics = [row for row in project.results()["metrics"] if row["metric"] == "rate(hired)"]
    expected = {row["slice"].get("gender", "all"): f"{row['estimate']:.3f}" for row in metrics}
    assert expected.keys() == {"all", *RATES}
    assert rows == {name: [value, value] for name, value in expected.items()}


@in_one_process
def test_table_by_group_has_values_without_a_verdict(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    columns = RECORDING.replace('column="share"', 'column="a share of all that is long"')
    write(project, project_sources.threshold(columns))
    lines = ours(project.run("--fairness-sample=3"))
    assert any(line.endswith("invalid") for line in lines)
    assert [line for line in lines[lines.index(" hiring, by group") :][:11] if len(line) >= 40] == []
    rows = table_by_group(lines)
    assert {len(rows[name]) for name in ("all", *RATES)} == {2}
    for row in project.results()["metrics"]:
        if row["column"] == "hired":
            assert row["estimate"] is None
            assert rows[row["slice"].get("gender", "all")][0] == f"{row['observed']:.3f}"


@in_one_process
def test_recorded_estimates_without_a_column_have_no_table(project: Project) -> None:
    write(project, project_sources.threshold(re.sub(", column=[^)]*", "", RECORDING)))
    assert not any("by group" in line for line in project.run().outlines)
