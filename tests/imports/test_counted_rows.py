"""Rows, columns and texts of a table: each is judged, counted beside the verdict, or refused by its row and value."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest

from pytest_fairness import FairnessError, Measured
from pytest_fairness.cli.main import main
from pytest_fairness.tables import RecordedTable
from tests.helpers.project import ALONE

Rows = list[dict[str, Any]]
ALIKE = "abs(difference(ok, by=gender, of=f, to=m)) <= 0.2"


def rows(count: int = 100) -> Rows:
    return [{"q": f"q{number}", "gender": gender, "ok": number % 5 > 1} for number in range(count) for gender in "fm"]


def write(folder: Path, table: Rows | str, name: str = "t.jsonl", claim: str = ALIKE, more: str = "") -> None:
    text = table if isinstance(table, str) else "".join(json.dumps(row) + "\n" for row in table)
    (folder / name).write_text(text, encoding="utf-8", newline="")
    declared = f"table: {{file: {name}, item: q, groups: [gender]{more}}}\nthresholds:\n  alike: {claim}\n"
    (folder / "t.probe.yaml").write_text(declared, encoding="utf-8")


def csv_text(table: Rows, separator: str = ",") -> str:
    names = list(table[0])
    return "".join(
        separator.join(map(str, line)) + "\r\n" for line in [names, *([row[n] for n in names] for row in table)]
    )


def judged(pytester: pytest.Pytester) -> tuple[dict[str, Any], str]:
    """Return the only threshold in the results file, and the output."""
    result = pytester.runpytest_inprocess(*ALONE, "--fairness-json=results.json", "--fairness-report=none")
    (row,) = json.loads((pytester.path / "results.json").read_text(encoding="utf-8"))["thresholds"]
    return row, " ".join(result.stdout.str().split())


def refusal(pytester: pytest.Pytester) -> str:
    """Return the one line by which a declared table is refused."""
    result = pytester.runpytest_inprocess(*ALONE, "--fairness-report=none")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.outlines if line.startswith("t.probe.yaml:")]
    return line


@pytest.mark.parametrize(
    ("column", "value", "other"),
    [
        ("error", "429 Too Many Requests", None),
        ("Error Message", "timeout", "none"),
        ("judge_error", ["no JSON"], []),
        ("error.message", "timeout", ""),
        ("scoring_failed", True, False),
        ("details.parse_error", True, False),
        ("judge_failed", True, None),
        ("choice", "__invalid__", "A"),
        ("judgment", "[ERROR] 429", "Score: 1"),
        ("parseError", "true", "false"),
    ],
)
def test_failed_rows_have_no_grades(pytester: pytest.Pytester, column: str, value: Any, other: Any) -> None:
    """Regression: evaluators write the worst grade for an answer or a judge that failed, and the error beside it."""
    table: Rows = [{**row, column: other} for row in rows()]
    for row in table[::8]:
        row |= {"ok": False, column: value}
    write(pytester.path, table, more=", grades: [ok]")
    row, output = judged(pytester)
    assert (row["verdict"], sum(row["ungraded"].values())) == ("invalid", 25)
    assert f"25 of 200 rows have no ok ({column}" in output
    measured = Measured.from_rows(table, item="q", groups=["gender"])
    assert sum(measured.rate("ok").ungraded.values()) == 25


@pytest.mark.parametrize(
    ("column", "value", "other"),
    [
        ("error", "no login", "no login"),
        ("error_type", "tone", None),
        ("error_rate", 0.5, None),
        ("failed", True, False),
    ],
)
def test_columns_that_tell_no_failure_leave_grades(column: str, value: Any, other: Any) -> None:
    """Check a field of every item, a kind of the model's errors, numbers and an answer that failed."""
    table = [{**row, column: other if number % 8 else value} for number, row in enumerate(rows())]
    assert Measured.from_rows(table, item="q", groups=["gender"]).rate("ok").ungraded == {"all": 0}


def test_rows_in_no_group_are_counted(pytester: pytest.Pytester) -> None:
    table = rows()
    for row in table[::4]:
        row["gender"] = None
    write(pytester.path, table)
    row, output = judged(pytester)
    assert row["without_group"] == {"gender": 50}
    assert "50 of 200 answers are in no group of gender" in output


