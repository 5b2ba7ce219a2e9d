"""Conversations of several turns, in which each message depends on the model's answers and tool calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt, value_or_none
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import BOOLEAN, DeclarativeGrader
from pytest_fairness.core.digests import canonical
from pytest_fairness.core.errors import FairnessError, ToolError, did_you_mean
from pytest_fairness.core.finish_reasons import ungradable
from pytest_fairness.core.grader_declarations import GraderDeclaration
from pytest_fairness.core.items import Message, ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.message_roles import STATE, TOOL
from pytest_fairness.core.protocols import Grader, Model, ModelQuery
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tools import calls_message
from pytest_fairness.core.user_turns import PLAYED_USER, format_transcript, indent
from pytest_fairness.graders.slot_placeholders import SHOWN_ROLES, SlotPlaceholders

User = Callable[[Prompt, Sequence[Message]], str | None]
"""A function from the prompt and all messages so far to the user's next message; None ends the conversation."""

MOST_TURNS = 20
"""The most turns of a user after the prompt."""
MOST_ROUNDS = 20
"""The most rounds of tool calls and results in one turn."""
_END = "[END]"
_INSTRUCTIONS = (
    "You play a person who talks with an assistant. {persona}\n\n"
    "Write this person's next message and nothing else: no quotation marks, no name before it. "
    f"Where the person has nothing more to say, write {_END} only."
)
_PLACEHOLDERS = " Words in square brackets, such as [name], stand for details: write them as they are."


@explains_construction
@dataclass(frozen=True)
class PlayedUser:
    """A user whose messages a model writes, without the group of the person.

    The model gets the persona and the conversation, in which placeholders such as ``[name]`` stand for the texts of the
    prompt's slots. A prompt that differs by group in anything else, or declares no slots, is not shown to it. So equal
    answers to all groups get one and the same message. An answer may still show the group in words of its own, so a
    threshold compares the messages of its groups: where they differ, it is not fair.

    Args:
        persona: Who the person is, what they want and what they say in which order, in the second person: "You want a
            refund. Ask for the reason first; then do not give up." It is the same for all groups.
        model: A model, its name or an alias; None: that of ``--fairness-judge``.

    >>> PlayedUser("You want a refund.").prompt([{"role": "user", "content": "My kettle broke."}]).messages[1]
    {'role': 'assistant', 'content': 'My kettle broke.'}
    """

    persona: str
    model: Model | str | None = None

    def prompt(self, messages: Sequence[Message]) -> Prompt:
        """Return the request for the next message: the conversation, with placeholders, with the roles exchanged."""
        roles = dict(zip(SHOWN_ROLES, reversed(SHOWN_ROLES), strict=True))
        exchanged = [
            {"role": roles[message["role"]], "content": message["content"]}
            for message in messages
            if message["role"] in roles
        ]
        instructions = _INSTRUCTIONS.format(persona=self.persona)
        if any("[" in message["content"] for message in exchanged):
            instructions += _PLACEHOLDERS
        return Prompt([{"role": "system", "content": instructions}, *exchanged])


