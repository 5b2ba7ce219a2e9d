"""Results of promptfoo, ``promptfoo eval --output results.json`` or ``.jsonl``, as a table."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import STOP, normalize_reason
from pytest_fairness.core.json_records import Record, read_document, read_records
from pytest_fairness.core.placeholders import find_placeholders
from pytest_fairness.tables.recorded_answers import RecordedAnswer, TableImporter

_NOUN = "a result of promptfoo"
_OTHER_OUTPUTS = frozenset((".csv", ".yaml", ".yml", ".html", ".xml", ".txt"))
"""Endings of files that promptfoo writes for people, without what its graders said."""
_FAILED = 2
"""`failureReason` of a test that has no answer, or whose assertions could not run; 1 is an assertion that failed."""
_HUMAN = "human"
"""The type of the assertion by which a person has graded a test: it overrides all others."""
_NO_ASSERTIONS = "No assertions"
"""The reason of a test that passes since nothing of it is graded."""
_GRADER_FAILED = re.compile(
    r"(?:Error: )*(?:Output (?:requires|does not require) web search verification: |"
    r"G-Eval criterion \d+/\d+ \(.*?\) failed: )?(?:"
    r"No output$|No embedding$|Embedding not found|Unknown error fetching|No classification scores returned|"
    r"Could not (?:extract|parse|perform remote grading)|[\w:-]+ produced malformed response|"
    r"Model grader produced a malformed response|Malformed response data|Output is not valid JSON|Error parsing output|"
    r"Invalid (?:similarity score|select-best verdict|category value|option|moderation response|regex pattern)|"
    r"Factuality checker output did not match|LLM-proposed evaluation|LLM does not propose any evaluation step|"
    r"G-Eval (?:result (?:has|score)|[\w-]+ call to)|Grader returned no |Grader output does not quote|"
    r"Search rubric evaluation failed|Some grading calls failed|Remote grading failed|"
    r"Custom function (?:threw error|must return)|(?:Python|Ruby) code execution failed|Webhook error|"
    r"Scoring function error|[\w.' -]{0,40}\bAPI (?:(?:call |response )?error(?::| \(?\d)|returned invalid)|"
    r"Service error:|Rate limit (?:exceeded|reached)|Request (?:timed out|failed)|Failed to call Vertex|"
    r"Error calling OpenAI|connect E[A-Z]+|read E[A-Z]+|getaddrinfo |fetch failed|socket hang up|"
    r"HTTP (?:error )?[45]\d\d)",
    re.DOTALL,
)
"""The beginnings of the reason of an assertion that its grader gave no grade, in all versions: it counts as failed
there, or as passed if it is negated. Version 0.122 and later mark most of them by `graderError`.
"""
_JUDGED = re.compile(
    r"(?:not-)?(?:llm-rubric|agent-rubric|search-rubric|(?:model-graded-)?(?:closedqa|factuality)|g-eval|answer-relevance|"
    r"context-[\w-]+|conversation-relevance|select-best|similar(?::\w+)?|trajectory:goal-success)"
)
"""The types of assertions that another model grades."""
_GRADED = (
    (re.compile(r"(?:not-)?classifier"), re.compile(r"(?:Maximum classification score|Classification .* has score) ")),
    (
        re.compile(r"(?:not-)?similar(?::\w+)?"),
        re.compile(r"(?:Similarity|Distance) -?[\d.]+ is |None of the provided "),
    ),
)
"""The types of assertions whose reason has one form, which thus tell every other one of a failure, and that form."""
_DEEPEST = 8
"""The deepest level of assertions in assertions that is read."""
_TOKENS = ("total", "prompt", "completion", "cached", "numRequests")


class PromptfooImport(TableImporter):
    """The import ``promptfoo``."""

    help = "results of promptfoo, as a table with a row for each test"
    parts = "provider, label, prompt, promptIdx"

    def add_files(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="RESULTS", help="as --output has written them: .json or .jsonl")

    def read(self, arguments: Namespace, notes: list[str]) -> Iterator[RecordedAnswer]:
        numbers: dict[str, str] = {}
        # A judge that reports the tokens of its other grades, and none of this one, was not reached.
        results = _Results(arguments.file)
        judges: set[str] = set()
        shared = _SharedRequests()
        for _, result in results:
            judges.update(_judges_with_tokens(result))
            shared.add(result)
        rows = lacking = cached = 0
        unfilled: Counter[str] = Counter()
        for where, result in results:
            rows += 1
            lacking += not isinstance(result.get("gradingResult"), Mapping) and not result.get("error")
            cached += _is_cached(result)
            unfilled.update(islice(find_placeholders(_name(result.get("prompt"), "raw")), 1))
            yield _answer(where, result, numbers, judges, shared)
        if cached:
            notes.append(f"{cached:,} of {rows:,} answers came from promptfoo's cache")
        if unfilled:
            blank = unfilled.most_common(1)[0][0]
            notes.append(f"{unfilled.total():,} of {rows:,} prompts look unfilled: they hold {blank}")
        if lacking:
            notes.append(
                f"{lacking:,} of {rows:,} results have no gradingResult: whether a grader failed is not known of them"
            )


class _Results:
    """The results in a file, which is read as often as they are iterated: lines as a stream, a document once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._document = None if file.suffix == ".jsonl" or file.name.endswith(".jsonl.gz") else _document(file)

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        if self._document is None:
            yield from read_records(self._file, _NOUN)
            return
        for number, result in enumerate(self._document, 1):
            if not isinstance(result, dict):
                raise FairnessError(f"{self._file}: result {number} is no JSON object")
            yield f"{self._file}: result {number}", result


