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

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import age
from pytest_fairness.plugin.config.profiles import CONCLUSIONS
from pytest_fairness.plugin.config.shards import Shard, read_ci_run_id
from pytest_fairness.store.location import LATEST, StoreLocation, parse_location

if TYPE_CHECKING:
    from pytest_fairness.engine.batch_mode import BatchMode

Check = Callable[[Any], str]
"""A function that returns the rule that a number breaks; empty if it breaks none."""
DEFAULT_STORE = ".fairness/store.sqlite"
DEFAULT_REPORT = "reports/fairness.html"
MOST_REPETITIONS = 10_000
"""The most repetitions of a prompt."""
_GREATEST = 1e12
"""The largest value of an option with a decimal number."""
DEFAULT_ASSUMPTIONS = {"rate": 0.5, "icc": 0.2, "output": 100.0}
_RANGES = {"rate": (0.01, 0.99), "icc": (0.0, 0.99), "output": (1, 1_000_000)}
"""The range of each assumption."""


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


class DataFolderSettings(dict[str, Path | str]):
    """The data folder of each suite, and the suites that have requested theirs."""

    def __init__(self, folders: Mapping[str, Path | str]) -> None:
        super().__init__(folders)
        self.looked_up: set[str] = set()


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


def comma_separated(text: str, _: Path) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return names_in(text)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas; for hooks that run before the folders are known."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def path(text: str, base: Path) -> Path:
    """Return a path, relative to the folder of whoever wrote it."""
    return base / Path(text).expanduser()


def report_path(text: str, base: Path) -> Path | None:
    """Return the path of the HTML report; None for ``none``."""
    return None if text == "none" else path(text, base)


def store_location(text: str, base: Path) -> StoreLocation:
    """Return the location of a store, a path or a URL."""
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
        return Path(os.path.relpath(base / name, root)).as_posix()

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
    run = read_ci_run_id() if text == "ci" else text
    if run is None:
        raise FairnessError("no CI that names its run was found: name the run, by --fairness-run ID")
    if not re.fullmatch(r"[\w.-]{1,64}", run, re.ASCII) or run == LATEST:
        raise OptionValueError(run, "write up to 64 letters, digits, . _ or -")
    return run


def shard(text: str, _: Path) -> Shard:
    """Return a shard from ``I/N``."""
    try:
        return Shard.parse(text)
    except ValueError as error:
        raise OptionValueError(text, str(error)) from None


def assumptions(text: str, _: Path) -> dict[str, float]:
    """Return the assumptions in ``NAME=NUMBER,...``, with the default of every other one."""
    numbers: dict[str, float] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        name, _sign, number = part.partition("=")
        low, high = _RANGES.get(name, (0, 0))
        try:
            numbers[name] = float(number)
        except ValueError:
            low = high = 0
        if not low <= numbers.get(name, -1) <= high:
            ranges = ", ".join(f"{name}={low:g} to {high:g}" for name, (low, high) in _RANGES.items())
            raise OptionValueError(part, f"it takes {ranges}", verb="holds")
    return DEFAULT_ASSUMPTIONS | numbers


def profile(text: str, _: Path) -> str:
    """Return the name of a profile."""
    if text not in CONCLUSIONS:
        raise OptionValueError(text, did_you_mean(text, CONCLUSIONS))
    return text


def prices(texts: Sequence[str], _: Path) -> dict[str, tuple[float, float]]:
    """Return the prices in ``[NAME=]IN/OUT``, by the name of the model, which may be empty."""
    by_model = {}
    for text in texts:
        model, _sign, figures = text.rpartition("=")  # parameters of a model contain equals signs of their own
        try:
            numbers = [float(part) for part in figures.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) != 2 or not all(0 <= number < math.inf for number in numbers):
            raise OptionValueError(
                text, "write IN/OUT in USD per million tokens, as in 1.25/10, or NAME=IN/OUT for one model"
            )
        by_model[model] = numbers[0], numbers[1]
    return by_model


def attribute_values(texts: Sequence[str], _: Path) -> dict[str, tuple[str, ...]]:
    """Return the values in ``NAME=VALUE``, by the name of the attribute."""
    values: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not (name and separator and value):
            raise OptionValueError(text, "write NAME=VALUE, as in context=ambig")
        values[name] = (*values.get(name, ()), value)
    return values


def data_folders(texts: Sequence[str], base: Path) -> DataFolderSettings:
    """Return the folder in each ``SUITE=DIR``, by suite; the text itself for ``hub`` and ``hub@COMMIT``."""
    by_suite: dict[str, Path | str] = {}
    for text in texts:
        suite, separator, folder = text.partition("=")
        if not (suite and separator and folder):
            raise OptionValueError(text, "write SUITE=DIR, as in bbq=data/bbq, or SUITE=hub")
        by_suite[suite] = folder if re.fullmatch("hub(@.*)?", folder) else path(folder, base)
    return DataFolderSettings(by_suite)


# Formatters: values of settings as text for a command, which is called in the folder if one is given.


def age_texts(seconds: float, _: Path | None) -> list[str]:
    """Return an age in days."""
    return [f"{seconds / age('1d'):g}d"]


def attribute_texts(values: Mapping[str, Sequence[str]], _: Path | None) -> list[str]:
    """Return ``NAME=VALUE`` for every value of every attribute."""
    return [f"{name}={value}" for name in values for value in values[name]]


def store_texts(store: StoreLocation, folder: Path | None) -> list[str]:
    """Return the path or URL of a store, without its password."""
    return [relative_to(store, folder) if isinstance(store, Path) else str(store)]


def folder_texts(folders: Mapping[str, Path | str], folder: Path | None) -> list[str]:
    """Return ``SUITE=DIR`` for every suite."""
    return [f"{suite}={relative_to(path, folder)}" for suite, path in folders.items()]


def comma_text(names: Sequence[str], _: Path | None) -> list[str]:
    """Return names as a list with commas."""
    return [",".join(names)]


def relative_to(path: Path | str, folder: Path | None) -> str:
    """Return a path relative to a folder if it is inside; a text unchanged."""
    if isinstance(path, str):
        return path
    return path.relative_to(folder).as_posix() if folder and path.is_relative_to(folder) else path.as_posix()
