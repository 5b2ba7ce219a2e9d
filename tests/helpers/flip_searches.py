"""Searches for a flip by hypothesis, on models that decide by a function and count their calls."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from pytest_fairness import Prompt
from pytest_fairness.search.flips import Flip, Search
from pytest_fairness.search.space import TextPair

Ask = Callable[[Sequence[tuple[Prompt, int, int]]], list[list[Any]]]


class CountingModel:
    """A model that decides on a text with a fresh draw, and counts its calls."""

    def __init__(self, decides: Callable[[str, float], object], chance: random.Random | int = 0) -> None:
        self.decides = decides
        self.chance = random.Random(chance) if isinstance(chance, int) else chance
        self.calls = 0

    def __call__(self, wanted: Sequence[tuple[Prompt, int, int]]) -> list[list[Any]]:
        self.calls += sum(count for _, _, count in wanted)
        return [[self.decides(prompt.text, self.chance.random()) for _ in range(count)] for prompt, _, count in wanted]


def run(
    model: Ask, pairs: st.SearchStrategy[TextPair], number: int = 0, examples: int = 100, **options: Any
) -> tuple[Flip | None, TextPair | None]:
    """Return the flip that was found, and the example that hypothesis shrank to."""
    search = Search(model, **options)
    last: list[TextPair] = []

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(pair=pairs)
    def test(pair: TextPair) -> None:
        if search.flips(pair):
            last[:] = [pair]
            raise AssertionError

    try:
        test()
    except AssertionError:
        return search.flip, last[0]
    return None, None
