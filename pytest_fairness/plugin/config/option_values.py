"""Parsers and checks of option values, from the text of a user to the value of a setting.

A parser takes the value and the folder of whoever wrote it, to which relative paths refer: where the command is typed,
or the folder of the ini file. It raises `OptionValueError` with a rule. Every pytest run loads this module, so it
imports next to nothing.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from pytest_fairness.engine.batch_mode import BatchMode
    from pytest_fairness.plugin.config.shards import Shard
    from pytest_fairness.store.location import StoreLocation

Check = Callable[[Any], str]
"""A function that returns the rule that a number breaks; empty if it breaks none."""
DEFAULT_STORE = ".fairness/store.sqlite"
DEFAULT_REPORT = "reports/fairness.html"
MOST_REPETITIONS = 10_000
"""The most repetitions of a prompt."""
_GREATEST = 1e12
"""The largest value of an option with a decimal number."""


class RunFolders(NamedTuple):
    """The folders of a run, to which relative paths refer: of the command line, and of the ini file and defaults."""

    invocation: Path
    """The working directory of pytest."""
    home: Path
    """The folder of the ini file, else the working directory; it has the default store and report."""


class OptionValueError(ValueError):
    """An invalid value of an option, with the rule that it breaks."""

    def __init__(self, value: str, rule: str, *, verb: str = "is") -> None:
        super().__init__(f"{verb} {value!r}: {rule}")


# Checks.


def whole_number(least: int, most: int | None = None) -> Check:
    """Return a check that a whole number is in a range."""

    def check(value: int) -> str:
        if value < least:
            return f"is {value:,}: it must be at least {least:,}"
        return f"is {value:,}: it must be at most {most:,}" if most is not None and value > most else ""

    return check


def number_above(least: float) -> Check:
    """Return a check that a number is finite and above a limit."""

    def check(value: float) -> str:
        is_valid = least < value <= _GREATEST
        return "" if is_valid else f"is {value:g}: it must be above {least:g} and at most {_GREATEST:g}"

    return check


# Parsers.

_NUMERAL = re.compile(r"\$?([+-]?(?:\d{1,3}(?:,\d{3})+|[\d_]*)(?:\.\d+)?(?:e[+-]?\d+)?)", re.IGNORECASE)
"""A number as people write it: ``1000``, ``1,000``, ``1e3``, ``$5``."""


def read_number(kind: type, text: str) -> float:
    """Return the number in a text.

    >>> read_number(int, "1e3"), read_number(float, "$2.50"), read_number(int, "12,000")
    (1000, 2.5, 12000)

    Raises:
        OptionValueError: It is none, or no whole one.
    """
    match = _NUMERAL.fullmatch(text.strip())
    try:
        number = float(match[1].replace(",", "")) if match else float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number) or (kind is int and not number.is_integer()):
        share = "; a share is not read" if text.strip().endswith("%") else ""
        raise OptionValueError(text, f"it must be a {'whole ' if kind is int else ''}number{share}")
    if kind is float:
        return number
    try:
        return int(text)  # exact, where it is written out
    except ValueError:
        return int(number)


def unique(values: Sequence[str], _: Path) -> tuple[str, ...]:
    """Return the different values, in order."""
    return tuple(dict.fromkeys(values))


def path(text: str, base: Path) -> Path:
    """Return a path, relative to the folder of whoever wrote it."""
    return base / Path(text).expanduser()


def report_path(text: str, base: Path) -> Path | None:
    """Return the path of the HTML report; None for ``none``."""
    return None if text == "none" else path(text, base)


def store_location(text: str, base: Path) -> StoreLocation:
    """Return the location of a store, a path or a URL."""
    from pytest_fairness.store.location import parse_location

    return parse_location(text, base)


def from_root(model: str, base: Path, root: Path) -> str:
    """Return the name of a model whose files are named relative to a folder, with their names relative to the rootdir.

    There its name and its stored answers are the same wherever it was typed.

    >>> from_root("http:bot.toml?system=you.txt", Path("/project/bots"), Path("/project"))
    'http:bots/bot.toml?system=bots/you.txt'
    >>> from_root("openai:gpt-5-mini", Path("/project/bots"), Path("/project"))
    'openai:gpt-5-mini'
    """

    def rooted(name: str) -> str:
        if name.startswith("~") or Path(name).is_absolute():
            return name
        return path_from(base / name, root)

    if base == root:
        return model
    head, mark, parameters = model.partition("?")
    provider, _, name = head.partition(":")
    is_file = provider == "replay" or (provider == "http" and name.endswith(".toml"))
    if name and (is_file or (provider == "transformers" and (base / name).is_dir())):
        head = f"{provider}:{rooted(name)}"
    parameters = re.sub(r"(?<![^&])system=([^&]+)", lambda match: f"system={rooted(match[1])}", parameters)
    return f"{head}{mark}{parameters}"


def max_age(text: str, _: Path) -> float:
    """Return the seconds of an age such as ``30d``."""
    from pytest_fairness.core.formatting import age

    try:
        return age(text)
    except ValueError as error:
        raise OptionValueError(text, str(error)) from None


def accepted_outcome(text: str, _: Path) -> str:
    """Return the outcome of a test whose verdict was accepted: ``pass`` or ``fail``."""
    if text not in ("pass", "fail"):
        raise OptionValueError(text, "write pass or fail")
    return text


def batch_mode(text: str, _: Path) -> BatchMode:
    """Return a batch mode."""
    if text not in ("submit", "wait"):
        raise OptionValueError(text, "write submit or wait")
    return cast("BatchMode", text)


def ray_address(text: str, _: Path) -> str:
    """Return the address in ``ray[:ADDRESS]``; ``local`` without one.

    >>> folders = Path()
    >>> ray_address("ray", folders), ray_address("ray:host:6379", folders)
    ('local', 'host:6379')
    """
    if text == "ray":
        return "local"
    kind, _colon, address = text.partition(":")
    if kind != "ray" or not (address == "auto" or re.fullmatch(r"[^\s/]+:\d+", address)):
        raise OptionValueError(text, "write ray, ray:auto or ray:HOST:PORT")
    return address


def run_id(text: str, _: Path) -> str:
    """Return the id of a run; for ``ci`` that of the CI pipeline."""
    from pytest_fairness.core.errors import FairnessError
    from pytest_fairness.plugin.config.shards import read_ci_run_id
    from pytest_fairness.store.location import LATEST

    run = read_ci_run_id() if text == "ci" else text
    if run is None:
        raise FairnessError("no CI that names its run was found: name the run, by --fairness-run ID")
    if not re.fullmatch(r"[\w.-]{1,64}", run, re.ASCII) or run == LATEST:
        raise OptionValueError(run, "write up to 64 letters, digits, . _ or -")
    return run


def shard(text: str, _: Path) -> Shard:
    """Return a shard from ``I/N``."""
    from pytest_fairness.plugin.config.shards import Shard

    try:
        return Shard.parse(text)
    except ValueError as error:
        raise OptionValueError(text, str(error)) from None


def profile(text: str, _: Path) -> str:
    """Return the name of a profile."""
    from pytest_fairness.core.errors import did_you_mean
    from pytest_fairness.plugin.config.profiles import CONCLUSIONS

    if text not in CONCLUSIONS:
        raise OptionValueError(text, did_you_mean(text, CONCLUSIONS))
    return text


def attribute_values(texts: Sequence[str], _: Path) -> dict[str, tuple[str, ...]]:
    """Return the values in ``NAME=VALUE``, by the name of the attribute."""
    values: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not (name and separator and value):
            raise OptionValueError(text, "write NAME=VALUE, as in context=ambig")
        values[name] = (*values.get(name, ()), value)
    return values


# Formatters: values of settings as text for a command, which is called in the folder if one is given.


def age_texts(seconds: float, _: Path | None) -> list[str]:
    """Return an age in days."""
    from pytest_fairness.core.formatting import age

    return [f"{seconds / age('1d'):g}d"]


def path_from(path: Path, folder: Path) -> str:
    """Return a path relative to a folder, also to one beside it; whole if it is on another drive of Windows.

    >>> path_from(Path("/project/suites/hiring"), Path("/project/bots"))
    '../suites/hiring'
    """
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return path.as_posix()


def attribute_texts(values: Mapping[str, Sequence[str]], _: Path | None) -> list[str]:
    """Return ``NAME=VALUE`` for every value of every attribute."""
    return [f"{name}={value}" for name in values for value in values[name]]


def store_texts(store: StoreLocation, folder: Path | None) -> list[str]:
    """Return the path or URL of a store, without its password."""
    return [relative_to(store, folder) if isinstance(store, Path) else str(store)]


def relative_to(path: Path | str, folder: Path | None) -> str:
    """Return a path relative to a folder if it is inside; a text unchanged."""
    if isinstance(path, str):
        return path
    return path.relative_to(folder).as_posix() if folder and path.is_relative_to(folder) else path.as_posix()
