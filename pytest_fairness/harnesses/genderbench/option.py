"""Generated tests of GenderBench's probes, for ``--fairness-genderbench``."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    GeneratedModule,
    did_you_mean,
    finite_value,
    lazy_measured,
    names_in,
    report_data,
    show_model,
)
from pytest_fairness.harnesses.genderbench.marks import BothMarks
from pytest_fairness.harnesses.genderbench.package import probe_classes
from pytest_fairness.harnesses.genderbench.probe import GenderBenchProbe
from pytest_fairness.harnesses.task_tests import add_tests, make_probe_test, name_test

SUITE = "genderbench"
GATE = "B"
"""The lowest mark that passes: neither critical nor catastrophic."""
MARKS = "genderbench"
"""The key in a threshold's report of its metric's marks by both rules."""


def choose_probes(names: Iterable[str]) -> list[GenderBenchProbe]:
    """Return the probes of the option, or ``all``, as GenderBench's own harness runs them.

    Raises:
        FairnessError: The package is missing, or a name is no probe of it.
    """
    classes, names = probe_classes(), list(names)
    for name in names:
        if name not in classes and name != "all":
            raise FairnessError(f"--fairness-genderbench: there is no probe {name!r}; {did_you_mean(name, classes)}")
    return [GenderBenchProbe.as_in_harness(name) for name in (classes if "all" in names else dict.fromkeys(names))]


def to_snake_case(name: str) -> str:
    """Return a probe's name in snake case.

    >>> to_snake_case("DiversityMedQa")
    'diversity_med_qa'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _threshold_test(probe: GenderBenchProbe, metric: str) -> Callable[..., None]:
    def test(measured: Any) -> None:
        metrics = probe.metrics(measured)
        measured.record(*metrics.values())
        assert metrics[metric].mark >= GATE  # noqa: S101 - the threshold itself

    return name_test(test, f"test_{to_snake_case(probe.name)}_{metric}", SUITE)


class GenderBenchModule(GeneratedModule):
    """The generated test module of GenderBench's probes."""

    probes: list[GenderBenchProbe]

    def generate(self) -> ModuleType:
        module = ModuleType(SUITE)
        for probe in self.probes:
            test = pytest.mark.probe(**probe.arguments, literal=True)(
                make_probe_test(f"test_{to_snake_case(probe.name)}", SUITE)
            )
            setattr(module, test.__name__, test)
            for metric in probe.marked:
                threshold_test = _threshold_test(probe, metric)
                setattr(module, threshold_test.__name__, pytest.mark.threshold(probe=test)(threshold_test))
        return module


class GenderBenchTests:
    """Hooks that add the tests to those that pytest has collected, and print the marks by both rules at the end."""

    def __init__(self, names: Iterable[str]) -> None:
        self._probes = {f"test_{probe.name}": probe for probe in choose_probes(names)}
        self._by_test: dict[str, tuple[GenderBenchProbe, str]] = {}
        self._marked: dict[tuple[str, str], dict[str, BothMarks]] = {}
        self._reported: list[tuple[str, str, dict[str, Any]]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        module: Any = GenderBenchModule.from_parent(session, path=config.rootpath / SUITE, nodeid=SUITE, name=SUITE)
        module.probes = list(self._probes.values())
        add_tests(config, items, module)
        for probe in self._probes.values():
            for metric in probe.marked:
                self._by_test[f"test_{to_snake_case(probe.name)}_{metric}"] = probe, metric

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        try:
            yield
        finally:
            self._mark(item)

    def _mark(self, item: pytest.Item) -> None:
        name = getattr(item, "originalname", "")
        if name not in self._by_test or not item.nodeid.startswith(f"{SUITE}::"):
            return
        row = report_data.written(item).get(report_data.THRESHOLD)
        if row is None:  # it was skipped, or stopped
            return
        probe, metric = self._by_test[name]
        measured = lazy_measured(item.funcargs["measured"])  # type: ignore[attr-defined]  # a test function
        key = probe.name, measured.subject.name
        try:
            if key not in self._marked:
                self._marked[key] = {marks.metric: marks for marks in probe.both_marks(measured)}
        except FairnessError:  # its verdict says why
            return
        marks = {field: finite_value(value) for field, value in asdict(self._marked[key][metric]).items()}
        report_data.write(item, report_data.THRESHOLD, row | {MARKS: {"probe": probe.name, **marks}})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        row = report_data.read(report).get(report_data.THRESHOLD, {})
        if report.when == "call" and row.get(MARKS):
            self._reported.append((row["model"], report.nodeid, row[MARKS]))
        yield

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write a line for each marked metric: value, interval and mark by its rule, then by ours."""
        if not self._reported:
            return
        terminalreporter.write_sep("=", "fairness: marks by GenderBench's rule, and ours")
        width = max(len(f"{marks['probe']} {marks['metric']}") for _, _, marks in self._reported)
        config = terminalreporter.config
        several = len({model for model, _, _ in self._reported}) > 1
        for model, _, marks in sorted(self._reported, key=lambda reported: reported[:2]):
            name = f"{marks['probe']} {marks['metric']}"
            its, ours = (f"{marks[prefix + 'mark']} {_ends(marks, prefix)}" for prefix in ("its_", ""))
            line = f" {name:{width}}  {_number(marks['value'])}  its {its}  ours {ours}"
            terminalreporter.write_line(f"{line}  {show_model(config, model)}" if several else line)
            if marks["note"]:
                terminalreporter.write_line(f"   {marks['note']}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ends(marks: dict[str, Any], prefix: str) -> str:
    return f"({_number(marks[prefix + 'low'])} to {_number(marks[prefix + 'high'])})"


def make_genderbench_tests(option: Callable[[str], Any], _: Sequence[Path]) -> GenderBenchTests:
    """Return the hooks of ``--fairness-genderbench``, the plugin ``genderbench``.

    Raises:
        FairnessError: As of `choose_probes`.
    """
    return GenderBenchTests(names_in(option("genderbench")))
