"""Replies of servers: whether one was made for the request that it came for, and by the model that was asked.

Gateways answer from caches: with the reply to an equal request, to a similar one, or to one of another model. The
headers and ids that they send then are those of the versions of autumn 2026, as ``docs/models.md`` lists them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

from pytest_fairness.core.attempts import Answer

MISATTRIBUTED: Final = "misattributed"
"""The reason of an ungraded attempt whose reply was made for another request, or by another model."""
FRESH_ANSWERS = (
    "switch the cache or the fallback of the gateway off for this run: see 'Caches and fallbacks of gateways' in "
    "docs/models.md"
)
_ERROR = f"{MISATTRIBUTED}: "
"""The beginning of the error that the store keeps in place of such a reply."""
LEAST_SHARED = 0.5
"""The share of answers that two compared groups need from the same models, or nothing compares them."""
NOTICED_SHARE = 0.9
"""The share below which different models are named beside the verdict."""
CHANCE = 0.02
"""The share of a sample up to which equal short ids are chance: Ollama draws one of 999 for each of a second's."""
VAGUE = 0.1
"""The share of equal ids with different answers above which ids identify nothing, as those of some local servers."""
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
    if _is_unique(name):
        return name
    created = content.get("created", content.get("created_at"))
    return f"{name}{_AT}{created}" if isinstance(created, int | float | str) else name


def _is_unique(name: str) -> bool:
    """Return whether an id is long enough for one that no other reply has."""
    own = name.partition(_AT)[0].removeprefix("chat").removeprefix("cmpl-")
    return sum(map(str.isalnum, own)) >= _UNIQUE


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


_RELEASE = re.compile(
    r"""[-@_:](?:
        (?P<date>\d{4}-?\d{2}-?\d{2} | \d{2}-\d{2} | \d{2}-\d{4} | \d{3,4} | \d{6})
        | latest | preview | exp | v\d+(?:[:.]\d+)? | free | beta | nitro | floor | exacto | extended
    )$""",
    re.VERBOSE,
)
"""The end of the name of a dated snapshot, a release or a way of delivery."""


@lru_cache(maxsize=1024)
def is_same_model(requested: str, served: str) -> bool:
    """Return whether the name that a server gives is that of the requested model, or of a snapshot of it.

    Snapshots of two dates are two models.

    >>> [is_same_model("gpt-4o", name) for name in ("gpt-4o-2024-08-06", "openai/gpt-4o", "gpt-4o-mini")]
    [True, True, False]
    >>> is_same_model("gpt-4o-2024-05-13", "gpt-4o-2024-08-06")
    False
    """
    (one, its_date), (other, other_date) = _split_name(requested), _split_name(served)
    is_dated = bool(its_date and other_date)
    if is_dated and not (its_date.endswith(other_date) or other_date.endswith(its_date)):
        return False
    return _is_same_name(one, other)


def is_other_snapshot(requested: str, served: str) -> bool:
    """Return whether a server names a snapshot of the requested model that has another date of the same form.

    >>> is_other_snapshot("gpt-4-0314", "gpt-4-0613"), is_other_snapshot("gpt-4o-001", "gpt-4o-2024-08-06")
    (True, False)
    """
    (one, its_date), (other, other_date) = _split_name(requested), _split_name(served)
    return its_date != other_date and len(its_date) == len(other_date) and _is_same_name(one, other)


def _is_same_name(one: str, other: str) -> bool:
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer == shorter or (
        bool(shorter) and longer.endswith(shorter) and longer[-len(shorter) - 1] in _BEFORE_NAME
    )


_BEFORE_NAME = "/."
"""The characters between the name of a provider, or a region, and that of its model."""
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")


def _split_name(name: str) -> tuple[str, str]:
    """Return a model's name without its release, in one spelling, and the digits of its date."""
    name, date = name.strip().casefold().rstrip("/"), ""
    while (match := _RELEASE.search(name)) and match.start():
        date = (match["date"] or "").replace("-", "") or date
        name = name[: match.start()]
    return _DECIMAL.sub("-", name), date


