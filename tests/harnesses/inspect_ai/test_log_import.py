"""``pytest-fairness import inspect``: logs of inspect_ai as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main

SAMPLE: dict[str, Any] = {
    "id": 1,
    "epoch": 1,
    "metadata": {"gender": "female", "tags": ["a"], "job": {"level": "senior"}},
    "scores": {"match": {"value": "C"}, "gender": {"value": float("nan")}},
    "output": {"choices": [{"stop_reason": "stop", "message": {"content": "yes"}}]},
}


def _log(folder: Path, *samples: dict[str, object], **header: object) -> Path:
    file = folder / "log.json"
    evaluated = {"dataset": {"sample_ids": [1, 2]}, "config": {"epochs": 1}}
    content = {"version": 2, "status": "success", "eval": evaluated, "samples": samples, **header}
    file.write_text(json.dumps(content))
    return file


def _imported(log: Path) -> list[dict[str, Any]]:
    table = log.with_name("t.jsonl")
    assert main(["import", "inspect", str(log), "--out", str(table)]) == 0
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]


def test_failed_and_unfinished_samples_are_ungraded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ended(number: int, **choice: Any) -> dict[str, Any]:
        return {**SAMPLE, "id": number, "output": {"choices": [{"stop_reason": "stop", **choice}]}}

    failed = {**SAMPLE, "id": 2, "error": {"message": "timeout"}}
    invalid = {**SAMPLE, "id": 3, "invalidation": {"author": "me"}}
    limited = {**SAMPLE, "id": 4, "limit": {"type": "message", "limit": 5}}
    empty = ended(5, message={"content": [{"type": "reasoning", "reasoning": "..."}, {"type": "text", "text": " "}]})
    called = ended(6, message={"content": "", "tool_calls": [{"function": "submit"}]})
    samples = [SAMPLE, failed, invalid, limited, empty, called, ended(7, stop_reason="max_tokens")]
    rows = _imported(_log(tmp_path, *samples))
    assert [row["match"] for row in rows] == [True, None, None, None, None, True, None]
    assert [row["gender"] for row in rows] == [None] * 7
    assert {(row["metadata.gender"], row["job.level"], row["tags"]) for row in rows} == {("female", "senior", "a")}
    output = capsys.readouterr().out
    assert [f"of 7 answers {reason}" in output for reason in ("failed", "were invalidated", "are empty")] == [True] * 3
    assert "2 of 7 answers were cut off, filtered or refused (message limit): they are ungraded" in output


def test_log_that_two_models_have_answered_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Regression: a router answered one group by a fallback, which `output.model` names, and the gap was fair."""
    outputs = [{**SAMPLE["output"], "model": name} for name in ("gpt-5-mini", "claude-haiku-4-5", "")]
    failed: dict[str, Any] = {"id": 4, "error": {"message": "timeout"}, "output": {"model": "gpt", "choices": []}}
    samples = [{**SAMPLE, "id": number, "output": output} for number, output in enumerate(outputs, 1)]
    log = _log(tmp_path, *samples, {**SAMPLE, **failed})
    assert main(["import", "inspect", str(log), "--out", str(tmp_path / "t.jsonl")]) != 0
    assert "2 values of model, gpt-5-mini, claude-haiku-4-5: a table holds one" in capsys.readouterr().err
    assert len(_imported(_log(tmp_path, samples[0], samples[2], {**SAMPLE, **failed}))) == 3


@pytest.mark.slow
def test_scores_of_every_form_are_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = {"partial": "P", "choice": "B", "rubric": {"tone": 3, "facts": "I"}, "list": [1, 2], "none": "N"}
    scores = {name: {"value": value} for name, value in values.items()}
    (row,) = _imported(_log(tmp_path, {**SAMPLE, "scores": scores}))
    columns = {name: value for name, value in row.items() if name in ("sample", "epoch") or name in values}
    assert columns == {"sample": "1", "epoch": 1, "partial": 0.5, "choice": "B", "none": None}
    assert (row["rubric.tone"], row["rubric.facts"]) == (3, False)
    assert "score list is left out: it holds lists" in capsys.readouterr().out


FAILED_SCORES = [
    ({"value": "I", "reason": "invalid_response_format"}, "invalid_response_format"),
    ({"value": "I", "answer": "", "reason": "no_response"}, "no_response"),
    ({"value": "I", "reason": "refusal", "explanation": "I cannot."}, "refusal"),
    ({"value": float("nan"), "reason": "grader_failed"}, "grader_failed"),
    ({"value": 0, "reason": "our judge was away"}, "our judge was away"),
    ({"value": "I", "metadata": {"unscored_reason": "scoring_failed"}}, "scoring_failed"),
    ({"value": "I", "explanation": "Grade not found in model output: I am unsure."}, "Grade not found in model output"),
    ({"value": "I", "explanation": "Scoring pattern not matched in output: Yes."}, "Scoring pattern not matched"),
    ({"value": None}, "no score"),
    ({"value": "N"}, "no answer"),
]


