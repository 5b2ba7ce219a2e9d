"""Loading of a history: from the runs of a store, or from results files and folders of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.results import READABLE
from pytest_fairness.core.threshold_results import PastResult
from pytest_fairness.report.history.series import PointReader, RunHistory, ThresholdSeries, releases_of, series_of
from pytest_fairness.store.store import Store

_DRY = ("plan", "certify", "verify")


def history_of_store(store: Store, last: int, redact: Callable[[str], str]) -> RunHistory:
    """Return the history of the last runs of a store that have results, each text through ``redact``."""
    reader = PointReader(redact)
    rows = store.runs.last_results(last)
    points = [reader.read(row, run, started, git, f"run {run[:8]}") for run, started, git, row in rows]
    return _history(points, store.runs.unfinished())


def history_of_files(paths: Sequence[Path], last: int, redact: Callable[[str], str]) -> RunHistory:
    """Return the history of results files; of a folder, of all results files in it.

    Args:
        paths: Files, and folders that are searched recursively for ``*.json``.
        last: The maximum number of runs, counted from the newest.
        redact: Removes secrets from a text.

    Raises:
        FairnessError: A named file cannot be read or is no results file, or a results file is malformed; in one line.
    """
    points: list[PastResult] = []
    read = 0
    reader = PointReader(redact)
    skipped: list[str] = []
    for path, is_named in _files(paths):
        content = _content(path, is_named=is_named)
        if content is None:
            skipped.append(str(path))
        else:
            read += 1
            points += _points(content, path, reader)
    if not read:
        names = ", ".join(map(str, paths))
        raise FairnessError(f"{names} holds no results file: name one that --fairness-json has written, or a folder")
    starts = sorted({(point.started, point.run) for point in points})[-last:]
    last_runs = {run for _, run in starts}
    return _history([point for point in points if point.run in last_runs], skipped=skipped)


def _history(points: Iterable[PastResult], unfinished: int = 0, skipped: Sequence[str] = ()) -> RunHistory:
    """Return a history without results of runs that were refused before they had a model."""
    points = list(points)
    about_models = [point for point in points if point.result.model or point.result.estimate.value is not None]
    runs = len({point.run for point in about_models})
    return RunHistory(series_of(about_models), releases_of(points), runs, unfinished, skipped)


def filter_history(history: RunHistory, threshold: str | None, model: str | None) -> RunHistory:
    """Return the series whose id or title contains ``threshold``, and whose model contains ``model``, ignoring case.

    Raises `FairnessError` where there is none.
    """

    def is_wanted(series: ThresholdSeries) -> bool:
        row = series.last
        texts = [row.id.lower(), row.threshold.lower()]
        return (threshold is None or any(threshold.lower() in text for text in texts)) and (
            model is None or any(model.lower() in name.lower() for name in (row.model, row.alias))
        )

    chosen = [series for series in history.series if is_wanted(series)]
    if not chosen and history.series:
        names = sorted({series.last.threshold for series in history.series})
        models = sorted({series.last.alias or series.last.model for series in history.series})
        hints = [did_you_mean(threshold, names)] if threshold is not None else []
        hints += [did_you_mean(model, models)] if model is not None else []
        raise FairnessError(f"no judged threshold matches: {'; '.join(hints)}")
    shown = {series.last.model for series in chosen} if threshold is None else set()
    releases = [release for release in history.releases if release.model in shown]
    return RunHistory(chosen, releases, history.runs, history.unfinished, history.skipped)


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield each file once, and whether the user named it."""
    seen: set[Path] = set()
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for file in files:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                yield file, not path.is_dir()


def _content(path: Path, *, is_named: bool) -> Mapping[str, Any] | None:
    """Return the content of a results file with verdicts; None for another file in a folder."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        content = None
    schema = content.get("schema") if isinstance(content, dict) else None
    has_run = isinstance(content, dict) and isinstance(content.get("run"), dict)
    is_results = has_run and isinstance(content.get("thresholds"), list)
    if is_results and not isinstance(schema, bool) and schema in READABLE and not any(map(content.get, _DRY)):
        return dict(content)
    if not is_named and not (is_results and schema not in READABLE):
        return None
    if is_results and any(map(content.get, _DRY)):
        raise FairnessError(f"{path} is of a dry run, without verdicts: name the results file of a run")
    readable = " or ".join(map(str, READABLE))
    raise FairnessError(f"{path} is no results file of schema {readable}: name a file that --fairness-json has written")


def _points(content: Mapping[str, Any], path: Path, reader: PointReader) -> Iterator[PastResult]:
    run = content["run"]
    try:
        name, git = str(run["id"]), run.get("git")
        started = datetime.fromisoformat(run["started"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError):
        raise FairnessError(f"{path}: its run has no id, or no moment at which it started") from None
    for index, row in enumerate(content["thresholds"]):
        if not isinstance(row, dict):
            raise FairnessError(f"{path}: thresholds[{index}] is no object")
        commit = None if git is None else reader.redact(str(git))
        yield reader.read(row, reader.redact(name), started, commit, f"{path}: thresholds[{index}]")