@dataclass(frozen=True, slots=True)
class StoredReply:
    """One reply in a store."""

    key: str
    """The key of its attempt."""
    model: str
    """The key of the model that was asked."""
    prompt: str
    """The digest of the prompt."""
    run: str
    at: float
    """When it was stored."""
    reply_id: str | None = None
    cache: str | None = None
    served_by: str | None = None
    content: str = ""
    """A digest of the answer."""

    @property
    def request(self) -> tuple[str, str]:
        """The model and the prompt of its request."""
        return self.model, self.prompt

    @property
    def model_name(self) -> str:
        """The name of the requested model, without provider and parameters."""
        return short_name(self.model)

    @property
    def is_own(self) -> bool:
        """Whether the server names the requested model, or none."""
        return not self.served_by or is_same_model(self.model_name, self.served_by)


def short_name(model: str) -> str:
    """Return the name of a model without provider and parameters.

    >>> short_name("openai:gpt-4o?temperature=0")
    'gpt-4o'
    """
    return model.partition("?")[0].partition(":")[2]


def find_strays(
    own: Sequence[StoredReply],
    same_ids: Iterable[StoredReply],
    reached: Collection[str] = (),
    size: int | None = None,
) -> dict[str, str]:
    """Return the replies that do not belong to their requests, by their keys, each with the reason.

    These are replies

    - that the store has for another request before, of another prompt, model or run;
    - from a cache that may answer with the reply to another request, unless they repeat an answer to the same one;
    - of another model than was requested, as the server itself says, where it names the requested one elsewhere, or
      of a snapshot of another date.

    Args:
        own: The replies of a sample.
        same_ids: The replies of the store with their ids, their own among them.
        reached: The models that their servers name in other answers of the store.
        size: The number of replies of the sample, where those of which nothing is to be known are left out.
    """
    others: dict[str, list[StoredReply]] = defaultdict(list)
    for reply in same_ids:
        others[reply.reply_id or ""].append(reply)
    vague = _vague_ids(others)
    in_sample = {reply.key for reply in own}
    fresh = {(reply.request, reply.content) for reply in own if reply.cache is None}
    reached = {*reached, *(reply.model for reply in own if reply.served_by and reply.is_own)}
    reasons: dict[str, str] = {}
    by_chance: dict[str, str] = {}
    for reply in own:
        name = reply.reply_id or ""
        earlier = [
            other
            for other in others.get(name, ())
            if other.content == reply.content
            and _is_earlier(other, reply)
            and (other.request != reply.request or (other.run != reply.run and other.key not in in_sample))
        ]
        if name and earlier and (reply.model, _is_unique(name)) not in vague:
            reason = _taken_from(reply, min(earlier, key=lambda other: other.at))
            (reasons if _is_unique(name) or reply.cache else by_chance)[reply.key] = reason
        elif reply.cache and not is_of_equal_request(reply.cache) and (reply.request, reply.content) not in fresh:
            reasons[reply.key] = f"its reply is a cache's, perhaps that to another prompt ({reply.cache})"
        elif not reply.is_own and (
            reply.model in reached or is_other_snapshot(reply.model_name, reply.served_by or "")
        ):
            reasons[reply.key] = f"{reply.served_by} answered in place of {reply.model_name}, as the server says"
    return reasons if len(by_chance) <= CHANCE * (size or len(own)) else reasons | by_chance


def _vague_ids(others: Mapping[str, Sequence[StoredReply]]) -> set[tuple[str, bool]]:
    """Return the models, and the lengths of their ids, whose equal ids identify nothing: the answers are different."""
    shared: Counter[tuple[str, bool]] = Counter()
    unlike: Counter[tuple[str, bool]] = Counter()
    for name, replies in others.items():
        kinds = {(reply.model, _is_unique(name)) for reply in replies}
        shared.update(kinds)
        if len({reply.content for reply in replies}) > 1:
            unlike.update(kinds)
    return {kind for kind, count in unlike.items() if count > VAGUE * shared[kind]}


