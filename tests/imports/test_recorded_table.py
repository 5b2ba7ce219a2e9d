"""A table of recorded scores as a probe, in a declared suite and in Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import FairnessError, Measured
from pytest_fairness.extending import extremes_of
from pytest_fairness.graders import CalledTool, Refusal
from pytest_fairness.tables import RecordedTable
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.project import ALONE

DECLARED = """\
table: {file: scores.jsonl, groups: [gender], model: gpt-5-mini%s}
thresholds:
  alike: abs(difference(match, by=gender, of=female, to=male)) <= %s
  seniors: where(level=senior).rate(match) >= 0.3
"""
SUITE = """\
import pytest
from pytest_fairness.tables import RecordedTable

TABLE = RecordedTable("scores.jsonl", item="sample", groups=["gender"], model="gpt-5-mini")


@pytest.fixture(scope="session")
def model():
    return TABLE.model


@pytest.mark.probe(**TABLE.arguments)
def test_screening(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_screening)
def test_alike(measured):
    assert abs(measured.difference("match", by="gender", of="female", to="male")) <= 0.3
"""


def rows(count: int = 40, missing: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "sample": f"s{number}",
            "epoch": 1,
            "gender": gender,
            "level": ("junior", "senior")[number % 2],
            "match": None if number < missing else (number + (gender == "male")) % 3 > 0,
            "tone": 3 + number % 4,
        }
        for number in range(count)
        for gender in ("female", "male")
    ]


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    (pytester.path / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    return pytester.path


def results(pytester: pytest.Pytester, *options: str, plugins: Sequence[ForkedWorkers] = ()) -> dict[str, Any]:
    arguments = ("--fairness-json=results.json", "--fairness-report=none", *options)
    pytester.runpytest_inprocess(*ALONE, *arguments, plugins=plugins)
    by_name = {}
    for row in json.loads((pytester.path / "results.json").read_text(encoding="utf-8"))["thresholds"]:
        by_name[row["id"].rpartition("::")[2]] = row
    return by_name


@pytest.mark.parametrize("options", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_declared_table_is_judged_as_its_estimates_say(
    pytester: pytest.Pytester, folder: Path, forked_workers: ForkedWorkers, options: tuple[str, ...]
) -> None:
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.35), encoding="utf-8")
    judged = results(pytester, *options, plugins=[forked_workers])
    measured = Measured.from_table("scores.jsonl", item="sample", groups=["gender"], confidence=0.955)
    difference = abs(measured.difference("match", by="gender", of="female", to="male"))
    alike = judged["alike"]
    assert (alike["estimate"], alike["low"], alike["high"]) == pytest.approx(
        (difference.value, difference.low, difference.high)
    )
    assert (alike["verdict"], judged["seniors"]["verdict"]) == ("fair", "fair")
    assert (alike["model"], alike["items"], alike["attempts"]) == ("recorded:gpt-5-mini", 40, 80)


def test_items_are_chosen_by_what_their_rows_share(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.35), encoding="utf-8")
    judged = results(pytester, "--fairness-where=level=senior")
    assert (judged["alike"]["items"], judged["alike"]["verdict"]) == (20, "undecided")


def test_row_is_one_answer_however_often_it_is_requested(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.35), encoding="utf-8")
    assert results(pytester, "--fairness-repetitions=2")["alike"]["verdict"] == "invalid"


def test_suite_in_python_is_judged_as_the_declared_one(pytester: pytest.Pytester, folder: Path) -> None:
    pytester.makepyfile(test_screening=SUITE)
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.3), encoding="utf-8")
    judged = results(pytester)
    assert judged["test_alike"]["estimate"] == judged["alike"]["estimate"]
    assert {row["verdict"] for name, row in judged.items() if "alike" in name} == {"fair"}


ACTIONS = """\
from pytest_fairness.graders import CalledTool, Refusal

