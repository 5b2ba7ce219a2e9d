"""Evidence of caches and fallbacks in replies of servers."""

from __future__ import annotations

import pytest

from pytest_fairness.core.reply_evidence import is_of_equal_request, read_cache_hit, read_reply_id


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
