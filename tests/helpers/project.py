"""A small project of a user, in a folder of its own, and what running pytest in it shows."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.pytester import RecordedHookCall

from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.project_sources import PROBE, application, suite


@dataclass(frozen=True)
class Mode:
    """A way to run pytest."""

    id: str
    args: tuple[str, ...]
    distributed: bool = False


NO_XDIST = Mode("no-xdist", ("-p", "no:xdist"))
N0 = Mode("n0", ("-n0",))
N2 = Mode("n2", ("-n2",), distributed=True)

every_mode = pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
"""Runs a test in one process and with two workers; without it, only the first. ``-n0`` has `in_one_process`."""

with_workers = pytest.mark.parametrize("mode", [N2, NO_XDIST], ids=lambda mode: mode.id, indirect=True)
"""The same for what workers share: ``make test`` runs the first case only, which here is the one with workers."""


def first_in_every_mode(
    name: str, values: Iterable[str], modes: tuple[Mode, Mode] = (NO_XDIST, N2)
) -> pytest.MarkDecorator:
    """Parametrize a test: the first value runs in every mode, the others in one."""
    first, *others = values
    cases = [*((mode, first) for mode in modes), *((NO_XDIST, other) for other in others)]
    parameters = [pytest.param(mode, value, id=f"{value}-{mode.id}") for mode, value in cases]
    return pytest.mark.parametrize(("mode", name), parameters, indirect=["mode"])


in_one_process = pytest.mark.parametrize("mode", [N0], ids=lambda mode: mode.id, indirect=True)
"""Runs a test in one process, with xdist installed: it only calls fewer of our hooks than with workers.

What goes wrong there has seldom gone right without xdist, which is how most other tests run.
"""


def distributed(*args: str) -> Mode:
    return Mode(" ".join(args), args, distributed=True)


QUIET = tuple(
    part for name in ("hypothesispytest", "html", "metadata", "anyio", "cov") for part in ("-p", f"no:{name}")
)
"""Other plugins are half of what starting a process takes."""

ALONE = ("--disable-plugin-autoload", "-p", "fairness", "-p", "xdist")
"""And more than half of a run in this process. Without xdist the mode has blocked it before."""


def bound_by_rights() -> tuple[str, ...]:
    """Return the beginning of a command that the rights of files bind, also for root."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("as root it takes setpriv to be bound by rights")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


class InterruptRecorder:
    """Stand-in for pytester's recorder of every call of a hook, a thousand in a run, which reads only this one."""

    def __init__(self, manager: pytest.PytestPluginManager) -> None:
        self._calls: list[RecordedHookCall] = []
        manager.register(self)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._calls.append(RecordedHookCall("pytest_keyboard_interrupt", {"excinfo": excinfo}))

    def getcalls(self, _names: str) -> list[RecordedHookCall]:
        return self._calls


