"""``openai:NAME``: chat completions of OpenAI and of any server that speaks its protocol."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import PermanentError, TransientError
from pytest_fairness.core.finish_reasons import ERROR, FILTER, REFUSAL, STOP, normalized
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import WAY_OUT, Continuations, Likelihoods, NoLikelihoodsError
from pytest_fairness.core.secrets import redacted
from pytest_fairness.core.thinking import split_thinking
from pytest_fairness.models import parameters
from pytest_fairness.models.batch_openai import OpenAIBatches
from pytest_fairness.models.http_model import HostedModel
from pytest_fairness.models.logprobs import options_in, text_in

MOST_PROBABLE = 20
"""First tokens that are asked for, with their log-probabilities: the most that OpenAI and vLLM give."""
_TOP = "top_logprobs"
_AT_ONE: Mapping[str, float] = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
"""Decoding parameters under which probabilities are those of the model."""
_REFUSED = (400, 403, 422, 500, 501)
"""Statuses of servers that give no log-probabilities; the text says so."""
_LOGPROBS_REFUSED = re.compile(r"top_logprobs|log.?prob\w*|echo", re.IGNORECASE)


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

    Likelihoods of options come from the ``top_logprobs`` (20) most probable first tokens, those of free texts from text
    completions that echo their prompt, as vLLM's do.
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
    transport = {**HostedModel.transport, "api_version": parameters.text}  # noqa: RUF012

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        decoding = {key: value for key, value in self._given.items() if key in self.decoding and key != _TOP}
        extra = decoding.pop("extra", {})
        if "seed" in decoding:
            decoding["seed"] += repetition
        return {"model": self._asked_name, "messages": prompt.messages, **decoding, **extra}

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the likelihoods that the server gives; a bound where an option is below its list.

        Raises as `answer` does, and `NoLikelihoodsError` where the server gives none.
        """
        fixed = {name: self._given[name] for name in _AT_ONE if self._given.get(name, _AT_ONE[name]) != _AT_ONE[name]}
        if fixed:
            given = ", ".join(f"{name}={value:g}" for name, value in fixed.items())
            raise NoLikelihoodsError(f"{self.name}: propensities are probabilities at temperature 1: leave out {given}")
        kept = {name: self._given[name] for name in ("reasoning_effort", "response_format") if name in self._given}
        shared = {"model": self._asked_name, "temperature": 1, "top_p": 1, **kept, **self._given.get("extra", {})}
        if question.exclusive:
            # OpenAI's newer models refuse the old name, older servers do not know the new one.
            limit = "max_completion_tokens" if self._server == "provider" else "max_tokens"
            top = self._given.get(_TOP, MOST_PROBABLE)
            body = {**shared, "messages": prompt.messages, "logprobs": True, _TOP: top, limit: 1}
            reply, latency = await self._reply_to(body)
            read: Callable[[Mapping[str, Any]], Likelihoods] = partial(_first_token, question=question)
        else:
            text = "\n\n".join(message["content"] for message in prompt.messages) if question.has_context else ""
            context = text.rstrip()  # blanks at its end belong to the first token of what follows
            texts = {name: f"{text[len(context) :]}{each}" for name, (each,) in question.options.items()}
            prompts = [context + each for each in texts.values()]
            body = {**shared, "prompt": prompts, "echo": True, "logprobs": 1, "max_tokens": 1}
            reply, latency = await self._reply_to(body, self._shown_url + "/completions")
            read = partial(_echoed, context=context, texts=texts)
        outcome = self._outcome(*reply, latency, partial(self._read_likelihoods, read, is_chat=question.exclusive))
        if isinstance(outcome, Answer):
            return outcome
        if reply.status in _REFUSED and (said := _LOGPROBS_REFUSED.search(str(reply.body))):
            fewer = "write fewer, such as top_logprobs=5, into its name, or " if said[0].lower() == _TOP else ""
            raise NoLikelihoodsError(
                f"{self.name}: {self._shown_url} refused log-probabilities ({outcome.kind}: {said[0]}): "
                f"{fewer}{WAY_OUT}"
            )
        if reply.status in (404, 405, 501) and not question.exclusive:
            raise NoLikelihoodsError(
                f"{self.name}: {self._shown_url} has no text completions ({reply.status}), which free texts need: "
                f"{WAY_OUT}"
            )
        raise outcome

    def _read_likelihoods(
        self,
        read: Callable[[Mapping[str, Any]], Likelihoods],
        reply: Mapping[str, Any],
        latency: float,
        *,
        is_chat: bool,
    ) -> Answer:
        # A prompt that is filtered or refused has no log-probabilities; those of other prompts are there all the same.
        if is_chat:
            answer = self._read(reply, latency)
            if answer.finish_reason in (FILTER, REFUSAL):
                return answer
            if answer.reasoning or answer.usage.get("reasoning"):
                raise NoLikelihoodsError(
                    f"{self.name}: {self._shown_url} sent reasoning, whose first token is none of an answer: {WAY_OUT}"
                )
        try:
            found = read(reply)
        except NoLikelihoodsError as error:
            raise NoLikelihoodsError(f"{self.name}: {self._shown_url} {error}") from None
        except ValueError as error:
            raise PermanentError(f"{self.name}: {self._shown_url} sent {error}") from None
        return found.answer(_usage(_mapping(reply.get("usage"))), latency, _optional(reply.get("model")))

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


def _first_token(reply: Mapping[str, Any], question: Continuations) -> Likelihoods:
    """Return the likelihoods of options, of a chat completion."""
    return options_in(reply["choices"][0], question)


def _echoed(reply: Mapping[str, Any], context: str, texts: Mapping[str, str]) -> Likelihoods:
    """Return the likelihoods of free texts, of text completions that echo them in any order."""
    choices = {choice.get("index", place): choice for place, choice in enumerate(reply["choices"])}
    if choices.keys() != set(range(len(texts))):
        raise ValueError(f"{len(choices)} completions of {len(texts)} texts")
    return Likelihoods(
        {name: text_in(choices[place], context, text) for place, (name, text) in enumerate(texts.items())}
    )


def _text(content: object) -> str:
    """Return the text of a message, which some servers send in parts. Raises TypeError for anything else."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = ({"text": part} if isinstance(part, str) else part for part in content)
        return "".join(part.get("text") or "" for part in parts if part.get("type", "text") in ("text", "output_text"))
    if not isinstance(content, str):
        raise TypeError
    return content


def _optional(value: object) -> str | None:
    """Return a text; what stands in its place is dropped, as the answer is paid for."""
    return value if isinstance(value, str) and value else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _usage(counted: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens. Some providers leave the reasoning out of the completion, and count it in the total alone."""
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
