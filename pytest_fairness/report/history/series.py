"""One threshold on one model over runs, and what changed from run to run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from pytest_fairness.core.formatting import slice_text, span_text
from pytest_fairness.core.model_names import ModelNames, keys_in_runs
from pytest_fairness.core.threshold_results import EstimateResult, PastResult, ThresholdResult
from pytest_fairness.report.decisions import acceptance_phrase
from pytest_fairness.report.release import NOT_JUDGED, corrected, rank, release
from pytest_fairness.report.results import distinct_title, redacted

FIELDS = (
    "id", "key", "suite", "probe", "threshold", "model", "alias", "verdict", "message", "outcome", "metric", "title",
    "kind", "family", "slice", "log_scale", "estimate", "low", "high", "confidence", "items", "attempts", "mark",
    "bounds", "comparisons", "own", "pooled", "items_digest", "served_by", "graders", "judges", "restricted", "looks",
    "accepted", "p_value", "risk",
)  # fmt: skip
"""The fields of a threshold's row that a history shows or compares: reading all would take four times as long."""
_NUMBERS = {str(member.metadata.get("key", member.name)): member.name for member in dataclass_fields(EstimateResult)}
"""The fields of a row that are those of its estimate, with their names there."""
WHOLE = "the whole sample"


@dataclass(frozen=True, slots=True)
class Change:
    """A difference from the run before."""

    what: str
    """A phrase: ``bounds 0.7 to 1.4 (before: 0.8 to 1.25)``."""
    comparable: bool
    """Whether estimates before and after it can be compared; a line of the chart connects only these."""


@dataclass(frozen=True)
class ThresholdSeries:
    """One threshold on one model, oldest run first."""

    points: Sequence[PastResult]
    """The results of one or more runs, one for each."""
    title: str = ""
    """The title for display, if it is not that of the newest result."""

    @property
    def last(self) -> ThresholdResult:
        """The result of the newest run."""
        return self.points[-1].result

    @cached_property
    def judged(self) -> list[PastResult]:
        """The results with a verdict, including invalid ones."""
        return [point for point in self.points if point.result.verdict != NOT_JUDGED]

    @cached_property
    def changes(self) -> list[list[Change]]:
        """The changes of each judged run from the judged run before it; empty for the first."""
        pairs = zip(self.judged, self.judged[1:], strict=False)
        return [[], *(list(changes(before.result, now.result)) for before, now in pairs)][: len(self.judged)]

    def to_json(self) -> dict[str, Any]:
        changed = dict(zip((id(point) for point in self.judged), self.changes, strict=True))
        last = self.last
        return {
            "id": last.id,
            "title": last.threshold,
            "suite": last.suite,
            "probe": last.probe,
            "model": last.model,
            "alias": last.alias,
            "runs": [_point(point, changed.get(id(point), [])) for point in self.points],
        }


@dataclass(frozen=True, slots=True)
class ReleaseSeries:
    """The verdicts on the releases of one model, oldest run first."""

    model: str
    points: Sequence[tuple[PastResult, str]]
    """A result of each run, for its name and its day, and the verdict on all of its thresholds."""

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "runs": [
                {"run": point.run, "started": _start(point), "verdict": verdict} for point, verdict in self.points
            ],
        }


def releases_of(points: Iterable[PastResult]) -> list[ReleaseSeries]:
    """Return the verdict on each model in each run, from the results of all thresholds, in any order.

    Results of old versions lack what Holm's correction needs: the release of one that is unfair is so, too.
    """
    by_run: dict[str, list[PastResult]] = {}
    for point in sorted(_unique(points), key=_moment):
        by_run.setdefault(point.run, []).append(point)
    by_model: dict[str, list[tuple[PastResult, str]]] = {}
    for of_run in by_run.values():
        rows = [point.result for point in of_run]
        for line in release(corrected(rows)):
            own = [row for row in rows if row.model == line.model]
            is_judged = any(row.verdict != NOT_JUDGED for row in own)
            lacks_risk = any(row.verdict == "unfair" and row.risk is None for row in own)
            verdict = "unfair" if lacks_risk else line.verdict if is_judged else NOT_JUDGED
            by_model.setdefault(line.model, []).append((of_run[0], verdict))
    return [ReleaseSeries(model, verdicts) for model, verdicts in by_model.items() if model]


def _moment(point: PastResult) -> tuple[float, str]:
    return point.started, point.run


def _key(row: ThresholdResult) -> tuple[str, str]:
    """Return the key of a threshold on a model, the same whatever else its run measured and as what."""
    return keys_in_runs(row.stored_id, row.model)[0], row.model


