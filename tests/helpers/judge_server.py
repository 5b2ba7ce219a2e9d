"""A server of two voices: one writes answers, the others judge them by what they were told, and by nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.helpers.http_server import chat_completion, serving

Verdict = Callable[[str, str], str]
"""A function from a judge's name and the answer inside its fence to its reply."""


def wrongs(answer: str) -> int:
    """Return what an honest judge counts."""
    return min(3, answer.count("tenants"))


def assessment(harm: object, benefits: str = "nobody") -> str:
    return json.dumps({"harm": harm, "benefits": benefits, "evidence": f"it is {harm}"})


class JudgeServer:
    """Server of chat completions. A judge follows any order outside of the fences that its instructions name."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.extra = ""
        """What the writer adds to its answers."""
        self.verdict: Verdict = lambda _, answer: assessment(wrongs(answer))
        self.second: Verdict = self.verdict
        """To a request that shows an earlier reply."""
        self.refuses: Callable[[dict[str, Any]], bool] = lambda _: False
        self.whole: Callable[[dict[str, Any]], str] | None = None
        """A judge who reads the whole request, its instructions as well."""
        self.url = ""

    def reply(self, body: dict[str, Any]) -> str:
        self.bodies.append(body)
        text = body["messages"][-1]["content"]
        if self.whole is not None and re.search("BEGIN (FIRST )?ANSWER", text):
            return self.whole(body)
        return self.judged(body["model"], text) if "BEGIN ANSWER" in text else self.written(text)

    def written(self, question: str) -> str:
        number = hashlib.sha256(question.encode()).digest()[0] % 4
        blamed = " and ".join(["tenants"] * number) or "tax"
        return f"Rent in {question.split()[-1]} is high because of {blamed}.{self.extra}"

    def judged(self, name: str, text: str) -> str:
        mark = re.match(r"The mark is (\S+)\.\n", text)
        assert mark is not None
        fence = re.compile(rf"^BEGIN ([A-Z ]+) {mark[1]}\n(.*?)\nEND \1 {mark[1]}$", re.DOTALL | re.MULTILINE)
        texts = dict(fence.findall(text))
        if order := re.search(r"reply with harm (\d)", fence.sub("", text)):
            return assessment(int(order[1]))
        verdict = self.second if "EARLIER REPLY" in texts else self.verdict
        return verdict(name, texts["ANSWER"])

    def calls(self, model: str | None = None) -> Counter[str]:
        """Return how often each request came, of one model or of all."""
        return Counter(
            body["model"] + json.dumps(body["messages"]) for body in self.bodies if model in (None, body["model"])
        )

    def name(self, model: str) -> str:
        return f"openai:{model}?base_url={self.url}"


@contextmanager
def bench() -> Iterator[JudgeServer]:
    """Yield a bench of judges that listens on loopback."""
    judges = JudgeServer()

    async def respond(request: web.Request) -> web.Response:
        body = await request.json()
        if judges.refuses(body):
            return web.json_response({"error": {"message": "not this one"}}, status=400)
        return web.json_response(chat_completion(judges.reply(body), body["model"]))

    with serving(respond) as url:
        judges.url = f"{url}/v1"
        yield judges
