"""``openai:NAME``: chat completions of OpenAI and of any server that speaks its protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Self, cast
from urllib.parse import quote

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import ModelError, PermanentError, TransientError
from pytest_fairness.core.finish_reasons import ERROR, FILTER, REFUSAL, STOP, TOOL_CALLS, normalize_reason
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.json_objects import whole_number
from pytest_fairness.core.propensities import WAY_OUT, Continuations, Likelihoods, NoLikelihoodsError
from pytest_fairness.core.secrets import redacted
from pytest_fairness.core.thinking import split_thinking
from pytest_fairness.core.tool_replies import chat_calls, responses_calls
from pytest_fairness.models import parameters
from pytest_fairness.models.batch_openai import OpenAIBatches
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.http_model import HostedModel
from pytest_fairness.models.logprobs import read_options, read_text
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.tool_messages import (
    chat_messages,
    chat_state,
    chat_tools,
    responses_items,
    responses_state,
    responses_tools,
)

MOST_PROBABLE = 20
"""Number of most probable first tokens in a request: the largest that OpenAI and vLLM allow."""
_NO_CONTENT = "no_content"
"""The finish reason of a reply without an answer that says nothing of the reason."""
_TOP_LOGPROBS = "top_logprobs"
_NEUTRAL_DECODING: Mapping[str, float] = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
"""Decoding parameters under which probabilities are those of the model."""
_TEXT_PARTS = ("text", "output_text")
"""The types of the parts of a message that are text."""
_LOGPROBS_STATUSES = (400, 403, 422, 500, 501)
"""Statuses of servers that give no log-probabilities; the text names the reason."""
_RESPONSES_MODELS = re.compile(r"(?:o\d+-pro|gpt-[\d.]+-pro|codex|gpt-[\d.]+-codex|o\d+(?:-mini)?-deep-research)\b")
"""Names of OpenAI's models that have no chat completions."""
_ENCRYPTION_REFUSED = re.compile(r"encrypted.content", re.IGNORECASE)
"""The message of a server that does not encrypt reasoning, or of a model without reasoning."""
_LOGPROBS_REFUSED = re.compile(r"top_logprobs|log.?prob\w*|echo", re.IGNORECASE)


