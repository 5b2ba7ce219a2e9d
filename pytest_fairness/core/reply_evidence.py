"""Evidence of the origin of a reply: its id, a cache, a fallback, in headers and bodies of servers.

Gateways answer from caches: with the reply to an equal request, to a similar one, or to one of another model. The
headers and ids that they send then are those of the versions of autumn 2026, as ``docs/models.md`` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.served_models import is_same_model

_LONGEST_VALUE = 60
"""The most characters of a header's value that are kept."""
_UNIQUE = 16
"""The fewest letters and digits of an id that a server gives one reply only; Ollama's have three."""
_AT = " at "
"""Stands between a short id and the time of creation."""
_HIT = re.compile(r"(?<![a-z])(?:refresh)?hit(?![a-z])")
_NO_HIT = re.compile(r"\b(?:no|not|miss)\b")
_NAMED_HIT = re.compile(r"hit$|cached|from-cache")
"""The names of headers that are true or 1 for a reply from a cache."""
_OF_PROMPTS = re.compile(r"prompt|prefix|kv")
"""The names of headers on caches of prompts, from which no reply comes."""
_LITELLM_KEY, _LITELLM_SIMILARITY = "x-litellm-cache-key", "x-litellm-semantic-similarity"
"""Sent with replies from LiteLLM's cache only; with all replies, if its cache is a semantic one."""
_OF_EQUAL_REQUESTS: Mapping[str, str] = {
    _LITELLM_KEY: "",
    "cf-aig-cache-status": "hit",
    "helicone-cache": "hit",
    "x-openrouter-cache-status": "hit",
    "x-portkey-cache-status": "hit",
    "x-ai-cache-status": "hit-l1",
}
"""The headers of caches whose key is the whole request with its model, and their values; LiteLLM's is a hash."""
_CACHE_ID = re.compile(r"^(?:chatcmpl-cache-|from-cache)|_cache_hit")
"""The ids that vLLM's semantic router, Higress and LiteLLM's logs give replies from their caches."""
_FALLBACKS = ("x-litellm-attempted-fallbacks", "cf-aig-step", "helicone-fallback-index")
"""Sent by LiteLLM, Cloudflare and Helicone: above 0 where another model than the first has answered."""
_FALLBACK_NAME = "x-litellm-model-name"
_CACHE_FLAGS = ("cached", "is_cached", "cache_hit", "cacheHit", "from_cache", "fromCache")


def read_cache_hit(headers: Mapping[str, str], body: object) -> str | None:
    """Return how a reply shows that a cache gave it: its headers, or fields of its body; None where it does not.

    >>> read_cache_hit({"X-Cache": "MISS, HIT", "X-Cache-Hits": "0, 3", "Content-Type": "application/json"}, {})
    'x-cache: MISS, HIT; x-cache-hits: 0, 3'
    >>> read_cache_hit({"x-litellm-semantic-similarity": "0.31", "cf-cache-status": "DYNAMIC"}, {"id": "chatcmpl-1"})
    >>> read_cache_hit({}, {"id": "from-cache", "choices": []})
    'id: from-cache'
    """
    sent = {name.casefold(): " ".join(value.split())[:_LONGEST_VALUE] for name, value in headers.items()}
    hits = {name: value for name, value in sent.items() if _is_hit(name, value)}
    if _LITELLM_KEY in hits and _is_positive(sent.get(_LITELLM_SIMILARITY, "")):
        hits[_LITELLM_SIMILARITY] = sent[_LITELLM_SIMILARITY]
    if isinstance(body, Mapping):
        hits |= {name: "true" for name in _CACHE_FLAGS if body.get(name) is True}
        if isinstance(name := body.get("id"), str) and _CACHE_ID.search(name):
            hits["id"] = name[:_LONGEST_VALUE]
        debug = _mapping(_mapping(body.get("extra_fields")).get("cache_debug"))  # Bifrost
        hits |= {"cache_debug.cache_hit": "true"} if debug.get("cache_hit") is True else {}
    return "; ".join(f"{name}: {value}" for name, value in sorted(hits.items())) or None


def with_evidence(answer: Answer, headers: Mapping[str, str], body: object) -> Answer:
    """Return an answer with what its reply shows of its origin: an id, a cache, and the model of a fallback."""
    served_by = _fallback(headers, answer.served_by) or answer.served_by
    return replace(answer, reply_id=read_reply_id(body), cache=read_cache_hit(headers, body), served_by=served_by)


def _fallback(headers: Mapping[str, str], served_by: str | None) -> str | None:
    """Return the name of a fallback, whose reply may have the name of the requested model; None where it is none.

    >>> _fallback({"X-LiteLLM-Attempted-Fallbacks": "1"}, "gpt-4o"), _fallback({"cf-aig-step": "0"}, "gpt-4o")
    ('gpt-4o (fallback 1)', None)
    """
    sent = {name.casefold(): value.strip() for name, value in headers.items()}
    number = next((sent[name] for name in _FALLBACKS if _is_positive(sent.get(name, ""))), "")
    if not number:
        return None
    name = sent.get(_FALLBACK_NAME, "")[:_LONGEST_VALUE]
    if name and served_by and is_same_model(served_by, name):  # another deployment
        return None
    return name or f"{served_by or 'a model'} (fallback {number})"


def _is_hit(name: str, value: str) -> bool:
    """Return whether a header, with its name in lower case, says that a cache gave the reply."""
    if name == _LITELLM_KEY:
        return True
    if "cache" not in name or _OF_PROMPTS.search(name):
        return False
    value = value.casefold()
    if name.endswith("-hits"):
        return any(map(_is_positive, value.split(",")))
    if value in ("true", "1", "yes"):
        return _NAMED_HIT.search(name) is not None
    return any(_HIT.search(part) and not _NO_HIT.search(part) for part in value.split(","))


def _is_positive(text: str) -> bool:
    return re.fullmatch(r"\s*\d*\.?\d*[1-9]\d*\s*", text) is not None


def is_of_equal_request(cache: str) -> bool:
    """Return whether a cache hit (`read_cache_hit`) is one of caches that answer equal requests only.

    >>> is_of_equal_request("cf-aig-cache-status: HIT"), is_of_equal_request("x-vsr-cache-hit: true")
    (True, False)
    """
    hits = [hit.partition(": ") for hit in cache.split("; ")]
    return all(
        name in _OF_EQUAL_REQUESTS and _OF_EQUAL_REQUESTS[name] in ("", value.casefold()) for name, _, value in hits
    )


def read_reply_id(body: object) -> str | None:
    """Return what identifies a reply at its server: its id, and for a short one the time of its creation; else None.

    >>> read_reply_id({"id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "created": 1741569952})
    'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT'
    >>> read_reply_id({"id": "chatcmpl-347", "created": 1741569952}), read_reply_id({"choices": []})
    ('chatcmpl-347 at 1741569952', None)
    """
    content = _mapping(body)
    name = content.get("id")
    if not isinstance(name, str) or not name.strip():
        return None
    name = name.strip()[:200]
    if is_unique_id(name):
        return name
    created = content.get("created", content.get("created_at"))
    return f"{name}{_AT}{created}" if isinstance(created, int | float | str) else name


def is_unique_id(name: str) -> bool:
    """Return whether an id is long enough for one that no other reply has."""
    own = name.partition(_AT)[0].removeprefix("chat").removeprefix("cmpl-")
    return sum(map(str.isalnum, own)) >= _UNIQUE


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
