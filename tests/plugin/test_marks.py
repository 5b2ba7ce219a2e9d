"""Marks in threshold tests, in the table and in the results file."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, failures, in_one_process, shown

RATES = {"man": 0.95, "woman": 0.95, "elder": 0.25, "youth": 0.8}
"""Against men, of 60 items: women a B at least, elders a D, of youths nobody can tell."""

HELPERS = """\
from pytest_fairness import MarkScale

def mark(measured, of):
    return measured.ratio("hired", by="gender", of=of, to="man").mark
"""
PROBE = project_sources.PROBE.replace("grade=", 'harm="allocation", grade=')
WOMEN, ELDERS, YOUTHS = (f'mark(measured, "{of}")' for of in ("woman", "elder", "youth"))
GAP = 'measured.difference("hired", by="gender", of="elder", to="man")'
WIDE = "scale=MarkScale(A=(0.1, 0.5), B=(0.05, 2), C=(0, 3))"


def write(project: Project, *tests: str) -> None:
    suite = project_sources.suite(HELPERS, *tests, groups=tuple(RATES), probe=PROBE)
    # The helpers come after the head, and before what their names are used in.
    project.write(conftest=project_sources.application(RATES), test_hiring=suite)


def scaled(body: str, scale: str) -> str:
    return project_sources.threshold(body).replace("probe=test_hiring", f"probe=test_hiring, {scale}")


def rows(project: Project) -> dict[str, dict[str, Any]]:
    return {row["id"].partition("::test_")[2]: row for row in project.rows()}


FOUR = (
    project_sources.threshold(f'assert {WOMEN} >= "B"', name="test_women"),
    project_sources.threshold(f'assert {ELDERS} >= "B"', name="test_elders"),
    project_sources.threshold('assert measured.rate("hired") >= 0.5', name="test_all"),
    project_sources.threshold(f'assert {YOUTHS} >= "A"', name="test_youths"),
)


def test_marks_are_in_the_results_file(project: Project) -> None:
    write(project, *FOUR)
    project.run()
    thresholds = rows(project)
    assert {name: (row["verdict"], row["mark"]) for name, row in thresholds.items()} == {
        "women": ("fair", "B"),
        "elders": ("unfair", "D"),
        "all": ("fair", None),
        "youths": ("undecided", "B"),
    }
    assert thresholds["all"]["scale"] is None
    assert thresholds["women"]["scale"] == {"A": [[0.85, 1 / 0.85]], "B": [[0.7, 1 / 0.7]], "C": [[0.5, 2]]}
    assert thresholds["elders"]["bounds"] == [0.7, 1 / 0.7]
    assert thresholds["elders"]["flip_probability"] < 0.01
    model = "function:conftest.application"
    assert project.results()["marks"] == [
        {"model": model, "suite": "hiring", "mark": "C"},
        {"model": model, "harm": "allocation", "mark": "C"},
    ]


@in_one_process
def test_marks_are_in_the_terminal(project: Project) -> None:
    write(project, *FOUR)
    result = project.run()
    result.stdout.re_match_lines(
        [
            r" +threshold +estimate \(95\.5% CI\) +bounds +mark +verdict",
            r" hiring",
            r"   elders +.* +0\.7 to 1\.42857 +D +unfair",
            r"   youths +.* +0\.85 to 1\.17647 +B +undecided",
            r"   all +.* +>= 0\.5 +- +fair",
            r"   women +.* +0\.7 to 1\.42857 +B +fair",
            r" marks: suite hiring C; harm allocation C",
        ]
    )
    assert max(len(line) for line in result.outlines if line.startswith("   ")) <= 80


COMPARISONS = [
    (f'assert {WOMEN} >= "B"', "fair"),
    (f'assert {WOMEN} > "C"', "fair"),
    (f'assert "B" <= {WOMEN}', "fair"),
    (f'assert not {WOMEN} < "B"', "fair"),
    (f'assert {ELDERS} >= "C"', "unfair"),
    (f'assert {ELDERS} <= "C"', "fair"),
    (f'assert {ELDERS} < "B"', "fair"),
    (f'assert not {ELDERS} >= "B"', "fair"),
    (f'assert not {ELDERS} < "B"', "unfair"),
    (f'assert {YOUTHS} >= "A"', "undecided"),
    (f'assert not {YOUTHS} >= "A"', "undecided"),
    (f'assert {YOUTHS} < "A"', "undecided"),
    (f'assert {WOMEN} >= "B" and {ELDERS} >= "B"', "unfair"),
    (f'assert {YOUTHS} >= "A" and {ELDERS} >= "B"', "unfair"),
    (f'assert {WOMEN} >= "B" and {YOUTHS} >= "A"', "undecided"),
    (f'assert {ELDERS} >= "B" or {WOMEN} >= "B"', "invalid"),
    (f'assert {WOMEN} >= "B" and measured.rate("hired") >= 0.5', "fair"),
    ('assert measured.ratios("hired", by="gender").mark >= "C"', "unfair"),
    ('assert measured.where(gender=("man", "woman")).ratios("hired", by="gender").mark >= "B"', "fair"),
    ('assert measured.worst_ratio("hired", by="gender").mark >= "C"', "unfair"),
    (f'assert abs({GAP}).mark >= "C"', "unfair"),
    (f'assert (-{GAP}).mark >= "C"', "unfair"),
    ('assert measured.where(gender="man").ratios("hired", by="gender").mark >= "B"', "invalid"),
    (f'assert {WOMEN} >= "B" and measured.rate("hired").mark >= "B"', "invalid"),
]


@pytest.mark.slow
def test_comparisons_with_marks_read_as_python(project: Project) -> None:
    write(project, *project_sources.thresholds(body for body, _ in COMPARISONS))
    result = project.run("-m", "threshold")
    assert project.verdicts() == {f"test_{number:02}": verdict for number, (_, verdict) in enumerate(COMPARISONS)}
    fair = sum(verdict == "fair" for _, verdict in COMPARISONS)
    result.assert_outcomes(passed=fair, failed=len(COMPARISONS) - fair)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"assert {WOMEN} >= 0.8", r"Invalid: a mark is compared with one of the letters A to D, not with 0\.8"),
        (f'assert {WOMEN} == "A"', "Invalid: a mark equals nothing"),
        (f'assert {WOMEN} >= "D"', "Invalid: mark >= 'D' always holds"),
        ('assert measured.rate("hired").mark >= "B"', "Invalid: rate of hired has no scale of marks: give one .*"),
        (f'{WOMEN} >= "B"', r"Invalid: mark of .* cannot fail the test by itself"),
        (f"assert str({WOMEN}) == 'B'", "must not read the letter of a mark"),
    ],
)
def test_meaningless_mark_comparisons_are_reported(project: Project, body: str, words: str) -> None:
    write(project, project_sources.threshold(body))
    result = project.run("-k", "test_threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}
    assert any(re.search(words, line) for line in failures(result)["test_threshold"])


@in_one_process
def test_threshold_may_set_its_own_scale(project: Project) -> None:
    write(project, scaled(f'assert {ELDERS} >= "A"\nassert measured.rate("hired").mark >= "B"', WIDE))
    project.run("-k", "test_threshold")
    row = project.row()
    assert (row["verdict"], row["mark"], row["scale"]["A"]) == ("fair", "A", [[0.1, 0.5]])
    assert {metric["metric"]: metric["mark"] for metric in project.results()["metrics"]} == {
        "ratio(hired; gender: elder/man)": "A",
        "rate(hired)": "B",
    }


@pytest.mark.parametrize(
    "scale", ["scale='A'", "scale=(0, 1)", "scale=MarkScale", "scal=MarkScale(A=(0, 1), B=(0, 1), C=(0, 1))"]
)
def test_invalid_scale_is_refused(project: Project, scale: str) -> None:
    write(project, scaled(f'assert {WOMEN} >= "B"', scale))
    result = project.run("-k", "test_threshold")
    assert result.ret == INVALID_CODE
    words = "has no argument 'scal'" if scale.startswith("scal=") else "threshold test_threshold: scale is .*: write "
    assert re.search(words, shown(result))


def test_interval_over_three_marks_is_undecided(project: Project) -> None:
    write(project, scaled(f'assert {WOMEN} >= "C"', "scale=MarkScale(A=(0.99, 1.01), B=(0.98, 1.02), C=(0.2, 3))"))
    project.run("-k", "test_threshold")
    row = project.row()
    assert (row["verdict"], row["mark"], row["bounds"]) == ("undecided", None, [0.2, 3])
    assert "its interval touches three marks" in row["advice"]
    assert [line["mark"] for line in project.results()["marks"]] == [None, None]


@pytest.mark.slow
def test_unjudged_threshold_improves_no_mark(project: Project) -> None:
    broken = "@pytest.fixture\ndef broken():\n    raise OSError\n"
    never = FOUR[0].replace("test_women(measured)", "test_never(measured, broken)")
    write(project, broken, FOUR[0], never, never.replace("test_never", "test_not_either"))
    project.run("-m", "threshold")
    assert [line["mark"] for line in project.results()["marks"]] == [None, None]
    project.run("-k", "test_women")  # what was not selected might have been worse
    assert [line["mark"] for line in project.results()["marks"]] == [None, None]
    write(project, FOUR[0])
    project.run("-m", "threshold")
    assert [line["mark"] for line in project.results()["marks"]] == ["B", "B"]


def test_suites_without_a_scale_mention_no_marks(project: Project) -> None:
    write(project, FOUR[2])
    result = project.run("-m", "threshold")
    assert project.results()["marks"] == []
    assert " marks: " not in shown(result)
