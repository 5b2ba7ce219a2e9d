"""Models by name or alias: providers are extensions of the group ``pytest_fairness.models``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import MODELS
from pytest_fairness.core.protocols import Model, is_model
from pytest_fairness.core.system_prompts import SystemPrompt
from pytest_fairness.models import parameters
from pytest_fairness.models.aliases import follow
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName

_SYSTEM = "system"
_LITERAL = "literal"
"""The blanks in the system prompt that are meant as they are, separated by commas."""
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


def _make(name: ModelName, context: ModelContext) -> Model:
    try:
        provider = MODELS.load_callable(name.provider)
    except FairnessError as error:
        is_call = name.provider not in MODELS.names() and name.name.isidentifier()
        hint = "; a function of your own is returned by the `model` fixture in conftest.py" if is_call else ""
        raise FairnessError(f"model {name}: {error}{hint}") from error
    try:
        model = provider(name, context)
    except FairnessError:
        raise
    except Exception as error:
        raise FairnessError(f"model {name} cannot be made: {type(error).__name__}: {error}") from error
    if not is_model(model):
        raise FairnessError(
            f"model {name}: its provider made a {type(model).__name__}, which is no model: "
            "it needs name, key, local, answer() and close()"
        )
    return model


def _without_system(name: ModelName) -> ModelName:
    if _SYSTEM not in name.parameters:
        return name
    return replace(
        name, parameters={key: value for key, value in name.parameters.items() if key not in (_SYSTEM, _LITERAL)}
    )


def _set_system_prompt(model: Model, name: ModelName, context: ModelContext) -> None:
    """Set the system prompt of a model by its name: the engine sends it, and the key contains its digest."""
    try:
        literal = parameters.text(name.parameters[_LITERAL]).split(",") if _LITERAL in name.parameters else ()
        prompt = SystemPrompt.read(parameters.text(name.parameters[_SYSTEM]), context.root, literal)
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
