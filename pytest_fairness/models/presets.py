"""Presets: providers and servers with OpenAI's protocol, each with its address, key and peculiarities.

A preset ``groq:NAME`` stands for ``openai:NAME?base_url=...&key_env=...``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from secrets import token_hex
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.batch_api import BatchInterface
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.event_loops import Lock
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.json_objects import whole_number
from pytest_fairness.core.tools import NoToolsError, Tool
from pytest_fairness.models.http_model import HostedModel
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.openai import OpenAIModel

_TOOL_DESCRIPTION = (
    "Looks up the day and the hour at which the office is open, and returns both in words. Call it once at most, and "
    "only for a question about the hours of the office."
)
"""The description of a tool that is offered to see whether a server passes tools on."""
_FEW = 4
"""Requests in flight at a server of this machine: the slots of llama.cpp, LM Studio and Ollama, or more."""


class Preset(OpenAIModel):
    """A provider of chat completions other than OpenAI.

    Its key is sent to its own address, and to that of its URL variable. A ``base_url`` in a name is sent the key of
    ``key_env`` or ``key_command`` only.

    A subclass names its own address (``url``), and the beginning of ``..._BASE_URL`` and ``..._API_KEY``, the
    variables of its address and key (``variables``); else it sets the attributes itself, or inherits them.
    """

    needs_key: ClassVar[bool] = True
    """Whether no request is sent without a key; servers on this machine need none."""
    limit_parameter = "max_tokens"
    transport = {name: kind for name, kind in OpenAIModel.transport.items() if name != "api"}  # noqa: RUF012

    def __init_subclass__(cls, url: str = "", variables: str = "") -> None:
        if variables:
            cls.default_url = url
            cls.url_variable, cls.key_variable = f"{variables}_BASE_URL", f"{variables}_API_KEY"

    @property
    def batches(self) -> BatchInterface:
        """OpenAI's batches, which no preset has: raises AttributeError, as a missing attribute does."""
        raise AttributeError(f"{self.name} has no batches")

    @property
    def _server(self) -> str:
        if "base_url" in self._parameters:
            return "name"
        return "provider" if self.needs_key else "variable"

    def _own_headers(self) -> dict[str, str]:
        return HostedModel._own_headers(self)  # without OpenAI's account


class Azure(Preset):
    """``azure:DEPLOYMENT``: OpenAI's models on Azure, at the resource of ``AZURE_OPENAI_ENDPOINT``."""

    default_url = ""
    url_variable = "AZURE_OPENAI_ENDPOINT"
    key_variable = "AZURE_OPENAI_API_KEY"
    limit_parameter = "max_completion_tokens"

    def _base_url(self, name: ModelName) -> str:
        if "base_url" not in self._parameters and not self._context.environment.get(self.url_variable):
            raise FairnessError(
                f"model {name.provider}:{name.name}: set {self.url_variable} to the resource, such as "
                "https://NAME.openai.azure.com, or write base_url="
            )
        url = super()._base_url(name)
        return url if urlsplit(url).path else f"{url}/openai/v1"

    def _auth(self, key: str) -> dict[str, str]:
        return super()._auth(key) if self._credentials.is_token else {"api-key": key}


class Bedrock(Preset):
    """``bedrock:NAME``: models of Amazon Bedrock with chat completions, in the region of ``AWS_REGION``."""

    default_url = ""
    url_variable = "BEDROCK_BASE_URL"
    key_variable = "AWS_BEARER_TOKEN_BEDROCK"

    def _base_url(self, name: ModelName) -> str:
        environment = self._context.environment
        if "base_url" in self._parameters or environment.get(self.url_variable):
            return super()._base_url(name)
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        if not region:
            raise FairnessError(
                f"model {name.provider}:{name.name}: set AWS_REGION to the region of the model, or write base_url="
            )
        return f"https://bedrock-runtime.{region}.amazonaws.com/openai/v1"


class DeepSeek(Preset, url="https://api.deepseek.com", variables="DEEPSEEK"):
    """``deepseek:NAME``."""


class Gemini(Preset, url="https://generativelanguage.googleapis.com/v1beta/openai", variables="GEMINI"):
    """``gemini:NAME``: Google's models, at their endpoint with OpenAI's protocol."""


