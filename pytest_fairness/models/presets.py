"""Presets: providers and servers with OpenAI's protocol, each with its address, key and peculiarities.

A preset ``groq:NAME`` stands for ``openai:NAME?base_url=...&key_env=...``.
"""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlsplit

from pytest_fairness.core.batch_api import BatchInterface
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.models.http_model import HostedModel
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.openai import OpenAIModel


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
    """A server on this machine, or at the address of its URL variable; without a set key none is sent."""

    needs_key = False


class LlamaCpp(LocalServer, url="http://localhost:8080/v1", variables="LLAMA_CPP"):
    """``llama.cpp:NAME``: its own server. The name is free: it serves one model."""


class LMStudio(LocalServer, url="http://localhost:1234/v1", variables="LMSTUDIO"):
    """``lmstudio:NAME``."""


class Ollama(LocalServer, url="http://localhost:11434/v1", variables="OLLAMA"):
    """``ollama:NAME``."""


class VLLM(LocalServer, url="http://localhost:8000/v1", variables="VLLM"):
    """``vllm:NAME``."""
