"""Replies in a store that do not belong to their requests."""

from __future__ import annotations

from random import Random

import pytest

from pytest_fairness.store.stray_replies import StoredReply, find_strays

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