class _SharedRequests:
    """The requests that promptfoo sent for different variables: its cache knows only what they hold."""

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}
        self._shared: set[str] = set()

    def add(self, result: Mapping[str, Any]) -> None:
        """Add the request and the variables of a test."""
        request, variables = _request(result), digest(json.dumps(result.get("vars"), sort_keys=True))
        if request and self._variables.setdefault(request, variables) != variables:
            self._shared.add(request)

    def reason(self, result: Mapping[str, Any]) -> str:
        """Return the reason that a reply may be the one to other variables; empty where it is not."""
        is_others = _is_cached(result) and _request(result) in self._shared
        return "came from a cache that leaves variables out" if is_others else ""


def _request(result: Mapping[str, Any]) -> str:
    """Return a digest of the provider and the filled prompt of a test; empty without a prompt."""
    prompt = result.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, Mapping) else None
    return digest(json.dumps([_name(result.get("provider"), "id"), raw])) if raw else ""


def _is_cached(result: Mapping[str, Any]) -> bool:
    response = result.get("response")
    return isinstance(response, Mapping) and response.get("cached") is True


def _document(file: Path) -> list[Any]:
    is_other = file.suffix.lower() in _OTHER_OUTPUTS
    results = None if is_other else read_document(file, "a file of promptfoo").get("results")
    if isinstance(results, Mapping):  # since version 2: with statistics beside it
        results = results.get("results")
    if not isinstance(results, list):
        raise FairnessError(
            f"{file} is no file of promptfoo: name what `promptfoo eval --output FILE.json` has written"
        )
    return results


def _answer(
    where: str, result: Record, numbers: dict[str, str], judges: Collection[str], shared: _SharedRequests
) -> RecordedAnswer:
    if not isinstance(result.get("success"), bool) or not isinstance(result.get("vars"), Mapping):
        raise FairnessError(f"{where} is no result of promptfoo: it needs `success` and `vars`")
    # Repeated tests have numbers of their own: the same variables are the same question.
    variables = json.dumps(result["vars"], sort_keys=True)
    sample = numbers.setdefault(variables, str(result.get("testIdx", len(numbers))))
    named_scores = result.get("namedScores")
    named_scores = named_scores if isinstance(named_scores, Mapping) else {}
    case = result.get("testCase")
    metadata = case.get("metadata") if isinstance(case, Mapping) else None
    provider = result.get("provider")
    return RecordedAnswer(
        where,
        sample,
        None,
        {**named_scores, "success": result["success"], "score": result.get("score")},
        {**(metadata if isinstance(metadata, Mapping) else {}), **result["vars"]},
        _ungraded(result) or shared.reason(result) or _failed_grades(result, named_scores, judges),
        {
            "provider": _name(provider, "id"),
            "label": str(provider.get("label") or "") if isinstance(provider, Mapping) else "",
            "prompt": _name(result.get("prompt"), "label"),
            "promptIdx": str(result.get("promptIdx", 0)),
        },
    )


def _name(value: Any, field: str) -> str:
    """Return the name of a provider or prompt, which older versions write as a text."""
    name = value.get(field) or value.get("raw") if isinstance(value, Mapping) else value
    return str(name or "")


