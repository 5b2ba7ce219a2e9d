"""The results file: schema 1, documented in docs/results.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_fairness import __version__
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.marking import aggregated
from pytest_fairness.session.release import corrected, release

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


def compile_results(
    run: str,
    started: float,
    rows: Sequence[Mapping[str, Any]],
    totals: Mapping[str, int],
    tokens: Mapping[str, int],
    root: Path,
) -> dict[str, Any]:
    """Everything that a reader needs to check the verdicts, as JSON has it."""
    rows = corrected(rows)
    metrics: dict[str, dict[str, Any]] = {}
    for row in rows:
        for metric in row.get("metrics", ()):
            entry = {"suite": row["suite"], "model": row["model"], **metric}
            metrics[json.dumps([entry[name] for name in ("suite", "model", "metric", "slice")])] = entry
    return {
        "schema": SCHEMA,
        "run": {
            "id": run,
            "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
            "models": sorted({row["model"] for row in rows if row["model"]}),
            "git": _commit(root),
            "versions": _versions(),
            **totals,
            "tokens": dict(tokens),
            "cost_usd": None,
        },
        "release": release(rows),
        "marks": aggregated(rows),
        "thresholds": [{name: value for name, value in row.items() if name != "metrics"} for row in rows],
        "metrics": list(metrics.values()),
    }


def write_results(path: Path, results: Mapping[str, Any]) -> None:
    """Write the file whole or not at all.

    Raises `FairnessError`, in one line, where it cannot be written.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise FairnessError(
            f"the results cannot be written to {path}: {error.strerror}; what was measured is in the store"
        ) from None


def _versions() -> dict[str, str]:
    found = {"pytest-fairness": __version__, "python": sys.version.split()[0]}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


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
