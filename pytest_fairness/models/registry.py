"""Models by their names: the provider is an extension of the group ``pytest_fairness.models``."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import MODELS
from pytest_fairness.core.protocols import Model
from pytest_fairness.models.aliases import follow
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName


def resolve(text: str, *, aliases: Mapping[str, str], context: ModelContext) -> Model:
    """Return the model of a name or an alias. Nothing is opened and no key is read before it is used.

    Args:
        text: ``provider:NAME?param=value``, or an alias of one.
        aliases: Names by alias.
        context: What the provider is given about the run.

    Raises:
        FairnessError: The name is malformed, its provider or a parameter is unknown, or the provider is broken.
    """
    name = ModelName.parse(follow(text.strip(), aliases))
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
