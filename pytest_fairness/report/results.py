"""Compilation of the results file, which docs/results.md documents."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_fairness.core import json_text as json
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.core.output_files import write_text
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.core.version import __version__
from pytest_fairness.report.release import aggregate_marks, corrected, release

if TYPE_CHECKING:
    from pytest_fairness.core.acceptance_results import AcceptanceResult
    from pytest_fairness.core.agreement_results import AgreementResult
    from pytest_fairness.core.evidence_results import EvidenceResult
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.core.search_results import SearchResult
    from pytest_fairness.core.threshold_results import MetricResult, ThresholdResult

_PACKAGES = (
    *("pytest", "pytest-xdist", "numpy", "scipy"),
    *("openai", "anthropic", "datasets", "transformers", "torch"),
)


def compile_results(
    run: RunResult,
    root: Path,
    rows: Sequence[ThresholdResult],
    totals: Mapping[str, Any],
    redact: Callable[[str], str] = str,
    *,
    metrics: Iterable[MetricResult] = (),
    probes: Sequence[ProbeResult] = (),
    searches: Sequence[SearchResult] = (),
    agreements: Sequence[AgreementResult] = (),
    acceptances: Sequence[AcceptanceResult] = (),
    evidence: Sequence[EvidenceResult] = (),
    name_models: Callable[[Iterable[str]], ModelNames] = ModelNames.of,
) -> RunResults:
    """Return the results of a run, with all that is needed to check the verdicts; each text through ``redact``.

    Args:
        run: The facts about the run that are known before its results.
        root: The user's project, whose commit is recorded.
        rows: The thresholds.
        totals: Numbers of attempts by the names of their fields.
        redact: Removes secrets from a text.
        metrics: The estimates that tests have recorded.
        probes: The competence of each model at each probe.
        searches: Searches for flips.
        agreements: Checks of propensities.
        acceptances: The accepted verdicts of the project.
        evidence: The clauses of the evidence map to which thresholds are relevant.
        name_models: Returns the shown names of models.
    """
    models = sorted(filter(None, {row.model for row in rows} | {search.model for search in searches}))
    judges = {model for row in rows for judge in row.judges for model in judge.models}
    names = name_models([*models, *sorted(judges)])
    rows = [replace(row, alias=names.alias(row.model)) for row in corrected(rows)]
    run = replace(
        run,
        ended=moment(Clock.now_in_seconds()),
        models=models,
        names=names.shown,
        git=_commit(root),
        versions=_versions(),
        **totals,
        cost_usd=_total([line.cost_usd for line in run.calls]),
    )
    results = RunResults(
        run=run,
        release=release(rows),
        marks=aggregate_marks(rows),
        thresholds=rows,
        probes=probes,
        metrics=_once(metrics),
        searches=searches,
        agreements=agreements or None,
        acceptances=acceptances or None,
        evidence=evidence or None,
    )
    return cast("RunResults", redacted(results, redact))


def with_distinct_titles(results: RunResults) -> RunResults:
    """Return results for display: where tests of one suite share a title, the test's name is added.

    The results file keeps the original titles, which do not depend on the other tests of the run.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> rows = [ThresholdResult(id=f"test_a.py::test_{name}[m]", suite="a", threshold="Alike") for name in "xy"]
    >>> results = RunResults(run=RunResult(id="1", started=""), thresholds=rows)
    >>> [row.threshold for row in with_distinct_titles(results).thresholds]
    ['Alike (test_x)', 'Alike (test_y)']
    """
    rows = results.thresholds
    tests: dict[tuple[str, str, str], set[str]] = {}
    for row in rows:
        tests.setdefault((row.suite, row.model, row.threshold), set()).add(row.id.partition("[")[0])
    distinct = []
    for row in rows:
        same_title = tests[row.suite, row.model, row.threshold]
        distinct.append(replace(row, threshold=distinct_title(row.threshold, row.id, same_title)))
    return replace(results, thresholds=distinct)


def distinct_title(title: str, test: str, same_title: Collection[str]) -> str:
    """Return a title for display, with the test's name if other tests share the title.

    Args:
        title: The title.
        test: The id of its test, with or without parameters.
        same_title: The ids of all tests with this title, without parameters.

    Returns:
        The title; with the whole id in place of the name, if that is shared as well.

    >>> distinct_title("Alike", "test_a.py::test_x[m]", {"test_a.py::test_x", "test_b.py::test_x"})
    'Alike (test_a.py::test_x)'
    """
    if len(same_title) < 2:
        return title
    test = test.partition("[")[0]
    names = {other.rpartition("::")[2] for other in same_title}
    return f"{title} ({test.rpartition('::')[2] if len(names) == len(same_title) else test})"


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """Return a record or a value in types of JSON with each text redacted; other objects with `to_json` as they are."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, JsonRecord):
        return type(value)(**{member.name: redacted(getattr(value, member.name), redact) for member in fields(value)})
    if value is None or isinstance(value, int | float | MetricKind) or hasattr(value, "to_json"):
        return value
    if isinstance(value, Mapping):
        return {redact(str(name)): redacted(content, redact) for name, content in value.items()}
    if isinstance(value, list):
        return [redacted(content, redact) for content in value]
    if isinstance(value, tuple):
        return tuple(redacted(content, redact) for content in value)
    return redact(str(value))


def _total(costs: Sequence[float | None]) -> float | None:
    """Return the sum of costs in USD; None where one is not known."""
    priced = [cost for cost in costs if cost is not None]
    return sum(priced, 0.0) if len(priced) == len(costs) else None


def moment(seconds: float) -> str:
    """Return seconds since 1970 in the format of a results file."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def results_text(results: RunResults) -> str:
    """Return the text of a results file."""
    return json.dumps(results.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_results(path: Path, results: RunResults) -> None:
    """Write the file whole or not at all.

    Raises `FairnessError`, in one line, where it cannot be written.
    """
    write_text(path, results_text(results))


def _versions() -> dict[str, str]:
    versions = {"pytest-fairness": __version__, "python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            versions[package] = _version(package)
        except PackageNotFoundError:
            continue
    return versions


@cache
def _version(package: str) -> str:
    """Return the version of an installed package; parsing all of its metadata would take six times as long."""
    line = re.search(r"^Version: (\S+)$", distribution(package).read_text("METADATA") or "", re.MULTILINE)
    return line[1] if line else version(package)


def _commit(root: Path) -> str | None:
    """Return the commit of the user's project, with ``-dirty`` appended if tracked files have changed since."""
    folder = root.resolve()
    if "GIT_DIR" not in os.environ and not any((above / ".git").exists() for above in (folder, *folder.parents)):
        return None  # git would find none either, and starting it takes longer than judging a threshold
    try:
        shown = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],  # noqa: S607 - the user's own git, wherever it is
            cwd=root,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return shown.stdout.strip() or None


def _once(metrics: Iterable[MetricResult]) -> list[MetricResult]:
    """Return each estimate once, as the last threshold has recorded it, with its column if any has given it one."""
    by_key: dict[tuple[object, ...], MetricResult] = {}
    for metric in metrics:
        key = metric.probe, metric.model, metric.metric, frozenset(metric.slice.items())
        earlier = by_key.get(key)
        column = metric.column or (earlier.column if earlier is not None else "")
        by_key[key] = replace(metric, column=column)
    return list(by_key.values())
