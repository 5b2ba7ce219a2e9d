"""Keys of this plugin in the ini file: typed values, and their lines."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.compat import ini_values
from pytest_fairness.plugin.config.option_values import OptionValueError, read_number
from pytest_fairness.plugin.config.options import OPTIONS, Option, way_out

_PREFIX, _HYPHENATED = "fairness_", "fairness-"
_FLAGS = {**dict.fromkeys(("true", "yes", "on", "1"), True), **dict.fromkeys(("false", "no", "off", "0"), False)}
_KINDS = {int: "a whole number", float: "a number", str: "a text"}
_TYPED = re.compile(r"--fairness-([a-z]+(?:-[a-z]+)*)(?:=(.*))?", re.DOTALL)
_OPTION = re.compile(r"--fairness-([a-z]+(?:-[a-z]+)*)")


_ADDOPTS = "fairness_addopts"


def options_of_addopts(config: pytest.Config) -> dict[str, list[str]]:
    """Return the texts that ``addopts`` of the ini file, and nobody else, gives options, by the names of the options.

    pytest puts them before those of the command line, where relative paths have another folder. Workers of xdist do not
    know what was typed: see `pass_to_worker`.
    """
    worker_input: dict[str, Any] = getattr(config, "workerinput", {})
    if _ADDOPTS in worker_input:
        texts: dict[str, list[str]] = worker_input[_ADDOPTS]
        return texts
    arguments = [str(argument) for argument in config.invocation_params.args]
    if any("addopts=" in argument for argument in arguments):  # `-o addopts=...` is typed
        return {}
    typed = _texts_of([*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *arguments])
    return {
        name: own
        for name, texts in _texts_of(config.getini("addopts")).items()
        if (own := [text for text in texts if text not in typed.get(name, ())])
    }


def pass_to_worker(config: pytest.Config, worker_input: dict[str, Any]) -> None:
    """Tell a worker of xdist which options are of ``addopts``."""
    worker_input[_ADDOPTS] = options_of_addopts(config)


def _texts_of(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts of options of this plugin in a command line.

    >>> _texts_of(["-v", "--fairness-json=a.json", "--fairness-model", "http:a.toml", "--fairness-model=http:b.toml"])
    {'json': ['a.json'], 'model': ['http:a.toml', 'http:b.toml']}
    """
    texts: dict[str, list[str]] = {}
    for argument, following in zip_longest(arguments, arguments[1:], fillvalue=""):
        if match := _TYPED.fullmatch(argument):
            texts.setdefault(match[1], []).append(following if match[2] is None else match[2])
    return texts


class IniFile:
    """Keys of this plugin in the ini file of a run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._values = {
            key: value for key, value in ini_values(config).items() if key.startswith((_PREFIX, "fairness-"))
        }
        self._dests = {
            option.name: option.dest
            for option in OPTIONS
            if option.dest in self._values and config.getoption(option.dest) is None
        }
        """Keys by the names of options, for options whose values come from the file."""

    def value(self, option: Option) -> Any:
        """Return the value of an option, typed or parsed from a text; None if the file has none.

        Raises:
            UsageError: The value has another type.
        """
        raw = self._values.get(option.dest)
        if raw is None or raw == "":
            return None
        try:
            return (
                _parse_lines(raw)
                if option.many
                else _parse_flag(raw)
                if option.flag
                else _parse_scalar(option.type, raw)
            )
        except OptionValueError as error:
            raise pytest.UsageError(f"{self.where(option.dest)} {error}") from None
        except (TypeError, ValueError):
            kind = "texts, one a line or in a list" if option.many else _KINDS[option.type]
            kind = "true or false" if option.flag else kind
            raise pytest.UsageError(f"{self.where(option.dest)} is {raw!r}: it must be {kind}") from None

    def where(self, key: str) -> str:
        """Return file, line and name of a key: ``pytest.ini:3: fairness_sample``."""
        path = self._config.inipath
        try:
            lines = path.read_text(encoding="utf-8").splitlines() if path else []
        except (OSError, UnicodeDecodeError):
            lines = []
        pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=:]""")
        line = next((number for number, text in enumerate(lines, 1) if pattern.match(text)), None)
        return f"{path.name}:{line}: {key}" if path and line else f"-o {key}"

    def check_keys(self) -> None:
        """Check that a plugin has declared every key.

        Raises:
            UsageError: A key is unknown.
        """
        for key in sorted(self._values.keys() - {option.dest for option in OPTIONS}):
            if key.startswith(_HYPHENATED):
                raise pytest.UsageError(f"{self.where(key)}: a key has underscores: write {key.replace('-', '_')}")
            if replacement := way_out(key):
                raise pytest.UsageError(f"{self.where(key)} is gone: {replacement}")
            try:
                self._config.getini(key)
            except ValueError:
                raise pytest.UsageError(f"{self.where(key)}: there is no such option; {_nearest_hint(key)}") from None

    @contextmanager
    def locating_errors(self, name: str = "") -> Iterator[None]:
        """Add file and line to errors about an option of the file: ``name``, or the option in the message."""
        try:
            yield
        except (FairnessError, pytest.UsageError) as error:
            raise type(error)(self._add_location(str(error), name)) from None

    def _add_location(self, text: str, name: str) -> str:
        if name in self._dests:
            return f"{self.where(self._dests[name])}: {text}"
        dest = next((self._dests[match[1]] for match in _OPTION.finditer(text) if match[1] in self._dests), None)
        if name or dest is None:
            return text
        return self.where(dest).removesuffix(dest) + _OPTION.sub(
            lambda match: self._dests.get(match[1], match[0]), text
        )


def _nearest_hint(key: str) -> str:
    """Return a hint at the option nearest to a key."""
    names = {option.dest.removeprefix(_PREFIX): option.dest for option in OPTIONS}
    close = difflib.get_close_matches(key.removeprefix(_PREFIX), names, n=1)
    return f"did you mean {names[close[0]]!r}?" if close else "docs/options.md names all"


def _parse_lines(raw: object) -> list[str]:
    texts = raw.split("\n") if isinstance(raw, str) else raw
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError
    return [text.strip() for text in texts if text.strip()]


def _parse_flag(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if not isinstance(raw, str) or raw.strip().lower() not in _FLAGS:
        raise TypeError
    return _FLAGS[raw.strip().lower()]


def _parse_scalar(kind: type, raw: object) -> Any:
    numbers = (int, float) if kind is float else (int,) if kind is int else ()
    if isinstance(raw, bool) or not isinstance(raw, (str, *numbers)):
        raise TypeError
    if kind is not str and isinstance(raw, str):
        return read_number(kind, raw)
    return kind(raw)
