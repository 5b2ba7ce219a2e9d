"""Finds the model that a name means. Third parties register theirs by an entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.core.protocols import Model
from pytest_fairness.models.aliases import follow
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName

GROUP = "pytest_fairness.models"

BUILT_IN = {
    "anthropic": "pytest_fairness.models.anthropic:AnthropicModel",
    "openai": "pytest_fairness.models.openai:OpenAIModel",
    "replay": "pytest_fairness.models.replay:ReplayModel",
    "simulated": "pytest_fairness.models.simulated:SimulatedModel",
    "transformers": "pytest_fairness.models.transformers:TransformersModel",
}
"""Ours are also entry points; this table finds them without a scan, and in a source tree."""

Provider = Callable[[ModelName, ModelContext], Model]


def resolve(text: str, *, aliases: Mapping[str, str], context: ModelContext) -> Model:
    """The model of this name or alias. Nothing is opened and no key is read before it is asked.

    Raises `FairnessError` for a malformed name, an unknown provider or parameter, and a
    provider that cannot be loaded.
    """
    name = ModelName.parse(follow(text.strip(), aliases))
    provider = _provider(name)
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


def _provider(name: ModelName) -> Provider:
    if name.provider in BUILT_IN:
        module, _, attribute = BUILT_IN[name.provider].partition(":")
        built_in: Provider = getattr(import_module(module), attribute)
        return built_in
    registered = entry_points(group=GROUP)
    # One distribution can be seen twice (installed, and again on the path): that is no duplicate.
    found = {entry.value: entry for entry in registered if entry.name == name.provider}
    if not found:
        known = {*BUILT_IN, *(entry.name for entry in registered)}
        raise FairnessError(f"model {name}: no provider is called {name.provider!r}; {near(name.provider, known)}")
    if len(found) > 1:
        claims = " and ".join(sorted(_origin(entry) for entry in found.values()))
        raise FairnessError(f"model {name}: provider {name.provider!r} is registered by {claims}: uninstall one")
    return _load(*found.values())


def _load(entry: EntryPoint) -> Provider:
    try:
        provider: Provider = entry.load()
    except Exception as error:
        raise FairnessError(
            f"model provider {entry.name!r} of {_origin(entry)} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    if not callable(provider):
        raise FairnessError(f"model provider {entry.name!r} of {_origin(entry)} is no class of models")
    return provider


def _origin(entry: EntryPoint) -> str:
    owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unnamed package"
    return f"{owner} ({entry.value})"
