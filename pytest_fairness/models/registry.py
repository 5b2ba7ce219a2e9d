"""Models by name or alias: providers are extensions of the group ``pytest_fairness.models``; and models of users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.extensions import MODELS
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.pyproject import Pyproject
from pytest_fairness.core.system_prompts import SystemPrompt
from pytest_fairness.models import parameters
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName

_SYSTEM = "system"
"""The parameter that all models have: the file of the system prompt."""


def resolve(text: str, *, aliases: Mapping[str, str], context: ModelContext) -> Model:
    """Return the model of a name or an alias; it opens no connection and reads no key before its first use.

    Args:
        text: ``provider:NAME?param=value``, or an alias of one. Every provider takes ``system=FILE``.
        aliases: Names by alias.
        context: The run's settings for models.

    Raises:
        FairnessError: The name is malformed, its provider or a parameter is unknown, or the provider is broken.
    """
    name = ModelName.parse(follow(text.strip(), aliases))
    model = _make(_without_system(name), context)
    if _SYSTEM in name.parameters:
        _set_system_prompt(model, name, context)
    return model


def as_model(
    value: object,
    run: str,
    context: ModelContext | None = None,
    *,
    made_by: str = "",
    title: str | None = None,
    label: str = "",
) -> Model:
    """Return the value of a ``model`` fixture as a model: itself, or a callable wrapped as `FunctionModel`.

    Raises:
        FairnessError: The value is neither, or its name or key is no text.
    """
    if isinstance(value, Model) and not isinstance(value, type):
        if not all(isinstance(text, str) and text for text in (value.name, value.key)):
            raise FairnessError(
                f"the model has the name {value.name!r:.60} and the key {value.key!r:.60}: give it texts"
            )
        return value
    if callable(value) and not isinstance(value, type):
        from pytest_fairness.models.callable_model import FunctionModel

        return FunctionModel(value, run, context, made_by=made_by, title=title, label=label)
    shown = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
    raise FairnessError(f"the model is {shown}: it must be a callable from text to text, or have answer() and close()")


def _make(name: ModelName, context: ModelContext) -> Model:
    try:
        provider = MODELS.load_callable(name.provider)
    except FairnessError as error:
        raise FairnessError(f"model {name}: {error}") from error
    try:
        model = provider(name, context)
    except FairnessError:
        raise
    except Exception as error:
        raise FairnessError(f"model {name} cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(model, Model):
        raise FairnessError(
            f"model {name}: its provider made a {type(model).__name__}, which is no model: "
            "it needs name, key, local, answer() and close()"
        )
    return model


def _without_system(name: ModelName) -> ModelName:
    return replace(name, parameters={key: value for key, value in name.parameters.items() if key != _SYSTEM})


def _set_system_prompt(model: Model, name: ModelName, context: ModelContext) -> None:
    """Set the system prompt of a model by its name: the engine sends it, and the key contains its digest."""
    try:
        prompt = SystemPrompt.read(parameters.text(name.parameters[_SYSTEM]), context.root)
    except FairnessError as error:
        raise FairnessError(f"model {name.provider}:{name.name}: {error}") from None
    try:
        model.name, model.key = name.text, f"{model.key}&system={prompt.digest}"
        if getattr(model, "unversioned", ""):
            model.unversioned += f"&system={prompt.digest}"  # type: ignore[attr-defined]
        model.system_prompt = prompt  # type: ignore[attr-defined]  # read by `system_prompt_of`
    except AttributeError:
        raise FairnessError(
            f"model {name}: its provider's {type(model).__name__} has a fixed name or key, so it takes no system="
        ) from None


_TABLE = "[tool.pytest-fairness.models]"


def read_aliases(root: Path) -> dict[str, str]:
    """Return the aliases that the project at ``root`` defines; none where it has no ``pyproject.toml``.

    Raises:
        FairnessError: That file, or an alias in it, is malformed; with file and line.
    """
    file = Pyproject.read(root)
    table = file.table("models", way_out=f'write {_TABLE}, and alias = "provider:NAME" below it')
    for alias, name in table.items():
        _check(alias, name, file.where(alias))
    return dict(table)


@contextmanager
def naming_alias(root: Path, name: str, aliases: Mapping[str, str]) -> Iterator[None]:
    """Prefix errors about a model with the file and line of its alias."""
    try:
        yield
    except FairnessError as error:
        if name not in aliases:
            raise
        raise FairnessError(f"{Pyproject.read(root).where(name)}: {error}") from None


def follow(text: str, aliases: Mapping[str, str]) -> str:
    """Return the full name of an alias, which may be one of another alias; a full name is returned as it is.

    >>> follow("small", {"small": "mini", "mini": "openai:gpt-5-mini"})
    'openai:gpt-5-mini'

    Raises:
        FairnessError: Aliases lead in a circle, or the word is no alias.
    """
    seen: list[str] = []
    while text in aliases:
        if text in seen:
            circle = " -> ".join([*seen[seen.index(text) :], text])
            raise FairnessError(f"model aliases of {_TABLE} lead in a circle: {circle}; end one at provider:NAME")
        seen.append(text)
        text = aliases[text]
    if ":" not in text and aliases:
        raise FairnessError(f"{text!r} is no alias of {_TABLE} and no provider:NAME; {did_you_mean(text, aliases)}")
    return text


def _check(alias: str, name: object, where: str) -> None:
    if not isinstance(name, str) or not name.strip():
        raise FairnessError(f"{where}: model alias {alias!r} is {name!r}: it must be a text, provider:NAME")
    if not alias.strip() or ":" in alias or "?" in alias:
        raise FairnessError(f"{where}: model alias {alias!r} would hide a full name: leave ':' and '?' out of it")
