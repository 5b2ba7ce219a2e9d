"""Digests of a function's source, and of the project's code and constants that it uses."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from importlib.util import resolve_name
from operator import itemgetter
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from pytest_fairness.core.digests import canonical, digest

_INSTALLED = frozenset(("site-packages", "dist-packages"))
_PACKAGE = __name__.partition(".")[0]
_SUITES = f"{_PACKAGE}.suites."
"""The suites in an installed package: their code is a project's, though it is installed."""
_LONGEST_CHAIN = 10
"""The most modules through which a name is imported."""
_SKIPPED_NAMES = frozenset(("__builtins__", "pytestmark"))


def source_digest(values: Iterable[object]) -> str:
    """Return a digest of functions and classes, with the project's code and constants that they use.

    Code of the standard library, of installed packages and of this package is left out: the versions of a run name it.

    Args:
        values: Functions, classes, methods or objects with a class of the project.

    >>> source_digest([len])
    ''
    """
    parts: dict[int, str] = {}
    kept: list[object] = []
    pending = list(map(_plain, values))
    named = set(map(id, pending))
    while pending:
        value = _plain(pending.pop())
        if id(value) in parts or not _is_of_project(value, is_named=id(value) in named):
            continue
        kept.append(value)  # so that no other object gets its identity
        used = sorted(_used(value), key=itemgetter(0))
        constants = [text for name, member in used if (text := _constant(name, member, _globals_of(value)))]
        parts[id(value)] = "\n".join([_source(value), *constants])
        pending += [member for _, member in used]
    return digest("\n".join(sorted(parts.values())))[:16] if parts else ""


def held_parts(value: Any) -> list[Any]:
    """Return a value and the objects and functions that it holds, also in lists and mappings: graders in a grader.

    Objects of the standard library and of installed packages are left out, with all that they hold.

    >>> held_parts({"a": [len], "b": 3})
    []
    """
    parts: dict[int, Any] = {}
    seen: dict[int, Any] = {}
    pending = [value]
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part  # so that no other object gets its identity
        if isinstance(part, Mapping):
            pending += reversed([*part.values()])
        elif isinstance(part, list | tuple | set | frozenset):
            pending += reversed([*part])
        elif isinstance(part, FunctionType | MethodType | partial):
            parts[id(part)] = part
        elif not isinstance(part, type) and _is_held(type(part), is_named=part is value):
            parts[id(part)] = part
            names = [one.name for one in fields(part)] if is_dataclass(part) else sorted(getattr(part, "__dict__", ()))
            pending += [getattr(part, name, None) for name in reversed(names)]
    return list(parts.values())


def _is_held(kind: type, *, is_named: bool) -> bool:
    return kind.__module__.partition(".")[0] == _PACKAGE or _is_of_project(kind, is_named=is_named)


def _plain(value: Any) -> Any:
    """Return the function of a wrapper, a partial function or a method, and the class of an object."""
    while True:
        if isinstance(value, partial):
            value = value.func
        elif isinstance(value, MethodType | staticmethod | classmethod):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        elif isinstance(value, FunctionType | type | ModuleType) or value is None:
            return value
        else:
            value = type(value)


def _is_of_project(value: object, *, is_named: bool) -> bool:
    """Return whether the code of a value is digested: a named one may be installed, as a suite of a package is."""
    if not isinstance(value, FunctionType | type):
        return False
    name = value.__module__ or ""
    if name.startswith(_SUITES):
        return True
    if name.partition(".")[0] in (*sys.stdlib_module_names, _PACKAGE):
        return name == "__main__"
    if is_named:
        return True
    file = value.__code__.co_filename if isinstance(value, FunctionType) else _file_of(name)
    return _INSTALLED.isdisjoint(PurePath(file).parts)


