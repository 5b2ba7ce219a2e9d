"""Calls of public classes: a wrong argument is one line with the right call, and no frame of this package is shown."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

from pytest_fairness.core.errors import FairnessError, MisuseError, did_you_mean, short_repr

_Class = TypeVar("_Class", bound=type)


def explains_calls(cls: _Class) -> _Class:
    """Let the public methods of a class say how they are called, and hide this package's frames.

    >>> @explains_calls
    ... class Sample:
    ...     def ratio(self, outcome, *, by, of="a"): ...
    >>> Sample().ratio("ok", "gender")
    Traceback (most recent call last):
    MisuseError: ratio takes 1 argument by position: write ratio('ok', by='gender')
    """
    for name, member in list(vars(cls).items()):
        if inspect.isfunction(member) and not name.startswith("_"):
            setattr(cls, name, _explained(member, name))
        elif isinstance(member, classmethod) and not name.startswith("_"):
            setattr(cls, name, classmethod(_explained(member.__func__, f"{cls.__name__}.{name}")))
    return cls


def explains_construction(cls: _Class) -> _Class:
    """Let the constructor of a class say how it is called, and hide this package's frames."""
    cls.__init__ = _explained(vars(cls)["__init__"], cls.__name__)  # type: ignore[misc]
    return cls


def _explained(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        mistake: FairnessError
        try:
            return function(*args, **options)
        except FairnessError as error:
            mistake = error.with_traceback(None)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # raised by what it calls
                raise
            mistake = MisuseError(_explain(function, name, args[1:], options))
        raise mistake

    return call


def _explain(function: Callable[..., Any], name: str, args: Sequence[Any], options: Mapping[str, Any]) -> str:
    """Return how a function is called that cannot be called with these arguments, without its first one."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    by_position = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    by_name = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    takes_any_name = any(one.kind is one.VAR_KEYWORD for one in parameters)
    for option in options:
        if not takes_any_name and option not in (*by_position, *by_name):
            return f"{name} has no argument {option!r}; {did_you_mean(option, [*by_position, *by_name])}"
    values = {**dict(zip([*by_position, *by_name], args, strict=False)), **options}
    shown = []
    for one in [*by_position, *by_name]:
        if one in values or one in _required(parameters):
            value = short_repr(values[one], 30) if one in values else "..."
            is_named = one in by_name or one in options or (one not in values and bool(options))
            shown.append(f"{one}={value}" if is_named else value if one in values else one)
    call = ", ".join(shown) or ("NAME=..." if takes_any_name else "")
    given = f"{len(by_position)} argument{'' if len(by_position) == 1 else 's'} by position"
    missing = [one for one in _required(parameters) if one not in values]
    rule = f"needs {', '.join(missing)}" if missing else f"takes {given if by_position else 'arguments by name only'}"
    return f"{name} {rule}: write {name}({call})"


def _required(parameters: Sequence[inspect.Parameter]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [one.name for one in parameters if one.default is one.empty and one.kind in kinds]
