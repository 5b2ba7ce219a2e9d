"""``pytest-fairness models``: the providers of models, and whether each can be used here."""

from __future__ import annotations

import argparse
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.core import event_loops
from pytest_fairness.core.errors import FairnessError, ModelError
from pytest_fairness.core.extensions import MODELS
from pytest_fairness.core.formatting import align_columns, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.http_model import HostedModel

_SECONDS = 5.0
"""Seconds for which `--check` waits for a server."""
_SERVICE = "http:"
_WIDTH = 80
"""The most characters of a line, except for addresses and names of models."""
_UNBROKEN: Any = {"break_long_words": False, "break_on_hyphens": False}
_LONGEST_NAME = 32
"""The most characters of an alias, or of a service, in a column."""
_SHOWN = 3
"""The most names of models that are shown."""


def add(commands: Commands) -> None:
    """Declare the command."""
    models = add_command(
        commands,
        "models",
        "list the providers of models, and which can be used here",
        "List every provider that a model's name can begin with: whether what it needs is installed, whether its key "
        "is set, and the aliases of pyproject.toml in this folder. Shows no key.",
    )
    models.add_argument(
        "services", nargs="*", metavar="http:FILE.toml", help="services to list beside those of pyproject.toml"
    )
    models.add_argument(
        "--check", action="store_true", help="ask each configured server for its list of models, and reach each service"
    )
    models.add_argument("--env-file", type=Path, metavar="PATH", help="file with further environment variables")
    models.set_defaults(run=_models)


def _models(options: argparse.Namespace) -> None:
    from pytest_fairness.models.aliases import read_aliases
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.env_file import read_environment

    environment = read_environment(options.env_file)
    rows = [_row(name, environment, is_checked=options.check) for name in MODELS.names()]
    _print_providers([("provider", "installed", "key", "server"), *rows])
    aliases = read_aliases(Path.cwd())
    if aliases:
        print("\naliases of pyproject.toml:")
        _print_named([(f"  {alias}", name) for alias, name in aliases.items()])
    services = [*options.services, *_services_of(Path.cwd(), aliases)]
    if services:
        print("\nservices:")
        context = ModelContext(environment=environment)
        rows = [_service_row(name, aliases, context, is_checked=options.check) for name in dict.fromkeys(services)]
        _print_named(rows)


def _print_providers(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, with the last cell on lines of its own: addresses and advice are long."""
    indent = " " * (max(len(name) for name, *_ in rows) + 2)
    lines = align_columns([cells for *cells, _ in rows])
    for line, (*_, server) in zip(lines, rows, strict=True):
        print(line)
        if server != "-":
            _print_wrapped(server, indent)


def _print_wrapped(text: str, indent: str) -> None:
    print(textwrap.fill(text, _WIDTH, **_UNBROKEN, initial_indent=indent, subsequent_indent=indent))


def _print_named(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns; a name longer than most stands above its row, the state of a wide row of three below."""
    long = [name if len(name) > _LONGEST_NAME else "" for name, *_ in rows]
    lines = align_columns([("" if above else name, *cells) for above, (name, *cells) in zip(long, rows, strict=True)])
    for above, line, (_, *cells) in zip(long, lines, rows, strict=True):
        is_wide = len(line) > _WIDTH and len(cells) > 1
        print(*filter(None, (above, line.removesuffix(cells[-1]).rstrip() if is_wide else line)), sep="\n")
        if is_wide:
            _print_wrapped(cells[-1], "    ")


def _row(name: str, environment: Mapping[str, str], *, is_checked: bool) -> tuple[str, ...]:
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.names import ModelName

    try:
        provider = MODELS.load_callable(name)
    except FairnessError as error:
        return name, "broken", "", str(error)
    missing = [module for module in getattr(provider, "requires", ()) if find_spec(module) is None]
    installed = f"no: {', '.join(missing)}" if missing else "yes"
    variable = getattr(provider, "key_variable", "")
    if not variable:
        return name, installed, "-", "-"
    key = environment.get(variable, "").strip()
    needs_key = getattr(provider, "needs_key", True)
    state = variable if key else f"{variable} is not set" if needs_key else "not needed"
    try:
        model = provider(ModelName(name, "NAME"), ModelContext(environment=environment))
    except FairnessError as error:  # no address
        return name, installed, state, str(error).partition(": ")[2]
    if is_checked and not missing and (key or not needs_key):
        return name, installed, state, f"{model.base_url}: {_reached(model)}"
    return name, installed, state, str(getattr(model, "base_url", "-"))


def _services_of(root: Path, aliases: Mapping[str, str]) -> list[str]:
    """Return the names of the services in ``pyproject.toml``: of tables, and of aliases."""
    from pytest_fairness.core.pyproject import Pyproject

    tables = Pyproject.read(root).table("services", way_out="write [tool.pytest-fairness.services.NAME]")
    return [
        *(f"{_SERVICE}{name}" for name in tables),
        *(name for name in aliases.values() if name.startswith(_SERVICE)),
    ]


def _service_row(
    name: str, aliases: Mapping[str, str], context: ModelContext, *, is_checked: bool
) -> tuple[str, str, str]:
    """Return the name, the address and the state of a service."""
    from pytest_fairness.models.http_service import HttpService
    from pytest_fairness.models.registry import resolve

    try:
        service = resolve(name, aliases=aliases, context=context)
        if not isinstance(service, HttpService):
            return f"  {name}", "-", f"is no service: write {_SERVICE}FILE.toml"
        service.preflight()
        state = event_loops.run(service.reach(_SECONDS)) if is_checked else "ready"
    except FairnessError as error:
        return f"  {name}", "-", str(error).removeprefix("model ").removeprefix(f"{name}: ")
    return f"  {name}", service.base_url, state


def _reached(model: HostedModel) -> str:
    """Return the answer of a server to a request for its models, in words."""
    try:
        names = event_loops.run(model.list_models(_SECONDS))
    except ModelError as error:
        return str(error).removeprefix(f"{model.name}: {model.base_url} ")
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"reachable, {counted(len(names), 'model')}" + (f" ({shown})" if names else "")
