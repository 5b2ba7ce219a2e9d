"""Differences between a results file and the recomputed results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any

import pytest

from pytest_fairness.core import json_text as json
from pytest_fairness.core.dry_run_results import FieldDifference
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.json_objects import is_number
from pytest_fairness.core.results import READABLE

FIELDS = (
    "verdict", "bounds", "metric", "slice", "estimate", "low", "high", "confidence", "risk", "p_value", "p_fair",
    "mark", "scale", "comparisons", "flip_probability", "outside_probability", "items", "sources", "attempts",
    "ungraded", "groups", "invalid", "sample", "looks", "model", "suite", "probe", "threshold", "harm", "graders",
    "attribute", "reference", "by_group", "own", "kind", "absolute", "parity", "log_scale", "count", "negated",
    "family", "base", "against_baseline", "failing", "excluded", "without_group", "sensitivity", "responses", "slices",
    "pooled", "outside", "responders", "tables", "user_turns",
)  # fmt: skip
"""The compared fields of a threshold's row: those that follow from its test and sample. Messages are not."""
RECORDED = ("items_digest", "restricted", "served_by", "judges", "clustering", "formats")
"""The fields that do not follow from them: they are compared with the run's record in the store, as `looks` is."""
LATER = (*FIELDS[FIELDS.index("graders") :], *RECORDED)
"""Those that a file of schema 1 may lack."""
RELATIVE = 1e-9
ABSOLUTE = 1e-12
"""The allowed relative difference of a number between two computers, and the absolute one near 0."""
MOST_DIFFERENCES = 4
"""The most differences of a threshold in a line."""


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A results file."""

    path: Path
    content: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, Any]] = field(init=False)
    """The rows of its thresholds by the ids of tests."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {row.get("key") or row["id"]: row for row in self.content["thresholds"]})

    @property
    def run(self) -> str:
        """The id of the run."""
        return str(self.content["run"]["id"])

    @property
    def where(self) -> str:
        """The file and its run, as in ``results.json (run 1a2b3c4d)``."""
        return f"{format_value(self.path.name)} (run {format_value(self.run[:8])})"

    def setting(self, name: str, kind: type | UnionType, default: Any) -> Any:
        """Return a value of the run's part, or the default if it is missing, as in older files, or of another type."""
        value = self.content["run"].get(name, default)
        return value if isinstance(value, kind) else default

    def option(self, name: str) -> list[str]:
        """Return the values of ``--fairness-NAME`` in the command of the run."""
        start = f"--fairness-{name}="
        command = self.setting("command", list, [])
        return [str(part).removeprefix(start) for part in command if str(part).startswith(start)]


RESULTS_FILE: pytest.StashKey[ResultsFile] = pytest.StashKey()


def read_results_file(path: Path) -> dict[str, Any]:
    """Return the content of a results file.

    Raises:
        FairnessError: The file cannot be read, or is no results file of a known schema.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FairnessError(
            f"{path} cannot be read: {error.strerror}; name a file that --fairness-json wrote"
        ) from None
    except (ValueError, RecursionError) as error:
        raise _no_results_file(path, f"it is not JSON: {type(error).__name__}") from None
    if not isinstance(content, dict) or "schema" not in content:
        raise _no_results_file(path, "it has no `schema`")
    if content["schema"] not in READABLE:
        readable = " and ".join(map(str, READABLE))
        raise FairnessError(
            f"{path} has schema {format_value(content['schema'])}: "
            f"this version of pytest-fairness verifies schema {readable}"
        )
    run, rows = content.get("run"), content.get("thresholds")
    if not isinstance(run, dict) or not isinstance(run.get("id"), str):
        raise _no_results_file(path, "it has no `run` with an `id`")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get("id"), str) for row in rows):
        raise _no_results_file(path, "its `thresholds` are no list of objects with an `id`")
    if not rows:
        raise FairnessError(f"{path} holds no thresholds: name the results file of a run that judged some")
    if len({row["id"] for row in rows}) < len(rows):
        raise _no_results_file(path, "one of its `thresholds` occurs twice")
    return content


def _no_results_file(path: Path, reason: str) -> FairnessError:
    return FairnessError(f"{path} is no results file: {reason}; name a file that --fairness-json wrote")


def find_differences(
    reported: Mapping[str, Any], now: Mapping[str, Any], fields: Sequence[str] = FIELDS
) -> list[FieldDifference]:
    """Return the differences between a row of the file and the recomputed row.

    >>> find_differences({"verdict": "fair", "low": 0.8}, {"verdict": "unfair", "low": 0.8 + 1e-15}, ("verdict", "low"))
    [FieldDifference(field='verdict', file='fair', now='unfair')]
    """
    compared_fields = [name for name in fields if name in reported or name not in LATER]
    return [
        difference
        for name in compared_fields
        for difference in _compare_values(name, reported.get(name), now.get(name))
    ]


def _compare_values(name: str, reported: Any, now: Any) -> Iterator[FieldDifference]:
    if isinstance(reported, Mapping) and isinstance(now, Mapping):
        for key in {**now, **reported}:
            yield from _compare_values(f"{name} {key}", reported.get(key), now.get(key))
    elif not _is_equal(reported, now):
        yield FieldDifference(field=name, file=reported, now=now)


def _is_equal(reported: Any, now: Any) -> bool:
    if isinstance(reported, list) and isinstance(now, list):
        return len(reported) == len(now) and all(map(_is_equal, reported, now))
    if isinstance(reported, Mapping) and isinstance(now, Mapping):
        return not any(_compare_values("", reported, now))
    if is_number(reported) and is_number(now):
        return math.isclose(reported, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(reported) is type(now) and bool(reported == now)


def format_differences(differences: Sequence[FieldDifference]) -> str:
    """Return the first differences in words.

    >>> format_differences([FieldDifference(field="bounds", file=[0.8, 1.2], now=[0.8, 1.25])])
    'bounds are 0.8 to 1.25 now, 0.8 to 1.2 in the file'
    """
    parts = [
        f"{format_value(difference.field)} {'are' if difference.field == 'bounds' else 'is'} "
        f"{_format_field(difference.field, difference.now)} now, "
        f"{_format_field(difference.field, difference.file)} in the file"
        for difference in differences[:MOST_DIFFERENCES]
    ]
    more = len(differences) - MOST_DIFFERENCES
    return "; ".join(parts) + (f"; and {counted(more, 'more field')}" if more > 0 else "")


def _format_field(name: str, value: Any) -> str:
    if name == "bounds" and isinstance(value, list) and len(value) == 2:
        low, high = value
        if low is None or high is None:
            return f"at most {format_value(high)}" if low is None else f"at least {format_value(low)}"
        return f"{format_value(low)} to {format_value(high)}"
    return format_value(value)


def format_value(value: object) -> str:
    """Return a value of an untrusted file as a short text without control characters.

    >>> format_value(0.1 + 0.2), format_value(None), format_value("fair"), format_value("\\x1b[31m")
    ('0.3', 'none', 'fair', '"\\\\u001b[31m"')
    """
    if value is None:
        return "none"
    if is_number(value):
        return f"{value:.12g}"
    text = value if isinstance(value, str) and value.isprintable() and value else json.dumps(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