class OpenAIModel(HostedModel):
    """A model of OpenAI, or of vLLM, Ollama, llama.cpp, LiteLLM, Azure and others through a base URL.

    The base URL is the parameter ``base_url`` or the variable ``OPENAI_BASE_URL``. The key is ``OPENAI_API_KEY``, but
    a server in the name itself is sent only the key that ``key_env`` or ``key_command`` names.
    ``api_version`` is that of Azure's deployments. Decoding: ``temperature`` (0 to 2), ``top_p`` (0 to 1),
    ``max_tokens``, ``max_completion_tokens``, ``seed``, ``stop`` (a text or a JSON list of
    texts), ``presence_penalty`` and ``frequency_penalty`` (-2 to 2), ``reasoning_effort``,
    ``response_format`` (a JSON object) and ``extra``, a JSON object that is merged into the request.
    ``api`` is ``responses`` for the Responses API, which is the default for models without chat completions.
    A seed is sent as seed plus repetition, so that repetitions differ. The schema of a prompt
    is sent as ``response_format``, unless the name gives one.

    Likelihoods of options are read from the ``top_logprobs`` (20) most probable first tokens, those of free texts from
    text completions that echo their prompt, as vLLM's do.
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
        "top_logprobs": parameters.whole(1),
        "extra": parameters.extra,
    }
    transport = {  # noqa: RUF012
        **HostedModel.transport,
        "api_version": parameters.text,
        "api": parameters.choice("chat", "responses"),
    }

    limit_parameter: ClassVar[str] = ""
    """The name of the limit of an answer's tokens, where the server takes one name only."""

    def __new__(cls, name: ModelName, context: ModelContext) -> Self:  # noqa: ARG004
        """Return a model of the Responses API where the name selects it, or the model has no other API."""
        api = name.parameters.get("api", "responses" if _RESPONSES_MODELS.match(name.name) else "chat")
        model_class = ResponsesModel if cls is OpenAIModel and api == "responses" else cls
        return cast("Self", object.__new__(model_class))

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        decoding = {
            key: value for key, value in self._parameters.items() if key in self.decoding and key != _TOP_LOGPROBS
        }
        extra = decoding.pop("extra", {})
        if "seed" in decoding:
            decoding["seed"] += repetition
        messages = chat_messages(prompt.conversation)
        return {"model": self._model_name, "messages": messages, **chat_tools(prompt), **decoding, **extra}

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the likelihoods of a question's texts; an upper bound for options below the server's list.

        Raises:
            NoLikelihoodsError: The server gives none.
            ModelError: As `answer` does.
        """
        shared, address = self._neutral_body(), None
        read: Callable[[Mapping[str, Any]], Likelihoods]
        if question.exclusive:
            # OpenAI's newer models refuse the old name, older servers do not know the new one.
            limit = self.limit_parameter or ("max_completion_tokens" if self._server == "provider" else "max_tokens")
            top = self._parameters.get(_TOP_LOGPROBS, MOST_PROBABLE)
            body = {**shared, "messages": prompt.messages, "logprobs": True, _TOP_LOGPROBS: top, limit: 1}
            read = partial(_first_token_likelihoods, question=question)
        else:
            text = "\n\n".join(message["content"] for message in prompt.messages) if question.has_context else ""
            context = text.rstrip()  # blanks at its end belong to the first token of what follows
            texts = {name: f"{text[len(context) :]}{option}" for name, (option,) in question.options.items()}
            prompts = [context + continuation for continuation in texts.values()]
            body = {**shared, "prompt": prompts, "echo": True, "logprobs": 1, "max_tokens": 1}
            address = self._public_url + "/completions"
            read = partial(_echoed_likelihoods, context=context, texts=texts)
        reply, latency = await self._send(body, address)
        outcome = self._outcome(*reply, latency, partial(self._read_likelihoods, read, is_chat=question.exclusive))
        if isinstance(outcome, Answer):
            return outcome
        if reply.status in _LOGPROBS_STATUSES and (refusal := _LOGPROBS_REFUSED.search(str(reply.body))):
            fewer = (
                "write fewer, such as top_logprobs=5, into its name, or " if refusal[0].lower() == _TOP_LOGPROBS else ""
            )
            raise NoLikelihoodsError(
                f"{self.name}: {self._public_url} refused log-probabilities ({outcome.kind}: {refusal[0]}): "
                f"{fewer}{WAY_OUT}"
            )
        if reply.status in (404, 405, 501) and not question.exclusive:
            raise NoLikelihoodsError(
                f"{self.name}: {self._public_url} has no text completions ({reply.status}), which free texts need: "
                f"{WAY_OUT}"
            )
        raise outcome

    def _neutral_body(self) -> dict[str, Any]:
        """Return what all requests for likelihoods share: the model's own probabilities, at temperature 1.

        Raises:
            NoLikelihoodsError: The model's name changes them.
        """
        given = self._parameters
        fixed = [name for name, neutral in _NEUTRAL_DECODING.items() if given.get(name, neutral) != neutral]
        if fixed:
            decoding = ", ".join(f"{name}={given[name]:g}" for name in fixed)
            raise NoLikelihoodsError(
                f"{self.name}: propensities are probabilities at temperature 1: leave out {decoding}"
            )
        kept = {name: given[name] for name in ("reasoning_effort", "response_format") if name in given}
        return {"model": self._model_name, "temperature": 1, "top_p": 1, **kept, **given.get("extra", {})}

    def _read_likelihoods(
        self,
        read: Callable[[Mapping[str, Any]], Likelihoods],
        reply: Mapping[str, Any],
        latency: float,
        *,
        is_chat: bool,
    ) -> Answer:
        # A filtered or refused prompt has no log-probabilities, which says nothing about other prompts.
        if is_chat:
            answer = self._read(reply, latency)
            if answer.finish_reason in (FILTER, REFUSAL):
                return answer
            if answer.reasoning or answer.usage.get("reasoning"):
                raise NoLikelihoodsError(
                    f"{self.name}: {self._public_url} sent reasoning, whose first token is none of an answer: {WAY_OUT}"
                )
        try:
            likelihoods = read(reply)
        except NoLikelihoodsError as error:
            raise NoLikelihoodsError(f"{self.name}: {self._public_url} {error}") from None
        except ValueError as error:
            raise PermanentError(f"{self.name}: {self._public_url} sent {error}") from None
        return likelihoods.answer(_usage(_mapping(reply.get("usage"))), latency, _optional(reply.get("model")))

    def _batches(self) -> OpenAIBatches:
        return OpenAIBatches(self)

    def _structured(self, schema: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        return {"response_format": form, **body}

    def _read(self, reply: Mapping[str, Any], latency: float) -> Answer:
        usage, served_by = _usage(_mapping(reply.get("usage"))), _optional(reply.get("model"))
        choices = reply["choices"]
        if not choices and ("id" in reply or usage):
            # Nothing is generated for a blocked prompt: gateways have lost an answer that has tokens.
            finish = _NO_CONTENT if usage.get("output") or "input" not in usage else FILTER
            return Answer("", finish, None, usage, latency, served_by)
        choice = choices[0]
        stop_reason = choice.get("finish_reason")
        finish = normalize_reason(stop_reason)
        if finish == ERROR or choice.get("error"):
            raise self._interrupted_answer(choice)
        message = (choice.get("message") if stop_reason else choice["message"]) or {}
        text, thoughts = split_thinking(_text(message.get("content")))
        refusal = message.get("refusal") or _refusal_in(message.get("content"))
        if refusal:
            text, finish = _optional(refusal) or "", REFUSAL
        calls = chat_calls(message.get("tool_calls") or message.get("function_call"))
        if calls and finish == STOP:  # some servers have no finish reason of their own for calls
            finish = TOOL_CALLS
        elif message.get("content") is None and finish == STOP:
            finish = _NO_CONTENT
        return Answer(
            text,
            finish,
            _optional(message.get("reasoning_content")) or _optional(message.get("reasoning")) or thoughts,
            usage,
            latency,
            served_by,
            calls,
            chat_state(message),
        )

    def _interrupted_answer(self, choice: Mapping[str, Any]) -> TransientError:
        """Return the error of an incomplete answer, with the code of the server behind a gateway."""
        error = choice.get("error")
        code = error.get("code") if isinstance(error, Mapping) else None
        reason = redacted(str(code or error or choice.get("finish_reason")), self._service().secrets)[:200]
        return TransientError(
            f"{self.name}: {self._public_url} broke off its answer ({reason})",
            rate_limited=str(code) == "429",
            sent=True,
            kind=str(code or "broken answer"),
        )

    @property
    def _address(self) -> str:
        version = self._parameters.get("api_version")
        return super()._address + (f"?api-version={quote(version)}" if version else "")

    def _auth(self, key: str) -> dict[str, str]:
        if "api_version" in self._parameters and not self._credentials.is_token:
            return {"api-key": key}
        return {"Authorization": f"Bearer {key}"}

    def _own_headers(self) -> dict[str, str]:
        account = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
        environment = {} if self._server == "name" else self._context.environment
        return {
            **{header: environment[variable] for header, variable in account.items() if environment.get(variable)},
            **super()._own_headers(),
        }


class ResponsesModel(OpenAIModel):
    """A model of OpenAI's Responses API: ``openai:NAME?api=responses``, or one without chat completions.

    The provider stores nothing (``store`` is false). Parameters without a counterpart in this API are refused.
    """

    path = "/responses"
    _encrypts_reasoning = True
    decoding = {  # noqa: RUF012
        name: kind
        for name, kind in OpenAIModel.decoding.items()
        if name in ("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort", "extra")
    }

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer to one prompt; with tools, reasoning is requested in a form that can be sent back."""
        wants_reasoning = bool(prompt.tools) and self._encrypts_reasoning
        try:
            return await super().answer(prompt, repetition)
        except ModelError as error:
            if not (wants_reasoning and _ENCRYPTION_REFUSED.search(str(error))):
                raise
        self._encrypts_reasoning = False
        return await super().answer(prompt, repetition)

    def outcome(self, status: int, body: object) -> Answer | ModelError:
        """Return the outcome of a request in a batch."""
        outcome = super().outcome(status, body)
        if isinstance(outcome, Answer) or not _ENCRYPTION_REFUSED.search(str(outcome)):
            return outcome
        self._encrypts_reasoning = False
        return TransientError(str(outcome), kind=outcome.kind)

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:  # noqa: ARG002
        """Raise `NoLikelihoodsError`: the models of this API give none."""
        raise NoLikelihoodsError(f"{self.name}: the Responses API gives no probabilities of options: {WAY_OUT}")

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:  # noqa: ARG002
        given = self._parameters
        items = responses_items(prompt.conversation)
        body: dict[str, Any] = {"model": self._model_name, "input": items, "store": False, **responses_tools(prompt)}
        body |= {name: given[name] for name in ("temperature", "top_p") if name in given}
        if limits := [given[name] for name in ("max_tokens", "max_completion_tokens") if name in given]:
            body["max_output_tokens"] = limits[0]
        if prompt.tools and self._encrypts_reasoning:
            body["include"] = ["reasoning.encrypted_content"]
        if "reasoning_effort" in given:
            body["reasoning"] = {"effort": given["reasoning_effort"]}
        body |= given.get("extra", {})
        return body

    def _structured(self, schema: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        form = {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}
        return {**body, "text": {"format": form, **_mapping(body.get("text"))}}

    def _read(self, reply: Mapping[str, Any], latency: float) -> Answer:
        status = reply["status"]
        if status in ("failed", "cancelled"):
            raise self._interrupted_answer({"error": reply.get("error"), "finish_reason": status})
        # Commentary before the answer is no part of it.
        messages = [
            entry for entry in reply["output"] if entry.get("type") == "message" and entry.get("phase") != "commentary"
        ]
        parts = [part for message in messages for part in message["content"]]
        refusal = "".join(_optional(part.get("refusal")) or "" for part in parts if part.get("type") == "refusal")
        thoughts = [
            part.get("text") or ""
            for entry in reply["output"]
            if entry.get("type") == "reasoning"
            for part in entry.get("summary") or ()
        ]
        reason = _mapping(reply.get("incomplete_details")).get("reason") or status
        calls = responses_calls(reply["output"])
        finish = REFUSAL if refusal else normalize_reason(str(reason))
        if finish == STOP:
            finish = TOOL_CALLS if calls else finish if messages else _NO_CONTENT
        return Answer(
            refusal or "\n\n".join(_text(message["content"]) for message in messages),
            finish,
            "\n\n".join(filter(None, thoughts)) or None,
            _usage_of_response(_mapping(reply.get("usage"))),
            latency,
            _optional(reply.get("model")),
            calls,
            responses_state(reply["output"], is_kept=bool(self._parameters.get("extra", {}).get("store"))),
        )


def _first_token_likelihoods(reply: Mapping[str, Any], question: Continuations) -> Likelihoods:
    """Return the likelihoods of options, from a chat completion."""
    return read_options(reply["choices"][0], question)


def _echoed_likelihoods(reply: Mapping[str, Any], context: str, texts: Mapping[str, str]) -> Likelihoods:
    """Return the likelihoods of free texts, from text completions that echo them in any order."""
    choices = {choice.get("index", index): choice for index, choice in enumerate(reply["choices"])}
    if choices.keys() != set(range(len(texts))):
        raise ValueError(f"{len(choices)} completions of {len(texts)} texts")
    return Likelihoods(
        {name: read_text(choices[index], context, text) for index, (name, text) in enumerate(texts.items())}
    )


def _text(content: object) -> str:
    """Return the text of a message, which some servers send in parts."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = ({"text": part} if isinstance(part, str) else part for part in content)
        texts = (part for part in parts if isinstance(part, Mapping) and part.get("type", "text") in _TEXT_PARTS)
        return "".join(_optional(part.get("text")) or "" for part in texts)
    if not isinstance(content, str):
        raise TypeError
    return content


def _refusal_in(content: object) -> object:
    """Return the refusal among the parts of a message, if any."""
    parts = content if isinstance(content, list) else ()
    return next((part.get("refusal") for part in parts if isinstance(part, Mapping) and part.get("refusal")), None)


def _optional(value: object) -> str | None:
    """Return a text; None for any other value, so that an answer that was paid for is not lost."""
    return value if isinstance(value, str) and value else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _usage(counted: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers of tokens.

    Some providers count reasoning in the total alone, and not in the completion.
    """
    details = _mapping(counted.get("completion_tokens_details"))
    tokens = {
        "input": counted.get("prompt_tokens"),
        "output": counted.get("completion_tokens"),
        "reasoning": details.get("reasoning_tokens"),
    }
    usage = {name: number for name, count in tokens.items() if (number := whole_number(count)) is not None}
    total = whole_number(counted.get("total_tokens"))
    if total is not None and {"input", "output"} <= usage.keys():
        hidden = total - usage["input"] - usage["output"]
        if hidden > 0:
            usage["output"] += hidden
            usage["reasoning"] = max(usage.get("reasoning", 0), hidden)
    return usage


def _usage_of_response(counted: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens under the names of chat completions; here the output includes the reasoning."""
    tokens = {
        "input": counted.get("input_tokens"),
        "output": counted.get("output_tokens"),
        "reasoning": _mapping(counted.get("output_tokens_details")).get("reasoning_tokens"),
    }
    return {name: number for name, count in tokens.items() if (number := whole_number(count)) is not None}
