"""Every option with its ini twin, declared once, and the settings they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class _Option:
    name: str
    help: str
    metavar: str = ""
    type: type = str
    default: Any = None
    many: bool = False
    flag: bool = False

    @property
    def dest(self) -> str:
        return "fairness_" + self.name.replace("-", "_")


_OPTIONS = (
    _Option("model", "a model to test, as provider:name?parameter=value or an alias of pyproject.toml; repeatable",
            "NAME", many=True),
    _Option("judge", "the model that judges answers, for graders that ask one", "NAME"),
    _Option("repetitions", "ask each prompt this often, whatever its probe says", "N", int),
    _Option("sample", "measure at most N items of each probe, drawn with the seed", "N", int),
    _Option("seed", "seed of what is drawn: samples and simulations", "N", int, 0),
    _Option("concurrency", "requests under way at a time, for each model and process", "N", int, 32),
    _Option("store", "the file that keeps answers between runs", "PATH", str, ".fairness/store.sqlite"),
    _Option("offline", "answer from the store and from local models only; never open a connection", flag=True),
    _Option("data", "the data folder of a suite; repeatable", "SUITE=DIR", many=True),
    _Option("json", "write the results as JSON to this file", "PATH"),
    _Option("env-file", "read API keys from this file; the environment itself comes first", "PATH"),
)  # fmt: skip


def add_options(parser: pytest.Parser) -> None:
    """Declare each option as ``--fairness-NAME`` and as the ini key ``fairness_NAME``."""
    group = parser.getgroup("fairness", "fairness of language models")
    for option in _OPTIONS:
        described = f"{option.help} (ini: {option.dest})"
        flag = f"--fairness-{option.name}"
        if option.flag:
            group.addoption(flag, action="store_true", dest=option.dest, default=None, help=described)
        elif option.many:
            group.addoption(flag, action="append", dest=option.dest, metavar=option.metavar, help=described)
        else:
            if option.default is not None:
                described += f" (default: {option.default})"
            group.addoption(flag, dest=option.dest, metavar=option.metavar, type=option.type, help=described)
        if option.flag:
            parser.addini(option.dest, option.help, type="bool", default=False)
        elif option.many:
            parser.addini(option.dest, option.help, type="linelist", default=[])
        else:
            parser.addini(option.dest, option.help, type="string", default="")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose, on the command line or else in the ini file."""

    root: Path
    models: tuple[str, ...]
    judge: str | None
    repetitions: int | None
    sample: int | None
    seed: int
    concurrency: int
    store: Path
    offline: bool
    data: Mapping[str, Path]
    json: Path | None
    env_file: Path | None


def read_settings(config: pytest.Config) -> Settings:
    """The settings of this run.

    Raises `pytest.UsageError`, in one line, for a value that cannot be meant.
    """
    chosen = {option.name: _value(config, option) for option in _OPTIONS}
    for name in ("repetitions", "sample", "concurrency"):
        if chosen[name] is not None and chosen[name] < 1:
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]}: it must be at least 1")
    here = config.invocation_params.dir

    def path(name: str) -> Path | None:
        return here / Path(chosen[name]).expanduser() if chosen[name] else None

    return Settings(
        root=config.rootpath,
        models=tuple(dict.fromkeys(chosen["model"])),
        judge=chosen["judge"] or None,
        repetitions=chosen["repetitions"],
        sample=chosen["sample"],
        seed=chosen["seed"],
        concurrency=chosen["concurrency"],
        store=config.rootpath / Path(chosen["store"]).expanduser(),
        offline=chosen["offline"],
        data={name: here / folder for name, folder in map(_data_folder, chosen["data"])},
        json=path("json"),
        env_file=path("env-file"),
    )


def _value(config: pytest.Config, option: _Option) -> Any:
    given = config.getoption(option.dest)
    if given is not None:
        return given
    ini = config.getini(option.dest)
    if ini in ("", None):
        return option.default
    try:
        return option.type(ini) if not (option.many or option.flag) else ini
    except ValueError:
        raise pytest.UsageError(f"{option.dest} is {ini!r} in the ini file: it must be a whole number") from None


def _data_folder(given: str) -> tuple[str, Path]:
    suite, separator, folder = given.partition("=")
    if not (suite and separator and folder):
        raise pytest.UsageError(f"--fairness-data is {given!r}: write SUITE=DIR, as in bbq=data/bbq")
    return suite, Path(folder).expanduser()
