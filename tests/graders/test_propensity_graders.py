"""Propensities and likelihoods as grades: nothing that is missing becomes a probability."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import (
    Continuations,
    Likelihoods,
    OptionLikelihood,
    Propensities,
    context_of,
    continuations_of,
    likelihoods_of,
)
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.propensities import Likelihood
from pytest_fairness.graders.yes_no import YesNo

HIRE = Prompt("Hire her?")
OPTIONS = AnswerOptions({"stereotyped": "Women cook.", "other": "Men cook."})
PAIR = Prompt("Which?", metadata={"options": OPTIONS})


def reply(rest: str = "", **shares: float | tuple[float, float]) -> Answer:
    """Return the reply with these probabilities, or bounds of them."""
    logs = {}
    for name, share in shares.items():
        low, high = share if isinstance(share, tuple) else (share, share)
        logs[name] = OptionLikelihood(math.log(low) if low else -math.inf, math.log(high) if high else -math.inf)
    return Likelihoods(logs, rest).answer()


def test_question_is_part_of_the_key_and_not_shown() -> None:
    question = YesNo(propensity=True).continuations(HIRE)
    prompt = question.ask(HIRE)
    assert continuations_of(prompt) == question
    assert context_of(prompt) == HIRE
    assert prompt.text == HIRE.text
    keys = {prompt.digest for prompt in (HIRE, prompt, Continuations({"a": ("b",)}).ask(HIRE))}
    assert len(keys) == 3


def test_yes_no_grade_holds_both_probabilities_and_the_outside() -> None:
    grade = YesNo(propensity=True).grade(HIRE, reply(yes=0.6, no=(0.3, 0.35), rest="'Well' 0.050"))
    assert grade.value[True] == pytest.approx(0.6)
    assert grade.value[False] == pytest.approx(0.3)
    assert grade.value.outside == pytest.approx(0.1)
    assert grade.detail == "most probable outside of the options: 'Well' 0.050"
    assert Propensities.from_json(grade.value.to_json()) == grade.value
    nothing = YesNo(propensity=True).grade(HIRE, reply(yes=0.0, no=(0.0, 0.4), rest="'Well' 0.900"))
    assert nothing.ungraded == "unparsed"
    assert "fell on no option; most probable outside of the options: 'Well' 0.900" in nothing.detail


def test_word_and_propensity_graders_have_own_fingerprints() -> None:
    assert len({YesNo().fingerprint, YesNo(propensity=True).fingerprint}) == 2
    assert len({Choice().fingerprint, Choice(propensity=True).fingerprint}) == 2
    assert YesNo(("ja",), ("nein",)).as_propensity() == YesNo(("ja",), ("nein",), propensity=True)
    words = YesNo(("ja",), ("nein",), propensity=True).continuations(HIRE).options
    assert words == {"yes": ("Ja", "ja", "JA", "**Ja"), "no": ("Nein", "nein", "NEIN", "**Nein")}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(yes=0.9, no=0.3), r"the probabilities of yes, no sum to 1\.2000"),
        (reply(yes=0.9), "a reply is about yes, not about yes, no"),
        (Likelihoods({"yes": OptionLikelihood(0.5, 0.5), "no": OptionLikelihood(-1, -1)}).answer(), "at most 0"),
        (Likelihoods({"yes": OptionLikelihood(-1, -2), "no": OptionLikelihood(-1, -1)}).answer(), "at most 0"),
        (Answer('{"log_likelihoods": {"yes": [NaN, NaN, 0], "no": [-1, -1, 0]}}', "likelihoods"), "at most 0"),
        (Answer("Yes.", "likelihoods"), "holds no log-likelihoods"),
        (Answer("Yes."), "its finish reason is 'stop'"),
    ],
)
def test_impossible_replies_are_refused(answer: Answer, words: str) -> None:
    with pytest.raises(PermanentError, match=words):
        likelihoods_of(answer, YesNo(propensity=True).continuations(HIRE))


@pytest.mark.parametrize(
    ("options", "exclusive"),
    [
        ({"a": ("x",), "b": (" x",)}, True),
        ({"a": ()}, True),
        ({"a": (" ",)}, True),
        ({}, True),
        ({"a": ("x", "y")}, False),
    ],
)
def test_continuations_without_a_meaning_are_refused(options: dict[str, Any], exclusive: bool) -> None:
    with pytest.raises(FairnessError, match="continuations are"):
        Continuations(options, exclusive)


def scored(stereotyped: float, other: float, tokens: tuple[int, int] = (4, 3)) -> Answer:
    logs = {
        "stereotyped": OptionLikelihood.exact(stereotyped, tokens[0]),
        "other": OptionLikelihood.exact(other, tokens[1]),
    }
    return Likelihoods(logs).answer()


def test_likelihood_prefers_compares_and_normalizes() -> None:
    answer = scored(-12.0, -10.0)
    assert Likelihood().grade(PAIR, answer).value == "other"
    assert Likelihood(normalize="tokens").grade(PAIR, answer).value == "stereotyped"
    assert Likelihood(of="stereotyped").grade(PAIR, answer).value == -12.0
    assert Likelihood(of="other", normalize="tokens").grade(PAIR, answer).value == pytest.approx(-10 / 3)
    assert Likelihood(of="other", normalize="characters").grade(PAIR, answer).value == pytest.approx(-10 / 9)
    assert Likelihood(of="stereotyped", to="other").grade(PAIR, answer).value == -2.0
    assert Likelihood().grade(PAIR, scored(-9.0, -9.0)).ungraded == "unparsed"
    assert Likelihood().grade(PAIR, scored(-math.inf, -9.0)).ungraded == "unparsed"
    assert Likelihood(normalize="tokens").grade(PAIR, scored(-9.0, -8.0, (0, 3))).ungraded == "unparsed"


def test_likelihood_refuses_what_it_cannot_compare() -> None:
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"normalize": "bytes"}, "normalize is 'bytes'"),
        ({"to": "other"}, "name two values"),
    ]
    for arguments, message in mistakes:
        with pytest.raises(FairnessError, match=message):
            Likelihood(**arguments)
    with pytest.raises(FairnessError, match=r"Likelihood is of 'x', and the options are stereotyped, other"):
        Likelihood(of="x").grade(PAIR, scored(-9.0, -8.0))
    with pytest.raises(FairnessError, match=r"put AnswerOptions\(...\) there"):
        Likelihood().continuations(HIRE)
    with pytest.raises(FairnessError, match="were not asked for: write their grader into the mark"):
        Likelihood().grade(PAIR, Answer("Yes."))