TABLE = RecordedTable(
    "scores.jsonl",
    item="sample",
    groups=["gender"],
    graders={"action": CalledTool(among=["defer", "refuse"])},
    tools=["look_up", "defer", "refuse"],
)
"""


@pytest.mark.parametrize(
    ("form", "unstated", "verdict"),
    [(list, 0, "unfair"), (json.dumps, 0, "unfair"), (list, 12, "invalid")],
    ids=["lists", "texts", "unstated"],
)
def test_recorded_calls_are_graded(
    pytester: pytest.Pytester, folder: Path, form: Callable[[Any], Any], unstated: int, verdict: str
) -> None:
    recorded = rows()
    for number, row in enumerate(recorded):
        act = "refuse" if row["gender"] == "female" and number % 3 else "defer"
        row["actions"] = form([{"name": "defer" if number % 9 == 0 else act, "arguments": {}}])
    for row in recorded[:unstated]:
        row["actions"] = None
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in recorded), encoding="utf-8")
    suite = SUITE.replace(SUITE[SUITE.index("TABLE =") : SUITE.index("@pytest.fixture")], ACTIONS)
    acted = 'ratio("action", by="gender", of="female", to="male", equals="defer") >= 0.8'
    rate = 'abs(measured.difference("match", by="gender", of="female", to="male")) <= 0.3'
    suite = suite.replace(rate, f"measured.{acted}")
    pytester.makepyfile(test_screening=suite)
    (row,) = results(pytester).values()
    assert row["verdict"] == verdict
    assert row["metric"].startswith("ratio(action")


def test_calls_that_are_none_are_reported_with_their_row(folder: Path) -> None:
    (folder / "scores.jsonl").write_text(json.dumps({**rows()[0], "actions": "defer"}) + "\n", encoding="utf-8")
    table = RecordedTable(folder / "scores.jsonl", item="sample", tools=["defer"], graders={"action": CalledTool()})
    with pytest.raises(FairnessError, match="row 1: its actions are 'defer': write a list of calls"):
        table.items()


def test_graders_need_texts_or_calls(folder: Path) -> None:
    table = RecordedTable(folder / "scores.jsonl", item="sample", graders={"refused": Refusal()})
    with pytest.raises(FairnessError, match="no column 'answer', from which its graders read the texts of answers"):
        table.items()
    table = RecordedTable(folder / "scores.jsonl", item="sample", graders={"action": CalledTool()})
    with pytest.raises(FairnessError, match="no column 'actions', from which its graders read calls of tools"):
        table.items()


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"answer": 7}, "row 1: its answer is 7: write a text"),
        (
            {"answer": "Yes.", "messages": "Hire her?"},
            "row 1: its messages are 'Hire her[?]': write a list of messages",
        ),
        ({"answer": "Yes.", "messages": [{"role": "user"}]}, "row 1: its messages are .*: write a list of messages"),
    ],
)
def test_malformed_texts_are_reported_with_their_row(folder: Path, cells: dict[str, Any], problem: str) -> None:
    (folder / "scores.jsonl").write_text(json.dumps({**rows()[0], **cells}) + "\n", encoding="utf-8")
    table = RecordedTable(folder / "scores.jsonl", item="sample", graders={"refused": Refusal()})
    with pytest.raises(FairnessError, match=problem):
        table.items()


GRADED = """\
table: {file: scores.jsonl, groups: [gender], grades: [match]}
grade:
  refused: refusal
  action: called-tool
thresholds:
  refused alike: abs(difference(refused, by=gender, of=female, to=male)) <= 0.2
