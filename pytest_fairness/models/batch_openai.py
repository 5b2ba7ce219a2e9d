"""OpenAI's batches: a file of requests is uploaded, and two files come back, of answers and of errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import BatchState
from pytest_fairness.core.errors import FatalError, ModelError, TransientError
from pytest_fairness.core.items import Prompt

if TYPE_CHECKING:
    from pytest_fairness.models.http_model import HostedModel

_MARK = "pytest-fairness"
"""Names our id in the metadata of a batch."""
_ENDED = ("completed", "failed", "expired", "cancelled")
_SKEW = 3600.0
"""Seconds by which the provider's clock may be behind."""


class OpenAIBatches:
    """The batches of one model, as https://developers.openai.com/api/docs/guides/batch has them."""

    most_requests = 50_000
    most_bytes = 200_000_000

    def __init__(self, model: HostedModel) -> None:
        self._model = model
        self._endpoint = f"/v1{model.path}"

    def request(self, key: str, prompt: Prompt, repetition: int) -> Mapping[str, Any]:
        body = self._model.request(prompt, repetition)
        return {"custom_id": key, "method": "POST", "url": self._endpoint, "body": body}

    async def submit(self, id: str, requests: Sequence[Mapping[str, Any]]) -> str:
        content = "".join(f"{json.dumps(request)}\n" for request in requests).encode()
        async with self._model.batch_client() as client:
            file = await client.files.create(file=(f"{id}.jsonl", content), purpose="batch")
            batch = await client.batches.create(
                input_file_id=file.id, endpoint=self._endpoint, completion_window="24h", metadata={_MARK: id}
            )
            name: str = batch.id
            return name

    async def find(self, id: str, since: float, count: int, names: Collection[str]) -> str | None:  # noqa: ARG002
        seen: set[str] = set()
        async with self._model.batch_client() as client:
            async for batch in client.batches.list(limit=100):  # the latest first
                # A server without pages sends the same list for the next one, without an end.
                if batch.created_at < since - _SKEW or batch.id in seen:
                    return None
                seen.add(batch.id)
                if (batch.metadata or {}).get(_MARK) == id:
                    name: str = batch.id
                    return name
        return None

    async def state(self, name: str) -> BatchState | None:
        batch = await self._batch(name)
        if batch is None:
            return None
        if batch.status not in _ENDED:
            return BatchState(has_ended=False)
        messages = "; ".join(dict.fromkeys(error.message for error in (batch.errors and batch.errors.data) or ()))
        problem = "" if batch.status == "completed" else batch.status
        return BatchState(has_ended=True, problem=": ".join(filter(None, (problem, messages[:300] if problem else ""))))

    async def results(self, name: str) -> AsyncIterator[tuple[str, Answer | ModelError]]:
        batch = await self._batch(name)
        for file in (batch.output_file_id, batch.error_file_id) if batch else ():
            if file is None:
                continue
            async with (
                self._model.batch_client() as client,
                client.files.with_streaming_response.content(file) as response,
            ):
                async for line in _split_lines(response.iter_bytes()):
                    if line.strip():
                        yield self._outcome(json.loads(line))

    async def _batch(self, name: str) -> Any:
        """Return the provider's state of a batch; None where it has none."""
        try:
            async with self._model.batch_client() as client:
                return await client.batches.retrieve(name)
        except FatalError as error:
            if error.kind != "404":
                raise
            return None

    def _outcome(self, line: Any) -> tuple[str, Answer | ModelError]:
        """Return the key and the outcome of a result; one in another form costs none of the others."""
        key = line.get("custom_id") if isinstance(line, Mapping) else None
        if not isinstance(key, str):
            return "", TransientError(f"{self._model.name}: a result of its batch has no custom_id")
        try:
            if error := line.get("error"):  # it was never asked: the batch expired, or was canceled
                code, message = str(error.get("code")), str(error.get("message"))
                return key, TransientError(f"{self._model.name}: {message}", kind=code)
            response = line["response"]
            return key, self._model.outcome(response["status_code"], response["body"])
        except (LookupError, TypeError, AttributeError):
            message = "a result of its batch has another form than OpenAI's"
            return key, TransientError(f"{self._model.name}: {message}", sent=True, kind="broken answer")


async def _split_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a file. A line feed alone ends one: the SDK also splits at line separators within a text."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
    yield rest
