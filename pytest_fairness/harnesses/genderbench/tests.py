"""Tests of GenderBench's probes, as its own harness runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean
from pytest_fairness.harnesses.genderbench.package import probe_classes
from pytest_fairness.harnesses.genderbench.probe import GenderBenchProbe
from pytest_fairness.harnesses.task_tests import make_probe_test, name_test

SUITE = "genderbench"
GATE = "B"
"""The lowest mark that passes: neither critical nor catastrophic."""


def genderbench_tests(*names: str) -> type:
    """Return a class of tests: one for each item of GenderBench's probes, and one for each metric that it marks.

    Assign it to a name that pytest collects, as in ``TestGenderBench = genderbench_tests("Direct", "JobsLum")``.

    Args:
        names: Names of probes; none for all of them.

    Returns:
        The class.

    Raises:
        pytest.Collector.CollectError: The package is missing, or a name is no probe of it.
    """
    try:
        classes = probe_classes()
        for name in names:
            if name not in classes:
                raise FairnessError(f"GenderBench has no probe {name!r}; {did_you_mean(name, classes)}")
        probes = [GenderBenchProbe.as_in_harness(name) for name in dict.fromkeys(names or classes)]
    except FairnessError as error:  # a traceback of the user's module would hide the line
        raise pytest.Collector.CollectError(str(error)) from None
    tests: dict[str, Any] = {}
    for probe in probes:
        test_name = f"test_{to_snake_case(probe.name)}"
        test = pytest.mark.probe(**probe.arguments, literal=True)(make_probe_test(test_name, SUITE))
        tests[test_name] = test
        for metric in probe.marked:
            threshold_test = _make_threshold_test(f"{test_name}_{metric}", probe, metric)
            tests[threshold_test.__name__] = pytest.mark.threshold(probe=test)(threshold_test)
    return type("GenderBenchTests", (), tests)


def to_snake_case(name: str) -> str:
    """Return a probe's name in snake case.

    >>> to_snake_case("DiversityMedQa")
    'diversity_med_qa'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _make_threshold_test(name: str, probe: GenderBenchProbe, metric: str) -> Callable[..., None]:
    def test(_: object, measured: Any) -> None:
        metrics = probe.metrics(measured)
        measured.record(*metrics.values())
        assert metrics[metric].mark >= GATE  # noqa: S101 - the threshold itself

    return name_test(test, name, SUITE)
