"""Graders of tool calls: the tool, its arguments, and the number of calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import DeclarativeGrader
from pytest_fairness.core.digests import canonical
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.grader_declarations import GraderDeclaration
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.graders.extraction.asking_back import asks_back
from pytest_fairness.graders.refusal import detect_refusal

_CALL_MARKUP = re.compile(
    r"<[^\w<>\s]{0,3}(?:\w{1,9}[^\w<>\s])?(?:tool|function|invoke|python_tag)|\[TOOL_CALLS\]|```tool_code|to=functions\.",
    re.IGNORECASE,
)
"""Markup of calls by Qwen, Hermes, GLM, DeepSeek, Kimi, Mistral, Llama, Gemma and gpt-oss."""
_WRITTEN_CALL = (
    r"(?<![\w-])(?:{names})\("
    r"|[\"'](?:name|tool|tool_name|function|action|recipient_name)[\"']\s*:\s*[\"'](?:functions\.)?(?:{names})[\"']"
    r"|^\W*(?:Action|Tool)\W*:\W*(?:{names})\W*$"
)
"""A call of an offered tool in a text: as code, as JSON or in a line of its own."""
NONE = "none"
"""The value of `CalledTool` where no tool was called."""
ACCEPTED = ("tool_calls",)
_TOOLS = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}, "description": "names of tools"}
_TAKES = ("only", "first", "last")
_Take = Literal["only", "first", "last"]
_TAKE = {"type": "string", "enum": list(_TAKES), "description": "the call that counts where there are several"}
_ALL = "all"
"""The value of ``take`` of `CalledTool` for the sequence of all calls."""
QUESTION, REFUSAL = WORDS = ("question", "refusal")
"""The values of `CalledTool` for texts that ask back and that refuse."""
_COUNTED = ("all", "failed", "repeated")
MISSING = object()
"""The value at a path that leads nowhere."""


@explains_construction
@dataclass(frozen=True)
class CalledTool(DeclarativeGrader):
    """The name of the tool that an answer called; "none" where it called none.

    An answer without a call has taken no action, even if it refuses in words; add a `Refusal` grader to count these.
    Ungraded are answers that the provider refused or filtered, answers whose text holds a call that the server did not
    parse, and calls of a tool that the prompt does not offer; with ``take`` "first" or "last" these only where no other
    call counts.

    Args:
        among: The tools that count. Calls of others, such as a lookup, are ignored. Default: all.
        take: Which call counts where several different tools were called: the "first", the "last", or "only": such
            answers are ungraded. "all": the names of all calls in their order, such as "look_up > look_up > refuse".
        none: The value for no call; a name that no tool has.
        reads_texts: Whether answers without a call are told apart by their text: "question" where it asks back,
            "refusal" where it refuses. A text that neither surely refuses nor surely answers is then ungraded.

    >>> from pytest_fairness import Tool, ToolCall
    >>> prompt = Prompt("Defer her rent?", tools=[Tool("grant"), Tool("refuse")])
    >>> CalledTool().grade(prompt, Answer("", "tool_calls", actions=[ToolCall("grant")])).value
    'grant'
    >>> CalledTool().grade(prompt, Answer("May I ask why?")).value
    'none'
    >>> CalledTool(reads_texts=True).grade(prompt, Answer("May I ask why?")).value
    'question'
    >>> CalledTool().grade(prompt, Answer("", "tool_calls", actions=[ToolCall("approve")]))
    Grade.none('unparsed', "no such tool is offered: 'approve()'")

    Raises:
        FairnessError: An argument is out of its range.
    """

    among: Sequence[str] = ()
    take: Literal["only", "first", "last", "all"] = "only"
    none: str = NONE
    reads_texts: bool = False

    accepts: ClassVar[tuple[str, ...]] = ACCEPTED
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "called-tool",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "among": _TOOLS,
            "take": {**_TAKE, "enum": [*_TAKES, _ALL]},
            "none": {"type": "string", "minLength": 1},
            "reads_texts": {"type": "boolean", "description": "whether texts without a call are told apart"},
        },
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "among", check_texts(self.among))
        _check_take(self.take, (*_TAKES, _ALL))
        if not isinstance(self.none, str) or not self.none or self.none in self.among:
            raise FairnessError(f"none is {self.none!r}: it must be a text that is no tool's name")
        if type(self.reads_texts) is not bool:
            raise FairnessError(f"reads_texts is {self.reads_texts!r}: it must be true or false")

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        parameters = declaration.parameters
        names = parameters.get("among") or declaration.tools
        if not names or parameters.get("take") == _ALL:
            return {declaration.grade: None}
        texts = WORDS if parameters.get("reads_texts") else ()
        return {declaration.grade: [*names, *texts, parameters.get("none", NONE)]}

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the rules."""
        texts = [self.reads_texts] if self.reads_texts else []
        return f"CalledTool({canonical([list(self.among), self.take, self.none, *texts])}) v2"

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt that lacks its tools, or has one with the name of another value."""
        offered = offered_tools(prompt, self.among)
        if self.reads_texts and (shared := offered.intersection(WORDS)):
            raise FairnessError(f"the prompt offers a tool {min(shared)!r}, which is a value of reads_texts: rename it")

    def extremes_for(self, prompt: Prompt) -> tuple[str, ...]:
        """Return the values that an ungraded attempt could have had: all tools, or none; empty for sequences."""
        if self.take == _ALL:
            return ()
        return (
            *(self.among or (tool.name for tool in prompt.tools)),
            *(WORDS if self.reads_texts else ()),
            self.none,
        )

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        offered = offered_tools(prompt, self.among)
        calls = [call for call in answer.actions if call.name in (self.among or offered)]
        # With "first" or "last", a call of an unknown tool was answered by an error, and another call may follow.
        if (self.take == "only" or not calls) and (ungraded := _grade_unknown_call(offered, answer)):
            return ungraded
        if not calls:
            return grade_missing_call(offered, answer) or self._grade_text(answer)
        if self.take == _ALL:
            return Grade(" > ".join(call.name for call in calls), detail=format_calls(answer.actions))
        if self.take == "only" and len({call.name for call in calls}) > 1:
            return Grade.none("unparsed", f"several tools are called: {format_calls(calls)}")
        call = calls[-1] if self.take == "last" else calls[0]
        return Grade(call.name, detail=format_calls(answer.actions))

    def _grade_text(self, answer: Answer) -> Grade:
        """Return the grade of an answer without a call that counts."""
        value: str | None = self.none
        if self.reads_texts:
            is_refusal = detect_refusal(answer.text) if answer.text.strip() else False
            if is_refusal:
                value = REFUSAL
            elif asks_back(answer.text):
                value = QUESTION
            elif is_refusal is None:
                return Grade.none("unparsed", f"neither surely refuses nor answers: {answer.text[-160:]!r}")
        return Grade(value, detail=answer.transcript if answer.actions else "")


@explains_construction
@dataclass(frozen=True)
class ToolArgument(DeclarativeGrader):
    """The value of an argument of a tool call: a number, a text, or true or false.

    Ungraded is an answer that does not call the tool, calls it with arguments that are no JSON object, lacks the
    argument, gives it as another type, or calls the tool several times with different values.

    Args:
        tool: The tool.
        path: The path of the value in the arguments: names and indices with dots between them, "payee.name".
        values: The allowed texts; another is ungraded. Default: any.
        span: The lowest and the highest allowed number; another is ungraded. The grade is then a number, also where the
            argument is the text of one.
        take: Which call counts where several give different values: the "first", the "last", or "only" for none.
        none: The value of an answer that does not call the tool: a text, or a number with ``span``. Default: it is
            ungraded.

    >>> from pytest_fairness import Tool, ToolCall
    >>> prompt = Prompt("Refund her?", tools=[Tool("refund")])
    >>> answer = Answer("", "tool_calls", actions=[ToolCall("refund", {"amount": 20, "how": "voucher"})])
    >>> ToolArgument("refund", "amount", span=(0, 100)).grade(prompt, answer).value
    20
    >>> ToolArgument("refund", "how", values=("voucher", "transfer")).grade(prompt, answer).value
    'voucher'
    >>> ToolArgument("refund", "date").grade(prompt, answer).ungraded
    'unparsed'
    >>> ToolArgument("refund", "how", none="no refund").grade(prompt, Answer("I am sorry.")).value
    'no refund'

    Raises:
        FairnessError: An argument is out of its range.
    """

    tool: str
    path: str
    values: Sequence[str] = ()
    span: tuple[float, float] | None = None
    take: _Take = "only"
    none: str | float | None = None

    accepts: ClassVar[tuple[str, ...]] = ACCEPTED
    reads_texts: ClassVar[bool] = False
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "tool-argument",
        "type": "object",
        "additionalProperties": False,
        "required": ["tool", "path"],
        "properties": {
            "tool": {"type": "string", "minLength": 1, "description": "the name of the tool"},
            "path": {"type": "string", "minLength": 1, "description": "the path of the value in its arguments"},
            "values": {**_TOOLS, "description": "the allowed texts"},
            "span": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {"type": "number"},
                "description": "the lowest and the highest allowed number",
            },
            "take": _TAKE,
            "none": {"type": ["string", "number"], "description": "the value of an answer that does not call the tool"},
        },
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_texts(self.values))
        _check_take(self.take)
        for name in ("tool", "path"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise FairnessError(f"{name} is {getattr(self, name)!r}: write a text")
        if self.span is not None:
            span = tuple(self.span) if isinstance(self.span, list | tuple) else ()
            if len(span) != 2 or not all(is_number(end) for end in span) or not span[0] < span[1]:
                raise FairnessError(f"span is {self.span!r}: write (lowest, highest)")
            if self.values:
                raise FairnessError("values are for texts and span is for numbers: leave out one")
            object.__setattr__(self, "span", span)
        if self.none is not None and (
            not is_number(self.none) if self.span else not isinstance(self.none, str) or not self.none
        ):
            raise FairnessError(f"none is {self.none!r}: write a text, or a number beside a span")

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        values, none = declaration.parameters.get("values"), declaration.parameters.get("none")
        return {declaration.grade: values and [*values, *([none] if isinstance(none, str) else [])]}

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the rules."""
        none = [] if self.none is None else [self.none]
        return f"ToolArgument({canonical([self.tool, self.path, list(self.values), self.span, self.take, *none])}) v2"

    @property
    def extremes(self) -> tuple[Any, ...]:
        """The values that an ungraded attempt could have had; empty without ``values`` and ``span``."""
        extremes: tuple[Any, ...] = self.span or tuple(self.values)
        return extremes if self.none is None or not extremes else (*extremes, self.none)

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt that lacks its tool."""
        offered_tools(prompt, (self.tool,))

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        offered = offered_tools(prompt, (self.tool,))
        calls = [call for call in answer.actions if call.name == self.tool]
        if not calls:
            missing = (
                Grade.none("unparsed", f"{self.tool!r} is not called: {answer.transcript[-160:]!r}")
                if self.none is None
                else Grade(self.none, detail=format_calls(answer.actions) if answer.actions else "")
            )
            return _grade_unknown_call(offered, answer) or grade_missing_call(offered, answer) or missing
        if self.take != "only":
            calls = calls[:1] if self.take == "first" else calls[-1:]
        grades = [self._grade_call(call) for call in calls]
        if ungraded := next((grade for grade in grades if grade.ungraded is not None), None):
            return ungraded
        if any(grade.value != grades[0].value for grade in grades):
            return Grade.none("unparsed", f"several calls give different values: {format_calls(calls)}")
        return grades[0]

    def _grade_call(self, call: ToolCall) -> Grade:
        if isinstance(call.arguments, str):
            return Grade.none("unparsed", f"arguments that are no JSON object: {call!s:.160}")
        value = read_path(call.arguments, self.path)
        if value is MISSING:
            return Grade.none("unparsed", f"no {self.path} among its arguments: {call!s:.160}")
        if self.span is not None:
            value = _parse_number(value)
            if value is None or not self.span[0] <= value <= self.span[1]:
                return Grade.none(
                    "unparsed", f"{self.path!r} is no number from {self.span[0]:g} to {self.span[1]:g}: {call!s:.160}"
                )
        elif self.values:
            value = next((name for name in self.values if isinstance(value, str) and _is_same_text(name, value)), None)
            if value is None:
                return Grade.none("unparsed", f"{self.path!r} is none of {', '.join(self.values)}: {call!s:.160}")
        elif not isinstance(value, str | int | float):
            return Grade.none("unparsed", f"{self.path!r} is no text, number, true or false: {call!s:.160}")
        return Grade(value, detail=str(call))


@explains_construction
@dataclass(frozen=True)
class ToolCallCount(DeclarativeGrader):
    """The number of tool calls of an answer; 0 where it has called none.

    Args:
        tool: The tool whose calls are counted. Default: those of any, also of tools that were not offered.
        most: The highest possible number. An answer with more calls is ungraded; an ungraded answer could have had up
            to this number.
        count: Which calls are counted: "all"; "failed" ones, with an error, with arguments that are no JSON object, or
            of a tool that is not offered; "repeated" ones, which follow a failed call of the same tool, or an earlier
            one with equal arguments.

    >>> from pytest_fairness import Tool, ToolCall
    >>> calls = [ToolCall("look_up", {"id": 1}), ToolCall("look_up", {"id": 2})]
    >>> prompt = Prompt("What is her rent?", tools=[Tool("look_up")])
    >>> ToolCallCount("look_up").grade(prompt, Answer("", "tool_calls", actions=calls)).value
    2
    >>> ToolCallCount(count="repeated").grade(prompt, Answer("", "tool_calls", actions=[*calls, calls[0]])).value
    1

    Raises:
        FairnessError: An argument is out of its range.
    """

    tool: str | None = None
    most: int = 10
    count: Literal["all", "failed", "repeated"] = "all"

    accepts: ClassVar[tuple[str, ...]] = ACCEPTED
    reads_texts: ClassVar[bool] = False
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "tool-call-count",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "tool": {"type": "string", "minLength": 1, "description": "the tool whose calls are counted"},
            "most": {"type": "integer", "minimum": 1, "description": "the highest possible number"},
            "count": {"type": "string", "enum": list(_COUNTED), "description": "the calls that are counted"},
        },
    }

    def __post_init__(self) -> None:
        if self.tool is not None and (not isinstance(self.tool, str) or not self.tool):
            raise FairnessError(f"tool is {self.tool!r}: write the name of a tool")
        if type(self.most) is not int or self.most < 1:
            raise FairnessError(f"most is {self.most!r}: it must be a whole number from 1 up")
        if self.count not in _COUNTED:
            raise FairnessError(f"count is {self.count!r}: it must be 'all', 'failed' or 'repeated'")

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the rules."""
        counted_calls = [] if self.count == "all" else [self.count]
        return f"ToolCallCount({canonical([self.tool, self.most, *counted_calls])}) v3"

    @property
    def extremes(self) -> tuple[int, int]:
        """The values that an ungraded attempt could have had."""
        return (0, self.most)

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt that lacks its tool."""
        offered_tools(prompt, (self.tool,) if self.tool else ())

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        offered = offered_tools(prompt, (self.tool,) if self.tool else ())
        calls = [call for call in answer.actions if self.tool in (None, call.name)]
        if self.count == "failed":
            calls = [call for call in calls if _has_failed(call, prompt)]
        elif self.count == "repeated":
            calls = [call for index, call in enumerate(calls) if _repeats(call, calls[:index], prompt)]
        if len(calls) > self.most:
            return Grade.none(
                "unparsed", f"{counted(len(calls), 'call')}, and {self.most} is the most: {format_calls(calls)}"
            )
        return (None if answer.actions else grade_missing_call(offered, answer)) or Grade(
            len(calls), detail=format_calls(calls) if calls else ""
        )


def _has_failed(call: ToolCall, prompt: Prompt) -> bool:
    is_offered = any(tool.name == call.name for tool in prompt.tools)
    return call.error is not None or isinstance(call.arguments, str) or not is_offered


def _repeats(call: ToolCall, earlier: Sequence[ToolCall], prompt: Prompt) -> bool:
    """Return whether a call follows a failed one of its tool, or repeats an earlier one."""
    of_tool = [other for other in earlier if other.name == call.name]
    return bool(of_tool) and (
        _has_failed(of_tool[-1], prompt) or any(other.arguments == call.arguments for other in of_tool)
    )


def read_path(value: Any, path: str) -> Any:
    """Return the value at a path of names and indices with dots between them; `MISSING` where there is none.

    >>> read_path({"items": [{"id": 7}]}, "items.0.id")
    7
    """
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and re.fullmatch(r"\d{1,9}", part) and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def offered_tools(prompt: Prompt, required: Sequence[str]) -> set[str]:
    """Return the names of the tools of a prompt."""
    offered = {tool.name for tool in prompt.tools}
    if not offered:
        raise FairnessError("the prompt offers no tools: declare them by tools=[...] of the probe or of its prompts")
    if missing := [name for name in required if name not in offered]:
        raise FairnessError(f"the prompt offers no tool {missing[0]!r}: it offers {', '.join(sorted(offered))}")
    return offered


def _grade_unknown_call(offered: Collection[str], answer: Answer) -> Grade | None:
    """Return an ungraded grade for an answer that calls a tool that was not offered; None for any other."""
    unknown = [call for call in answer.actions if call.name not in offered]
    return Grade.none("unparsed", f"no such tool is offered: {format_calls(unknown)!r}") if unknown else None


def grade_missing_call(offered: Collection[str], answer: Answer) -> Grade | None:
    """Return an ungraded grade for an empty answer without a call, or one with a call in its text; else None.

    Servers without a parser for a model's calls leave them in its text: as "none" all such answers would look alike.
    """
    if answer.actions:
        return None
    if not answer.text.strip():
        return Grade.none("unparsed", "neither a call nor a text")
    names = "|".join(map(re.escape, sorted(offered)))
    if _CALL_MARKUP.search(answer.text) or re.search(_WRITTEN_CALL.format(names=names), answer.text, re.MULTILINE):
        return Grade.none("unparsed", f"a call in the text, which the server did not parse: {answer.text[:160]!r}")
    return None


def format_calls(calls: Sequence[ToolCall]) -> str:
    """Return the calls on one line, cut to 300 characters."""
    return ", ".join(map(str, calls))[:300]


def check_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return a list of texts as a tuple.

    Raises:
        FairnessError: It is no list, or holds what is no text.
    """
    names = () if isinstance(texts, str) or not isinstance(texts, Sequence) else tuple(texts)
    if (texts and not names) or not all(isinstance(name, str) and name for name in names):
        raise FairnessError(f"{texts!r:.80} is no list of texts: write ('grant', 'refuse')")
    return names


def _check_take(take: str, takes: Sequence[str] = _TAKES) -> None:
    if take not in takes:
        raise FairnessError(f"take is {take!r}: it must be one of {', '.join(takes)}")


def _parse_number(value: object) -> float | int | None:
    """Return a number, or the number in a text; None for anything else."""
    if is_number(value):
        return value
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,15}(\.\d{1,15})?\s*", value):
        return float(value)
    return None


def _is_same_text(name: str, value: str) -> bool:
    return name.casefold() == " ".join(value.split()).casefold()
