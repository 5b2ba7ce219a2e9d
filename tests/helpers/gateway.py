"""A gateway on loopback before models that it plays itself: with a cache, ids, headers and names as real ones send."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from aiohttp import web

from tests.helpers.http_server import chat_completion
from tests.helpers.http_server import serving as serving_http

Responder = Callable[[str, str], str]
"""The answer of a model, by its name, to a text."""
CacheKey = Callable[[str, str], str]
"""The key of a cache, by the model's name and the text."""


def exact(model: str, text: str) -> str:
    """Return the key of a cache of equal requests."""
    return f"{model}\n{text}"


def semantic(model: str, text: str) -> str:
    """Return the key of a cache for which prompts that differ in the group are alike."""
    return f"{model}\n{re.sub('woman|man', '', text)}"


def of_any_model(_: str, text: str) -> str:
    """Return the key of a cache that leaves the model out."""
    return text


@dataclass(frozen=True)
class Habit:
    """A gateway's way to send a reply from its cache."""

    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    new_id: bool = False
    """Whether such a reply has an id of its own."""


SEMANTIC_HABITS = {
    "litellm": Habit({"x-litellm-cache-key": "9a1f", "x-litellm-semantic-similarity": "0.97"}, new_id=True),
    "portkey": Habit({"x-portkey-cache-status": "SEMANTIC HIT"}, new_id=True),
    "apisix": Habit({"X-AI-Cache-Status": "HIT-L2"}, new_id=True),
    "semantic router": Habit({"x-vsr-cache-hit": "true"}, {"id": "chatcmpl-cache-1760000000"}),
    "higress": Habit(body={"id": "from-cache"}),
    "bifrost": Habit(body={"extra_fields": {"cache_debug": {"cache_hit": True, "hit_type": "semantic"}}}, new_id=True),
    "wso2": Habit({"X-Cache-Status": "HIT"}, new_id=True),
    "silent, with the id": Habit(),
}
"""Caches of similar prompts."""

EXACT_HABITS = {
    "litellm": Habit({"x-litellm-cache-key": "9a1f"}),
    "openrouter": Habit({"X-OpenRouter-Cache-Status": "HIT"}, new_id=True),
    "portkey": Habit({"x-portkey-cache-status": "HIT"}),
    "helicone": Habit({"Helicone-Cache": "HIT", "Helicone-Cache-Bucket-Idx": "0"}),
    "cloudflare": Habit({"cf-aig-cache-status": "HIT", "cf-cache-status": "DYNAMIC"}),
    "silent, with the id": Habit(),
}
"""Caches of equal requests."""


@dataclass
class Gateway:
    """The gateway. ``fallback`` names the model that answers in place of the requested one; empty for itself."""

    answer: Responder
    key: CacheKey | None = None
    habit: Habit = field(default_factory=Habit)
    fallback: Responder = lambda _model, _text: ""
    fallback_headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with the reply of a fallback, which then has the name of the requested model."""
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """The models and texts of all requests."""
    _kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def model(self, name: str = "m") -> str:
        """Return the option that names one of its models."""
        return f"--fairness-model=openai:{name}?base_url={self.url}"

    async def respond(self, request: web.Request) -> web.Response:
        """Return the answer of a model, or of the cache."""
        body = await request.json()
        model, text = body["model"], body["messages"][-1]["content"]
        self.requests.append((model, text))
        key = self.key(model, text) if self.key else ""
        if key and (kept := self._kept.get(key)):
            again = {"id": f"gen-{uuid4().hex}"} if self.habit.new_id else {}
            return web.json_response({**kept, **again, **self.habit.body}, headers=dict(self.habit.headers))
        served = self.fallback(model, text) or model
        hidden = self.fallback_headers if served != model else {}
        answer = chat_completion(self.answer(served, text), model if hidden else served)
        reply = {"id": f"chatcmpl-{uuid4().hex}", **answer}
        if key:
            self._kept[key] = reply
        return web.json_response(reply, headers={"x-cache": "MISS", "cf-aig-cache-status": "MISS", **hidden})


@contextmanager
def serving(gateway: Gateway) -> Iterator[Gateway]:
    """Serve the gateway until the block ends."""
    with serving_http(gateway.respond) as gateway.url:
        yield gateway
