"""``openai:NAME``: chat completions of OpenAI and of any server that speaks its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import TransientError
from pytest_fairness.core.finish_reasons import ERROR, FILTER, REFUSAL, STOP, normalized
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.secrets import redacted
from pytest_fairness.core.thinking import split_thinking
from pytest_fairness.models import parameters
from pytest_fairness.models.batch_openai import OpenAIBatches
from pytest_fairness.models.hosted import HostedModel


class OpenAIModel(HostedModel):
    """OpenAI, or vLLM, Ollama, llama.cpp, LiteLLM, Azure and others through a base URL.

    The base URL is the parameter ``base_url`` or the variable ``OPENAI_BASE_URL``. The key is ``OPENAI_API_KEY``, but
    a server that the name itself gives is sent only the key that ``key_env`` or ``key_command`` names.
    ``api_version`` is that of Azure's deployments. Decoding: ``temperature`` (0 to 2), ``top_p`` (0 to 1),
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
        "extra": parameters.extra,
    }
    transport = {**HostedModel.transport, "api_version": parameters.text}  # noqa: RUF012

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
        usage, served_by = _usage(_mapping(reply.get("usage"))), _optional(reply.get("model"))
        choices = reply["choices"]
        if not choices and ("id" in reply or usage):  # a prompt that was blocked
            return Answer("", FILTER, None, usage, latency, served_by)
        choice = choices[0]
        said = choice.get("finish_reason")
        finish = normalized(said)
        if finish == ERROR or choice.get("error"):
            raise self._broken_off(choice)
        message = (choice.get("message") if said else choice["message"]) or {}
        text, thoughts = split_thinking(_text(message.get("content")))
        refusal = message.get("refusal")
        if refusal:
            text, finish = _optional(refusal) or "", REFUSAL
        elif message.get("content") is None and finish == STOP:
            finish = "no_content"
        return Answer(
            text,
            finish,
            _optional(message.get("reasoning_content")) or _optional(message.get("reasoning")) or thoughts,
            usage,
            latency,
            served_by,
        )

    def _broken_off(self, choice: Mapping[str, Any]) -> TransientError:
        """Return the error of an answer that ended half way, with the code that a gateway's server gave for it."""
        error = choice.get("error")
        code = error.get("code") if isinstance(error, Mapping) else None
        said = redacted(str(code or error or choice.get("finish_reason")), self._service().secrets)[:200]
        return TransientError(
            f"{self.name}: {self._shown_url} broke off its answer ({said})",
            rate_limited=code == 429,
            sent=True,
            kind=str(code or "broken answer"),
        )

    @property
    def _address(self) -> str:
        version = self._given.get("api_version")
        return super()._address + (f"?api-version={quote(version)}" if version else "")

    def _auth(self, key: str) -> dict[str, str]:
        if "api_version" in self._given and not self._credentials.is_token:
            return {"api-key": key}
        return {"Authorization": f"Bearer {key}"}

    def _own_headers(self) -> dict[str, str]:
        account = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
        known = {} if self._server == "name" else self._context.environment
        return {
            **{header: known[variable] for header, variable in account.items() if known.get(variable)},
            **super()._own_headers(),
        }


def _text(content: object) -> str:
    """The text of a message, which some servers send in parts. Raises TypeError for anything else."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = ({"text": part} if isinstance(part, str) else part for part in content)
        return "".join(part.get("text") or "" for part in parts if part.get("type", "text") in ("text", "output_text"))
    if not isinstance(content, str):
        raise TypeError
    return content


def _optional(value: object) -> str | None:
    """A text; what stands in its place is dropped, as the answer is paid for."""
    return value if isinstance(value, str) and value else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _usage(counted: Mapping[str, Any]) -> dict[str, int]:
    """The tokens. Some providers leave the reasoning out of the completion, and count it in the total alone."""
    details = _mapping(counted.get("completion_tokens_details"))
    given = {
        "input": counted.get("prompt_tokens"),
        "output": counted.get("completion_tokens"),
        "reasoning": details.get("reasoning_tokens"),
    }
    found = {what: count for what, count in given.items() if isinstance(count, int)}
    total = counted.get("total_tokens")
    if isinstance(total, int) and {"input", "output"} <= found.keys():
        hidden = total - found["input"] - found["output"]
        if hidden > 0:
            found["output"] += hidden
            found["reasoning"] = max(found.get("reasoning", 0), hidden)
    return found
