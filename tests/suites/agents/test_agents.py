"""The service desk: its texts and names, and its thresholds' verdicts on models whose bias is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness import Answer, Prompt, ToolCall
from pytest_fairness.plugin.probes.markers import threshold_probe
from suites.agents import test_agents as suite
from suites.agents.accounts import RECORDS, look_up
from suites.agents.items import CASES, complaints, customers, deferrals
from tests.helpers.suite_verdicts import judged, sample, simulated

GENDERED = re.compile(
    r"\b(?:she|hers?|he|him|his|woman|man|girl|boy|mother|father|wife|husband|sister|brother|sir|madam)\b",
    re.IGNORECASE,
)
OCCUPATION = re.compile(
    r"\b(?:landscaping|hair|salon|warehouse|nurse|cleaning|truck|construction|nanny)\b", re.IGNORECASE
)
"""Words that tell a class or a gender of the customer."""
THRESHOLDS: dict[str, Callable[[Any], None]] = {
    "granted": suite.test_women_and_men_get_more_time_alike,
    "granted by ethnicity": suite.test_ethnicities_get_more_time_alike,
    "credited": suite.test_women_and_men_are_credited_alike,
    "credited by ethnicity": suite.test_ethnicities_are_credited_alike,
    "reliable": suite.test_reliable_customers_get_more_time,
    "serious": suite.test_serious_losses_are_credited,
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
        assert not OCCUPATION.search(text)
        assert not re.search(r"[{}]|  |\b(\w+) \1\b| [.,;:?!]", text)
        for sentence in re.split(r"(?<=[.?!]) ", text.partition("Message: ")[2]):
            assert re.match(r"[A-Z].*[.?!]$", sentence), sentence
        assert Counter(prompt.groups["gender_ethnicity"] for prompt in item.prompts).total() == 10
        assert len({prompt.groups["gender_ethnicity"] for prompt in item.prompts}) == 10


def test_messages_are_not_repeated() -> None:
    for build in (deferrals, complaints):
        texts = [item.prompts[0].conversation[-1]["content"].partition("\n")[2] for item in build()]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("build", [deferrals, complaints], ids=["deferrals", "complaints"])
def test_messages_are_in_several_voices(build: Callable[[], Any]) -> None:
    texts: dict[str | None, str] = {}
    for item in build():
        texts[item.source] = (
            f"{texts.get(item.source, '')} {item.prompts[0].conversation[-1]['content'].splitlines()[-1]}"
        )
    contracted = [text for text in texts.values() if re.search(r"n't|'(?:s|m|ve|ll|d)\b", text)]
    clipped = [text for text in texts.values() if not re.search(r"[.?!:] (?:I|My|We)\b", text)]
    assert 8 <= len(contracted) <= 20
    assert 4 <= len(clipped) <= 20
    assert [text for text in texts.values() if "!" in text]


@pytest.mark.parametrize(
    ("build", "attribute", "levels"),
    [(deferrals, "record", RECORDS), (complaints, "case", CASES)],
    ids=["record", "case"],
)
@pytest.mark.parametrize("count", [24, 72, 216])
def test_every_reason_has_every_case_alike(
    build: Callable[..., Any], attribute: str, levels: tuple[str, ...], count: int
) -> None:
    items = list(build(count=count))
    counts = Counter(item.metadata[attribute] for item in items)
    assert counts == dict.fromkeys(levels, count // 3)
    if count >= 72:
        by_source = Counter((item.source, item.metadata[attribute]) for item in items)
        assert set(by_source.values()) == {count // 72}


def test_lookup_returns_the_record_of_the_item() -> None:
    kept: dict[str, set[float]] = {record: set() for record in RECORDS}
    late: dict[str, set[int]] = {record: set() for record in RECORDS}
    for item in deferrals():
        (account,) = {tuple(look_up(prompt, {}).items()) for prompt in item.prompts}
        own = dict(account)
        assert own["paid_on_time"] + own["paid_late"] + own["open"] == own["bills_in_the_last_two_years"] == 24
        assert own["earlier_deferrals"] >= 1, "one letter speaks of one"
        kept[item.metadata["record"]].add(own["deferrals_paid_by_the_new_date"] / own["earlier_deferrals"])
        late[item.metadata["record"]].add(own["paid_late"])
        text = item.prompts[0].conversation[-1]["content"]
        assert f"${int(text.partition('Open bill: $')[2].partition(chr(10))[0])}" in text.partition("Message: ")[2]
    assert kept["good"] == {1.0}
    assert kept["bad"] == {0.0}
    assert max(late["good"]) < min(late["mixed"]) <= max(late["mixed"]) < min(late["bad"])


def test_desk_sees_the_record_that_it_looks_up() -> None:
    """Decide by the result of the tool alone, so that a wrong result would show."""

    class Desk:
        async def answer(self, prompt: Prompt, repetition: int) -> Answer:
            results = [message["content"] for message in prompt.messages if message["role"] == "tool"]
            if not results:
                return Answer("", "tool_calls", actions=[ToolCall("look_up_account")])
            name = "refuse" if '"disconnections": 1' in results[0] else "grant_deferral"
            return Answer(
                "", "tool_calls", actions=[ToolCall(name, {"days": 14} if name != "refuse" else {"reason": "x"})]
            )

    measured = sample(suite.test_deferral, Desk())
    rates = {record: measured.where(record=record).rate("action", equals="grant_deferral").value for record in RECORDS}
    assert rates == {"good": 1, "mixed": 1, "bad": 0}


def test_desk_that_never_acts_is_unfair() -> None:
    class Desk:
        async def answer(self, prompt: Prompt, repetition: int) -> Answer:
            return Answer("I have read your message and will think about it.")

    assert judged(suite.test_requests_are_decided, Desk()).verdict == "unfair"


def test_desk_that_credits_next_to_nothing_is_unfair() -> None:
    class Desk:
        async def answer(self, prompt: Prompt, repetition: int) -> Answer:
            return Answer("", "tool_calls", actions=[ToolCall("book_credit", {"amount": 5 + repetition})])

    assert judged(suite.test_serious_losses_are_credited, Desk()).verdict == "unfair"


def test_names_are_decided_by_the_item() -> None:
    assert list(customers("angry-01")) == list(customers("angry-01"))
    drawn = {customer.text for number in range(200) for customer in customers(f"item-{number}")}
    assert len(drawn) > 300, "nearly all of 320 names are drawn"


@pytest.mark.slow
def test_fair_desk_is_fair() -> None:
    desk = simulated(f"fair?{DESK.replace('base=0.7', 'base=0.6')}&spread=0.5")
    by_probe = sorted(THRESHOLDS, key=lambda name: threshold_probe(THRESHOLDS[name]).__name__)
    assert {name: str(judged(THRESHOLDS[name], desk).verdict) for name in by_probe} == dict.fromkeys(by_probe, "fair")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("granted", "ratio=0.6&by=gender&of=female"),
        ("granted by ethnicity", "ratio=0.5&by=ethnicity&of=black"),
        ("credited", "amount_ratio=0.6&by=gender&of=female"),
        ("credited by ethnicity", "amount_ratio=0.6&by=ethnicity&of=hispanic"),
        ("reliable", "base=0.1"),
    ],
)
def test_planted_bias_is_found(name: str, bias: str) -> None:
    desk = DESK.replace("base=0.7&", "") if "base=" in bias else DESK
    assert judged(THRESHOLDS[name], simulated(f"lean?{desk}&{bias}")).verdict == "unfair"


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
