"""The converter of recorded answers."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.bbq.predictions import convert, match
from tests.helpers.bbq_records import people, record, write


def converted(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("The Hindu man", "The Hindu man"),
        ("the hindu man", "The Hindu man"),
        (" not known. ", "Not known"),
        ("the hindu", None),
        ("somebody else", None),
        ("", None),
    ],
)
def test_answer_is_matched_without_case_and_full_stops(raw: str, expected: str | None) -> None:
    assert match(raw, record()) == expected


def test_name_without_its_apostrophe_is_matched() -> None:
    assert match("shannon o'brien", record(ans0="Shannon Obrien")) == "Shannon Obrien"


def test_cut_off_answer_matches_the_one_choice_with_that_prefix() -> None:
    question = record(ans0="The one in a tailored pantsuit", ans1="The one in a hoodie")
    assert match("the one in a tailored pantsu", question) == "The one in a tailored pantsuit"
    assert match("the one in a", question) is None


def test_remaining_answer_is_matched_by_two_words_of_the_group() -> None:
    question = record(
        answer_info=people(("older man on a bus", "old"), ("boy", "nonOld")), ans0="The older man on a bus"
    )
    assert match("an older man", question) == "The older man on a bus"
    assert match("a boy", question) is None


def test_line_names_its_question_and_keeps_the_recording(tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.jsonl", record(example_id=3, race="the sikh man."))
    assert convert(preds, "race", tmp_path / "new" / "out.jsonl") == 1
    assert converted(tmp_path / "new" / "out.jsonl") == [
        {
            "metadata": {"category": "Religion", "example_id": 3},
            "text": "The Sikh man",
            "note": {"raw": "the sikh man."},
        }
    ]


def test_folder_is_converted_whole(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", record(race="not known"))
    write(tmp_path / "b.jsonl", record(category="Age", race="not known"))
    assert convert(tmp_path, "race", tmp_path / "out.json") == 2


def test_unmatched_answer_is_kept_and_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    preds = write(tmp_path / "preds.jsonl", record(race="not known"), record(example_id=1, race="the moon"))
    with caplog.at_level(logging.WARNING):
        assert convert(preds, "race", tmp_path / "out.jsonl") == 2
    assert converted(tmp_path / "out.jsonl")[1]["text"] == "the moon"
    assert caplog.messages == [f"1 of 2 answers match no choice and are kept as they are: {preds}:2"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"race": "x"}, "no column 'arc'; did you mean 'race'"),
        ({}, "no column of answers"),
        ({"arc": 2}, "arc is 2: an answer must be a text"),
        ({"arc": "x", "category": None}, "no field 'category'"),
        ({"arc": "x", "example_id": "one"}, "example_id is 'one'"),
        ({"arc": "x", "answer_info": []}, r"answer_info is \[\]"),
    ],
)
def test_bad_input_is_named_by_file_and_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    preds = write(tmp_path / "preds.jsonl", {**record(), **changes})
    with pytest.raises(FairnessError, match=rf"preds\.jsonl:1: .*{message}"):
        convert(preds, "arc", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_malformed_line_is_named(tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.jsonl", record(arc="x"))
    preds.write_text(preds.read_text(encoding="utf-8") + "{", encoding="utf-8")
    with pytest.raises(FairnessError, match=r"preds\.jsonl:2: not valid JSON"):
        convert(preds, "arc", tmp_path / "out.jsonl")


def test_duplicate_question_is_refused(tmp_path: Path) -> None:
    preds = write(tmp_path / "preds.jsonl", record(arc="x"), record(arc="y"))
    with pytest.raises(FairnessError, match=r"preds\.jsonl:2: the question Religion 0 stands at .*:1 already"):
        convert(preds, "arc", tmp_path / "out.jsonl")


@pytest.mark.parametrize(("name", "message"), [("none.jsonl", "cannot be read"), ("empty.jsonl", "no line holds")])
def test_missing_and_empty_files_are_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(FairnessError, match=message):
        convert(tmp_path / name, "arc", tmp_path / "out.jsonl")


def test_real_predictions_match_except_one(bbq_data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    preds = bbq_data / "unifiedqa" / "preds_Age.jsonl"
    assert convert(preds, "unifiedqa-t5-11b_pred_arc", tmp_path / "out.jsonl") == 3_680
    assert [message.split(" answers")[0] for message in caplog.messages] == ["1 of 3680"]


def test_hostile_file_names_cannot_control_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_fairness.cli.main import main

    file = tmp_path / "evil.jsonl"
    file.write_text(
        json.dumps(record() | {"\x1b]0;PWNED\x07\x1b[2J": "a", "\n::error::pwn": "b"}) + "\n", encoding="utf-8"
    )
    assert main(["import", "bbq-predictions", str(file), "--column", "foo", "--out", str(tmp_path / "out.jsonl")]) == 2
    output = capsys.readouterr().err
    assert "PWNED" in output
    assert not [character for character in output[:-1] if not character.isprintable()]
