"""Anthropic's message batches: the requests are sent in one body, and one file of results comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import BatchState
from pytest_fairness.core.errors import FatalError, ModelError, TransientError
from pytest_fairness.core.items import Prompt

if TYPE_CHECKING:
    from pytest_fairness.models.http_model import HostedModel

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status that each type of error has where requests are sent one by one; any other has 500."""
_SKEW = 300.0
"""Seconds by which the provider's clock may be behind."""
_SENDING = 3600.0
"""Seconds within which a batch that was about to be submitted has been."""


class AnthropicBatches:
    """The batches of one model, as https://platform.claude.com/docs/en/build-with-claude/batch-processing has them."""

    most_requests = 100_000
    most_bytes = 256_000_000

    def __init__(self, model: HostedModel) -> None:
        self._model = model

    def request(self, key: str, prompt: Prompt, repetition: int) -> Mapping[str, Any]:
        return {"custom_id": key, "params": self._model.request(prompt, repetition)}

    async def submit(self, id: str, requests: Sequence[Mapping[str, Any]]) -> str:  # noqa: ARG002
        async with self._model.batch_client() as client:
            batch = await client.messages.batches.create(requests=requests)
            name: str = batch.id
            return name

    async def find(self, id: str, since: float, count: int, names: Collection[str]) -> str | None:  # noqa: ARG002
        # The API stores no id of ours with a batch. The results of a stranger's batch hold no key of ours: then the
        # requests are submitted again.
        latest: str | None = None
        async with self._model.batch_client() as client:
            async for batch in client.messages.batches.list(limit=100):  # the latest first
                created = batch.created_at.timestamp()
                if created < since - _SKEW:
                    break
                counts = batch.request_counts
                total = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                if batch.id not in names and total == count and created <= since + _SENDING:
                    latest = batch.id
        return latest

    async def state(self, name: str) -> BatchState | None:
        try:
            async with self._model.batch_client() as client:
                batch = await client.messages.batches.retrieve(name)
        except FatalError as error:
            if error.kind != "404":
                raise
            return None
        if batch.archived_at is not None:  # after 29 days: its results are gone
            return None
        if batch.processing_status != "ended":
            return BatchState(has_ended=False)
        counts = batch.request_counts
        problems = {"expired": counts.expired, "cancelled": counts.canceled}
        return BatchState(has_ended=True, problem=next((problem for problem, count in problems.items() if count), ""))

    async def results(self, name: str) -> AsyncIterator[tuple[str, Answer | ModelError]]:
        async with self._model.batch_client() as client:
            batch = await client.messages.batches.retrieve(name)
            self._refuse_other_server(str(batch.results_url), str(client.base_url))
            async for line in await client.messages.batches.results(name):
                yield self._outcome(line.to_dict())

    def _refuse_other_server(self, results: str, base: str) -> None:
        """Raise `FatalError` where the results are on another server: the key goes to the named one only."""
        if urlsplit(results)[:2] != urlsplit(base)[:2]:
            raise FatalError(
                f"{self._model.name}: the results of its batch are at {results}, which is not the server that was "
                f"named: name that server by base_url"
            )

    def _outcome(self, line: Mapping[str, Any]) -> tuple[str, Answer | ModelError]:
        key, result = line["custom_id"], line["result"]
        if result["type"] == "succeeded":
            return key, self._model.outcome(200, result["message"])
        if result["type"] == "errored":
            body = result["error"]
            return key, self._model.outcome(_STATUS.get(body.get("error", body).get("type"), 500), body)
        kind = f"batch {result['type']}"
        return key, TransientError(f"{self._model.name}: its {kind} before it was asked", kind=kind)
