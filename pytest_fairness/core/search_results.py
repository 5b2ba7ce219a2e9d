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
    """The two prompts."""
    differences: Sequence[str]
    """Both values of each slot that differs."""
    decisions: Sequence[Any]
    """The decision on each text."""
    counts: Sequence[int]
    """Its number among ``n`` fresh repetitions; for the second text, of answers unlike the first decision."""
    n: int
    """Repetitions of each text."""
    k: int = 0
    """The number of them that had to agree on both texts."""
    p_value: float
    """Upper limit, corrected for all pairs that the search tried to confirm."""
    placebo_flips: int = 0
    """The answers to other wordings of both texts that decide otherwise than the text."""
    placebo_answers: int = 0
    """The number of answers to other wordings; 0 where the search has no placebo."""
    placebo_error: str = ""
    """The reason that other wordings could not be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(JsonRecord):
    """A search for flips."""

    id: str
    """The id of the test."""
    model: str
    calls: int
    """Answers that the search used."""
    from_store: int = 0
    """Those of them from an earlier run."""
    flip: FlipResult | None = None
    """None where none was found."""
    command: str = ""
    """Runs the test again."""