def test_table_with_whole_groups_counts_none(pytester: pytest.Pytester) -> None:
    write(pytester.path, rows())
    row, output = judged(pytester)
    assert (row["verdict"], row["without_group"]) == ("fair", {})
    assert "in no group" not in output


@pytest.mark.parametrize("value", ["", " ", "N/A", "#N/A", "nan", "NaN", "null", "NULL", "<NA>", float("nan"), ["f"]])
def test_group_that_is_no_name_is_refused_with_its_row(pytester: pytest.Pytester, value: Any) -> None:
    table = rows()
    table[6]["gender"] = value
    write(pytester.path, table)
    assert f"row 7: its gender is {value!r}" in refusal(pytester)
    with pytest.raises(FairnessError, match="row 7: its gender is "):
        Measured.from_rows(table, item="q", groups=["gender"])


NO_NUMBERS = [
    "n/a",
    "-",
    "5,000",
    "2,5",
    "4/5",
    "40%",
    "#DIV/0!",
    "refused",
    "1 234",
    "5 stars",
    "€5",
    "'5",
    "NULL",
    "1_000",
]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize("value", NO_NUMBERS)
def test_value_that_is_no_number_is_refused_with_its_row(pytester: pytest.Pytester, value: str, name: str) -> None:
    table = [{**row, "score": 3 + number % 2} for number, row in enumerate(rows())]
    table[7]["score"] = value
    text = csv_text(table, ";" if "," in value else ",")
    write(pytester.path, text.replace("q;", "sep=;\r\nq;", 1) if name == "t.csv" else table, name)
    line = refusal(pytester)
    assert f"row 8: its score is {value!r}, which is no number: write it as " in line
    assert "leave the field empty if the answer was not graded (1 such row of 200)" in line


@pytest.mark.parametrize("value", ["40%", "3,5", "yes"])
def test_column_of_no_numbers_says_so_where_a_threshold_names_it(pytester: pytest.Pytester, value: str) -> None:
    table = [{**row, "score": value} for row in rows()]
    write(pytester.path, table, claim="mean(score) >= 1")
    assert f"'score' is no grade: row 1: its score is {value!r}, which is no number" in refusal(pytester)


def test_named_column_may_have_few_numbers(folder_table: Any) -> None:
    table = folder_table([{**row, "note": "1" if number < 3 else "a text"} for number, row in enumerate(rows())])
    assert table.grades == ["ok"]


@pytest.fixture
def folder_table(tmp_path: Path) -> Any:
    def table(table_rows: Rows, **options: Any) -> RecordedTable:
        write(tmp_path, table_rows)
        return RecordedTable(tmp_path / "t.jsonl", item="q", groups=["gender"], **options)

    return table


def models(*names: str, column: str = "model") -> Rows:
    """Return rows of several models, of which all but the first are unfair."""
    return [
        {**row, column: name, "ok": row["ok"] and (name == names[0] or row["gender"] == "m" or number % 4 == 0)}
        for name in names
        for number, row in enumerate(rows())
    ]


@pytest.mark.parametrize(
    "column", ["model", "Model", "model_name", "llm", "candidate.model", "provider", "served_by", "run"]
)
def test_answers_of_several_models_are_refused(pytester: pytest.Pytester, column: str) -> None:
    names = ("gpt-5-mini", "gpt-6") if column == "run" else ("old", "new")
    write(pytester.path, models(*names, column=column), more=", model: new")
    line = refusal(pytester)
    assert f"t.jsonl has answers of 2 models in the column {column!r}, {names[0]!r} (200 rows), {names[1]!r}" in line
    assert "name one by `select`" in line
    with pytest.raises(FairnessError, match="the rows have answers of 2 models"):
        Measured.from_rows(models(*names, column=column), item="q", groups=["gender"])


@pytest.mark.parametrize(
    ("column", "names", "shown"),
    [
        ("meta.model", ("old", "new"), "'old' (100 rows), 'new' (100 rows)"),
        ("phone_model", ("old", "new"), "'old' (100 rows), 'new' (100 rows)"),
        ("model", ("old", ""), "'old' (100 rows), none (100 rows)"),
        ("model", ("old", None), "'old' (100 rows), none (100 rows)"),
        ("model", ("/weights/" + "a" * 120, "/weights/" + "b" * 120), "(100 rows)"),
        ("model", (["old"], ["new"]), "(100 rows)"),
    ],
)
def test_groups_that_two_models_answered_are_refused(
    folder_table: Any, column: str, names: Sequence[Any], shown: str
) -> None:
    table = [{**row, column: names[row["gender"] == "m"]} for row in rows()]
    with pytest.raises(FairnessError, match=re.escape(shown)):
        folder_table(table, grades=["ok"]).items()


