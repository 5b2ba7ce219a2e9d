"""Requests of lm_eval as questions, and answers as its responses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import FairnessError, UngradedError
from pytest_fairness.core.propensities import Likelihoods, OptionLikelihood
from pytest_fairness.harnesses.lm_eval.questions import (
    Conversations,
    UnknownGreedy,
    generated_response,
    likelihood_responses,
    questions_of,
)


def request(kind: str, *arguments: Any) -> Any:
    return SimpleNamespace(request_type=kind, args=arguments)


def test_choices_after_one_context_are_one_question() -> None:
    requests = [request("loglikelihood", "Is she?", text) for text in (" yes", " no", " yes")]
    requests += [request("loglikelihood", "", " yes"), request("loglikelihood_rolling", "All of it.")]
    questions, places = questions_of(requests, Conversations(), is_chat=False)
    assert [(response.question, response.option) for response in places] == [
        (0, "0"),
        (0, "1"),
        (0, "2"),
        (1, "0"),
        (1, "1"),
    ]
    first, second = (question.continuations for question in questions)
    assert first is not None
    assert second is not None
    assert (first.has_context, second.has_context) == (True, False)
    assert dict(second.options) == {"0": (" yes",), "1": ("All of it.",)}
    assert questions[0].messages == ({"role": "user", "content": "Is she?"},)


def test_chat_is_sent_as_messages() -> None:
    chat = Conversations()
    history = [{"role": "system", "content": "Short."}, {"role": "user", "content": "Hello"}]
    (question,), _ = questions_of([request("generate_until", chat.template(history), {})], chat, is_chat=True)
    assert list(question.messages) == history
    with pytest.raises(FairnessError, match="changes the text of a chat"):
        questions_of([request("generate_until", f"{chat.template(history)}!", {})], chat, is_chat=True)


@pytest.mark.parametrize(
    ("unsupported", "line"),
    [
        (request("generate_until", "", {}), "has an empty text"),
        (request("loglikelihood", "Is she?", ""), "has an empty text"),
        (request("loglikelihood", "Is she?", 3), "which is no text"),
        (request("generate_until", "Look:", {}, {"visual": []}), "images or sound"),
        (request("reward", "Is she?"), "type 'reward'"),
    ],
)
def test_unsupported_request_is_refused(unsupported: Any, line: str) -> None:
    with pytest.raises(FairnessError, match=line):
        questions_of([unsupported], Conversations(), is_chat=False)


def attempt(text: str, finish: str = "stop", tokens: int = 9) -> Attempt:
    return Attempt("key", 0, Answer(text, finish, usage={"output": tokens}))


@pytest.mark.parametrize(
    ("answer", "settings", "text"),
    [
        (attempt("yes\n\nno"), {"until": ["\n\n"]}, "yes"),
        (attempt("yes no"), {"until": " "}, "yes"),
        (attempt("\n"), {"until": ["\n"]}, ""),
        (attempt("yes."), {"until": ["", "\n"]}, "yes."),
        (attempt("yes\nand", "length"), {"until": ["\n"]}, "yes"),
        (attempt("yes and", "length"), {"max_gen_toks": 9}, "yes and"),
        (attempt("yes and", "length", 256), {}, "yes and"),
        (attempt("yes and", "length"), {"max_gen_toks": 99}, None),
        (attempt("yes and", "length"), {}, None),
        (attempt("yes and", "content_filter"), {"max_gen_toks": 9}, None),
        (attempt("", "stop"), {}, None),
        (Attempt("key", 0, None, "failed"), {}, None),
    ],
)
def test_answer_is_cut_at_a_stop_sequence(answer: Attempt, settings: dict[str, Any], text: str | None) -> None:
    if text is not None:
        assert generated_response(answer, settings) == text
        return
    with pytest.raises(UngradedError):
        generated_response(answer, settings)


def test_likelihood_that_is_a_bound_is_no_response() -> None:
    (question,), _ = questions_of([request("loglikelihood", "Is she?", " yes")], Conversations(), is_chat=False)

    def response(likelihood: OptionLikelihood) -> Any:
        return likelihood_responses(Attempt("key", 0, Likelihoods({"0": likelihood}).answer()), question)["0"]

    assert response(OptionLikelihood.exact(-1.5, greedy=True)) == (-1.5, True)
    log, greedy = response(OptionLikelihood.exact(-1.5))
    assert log == -1.5
    for use in (bool, int, float):
        with pytest.raises(UngradedError, match="most probable"):
            use(greedy)
    assert isinstance(greedy, UnknownGreedy)
    with pytest.raises(UngradedError, match="bound"):
        response(OptionLikelihood(-2.0, -1.0))
