"""``anthropic:NAME``: the messages API of Anthropic and of any server that speaks its protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import BatchState
from pytest_fairness.core.errors import FairnessError, FatalError, ModelError, TransientError
from pytest_fairness.core.finish_reasons import normalize_reason
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.json_objects import whole_number
from pytest_fairness.core.message_roles import TOOLS
from pytest_fairness.core.tool_replies import anthropic_calls
from pytest_fairness.models import parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.http_model import HostedModel
from pytest_fairness.models.names import ModelName, Scalar
from pytest_fairness.models.tool_messages import anthropic_messages, anthropic_state, anthropic_tools

_MAX_TOKENS = 1024
_APART = ("system", TOOLS)
"""Roles of messages that stand in fields of their own."""


def _thinking(value: Scalar) -> int | str:
    return str(value) if value in ("adaptive", "disabled") else parameters.whole(1024)(value)


class AnthropicModel(HostedModel):
    """Anthropic's messages API.

    The base URL is the parameter ``base_url`` or the variable ``ANTHROPIC_BASE_URL``. The key is ``ANTHROPIC_API_KEY``,
    but a server that the name itself gives is sent only the key that ``key_env`` or ``key_command`` names.
    Decoding: ``max_tokens`` (default 1024, plus the thinking budget), ``temperature`` and ``top_p`` (0 to 1), ``top_k``
    (newer models refuse these three), ``stop`` (a text or a JSON list of texts), ``thinking`` (a budget of 1024 tokens
    or more, ``adaptive`` or ``disabled``), ``effort``, and ``extra``, a JSON object that joins the request.
    The API has no seed: its repetitions differ by sampling alone. The schema of a prompt is sent as the ``format`` of
    ``output_config``.
    """

    sdk = "anthropic"
    client = "AsyncAnthropic"
    # The version of 2026-10-21 has no temperature, top_p and top_k.
    version_headers = {"anthropic-version": "2023-06-01"}  # noqa: RUF012
    path = "/v1/messages"
    models_path = "/v1/models"
    default_url = "https://api.anthropic.com"
    url_variable = "ANTHROPIC_BASE_URL"
    key_variable = "ANTHROPIC_API_KEY"
    decoding = {  # noqa: RUF012
        "max_tokens": parameters.whole(1),
        "temperature": parameters.number(0, 1),
        "top_p": parameters.number(0, 1),
        "top_k": parameters.whole(1),
        "stop": parameters.texts,
        "thinking": _thinking,
        "effort": parameters.text,
        "extra": parameters.extra,
    }

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        super().__init__(name, context)
        budget = self._budget
        if budget >= self._max_tokens:
            raise FairnessError(
                f"model {name}: thinking={budget} leaves no token for the answer: "
                f"max_tokens is {self._max_tokens} and must be larger"
            )

    @property
    def refuses_results(self) -> str:
        """The reason that no results of other calls than its own can be sent; empty where they can."""
        # The API wants the signed thinking of the turn that called them.
        return (
            f"thinking={self._parameters['thinking']}: leave it out, or grade the first turn alone"
            if self._uses_thinking
            else ""
        )

    @property
    def _uses_thinking(self) -> bool:
        return bool(self._parameters.get("thinking", "disabled") != "disabled")

    @property
    def _budget(self) -> int:
        thinking = self._parameters.get("thinking", 0)
        return thinking if isinstance(thinking, int) else 0

    @property
    def _max_tokens(self) -> int:
        tokens: int = self._parameters.get("max_tokens", _MAX_TOKENS + self._budget)
        return tokens

    def _defaults(self) -> Mapping[str, Scalar]:
        return {"max_tokens": self._max_tokens}

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:  # noqa: ARG002
        given = self._parameters
        body: dict[str, Any] = {
            "model": self._model_name,
            "max_tokens": self._max_tokens,
            "messages": anthropic_messages([message for message in prompt.messages if message["role"] not in _APART]),
            **anthropic_tools(prompt),
        }
        system = "\n\n".join(message["content"] for message in prompt.messages if message["role"] == "system")
        if system:
            body["system"] = system
        body |= {key: given[key] for key in ("temperature", "top_p", "top_k") if key in given}
        if "stop" in given:
            body["stop_sequences"] = given["stop"]
        if self._budget:
            body["thinking"] = {"type": "enabled", "budget_tokens": self._budget}
        elif "thinking" in given:
            body["thinking"] = {"type": given["thinking"]}
        if "effort" in given:
            body["output_config"] = {"effort": given["effort"]}
        body |= given.get("extra", {})
        return body

    def _auth(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if self._credentials.is_token else {"X-Api-Key": key}

    def _batches(self) -> AnthropicBatches:
        return AnthropicBatches(self)

    def _structured(self, schema: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        config = {"format": {"type": "json_schema", "schema": schema}, **body.get("output_config", {})}
        return {**body, "output_config": config}

    def _read(self, reply: Mapping[str, Any], latency: float) -> Answer:
        content, served_by = reply["content"], reply.get("model")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return Answer(
            "".join(block.get("text") or "" for block in blocks if block.get("type", "text") == "text"),
            normalize_reason(reply.get("stop_reason")),
            "\n\n".join(block.get("thinking") or "" for block in blocks if block.get("type") == "thinking") or None,
            _usage(_mapping(reply.get("usage"))),
            latency,
            served_by if isinstance(served_by, str) else None,
            anthropic_calls(blocks),
            anthropic_state(blocks, thinks=self._uses_thinking),
        )


def _usage(counted: Mapping[str, Any]) -> dict[str, int]:
    read = [counted.get(f"{kind}input_tokens") for kind in ("", "cache_creation_", "cache_read_")]
    tokens = {
        "input": sum(whole_number(count) or 0 for count in read),
        "output": counted.get("output_tokens"),
        "reasoning": _mapping(counted.get("output_tokens_details")).get("thinking_tokens"),
    }
    return {kind: number for kind, count in tokens.items() if (number := whole_number(count)) is not None}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


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
"""Longest time in seconds from the decision to submit a batch to its creation at the provider."""


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
        return key, TransientError(f"{self._model.name}: its {kind} before the model answered", kind=kind)