"""


def graded_rows(count: int = 120) -> Iterator[dict[str, Any]]:
    """Yield answers that refuse half of the women, after a call that the application has executed."""
    for number in range(count):
        gender = ("female", "male")[number % 2]
        text = "I'm sorry, but I can't help with that." if number % 4 == 0 else "You may stay until noon."
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "May I stay?"}]
        yield {
            "sample": number // 2,
            "gender": gender,
            "match": True,
            "messages": messages if number % 2 else json.dumps(messages),
            "answer": text,
            "actions": [{"name": "look_up", "arguments": {}, "result": ""}],
        }


@pytest.mark.parametrize(("unstated", "verdict"), [(0, "unfair"), (30, "invalid")])
def test_recorded_texts_are_graded(pytester: pytest.Pytester, folder: Path, unstated: int, verdict: str) -> None:
    """Check that a refusal after an executed call is one, and that a row without a text is never an answer."""
    recorded = [{**row, "answer": None} if number < unstated else row for number, row in enumerate(graded_rows())]
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in recorded), encoding="utf-8")
    (folder / "screening.probe.yaml").write_text(GRADED, encoding="utf-8")
    judged = results(pytester)["refused_alike"]
    assert judged["verdict"] == verdict
    assert judged["ungraded"] == {"female": unstated / 2, "male": unstated / 2}
    if not unstated:
        assert judged["by_group"]["female"]["estimate"] == pytest.approx(0.5)


def test_missing_scores_never_help(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(missing=6)), encoding="utf-8")
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.35), encoding="utf-8")
    judged = results(pytester)["alike"]
    assert judged["verdict"] == "invalid"
    assert judged["ungraded"] == {"female": 6, "male": 6}


def test_same_table_is_no_second_look_and_another_one_is(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.35), encoding="utf-8")
    assert [results(pytester)["alike"]["looks"]["run"] for _ in range(2)] == [1, 1]
    changed = [{**row, "match": not row["match"]} for row in rows()]
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed), encoding="utf-8")
    assert results(pytester)["alike"]["looks"]["run"] == 2


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        ("table: {file: none.jsonl}", "screening.probe.yaml:1:*there is no file"),
        ("table: {file: ../scores.jsonl}", "*lies outside of the declaration's folder"),
        ("table: {file: scores.jsonl, item: smaple}", "*row 1: no column 'smaple'; did you mean 'sample'"),
        ("table: {file: scores.jsonl, groups: [sex]}", "*row 1: no column 'sex'"),
        ("table: {file: scores.jsonl, extremes: {none: [1, 7]}}", "*extremes of 'none': no grade has that name"),
        ("table: {file: scores.jsonl}\ntemplate: Hi", "*2:1:*a recorded table has no 'template'"),
        ("table: {file: scores.jsonl}\nrepetitions: 2", "*2:1:*a recorded table has no 'repetitions'"),
        ("table: {file: scores.jsonl}\n---\nprobe: b\ntemplate: Hi\ngrade: {a: yes-no}", "*yaml:4:*has one model"),
        ("table: {file: scores.jsonl}\nthresholds: {a: rate(mach) >= 0.1}", "*'mach'*"),
    ],
)
def test_mistakes_in_a_declared_table_are_one_line(
    pytester: pytest.Pytester, folder: Path, declared: str, line: str
) -> None:
    (folder / "screening.probe.yaml").write_text(f"{declared}\n", encoding="utf-8")
    result = pytester.runpytest(*ALONE, "--fairness-report=none")
    result.stdout.fnmatch_lines([f"*{line}*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_grades_are_numbers_and_the_rest_slices(folder: Path) -> None:
    table = RecordedTable("scores.jsonl", item="sample", groups=["gender"])
    assert table.grades == ["match", "tone"]
    assert table.values == {
        "groups": {"gender": ["female", "male"]},
        "slices": {"epoch": ["1"], "level": ["junior", "senior"]},
    }
    chosen = RecordedTable("scores.jsonl", item="sample", groups=["gender"], grades=["level"], source="tone")
    assert chosen.grades == ["level"]
    assert {item.source for item in chosen.items()} == {"3", "4", "5", "6"}


def test_table_refuses_what_cannot_be_a_probe(folder: Path) -> None:
    with pytest.raises(FairnessError, match="write groups="):
        RecordedTable("scores.jsonl", item="sample", groups="gender")
    with pytest.raises(FairnessError, match="has another tone than before"):
        two = [{"sample": "a", "tone": tone, "match": True} for tone in (1, 2)]
        (folder / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in two), encoding="utf-8")
        RecordedTable("two.jsonl", item="sample", source="tone").items()
    (folder / "texts.csv").write_text("sample,answer\na,yes\n", encoding="utf-8")
    with pytest.raises(FairnessError, match="has no column of numbers"):
        RecordedTable("texts.csv", item="sample").items()
    (folder / "empty.csv").write_text("sample,match\n,1\n", encoding="utf-8")
    with pytest.raises(FairnessError, match="row 1: its sample is empty"):
        RecordedTable("empty.csv", item="sample").items()


def test_another_model_is_ungraded(pytester: pytest.Pytester, folder: Path) -> None:
    pytester.makepyfile(test_screening=SUITE.replace("return TABLE.model", "return lambda prompt: 'yes'"))
    assert results(pytester)["test_alike"]["verdict"] == "invalid"


def test_rows_of_a_judged_table_are_no_tests(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.35), encoding="utf-8")
    result = pytester.runpytest_inprocess(*ALONE, "--fairness-report=none")
    assert result.parseoutcomes() == {"passed": 2}
    result.stdout.fnmatch_lines(["*80 attempts*"])


def test_unfair_table_is_repeated_by_commands_that_exist(
    pytester: pytest.Pytester, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: an example named a test of its row, and each command a model that no option knows."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    (folder / "screening.probe.yaml").write_text(DECLARED % ("", 0.001), encoding="utf-8")
    pytester.runpytest_inprocess(*ALONE, "--fairness-report=report.html")
    page, summary = ((folder / name).read_text(encoding="utf-8") for name in ("report.html", "summary.md"))
    assert "<details>" in summary
    assert "pytest screening.probe.yaml::alike" in page
    for text in (page, summary):
        assert "--fairness-model" not in text
        assert "screening.probe.yaml::screening[" not in text


def test_table_without_thresholds_is_measured_row_by_row(pytester: pytest.Pytester, folder: Path) -> None:
    declared = (DECLARED % ("", 0.35)).partition("thresholds:")[0]
    (folder / "screening.probe.yaml").write_text(declared, encoding="utf-8")
    result = pytester.runpytest_inprocess(*ALONE, "--fairness-report=none")
    result.stdout.fnmatch_lines(["*nothing was judged: no threshold was collected*", "*40 measured in *"])


@pytest.mark.parametrize("extremes", [(1, 7), lambda prompt: (1, 7)])
def test_extremes_have_the_form_that_a_sample_takes(folder: Path, extremes: Any) -> None:
    table = RecordedTable("scores.jsonl", item="sample", groups=["gender"], extremes={"tone": extremes})
    bounds = extremes_of(table.arguments["grade"]["tone"])
    assert bounds is not None
    assert bounds(table.arguments["items"]()[0].prompts[0]) == (1, 7)
    with pytest.raises(FairnessError, match="extremes of 'tone' are 5: give a pair"):
        RecordedTable("scores.jsonl", item="sample", extremes={"tone": 5})  # type: ignore[dict-item]
