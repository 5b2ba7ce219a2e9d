"""Imports that write a table of scored answers: what all of them share."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main

Import = Callable[..., list[dict[str, Any]]]
HOSTILE = "<script>\x1b[31m=cmd|'/C calc'!A0\u202e"


def sample(number: int, **fields: Any) -> dict[str, Any]:
    """Return a sample as lm-evaluation-harness logs it."""
    doc = {"gender": ("female", "male")[number % 2], "question": "?" * 300, "tags": ["a"], "info": {"level": 1}}
    scored = {"filter": "none", "metrics": ["acc"], "acc": float(number % 3 == 0)}
    return {
        "doc_id": number,
        "doc": doc,
        "target": "1",
        "resps": [["yes"]],
        "filtered_resps": ["yes"],
        **scored,
        **fields,
    }


def write(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    def run(*arguments: str | Path) -> list[dict[str, Any]]:
        table = tmp_path / "table.jsonl"
        assert main(["import", *map(str, arguments), "--out", str(table)]) == 0
        return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]

    return run


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    out = Path(arguments[1]).with_name("refused.jsonl")
    assert main(["import", *map(str, arguments), "--out", str(out)]) == 2
    assert not out.exists()
    (line,) = capsys.readouterr().err.splitlines()
    return line


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "bom": lambda text: text.encode("utf-8-sig"),
    "crlf": lambda text: text.replace("\n", "\r\n\r\n").encode(),
    "gzip": lambda text: gzip.compress(text.encode("utf-8-sig")),
    "array": lambda text: f" [{','.join(text.splitlines())}]".encode(),
    "no last newline": lambda text: text.rstrip().encode(),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_give_the_same_table(tmp_path: Path, imported: Import, encoding: str) -> None:
    file = tmp_path / "samples.jsonl"
    text = "".join(json.dumps(sample(number, note=HOSTILE)) + "\n" for number in range(3))
    file.write_bytes(ENCODINGS[encoding](text))
    rows = imported("lm-eval", file)
    assert [(row["sample"], row["epoch"], row["acc"], row["gender"]) for row in rows] == [
        ("0", 1, 1.0, "female"),
        ("1", 1, 0.0, "male"),
        ("2", 1, 0.0, "female"),
    ]
    assert rows[0].keys() == {"sample", "epoch", "gender", "question", "tags", "info.level", "target", "acc"}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'{"doc_id": 0', "samples.jsonl:1: not valid JSON"),
        (json.dumps(sample(0)).encode() + b"\n\n[]\n", "samples.jsonl:3: not a JSON object"),
        (json.dumps(sample(0)).encode() + b"\n{}\n", "samples.jsonl:2 is no sample of lm-evaluation-harness"),
        (json.dumps(sample(0)).encode() + b"\n\xff\n", "samples.jsonl:2: not UTF-8 text"),
        (json.dumps(sample(0)).encode("utf-16"), "is a text in UTF-16: save it in UTF-8"),
        (gzip.compress(json.dumps(sample(0)).encode() * 9, mtime=0)[:40], "is no whole gzip file"),
        (b"[" * 100_000, "no valid JSON: nested too deeply"),
        (b'{"a":' * 100_000, "samples.jsonl:1: not valid JSON: nested too deeply"),
        (b"\n \n", "holds no sample"),
        (b"", "holds no sample"),
        (json.dumps(sample(0, metrics=["bypass"], bypass=999)).encode(), "holds no score that can be measured"),
        (json.dumps(sample(0, acc=[0.5, 9])).encode(), "score acc is left out: it holds lists"),
        (json.dumps(sample(0, acc="x" * 201)).encode(), "it holds texts of more than 200 characters"),
        (b"\n".join([json.dumps(sample(7)).encode()] * 2), "sample '7', epoch 1, is answer 1 of the table already"),
        (json.dumps(sample(0, doc={str(n): n for n in range(501)})).encode(), "more than 500 different fields"),
    ],
)
def test_broken_file_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, line: str
) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_bytes(content)
    assert line in refusal(capsys, "lm-eval", file)


def test_missing_files_and_folders_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file, line in (
        (tmp_path / "none.jsonl", "cannot be read: No such file"),
        (tmp_path, "is a folder: name a file"),
    ):
        assert line in refusal(capsys, "lm-eval", file)
    file = write(tmp_path / "samples.jsonl", [sample(0)])
    assert main(["import", "lm-eval", str(file), "--out", str(tmp_path / "table.csv")]) == 2
    assert "let its name end in .jsonl" in capsys.readouterr().err
    assert main(["import", "lm-eval", str(file), "--out", str(file / "table.jsonl")]) == 2
    assert "cannot be written: " in capsys.readouterr().err


def test_numbers_that_json_does_not_know_are_ungraded(tmp_path: Path, imported: Import) -> None:
    texts = [json.dumps(sample(number)).replace('"acc": ', f'"acc": {value}, "was": ') for number, value in
             enumerate(["NaN", "Infinity", "-Infinity", "1e999", "0.5"])]  # fmt: skip
    (tmp_path / "samples.jsonl").write_text("\n".join(texts), encoding="utf-8")
    assert [row["acc"] for row in imported("lm-eval", tmp_path / "samples.jsonl")] == [None] * 4 + [0.5]


def test_names_of_columns_do_not_control_the_terminal(
    tmp_path: Path, imported: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    half = "half a character \ud800"
    record = sample(0, doc={HOSTILE: half, "acc": "own"}, metrics=[HOSTILE, "acc"], **{HOSTILE: 1})
    (row,) = imported("lm-eval", write(tmp_path / "samples.jsonl", [record]))
    assert row[f"metadata.{HOSTILE}"] == half
    assert (row[HOSTILE], row["acc"], row["metadata.acc"]) == (1, 1.0, "own")
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "\u202e" not in output


def test_answers_that_are_empty_or_unread_are_ungraded(
    tmp_path: Path, imported: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        sample(0),
        sample(3, resps=[[" "], [""]]),
        sample(6, resps=[["?"]], filtered_resps=["[invalid]"]),
        sample(
            9, resps=[[["-1.5", "False"]], [["-0.5", "True"]]], filtered_resps=[["-1.5", "False"], ["-0.5", "True"]]
        ),
    ]
    rows = imported("lm-eval", write(tmp_path / "samples.jsonl", records))
    assert [row["acc"] for row in rows] == [1.0, None, None, 1.0]
    output = capsys.readouterr().out
    assert "1 of 4 answers are empty: they are ungraded" in output
    assert "1 of 4 answers could not be read by the filter: they are ungraded" in output


def test_several_filters_need_a_choice(tmp_path: Path, imported: Import, capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        sample(number, filter=name, acc=value) for name, value in (("strict", 0), ("loose", 1)) for number in (0, 1)
    ]
    file = write(tmp_path / "samples.jsonl", records)
    assert "2 values of filter, strict, loose: a table holds one; add --select filter=VALUE" in refusal(
        capsys, "lm-eval", file
    )
    assert [row["acc"] for row in imported("lm-eval", file, "--select", "filter=loose")] == [1, 1]
    for option, line in (
        ("filter=lose", "no filter is 'lose'; did you mean 'loose'"),
        ("fliter=loose", "there is no 'fliter'; did you mean 'filter'"),
        ("filter", "write NAME=VALUE"),
    ):
        assert line in refusal(capsys, "lm-eval", file, "--select", option)
    assert "names two values" in refusal(capsys, "lm-eval", file, "--select=filter=loose", "--select=filter=strict")


def test_tasks_with_the_same_metrics_are_one_table(
    tmp_path: Path, imported: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        write(tmp_path / f"samples_{task}_2026-01-21T03-44-18.458309.jsonl", [sample(0, **fields)])
        for task, fields in (("crows_age", {}), ("crows_race", {}), ("other", {"metrics": ["em"], "em": 1}))
    ]
    rows = imported("lm-eval", *files[:2])
    assert [(row["sample"], row["task"]) for row in rows] == [
        ("crows_age/0", "crows_age"),
        ("crows_race/0", "crows_race"),
    ]
    assert "has other metrics than" in refusal(capsys, "lm-eval", *files)


def test_samples_of_old_versions_name_no_metrics(tmp_path: Path, imported: Import) -> None:
    old = {name: value for name, value in sample(0).items() if name not in ("metrics", "filter")}
    (row,) = imported("lm-eval", write(tmp_path / "samples.jsonl", [{**old, "acc_norm": 0.25}]))
    assert (row["acc"], row["acc_norm"]) == (1.0, 0.25)


def instance(number: int, **fields: Any) -> dict[str, Any]:
    """Return instance-level data of Every Eval Ever."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "hiring/us_model/1",
        "model_id": "us/model",
        "evaluation_name": "advance",
        "sample_id": f"s{number}",
        "interaction_type": "single_turn",
        "input": {"raw": "?", "reference": []},
        "output": {"raw": ["yes"]},
        "answer_attribution": [],
        "evaluation": {"score": number / 10, "is_correct": number > 1},
        "metadata": {"gender": "female"},
        **fields,
    }


