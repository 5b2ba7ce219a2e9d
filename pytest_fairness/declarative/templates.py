"""Jinja2 templates in a bounded sandbox, in which a name without a value is an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_fairness.core.errors import did_you_mean
from pytest_fairness.declarative.sandbox import BoundsError, compile_template
from pytest_fairness.declarative.source import DeclarationError, LocatedValue


class Template:
    """The text of a message with ``{{ names }}``.

    Raises `DeclarationError`, at its line, for an invalid template.
    """

    def __init__(self, node: LocatedValue) -> None:
        from jinja2 import TemplateError, TemplateSyntaxError
        from jinja2 import nodes as syntax
        from jinja2.meta import find_undeclared_variables

        self.node = node
        try:
            parsed, self._render = compile_template(node.text)
        except TemplateSyntaxError as error:
            raise self._error(f"it is no template: {error.message}", error.lineno) from None
        except (TemplateError, RecursionError, MemoryError, OverflowError, ValueError) as error:
            raise self._error(f"it is no template: {str(error) or type(error).__name__}", 1) from None
        self.names = find_undeclared_variables(parsed)
        """The names that must be filled in."""
        self._lines = {name.name: name.lineno for name in reversed(list(parsed.find_all(syntax.Name)))}

    def render(self, values: Mapping[str, Any], item: str) -> str:
        """Return the message with these values. Raises `DeclarationError` where rendering fails."""
        try:
            return self._render(dict(values))
        except BoundsError as error:
            raise self._error(f"item {item!r} cannot be filled in: {error}", 1) from None
        except Exception as error:  # noqa: BLE001 - whatever an expression of the user's raises
            raise self._error(f"item {item!r} cannot be filled in: {type(error).__name__}: {error}", 1) from None

    def require(self, values: Mapping[str, Any]) -> None:
        """Raise `DeclarationError`, at its line, for a name that nothing fills in."""
        for name in sorted(self.names - values.keys()):
            message = f"nothing fills in {{{{ {name} }}}}; {did_you_mean(name, values)}"
            raise self._error(message, self._lines.get(name, 1))

    def _error(self, message: str, line: int) -> DeclarationError:
        if self.node.first is None:
            return self.node.error(message)
        line_in_file = self.node.first + line - 1
        return self.node.error(
            message, line=line_in_file, column=self.node.column if line_in_file == self.node.line else None
        )
