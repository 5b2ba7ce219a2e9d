"""``pytest-fairness import inspect``: logs of inspect_ai as tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fairness.benchmarks.inspect_ai.log import convert
from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.measured import Measured

SAMPLE = {
    "id": 1,
    "epoch": 1,
    "metadata": {"gender": "female", "tags": ["a"]},
    "scores": {"match": {"value": "C"}, "gender": {"value": float("nan")}},
    "output": {"choices": [{"stop_reason": "stop"}]},
}


def _log(folder: Path, *samples: dict[str, object], **header: object) -> Path:
    file = folder / "log.json"
    evaluated = {"dataset": {"sample_ids": [1, 2]}, "config": {"epochs": 1}}
    content = {"version": 2, "status": "success", "eval": evaluated, "samples": samples, **header}
    file.write_text(json.dumps(content))
    return file


@pytest.mark.slow
@pytest.mark.parametrize("task", ["matching", "letters", "repeated"])
def test_table_has_the_accuracy_of_its_log(their_run: Path, tmp_path: Path, task: str) -> None:
    """Read one JSON file and two zip files that are packed by Zstandard."""
    (log,) = (their_run / "logs").glob(f"*_{task}_*")
    table = tmp_path / "table.jsonl"
    assert main(["import", "inspect", str(log), "--out", str(table)]) == 0
    groups = [] if task == "letters" else ["gender"]
    measured = Measured.from_table(table, item="sample", groups=groups)
    scorer = "choice" if task == "letters" else "match"
    scores = json.loads((their_run / "scores.json").read_text())[task]
    theirs = scores.get(f"{scorer}/None/accuracy", scores.get(f"{scorer}/mean/accuracy"))
    assert measured.rate(scorer).value == pytest.approx(theirs, abs=1e-9)


def test_failed_and_cut_off_samples_are_ungraded(tmp_path: Path) -> None:
    failed = {**SAMPLE, "id": 2, "error": {"message": "timeout"}}
    cut_off = {**SAMPLE, "id": 3, "output": {"choices": [{"stop_reason": "max_tokens"}]}}
    imported = convert(_log(tmp_path, SAMPLE, failed, cut_off), tmp_path / "t.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [row["match"] for row in rows] == [True, None, None]
    assert [row["gender"] for row in rows] == [None, None, None]
    assert {row["metadata.gender"] for row in rows} == {"female"}
    assert imported.notes == ("2 failed or have an incomplete answer: they are ungraded",)


def test_unfinished_log_is_noted(tmp_path: Path) -> None:
    imported = convert(_log(tmp_path, SAMPLE, status="cancelled"), tmp_path / "t.jsonl")
    assert [note.split(":")[0] for note in imported.notes] == [
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
        (b'{"eval": {}, "version": 2, "samples": []}', "holds no score"),
    ],
)
def test_broken_log_is_refused_in_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    file = tmp_path / "log.eval"
    file.write_bytes(content)
    with pytest.raises(FairnessError, match=line):
        convert(file, tmp_path / "t.jsonl")
