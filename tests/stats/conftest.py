"""Samples with a known truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Draw = Callable[..., Rows]


def drawn(
    rates: Mapping[str, float],
    *,
    items: int = 60,
    repetitions: int = 3,
    seed: int = 0,
    refused: Mapping[str, float] | None = None,
    per_source: int = 1,
) -> Rows:
    """Return rows with columns item, source, group, repetition and yes; items differ in difficulty."""
    generator = np.random.default_rng(seed)
    rows: Rows = []
    for item in range(items):
        ease = generator.beta(3, 3) / 0.5
        for group, rate in rates.items():
            for repetition in range(repetitions):
                yes: bool | None = bool(generator.random() < min(rate * ease, 1.0))
                if generator.random() < (refused or {}).get(group, 0.0):
                    yes = None
                source = f"source {item // per_source}"
                rows.append({"item": item, "source": source, "group": group, "repetition": repetition, "yes": yes})
    return rows


def counts(groups: Mapping[str, Sequence[int]]) -> Rows:
    """Return one row per item and group: so many yes, then so many no."""
    return [
        {"item": item, "group": group, "yes": item < yes}
        for group, (yes, no) in groups.items()
        for item in range(yes + no)
    ]


@pytest.fixture(scope="session")
def draw() -> Draw:
    return drawn


@pytest.fixture(scope="session")
def count() -> Callable[[Mapping[str, Sequence[int]]], Rows]:
    return counts


@pytest.fixture(scope="session")
def of_rows() -> Callable[..., Measured]:
    """Return a function that makes a sample of the rows of `drawn`; ``source=True`` clusters by source."""

    def measure(rows: Rows, *, source: bool = False, **options: Any) -> Measured:
        ignored = ("source", "repetition")
        columns = [{k: v for k, v in row.items() if k not in ignored or (source and k == "source")} for row in rows]
        return Measured.from_rows(
            columns, item="item", groups=["group"], source="source" if source else None, **options
        )

    return measure