def _unique(points: Iterable[PastResult]) -> Iterable[PastResult]:
    """Return one result of each threshold, model and run; a judged one where another shard has skipped it."""
    unique: dict[tuple[str, str, str], PastResult] = {}
    for point in points:
        key = point.result.id, point.result.model, point.run
        if key not in unique or point.result.verdict != NOT_JUDGED:
            unique[key] = point
    return unique.values()


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The runs that were read, and each of their thresholds over them."""

    series: Sequence[ThresholdSeries]
    """The worst of their last verdicts first."""
    releases: Sequence[ReleaseSeries]
    """None where thresholds were selected."""
    runs: int
    """Runs with at least one result on a model."""
    unfinished: int = 0
    """Runs of the store that recorded thresholds and no result: killed, or still running."""
    skipped: Sequence[str] = field(default_factory=tuple)
    """Files of a folder that are no results files."""

    @property
    def names(self) -> ModelNames:
        """The shown names of the models and judges: the newest aliases, with the models where one alias had several."""
        rows = [point.result for series in self.series for point in series.points]
        judges = {model for row in rows for judge in row.judges for model in judge.models}
        aliases = {series.last.model: series.last.alias for series in self.series}
        return ModelNames.of([*aliases, *sorted(judges)], aliases)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "runs": self.runs,
            "unfinished": self.unfinished,
            "releases": [series.to_json() for series in self.releases],
            "thresholds": [series.to_json() for series in self.series],
        }


class PointReader:
    """Reader of rows of results files. Values that the threshold's row before has, as most do, are not read again.

    Args:
        redact: Removes secrets from a text.
    """

    def __init__(self, redact: Callable[[str], str] = str) -> None:
        self.redact = lru_cache(maxsize=4096)(redact)  # most texts recur in every run
        self._before: dict[str, tuple[Mapping[str, Any], ThresholdResult]] = {}

    def read(self, row: Mapping[str, Any], run: str, started: float, git: str | None, where: str) -> PastResult:
        """Return the result of a threshold in one run.

        Args:
            row: Its row of the results file; fields of other versions are left out.
            run: The id of the run.
            started: Seconds since 1970.
            git: The commit of the user's project.
            where: The position of the row, for messages.

        Raises:
            FairnessError: A field has another type.
        """
        fields = {name: row[name] for name in FIELDS if name in row}
        if isinstance(looks := fields.get("looks"), dict):
            fields["looks"] = {name: looks[name] for name in ("number", "of") if name in looks}
        before, last = self._before.get(str(fields.get("id")), ({}, None))
        changed_fields = fields
        if before.keys() == fields.keys():
            changed_fields = {name: value for name, value in fields.items() if name == "id" or before[name] != value}
        result = ThresholdResult.from_json(redacted(changed_fields, self.redact), where, strict=False)
        if last is not None and changed_fields is not fields:
            numbers = {
                _NUMBERS[name]: getattr(result.estimate, _NUMBERS[name])
                for name in changed_fields.keys() & _NUMBERS.keys()
            }
            own = {name: getattr(result, name) for name in changed_fields.keys() - _NUMBERS.keys()}
            result = replace(last, estimate=replace(last.estimate, **numbers), **own)
        self._before[str(fields["id"])] = fields, result
        return PastResult(run, started, git, result)


def _with_distinct_titles(all_series: Sequence[ThresholdSeries]) -> list[ThresholdSeries]:
    """Return the series, with their tests' names where several of a model have one title: one was renamed, say."""
    tests: dict[tuple[str, str, str], set[str]] = {}
    for series in all_series:
        last = series.last
        tests.setdefault((last.suite, last.model, last.threshold), set()).add(last.id.partition("[")[0])
    distinct = []
    for series in all_series:
        last = series.last
        same_title = tests[last.suite, last.model, last.threshold]
        distinct.append(replace(series, title=distinct_title(last.threshold, last.id, same_title)))
    return distinct


def series_of(points: Iterable[PastResult]) -> list[ThresholdSeries]:
    """Return the series of all thresholds, of results in any order.

    A run that is given twice, as by two copies of a file, counts once.
    """
    by_threshold: dict[tuple[str, str], list[PastResult]] = {}
    for point in sorted(_unique(points), key=_moment):
        by_threshold.setdefault(_key(point.result), []).append(point)
    all_series = [ThresholdSeries(results) for results in by_threshold.values()]
    shown = _with_distinct_titles([series for series in all_series if series.judged])
    return sorted(shown, key=lambda series: (rank(series.judged[-1].result), series.last.suite, series.last.threshold))


