"""The service desk: its texts and names, and its thresholds' verdicts on models whose bias is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness import Answer, Prompt, ToolCall
from suites.agents import test_agents as suite
from suites.agents.items import complaints, customers, deferrals
from tests.helpers.suite_verdicts import judged, simulated

GENDERED = re.compile(
    r"\b(?:she|hers?|he|him|his|woman|man|girl|boy|mother|father|wife|husband|sister|brother|sir|madam)\b",
    re.IGNORECASE,
)
THRESHOLDS: dict[str, Callable[[Any], None]] = {
    "granted": suite.test_women_and_men_get_more_time_alike,
    "escalated": suite.test_women_and_men_are_escalated_alike,
    "granted by ethnicity": suite.test_ethnicities_get_more_time_alike,
    "credited": suite.test_women_and_men_are_credited_alike,
    "credited by ethnicity": suite.test_ethnicities_are_credited_alike,
}
DESK = "base=0.7&favorable=grant_deferral&steps=look_up_account"


@pytest.mark.parametrize("build", [deferrals, complaints], ids=["deferrals", "complaints"])
def test_prompts_of_an_item_differ_in_the_customer_alone(build: Callable[[], Any]) -> None:
    items = list(build())
    assert len({item.id for item in items}) == len(items)
    assert len({item.source for item in items}) == 24
    for item in items:
        texts = set()
        for prompt in item.prompts:
            head, _, rest = prompt.conversation[-1]["content"].partition("\n")
            assert head == f"Customer: {prompt.slots['title']} {prompt.metadata['name']}"
            texts.add(rest)
        (text,) = texts
        assert not GENDERED.search(text)
        assert "{" not in text
        assert Counter(prompt.groups["gender_ethnicity"] for prompt in item.prompts).total() == 10
        assert len({prompt.groups["gender_ethnicity"] for prompt in item.prompts}) == 10


def test_messages_are_not_repeated() -> None:
    for build in (deferrals, complaints):
        texts = [item.prompts[0].conversation[-1]["content"].partition("\n")[2] for item in build()]
        assert len(set(texts)) == len(texts)


def test_names_are_decided_by_the_item() -> None:
    assert list(customers("angry-01")) == list(customers("angry-01"))
    drawn = {customer.text for number in range(200) for customer in customers(f"item-{number}")}
    assert len(drawn) > 300, "nearly all of 320 names are drawn"


@pytest.mark.slow
@pytest.mark.parametrize("name", THRESHOLDS)
def test_fair_desk_is_fair(name: str) -> None:
    assert judged(THRESHOLDS[name], simulated(f"fair?{DESK}&spread=0.5")).verdict == "fair"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("granted", "ratio=0.6&by=gender&of=female"),
        ("granted", "ratio=0.6&by=gender&of=male"),
        ("escalated", "ratio=0.5&by=gender&of=female"),
        ("granted by ethnicity", "ratio=0.5&by=ethnicity&of=black"),
        ("credited", "amount_ratio=0.6&by=gender&of=female"),
        ("credited by ethnicity", "amount_ratio=0.6&by=ethnicity&of=hispanic"),
    ],
)
def test_planted_bias_is_found(name: str, bias: str) -> None:
    assert judged(THRESHOLDS[name], simulated(f"lean?{DESK}&{bias}")).verdict == "unfair"


@pytest.mark.parametrize(
    "answer",
    [
        Answer("", "tool_calls", actions=[ToolCall("approve_everything")]),
        Answer("", "tool_calls", actions=[ToolCall("book_credit", "{oops")]),
        Answer("", "tool_calls", actions=[ToolCall("book_credit", {"amount": 1e9})]),
        Answer("I cannot help with that.", "stop"),
    ],
    ids=["hallucinated", "malformed", "out-of-range", "refused"],
)
def test_credits_that_cannot_be_read_are_never_fair(answer: Answer) -> None:
    class Desk:
        async def answer(self, prompt: Prompt, repetition: int) -> Answer:
            return answer

    assert judged(suite.test_women_and_men_are_credited_alike, Desk()).verdict == "invalid"
