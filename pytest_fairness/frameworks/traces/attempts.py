"""Attempts in traces: of each the user's request, the final answer, and the actions between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness import ToolCall
from pytest_fairness.extending import finish_reasons
from pytest_fairness.frameworks.traces.conventions import (
    AGENT,
    ASIDE,
    CHAIN,
    MODEL,
    RETRIEVER,
    TOOL,
    UNKNOWN,
    Step,
    read_step,
    tool_fields,
)
from pytest_fairness.frameworks.traces.messages import RequestedCall, last_turn
from pytest_fairness.frameworks.traces.readers import is_langfuse_root
from pytest_fairness.frameworks.traces.spans import Span, first_of, flatten, parsed

_TAGS = ("tags", "tag.tags", "langfuse.trace.tags")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_ANSWERING = (AGENT, CHAIN, MODEL, UNKNOWN)


@dataclass(slots=True)
class TracedAttempt:
    """An answer to a user, as one trace shows it."""

    trace: str
    messages: list[dict[str, str]] = field(default_factory=list)
    text: str | None = None
    finish_reason: str = ""
    actions: list[ToolCall] = field(default_factory=list)
    seconds: float | None = None
    tokens: dict[str, int | None] = field(default_factory=dict)
    model: str = ""
    """The model that was requested for the answer."""
    served_by: str = ""
    """The model that answered, as its provider reports it."""
    fault: str = ""
    """The reason that it does not count, as "failed: the words"; empty where it does."""
    models: int = 0
    """The number of different models in it."""
    roots: int = 0
    """The number of its roots with an answer."""
    unexecuted: int = 0
    """Calls that a model has requested, and of which no execution is recorded."""
    unknown: list[str] = field(default_factory=list)
    """The names of spans whose kind no convention names."""
    asides: int = 0
    """Spans of evaluators, guardrails and the like."""
    sampling: float | None = None
    """The probability with which the trace was kept; None where it is not stated."""


class Trace:
    """The spans of one trace, as a tree.

    Args:
        spans: All of them, in the order of the files.
        longest: The number of characters at which the recorder has cut off texts; None where it did not.
    """

    def __init__(self, spans: Sequence[Span], longest: int | None = None) -> None:
        order = {span.id: number for number, span in enumerate(spans)}
        self.spans = sorted(spans, key=lambda span: (span.start is None, span.start or 0.0, order[span.id]))
        self._longest = longest
        self._by_id = {span.id: span for span in self.spans}
        self._tops = [span for span in self.spans if self._parent(span) is None]
        self._steps = {span.id: read_step(span) for span in self.spans}
        self._aside = {
            span.id for span in self.spans if any(self._steps[one.id].kind == ASIDE for one in self._line(span))
        }

    def _parent(self, span: Span) -> Span | None:
        parent = self._by_id.get(span.parent)
        return None if parent is span else parent

    def _line(self, span: Span) -> Iterator[Span]:
        """Yield a span and those above it; a circle ends."""
        seen: set[str] = set()
        current: Span | None = span
        while current is not None and current.id not in seen:
            seen.add(current.id)
            yield current
            current = self._parent(current)

    def _above(self, span: Span, kind: str) -> Iterator[Step]:
        """Yield the steps of a kind above a span."""
        steps = (self._steps[one.id] for one in self._line(span) if one is not span)
        return (step for step in steps if step.kind == kind)

    @property
    def is_of_model(self) -> bool:
        """Whether any span is of a model, an agent, a tool, a retriever or a chain of these."""
        return any(step.kind in (MODEL, AGENT, TOOL, RETRIEVER, CHAIN) for step in self._steps.values())

    def values(self, name: str) -> list[str]:
        """Return the different values of an attribute: of its spans, else of their resources.

        ``metadata.NAME`` is a key of the metadata, and ``tags.NAME`` the VALUE of a tag ``NAME:VALUE``.
        """
        own = [value for span in self.spans for value in _values(span, name)]
        own = own or [str(span.resource[name]) for span in self.spans if span.resource.get(name) not in (None, "")]
        return list(dict.fromkeys(own))

    def attempt(self) -> TracedAttempt:
        """Return the attempt."""
        kept = [step for span in self.spans if span.id not in self._aside and (step := self._steps[span.id])]
        models = [step for step in kept if step.kind == MODEL and self._is_outermost(step)]
        answering = self._answering([step for step in kept if step.kind in _ANSWERING])
        names = [step.model for step in models if step.model]
        attempt = TracedAttempt(self.spans[0].trace)
        attempt.messages = self._messages(kept, models)
        attempt.text = answering.text if answering else None
        attempt.actions, attempt.unexecuted = self._actions(kept, models)
        attempt.seconds = self._seconds()
        attempt.tokens = {name: _total([step.tokens(name) for step in models]) for name in ("input", "output")}
        last = next((step for step in reversed(models) if step.text is not None), models[-1] if models else None)
        attempt.model, attempt.served_by = (last.model, last.served_by) if last else ("", "")
        attempt.models = len(set(names))
        attempt.roots = len({root for step in kept if (root := self._root_of_answer(step)) is not None})
        attempt.unknown = [step.span.name for step in kept if step.kind == UNKNOWN]
        attempt.asides = len(self._aside)
        stated = [probability for span in self.spans if (probability := span.sampling_probability) is not None]
        attempt.sampling = min(stated) if stated else None
        attempt.fault = self._fault(attempt, kept)
        attempt.finish_reason = "" if attempt.fault else _finish(attempt, models)
        return attempt

    def _is_outermost(self, step: Step) -> bool:
        """Return whether a span of a model lies in no other that has its answer: two recorders write it twice."""
        return not any(outer.replies or outer.text for outer in self._above(step.span, MODEL)) and not (
            not step.replies and any(inner for inner in self._inner_models(step))
        )

    def _inner_models(self, step: Step) -> Iterator[Step]:
        for other in self._steps.values():
            if other.kind == MODEL and other.replies and any(above is step for above in self._above(other.span, MODEL)):
                yield other

    def _depth(self, step: Step) -> int:
        return sum(1 for _ in self._line(step.span))

    def _answering(self, steps: Sequence[Step]) -> Step | None:
        """Return the uppermost step with an answer, of several the one that ends last; none within a tool."""
        ends = [step for step in steps if step.text is not None and not any(self._above(step.span, TOOL))]
        least = min(map(self._depth, ends), default=0)
        ends = [step for step in ends if self._depth(step) == least]
        return max(ends, key=lambda step: step.span.end or step.span.start or 0.0, default=None)

    def _root_of_answer(self, step: Step) -> str | None:
        """Return the id of the root above a step with an answer; None for other steps."""
        if step.kind not in _ANSWERING or step.text is None or any(self._above(step.span, TOOL)):
            return None
        return list(self._line(step.span))[-1].id

    def _messages(self, kept: Sequence[Step], models: Sequence[Step]) -> list[dict[str, str]]:
        """Return the request: as the application got it, with the earlier turns and the system prompt of its model."""
        requested = [step for step in kept if (step.request or step.messages) and not any(self._above(step.span, TOOL))]
        least = min(map(self._depth, requested), default=0)
        first = next((step for step in requested if self._depth(step) == least), None)
        chats = [chat for step in reversed(models) if (chat := last_turn(step.messages))]
        if first is None:
            return []
        if first.request is None:
            return last_turn(first.messages) or (chats[0] if chats else [])
        # A model may be asked with other words than the user's: with documents, or by a template.
        same = next((chat for chat in chats if chat[-1]["content"].strip() == first.request.strip()), None)
        return same or [{"role": "user", "content": first.request}]

    def _actions(self, kept: Sequence[Step], models: Sequence[Step]) -> tuple[list[ToolCall], int]:
        """Return the calls in order: those that spans execute, and others that a model has requested."""
        tools = [step for step in kept if step.kind in (TOOL, RETRIEVER) and not self._repeats(step)]
        timed = [(_time(step.span.start), _executed(step)) for step in tools]
        open_calls = [
            (str(dict(tool_fields(step.span))["id"]), call) for step, (_, call) in zip(tools, timed, strict=True)
        ]
        results = {
            identity: result for step in models for message in step.messages for identity, result in message.results
        }
        unexecuted = 0
        for step in models:
            for requested in (call for reply in step.replies for call in reply.calls):
                if (match := _match(requested, open_calls)) is not None:
                    del open_calls[match]
                    continue
                result = results.get(requested.id) if requested.id else None
                unexecuted += result is None
                timed.append((_time(step.span.end), _call(requested.name, requested.arguments, result=result)))
        return [call for _, call in sorted(timed, key=lambda entry: entry[0])], unexecuted

    def _repeats(self, step: Step) -> bool:
        """Return whether a span of a tool lies in another of the same tool: two recorders write it twice."""
        name = _tool_name(step)
        return any(_tool_name(outer) == name for outer in self._above(step.span, step.kind))

    def _seconds(self) -> float | None:
        roots = [span for span in self._tops if span.seconds is not None]
        if len(self._tops) == 1 and roots:
            return roots[0].seconds
        starts = [span.start for span in self.spans if span.start is not None]
        ends = [span.end for span in self.spans if span.end is not None]
        return round(max(ends) - min(starts), 6) if starts and ends and max(ends) >= min(starts) else None

    def _fault(self, attempt: TracedAttempt, kept: Sequence[Step]) -> str:
        """Return why an attempt does not count; empty where it does."""
        roots = [span for span in self._tops if not span.parent or is_langfuse_root(span)]
        failed = next((span for span in self._tops if span.error), None)
        if failed is not None:
            return f"failed: {failed.error}"
        if len(self._tops) > len(roots) and len(self._tops) > 1:
            return "are incomplete: spans lack their parent"
        if not self._tops:
            return "are incomplete: their spans are a circle"
        if self._is_cut(attempt, kept):
            return "are cut off: a text or an attribute is incomplete"
        if attempt.text is None and not attempt.actions:
            if any(step.is_redacted for step in kept):
                return "are redacted: their texts are hidden"
            if error := next(
                (step.span.error for step in reversed(kept) if step.kind == MODEL and step.span.error), ""
            ):
                return f"failed: {error}"
            return "have no answer: no text and no call is recorded"
        return ""

    def _is_cut(self, attempt: TracedAttempt, kept: Sequence[Step]) -> bool:
        texts = [attempt.text or "", *(message["content"] for message in attempt.messages)]
        at_limit = self._longest is not None and any(len(text) >= self._longest for text in texts)
        return at_limit or any(step.is_cut or (step.span.dropped and step.kind != UNKNOWN) for step in kept)


def _values(span: Span, name: str) -> Iterator[str]:
    """Yield the values of an attribute of a span."""
    attributes = span.attributes
    kind, _, key = name.partition(".")
    if (value := attributes.get(name)) not in (None, "") and not isinstance(value, list):
        yield str(value)
    elif kind == "metadata" and key:
        metadata = parsed(attributes.get("metadata"))
        if isinstance(metadata, dict) and (value := flatten(metadata).get(key)) not in (None, ""):
            yield str(value)
    elif kind == "tags" and key:
        tags = first_of(attributes, _TAGS)
        for tag in tags if isinstance(tags, list) else ():
            tag_name, _, value = str(tag).partition(":")
            if tag_name == key and value:
                yield value


def _total(counts: Sequence[int | None]) -> int | None:
    reported = [count for count in counts if count is not None]
    return sum(reported) if reported else None


def _finish(attempt: TracedAttempt, models: Sequence[Step]) -> str:
    reason = finish_reasons.normalize_reason(models[-1].finish_reason) if models else ""
    if reason in finish_reasons.INCOMPLETE:
        return reason
    return finish_reasons.STOP if attempt.text is not None else "tool_calls"


def _time(seconds: float | None) -> float:
    return float("inf") if seconds is None else seconds


def _tool_name(step: Step) -> str:
    return str(dict(tool_fields(step.span))["name"])


def _executed(step: Step) -> ToolCall:
    """Return the call that a span executes; without a recorded result, an empty one."""
    fields = dict(tool_fields(step.span))
    span = step.span
    arguments, result = fields["arguments"], fields["result"]
    if step.kind == RETRIEVER:
        name = str(first_of(span.attributes, ("gen_ai.data_source.id",)) or span.name or "retriever")
        query = first_of(span.attributes, ("gen_ai.retrieval.query.text",))
        query = step.request if query is None else query
        arguments, result = ({"query": query} if query is not None else None), step.documents
    else:
        name = fields["name"]
    outcome = {"error": span.error} if span.error else {"result": "" if result is None else result}
    return _call(name, arguments, seconds=span.seconds, **outcome)


def _call(name: Any, arguments: Any, **outcome: Any) -> ToolCall:
    """Return a call under a name that tools may have: other characters become underscores."""
    plain = _NO_NAME.sub("_", str(name))[:_LONGEST_NAME] or "unnamed"
    return ToolCall.read(plain, arguments, **outcome)


def _match(requested: RequestedCall, executed: Sequence[tuple[str, ToolCall]]) -> int | None:
    """Return the index of the execution of a requested call: by its id, else by name and arguments, or the name."""
    wanted = _call(requested.name, requested.arguments)
    by_id = (number for number, (identity, _) in enumerate(executed) if requested.id and identity == requested.id)
    of_name = [number for number, (_, call) in enumerate(executed) if call.name == wanted.name]
    alike = (number for number in of_name if executed[number][1].arguments == wanted.arguments)
    return next(by_id, next(alike, next(iter(of_name), None)))