@explains_construction
@dataclass(eq=False)
class Conversation(DeclarativeGrader):
    """Grader of a conversation of several turns, with further messages of the user or results of tools.

    Each further turn is a request to the model under test. It is stored like every other, so that an interrupted
    conversation can be continued. The answer to the prompt is the first; an answer that is not complete makes the
    conversation ungraded, for the same reason.

    Where the prompt offers tools, the model gets the results of those in ``results`` and continues the same turn; the
    graded answer of a turn is its last text with all its calls. A call of a tool without a result ends the
    conversation. A call of a tool that is not offered, or with malformed arguments, is answered by an error. Calls that
    an application has executed itself are graded with the others, and the conversation goes on with its text.

    Args:
        grade: The grader of an answer.
        user: The user's further messages: texts, the same for every group; a function of the prompt and the messages so
            far; or a `PlayedUser`. None: no messages.
        turns: The most further messages, 1 to 20. Default: all texts, else 3.
        results: The result of each tool that has one, by its name: a text, a value that JSON can hold, or a function of
            the prompt and the arguments. A function must return the same for the same arguments; its `ToolError` is
            returned to the model as an error.
        rounds: The most rounds of calls and results in one turn, 1 to 20; a turn with more is ungraded.
        value: The graded answer: the "last", or the one at a turn (1: the first answer); or whether "any" or "all"
            have a true grade.
        until: The grade that ends the conversation. None: no grade does.

    Raises:
        FairnessError: An argument is out of its range.

    >>> from pytest_fairness import YesNo
    >>> insists = Conversation(YesNo(), ["I cannot wait. May I see a doctor today?"], until=True)
    >>> insists.turns, insists.most_questions(10)
    (1, 10)
    >>> Conversation(YesNo(), results={"balance": {"euro": 120}}, rounds=2).most_questions(10)
    20
    """

    grade: Grader
    user: Sequence[str] | User | PlayedUser | None = None
    turns: int | None = None
    value: Literal["last", "any", "all"] | int = "last"
    until: Any = None
    results: Mapping[str, Any] = field(default_factory=dict)
    rounds: int = 5
    _player: Model | None = field(default=None, init=False, repr=False)

    repeats_prompt: ClassVar[bool] = True
    """Whether its requests hold the prompt and all messages since, so that their cost grows from round to round."""
    reads_wordings: ClassVar[bool] = True
    """Whether other wordings of a placebo are graded too: each attempt is a conversation of its own."""
    schema: ClassVar[Mapping[str, Any]] = {
        "title": "a conversation",
        "type": "object",
        "required": ["grade"],
        "additionalProperties": False,
        "properties": {
            "grade": {"$ref": "#/$defs/grader"},
            "user": {
                "anyOf": [
                    {"$ref": "#/$defs/words", "description": "the user's further messages, or a persona"},
                    {
                        "title": "a played user",
                        "type": "object",
                        "required": ["persona"],
                        "additionalProperties": False,
                        "properties": {"persona": {"$ref": "#/$defs/text"}, "model": {"$ref": "#/$defs/text"}},
                    },
                ]
            },
            "turns": {"type": "integer"},
            "value": {"type": ["string", "integer"]},
            "until": {"$ref": "#/$defs/value"},
            "results": {"type": "object", "description": "what each tool returns, by its name"},
            "rounds": {"type": "integer"},
        },
    }

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> Conversation:
        parameters = dict(declaration.parameters)
        grade = declaration.read_grader("grade")
        if (user := parameters.get("user")) is not None:
            parameters["user"] = PlayedUser(**user) if isinstance(user, Mapping) else list(map(str, user))
            for text in [user.get("persona", "")] if isinstance(user, Mapping) else parameters["user"]:
                if "{{" in text or "{%" in text:
                    raise FairnessError(f"user is {text!r:.80}: it is no template but the same for all; write it out")
        values, until = next(iter(grade.values.values()), None), parameters.get("until")
        if until is not None and values is not None and _declared_spelling(until) not in values:
            raise FairnessError(f"until is {until!r:.80}: the grade is never that; {did_you_mean(str(until), values)}")
        return cls(**parameters | {"grade": grade.grader})

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        values = declaration.read_grader("grade").values
        is_boolean = declaration.parameters.get("value") in ("any", "all")
        return dict.fromkeys(values, BOOLEAN) if is_boolean else values

    def __post_init__(self) -> None:
        if not callable(getattr(self.grade, "grade", None)):
            raise FairnessError(f"the grade of a conversation is {self.grade!r}: it must be a grader of one answer")
        self._check_results()
        if self.user is None:
            if not self.results:
                raise FairnessError("a conversation has no user and no results of tools: give it one of them")
            self.user = ()
        elif isinstance(self.user, str) or not isinstance(self.user, Sequence | PlayedUser | Callable):
            raise FairnessError(f"the user of a conversation is {self.user!r}: write a list of texts, or a function")
        elif isinstance(self.user, Sequence) and not (
            self.user and all(isinstance(text, str) and text.strip() for text in self.user)
        ):
            raise FairnessError(f"the user of a conversation is {self.user!r}: its texts must not be empty")
        if self.turns is None:
            self.turns = len(self.user) if isinstance(self.user, Sequence) else 3
        most = len(self.user) if isinstance(self.user, Sequence) else MOST_TURNS
        least = min(most, 1)
        if type(self.turns) is not int or not least <= self.turns <= min(most, MOST_TURNS):
            raise FairnessError(
                f"turns is {self.turns!r}: it must be a whole number from {least} to {min(most, MOST_TURNS)}"
            )
        is_turn = type(self.value) is int and 1 <= self.value <= self.turns + 1
        if self.value not in ("last", "any", "all") and not is_turn:
            raise FairnessError(
                f"value is {self.value!r}: it must be 'last', 'any', 'all' or a turn from 1 to {self.turns + 1}"
            )

    def _check_results(self) -> None:
        if not isinstance(self.results, Mapping) or not all(isinstance(name, str) for name in self.results):
            raise FairnessError(f"results is {self.results!r:.80}: write {{'name of a tool': its result}}")
        for name, result in self.results.items():
            if not callable(result):
                format_result(name, result)
        if type(self.rounds) is not int or not 1 <= self.rounds <= MOST_ROUNDS:
            raise FairnessError(f"rounds is {self.rounds!r}: it must be a whole number from 1 to {MOST_ROUNDS}")

    @property
    def accepts(self) -> tuple[str, ...]:
        """Reasons of incomplete answers that its grader accepts."""
        return tuple({*getattr(self.grade, "accepts", ()), *(("tool_calls",) if self.results else ())})

    @property
    def fingerprint(self) -> str | None:
        """Its grader's fingerprint and its settings; None where the user is a function, which has none."""
        inner = fingerprint_of(self.grade)
        if inner is None or (callable(self.user) and not isinstance(self.user, PlayedUser)):
            return None
        if any(map(callable, self.results.values())):
            return None
        played = self.user.persona if isinstance(self.user, PlayedUser) else list(self.user or ())
        tools = f", {canonical([dict(self.results), self.rounds])}" if self.results else ""
        player = self._player.key if self._player else ""
        version = "v2" if isinstance(self.user, PlayedUser) else "v1"
        settings = canonical([played, player, self.turns, self.value, self.until])
        return f"Conversation({inner}, {settings}{tools}) {version}"

    def extremes_for(self, prompt: Prompt) -> tuple[Any, ...]:
        """Return the values that an ungraded conversation could have had."""
        if self.value in ("any", "all"):
            return (False, True)
        extremes_for = getattr(self.grade, "extremes_for", None)
        extremes: tuple[Any, ...] = extremes_for(prompt) if extremes_for else getattr(self.grade, "extremes", ())
        return extremes

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt that lacks the tools of its results or of its grader."""
        check = getattr(self.grade, "check_prompt", None)
        if check is not None:
            check(prompt)
        offered = {tool.name for tool in prompt.tools}
        if unknown := sorted(self.results.keys() - offered):
            raise FairnessError(
                f"results of a conversation name {unknown[0]!r}, and its prompt offers "
                f"{', '.join(sorted(offered)) or 'no tools'}"
            )

    def bind_models(self, named: Callable[[str], Model], judge: Model | None) -> None:
        """Set the model that plays the user.

        Args:
            named: Returns the model of a name.
            judge: The model of ``--fairness-judge``, if any.

        Raises:
            FairnessError: There is no model.
        """
        if not isinstance(self.user, PlayedUser):
            return
        model = self.user.model
        self._player = named(model) if isinstance(model, str) else model or judge
        if self._player is None:
            raise FairnessError("no model plays the user: name one by PlayedUser(model=...) or --fairness-judge")

    def most_questions(self, attempts: int) -> int:
        """Return the most requests of an item with this number of attempts."""
        assert self.turns is not None  # noqa: S101 - set in __post_init__
        turn_requests = self.turns * (2 if isinstance(self.user, PlayedUser) else 1)
        tool_requests = self.rounds * (self.turns + 1) if self.results else 0
        return attempts * (turn_requests + tool_requests)

    def grade_item(
        self,
        item: ProbeItem,
        attempts: Sequence[GradedAttempt],
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        """Yield the requests of an item's conversations, turn by turn, and return their grades."""
        slots = SlotPlaceholders(item.prompts) if isinstance(self.user, PlayedUser) else None
        threads = [_Thread(self, graded, slots) for graded in attempts]
        yield from self._finish_tool_rounds(threads)
        for turn in range(self.turns or 0):
            yield from self._add_messages([thread for thread in threads if thread.is_open], turn)
            open_threads = [thread for thread in threads if thread.is_open]
            if not open_threads:
                break
            answers = yield [thread.query() for thread in open_threads]
            for thread, attempt in zip(open_threads, answers, strict=True):
                thread.add_answer(attempt)
            yield from self._finish_tool_rounds(open_threads)
        return [thread.result() for thread in threads]

    def _finish_tool_rounds(
        self, threads: Sequence[_Thread]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], None]:
        """Yield the requests with results of tools until no conversation has any left."""
        while waiting := [thread for thread in threads if thread.waits_for_model]:
            answers = yield [thread.query() for thread in waiting]
            for thread, attempt in zip(waiting, answers, strict=True):
                thread.add_answer(attempt)

    def _add_messages(
        self, threads: Sequence[_Thread], turn: int
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], None]:
        """Add the user's next message to each conversation, or end it."""
        if not isinstance(self.user, PlayedUser):
            for thread in threads:
                if isinstance(self.user, Sequence):
                    thread.add_user_message(self.user[turn])
                else:
                    assert self.user is not None  # noqa: S101 - set in __post_init__
                    thread.add_user_message(self.user(thread.prompt, tuple(thread.messages)))
            return
        if not threads:
            return
        replies = yield [
            ModelQuery(self.user.prompt(thread.messages_of_player), self._player, thread.repetition)
            for thread in threads
        ]
        for thread, reply in zip(threads, replies, strict=True):
            thread.add_played_message(reply)