def _file_of(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _source(value: Any) -> str:
    """Return the source without the marks of pytest, which do not change what it computes; its code without source."""
    try:
        lines = textwrap.dedent(inspect.getsource(value)).splitlines()
    except (OSError, TypeError):  # a function that `exec` has made
        return repr([part for code in _codes(value) for part in (code.co_code, code.co_names, code.co_consts)])
    start = next((index for index, line in enumerate(lines) if line.startswith(("def ", "class ", "async "))), 0)
    kept = _without_marks(lines[:start]) + lines[start:]
    return "\n".join(line.rstrip() for line in kept)


def _without_marks(lines: list[str]) -> list[str]:
    """Return the decorators of a function that are no marks of pytest; each may take several lines."""
    kept: list[str] = []
    is_mark = False
    for line in lines:
        if line.startswith("@"):
            is_mark = line.startswith("@pytest.mark.")
        if not is_mark:
            kept.append(line)
    return kept


def _codes(value: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or of the methods of a class, with all nested code."""
    if isinstance(value, type):
        for member in vars(value).values():
            function = _plain(member)
            if isinstance(function, FunctionType):
                yield from _codes(function)
        return
    pending = [value.__code__]
    while pending:
        code = pending.pop()
        yield code
        pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _used(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function or class uses from its module, its closure and modules of the project."""
    members: dict[str, Any] = {}
    if isinstance(value, type):
        for base in value.__mro__[1:]:
            members[f"base {base.__qualname__}"] = base
        for name, member in vars(value).items():
            if not name.startswith("__"):
                members[f"{value.__qualname__}.{name}"] = member
    else:
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        members |= {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        members |= {f"default {index}": default for index, default in enumerate(defaults)}
    for code in _codes(value):
        for name in code.co_names:
            members |= _globals_named(name, _globals_of(value), code.co_names)
    yield from ((name, member) for name, member in members.items() if name not in _SKIPPED_NAMES)


def _globals_named(name: str, values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what a name of a module is; of a module of the project, the members with other names of the code."""
    if name not in values:
        return {}
    value = values[name]
    if not isinstance(value, ModuleType):
        return {name: value}
    file = getattr(value, "__file__", None) or ""
    is_own = value.__name__.partition(".")[0] not in (*sys.stdlib_module_names, _PACKAGE)
    if not (value.__name__.startswith(_SUITES) or (is_own and file and _INSTALLED.isdisjoint(PurePath(file).parts))):
        return {}
    return {f"{name}.{member}": vars(value)[member] for member in names if member in vars(value)}


def _globals_of(value: Any) -> Mapping[str, Any]:
    return value.__globals__ if isinstance(value, FunctionType) else vars(sys.modules.get(value.__module__, sys))


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _constant(name: str, value: object, values: Mapping[str, Any]) -> str:
    """Return a constant as text; empty for code, and for a value that has no text of its own.

    A list, set or mapping may be a cache, which a run fills: its text is that of its assignment.
    """
    if isinstance(value, FunctionType | type | ModuleType | MethodType | staticmethod | classmethod | property):
        return ""
    if isinstance(value, list | dict | set):
        module, _, member = name.rpartition(".")
        named = getattr(values.get(module), "__name__", "") if module else str(values.get("__name__", ""))
        return f"{name} = {_assignment(named, member)}"
    try:
        return f"{name} = {canonical(value)}"
    except (TypeError, ValueError, AttributeError, RecursionError):
        return ""


def _assignment(module: str, name: str) -> str:
    """Return the source of what a module assigns to a name, there or where it imports it from; empty if nowhere."""
    for _ in range(_LONGEST_CHAIN):
        assigned, imported = _statements(module)
        if name in assigned:
            return assigned[name]
        if name not in imported:
            return ""
        module, name = imported[name]
    return ""


@lru_cache(maxsize=256)
def _statements(module: str) -> tuple[Mapping[str, str], Mapping[str, tuple[str, str]]]:
    """Return the assignments of a module by name, and for each imported name its module and its name there."""
    loaded = sys.modules.get(module)
    try:
        text = inspect.getsource(loaded) if loaded is not None else ""
    except (OSError, TypeError):
        text = ""
    assigned: dict[str, str] = {}
    imported: dict[str, tuple[str, str]] = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ImportFrom):
            source = resolve_name("." * statement.level + (statement.module or ""), _package(loaded))
            imported |= {alias.asname or alias.name: (source, alias.name) for alias in statement.names}
        for target in _targets(statement):
            if isinstance(target, ast.Name):
                assigned[target.id] = assigned.get(target.id, "") + (ast.get_source_segment(text, statement) or "")
    return assigned, imported


def _package(module: ModuleType | None) -> str:
    return getattr(module, "__package__", None) or ""


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign | ast.AugAssign) else []
