"""Public names of a module, which are imported on their first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

PACKAGE = "pytest_fairness"
NAMESPACES = (
    PACKAGE,
    *(f"{PACKAGE}.{name}" for name in ("graders", "counterfactual", "tables", "extending", "search")),
)
"""Modules in which a name that another one does not have may stand."""


def lazy_names(module: str, origins: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a module whose names are defined in others.

    Args:
        module: The name of the module.
        origins: The names, separated by spaces, by the module of this package that defines them. A name that is
            another one there has that after an equals sign.

    Returns:
        A function that imports a name, or raises an error with the module where it stands or the names that may be
        meant, and one that lists the names.

    >>> load, names = lazy_names("example", {"core.items": "Prompt Item=ProbeItem"})
    >>> names(), load("Item").__name__
    (['Item', 'Prompt'], 'ProbeItem')
    """
    table = {
        name.partition("=")[0]: (f"{PACKAGE}.{origin}", name.rpartition("=")[2])
        for origin, names in origins.items()
        for name in names.split()
    }

    def load(name: str) -> Any:
        __tracebackhide__ = True
        if name not in table:
            raise _missing_name(module, name)
        origin, original = table[name]
        try:
            return getattr(import_module(origin), original)
        except AttributeError:  # a module of the package
            return import_module(f"{origin}.{original}")

    return load, lambda: sorted(name for name in table if name != "__version__")


def _missing_name(module: str, name: str) -> Exception:
    """Return the error for a name that a module does not have.

    Of ``from pytest_fairness import NAME``, Python replaces an AttributeError by one without a hint.
    """
    from opcode import opmap

    caller = sys._getframe(2)
    hint = "" if name.startswith("__") else _hint(module, name)
    if caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]:
        return ImportError(f"cannot import name {name!r} from {module!r}{hint}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def _hint(module: str, name: str) -> str:
    """Return where a name stands, or the names that may be meant, as the end of an error message."""
    from difflib import get_close_matches
    from importlib.util import find_spec

    homes: dict[str, str] = {}
    for namespace in (module, *NAMESPACES):
        if find_spec(namespace):  # searches for flips are a room, without which the gate works
            for public in import_module(namespace).__all__:
                homes.setdefault(public, namespace)
    if name in homes:
        return f": it is in {homes[name]}"
    by_lower = {public.lower(): public for public in homes}
    near = [by_lower[key] for key in get_close_matches(name.lower(), by_lower, n=2, cutoff=0.7)]
    shown = [public if homes[public] == module else f"{public} of {homes[public]}" for public in near]
    return f": did you mean {' or '.join(shown)}?" if shown else ""