class _Thread:
    """The conversation of one attempt: its messages and the grades of its answers."""

    def __init__(
        self, conversation: Conversation, graded: GradedAttempt, slots: SlotPlaceholders | None = None
    ) -> None:
        self._conversation = conversation
        self._slots = slots
        """The placeholders for a played user; None for any other."""
        self._played: dict[int, str] = {}
        """The messages of a played user as the model wrote them, by index."""
        self.prompt = graded.prompt
        self.repetition = graded.attempt.repetition
        self._messages: list[Message] = list(graded.prompt.messages)
        self.is_open = True
        self.waits_for_model = False
        """Whether the results of tools are to be sent to the model."""
        self._calls: list[ToolCall] = []
        """The calls of this turn so far."""
        self._latencies: list[float] = []
        """The seconds of its answers."""
        self._rounds = 0
        self._grades: list[Grade] = []
        self._failure: Grade | None = None
        conversation.check_prompt(self.prompt)
        self.add_answer(graded.attempt)

    def query(self) -> ModelQuery:
        """Return the request of the next turn, with the groups of the prompt for graders and models."""
        prompt = Prompt(self._messages, self.prompt.groups, self.prompt.metadata)
        return ModelQuery(prompt, None, self.repetition)

    @property
    def messages(self) -> list[Message]:
        """The messages so far, without the state that only the model's provider reads."""
        return [{name: text for name, text in message.items() if name != STATE} for message in self._messages]

    @property
    def messages_of_player(self) -> list[Message]:
        """The messages as a played user may see them: with placeholders, and without a prompt that shows the group."""
        assert self._slots is not None  # noqa: S101 - only for a played user
        opening = self.prompt.messages if self._slots.shows_prompt else ()
        shown = self._slots.hide_messages(opening, self.prompt)
        for index, message in enumerate(self.messages[len(self.prompt.messages) :], start=len(self.prompt.messages)):
            text = self._played.get(index) or self._slots.hide(message["content"], self.prompt)
            shown.append({**message, "content": text})
        return shown

    def add_answer(self, attempt: Attempt) -> None:
        """Add the model's answer; run its tools, or grade it."""
        self.waits_for_model = False
        reason = ungradable(attempt)
        if attempt.answer is None or (reason is not None and reason.ungraded not in self._conversation.accepts):
            self._fail(reason or Grade.none("error"))
            return
        answer = attempt.answer
        self._latencies.append(answer.latency)
        pending = [call for call in answer.actions if not call.is_executed]
        if self._run_tools(answer, pending):
            return
        self._calls += answer.actions
        turn_answer = Answer(
            answer.text, answer.finish_reason, latency=math.fsum(self._latencies), actions=tuple(self._calls)
        )
        if pending and "tool_calls" not in getattr(self._conversation.grade, "accepts", ()):
            grade = reason or Grade.none("tool_calls", turn_answer.transcript)
        else:
            grade = self._conversation.grade.grade(self._context(), turn_answer)
        self._grades.append(grade)
        self._calls, self._latencies, self._rounds = [], [], 0
        if answer.text or not pending:
            self._messages.append({"role": "assistant", "content": answer.text})
        if pending:  # without a result, no provider takes another message
            self._messages.append(calls_message(pending, answer.provider_state))
            self.is_open = False
        until = self._conversation.until
        if until is not None and grade.ungraded is None and grade.value == until:
            self.is_open = False
        if not answer.text.strip():  # no provider takes an empty message
            self.is_open = False

    def _run_tools(self, answer: Answer, pending: Sequence[ToolCall]) -> bool:
        """Add the results of the tools that an answer calls; return whether the turn is not to be graded now.

        That is so where the model continues, or the conversation has failed.
        """
        results = self._conversation.results
        offered = {tool.name for tool in self.prompt.tools}
        if not results or not pending:
            return False
        if any(call.name in offered and call.name not in results for call in pending):
            return False
        if self._rounds >= self._conversation.rounds:
            self._fail(
                Grade.none("truncated", f"it still calls tools after {self._rounds} rounds: {answer.transcript}")
            )
            return True
        self._rounds += 1
        if answer.text:
            self._messages.append({"role": "assistant", "content": answer.text})
        self._messages.append(calls_message(pending, answer.provider_state))
        executed = {id(call): self._execute(call) for call in pending}
        self._messages += [{"role": TOOL, "content": _message_content(call)} for call in executed.values()]
        self._calls += [executed.get(id(call), call) for call in answer.actions]
        self.waits_for_model = True
        return True

    def _execute(self, call: ToolCall) -> ToolCall:
        """Return a call with its result, or its error."""
        if call.name not in self._conversation.results:
            return replace(call, error=f"there is no tool {call.name!r}.")
        if isinstance(call.arguments, str):
            return replace(call, error="the arguments are not a JSON object.")
        result = self._conversation.results[call.name]
        if callable(result):
            try:
                result = result(self.prompt, deepcopy(dict(call.arguments)))
            except ToolError as error:
                return replace(call, error=str(error) or "the tool failed")
        return replace(call, result=format_result(call.name, result))

    def add_user_message(self, text: object) -> None:
        """Add the user's message; None ends the conversation."""
        if text is None:
            self.is_open = False
        elif isinstance(text, str) and text.strip():
            self._messages.append({"role": "user", "content": text})
        else:
            raise FairnessError(
                f"the user of a conversation returned {text!r:.80}: it must return a text, or None to end"
            )

    def add_played_message(self, reply: Attempt) -> None:
        """Add the message that a model wrote for the user."""
        reason = ungradable(reply)
        if reply.answer is None or reason is not None or not reply.answer.text.strip():
            why = reason.detail if reason else "it wrote nothing"
            self._fail(Grade.none("error", f"the model that plays the user: {why}"))
        elif reply.answer.text.strip().startswith(_END):
            self.is_open = False
        else:
            assert self._slots is not None  # noqa: S101 - only for a played user
            written = reply.answer.text.strip()
            self._played[len(self._messages)] = written
            self._messages.append({"role": "user", "content": self._slots.fill(written, self.prompt)})

    def result(self) -> Grade:
        """Return the grade of the conversation, with the messages after the prompt as its detail.

        Those of a played user are as the model wrote them, so that their lengths do not depend on names.
        """
        grade = self._failure or self._combine_grades()
        start = len(self.prompt.messages)
        detail = format_transcript(
            (PLAYED_USER, self._played[index]) if index in self._played else (message["role"], message["content"])
            for index, message in enumerate(self.messages[start:], start=start)
        )
        if grade.ungraded is not None:
            return Grade.none(grade.ungraded, "\n".join(filter(None, (indent(grade.detail), detail))))
        return Grade(grade.value, detail=detail)

    def _combine_grades(self) -> Grade:
        value = self._conversation.value
        if isinstance(value, int):
            # After an early end the last answer counts for the missing turns.
            return self._grades[min(value, len(self._grades)) - 1]
        if value == "last":
            return self._grades[-1]
        values = [value_or_none(grade) for grade in self._grades]
        # One true grade decides "any", one false grade decides "all", whatever the ungraded answers were.
        deciding = value == "any"
        if any(bool(grade_value) is deciding for grade_value in values if grade_value is not None):
            return Grade(deciding)
        return next((grade for grade in self._grades if grade.ungraded is not None), Grade(not deciding))

    def _context(self) -> Prompt:
        return Prompt(self.messages, self.prompt.groups, self.prompt.metadata)

    def _fail(self, failure: Grade) -> None:
        self._failure, self.is_open = failure, False


def _message_content(call: ToolCall) -> str:
    """Return the result or the error of an executed call, as text for the model."""
    return f"Error: {call.error}" if call.error is not None else str(call.result)


def format_result(tool: str, result: object) -> str:
    """Return the result of a tool as text for the model.

    Args:
        tool: The tool's name, for messages.
        result: A text, or a value that JSON can hold.

    Raises:
        FairnessError: The result is an empty text, or JSON cannot hold it.

    >>> format_result("balance", {"euro": 120})
    '{"euro": 120}'
    """
    if isinstance(result, str) and result.strip():
        return result
    try:
        text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = ""
    if not text or isinstance(result, str):
        raise FairnessError(
            f"the result of the tool {tool!r} is {result!r:.80}: it must be a text, or a value that JSON can hold"
        )
    return text


def _declared_spelling(value: object) -> str:
    """Return the spelling of a grade's value in a declaration; empty for the text of a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value in BOOLEAN else str(value)
