"""A provider's batch interface: many requests handed in together, answered within a day, at half the price."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import ModelError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model

DISCOUNT = 0.5
"""What a request in a batch costs, of one by itself: so with OpenAI and with Anthropic."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a provider is with a batch."""

    has_ended: bool
    """Whether nothing more is going to come."""
    problem: str = ""
    """What ended it early: ``expired``, ``cancelled``, ``failed: ...``. Some of its requests have no answer then."""


class BatchInterface(Protocol):
    """The batches of one model. All but `request` raise what a model's ``answer`` does."""

    most_requests: int
    """Of one batch."""
    most_bytes: int
    """Of its requests, as JSON with a character for the end of each."""

    def request(self, key: str, prompt: Prompt, repetition: int) -> Mapping[str, Any]:
        """The JSON of one request, which the provider tells from the others by ``key``."""
        ...

    async def submit(self, id: str, requests: Sequence[Mapping[str, Any]]) -> str:
        """Hand in a batch; the provider's name of it. ``id`` is this side's."""
        ...

    async def find(self, id: str, since: float, count: int, known: Collection[str]) -> str | None:
        """The name of a batch that was perhaps handed in: its name was never heard, and is not among the known.

        ``since`` is when it was about to be, in seconds since 1970; ``count`` how many requests it has.
        """
        ...

    async def state(self, name: str) -> BatchState | None:
        """How far it is; None where the provider knows no such batch, or no more."""
        ...

    def results(self, name: str) -> AsyncIterator[tuple[str, Answer | ModelError]]:
        """Of a batch that has ended: keys, and what came of their requests. Some may be missing."""
        ...


def batches_of(model: Model) -> BatchInterface | None:
    """A model's batch interface: its attribute ``batches``, where it has one."""
    batches: BatchInterface | None = getattr(model, "batches", None)
    return batches