@pytest.mark.parametrize(("score", "reason"), FAILED_SCORES)
def test_score_that_a_scorer_could_not_give_is_ungraded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], score: dict[str, Any], reason: str
) -> None:
    """Check logs with a reason, and older ones, in which only the explanation tells."""
    graded = {**SAMPLE, "scores": {"judge": {"value": "I", "answer": "no", "explanation": "The answer is wrong."}}}
    failed = {**SAMPLE, "id": 2, "metadata": {"gender": "male"}, "scores": {"judge": score}}
    rows = _imported(_log(tmp_path, graded, failed, {**failed, "id": 3}))
    assert [row["judge"] for row in rows] == [False, None, None]
    assert [row["ungraded"] for row in rows][:2] == [None, f"could not be graded: {rows[1]['ungraded'][21:]}"]
    assert reason in rows[1]["ungraded"]
    notes = capsys.readouterr().out
    assert "2 of 3 answers could not be graded (" in notes
    assert "ungraded by gender: female 0 of 1, male 2 of 2" in notes


def test_choice_that_was_not_marked_is_ungraded(tmp_path: Path) -> None:
    """Check logs of versions whose scorer ``choice`` gives no reason."""
    scores = [{"value": "I", "answer": "B"}, {"value": "I", "answer": ""}]
    samples = [{**SAMPLE, "id": number, "scores": {"choice": score}} for number, score in enumerate(scores)]
    assert [row["choice"] for row in _imported(_log(tmp_path, *samples))] == [False, None]


def test_sample_that_two_scorers_could_not_grade_counts_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = {"pattern": {"value": "I", "reason": "invalid_response_format"}, "judge": {"reason": "grader_failed"}}
    (row,) = _imported(_log(tmp_path, {**SAMPLE, "scores": scores}))
    assert row["ungraded"] == "could not be graded: invalid_response_format; could not be graded: grader_failed"
    assert "1 of 1 answers could not be graded (invalid_response_format): they are" in capsys.readouterr().out


def test_scorers_that_gave_a_score_keep_it(tmp_path: Path) -> None:
    scores = {"match": {"value": "C"}, "judge": {"value": {"tone": 3, "fit": 1}, "reason": "grader_failed"}}
    (row,) = _imported(_log(tmp_path, {**SAMPLE, "scores": scores}))
    assert (row["match"], row["judge.tone"], row["judge.fit"]) == (True, None, None)
    assert row["ungraded"] == "could not be graded: grader_failed"


def test_samples_of_old_versions_have_one_score(tmp_path: Path) -> None:
    old = {name: value for name, value in SAMPLE.items() if name != "scores"} | {"score": {"value": "I"}}
    assert _imported(_log(tmp_path, old))[0]["score"] is False


def test_calls_of_tools_are_a_column_of_actions(tmp_path: Path) -> None:
    def calling(*calls: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": "", "tool_calls": list(calls)}

    look = {"id": "c", "function": "look_up", "arguments": {}, "type": "function"}
    defer = {"id": "d", "function": "defer", "arguments": {"days": 7}, "type": "function"}
    question, result = {"role": "user", "content": "May I?"}, {"role": "tool", "content": "paid"}
    samples = [
        {**SAMPLE, "messages": [question, calling(look), result, calling(defer)]},
        {**SAMPLE, "id": 2, "messages": [question, {"role": "assistant", "content": "No."}]},
        {**SAMPLE, "id": 3, "messages": [question, calling(defer)], "error": {"message": "timeout"}},
        {**SAMPLE, "id": 4},
    ]
    rows = _imported(_log(tmp_path, *samples))
    called = [{"name": "look_up", "arguments": {}}, {"name": "defer", "arguments": {"days": 7}}]
    assert [row["actions"] for row in rows] == [called, [], None, None]


def test_log_without_calls_has_no_such_column(tmp_path: Path) -> None:
    (row,) = _imported(_log(tmp_path, {**SAMPLE, "messages": [{"role": "assistant", "content": "No."}]}))
    assert "actions" not in row


def test_unfinished_log_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _imported(_log(tmp_path, SAMPLE, status="cancelled"))
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()[:2]] == [
        "the log's status is 'cancelled', not 'success'",
        "1 of 2 epochs of samples are not in the log",
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"PK\x03\x04cut", "is no whole log"),
        (b"{}", "is no log of inspect_ai"),
        (b"nonsense", "is no log of inspect_ai"),
        (b'{"eval": {}, "version": 1}', "has version 1"),
        (b'{"eval": {}, "version": 2, "samples": []}', "holds no sample"),
        (b'{"eval": {}, "samples": [{"id": 1, "scores": {"a": {"value": [1]}}}]}', "holds no score that can be"),
        (b'{"eval": {}, "samples": [{"id": 1}, {"id": 1}]}', "sample '1', epoch 1, is answer 1 of the table already"),
        (b'{"eval": {}, "samples": [{"scores": {}}]}', "sample 1 is no sample of inspect_ai"),
    ],
)
def test_broken_log_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, line: str
) -> None:
    file = tmp_path / "log.eval"
    file.write_bytes(content)
    assert main(["import", "inspect", str(file), "--out", str(tmp_path / "t.jsonl")]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert line in error
    assert [path.name for path in tmp_path.iterdir()] == ["log.eval"]