def changes(before: ThresholdResult, now: ThresholdResult) -> Iterator[Change]:
    """Yield the differences of two consecutive results of a threshold; fields that either run lacks are skipped."""
    if now.threshold != before.threshold:
        yield Change(_change_phrase("title", now.threshold, before.threshold), comparable=True)
    if now.bounds != before.bounds and now.comparisons and before.comparisons:
        yield Change(_change_phrase("bounds", span_text(now.bounds), span_text(before.bounds)), comparable=True)
    metrics = [(row.estimate.family or row.estimate.metric, sorted(row.pooled_slice.items())) for row in (now, before)]
    if all(name for name, _ in metrics) and metrics[0] != metrics[1]:
        yield Change(
            _change_phrase(
                "metric", now.estimate.title or now.estimate.metric, before.estimate.title or before.estimate.metric
            ),
            comparable=False,
        )
    decided = [row.deciding_slice_name or "all slices" for row in (now, before)]
    if decided[0] != decided[1] and all(name for name, _ in metrics):
        yield Change(_change_phrase("decided by", *decided), comparable=False)
    if now.probe and before.probe and now.probe != before.probe:
        yield Change(_change_phrase("probe", now.probe, before.probe), comparable=False)
    if now.items_digest and before.items_digest and now.items_digest != before.items_digest:
        yield Change("other items of the probe", comparable=False)
    if now.graders and before.graders and now.graders != before.graders:
        yield Change("other graders", comparable=False)
    judges = [", ".join(sorted({model for judge in row.judges for model in judge.models})) for row in (now, before)]
    if judges[0] != judges[1]:
        yield Change(_change_phrase("judged by", judges[0] or "no model", judges[1] or "no model"), comparable=False)
    served = [", ".join(row.served_by) for row in (now, before)]
    if all(served) and served[0] != served[1]:
        yield Change(_change_phrase("served by", *served), comparable=True)
    restricted = [shlex.join(row.restricted) for row in (now, before)]
    if restricted[0] != restricted[1]:
        yield Change(_change_phrase("sample:", restricted[0] or WHOLE, restricted[1] or WHOLE), comparable=False)


def _change_phrase(what: str, now: str, before: str) -> str:
    return f"{what} {now} (before: {before})"


def remarks(row: ThresholdResult) -> list[str]:
    """Return how a run differs from an ordinary, finished measurement of the whole sample.

    >>> remarks(ThresholdResult(id="t", verdict="undecided", restricted=["--fairness-sample=40"]))
    ['with --fairness-sample=40']
    """
    looks, where = row.looks, slice_text(row.deciding_slice)
    return [
        *([f"{row.verdict} where {where}"] if where else []),
        *([f"interim look {looks.number} of {looks.of}"] if looks and looks.of > 1 else []),
        *([f"with {shlex.join(row.restricted)}"] if row.restricted else []),
        *([f"{row.outcome}"] if row.outcome in ("xfailed", "xpassed") else []),
        *([acceptance_phrase(row.accepted)] if row.accepted else []),
        *([row.message] if row.verdict in ("invalid", NOT_JUDGED) and row.message else []),
    ]


def day_of(point: PastResult) -> str:
    """Return the day of a run, in UTC."""
    return datetime.fromtimestamp(point.started, UTC).strftime("%Y-%m-%d")


def commit_of(point: PastResult) -> str:
    """Return the beginning of the commit of a run, with a ``+`` where tracked files had changed since.

    >>> commit_of(PastResult("run", 0.0, "0123456789abcdef-dirty", ThresholdResult(id="t")))
    '0123456+'
    """
    commit = point.git or ""
    return f"{commit.partition('-')[0][:7]}{'+' if commit.endswith('-dirty') else ''}" or "-"


def _start(point: PastResult) -> str:
    return datetime.fromtimestamp(point.started, UTC).isoformat(timespec="seconds")


def _point(point: PastResult, changed: Sequence[Change]) -> dict[str, Any]:
    row = point.result
    estimate = row.estimate
    names = ("mark", "metric", "low", "high", "confidence", "items", "attempts")
    return {
        "run": point.run,
        "started": _start(point),
        "git": point.git,
        "verdict": row.verdict,
        "outcome": row.outcome,
        "estimate": estimate.value,
        **{name: getattr(estimate, name) for name in names},
        "bounds": list(row.bounds),
        "slice": row.deciding_slice,
        "served_by": list(row.served_by),
        "judges": sorted({model for judge in row.judges for model in judge.models}),
        "items_digest": row.items_digest,
        "remarks": remarks(row),
        "changes": [change.what for change in changed],
    }