@dataclass
class Project:
    """The folder, and how pytest is run in it."""

    pytester: pytest.Pytester
    mode: Mode
    workers: ForkedWorkers
    with_other_plugins: bool = False
    """Whether every plugin that is installed here takes part."""
    _written: int = 0

    @property
    def path(self) -> Path:
        return self.pytester.path

    @property
    def store(self) -> Path:
        return self.path / ".fairness" / "store.sqlite"

    def write(self, **files: str) -> None:
        """Write Python files by their names: ``conftest="..."``, ``test_hiring="..."``."""
        for name, text in files.items():
            file = self.path / f"{name}.py"
            file.write_text(text, encoding="utf-8")
            # Compiled files are told apart by whole seconds.
            self._written += 1
            at = time.time() + self._written
            os.utime(file, (at, at))

    def configure(self, **tables: Mapping[str, object]) -> None:
        """Write tables of this plugin into the project's pyproject.toml: ``data={"bbq": "here"}``."""

        def toml(value: object) -> str:
            if not isinstance(value, Mapping):
                return json.dumps(value)
            return f"{{{', '.join(f'{json.dumps(key)} = {toml(part)}' for key, part in value.items())}}}"

        lines = [
            line
            for table, values in tables.items()
            for line in (
                f"[tool.pytest-fairness.{table}]",
                *(f"{json.dumps(key)} = {toml(value)}" for key, value in values.items()),
            )
        ]
        (self.path / "pyproject.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def write_suite(
        self,
        *tests: str,
        conftest: str = application(),
        count: int = 60,
        groups: Sequence[str] = ("woman", "man"),
        people: str = "",
        probe: str = PROBE,
        **files: str,
    ) -> None:
        """Write ``test_hiring`` with these tests (`project_sources.suite`), its ``conftest``, and other files."""
        source = suite(*tests, count=count, groups=groups, people=people, probe=probe)
        self.write(conftest=conftest, test_hiring=source, **files)

    def run(self, *args: str, mode: Mode | None = None) -> pytest.RunResult:
        """Run pytest in the project, with a results file."""
        return self.bare_run("--fairness-json=results.json", *args, mode=mode)

    def bare_run(self, *args: str, mode: Mode | None = None) -> pytest.RunResult:
        """Run pytest in the project."""
        mode = mode or self.mode
        # Random order is installed here, and would be where the test does not want it. Distributed, only the
        # workers are processes of their own.
        others = ALONE if not self.with_other_plugins else QUIET if mode.distributed else ()
        return self.pytester.runpytest_inprocess(
            "-p", "no:randomly", *mode.args, *others, *args, plugins=[self.workers]
        )

    def command(self, *args: str) -> list[str]:
        """Return the command of a run in a process of its own, which may be interrupted and killed."""
        return [self.workers.server.python, "-m", "pytest", "-p", "no:randomly", *args, *ALONE]

    def separate_run(self, *args: str) -> pytest.RunResult:
        """Run pytest in the project in a process of its own, with a results file."""
        return self.pytester.run(*self.command("--fairness-json=results.json", *args), timeout=90)

    def calls(self) -> Counter[str]:
        """Return how often the callable was asked each text, since the last `forget_calls`."""
        file = self.path / "asked.txt"
        return Counter(file.read_text(encoding="utf-8").splitlines()) if file.exists() else Counter()

    def forget_calls(self) -> None:
        (self.path / "asked.txt").unlink(missing_ok=True)

    def results(self) -> dict[str, Any]:
        """Return the results file; it must be standard JSON."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} in the results file")

        text = (self.path / "results.json").read_text(encoding="utf-8")
        results: dict[str, Any] = json.loads(text, parse_constant=refuse)
        return results

    def rows(self) -> list[dict[str, Any]]:
        """Return the thresholds' rows of the results file."""
        rows: list[dict[str, Any]] = self.results()["thresholds"]
        return rows

    def row(self) -> dict[str, Any]:
        """Return the row of the only threshold that was judged, or of the only one."""
        rows = self.rows()
        (row,) = [row for row in rows if row["verdict"] != "not judged"] or rows
        return row

    def verdicts(self) -> dict[str, str]:
        """Return the verdicts of the judged thresholds by test name, parameters included."""
        judged = [row for row in self.rows() if row["verdict"] != "not judged"]
        return {row["id"].partition("::")[2]: row["verdict"] for row in judged}

    def judged_estimates(self) -> dict[str, tuple[str, float, float, float]]:
        """Return the verdict of each threshold, with its estimate and interval, by id."""
        return {row["id"]: (row["verdict"], row["estimate"], row["low"], row["high"]) for row in self.rows()}

    def task_estimates(self) -> dict[str, dict[str, float]]:
        """Return the values of all metrics of other harnesses' tasks, by task."""
        values: dict[str, dict[str, float]] = {}
        for metric in self.results()["metrics"]:
            if "task" in metric["slice"]:
                values.setdefault(metric["slice"]["task"], {})[metric["metric"]] = metric["estimate"]
        return values


def shown(result: pytest.RunResult) -> str:
    """Return all output of a run."""
    return "\n".join([*result.outlines, *result.errlines])


def unwrapped(result: pytest.RunResult) -> str:
    """Return all output of a run with single spaces, since lines are wrapped."""
    return " ".join(shown(result).split())


def failures(result: pytest.RunResult) -> dict[str, list[str]]:
    """Return the output of each failed or errored test by its name, without blank lines."""
    lines_by_test: dict[str, list[str]] = {}
    inside = name = ""
    for line in result.outlines:
        if line.startswith("=="):
            inside = line.strip("= ")
        elif inside in ("ERRORS", "FAILURES"):
            if line.startswith("__") and line.endswith("__"):
                name = line.strip("_ ").removeprefix("ERROR at setup of ")
                lines_by_test[name] = []
            elif line.strip() and not line.startswith("[gw"):
                lines_by_test[name].append(line)
    return lines_by_test