def test_every_eval_ever_is_read_by_either_of_its_files(tmp_path: Path, imported: Import) -> None:
    records = [instance(1), instance(2, error="timeout"), instance(3, output={"raw": [""]}), instance(2, messages=[])]
    samples = write(tmp_path / "0a_samples.jsonl", records)
    (tmp_path / "0a.json").write_text(json.dumps({"evaluation_results": []}))
    rows = imported("every-eval-ever", samples)
    assert rows == imported("every-eval-ever", tmp_path / "0a.json")
    assert [(row["sample"], row["epoch"], row["score"], row["is_correct"]) for row in rows] == [
        ("s1", 1, 0.1, False),
        ("s2", 1, None, None),
        ("s3", 1, None, None),
        ("s2", 2, 0.2, True),
    ]
    assert {row["gender"] for row in rows} == {"female"}


def test_mixed_instance_level_data_are_refused(
    tmp_path: Path, imported: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(
        tmp_path / "x_samples.jsonl", [instance(1), instance(1, evaluation_name="reject", model_id="them/model")]
    )
    assert "2 values of evaluation, advance, reject" in refusal(capsys, "every-eval-ever", file)
    assert len(imported("every-eval-ever", file, "--select=evaluation=reject")) == 1
    mixed = write(tmp_path / "y_samples.jsonl", [instance(1), instance(2, schema_version="instance_level_eval_0.2.0")])
    assert "2 values of schema" in refusal(capsys, "every-eval-ever", mixed)
    bare = write(tmp_path / "z_samples.jsonl", [{"sample_id": "a"}])
    assert "z_samples.jsonl:1: no 'evaluation_name'" in refusal(capsys, "every-eval-ever", bare)


def test_aggregate_without_samples_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aggregate = tmp_path / "0b.json"
    aggregate.write_text(json.dumps({"evaluation_results": []}))
    assert "no interval can be made of a score alone" in refusal(capsys, "every-eval-ever", aggregate)
    aggregate.write_text("{}")
    assert "it has no evaluation_results" in refusal(capsys, "every-eval-ever", aggregate)


def result(number: int, **fields: Any) -> dict[str, Any]:
    """Return a result of promptfoo."""
    return {
        "testIdx": number,
        "promptIdx": 0,
        "provider": {"id": "openai:gpt-5-mini", "label": ""},
        "prompt": {"raw": "Hire {{name}}?", "label": "hire"},
        "vars": {"gender": ("female", "male")[number % 2], "name": f"N{number}"},
        "response": {"output": "Yes."},
        "success": number > 0,
        "failureReason": 0 if number > 0 else 1,
        "error": None if number > 0 else "Expected output to contain yes",
        "score": 0.5,
        "namedScores": {"politeness": 0.9},
        **fields,
    }


def test_promptfoo_is_read_in_all_its_forms(tmp_path: Path, imported: Import) -> None:
    results = [result(number) for number in range(4)]
    forms = {"v3.json": {"results": {"version": 3, "results": results}}, "v1.json": {"results": results}}
    for name, content in forms.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    write(tmp_path / "lines.jsonl", results)
    tables = [imported("promptfoo", tmp_path / name) for name in (*forms, "lines.jsonl")]
    assert tables[0] == tables[1] == tables[2]
    columns = ("sample", "epoch", "gender", "success", "score", "politeness")
    assert [row[name] for row in tables[0][:1] for name in columns] == ["0", 1, "female", False, 0.5, 0.9]


def test_promptfoo_answers_without_a_score_are_ungraded(tmp_path: Path, imported: Import) -> None:
    repeated = result(2, testIdx=9)
    records = [
        result(1),
        result(2),
        repeated,
        result(3, failureReason=2, success=False, response=None),
        result(4, response={"output": " "}),
        result(5, response={"output": "I cannot", "isRefusal": True}),
        result(6, response={"output": "Yes, she", "finishReason": "length"}),
        result(7, response={"error": "HTTP 500"}),
    ]
    rows = imported("promptfoo", write(tmp_path / "r.jsonl", records))
    assert [(row["sample"], row["epoch"]) for row in rows[:3]] == [("1", 1), ("2", 1), ("2", 2)]
    assert [row["success"] for row in rows] == [True] * 3 + [None] * 5


def test_providers_of_promptfoo_are_tables_of_their_own(
    tmp_path: Path, imported: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "r.jsonl", [result(1), result(1, provider="ollama:llama")])
    assert "add --select provider=VALUE" in refusal(capsys, "promptfoo", file)
    assert len(imported("promptfoo", file, "--select", "provider=ollama:llama")) == 1
    (tmp_path / "no.json").write_text('{"results": 3}')
    assert "is no file of promptfoo" in refusal(capsys, "promptfoo", tmp_path / "no.json")
    bad = write(tmp_path / "b.jsonl", [{"a": 1}])
    assert "b.jsonl:1 is no result of promptfoo" in refusal(capsys, "promptfoo", bad)
