"""Results of promptfoo, ``promptfoo eval --output results.json`` or ``.jsonl``, as a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import STOP, normalize_reason
from pytest_fairness.core.json_records import Record, read_document, read_records
from pytest_fairness.imports.recorded_answers import RecordedAnswer, TableImporter

_NOUN = "a result of promptfoo"
_FAILED = 2
"""`failureReason` of a test that has no answer, or whose assertions could not run; 1 is an assertion that failed."""


class PromptfooImport(TableImporter):
    """The import ``promptfoo``."""

    help = "results of promptfoo, as a table with a row for each test"
    parts = "provider, prompt"

    def add_files(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="RESULTS", help="as --output has written them: .json or .jsonl")

    def read(self, arguments: Namespace, notes: list[str]) -> Iterator[RecordedAnswer]:  # noqa: ARG002
        numbers: dict[str, str] = {}
        for where, result in _results(arguments.file):
            yield _answer(where, result, numbers)


def _results(file: Path) -> Iterator[tuple[str, Record]]:
    if file.suffix == ".jsonl" or file.name.endswith(".jsonl.gz"):
        yield from read_records(file, _NOUN)
        return
    results = read_document(file, "a file of promptfoo").get("results")
    if isinstance(results, Mapping):  # since version 2: with statistics beside it
        results = results.get("results")
    if not isinstance(results, list):
        raise FairnessError(
            f"{file} is no file of promptfoo: name what `promptfoo eval --output FILE.json` has written"
        )
    for number, result in enumerate(results, 1):
        if not isinstance(result, dict):
            raise FairnessError(f"{file}: result {number} is no JSON object")
        yield f"{file}: result {number}", result


def _answer(where: str, result: Record, numbers: dict[str, str]) -> RecordedAnswer:
    if not isinstance(result.get("success"), bool) or not isinstance(result.get("vars"), Mapping):
        raise FairnessError(f"{where} is no result of promptfoo: it needs `success` and `vars`")
    # Repeated tests have numbers of their own: the same variables are the same question.
    variables = json.dumps(result["vars"], sort_keys=True)
    sample = numbers.setdefault(variables, str(result.get("testIdx", len(numbers))))
    named_scores = result.get("namedScores")
    case = result.get("testCase")
    metadata = case.get("metadata") if isinstance(case, Mapping) else None
    return RecordedAnswer(
        where,
        sample,
        None,
        {
            **(named_scores if isinstance(named_scores, Mapping) else {}),
            "success": result["success"],
            "score": result.get("score"),
        },
        {**(metadata if isinstance(metadata, Mapping) else {}), **result["vars"]},
        _ungraded(result),
        {"provider": _name(result.get("provider"), "id"), "prompt": _name(result.get("prompt"), "label")},
    )


def _name(value: Any, field: str) -> str:
    """Return the name of a provider or prompt, which older versions write as a text."""
    name = value.get(field) or value.get("raw") if isinstance(value, Mapping) else value
    return str(name or "")


def _ungraded(result: Mapping[str, Any]) -> str:
    """Return the reason that the scores of a test do not count; empty where they do."""
    response = result.get("response")
    if result.get("failureReason") == _FAILED or not isinstance(response, Mapping) or response.get("error"):
        return "failed"
    if response.get("isRefusal") or normalize_reason(response.get("finishReason")) not in (STOP, "tool_calls"):
        return "were cut off, filtered or refused"
    output = response.get("output")
    return "are empty" if output is None or (isinstance(output, str) and not output.strip()) else ""
