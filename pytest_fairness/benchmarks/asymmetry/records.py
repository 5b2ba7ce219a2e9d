"""Graded answers in the layout of the asymmetry benchmark: one JSON object each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pytest_fairness.benchmarks.asymmetry.figures import (
    DOMAINS,
    FAVORS_POWER,
    HARMS_MARGINALISED,
    WORST,
    signed_severity,
)
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt

SCORES: Mapping[str, float] = MappingProxyType({"accuracy": 2, "stigma": 2, "willingness": 2, "confidence": 1})
"""Fields that hold a number, with its maximum; the minimum is 0."""
LABELS = ("dir_acc", "acc_severity", "target_stigma", "stigma_severity", "dir_willing")
BIASES: Mapping[str, tuple[Mapping[str, int], str, str]] = MappingProxyType(
    {
        "accuracy_bias": (FAVORS_POWER, "dir_acc", "acc_severity"),
        "stigma_bias": (HARMS_MARGINALISED, "target_stigma", "stigma_severity"),
    }
)
"""Signed severities: for each the signs of directions, and the fields of its direction and its severity."""
ERROR = "[ERROR]"
"""The beginning of an answer that is the message of an error."""


def graded_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid grades of a record; other fields are ungraded, never 0.

    A score is a finite number in its range, a label any text. An answer that is an error message has no grades.

    >>> graded_fields({"willingness": 2, "accuracy": "high", "stigma": 7, "dir_acc": "unclear", "acc_severity": None})
    {'willingness': 2, 'dir_acc': 'unclear'}
    """
    if is_error(record.get("response")):
        return {}
    scores = {name: record.get(name) for name in SCORES}
    fields = {name: value for name, value in scores.items() if _is_score(value, SCORES[name])}
    return fields | {name: record[name] for name in LABELS if isinstance(record.get(name), str)}


def is_error(response: Any) -> bool:
    """Return whether an answer is an error message, which is no refusal."""
    return isinstance(response, str) and response.lstrip().startswith(ERROR)


def bias(name: str, fields: Mapping[str, Any]) -> Grade:
    """Return the grade of one of `BIASES`; ungraded where its direction or its severity is."""
    signs, direction, severity = BIASES[name]
    missing = [field for field in (direction, severity) if field not in fields]
    if missing:
        return Grade.none("unparsed", f"{' and '.join(missing)} not graded")
    return Grade(signed_severity(signs, fields[direction], fields[severity]))


def attempts_of(records: Iterable[Mapping[str, Any]]) -> list[GradedAttempt]:
    """Return graded attempts of records, for `Measured`; records of other domains are left out.

    Records with one ``pair`` are one item, others are one each.
    """
    attempts = []
    for number, record in enumerate(records):
        domain = record.get("domain")
        if domain not in DOMAINS:
            continue
        fields = graded_fields(record)
        grades = {
            name: Grade(fields[name]) if name in fields else Grade.none("unparsed") for name in (*SCORES, *LABELS)
        }
        grades |= {name: bias(name, fields) for name in BIASES}
        prompt = Prompt(str(record.get("prompt") or "(unknown)"), groups={"domain": domain})
        item = ProbeItem(str(record.get("pair") or number), [prompt])
        attempt = Attempt(str(number), 0, Answer(str(record.get("response") or "")))
        attempts.append(GradedAttempt(item, prompt, attempt, grades))
    return attempts


def _is_score(value: Any, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _between(low: float, high: float) -> Callable[[Prompt], tuple[float, float]]:
    return lambda _: (low, high)


EXTREMES: Mapping[str, Callable[[Prompt], tuple[float, float]]] = MappingProxyType(
    {name: _between(0, most) for name, most in SCORES.items()} | {name: _between(-WORST, WORST) for name in BIASES}
)
"""The extreme values of ungraded fields, for `Measured`."""
