"""The name of a model as a user writes it: ``provider:NAME?param=value&param=value``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.model_names import distinct_id, plain_id
from pytest_fairness.core.secrets import without_credentials

Scalar = str | int | float | bool

_PROVIDER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_ESCAPED = re.compile(r"%(?:09|0A|0D|20|23|25|26)")
_SPECIAL = re.compile(rf"[&#\t\n\r ]|%(?={_ESCAPED.pattern[1:]})")
"""Only these are escaped, so that a URL among the values, with escapes of its own, stays as it is."""


@dataclass(frozen=True, slots=True, repr=False)
class ModelName:
    """A provider, the provider's own name of a model, and the parameters of decoding.

    >>> name = ModelName.parse("openai:gpt-5-mini?temperature=0.0&seed=7")
    >>> name.provider, name.name, name.parameters
    ('openai', 'gpt-5-mini', {'seed': 7, 'temperature': 0.0})
    >>> name.text
    'openai:gpt-5-mini?seed=7&temperature=0'
    """

    provider: str
    name: str
    parameters: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    """Sorted by name. A value is a number, true or false where it reads as one, else text."""

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Read a name. The provider ends at the first ``:`` and the model at the first ``?``.

        A ``&`` or a space inside a value is written as in a URL (``%26``, ``%20``).

        Raises:
            FairnessError: The name is malformed.
        """
        head, mark, tail = text.strip().partition("?")
        provider, colon, name = head.partition(":")
        if re.match("https?://", head):
            shown = without_credentials(head).rstrip("/")
            raise FairnessError(
                f"model {shown} is a URL: write openai:NAME?base_url={shown}/v1 for a server with OpenAI's API, "
                "http:FILE.toml for another one"
            )
        if not colon or not name.strip() or not _PROVIDER.fullmatch(provider):
            shown = without_credentials(head)
            raise FairnessError(f"model {shown!r} is not of the form provider:NAME: write, say, openai:gpt-5-mini")
        if mark and not tail:
            raise FairnessError(f"model {head!r} has no parameter after its '?': write ?temperature=0, or leave it out")
        parameters = _parameters(head, tail.split("&")) if tail else {}
        return cls(provider, name.strip(), dict(sorted(parameters.items())))

    @property
    def text(self) -> str:
        """The canonical text: parameters sorted, numbers in one form, no credentials in a URL."""
        return self.with_parameters(self.parameters)

    @property
    def id(self) -> str:
        """``provider:name`` for a test id: ASCII, without brackets, spaces or ``::``.

        >>> ModelName.parse("transformers:org/tiny [v1]::x?seed=1").id
        'transformers:org/tiny_v1_:x'
        """
        return plain_id(f"{self.provider}:{self.name}")

    def with_parameters(self, parameters: Mapping[str, Scalar]) -> str:
        """Return the canonical text of this model under other parameters."""
        head = f"{self.provider}:{without_credentials(self.name)}"
        tail = "&".join(f"{key}={_written(value)}" for key, value in sorted(parameters.items()))
        return f"{head}?{tail}" if tail else head

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        # Not the dataclass's own: a URL among the parameters may hold a password.
        return f"ModelName({self.text!r})"


def ids_of(names: Iterable[ModelName], aliases: Mapping[str, str] | None = None) -> dict[ModelName, str]:
    """Return an id for the tests of each model: its alias, else `ModelName.id`; with a digest where others share it.

    Args:
        names: The models.
        aliases: Aliases by full names.

    >>> names = [ModelName.parse(text) for text in ("openai:x?seed=1", "openai:x?seed=2", "openai:y?seed=1")]
    >>> list(ids_of(names).values())
    ['openai:x~b77380e1', 'openai:x~6e533fce', 'openai:y']
    >>> list(ids_of(names, {"openai:x?seed=1": "prod", "openai:x?seed=2": "new [v2]"}).values())
    ['prod', 'new_v2_', 'openai:y']
    """
    aliases = aliases or {}
    ids = {name: plain_id(alias) if (alias := aliases.get(name.text)) else name.id for name in names}
    shared = Counter(ids.values())
    return {name: text if shared[text] == 1 else distinct_id(text, name.text) for name, text in ids.items()}


def compose_name(provider: str, name: str, parameters: Mapping[str, object]) -> str:
    """Return the text of a name whose parts stand apart, as in a table of TOML.

    Args:
        provider: The provider.
        name: The provider's own name of the model.
        parameters: Parameters, also as lists and mappings.

    Raises:
        ValueError: A part cannot stand in a name; the message is the rule.

    >>> compose_name("openai", "gpt-5-mini", {"temperature": 0, "stop": ["a", "b & c"]})
    'openai:gpt-5-mini?temperature=0&stop=["a","b%20%26%20c"]'
    """
    if not _PROVIDER.fullmatch(provider):
        raise ValueError(f"provider is {provider!r}: it must be a provider, such as openai")
    if not name.strip() or "?" in name:
        raise ValueError(f"name is {name!r}: it must be the provider's name of a model, without '?'")
    texts = []
    for key, value in parameters.items():
        try:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except TypeError:
            raise ValueError(
                f"{key} is {value!r}: it must be a text, a number, true, false, a list or a table"
            ) from None
        if not text:
            raise ValueError(f"{key} is empty: give it a value, or leave it out")
        texts.append(f"{key}={_SPECIAL.sub(lambda character: quote(character.group()), text)}")
    return f"{provider}:{name}?{'&'.join(texts)}" if texts else f"{provider}:{name}"


def _parameters(head: str, parts: list[str]) -> dict[str, Scalar]:
    parameters: dict[str, Scalar] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key or not value:
            # Only the part's name is shown: its value may be a secret.
            raise FairnessError(f"model {head!r} has a parameter {key!r} without a value: write {key or 'name'}=VALUE")
        if key in parameters:
            raise FairnessError(f"model {head!r} has the parameter {key!r} twice: give it once")
        parameters[key] = _value(_ESCAPED.sub(lambda code: unquote(code.group()), value))
    return parameters


def _value(text: str) -> Scalar:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, dict):  # the order of what joins a request does not matter; within, a schema's may
        return json.dumps(dict(sorted(value.items())), ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return text


def _written(value: Scalar) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, str):
        return _SPECIAL.sub(lambda character: quote(character.group()), without_credentials(value))
    return json.dumps(value)
