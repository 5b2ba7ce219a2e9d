"""Files whose fields hold what they should not: a table or one line of error, never a crash."""

from __future__ import annotations

import gzip
import json
import lzma
import random
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.core import json_records
from pytest_fairness.extending import Importer, ModelContext, ModelName
from pytest_fairness.harnesses.every_eval_ever import EveryEvalEverImport
from pytest_fairness.harnesses.inspect_ai.log_import import InspectImport
from pytest_fairness.harnesses.lm_eval.samples_import import LmEvalImport
from pytest_fairness.models.replay import ReplayModel
from pytest_fairness.tables.openai_batch import OpenAIBatchImport
from pytest_fairness.tables.promptfoo import PromptfooImport
from tests.imports.test_openai_batch import chat, request, response, result
from tests.imports.test_tables import instance, sample
from tests.imports.test_tables import result as promptfoo_result

JUNK: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "x" * 500, "NaN", "half \ud800", [], [1], [None], [[]], [{}], {}),
    *({"a": {"b": [1]}}, {"value": None}, {"choices": 5}, {"message": 7}, {"results": {}}),
)
LOG = {
    "version": 2,
    "status": "success",
    "eval": {"dataset": {"sample_ids": [1, 2]}, "config": {"epochs": 1}},
    "samples": [
        {
            "id": number,
            "epoch": 1,
            "metadata": {"gender": "female"},
            "scores": {"match": {"value": "C"}},
            "output": {"choices": [{"stop_reason": "stop", "message": {"content": [{"type": "text", "text": "a"}]}}]},
        }
        for number in (1, 2)
    ],
}


def mutated(draw: random.Random, record: Any) -> str:
    """Return a record as JSON, with one to three of its fields removed or of another kind."""
    record = deepcopy(record)
    for _ in range(draw.choice((1, 1, 2, 3))):
        node = record
        while node:
            key = draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if isinstance(node[key], dict | list) and node[key] and draw.random() < 0.7:
                node = node[key]
            elif isinstance(node, dict) and draw.random() < 0.2:
                del node[key]
                break
            else:
                node[key] = deepcopy(draw.choice(JUNK))
                break
    return json.dumps(record)


def lines(record: Callable[[int], Any]) -> Callable[[random.Random, Path], Iterator[str]]:
    def write(draw: random.Random, folder: Path) -> Iterator[str]:
        (folder / "file.jsonl").write_text("\n".join(mutated(draw, record(number)) for number in (1, 2)))
        yield str(folder / "file.jsonl")

    return write


def document(record: Any) -> Callable[[random.Random, Path], Iterator[str]]:
    def write(draw: random.Random, folder: Path) -> Iterator[str]:
        (folder / "file.json").write_text(mutated(draw, record))
        yield str(folder / "file.json")

    return write


def batch(url: str, body: Any) -> Callable[[random.Random, Path], Iterator[str]]:
    def write(draw: random.Random, folder: Path) -> Iterator[str]:
        question, reply = request("a", url=url), result("a", body)
        is_request = draw.random() < 0.5
        (folder / "in.jsonl").write_text(mutated(draw, question) if is_request else json.dumps(question))
        (folder / "out.jsonl").write_text(json.dumps(reply) if is_request else mutated(draw, reply))
        yield from (str(folder / "out.jsonl"), "--input", str(folder / "in.jsonl"))

    return write


IMPORTS: dict[str, tuple[Importer, Callable[[random.Random, Path], Iterator[str]]]] = {
    "inspect": (InspectImport(), document(LOG)),
    "lm-eval": (LmEvalImport(), lines(sample)),
    "every-eval-ever": (EveryEvalEverImport(), lines(instance)),
    "promptfoo": (PromptfooImport(), document({"results": {"results": [promptfoo_result(1), promptfoo_result(2)]}})),
    "chat": (OpenAIBatchImport(), batch("/v1/chat/completions", chat("Yes."))),
    "responses": (OpenAIBatchImport(), batch("/v1/responses", response({"type": "output_text", "text": "Yes."}))),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_mutated_files_are_read_or_refused_in_one_line(tmp_path: Path, name: str) -> None:
    importer, write = IMPORTS[name]
    parser = ArgumentParser()
    importer.add_arguments(parser)
    written = 0
    refusals: list[str] = []
    for seed in range(100):
        out = tmp_path / f"{seed}.jsonl"
        arguments = parser.parse_args(list(write(random.Random(seed), tmp_path)))
        try:
            importer.convert(out, arguments)
        except FairnessError as error:
            refusals.append(str(error))
            continue
        written += 1
        records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert records
        if isinstance(importer, OpenAIBatchImport):
            ReplayModel(ModelName.parse(f"replay:{out}"), ModelContext(root=tmp_path)).preflight()
        else:
            assert len({tuple(record) for record in records}) == 1
    assert min(written, len(refusals)) > 10
    assert [line for line in refusals if "\n" in line] == []
    assert len(list(tmp_path.glob("[0-9]*"))) == written


def _zipped(path: Path, padding: int) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({name: LOG[name] for name in ("version", "status", "eval")}))
        with archive.open("samples/1_epoch_1.json", "w") as part:
            part.write(json.dumps(LOG["samples"][0])[:-1].encode() + b', "padding": "')  # type: ignore[index]
            for _ in range(padding):
                part.write(b"0" * 2**20)
            part.write(b'"}')
    return path


def _packed(path: Path, mebibytes: int) -> Path:
    pack = lzma.open if path.suffix == ".xz" else gzip.open
    with pack(path, "wb") as file:
        file.write(b'{"padding": "')
        for _ in range(mebibytes):
            file.write(b"0" * 2**20)
        file.write(b'"}\n')
    return path


def _read(importer: Importer, file: Path) -> None:
    parser = ArgumentParser()
    importer.add_arguments(parser)
    importer.convert(file.with_name("out.jsonl"), parser.parse_args([str(file)]))


def test_log_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a log of a megabyte took gigabytes of memory."""
    monkeypatch.setattr(json_records, "_UNPACKED", 2**20)
    _read(InspectImport(), _zipped(tmp_path / "good.eval", 0))
    with pytest.raises(FairnessError, match=r"samples/1_epoch_1.json is packed by more than a factor of 100"):
        _read(InspectImport(), _zipped(tmp_path / "bomb.eval", 2))


@pytest.mark.parametrize("ending", ["gz", "xz"])
def test_lines_that_unpack_without_end_are_refused(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: a file of xz was unpacked whole, whatever it held."""
    monkeypatch.setattr(json_records, "_UNPACKED", 2**20)
    assert len(list(json_records.read_records(_packed(tmp_path / f"good.jsonl.{ending}", 0), "a line"))) == 1
    path = _packed(tmp_path / f"bomb.jsonl.{ending}", 2)
    line = r"bomb.jsonl.* holds over 1 MiB, over 100 times its size: unpack it"
    with pytest.raises(FairnessError, match=line):
        list(json_records.read_records(path, "a line"))
    with pytest.raises(FairnessError, match=line):
        json_records.read_document(path, "a line")


@pytest.mark.parametrize("ending", ["gz", "xz"])
def test_packed_file_that_is_cut_off_is_refused(tmp_path: Path, ending: str) -> None:
    path = _packed(tmp_path / f"cut.jsonl.{ending}", 1)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FairnessError, match=r"no whole gzip file|no file of xz"):
        list(json_records.read_records(path, "a line"))
