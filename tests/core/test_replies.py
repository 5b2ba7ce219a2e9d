"""Replies of servers: the request and the model that they belong to."""

from __future__ import annotations

from random import Random

import pytest

from pytest_fairness.core.replies import (
    StoredReply,
    find_strays,
    is_of_equal_request,
    is_same_model,
    read_cache_hit,
    read_reply_id,
    unlike_responders,
)

M, OTHER = "openai:m", "openai:other"
LONG = "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT"


def reply(key: str, prompt: str, **fields: object) -> StoredReply:
    values: dict[str, object] = {"model": M, "run": "r", "at": 1.0, "reply_id": LONG, "content": "yes", **fields}
    return StoredReply(key, prompt=prompt, **values)  # type: ignore[arg-type]


def strays(*replies: StoredReply) -> set[str]:
    return set(find_strays(replies, replies))


def test_first_of_equal_ids_is_kept() -> None:
    assert strays(reply("a", "p", at=1.0), reply("b", "q", at=2.0)) == {"b"}


def test_reply_of_no_cache_is_the_first_of_two_at_once() -> None:
    assert strays(reply("a", "p"), reply("b", "q", cache="x-cache: HIT")) == {"b"}
    assert strays(reply("a", "p"), reply("b", "q")) == {"a", "b"}


def test_repetitions_of_a_prompt_may_have_one_id() -> None:
    assert strays(reply("a", "p", at=1.0), reply("b", "p", at=2.0)) == set()


def test_same_prompt_of_another_run_is_another_request() -> None:
    later = reply("b", "p", at=2.0, run="s")
    assert set(find_strays([later], [reply("a", "p", at=1.0), later])) == {"b"}


def test_request_with_other_parameters_is_named() -> None:
    first, second = reply("a", "p", at=1.0), reply("b", "p", at=2.0, model="openai:m?temperature=0")
    assert find_strays([second], [first, second]) == {
        "b": f"its reply is that to a request with other parameters (id {LONG})"
    }


def test_one_id_of_all_replies_identifies_nothing() -> None:
    contents = ["yes", "no"] * 20
    replies = [reply(f"k{n}", f"p{n}", at=float(n), content=text) for n, text in enumerate(contents)]
    assert strays(*replies) == set()


@pytest.mark.parametrize("share_of_yes", [0.5, 0.95, 0.995])
def test_ids_of_ollama_that_are_equal_by_chance_are_no_strays(share_of_yes: float) -> None:
    """Regression: ten answers of a second have one of 999 ids each, and some of them are equal."""
    random = Random(1)
    replies = [
        reply(
            f"k{n}",
            f"p{n}",
            at=float(n // 10),
            reply_id=f"chatcmpl-{random.randrange(999)} at {n // 10}",
            content="yes" if random.random() < share_of_yes else "no",
        )
        for n in range(7200)
    ]
    assert len({one.reply_id for one in replies}) < len(replies)
    assert strays(*replies) == set()


def test_similar_prompts_before_ollama_are_strays_in_spite_of_chance() -> None:
    """Regression: one id by chance, with two answers, hid a hundred replies from a cache."""
    replies = [reply(f"k{n}", f"p{n}", at=float(n), reply_id=f"chatcmpl-{n // 2} at 9") for n in range(200)]
    replies += [reply("x", "x", reply_id="chatcmpl-5 at 9", content="no")]
    assert len(strays(*replies)) == 100


@pytest.mark.parametrize(
    ("requested", "served", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", False),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4-0613", "gpt-4-2023-06-13", True),
        ("gpt-4-0125-preview", "gpt-4-0613", False),
        ("gpt-4-20230613", "gpt-4-0613", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("anthropic/claude-3.5-sonnet", "claude-3-5-sonnet-20241022", True),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022", True),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1", True),
        ("llama3:8b", "llama3:70b", False),
        ("meta-llama/Llama-3.1-8B-Instruct", "/models/meta-llama/Llama-3.1-8B-Instruct/", True),
        ("o1", "gpt-o1", False),
        ("m", "", False),
    ],
)
def test_snapshots_are_the_model_and_other_dates_are_not(requested: str, served: str, same: bool) -> None:
    assert is_same_model(requested, served) is same
    assert is_same_model(served, requested) is same
    assert is_same_model(requested, requested)


@pytest.mark.parametrize(
    ("headers", "body", "hit"),
    [
        ({"X-Cache": "HIT"}, {}, "x-cache: HIT"),
        ({"X-Cache": "Miss from cloudfront"}, {}, None),
        ({"X-Cache": "Hit from cloudfront"}, {}, "x-cache: Hit from cloudfront"),
        ({"x-portkey-cache-status": "SEMANTIC HIT"}, {}, "x-portkey-cache-status: SEMANTIC HIT"),
        ({"x-portkey-cache-status": "SEMANTIC MISS"}, {}, None),
        ({"x-portkey-cache-status": "REFRESH"}, {}, None),
        ({"Helicone-Cache": "MISS"}, {}, None),
        ({"cf-aig-cache-status": "HIT"}, {}, "cf-aig-cache-status: HIT"),
        ({"x-litellm-semantic-similarity": "0.0", "x-litellm-cache-key": "k"}, {}, "x-litellm-cache-key: k"),
        ({"Cache-Control": "no-cache", "cf-cache-status": "DYNAMIC"}, {}, None),
        ({"x-prompt-cache-hit": "true", "x-kv-cache-hit": "1", "x-prefix-cache-hits": "3"}, {}, None),
        ({}, {"cached": True}, "cached: true"),
        ({}, {"id": "chatcmpl-b634_cache_hit1739678471.97"}, "id: chatcmpl-b634_cache_hit1739678471.97"),
        ({}, {"usage": {"prompt_tokens_details": {"cached_tokens": 900}}}, None),
        ({}, [], None),
    ],
)
def test_cache_hits_are_read_from_headers_and_fields(headers: dict[str, str], body: object, hit: str | None) -> None:
    assert read_cache_hit(headers, body) == hit


def test_caches_of_equal_requests_are_known() -> None:
    assert is_of_equal_request("x-ai-cache-status: HIT-L1")
    assert not is_of_equal_request("x-ai-cache-status: HIT-L2")
    assert not is_of_equal_request("x-litellm-cache-key: k; x-litellm-semantic-similarity: 0.93")
    assert not is_of_equal_request("x-cache: HIT")


@pytest.mark.parametrize("body", [None, [], {"id": 3}, {"id": " "}, {"id": None}, "id"])
def test_reply_without_an_id_has_none(body: object) -> None:
    assert read_reply_id(body) is None


def test_groups_that_share_half_of_their_models_are_compared() -> None:
    assert unlike_responders({"f": {"a": 5, "b": 5}, "m": {"a": 10}}) == ""
    assert unlike_responders({"f": {"a": 4, "b": 6}, "m": {"a": 10}})
    assert unlike_responders({}) == unlike_responders({"f": {"a": 1}}) == ""
