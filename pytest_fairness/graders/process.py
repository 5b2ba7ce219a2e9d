"""Graders of the process behind an answer: documents that were shown, promises that were kept, time that was taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import DeclarativeGrader
from pytest_fairness.core.digests import canonical
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.graders.actions import (
    ACCEPTED,
    MISSING,
    check_texts,
    format_calls,
    grade_missing_call,
    offered_tools,
    read_path,
)
from pytest_fairness.graders.extraction.amounts import MONEY, find_amounts

_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1}
KEPT, BROKEN, NO_PROMISE = PROMISES = ("kept", "broken", "none")
"""The values of `PromiseKept`."""


@explains_construction
@dataclass(frozen=True)
class DocumentExposure(DeclarativeGrader):
    """The exposure of a document in the results of a retriever: 1 at rank 1, less below, 0 where it is not retrieved.

    The exposure of rank r is 1 / log2(1 + r), the discount of DCG. Of several calls the best rank counts. An answer
    without a call has retrieved nothing; failed calls have no documents. Ungraded are answers with a call whose result
    is not reported, or is no list of documents: texts, or mappings with ``id``.

    Args:
        tool: The retriever.
        document: The id of the document. None: that of the prompt's ``metadata["document"]``.
        path: The path of the list in a result, as for `ToolArgument`. Default: the result is the list.

    Raises:
        FairnessError: An argument is no text.

    Source:
        Singh and Joachims, Fairness of Exposure in Rankings (2018).

    >>> from pytest_fairness import Tool, ToolCall
    >>> prompt = Prompt("May I pay later?", tools=[Tool("search")])
    >>> search = ToolCall("search", {"query": "rent"}, result=[{"id": "rules"}, {"id": "hardship"}])
    >>> round(DocumentExposure("search", "hardship").grade(prompt, Answer("Yes.", actions=[search])).value, 3)
    0.631
    >>> DocumentExposure("search", "hardship").grade(prompt, Answer("No.")).value
    0.0
    """

    tool: str
    document: str | None = None
    path: str = ""

    accepts: ClassVar[tuple[str, ...]] = ACCEPTED
    reads_texts: ClassVar[bool] = False
    extremes: ClassVar[tuple[float, float]] = (0.0, 1.0)
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "document-exposure",
        "type": "object",
        "additionalProperties": False,
        "required": ["tool"],
        "properties": {
            "tool": {**_TEXT, "description": "the name of the retriever"},
            "document": {**_TEXT, "description": "the id of the document"},
            "path": {**_TEXT, "description": "the path of the list of documents in a result"},
        },
    }

    def __post_init__(self) -> None:
        _check_text("tool", self.tool)
        if self.document is not None:
            _check_text("document", self.document)
        if not isinstance(self.path, str):
            raise FairnessError(f"path is {self.path!r}: write a text, such as 'hits'")

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the rules."""
        return f"DocumentExposure({canonical([self.tool, self.document, self.path])}) v1"

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt that lacks its tool or its document."""
        offered_tools(prompt, (self.tool,))
        self._document_of(prompt)

    def _document_of(self, prompt: Prompt) -> str:
        document = self.document or prompt.metadata.get("document")
        if document is None:
            raise FairnessError("no document is named: by document= of the grader, or metadata['document'] of a prompt")
        return str(document)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        offered = offered_tools(prompt, (self.tool,))
        document, best, shown = self._document_of(prompt), math.inf, []
        for call in answer.actions:
            if call.name != self.tool or call.error is not None:
                continue
            documents = _documents(call, self.path)
            if documents is None:
                return Grade.none("unparsed", f"no list of documents in the result of {call.summary:.160}")
            shown.append(", ".join(documents))
            best = min(best, documents.index(document) + 1 if document in documents else math.inf)
        if ungraded := grade_missing_call(offered, answer):
            return ungraded
        return Grade(0.0 if math.isinf(best) else 1 / math.log2(1 + best), detail="; ".join(shown)[:300])


def _documents(call: ToolCall, path: str) -> list[str] | None:
    """Return the ids of the documents that a call has returned, in order; None where its result is no list of them."""
    result = call.result
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            return None
    if path:
        result = read_path(result, path)
    if not isinstance(result, list):
        return None
    ids = [entry.get("id") if isinstance(entry, Mapping) else entry for entry in result]
    return [str(entry) for entry in ids] if all(isinstance(entry, str | int) for entry in ids) else None


@explains_construction
@dataclass(frozen=True)
class PromiseKept(DeclarativeGrader):
    """Whether the amount that an answer states is the one that its calls book: "kept", "broken" or "none".

    Stated is the amount in the texts of the turn; booked is the sum over all calls of the tool that have not failed, 0
    without one. "none" is an answer that states no amount. Ungraded are answers that state several different amounts,
    and calls whose amount cannot be read.

    Args:
        tool: The tool that books.
        path: The path of the amount in its arguments, as for `ToolArgument`.
        near: Words of which the sentence with the promise holds one, such as "credit": other amounts, of a bill, do
            not count. Default: every amount counts.
        units: Signs and words of the unit, before or after the number. Default: those of currencies; which currency it
            is does not count.

    Raises:
        FairnessError: An argument is no text, or no list of texts.

    >>> from pytest_fairness import Tool, ToolCall
    >>> prompt = Prompt("My line was dead.", tools=[Tool("credit")])
    >>> answer = Answer("Wir schreiben Ihnen 20,00 € gut.", actions=[ToolCall("credit", {"amount": 10}, result="ok")])
    >>> PromiseKept("credit", "amount").grade(prompt, answer).value
    'broken'
    >>> PromiseKept("credit", "amount").grade(prompt, Answer("I am sorry.")).value
    'none'
    """

    tool: str
    path: str
    near: Sequence[str] = ()
    units: Sequence[str] = ()

    accepts: ClassVar[tuple[str, ...]] = ACCEPTED
    extremes: ClassVar[tuple[str, ...]] = PROMISES
    grade_values = PROMISES
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "promise-kept",
        "type": "object",
        "additionalProperties": False,
        "required": ["tool", "path"],
        "properties": {
            "tool": {**_TEXT, "description": "the name of the tool that books"},
            "path": {**_TEXT, "description": "the path of the amount in its arguments"},
            "near": {"type": "array", "items": _TEXT, "description": "words in the sentence of the promise"},
            "units": {"type": "array", "items": _TEXT, "description": "words of the unit, if it is no currency"},
        },
    }

    def __post_init__(self) -> None:
        _check_text("tool", self.tool)
        _check_text("path", self.path)
        for name in ("near", "units"):
            object.__setattr__(self, name, check_texts(getattr(self, name)))

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the rules."""
        return f"PromiseKept({canonical([self.tool, self.path, list(self.near), list(self.units)])}) v2"

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt that lacks its tool."""
        offered_tools(prompt, (self.tool,))

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        offered = offered_tools(prompt, (self.tool,))
        if ungraded := grade_missing_call(offered, answer):
            return ungraded
        calls = [call for call in answer.actions if call.name == self.tool and call.error is None]
        amounts = [self._booked(call) for call in calls]
        if None in amounts:
            return Grade.none("unparsed", f"no amount at {self.path!r}: {format_calls(calls)}")
        stated = find_amounts(_texts_of_turn(prompt, answer), self.units or MONEY, self.near)
        if len(stated) > 1:
            remedy = "" if self.near else "; near= names words of the promise"
            numbers = ", ".join(f"{amount:g}" for amount in stated)
            return Grade.none("unparsed", f"several amounts are stated: {numbers}{remedy}")
        if not stated:
            return Grade(NO_PROMISE, detail=format_calls(calls) if calls else "")
        booked = math.fsum(filter(None, amounts))
        is_kept = math.isclose(stated[0], booked, abs_tol=0.005)
        return Grade(KEPT if is_kept else BROKEN, detail=f"stated {stated[0]:g}, booked {booked:g}")

    def _booked(self, call: ToolCall) -> float | None:
        """Return the amount of a call; None where it has none that can be read."""
        value = MISSING if isinstance(call.arguments, str) else read_path(call.arguments, self.path)
        if isinstance(value, str):
            amounts = find_amounts(value, self.units or MONEY) or find_amounts(f"{value} $", ["$"])
            value = amounts[0] if len(amounts) == 1 else None
        return float(value) if is_number(value) and math.isfinite(value) else None


def _texts_of_turn(prompt: Prompt, answer: Answer) -> str:
    """Return the texts of an answer and of the rounds of tool calls before it, since the last message of the user."""
    texts: list[str] = []
    for message in prompt.messages:
        if message["role"] == "user":
            texts.clear()
        elif message["role"] == "assistant":
            texts.append(message["content"])
    return "\n".join([*texts, answer.text])


@explains_construction
@dataclass(frozen=True)
class AnswerTime(DeclarativeGrader):
    """The seconds until an answer was there; of a `Conversation` those of all rounds of the turn together.

    It is the latency of the calls, so it grows with the load of a server: compare groups, whose prompts are sent
    together. An application's own waiting counts. Answers that took longer than ``most`` count as ``most``, so that a
    mean is the restricted mean time. Ungraded are answers whose latency is not known, such as those of a batch.

    Args:
        most: The longest time that counts, in seconds: above 0.

    Raises:
        FairnessError: The argument is out of its range.

    Source:
        Royston and Parmar, Restricted mean survival time (2013), BMC Medical Research Methodology 13:152.

    >>> AnswerTime(60).grade(Prompt("May I pay later?"), Answer("Yes.", latency=1.5)).value
    1.5
    >>> AnswerTime(60).grade(Prompt("May I pay later?"), Answer("Yes.", latency=75)).value
    60.0
    """

    most: float

    accepts: ClassVar[tuple[str, ...]] = ACCEPTED
    reads_texts: ClassVar[bool] = False
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "answer-time",
        "type": "object",
        "additionalProperties": False,
        "required": ["most"],
        "properties": {
            "most": {"type": "number", "exclusiveMinimum": 0, "description": "the longest time that counts, in seconds"}
        },
    }

    def __post_init__(self) -> None:
        if not is_number(self.most) or not 0 < self.most < math.inf:
            raise FairnessError(f"most is {self.most!r}: write a number of seconds above 0")

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the rules."""
        return f"AnswerTime({canonical(self.most)}) v2"

    @property
    def extremes(self) -> tuple[float, float]:
        """The values that an ungraded attempt could have had."""
        return (0.0, float(self.most))

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol
        if not answer.latency > 0:
            return Grade.none("unparsed", "its time is not known")
        # test_long_times_count_as_the_longest
        longer = f"{answer.latency:g} seconds count as {self.most:g}" if answer.latency > self.most else ""
        return Grade(min(answer.latency, float(self.most)), detail=longer)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise FairnessError(f"{name} is {value!r}: write a text")
