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
"""Price of a request in a batch over that of a single one, with OpenAI and with Anthropic."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """The progress of a batch at its provider."""

    has_ended: bool
    """Whether nothing more is going to come."""
    problem: str = ""
    """The reason that it ended early: ``expired``, ``cancelled``, ``failed: ...``.

    Some of its requests have no answer then.
    """


class BatchInterface(Protocol):
    """The batches of one model. All but `request` raise what a model's ``answer`` does."""

    most_requests: int
    """Largest number of requests in one batch."""
    most_bytes: int
    """Largest size of its requests, as JSON with a character for the end of each."""

    def request(self, key: str, prompt: Prompt, repetition: int) -> Mapping[str, Any]:
        """Return the JSON of one request, which the provider tells from the others by ``key``."""
        ...

    async def submit(self, id: str, requests: Sequence[Mapping[str, Any]]) -> str:
        """Hand in a batch; the provider's name of it. ``id`` is this side's."""
        ...

    async def find(self, id: str, since: float, count: int, reserved: Collection[str]) -> str | None:
        """Return the name of a batch that was perhaps handed in: its name was never heard, and is not among the
        reserved ones.

        ``since`` is when it was about to be, in seconds since 1970; ``count`` how many requests it has.
        """
        ...

    async def state(self, name: str) -> BatchState | None:
        """Return how far it is; None where the provider knows no such batch, or no more."""
        ...

    def results(self, name: str) -> AsyncIterator[tuple[str, Answer | ModelError]]:
        """Return the results of a batch that has ended, by the keys of its requests. Some may be missing."""
        ...


def batches_of(model: Model) -> BatchInterface | None:
    """Return a model's batch interface: its attribute ``batches``, where it has one."""
    batches: BatchInterface | None = getattr(model, "batches", None)
    return batches