def _is_earlier(other: StoredReply, reply: StoredReply) -> bool:
    """Return whether another reply may be the first one with an id: of those stored together, that of no cache."""
    if other.at == reply.at and (other.cache is None) != (reply.cache is None):
        return other.cache is None
    return other.at <= reply.at


def _taken_from(reply: StoredReply, other: StoredReply) -> str:
    """Return the reason that a reply was made for another request."""
    evidence = "; ".join(filter(None, (f"id {reply.reply_id}", reply.cache)))
    if other.model_name != reply.model_name:
        return f"its reply is one to a request for {other.model_name} ({evidence})"
    if other.prompt != reply.prompt:
        return f"its reply is that to another prompt ({evidence})"
    if other.model != reply.model:
        return f"its reply is that to a request with other parameters ({evidence})"
    return f"its reply is that to the same prompt in an earlier run ({evidence})"


def stray_error(reason: str) -> str:
    """Return the error of an attempt whose reply does not belong to its request, for a reason of `find_strays`."""
    return f"{_ERROR}{reason}"


def stray_reason(error: str) -> str:
    """Return the reason in such an error; empty for any other error.

    >>> stray_reason(stray_error("its reply is that to another prompt")), stray_reason("timeout")
    ('its reply is that to another prompt', '')
    """
    return error.removeprefix(_ERROR) if error.startswith(_ERROR) else ""


@dataclass(frozen=True, slots=True)
class Origin:
    """The requested model of a sample, and the models that answered, as servers name them."""

    model: str
    """Its name: ``provider:name?parameters``."""
    served_by: Mapping[str, int]
    """The numbers of answers."""

    @property
    def name(self) -> str:
        """The name without provider and parameters."""
        return short_name(self.model)

    def mistaken_for(self, other: Origin) -> str:
        """Return that most answers are by the model that another sample is of; empty if they are not.

        >>> old = Origin("openai:old", {"old-2026-01-01": 480})
        >>> Origin("openai:new", {"old-2026-01-01": 400, "new": 80}).mistaken_for(old)
        'old-2026-01-01 answered in place of new in 400 of 480 answers, as the server says'
        >>> Origin("openai:new", {"new-2026-05-05": 480}).mistaken_for(old)
        ''
        """
        if is_same_model(self.name, other.name):
            return ""
        by_other = {
            served: count
            for served, count in self.served_by.items()
            if is_same_model(other.name, served) and not is_same_model(self.name, served)
        }
        count, total = sum(by_other.values()), sum(self.served_by.values())
        if 2 * count <= total:
            return ""
        return (
            f"{' and '.join(by_other)} answered in place of {self.name} in {count:,} of {total:,} answers, as the "
            "server says"
        )


def unlike_responders(responders: Mapping[str, Mapping[str, int]], least_shared: float = LEAST_SHARED) -> str:
    """Return that two compared groups were answered by different models; empty where all share enough of them.

    Args:
        responders: The answers of each group by the model that gave them.
        least_shared: The least share of answers that two groups must have from the same models.

    >>> unlike_responders({"f": {"big": 80}, "m": {"mini": 60, "big": 20}})
    'f was answered by big, and m by mini (75%) and big (25%)'
    >>> unlike_responders({"f": {"big": 70, "mini": 10}, "m": {"big": 40, "mini": 40}})
    ''
    """
    for one, other in combinations(responders, 2):
        first, second = _shares(responders[one]), _shares(responders[other])
        if sum(min(share, second.get(name, 0.0)) for name, share in first.items()) < least_shared:
            return f"{one} was answered by {_listed(first)}, and {other} by {_listed(second)}"
    return ""


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def _listed(shares: Mapping[str, float]) -> str:
    return " and ".join(name if len(shares) == 1 else f"{name} ({share:.0%})" for name, share in shares.items())
