"""Models of users: objects with the methods of a model, and callables, which are wrapped."""

from __future__ import annotations

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.protocols import Model, is_model
from pytest_fairness.models.context import ModelContext


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
    if is_model(value):
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
