"""Models for tests of the engine: answered at once, late, badly or never, and counting."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt

Behaviour = Callable[[Prompt, int], Awaitable[str]]


@dataclass
class CountingModel:
    """Answers with its prompt's text, or as ``behaviour`` does, and counts what it is asked."""

    behaviour: Behaviour | None = None
    latency: float = 0.0
    name: str = "test:counting"
    key: str = "test:counting"
    local: bool = False
    asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    under_way: int = 0
    most_under_way: int = 0
    closed: bool = False

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        self.asked[prompt.text, repetition] += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.latency)
            text = await self.behaviour(prompt, repetition) if self.behaviour else f"{prompt.text}/{repetition}"
        finally:
            self.under_way -= 1
        return Answer(text, usage={"input": 1, "output": 2})

    async def close(self) -> None:
        self.closed = True

    @property
    def requests(self) -> int:
        return sum(self.asked.values())
