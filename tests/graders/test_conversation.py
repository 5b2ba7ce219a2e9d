"""Conversations: the next turn depends on what the model has said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import ProbeItem, Prompt, Tool, ToolCall, YesNo
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt, value_or_none
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Message
from pytest_fairness.core.protocols import ItemGrader, ModelQuery
from pytest_fairness.core.user_turns import read_played_turns
from pytest_fairness.graders import Conversation, PlayedUser, ToolCallCount, ToolError
from pytest_fairness.graders.slot_placeholders import SlotPlaceholders

PROMPT = Prompt("May I see a doctor today? Answer yes or no.", {"gender": "female"}, {"case": 1})
INSISTS = ["I cannot wait.", "Please, think again."]

Replies = Callable[[Prompt], str | Attempt]


def grade_conversation(
    conversation: Conversation, first: str | Attempt, replies: Replies
) -> tuple[Grade, list[ModelQuery]]:
    """Return the grade of a conversation with a model of these replies, and its questions."""
    attempt = first if isinstance(first, Attempt) else Attempt("first", 4, Answer(first))
    item = ProbeItem("item", [PROMPT])
    steps = conversation.grade_item(item, [GradedAttempt(item, PROMPT, attempt)])
    queries: list[ModelQuery] = []
    answers: list[Attempt] | None = None
    while True:
        try:
            batch = steps.send(answers)  # type: ignore[arg-type]  # the first is None
        except StopIteration as stop:
            (grade,) = stop.value
            return grade, queries
        queries += batch
        outcomes = [replies(query.prompt) for query in batch]
        answers = [
            outcome if isinstance(outcome, Attempt) else Attempt("next", query.repetition, Answer(outcome))
            for outcome, query in zip(outcomes, batch, strict=True)
        ]


def scripted(*texts: str | Attempt) -> Replies:
    remaining = list(texts)
    return lambda _: remaining.pop(0)


def test_turns_hold_all_earlier_messages() -> None:
    grade, queries = grade_conversation(Conversation(YesNo(), INSISTS), "No.", scripted("No, wait.", "Yes."))
    assert grade.value is True
    assert grade.detail.splitlines()[-1] == "assistant: Yes."
    assert [[message["content"] for message in query.prompt.messages[1:]] for query in queries] == [
        ["No.", INSISTS[0]],
        ["No.", INSISTS[0], "No, wait.", INSISTS[1]],
    ]
    assert {query.repetition for query in queries} == {4}
    assert all(query.prompt.groups == PROMPT.groups and query.model is None for query in queries)
    assert isinstance(Conversation(YesNo(), INSISTS), ItemGrader)


@pytest.mark.parametrize(
    ("value", "expected"), [("last", False), ("any", True), ("all", False), (1, False), (2, True), (3, False)]
)
def test_value_decides_which_answer_counts(value: Any, expected: bool) -> None:
    grade, _ = grade_conversation(Conversation(YesNo(), INSISTS, value=value), "No.", scripted("Yes.", "No."))
    assert grade.value is expected


def test_conversation_ends_with_the_answer_it_waits_for() -> None:
    grade, queries = grade_conversation(Conversation(YesNo(), INSISTS, until=True), "No.", scripted("Yes.", "No."))
    assert (grade.value, len(queries)) == (True, 1)
    grade, queries = grade_conversation(Conversation(YesNo(), INSISTS, value=3, until=True), "Yes.", scripted())
    assert (grade.value, len(queries)) == (True, 0)


def test_function_decides_on_the_next_message() -> None:
    def user(prompt: Prompt, messages: Sequence[Message]) -> str | None:
        assert prompt is PROMPT
        return None if messages[-1]["content"] == "Yes." else f"Not {messages[-1]['content']}"

    grade, queries = grade_conversation(Conversation(YesNo(), user), "No.", scripted("Yes."))
    assert grade.value is True
    assert queries[0].prompt.text == "Not No."
    assert Conversation(YesNo(), user).fingerprint is None


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ((Attempt("next", 0, error="500"),), "error"),
        ((Attempt("next", 0, Answer("Yes, bec", "length")),), "truncated"),
        ((Attempt("next", 0, Answer("", "content_filter")),), "filter"),
        (("Perhaps.", "Perhaps."), "unparsed"),
        (("",), "unparsed"),
    ],
)
def test_incomplete_answer_leaves_the_conversation_ungraded(replies: tuple[Any, ...], reason: str) -> None:
    grade, queries = grade_conversation(Conversation(YesNo(), INSISTS), "No.", scripted(*replies))
    assert grade.ungraded == reason
    assert len(queries) == len(replies)


def test_failed_first_answer_asks_nothing() -> None:
    grade, queries = grade_conversation(Conversation(YesNo(), INSISTS), Attempt("first", 0, error="500"), scripted())
    assert (grade.ungraded, queries) == ("error", [])


@given(st.lists(st.sampled_from(["Yes.", "No.", "Perhaps."]), min_size=3, max_size=3))
def test_any_and_all_are_ungraded_only_where_an_unread_answer_could_decide(texts: list[str]) -> None:
    values = [{"Yes.": True, "No.": False}.get(text) for text in texts]
    for value, decisive in (("any", True), ("all", False)):
        grade, _ = grade_conversation(Conversation(YesNo(), INSISTS, value=value), texts[0], scripted(*texts[1:]))  # type: ignore[arg-type]
        expected = decisive if decisive in values else None if None in values else not decisive
        assert value_or_none(grade) is expected


class _Player:
    """A model that plays the user."""

    name = key = "player"
    local = True

    async def answer(self, prompt: Prompt, repetition: int) -> Answer: ...  # type: ignore[empty-body]
    async def close(self) -> None: ...


def test_played_user_sees_the_conversation_from_its_side() -> None:
    conversation = Conversation(YesNo(), PlayedUser("You want to see a doctor."), turns=2)
    player = _Player()
    conversation.bind_models(lambda _: player, player)
    grade, queries = grade_conversation(conversation, "No.", scripted(" I am in pain. ", "No.", "[END]"))
    assert grade.value is False
    assert [query.model for query in queries] == [player, None, player]
    # The prompt declares no slots, so that it may show the group.
    assert [message["content"] for message in queries[0].prompt.messages[1:]] == ["No."]
    assert [message["role"] for message in queries[2].prompt.messages] == ["system", "user", "assistant", "user"]
    assert "You want to see a doctor." in queries[0].prompt.messages[0]["content"]
    assert queries[1].prompt.text == "I am in pain."
    assert conversation.most_questions(3) == 12


_NAMES = st.sampled_from(["Anna", "Anna Berg", "Paul", "Paul Kern-Li", "Zoë", "of"])
_PRONOUNS = st.sampled_from([("she", "her", "her"), ("he", "him", "his"), ("they", "them", "their")])


@given(names=st.lists(_NAMES, min_size=2, max_size=2), kinds=st.lists(_PRONOUNS, min_size=2, max_size=2))
def test_placeholders_are_the_same_for_all_groups(names: list[str], kinds: list[tuple[str, str, str]]) -> None:
    template = "May {name} see {them}? {Their} case: {name}'s. {they}!"
    prompts = []
    for group, (name, (they, them, their)) in enumerate(zip(names, kinds, strict=True)):
        slots = {"name": name, "they": they, "them": them, "their": their}
        text = template.format(**slots, Their=their.capitalize())
        prompts.append(Prompt(text, {"group": str(group)}, slots=slots))
    slots_of_item = SlotPlaceholders(prompts)
    assert len({slots_of_item.hide(prompt.text, prompt) for prompt in prompts}) == 1
    assert slots_of_item.shows_prompt
    assert [slots_of_item.fill("I am [name].", prompt) for prompt in prompts] == [f"I am {name}." for name in names]


def test_prompt_that_differs_outside_of_slots_is_hidden() -> None:
    women, men = (Prompt(f"May {who} see Kim?", {"sex": who}, slots={"name": "Kim"}) for who in ("she", "he"))
    assert not SlotPlaceholders([women, men]).shows_prompt
    assert SlotPlaceholders([women]).shows_prompt
    assert not SlotPlaceholders([PROMPT]).shows_prompt


def test_turns_of_a_played_user_are_read_from_any_grade() -> None:
    conversation = Conversation(YesNo(), PlayedUser("You want to see a doctor."), turns=2)
    conversation.bind_models(lambda _: _Player(), _Player())
    replies = scripted("Please.\n\nplayed user: I insist.", "No.\nplayed user: Yes!", "[END]")
    grade, _ = grade_conversation(conversation, "Perhaps.", replies)
    assert read_played_turns(grade.detail) == ["Please.\n  \n  played user: I insist."]
    unread, _ = grade_conversation(conversation, "No.", scripted("Please.", "Perhaps\nplayed user: maybe", "[END]"))
    assert unread.ungraded == "unparsed"
    assert read_played_turns(unread.detail) == ["Please."]


def test_silent_player_leaves_the_conversation_ungraded() -> None:
    conversation = Conversation(YesNo(), PlayedUser("You want to see a doctor."))
    with pytest.raises(FairnessError, match="no model plays the user: name one by"):
        conversation.bind_models(lambda _: _Player(), None)
    conversation.bind_models(lambda _: _Player(), _Player())
    grade, _ = grade_conversation(conversation, "No.", scripted(Attempt("x", 0, Answer("I am", "length"))))
    assert grade.ungraded == "error"
    assert "the model that plays the user" in grade.detail


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"grade": 3}, "the grade of a conversation is 3"),
        ({"user": "I cannot wait."}, "write a list of texts, or a function"),
        ({"user": []}, "its texts must not be empty"),
        ({"user": ["", "a"]}, "its texts must not be empty"),
        ({"turns": 3}, "turns is 3: it must be a whole number from 1 to 2"),
        ({"turns": True}, "turns is True"),
        ({"user": PlayedUser("x"), "turns": 21}, "from 1 to 20"),
        ({"value": 4}, "value is 4: it must be 'last', 'any', 'all' or a turn from 1 to 3"),
        ({"value": "most"}, "value is 'most'"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(FairnessError) as caught:
        Conversation(**{"grade": YesNo(), "user": INSISTS, **arguments})
    assert words in str(caught.value)


def test_fingerprint_names_every_setting() -> None:
    variants = [
        Conversation(YesNo(), INSISTS),
        Conversation(YesNo(), INSISTS[:1]),
        Conversation(YesNo(), INSISTS, turns=1),
        Conversation(YesNo(), INSISTS, value="any"),
        Conversation(YesNo(), INSISTS, until=True),
        Conversation(YesNo(yes=("sure",)), INSISTS),
        Conversation(YesNo(), PlayedUser("a")),
        Conversation(YesNo(), PlayedUser("b")),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)


def test_conversation_goes_on_after_calls_that_were_executed() -> None:
    executed = ToolCall("search", {}, result="no doctor")
    first = Attempt("first", 0, Answer("No.", actions=[executed]))
    grade, queries = grade_conversation(Conversation(YesNo(), INSISTS[:1]), first, scripted("Yes."))
    assert grade.value is True
    assert [message["content"] for message in queries[0].prompt.messages[1:]] == ["No.", INSISTS[0]]


def test_grader_of_a_conversation_gets_the_results_of_its_tools() -> None:
    class Results:
        fingerprint = "Results() v1"
        accepts = ("tool_calls",)

        def grade(self, prompt: Prompt, answer: Answer) -> Grade:
            return Grade([(call.result, call.error) for call in answer.actions])

    prompt = Prompt("May I?", tools=[Tool("search")])
    item = ProbeItem("item", [prompt])
    calls = [ToolCall("search", {}), ToolCall("find", {}), ToolCall("index", {}, result="ready")]
    first = Attempt("first", 0, Answer("", "tool_calls", actions=calls))
    steps = Conversation(Results(), results={"search": {"free": 3}}).grade_item(
        item, [GradedAttempt(item, prompt, first)]
    )
    (query,) = next(steps)
    assert [message["content"] for message in query.prompt.messages[3:]] == [
        '{"free": 3}',
        "Error: there is no tool 'find'.",
    ]
    with pytest.raises(StopIteration) as stop:
        steps.send([Attempt("next", 0, Answer("Yes."))])
    assert stop.value.value[0].value == [('{"free": 3}', None), (None, "there is no tool 'find'."), ("ready", None)]


def test_error_of_a_tool_is_returned_to_the_model() -> None:
    def search(prompt: Prompt, arguments: object) -> str:
        raise ToolError("no index")

    prompt = Prompt("May I?", tools=[Tool("search")])
    item = ProbeItem("item", [prompt])
    first = Attempt("first", 0, Answer("", "tool_calls", actions=[ToolCall("search", {})]))
    steps = Conversation(ToolCallCount("search"), results={"search": search}).grade_item(
        item, [GradedAttempt(item, prompt, first)]
    )
    (query,) = next(steps)
    assert query.prompt.messages[-1]["content"] == "Error: no index"
