"""The results file: schema 1, documented in docs/results.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from pytest_fairness import __version__
from pytest_fairness.report.files import write_text
from pytest_fairness.report.marking import aggregated
from pytest_fairness.report.release import corrected, release

SCHEMA = 1
_PACKAGES = (
    "pytest",
    "pytest-xdist",
    "numpy",
    "scipy",
    "SQLAlchemy",
    "openai",
    "anthropic",
    "datasets",
    "transformers",
    "torch",
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a run besides what it measured."""

    run: str
    started: float
    """Seconds since 1970."""
    root: Path
    """The user's project, whose commit is told."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    calls: Sequence[Mapping[str, Any]] = ()
    """What was asked of each model on behalf of probes and of graders."""
    command: Sequence[str] = ()
    """Arguments of pytest that make it ask the same again."""
    judge: str | None = None
    seed: int = 0
    sample: int | None = None


def compile_results(
    facts: Facts,
    rows: Sequence[Mapping[str, Any]],
    totals: Mapping[str, int],
    redact: Callable[[str], str] = str,
    searches: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Everything that a reader needs to check the verdicts, as JSON has it; each text through ``redact``."""
    rows = corrected(rows)
    metrics: dict[str, dict[str, Any]] = {}
    for row in rows:
        for metric in row.get("metrics", ()):
            entry = {"suite": row["suite"], "probe": row["probe"], "model": row["model"], **metric}
            metrics[json.dumps([entry[name] for name in ("probe", "model", "metric", "slice")])] = entry
    results = {
        "schema": SCHEMA,
        "run": {
            "id": facts.run,
            "started": _moment(facts.started),
            "ended": _moment(time.time()),
            "models": sorted({row["model"] for row in (*rows, *searches) if row["model"]}),
            "judge": facts.judge,
            "command": list(facts.command),
            "seed": facts.seed,
            "sample": facts.sample,
            "git": _commit(facts.root),
            "versions": _versions(),
            **totals,
            "tokens": dict(facts.tokens),
            "cost_usd": _total([line["cost_usd"] for line in facts.calls]),
            "calls": list(map(dict, facts.calls)),
        },
        "release": release(rows),
        "marks": aggregated(rows),
        "thresholds": [{name: value for name, value in row.items() if name != "metrics"} for row in rows],
        "metrics": list(metrics.values()),
        "searches": list(map(dict, searches)),
    }
    return {name: redacted(value, redact) for name, value in results.items()}


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """Builtins as JSON has them, each text in them redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(name): redacted(content, redact) for name, content in value.items()}
    if isinstance(value, list):
        return [redacted(content, redact) for content in value]
    return value


def _total(costs: Sequence[float | None]) -> float | None:
    """USD; None where one is not known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known, 0.0) if len(known) == len(costs) else None


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def write_results(path: Path, results: Mapping[str, Any]) -> None:
    """Write the file whole or not at all.

    Raises `FairnessError`, in one line, where it cannot be written.
    """
    write_text(path, json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _versions() -> dict[str, str]:
    found = {"pytest-fairness": __version__, "python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = _version(package)
        except PackageNotFoundError:
            continue
    return found


def _version(package: str) -> str:
    """Return the version of an installed package; to parse all of its metadata takes six times as long."""
    line = re.search(r"^Version: (\S+)$", distribution(package).read_text("METADATA") or "", re.MULTILINE)
    return line[1] if line else version(package)


def _commit(root: Path) -> str | None:
    try:
        shown = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - the user's own git, wherever it is
            cwd=root,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return shown.stdout.strip() or None
