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
    """

    needs_key: ClassVar[bool] = True
    """Whether no request is sent without a key; servers on this machine need none."""
    limit_parameter = "max_tokens"
    transport = {name: kind for name, kind in OpenAIModel.transport.items() if name != "api"}  # noqa: RUF012

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


class DeepSeek(Preset):
    """``deepseek:NAME``."""

    default_url = "https://api.deepseek.com"
    url_variable = "DEEPSEEK_BASE_URL"
    key_variable = "DEEPSEEK_API_KEY"


class Gemini(Preset):
    """``gemini:NAME``: Google's models, at their endpoint with OpenAI's protocol."""

    default_url = "https://generativelanguage.googleapis.com/v1beta/openai"
    url_variable = "GEMINI_BASE_URL"
    key_variable = "GEMINI_API_KEY"


class Groq(Preset):
    """``groq:NAME``."""

    default_url = "https://api.groq.com/openai/v1"
    url_variable = "GROQ_BASE_URL"
    key_variable = "GROQ_API_KEY"


class Mistral(Preset):
    """``mistral:NAME``. A seed is sent as ``random_seed``, its name there."""

    default_url = "https://api.mistral.ai/v1"
    url_variable = "MISTRAL_BASE_URL"
    key_variable = "MISTRAL_API_KEY"

    def _body(self, prompt: Prompt, repetition: int) -> dict[str, Any]:
        body = super()._body(prompt, repetition)
        return {"random_seed" if name == "seed" else name: value for name, value in body.items()}


class OpenRouter(Preset):
    """``openrouter:VENDOR/NAME``. Each answer's ``served_by`` is the chosen provider, where that is reported."""

    default_url = "https://openrouter.ai/api/v1"
    url_variable = "OPENROUTER_BASE_URL"
    key_variable = "OPENROUTER_API_KEY"


class Together(Preset):
    """``together:VENDOR/NAME``."""

    default_url = "https://api.together.xyz/v1"
    url_variable = "TOGETHER_BASE_URL"
    key_variable = "TOGETHER_API_KEY"


class XAI(Preset):
    """``xai:NAME``."""

    default_url = "https://api.x.ai/v1"
    url_variable = "XAI_BASE_URL"
    key_variable = "XAI_API_KEY"


class LocalServer(Preset):
    """A server on this machine, or at the address of its URL variable; without a set key none is sent."""

    needs_key = False


class LlamaCpp(LocalServer):
    """``llama.cpp:NAME``: its own server. The name is free: it serves one model."""

    default_url = "http://localhost:8080/v1"
    url_variable = "LLAMA_CPP_BASE_URL"
    key_variable = "LLAMA_CPP_API_KEY"


class LMStudio(LocalServer):
    """``lmstudio:NAME``."""

    default_url = "http://localhost:1234/v1"
    url_variable = "LMSTUDIO_BASE_URL"
    key_variable = "LMSTUDIO_API_KEY"


class Ollama(LocalServer):
    """``ollama:NAME``."""

    default_url = "http://localhost:11434/v1"
    url_variable = "OLLAMA_BASE_URL"
    key_variable = "OLLAMA_API_KEY"


class VLLM(LocalServer):
    """``vllm:NAME``."""

    default_url = "http://localhost:8000/v1"
    url_variable = "VLLM_BASE_URL"
    key_variable = "VLLM_API_KEY"
