"""``openai:NAME``: chat completions of OpenAI and of any server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.items import Prompt
from pytest_fairness.models import parameters
from pytest_fairness.models.batch_openai import OpenAIBatches
from pytest_fairness.models.hosted import HostedModel
from pytest_fairness.models.reasoning import split_thinking

_FINISH = {"max_tokens": "length", "eos": "stop", "end_turn": "stop"}
"""What some compatible servers say instead of OpenAI's words."""


class OpenAIModel(HostedModel):
    """OpenAI, or vLLM, Ollama, llama.cpp, LiteLLM and others through a base URL.

    The base URL is the parameter ``base_url`` or the variable ``OPENAI_BASE_URL``; the key is
    ``OPENAI_API_KEY``, or the variable that ``key_env`` names, and optional with a base URL.
    ``timeout`` is in seconds. Decoding: ``temperature`` (0 to 2), ``top_p`` (0 to 1),
    ``max_tokens``, ``max_completion_tokens``, ``seed``, ``stop`` (a text or a JSON list of
    texts), ``presence_penalty`` and ``frequency_penalty`` (-2 to 2), ``reasoning_effort``,
    ``response_format`` (a JSON object) and ``extra``, a JSON object that joins the request.
    A seed is sent as seed plus repetition, so that repetitions differ. The schema of a prompt
    is sent as ``response_format``, unless the name gives one.
    """

    sdk = "openai"
    client = "AsyncOpenAI"
    path = "/chat/completions"
    default_url = "https://api.openai.com/v1"
    url_variable = "OPENAI_BASE_URL"
    key_variable = "OPENAI_API_KEY"
    decoding = {  # noqa: RUF012
        "temperature": parameters.number(0, 2),
        "top_p": parameters.number(0, 1),
        "max_tokens": parameters.whole(1),
        "max_completion_tokens": parameters.whole(1),
        "seed": parameters.whole(),
        "stop": parameters.texts,
        "presence_penalty": parameters.number(-2, 2),
        "frequency_penalty": parameters.number(-2, 2),
        "reasoning_effort": parameters.text,
        "response_format": parameters.json_object,
        "extra": parameters.json_object,
    }

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        decoding = {key: value for key, value in self._given.items() if key in self.decoding}
        extra = decoding.pop("extra", {})
        if "seed" in decoding:
            decoding["seed"] += repetition
        return {"model": self._asked_name, "messages": prompt.messages, **decoding, **extra}

    def _batches(self) -> OpenAIBatches:
        return OpenAIBatches(self)

    def _structured(self, schema: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        return {"response_format": form, **body}

    def _read(self, reply: Mapping[str, Any], latency: float) -> Answer:
        choice = reply["choices"][0]
        message = choice["message"]
        finish = choice.get("finish_reason") or "stop"
        text, thoughts = split_thinking(_text(message.get("content")))
        refusal = message.get("refusal")
        if refusal:
            text, finish = refusal, "refusal"
        return Answer(
            text,
            _FINISH.get(finish, finish),
            message.get("reasoning_content") or message.get("reasoning") or thoughts,
            _usage(reply.get("usage") or {}),
            latency,
            reply.get("model"),
        )

    def _client_options(self) -> dict[str, Any]:
        # The client reads these from the process only; a named .env file may hold them too.
        environment = self._context.environment
        return {
            "organization": environment.get("OPENAI_ORG_ID"),
            "project": environment.get("OPENAI_PROJECT_ID"),
        }


def _text(content: object) -> str:
    """The text of a message, which some servers send in parts. Raises TypeError for anything else."""
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if part.get("type", "text") == "text")
    if not isinstance(content, str):
        raise TypeError
    return content


def _usage(counted: Mapping[str, Any]) -> dict[str, int]:
    details = counted.get("completion_tokens_details") or {}
    found = {
        "input": counted.get("prompt_tokens"),
        "output": counted.get("completion_tokens"),
        "reasoning": details.get("reasoning_tokens"),
    }
    return {what: count for what, count in found.items() if isinstance(count, int)}
