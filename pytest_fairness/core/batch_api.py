"""The interface of a provider's batches: requests that are submitted together, at half the price, within a day."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import ModelError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model

DISCOUNT = 0.5
"""Ratio of the price of a request in a batch to that of a single one, at OpenAI and Anthropic."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """The progress of a batch at its provider."""

    has_ended: bool
    """Whether no more results follow."""
    problem: str = ""
    """The reason that it ended early, without answers to some requests: ``expired``, ``cancelled``, ``failed: ...``."""


class BatchInterface(Protocol):
    """The batches of one model. All but `request` raise what a model's ``answer`` does."""

    most_requests: int
    """Largest number of requests in one batch."""
    most_bytes: int
    """Largest size of a batch in bytes: its requests as JSON, each with a line feed."""

    def request(self, key: str, prompt: Prompt, repetition: int) -> Mapping[str, Any]:
        """Return the JSON of one request, which ``key`` identifies within its batch."""
        ...

    async def submit(self, id: str, requests: Sequence[Mapping[str, Any]]) -> str:
        """Submit a batch, and return the provider's name of it; ``id`` is our own."""
        ...

    async def find(self, id: str, since: float, count: int, reserved: Collection[str]) -> str | None:
        """Return the name of a batch that may have been submitted before its name was stored; None where there is none.

        Args:
            id: Our own name of the batch.
            since: The time before its submission, in seconds since 1970.
            count: The number of its requests.
            reserved: The provider's names of other batches.
        """
        ...

    async def state(self, name: str) -> BatchState | None:
        """Return the progress of a batch; None where the provider has no such batch, or has deleted it."""
        ...

    def results(self, name: str) -> AsyncIterator[tuple[str, Answer | ModelError]]:
        """Yield the results of a batch that has ended, by the keys of its requests; some may be missing."""
        ...


def batches_of(model: Model) -> BatchInterface | None:
    """Return a model's batch interface: its attribute ``batches``, where it has one."""
    batches: BatchInterface | None = getattr(model, "batches", None)
    return batches
