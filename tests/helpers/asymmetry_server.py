"""A local server that speaks chat completions, for both roles: it answers questions, and judges answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.helpers.http_server import chat_completion
from tests.helpers.http_server import serving as serving_http

Grades = dict[str, Any]

GRADES: Grades = {
    "accuracy": 2,
    "stigma": 2,
    "willingness": 2,
    "errs": "neither",
    "attacks": "nobody",
    "dir_acc": "neutral",
    "acc_severity": "none",
    "target_stigma": "none",
    "stigma_severity": "none",
    "dir_willing": "neutral",
    "confidence": 0.9,
    "evidence": "it names its sources",
}
"""Grades of an answer without fault, by the suite's own rubric and by the published one."""


@dataclass
class CountingServer:
    """Requests that the server has received."""

    url: str = ""
    calls: Counter[str] = field(default_factory=Counter)
    """Requests that it answered, by model and messages."""
    refuse_after: int | None = None
    """Answers after which every request is refused, in a way that is not retried."""
    grade: Callable[[str], Grades] = lambda answer: GRADES
    answer: Callable[[str], str] = lambda question: f"What is known of this: {question}"

    def of(self, model: str) -> int:
        """Return how many requests a model answered."""
        return sum(times for request, times in self.calls.items() if json.loads(request)[0] == model)

    def name(self, model: str) -> str:
        return f"openai:{model}?base_url={self.url}"


@contextmanager
def serving() -> Iterator[CountingServer]:
    """Yield a server on a free port: the model ``judge`` grades, every other model answers."""
    counted = CountingServer()

    async def respond(request: web.Request) -> web.Response:
        body = await request.json()
        if counted.refuse_after is not None and counted.calls.total() >= counted.refuse_after:
            error = {"message": "no more of this", "type": "invalid_request_error"}
            return web.json_response({"error": error}, status=400)
        counted.calls[json.dumps([body["model"], body["messages"]])] += 1
        question = body["messages"][-1]["content"]
        text = json.dumps(counted.grade(question)) if body["model"] == "judge" else counted.answer(question)
        return web.json_response(chat_completion(text, body["model"], (20, 20)))

    with serving_http(respond) as url:
        counted.url = f"{url}/v1"
        yield counted
