"""A local server of an agent that looks something up several times before it decides, and bills its tokens."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from aiohttp import web

from tests.helpers.http_server import chat_completion
from tests.helpers.http_server import serving as serving_http

Rounds = Callable[[str, random.Random], int]
"""A function from the texts of a prompt, and a generator of its own, to the number of lookups."""


def rounds_by_group(text: str, generator: random.Random) -> int:
    """Return 2 to 5 lookups for a woman, and 0 to 2 for anybody else."""
    return generator.randint(2, 5) if "woman" in text else generator.randint(0, 2)


def rounds_by_item(text: str, generator: random.Random) -> int:
    """Return a number of lookups of which one in four is the greatest, 5."""
    return min(5, int(generator.expovariate(0.3)))


class ToolServer:
    """Server of an agent.

    Args:
        rounds: The number of its lookups.
        decisions: The tool that it looks up with, and those that it then chooses between.
        seed: The seed of all draws.
    """

    def __init__(self, rounds: Rounds, decisions: Sequence[str], seed: int) -> None:
        self.url = ""
        self._rounds, self._decisions, self._seed = rounds, decisions, seed
        self.tokens: Counter[str] = Counter()
        self.calls = 0

    @property
    def model(self) -> str:
        return f"openai:tiny?base_url={self.url}"

    async def respond(self, request: web.Request) -> web.Response:
        """Return a call of a tool: a lookup, or the decision."""
        messages: Sequence[Mapping[str, Any]] = (await request.json())["messages"]
        prompt = takewhile(lambda message: message["role"] in ("system", "user"), messages)
        first = " ".join(str(message["content"]) for message in prompt)
        generator = random.Random(f"{self._seed} {first}")
        rounds = self._rounds(first, generator)
        results = sum(message["role"] == "tool" for message in messages)
        name = self._decisions[0] if results < rounds else generator.choice(self._decisions[1:])
        words = random.Random(f"{self._seed} {first} {results}").randint(1, 12)
        text = "I will see. " * words
        sent = sum(len(json.dumps(message)) for message in messages) // 3
        reply = chat_completion(text, "tiny", (sent, len(text) // 3))
        function = {"name": name, "arguments": json.dumps({"id": results} if results < rounds else {})}
        choice = reply["choices"][0]
        choice["finish_reason"] = "tool_calls"
        choice["message"]["tool_calls"] = [{"id": f"c{results}", "type": "function", "function": function}]
        self.calls += 1
        self.tokens.update(input=sent, output=len(text) // 3)
        return web.json_response(reply)


@contextmanager
def serving(rounds: Rounds, decisions: Sequence[str], seed: int = 0) -> Iterator[ToolServer]:
    """Yield the server, until the block ends."""
    server = ToolServer(rounds, decisions, seed)
    with serving_http(server.respond) as url:
        server.url = f"{url}/v1"
        yield server
