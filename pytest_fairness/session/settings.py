"""What the user chose, on the command line or in the ini file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.session.options import OPTIONS, Option


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose, on the command line or else in the ini file."""

    root: Path
    models: tuple[str, ...]
    judge: str | None
    repetitions: int | None
    resolve: bool
    looks: int
    fresh: bool
    sample: int | None
    seed: int
    concurrency: int
    store: Path
    offline: bool
    data: Mapping[str, Path | None]
    """The folder named for a suite; None for ``SUITE=hub``."""
    json: Path | None
    env_file: Path | None


def read_settings(config: pytest.Config) -> Settings:
    """The settings of this run.

    Raises `pytest.UsageError`, in one line, for a value that cannot be meant.
    """
    chosen = {option.name: _value(config, option) for option in OPTIONS}
    for name in ("repetitions", "sample", "concurrency"):
        if chosen[name] is not None and chosen[name] < 1:
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]}: it must be at least 1")
    if not 2 <= chosen["looks"] <= 20:
        raise pytest.UsageError(f"--fairness-looks is {chosen['looks']}: it must be from 2 to 20")
    if chosen["fresh"] and chosen["offline"]:
        raise pytest.UsageError("--fairness-fresh asks everything anew and --fairness-offline asks nothing: drop one")
    here = config.invocation_params.dir
    if chosen["json"] and (here / chosen["json"]).is_dir():
        raise pytest.UsageError(f"--fairness-json {chosen['json']} is a folder: name a file")

    def path(name: str) -> Path | None:
        return here / Path(chosen[name]).expanduser() if chosen[name] else None

    return Settings(
        root=config.rootpath,
        models=tuple(dict.fromkeys(chosen["model"])),
        judge=chosen["judge"] or None,
        repetitions=chosen["repetitions"],
        resolve=chosen["resolve"],
        looks=chosen["looks"],
        fresh=chosen["fresh"],
        sample=chosen["sample"],
        seed=chosen["seed"],
        concurrency=chosen["concurrency"],
        store=config.rootpath / Path(chosen["store"]).expanduser(),
        offline=chosen["offline"],
        data={name: folder and here / folder for name, folder in map(_data_folder, chosen["data"])},
        json=path("json"),
        env_file=path("env-file"),
    )


def _value(config: pytest.Config, option: Option) -> Any:
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


def _data_folder(given: str) -> tuple[str, Path | None]:
    suite, separator, folder = given.partition("=")
    if not (suite and separator and folder):
        raise pytest.UsageError(f"--fairness-data is {given!r}: write SUITE=DIR, as in bbq=data/bbq, or SUITE=hub")
    return suite, None if folder == "hub" else Path(folder).expanduser()
