"""Models for tests of the engine: answered at once, late, badly or never, and counting."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt


def prompts(count: int) -> list[Prompt]:
    """Return as many prompts, numbered."""
    return [Prompt(f"prompt {number}") for number in range(count)]


def most_in_window(times: list[float], window: float) -> int:
    """Return the largest number of times in any window of so many seconds."""
    return max(index + 1 - bisect_left(times, now - window) for index, now in enumerate(times))


Behavior = Callable[[Prompt, int], Awaitable[str]]


@dataclass
class CountingModel:
    """Model that answers with its prompt's text, or as ``behavior`` does, and counts its requests."""

    behavior: Behavior | None = None
    latency: float = 0.0
    name: str = "test:counting"
    key: str = "test:counting"
    local: bool = False
    calls: Counter[tuple[str, int]] = field(default_factory=Counter)
    under_way: int = 0
    most_under_way: int = 0
    closed: bool = False

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        self.calls[prompt.text, repetition] += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.latency)
            text = await self.behavior(prompt, repetition) if self.behavior else f"{prompt.text}/{repetition}"
        finally:
            self.under_way -= 1
        return Answer(text, usage={"input": 1, "output": 2})

    async def close(self) -> None:
        self.closed = True

    @property
    def requests(self) -> int:
        return sum(self.calls.values())