@pytest.mark.parametrize(("column", "is_named"), [("run_id", True), ("epoch", False), ("city", False)])
def test_values_under_which_questions_recur_are_named(pytester: pytest.Pytester, column: str, is_named: bool) -> None:
    """Check a column whose name says nothing of models: repetitions, or two models."""
    table = [{**row, column: value} for value in ("r1", "r2") for row in rows()]
    if column == "city":
        table = [{**row, column: f"r{number // 2 % 2 + 1}"} for number, row in enumerate(rows())]
    write(pytester.path, table)
    row, output = judged(pytester)
    assert row["verdict"] == "fair"
    words = f"answers to one question under 2 values of {column} are judged together: r1 and r2"
    assert (words in output) is is_named


def test_selected_model_is_judged_alone(pytester: pytest.Pytester) -> None:
    write(pytester.path, models("old", "new"), more=", select: {model: new}")
    row, _ = judged(pytester)
    assert (row["verdict"], row["attempts"], row["model"]) == ("unfair", 200, "recorded:new")
    measured = Measured.from_rows(models("old", "new"), item="q", groups=["gender"], select={"model": "old"})
    assert measured.difference("ok", by="gender", of="f", to="m").value == 0


def test_models_may_be_the_compared_groups(folder_table: Any) -> None:
    table = models("old", "new")
    measured = Measured.from_rows(table, item="q", groups=["gender", "model"])
    assert measured.difference("ok", by="model", of="new", to="old").value < 0


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ({"modle": "new"}, "select modle: there is no such column; did you mean 'model'"),
        ({"model": "nwe"}, "select model=nwe: no row has it; did you mean 'new'"),
        ({"model": "new", "gender": "x"}, "select gender=x: no row has it"),
    ],
)
def test_selection_of_nothing_is_refused(folder_table: Any, select: dict[str, Any], words: str) -> None:
    with pytest.raises(FairnessError, match=words):
        folder_table(models("old", "new"), select=select).items()


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("judge_model", ("gpt-4o", "claude-4")),
        ("model_answer", ("yes", "no")),
        ("city", ("Rome", "Paris")),
        ("car_model", ("Golf", "Corsa")),
        ("model", ("an answer of the model " * 9, "another one " * 9)),
        ("version", ("1", "2")),
        ("agent", ("Smith", "Jones")),
    ],
)
def test_columns_that_name_no_model_are_slices(folder_table: Any, column: str, values: Sequence[str]) -> None:
    table = [{**row, column: values[number // 2 % 2]} for number, row in enumerate(rows())]
    assert folder_table(table, grades=["ok"]).values["slices"][column] == list(values)


def test_nested_objects_are_columns(pytester: pytest.Pytester) -> None:
    table = [
        {"q": row["q"], "person": {"gender": row["gender"]}, "decision": {"ok": row["ok"], "why": {"text": "fits"}}}
        for row in rows()
    ]
    write(pytester.path, table)
    declared = "table: {file: t.jsonl, item: q, groups: [person.gender], grades: [decision.ok]}\nthresholds:\n"
    claim = 'abs(difference("decision.ok", by="person.gender", of=f, to=m)) <= 0.2'
    (pytester.path / "t.probe.yaml").write_text(f"{declared}  alike: {claim}\n", encoding="utf-8")
    row, _ = judged(pytester)
    assert (row["verdict"], row["attempts"]) == ("fair", 200)
    for measured in (
        Measured.from_table(pytester.path / "t.jsonl", item="q", groups=["person.gender"]),
        Measured.from_rows(table, item="q", groups=["person.gender"]),
    ):
        assert measured.difference("decision.ok", by="person.gender", of="f", to="m").value == 0


@pytest.mark.parametrize(
    ("values", "of", "to"),
    [
        ((True, False), "true", "false"),
        ((20.0, 30.0), "20", "30"),
        ((20, 30), "20.0", "30.0"),
        (("TRUE", "FALSE"), "true", "false"),
    ],
)
def test_groups_of_truths_and_numbers_are_found(
    pytester: pytest.Pytester, values: Sequence[Any], of: str, to: str
) -> None:
    table = [{**row, "gender": values[row["gender"] == "m"]} for row in rows()]
    write(pytester.path, table, claim=f"abs(difference(ok, by=gender, of={of}, to={to})) <= 0.2")
    assert judged(pytester)[0]["verdict"] == "fair"


def test_spreadsheets_are_read_or_refused_in_one_line(pytester: pytest.Pytester) -> None:
    folder = pytester.path
    for text in (
        "sep=;\r\n" + csv_text(rows(), ";"),
        "\ufeff" + csv_text(rows()),
        csv_text(rows()) + ",,\r\n,,\r\n",
        csv_text(rows()).replace("\r\n", ",,\r\n"),
        "".join(
            f"{number - 1 if number else ''},{line}\n" for number, line in enumerate(csv_text(rows()).splitlines())
        ),
    ):
        write(folder, text, "t.csv")
        row, _ = judged(pytester)
        assert (row["verdict"], row["attempts"]) == ("fair", 200)
    for text, words in (
        (csv_text(rows(), ";"), "its fields are separated by ';': separate them by ',', or write sep=; as its first"),
        (csv_text(rows()) + "Total,,120\r\n", "row 201: its gender is ''"),
        (csv_text(rows()) * 2, "row 201: its ok is 'ok', which is no number"),
        (csv_text(rows()) + "q1,f\r\n", "line 202: its fields are not those of the first line"),
        ("PK\x03\x04...", "t.csv is a spreadsheet's own file: save it as CSV UTF-8"),
    ):
        write(folder, text, "t.csv")
        assert words in refusal(pytester)
    write(folder, "PK\x03\x04...", "t.xlsx")
    assert "t.xlsx ends in '.xlsx'" in refusal(pytester)


def test_extremes_are_pairs_in_every_way_to_a_table() -> None:
    table = [{**row, "rating": None if number == 3 else 1 + number % 5} for number, row in enumerate(rows())]
    paired = Measured.from_rows(table, item="q", groups=["gender"], extremes={"rating": (1, 5)})
    called = Measured.from_rows(table, item="q", groups=["gender"], extremes={"rating": lambda _: (1, 5)})
    assert paired.mean("rating").high == called.mean("rating").high
    for extremes, words in (
        ({"ratin": (1, 5)}, "extremes of 'ratin': no grade has that name; did you mean 'rating'"),
        ((1, 5), "give a pair by grade"),
        ({"rating": 5}, "give a pair, as in"),
    ):
        with pytest.raises(FairnessError, match=words):
            Measured.from_rows(table, item="q", groups=["gender"], extremes=extremes)  # type: ignore[arg-type]


def test_frames_and_rows_are_refused_where_the_others_go() -> None:
    with pytest.raises(FairnessError, match="a data frame goes to from_table"):
        Measured.from_rows(pandas.DataFrame({"q": [1]}), item="q", groups=[])  # type: ignore[arg-type]
    with pytest.raises(FairnessError, match=r"the table is \[\{'q': 1\}\]: name a file, .* rows go to from_rows"):
        Measured.from_table([{"q": 1}], item="q", groups=[])


def test_import_keeps_long_texts_and_lists_and_counts_absent_fields(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that texts stay different, so that they can be items, and that a key that lacks somewhere is named."""
    samples = []
    for number in range(20):
        doc: dict[str, Any] = {
            "context": "A long story. " * 17 + str(number // 2),
            "groups": ["F"],
            "gender": "fm"[number % 2],
        }
        if number % 5 == 0:
            doc["gendr"] = doc.pop("gender")
        samples.append({"doc_id": number, "doc": doc, "target": "0", "resps": [["A"]], "metrics": ["acc"], "acc": 1.0})
    file, out = tmp_path / "samples.jsonl", tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    assert main(["import", "lm-eval", str(file), "--out", str(out)]) == 0
    notes = capsys.readouterr().out
    assert "texts of more than 200 characters are kept as their beginning and a digest: context (20)" in notes
    assert "lists are kept as texts: groups (20)" in notes
    assert "fields without a value in some of 20 rows: gendr (16), gender (4)" in notes
    table = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len({row["context"] for row in table}) == 10
    assert {row["groups"] for row in table} == {"F"}
    assert len(list(RecordedTable(out, item="context").items())) == 10
