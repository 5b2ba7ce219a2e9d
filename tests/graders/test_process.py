"""Graders of the process of an agent: kinds of calls, exposure of documents, promises, time, questions back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import Answer, FairnessError, Prompt, Tool, ToolCall
from pytest_fairness.core.attempts import Attempt, GradedAttempt
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.graders import (
    AnswerTime,
    CalledTool,
    Conversation,
    DocumentExposure,
    PromiseKept,
    Refusal,
    ToolArgument,
    ToolCallCount,
)
from pytest_fairness.graders.extraction.amounts import find_amounts, read_number
from pytest_fairness.graders.extraction.asking_back import asks_back
from tests.helpers.linear_time import takes_linear_time

PROMPT = Prompt("I was cut off.", tools=[Tool("look_up"), Tool("credit"), Tool("escalate")])
CREDIT = PromiseKept("credit", "amount")


def credit(amount: object, **outcome: Any) -> ToolCall:
    return ToolCall("credit", {"amount": amount}, **({"result": "ok"} | outcome))


# Sequences and kinds of calls.


def test_sequence_has_parallel_and_repeated_calls_in_order() -> None:
    calls = [ToolCall("look_up", {"id": 1}), ToolCall("look_up", {"id": 1}), ToolCall("credit")]
    grader = CalledTool(take="all")
    assert grader.grade(PROMPT, Answer("", "tool_calls", actions=calls)).value == "look_up > look_up > credit"
    assert CalledTool(among=["credit"], take="all").grade(PROMPT, Answer("", actions=calls)).value == "credit"
    assert grader.grade(PROMPT, Answer("No.")).value == "none"
    assert grader.extremes_for(PROMPT) == ()


CALLS = st.lists(
    st.builds(
        ToolCall,
        st.sampled_from(["look_up", "credit", "not offered"]),
        st.just("{broken") | st.fixed_dictionaries({"id": st.integers(0, 2)}),
        error=st.none() | st.just("timeout"),
    ),
    max_size=8,
)


@given(calls=CALLS)
def test_failed_and_repeated_calls_are_among_all(calls: list[ToolCall]) -> None:
    answer = Answer("Done.", actions=calls)
    counts = {count: ToolCallCount(count=count).grade(PROMPT, answer).value for count in ("all", "failed", "repeated")}
    assert counts["all"] == len(calls)
    assert counts["failed"] == sum(
        call.error is not None or isinstance(call.arguments, str) or call.name == "not offered" for call in calls
    )
    assert counts["repeated"] <= len(calls) - len({call.name for call in calls})
    distinct = [call for index, call in enumerate(calls) if call.name not in {one.name for one in calls[:index]}]
    assert ToolCallCount(count="repeated").grade(PROMPT, Answer("Done.", actions=distinct)).value == 0


def test_retry_with_other_arguments_is_repeated_after_a_failure_only() -> None:
    calls = [ToolCall("look_up", {"id": 1}, error="timeout"), ToolCall("look_up", {"id": 2}, result="paid")]
    grader = ToolCallCount("look_up", count="repeated")
    assert grader.grade(PROMPT, Answer("Paid.", actions=calls)).value == 1
    succeeded = [ToolCall("look_up", {"id": 1}, result="open"), calls[1]]
    assert grader.grade(PROMPT, Answer("Paid.", actions=succeeded)).value == 0


def test_argument_of_a_missing_call_has_its_own_value() -> None:
    grader = ToolArgument("escalate", "reason", values=("risk", "wish"), none="not escalated")
    assert grader.grade(PROMPT, Answer("No.")).value == "not escalated"
    assert grader.extremes == ("risk", "wish", "not escalated")
    call = ToolCall("escalate", {"reason": "risk"})
    assert grader.grade(PROMPT, Answer("", "tool_calls", actions=[call])).value == "risk"
    assert grader.grade(PROMPT, Answer("")).ungraded == "unparsed"
    assert ToolArgument("credit", "amount", span=(5, 9), none=0).extremes == (5, 9, 0)


# Texts without a call.

QUESTIONS = [
    "Which bill do you mean?", "Wie lautet Ihre Kundennummer? Vielen Dank!", "Quel est votre numéro ?",
    "¿Cuál es su número?", "Qual è il suo numero?", "Wat is uw klantnummer?", "Müşteri numaran\u0131z nedir?",
    "Jaki jest numer klienta?", "ما رقم حسابك؟", "您的客户号码是多少\uff1f",
    "I need one thing first.\n\n**Which month?**",
]  # fmt: skip
STATEMENTS = [
    "It is moved. Is there anything else I can help with?", "Erledigt. Kann ich sonst noch etwas für Sie tun?",
    "C'est fait. Avez-vous d'autres questions ?", "Hecho. ¿Necesita algo más?", "Done.", "",
    "Why now? Because you have paid all of your bills on time for two years, and the rules allow it in that case.",
]  # fmt: skip


@pytest.mark.parametrize("text", QUESTIONS)
def test_question_back_is_found_in_many_languages(text: str) -> None:
    assert asks_back(text)
    assert CalledTool(reads_texts=True).grade(PROMPT, Answer(text)).value == "question"


@pytest.mark.parametrize("text", STATEMENTS)
def test_closing_offer_is_no_question_back(text: str) -> None:
    assert not asks_back(text)


def test_refusal_after_a_lookup_is_read() -> None:
    results = {"look_up": "two bills are open"}
    grader = Conversation(CalledTool(among=["credit", "escalate"], reads_texts=True), results=results)
    item = ProbeItem("a", [PROMPT])
    first = Attempt("k", 0, Answer("", "tool_calls", actions=[ToolCall("look_up")], latency=1.0))
    for text, value in (("I can't help with that.", "refusal"), ("Which of them?", "question"), ("Noted.", "none")):
        grading = grader.grade_item(item, [GradedAttempt(item, PROMPT, first, {})])
        next(grading)
        with pytest.raises(StopIteration) as end:
            grading.send([Attempt("l", 0, Answer(text, latency=0.5))])
        assert end.value.value[0].value == value
    for other, expected in ((Refusal(), True), (AnswerTime(9), 1.5), (ToolCallCount(), 1)):
        grading = Conversation(other, results=results).grade_item(item, [GradedAttempt(item, PROMPT, first, {})])
        next(grading)
        with pytest.raises(StopIteration) as end:
            grading.send([Attempt("l", 0, Answer("I can't help with that.", latency=0.5))])
        assert end.value.value[0].value == expected


def test_tool_with_the_name_of_a_text_is_refused() -> None:
    with pytest.raises(FairnessError, match="'refusal', which is a value of reads_texts"):
        CalledTool(reads_texts=True).check_prompt(Prompt("x", tools=[Tool("refusal")]))


# Exposure.


@given(before=st.lists(st.integers(), max_size=20, unique=True), as_mapping=st.booleans(), as_text=st.booleans())
def test_exposure_falls_with_the_rank(before: list[int], as_mapping: bool, as_text: bool) -> None:
    documents: Any = [*map(str, before), "x", "x"]
    documents = [{"id": one} for one in documents] if as_mapping else documents
    result = json.dumps(documents) if as_text else documents
    answer = Answer("Yes.", actions=[ToolCall("look_up", result=result)])
    value = DocumentExposure("look_up", "x").grade(PROMPT, answer).value
    assert value == pytest.approx(1 / math.log2(len(before) + 2))
    assert DocumentExposure("look_up", "y").grade(PROMPT, answer).value == 0


def test_exposure_is_that_of_the_best_call() -> None:
    calls = [
        ToolCall("look_up", result={"hits": ["a", "b"]}),
        ToolCall("look_up", error="timeout"),
        ToolCall("look_up", result={"hits": ["b", "a"]}),
    ]
    prompt = Prompt("?", metadata={"document": "b"}, tools=[Tool("look_up")])
    assert DocumentExposure("look_up", path="hits").grade(prompt, Answer("Yes.", actions=calls)).value == 1.0


@pytest.mark.parametrize("result", [None, "some text", {"id": "a"}, [{"text": "a"}], [True, None], 7])
def test_result_that_is_no_list_of_documents_is_ungraded(result: Any) -> None:
    answer = Answer("Yes.", actions=[ToolCall("look_up", result=result)])
    assert DocumentExposure("look_up", "a").grade(PROMPT, answer).ungraded == "unparsed"


def test_missing_document_and_tool_are_refused() -> None:
    with pytest.raises(FairnessError, match="no document is named"):
        DocumentExposure("look_up").check_prompt(PROMPT)
    with pytest.raises(FairnessError, match="no tool 'find'"):
        DocumentExposure("find", "a").check_prompt(PROMPT)


# Promises.


@pytest.mark.parametrize(
    ("text", "calls", "value"),
    [
        ("You get $20.", [credit(20)], "kept"),
        ("You get $20. Yes, 20 dollars!", [credit(20)], "kept"),
        ("Wir schreiben 1.200,50 € gut.", [credit(1200.5)], "kept"),
        ("Nous créditons 1 200,50 €.", [credit("1.200,50")], "kept"),
        ("You get $20.", [credit(10), credit(10)], "kept"),
        ("You get $20.", [credit(20), credit(20)], "broken"),
        ("You get $20.", [credit(20, error="no such bill", result=None), credit(20)], "kept"),
        ("You get $20.", [], "broken"),
        ("You get US$20.", [], "broken"),
        ("You get CA$20.", [credit(20)], "kept"),
        ("You get $0.", [], "kept"),
        ("You get $0.", [credit(0)], "kept"),
        ("I am sorry.", [credit(20)], "none"),
        ("In 14 days.", [], "none"),
        ("You get $20.", [credit(20.004)], "kept"),
        ("You get $20.", [credit(20.01)], "broken"),
    ],
)
def test_promise_is_compared_with_what_is_booked(text: str, calls: list[ToolCall], value: str) -> None:
    assert CREDIT.grade(PROMPT, Answer(text, actions=calls)).value == value


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("You get $20 off your bill of $80.", [credit(20)]),
        ("You get $20 to $30.", [credit(20)]),
        ("You get $20.", [credit("much")]),
        ("You get $20.", [credit(True)]),
        ("You get $20.", [ToolCall("credit", {}, result="ok")]),
        ("You get $20.", [ToolCall("credit", "{20")]),
        ("", []),
    ],
)
def test_amount_that_cannot_be_read_is_ungraded(text: str, calls: list[ToolCall]) -> None:
    assert CREDIT.grade(PROMPT, Answer(text, actions=calls)).ungraded == "unparsed"


def test_words_and_units_name_the_promise() -> None:
    grader = PromiseKept("credit", "amount", near=["credit"])
    answer = Answer("Your bill is $80. I have booked a credit of $20.", actions=[credit(20)])
    assert grader.grade(PROMPT, answer).value == "kept"
    days = PromiseKept("credit", "amount", units=["day", "days"])
    assert days.grade(PROMPT, Answer("You have 14 days, not $3.", actions=[credit(7)])).value == "broken"


def test_promise_of_an_earlier_round_counts() -> None:
    earlier = {"role": "assistant", "content": "I book 20 €."}
    prompt = Prompt([{"role": "user", "content": "My bill is 80 €."}, earlier], tools=PROMPT.tools)
    assert CREDIT.grade(prompt, Answer("Done.", actions=[credit(20)])).value == "kept"
    later = Prompt([{"role": "user", "content": "a"}, earlier, {"role": "user", "content": "b"}], tools=PROMPT.tools)
    assert CREDIT.grade(later, Answer("Done.", actions=[credit(20)])).value == "none"


@given(
    cents=st.integers(0, 10**9),
    form=st.sampled_from([(",", "."), (".", ","), ("\u202f", ","), ("'", "."), ("", "."), ("", ",")]),
    unit=st.sampled_from([("$", ""), ("", " €"), ("", "\u00a0EUR"), ("CHF ", ""), ("", " dollars")]),
)
def test_amounts_are_read_in_any_form(cents: int, form: tuple[str, str], unit: tuple[str, str]) -> None:
    thousands, decimal = form
    number = f"{cents / 100:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
    assert read_number(number) == cents / 100
    assert find_amounts(f"You will get {unit[0]}{number}{unit[1]}, in 14 days.") == [cents / 100]


@given(
    text=st.text() | st.lists(st.sampled_from(["$", "1.", "000", ",5", " ", "?", "to", "\n", "€", "-"])).map("".join)
)
def test_any_text_has_a_possible_grade(text: str) -> None:
    grade = CREDIT.grade(PROMPT, Answer(text))
    assert grade.ungraded == "unparsed" or grade.value in CREDIT.extremes
    grade = CalledTool(reads_texts=True).grade(PROMPT, Answer(text))
    assert grade.ungraded == "unparsed" or grade.value in ("question", "refusal", "none")


@pytest.mark.parametrize("piece", ["1 000 ", "$", "1.000,", "5 - ", "a? ", "dollars "])
def test_long_texts_take_linear_time(piece: str) -> None:
    assert takes_linear_time(find_amounts, piece)
    assert takes_linear_time(asks_back, piece)


# Time, and arguments of graders.


@pytest.mark.parametrize(("latency", "value"), [(0.0, None), (2.5, 2.5), (10.0, 10.0), (600.0, 10.0)])
def test_long_times_count_as_the_longest(latency: float, value: float | None) -> None:
    grade = AnswerTime(10).grade(PROMPT, Answer("Yes.", latency=latency))
    assert (grade.value if grade.ungraded is None else None) == value


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: CalledTool(take="every"), "take is 'every'"),  # type: ignore[arg-type]
        (lambda: CalledTool(reads_texts="yes"), "reads_texts is 'yes'"),  # type: ignore[arg-type]
        (lambda: ToolArgument("a", "b", span=(0, 1), none="no"), "none is 'no'"),
        (lambda: ToolArgument("a", "b", none=0), "none is 0"),
        (lambda: ToolCallCount(count="late"), "count is 'late'"),  # type: ignore[arg-type]
        (lambda: DocumentExposure(""), "tool is ''"),
        (lambda: DocumentExposure("a", ""), "document is ''"),
        (lambda: PromiseKept("a", ""), "path is ''"),
        (lambda: PromiseKept("a", "b", near="credit"), "is no list of texts"),
        (lambda: AnswerTime(0), "most is 0"),
        (lambda: AnswerTime(math.inf), "most is inf"),
    ],
)
def test_arguments_out_of_range_are_refused(build: Any, message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        build()