class Groq(Preset, url="https://api.groq.com/openai/v1", variables="GROQ"):
    """``groq:NAME``."""


class Mistral(Preset, url="https://api.mistral.ai/v1", variables="MISTRAL"):
    """``mistral:NAME``. A seed is sent as ``random_seed``, its name there."""

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        body = super()._body(prompt, repetition)
        return {"random_seed" if name == "seed" else name: value for name, value in body.items()}


class OpenRouter(Preset, url="https://openrouter.ai/api/v1", variables="OPENROUTER"):
    """``openrouter:VENDOR/NAME``. Each answer's ``served_by`` is the chosen provider, where that is reported."""


class Together(Preset, url="https://api.together.xyz/v1", variables="TOGETHER"):
    """``together:VENDOR/NAME``."""


class XAI(Preset, url="https://api.x.ai/v1", variables="XAI"):
    """``xai:NAME``."""


class LocalServer(Preset):
    """A server on this machine, or at the address of its URL variable; without a set key none is sent.

    Before the first prompt with tools two small requests show whether the server passes tools on to the model.
    """

    needs_key = False
    _drops_tools: str | None = None
    """The sign that the server drops tools; empty where there is none, None while that is not known."""

    @cached_property
    def _tools_lock(self) -> Lock:
        return Lock()

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer to one prompt.

        Raises:
            NoToolsError: The prompt has tools, and the server drops them.
            ModelError: As for every hosted model.
        """
        if prompt.tools:
            async with self._tools_lock:
                if self._drops_tools is None:
                    self._drops_tools = await self._find_dropped_tools()
            if self._drops_tools:
                raise NoToolsError(self._drops_tools)
        return await super().answer(prompt, repetition)

    async def _find_dropped_tools(self) -> str:
        """Return the sign that the server drops tools; empty where there is none.

        A chat template without tools leaves them out in silence, and every answer is prose. So a prompt with a tool is
        counted against one that has some more words and no tool. Equal counts are those of a server that counts none.

        Raises:
            ModelError: The server has not answered.
        """
        # New texts: some servers count only those tokens that they have not in their cache.
        number = token_hex(4)
        offered = Prompt(f"{number}: say yes.", tools=[Tool(f"look_up_{number}", _TOOL_DESCRIPTION)])
        plain = Prompt(f"{number}: say yes, and then say yes once more.")
        with_tool, without = [await self._count_tokens(prompt) for prompt in (offered, plain)]
        if not 0 < with_tool < without:
            return ""
        return (
            f"{self.name}: {self.base_url} drops tools: of a prompt with a tool it counts {with_tool} tokens, of a "
            f"slightly longer one without {without}: start it with a chat template that has tools, or measure a model "
            "that can call them"
        )

    async def _count_tokens(self, prompt: Prompt) -> int:
        """Return the tokens of a prompt by the server's own count; 0 where it gives none."""
        reply, _ = await self._send({**self._body(prompt, 0), self.limit_parameter: 1})
        usage = reply.body.get("usage") if isinstance(reply.body, Mapping) else None
        return whole_number(usage.get("prompt_tokens")) or 0 if isinstance(usage, Mapping) else 0


class FewSlots(LocalServer):
    """A server that by default answers few requests at a time: others would wait there until their timeout."""

    @property
    def most_in_flight(self) -> int | None:
        """Largest number of requests in flight of all processes; None for the run's own number."""
        return None if self._context.is_concurrency_chosen else _FEW


class LlamaCpp(FewSlots, url="http://localhost:8080/v1", variables="LLAMA_CPP"):
    """``llama.cpp:NAME``: its own server. The name is free: it serves one model."""


class LMStudio(FewSlots, url="http://localhost:1234/v1", variables="LMSTUDIO"):
    """``lmstudio:NAME``."""


class Ollama(FewSlots, url="http://localhost:11434/v1", variables="OLLAMA"):
    """``ollama:NAME``."""


class VLLM(LocalServer, url="http://localhost:8000/v1", variables="VLLM"):
    """``vllm:NAME``."""
