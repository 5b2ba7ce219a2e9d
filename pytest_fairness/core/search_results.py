"""Searches for flips in the results of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core.serialization import JsonRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipResult(JsonRecord):
    """A pair of texts on which a decision flips."""

    texts: Sequence[str] = ()
    differences: Sequence[str]
    decisions: Sequence[Any]
    counts: Sequence[int]
    n: int
    k: int = 0
    p_value: float
    placebo_flips: int = 0
    """The answers to other wordings of both texts that decide otherwise than the text."""
    placebo_answers: int = 0
    """The number of answers to other wordings; 0 where the search has no placebo."""
    placebo_error: str = ""
    """Why other wordings could not be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(JsonRecord):
    """A search for flips."""

    id: str
    model: str
    calls: int
    from_store: int = 0
    flip: FlipResult | None = None
    command: str = ""
