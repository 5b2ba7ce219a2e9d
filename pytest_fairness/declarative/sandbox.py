"""Sandbox for the templates of declarative suites, with bounds on output and time.

Jinja's own sandbox stops attributes and files, but neither a loop in a loop nor ``'x' * 10**9``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

LONGEST = 1_000_000
"""The most characters of a message, and of every intermediate text."""
MOST_TURNS = 100_000
"""The most iterations of all loops of a template together."""
_FILTERS = (
    "abs capitalize count d default dictsort e escape first float int items join last length list lower map max min "
    "reject rejectattr replace reverse round select selectattr sort string title tojson trim truncate unique upper "
    "wordcount"
)
_METHODS = (
    "capitalize count endswith get items keys lower lstrip removeprefix removesuffix rstrip split startswith strip "
    "title upper values"
)
_REFUSED = {
    "AssignBlock": "a block of set",
    "Block": "a block",
    "CallBlock": "macros",
    "Extends": "other templates",
    "FilterBlock": "a block of a filter",
    "FromImport": "other templates",
    "Import": "other templates",
    "Include": "other templates",
    "Macro": "macros",
    "Pow": "**",
}
"""Syntax nodes that could loop or recurse without an end, or read files, with their names in messages."""
_TURNS, _CONCATENATE = "fairness_turns", "fairness_together"


class BoundsError(Exception):
    """Raised where a template exceeds the bounds or uses what is not allowed."""


def compile_template(source: str) -> tuple[nodes.Template, Callable[[dict[str, Any]], str]]:
    """Return the syntax tree of a template, and a function that renders it with values.

    Raises:
        TemplateSyntaxError: The template is invalid, or uses syntax that is refused.
    """
    from jinja2 import TemplateSyntaxError
    from jinja2 import nodes as syntax

    environment = _environment()
    parsed = environment.parse(source)
    for node in parsed.find_all(syntax.Node):
        name = type(node).__name__
        if name in _REFUSED or (isinstance(node, syntax.For) and node.recursive):
            raise TemplateSyntaxError(f"it may not use {_REFUSED.get(name, 'recursive loops')}", node.lineno)
        if isinstance(node, syntax.List | syntax.Dict | syntax.Tuple) and not _is_constant(node):
            raise TemplateSyntaxError("a list in it may hold texts and numbers only", node.lineno)
        if isinstance(node, syntax.Filter) and node.name not in environment.filters:
            raise TemplateSyntaxError(f"it may not use the filter {node.name!r}", node.lineno)
    bounded = environment.parse(source)
    for loop in bounded.find_all(syntax.For):
        loop.iter = syntax.Filter(loop.iter, _TURNS, [], [], None, None, lineno=loop.lineno)
    _replace_joins(bounded, environment)
    template = environment.from_string(bounded)

    def render(values: dict[str, Any]) -> str:
        environment.turns = 0
        pieces: list[str] = []
        length = 0
        for piece in template.generate(values):
            length += len(piece)
            _check_length(length)
            pieces.append(piece)
        return "".join(pieces)

    return parsed, render


def _replace_joins(tree: nodes.Template, environment: Environment) -> None:
    """Replace every ``a ~ b`` by a filter that checks the length of the result."""
    from jinja2 import nodes as syntax
    from jinja2.visitor import NodeTransformer

    class Joins(NodeTransformer):
        def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - jinja2's name
            self.generic_visit(node)
            parts = syntax.List(node.nodes, lineno=node.lineno)
            return syntax.Filter(parts, _CONCATENATE, [], [], None, None, lineno=node.lineno)

    Joins().visit(tree)
    tree.set_environment(environment)


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.runtime import LoopContext
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    methods = frozenset(_METHODS.split())

    class Bounded(ImmutableSandboxedEnvironment):
        """A sandbox without constant folding, in which no value grows beyond `LONGEST`."""

        intercepted_binops = frozenset({"*", "+", "%"})
        turns = 0

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if any(isinstance(operand, Sized) and not isinstance(operand, str) for operand in (left, right)):
                raise BoundsError(f"it may not use {operator} on lists: write a loop")
            if operator == "%" and isinstance(left, str):
                raise BoundsError("it may not format by %: write {{ name }}")
            if operator == "*":
                texts = [operand for operand in (left, right) if isinstance(operand, str)]
                _check_length(sum(len(text) * (left if text is right else right) for text in texts))
            return _check_value(super().call_binop(context, operator, left, right))

        def call(self, context: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
            owner = getattr(function, "__self__", None)
            is_allowed = isinstance(owner, LoopContext) or (
                isinstance(owner, str | list | dict | tuple) and function.__name__ in methods
            )
            if function is not self.globals["range"] and not is_allowed:
                raise BoundsError("it may call range and simple methods of texts and lists only: use a filter")
            return _check_value(super().call(context, function, *args, **kwargs))

    environment = Bounded(undefined=StrictUndefined, autoescape=False, optimized=False)
    environment.globals = {"range": environment.globals["range"]}
    environment.filters = {name: environment.filters[name] for name in _FILTERS.split()} | _filters(environment)
    return environment


def _filters(environment: Any) -> dict[str, Callable[..., Any]]:
    """Return the filters that check lengths and count the iterations of loops."""

    def turns(values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            environment.turns += 1
            if environment.turns > MOST_TURNS:
                raise BoundsError(f"its loops take more than {MOST_TURNS:,} turns")
            yield value

    def concatenate(parts: Iterable[Any]) -> str:
        texts = [str(part) for part in parts]
        _check_length(sum(map(len, texts)))
        return "".join(texts)

    def join(values: Iterable[Any], d: str = "", attribute: Any = None) -> str:
        if attribute is not None:
            values = [environment.getitem(value, attribute) for value in values]
        texts = [str(value) for value in values]
        _check_length(sum(map(len, texts)) + len(texts) * len(str(d)))
        return str(d).join(texts)

    def replace(text: Any, old: Any, new: Any, count: int = -1) -> str:
        _check_length(len(str(text)) + str(text).count(str(old)) * len(str(new)))
        return str(text).replace(str(old), str(new), count)

    return {_TURNS: turns, _CONCATENATE: concatenate, "join": join, "replace": replace}


def _is_constant(node: nodes.Node) -> bool:
    """Return whether a list literal holds constants only, so that no list can contain itself; or is a loop's target."""
    from jinja2 import nodes as syntax

    if isinstance(node, syntax.Tuple) and node.ctx == "store":  # for name, value in ...
        return True
    parts = [part.value if isinstance(part, syntax.Pair) else part for part in node.iter_child_nodes()]
    return all(isinstance(part, syntax.Const) for part in parts)


def _check_value(value: Any) -> Any:
    _check_length(len(value) if isinstance(value, Sized) else 0)
    if isinstance(value, int) and value.bit_length() > 256:
        raise BoundsError("it makes a number of more than 77 digits")
    return value


def _check_length(length: int) -> None:
    if length > LONGEST:
        raise BoundsError(f"it makes a text of more than {LONGEST:,} characters")
