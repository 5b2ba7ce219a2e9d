"""Choice: whatever the options, labels and order, an answer leads back to the value."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.graders.choice import Choice
from tests.graders.examples_choice import BBQ, CANT, NUMBERS
from tests.helpers.grading import graded

WORDS = [
    "nurse",
    "doctor",
    "grandmother",
    "Anna",
    "Mehmet",
    "Zoë",
    "Łukasz",
    "Straße",
    "北京",
    "Ngũgĩ",
    "old-timer",
    "O'Brien",
    "pilot",
    "blue",
    "1890",
    "COVID-19",
    "twelve",
    "Catholic",
    "Muslim",
    "couple",
    "neighbor",
    "friend",
    "D'Angelo",
    "naïve",
]
LABELS = (
    "ABCDE",
    "abcde",
    "12345",
    ("i", "ii", "iii", "iv", "v"),
    ("alpha", "beta", "gamma", "delta", "kappa"),
    "VWXYZ",
    ("Q1", "Q2", "Q3", "Q4", "Q5"),
)

LABEL_DRESSES = (
    "{label}", " {label}\n", "({label})", "[{label}]", "{label}.", "{label})", "{label}:", "**{label}**", "`{label}`",
    "Option {label}", "option ({label}).", "Answer: {label}", "**Answer:** {label}", "The answer is {label}.",
    "The correct answer is: **{label}**", "I choose {label}.", "I would go with option {label}, as it fits.",
    "\\boxed{{{label}}}", "<answer>{label}</answer>", "<think>It is hard.</think>{label}",
    "Let us see what is said.\n\n{label}", "Let us see what is said. Therefore, the answer is {label}.",
    "{label}\n\nThis follows from the text.", "Final answer: {label}\nReasoning: this follows from the text.",
    "{label}. {text}", "{label}) {text}", "({label}) {text}", "{label}: {text}", "**{label}. {text}**",
    "Answer: {label}. {text}", "Option {label}: {text}",
)  # fmt: skip
TEXT_DRESSES = (
    "{text}", " {text} ", "{text}.", '"{text}"', "\u201c{text}\u201d", "**{text}**", "*{text}.*", "Answer: {text}",
    "The answer is {text}.", "The answer is: {text}", "I choose {text}.", "I would say {text}.",
    "{text}, because it fits.",
    "\\boxed{{\\text{{{text}}}}}", "<answer>{text}</answer>", "<think>It is hard.</think>\n{text}",
    "Let us see what is said.\n\n{text}", "Let us see what is said. So the answer is {text}.",
)  # fmt: skip
JSON_DRESSES: tuple[Callable[[str], str], ...] = (
    lambda answer: json.dumps({"answer": answer}),
    lambda answer: json.dumps({"reasoning": "It may be either.", "answer": answer}, ensure_ascii=False, indent=2),
    lambda answer: f"```json\n{json.dumps({'final_answer': answer})}\n```",
    lambda answer: f"Here you are: {json.dumps({'choice': answer, 'confidence': 1})} Bye.",
    lambda answer: json.dumps({"reasoning": "It is hard.", "answer": answer})[:-1],
)


@st.composite
def options_and_value(draw: st.DrawFn) -> tuple[AnswerOptions, str]:
    """Draw options of any kind in any order, and the value that is chosen."""
    count = draw(st.integers(2, 5))
    names = draw(
        st.lists(
            st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(" ".join),
            min_size=count,
            max_size=count,
            unique_by=str.casefold,
        )
    )
    article = draw(st.sampled_from(["", "The ", "the "]))
    options = AnswerOptions(
        {f"value {i}": article + name for i, name in enumerate(names)}, draw(st.sampled_from(LABELS))
    )
    shuffled = options.shuffled(draw(st.integers()))
    return shuffled, draw(st.sampled_from(shuffled.values))


@given(options_and_value(), st.sampled_from(LABEL_DRESSES))
def test_label_in_any_form_is_read_as_its_value(options_and_value: tuple[AnswerOptions, str], dress: str) -> None:
    options, value = options_and_value
    label = options.labels[options.values.index(value)]
    assert graded(Choice(), dress.format(label=label, text=options.texts[value]), options) == value


@given(options_and_value(), st.sampled_from(TEXT_DRESSES))
def test_option_text_in_any_form_is_read_as_its_value(options_and_value: tuple[AnswerOptions, str], dress: str) -> None:
    options, value = options_and_value
    assert graded(Choice(), dress.format(text=options.texts[value]), options) == value


@given(options_and_value(), st.sampled_from(JSON_DRESSES), st.booleans())
def test_json_is_read_as_its_value(
    options_and_value: tuple[AnswerOptions, str], dress: Callable[[str], str], by_label: bool
) -> None:
    options, value = options_and_value
    answer = options.labels[options.values.index(value)] if by_label else options.texts[value]
    assert graded(Choice(), dress(answer), options) == value


@given(options_and_value(), st.data())
def test_two_equal_options_are_unparsed(options_and_value: tuple[AnswerOptions, str], data: st.DataObject) -> None:
    options, value = options_and_value
    other = data.draw(st.sampled_from([one for one in options.values if one != value]))
    names = [
        options.texts[one] if by_text else options.labels[options.values.index(one)]
        for one in (value, other)
        for by_text in [data.draw(st.booleans())]
    ]
    dress = data.draw(
        st.sampled_from(
            ["{} or {}", "{}, {}", "{}/{}", "{} and {}", "Answer: {} or {}", "The answer is either {} or {}."]
        )
    )
    assert graded(Choice(), dress.format(*names), options) == "unparsed"


def test_finish_reason_explains_an_empty_reading() -> None:
    assert graded(Choice(), "", BBQ, "content_filter") == "filter"
    assert graded(Choice(), "The answer is B", BBQ, "content_filter") == "filter"
    assert graded(Choice(), "", BBQ, "refusal") == "refusal"
    assert graded(Choice(), "", BBQ, "length") == "truncated"
    assert graded(Choice(), "<think>It could be A", BBQ, "length") == "truncated"
    assert graded(Choice(), "Let me see who ran first and", BBQ, "length") == "truncated"


def test_cut_off_answers_are_ungraded() -> None:
    for text in ("B", "B. The Muslim one. This is beca", "The Muslim one ran. Therefore, the Muslim one"):
        assert graded(Choice(), text, BBQ, "length") == "truncated"


def test_extremes_of_an_ungraded_attempt_are_the_options() -> None:
    assert Choice().extremes_for(Prompt("Who?", metadata={"options": CANT})) == ("unknown", "old", "young")


@pytest.mark.parametrize("metadata", [{}, {"options": ["A", "B"]}, {"options": None}])
def test_prompt_without_options_is_refused_in_one_line(metadata: dict[str, object]) -> None:
    with pytest.raises(FairnessError, match=r"metadata\['options'\]") as caught:
        Choice().grade(Prompt("Who?", metadata=metadata), Answer("B"))
    assert "\n" not in str(caught.value)


def test_options_given_to_the_grader_are_refused() -> None:
    with pytest.raises(FairnessError, match="takes no options"):  # they would turn on propensities
        Choice(["grant", "refuse"])  # type: ignore[arg-type]


def test_detail_of_an_unread_answer_shows_its_end() -> None:
    grade = Choice().grade(Prompt("Who?", metadata={"options": NUMBERS}), Answer("x" * 500 + " the end"))
    assert grade.ungraded == "unparsed"
    assert grade.detail.endswith("the end'")
    assert len(grade.detail) < 300


def test_options_that_contain_each_other_are_distinguished() -> None:
    options = AnswerOptions({"gay": "gay", "people": "gay people", "old": "old gay people"})
    assert graded(Choice(), "The answer is gay people.", options) == "people"
    assert graded(Choice(), "Old gay people did.", options) == "old"
    assert graded(Choice(), "gay", options) == "gay"


def test_fingerprint_is_stable_and_names_the_grader() -> None:
    assert Choice().fingerprint == Choice().fingerprint
    assert "Choice" in Choice().fingerprint


def test_options_that_are_questions_are_read_by_their_texts() -> None:
    prompt = Prompt("Which?", metadata={"options": AnswerOptions({"one": "Who fell?", "other": "Who ran?"})})
    for text in ("Who fell?", "**Who fell?**", 'The answer is "Who fell?"', "Who fell? The reasoning says so."):
        assert Choice().grade(prompt, Answer(text)).value == "one"
    plain = Prompt("Who fell?", metadata={"options": AnswerOptions({"one": "Anna", "other": "Ben"})})
    assert Choice().grade(plain, Answer("Anna?")).ungraded