def _ungraded(result: Mapping[str, Any]) -> str:
    """Return the reason that the scores of a test do not count; empty where they do."""
    response = result.get("response")
    error = result.get("error") or (response.get("error") if isinstance(response, Mapping) else "")
    was_graded = isinstance(result.get("gradingResult"), Mapping) or result.get("failureReason") is not None
    if result.get("failureReason") == _FAILED or not isinstance(response, Mapping) or response.get("error"):
        return f"failed: {_first_line(error)}"
    if error and not was_graded and not result["success"]:  # as versions without failureReason write a failure
        return f"failed: {_first_line(error)}"
    reason = response.get("finishReason")
    if response.get("isRefusal") or normalize_reason(reason) not in (STOP, "tool_calls"):
        return f"were cut off, filtered or refused: {reason or 'isRefusal'}"
    guardrails = response.get("guardrails")
    if isinstance(guardrails, Mapping) and guardrails.get("flagged"):
        return "were cut off, filtered or refused: guardrails"
    output = response.get("output")
    return "are empty" if output is None or (isinstance(output, str) and not output.strip()) else ""


def _failed_grades(
    result: Mapping[str, Any], named_scores: Mapping[str, Any], judges: Collection[str]
) -> dict[str, str]:
    """Return why scores of a test are none, since a grader gave no grade: ``success`` and ``score`` need them all.

    Args:
        result: The test.
        named_scores: Its named scores.
        judges: The types of assertions whose judges report their tokens.
    """
    components = _components(result)
    grading = result.get("gradingResult")
    whole = str(grading.get("reason") or "") if isinstance(grading, Mapping) else str(result.get("error") or "")
    if whole == _NO_ASSERTIONS and not components:
        return dict.fromkeys((*named_scores, "success", "score"), "have no assertion")
    if any(_kind(of) == _HUMAN for of in components):
        return {}
    failed = {index: reason for index, of in enumerate(components) if (reason := _grader_failure(of, judges))}
    if not failed and _GRADER_FAILED.match(whole):
        failed = {-1: whole}
    if not failed:
        return {}
    reason = f"could not be graded: {_first_line(next(iter(failed.values())))}"
    graded = {_metric(of) for index, of in enumerate(components) if index not in failed and not _is_set(of)}
    ungraded = {_metric(of) for index, of in enumerate(components) if index in failed or _is_set(of)}
    names = (name for name in named_scores if name in ungraded or name not in graded)
    return dict.fromkeys((*names, "success", "score"), reason)


def _grader_failure(component: Mapping[str, Any], judges: Collection[str]) -> str:
    """Return the reason of an assertion whose grader gave no grade; empty for one that was graded."""
    reason, metadata = str(component.get("reason") or ""), component.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    if metadata.get("graderError") is True or metadata.get("gradingIncomplete") is True:
        return reason or "graderError"
    if _GRADER_FAILED.match(reason):
        return reason
    if reason and any(kind.fullmatch(_kind(component)) and not form.match(reason) for kind, form in _GRADED):
        return reason
    is_unreached = _kind(component) in judges and not _tokens(component) and not metadata.get("cachedResponse")
    return f"the judge used no tokens: {reason}" if is_unreached else ""


def _components(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the results of a test's assertions, and of those that one of them consists of."""
    return list(_parts_of(result.get("gradingResult"), 0))


def _parts_of(grading: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    components = grading.get("componentResults") if isinstance(grading, Mapping) else None
    for component in components if isinstance(components, list) and depth < _DEEPEST else ():
        if isinstance(component, Mapping):
            yield component
            yield from _parts_of(component, depth + 1)


def _judges_with_tokens(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the types of a test's assertions whose judge reports its tokens."""
    for component in _components(result):
        if _JUDGED.fullmatch(kind := _kind(component)) and _tokens(component):
            yield kind


def _tokens(component: Mapping[str, Any]) -> bool:
    """Return whether an assertion reports tokens or requests of its grader."""
    used = component.get("tokensUsed")
    return isinstance(used, Mapping) and any(used.get(name) for name in _TOKENS)


def _kind(component: Mapping[str, Any]) -> str:
    """Return the type of an assertion."""
    assertion = component.get("assertion")
    return str(assertion.get("type") or "") if isinstance(assertion, Mapping) else ""


def _is_set(component: Mapping[str, Any]) -> bool:
    """Return whether a result is that of a set of assertions, which depends on each of them."""
    metadata = component.get("metadata")
    return isinstance(metadata, Mapping) and "assertionSet" in metadata


def _metric(component: Mapping[str, Any]) -> str:
    """Return the name of the score to which an assertion adds; empty without one."""
    metadata, assertion = component.get("metadata"), component.get("assertion")
    of_set = metadata.get("assertionSet") if isinstance(metadata, Mapping) else None
    for holder in (of_set, assertion):
        if isinstance(holder, Mapping) and holder.get("metric"):
            return str(holder["metric"])
    return ""


def _first_line(text: Any) -> str:
    return next(iter(str(text or "").strip().splitlines()), "")
