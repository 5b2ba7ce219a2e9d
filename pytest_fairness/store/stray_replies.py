"""Replies that do not belong to their requests, by their ids, caches and models."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fairness.core.reply_evidence import is_of_equal_request, is_unique_id
from pytest_fairness.core.served_models import is_other_snapshot, is_same_model, short_name

CHANCE = 0.02
"""The share of a sample up to which equal short ids are chance: Ollama draws one of 999 for each of a second's."""
VAGUE = 0.1
"""The share of equal ids with different answers above which ids identify nothing, as those of some local servers."""


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
        if name and earlier and (reply.model, is_unique_id(name)) not in vague:
            reason = _taken_from(reply, min(earlier, key=lambda other: other.at))
            (reasons if is_unique_id(name) or reply.cache else by_chance)[reply.key] = reason
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
        kinds = {(reply.model, is_unique_id(name)) for reply in replies}
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
