"""Calls of pytest: the arguments of this process, and calls by the command line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

_LOADED_ALREADY = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"
_SETUP = {"-c": "inifilename", "--rootdir": "rootdir", "--import-mode": "importmode", "--confcutdir": "confcutdir"}
"""Options that decide which tests exist, with the names of their values."""


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one call of pytest that select tests."""

    tests: tuple[str, ...]
    """Files, folders or packages as typed, and the options that pytest needs to collect them."""
    selection: tuple[str, ...]
    """The options that select among those tests."""
    folder: str | None
    """The working directory, relative to the rootdir; None outside of it."""

    @classmethod
    def from_config(cls, config: pytest.Config) -> Call:
        """Return the call of a configuration."""
        folder, root = config.invocation_params.dir, config.rootpath
        typed = config.args if config.args_source is config.ArgsSource.ARGS else []
        packages = ["--pyargs"] if config.option.pyargs else []
        tests = (*packages, *map(str, typed), *_setup_options(config))
        return cls(tests, tuple(_selection_options(config)), _relative_folder(root, folder))


def run_pytest(*arguments: str, plugins: Sequence[object] = ()) -> int:
    """Run pytest in this process, with further plugins, and return its exit code."""
    return int(pytest.main(["-W", _LOADED_ALREADY, *arguments], plugins=plugins))


def _relative_folder(root: Path, folder: Path) -> str | None:
    if not folder.is_relative_to(root):
        return None
    relative = folder.relative_to(root).as_posix()
    return "" if relative == "." else relative


def _setup_options(config: pytest.Config) -> Iterator[str]:
    arguments = [os.fspath(argument) for argument in config.invocation_params.args]
    for option, name in _SETUP.items():
        value = getattr(config.option, name, None)
        if value and any(text.startswith(option) for text in arguments):
            yield f"{option}={value}" if option.startswith("--") else f"{option}{value}"
    for plugin in getattr(config.option, "plugins", None) or ():
        if isinstance(plugin, str) and not plugin.startswith("no:") and f"-p{plugin}" in "".join(arguments):
            yield f"-p{plugin}"


def _selection_options(config: pytest.Config) -> Iterator[str]:
    for option, name in (("-k", "keyword"), ("-m", "markexpr")):
        if text := getattr(config.option, name, ""):
            yield from (option, text)
    yield from (f"--deselect={test}" for test in getattr(config.option, "deselect", None) or ())
