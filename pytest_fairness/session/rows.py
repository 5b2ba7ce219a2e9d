"""A threshold's row of the results file: builtins, which also is what crosses between processes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.marks import NOT_MARKED, Scale
from pytest_fairness.core.verdicts import Judgement, Verdict, flip_probability
from pytest_fairness.core.wording import advice
from pytest_fairness.session.measuring import LazyMeasured
from pytest_fairness.session.probes import Probe

PREFIX = "fairness_"
"""Of the JUnit properties that carry a row."""


def threshold_row(item: pytest.Function, judgement: Judgement, measured: LazyMeasured, message: str) -> dict[str, Any]:
    """The threshold's row of the results file: builtins only."""
    from pytest_fairness.stats.flakiness import outside_probability
    from pytest_fairness.stats.pvalues import p_fair, p_unfair

    deciding = judgement.deciding
    row: dict[str, Any] = {
        "id": item.nodeid,
        "suite": measured.probe.suite,
        "probe": measured.probe.id,
        "threshold": title_of(item),
        "harm": measured.probe.harm,
        "model": measured.subject.name,
        "verdict": judgement.verdict.value,
        "message": message,
        "flaky": "",
        "sample": measured.counts,
        "risk": measured.tail,
        "looks": {"number": measured.look.number, "of": measured.look.of, "first": measured.first_attempts},
        "metrics": [metric_row(estimate) for estimate in judgement.estimates],
    }
    if deciding is None:
        return _EMPTY_ROW | row
    bounds = judgement.about_deciding
    estimate = deciding.estimate
    flip = flip_probability(estimate, [comparison.bound for comparison in bounds])
    look = measured.look
    # A look's share of the error is smaller than the whole: its p-values count for that much more.
    share = look.tail / look.own_tail
    return row | {
        "comparisons": [{"op": c.op, "bound": c.bound, "decision": c.decision.value} for c in bounds],
        "bounds": list(judgement.bounds),
        "flip_probability": flip,
        "outside_probability": outside_probability(bounds),
        "advice": advice(judgement) if judgement.verdict is Verdict.UNDECIDED else "",
        "p_value": _scaled(p_unfair(bounds), share),
        "p_fair": _scaled(p_fair(bounds), share),
        **metric_row(estimate),
    }


_EMPTY_ROW: dict[str, Any] = {
    "comparisons": [], "bounds": [None, None], "flip_probability": None,
    "outside_probability": None, "advice": "", "p_value": None, "p_fair": None, "mark": None, "scale": None,
    "metric": "", "title": "",
    "slice": {}, "estimate": None, "low": None, "high": None, "confidence": None, "items": 0, "sources": 0,
    "attempts": 0, "ungraded": {}, "groups": {}, "invalid": "", "risk": None, "looks": {}, "history": {},
}  # fmt: skip


def _scaled(p_value: float | None, share: float) -> float | None:
    return None if p_value is None else min(1.0, p_value * share)


def metric_row(estimate: Estimate) -> dict[str, Any]:
    """An estimate as the results file has it."""
    return {
        "metric": estimate.metric,
        "title": estimate.title,
        "slice": {str(name): str(value) for name, value in estimate.slice.items()},
        "estimate": finite(estimate.value),
        "low": finite(estimate.low),
        "high": finite(estimate.high),
        "confidence": float(estimate.confidence),
        "items": int(estimate.items),
        "sources": int(estimate.sources),
        "attempts": int(estimate.attempts),
        "ungraded": {str(group): int(count) for group, count in estimate.ungraded.items()},
        "groups": {str(group): finite(value) for group, value in estimate.groups.items()},
        "invalid": estimate.invalid,
        "mark": None if (mark := str(estimate.mark)) == NOT_MARKED else mark,
        "scale": None if (scale := estimate.scale) is None else {mark: _spans(scale, mark) for mark in "ABC"},
    }


def _spans(scale: Scale, mark: str) -> list[list[float | None]]:
    return [[finite(low), finite(high)] for low, high in getattr(scale, mark)]


def finite(value: float) -> float | None:
    """JSON knows neither infinities nor nan."""
    return float(value) if math.isfinite(value) else None


def title_of(item: pytest.Item) -> str:
    """``test_women_and_men_advance_alike[openai:x]`` -> ``women and men advance alike``."""
    name = getattr(item, "originalname", None) or item.name
    return str(name).removeprefix("test_").replace("_", " ")


def expected_row(item: pytest.Function, probe: Probe | None, model: str | None) -> dict[str, Any]:
    """What is known of a threshold before it runs: its row, should it never report."""
    known = {"suite": "", "harm": ""} if probe is None else {"suite": probe.suite, "harm": probe.harm}
    return {"id": item.nodeid, **known, "threshold": title_of(item), "model": model or "", **_EMPTY_ROW}


_TEXTS = ("id", "suite", "probe", "threshold", "harm", "model", "verdict", "message", "flaky", "advice", "metric",
          "title", "invalid")  # fmt: skip


def to_properties(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A row as JUnit properties: texts as they are, everything else as JSON."""
    return [
        (PREFIX + name, value if name in _TEXTS and value is not None else json.dumps(value))
        for name, value in row.items()
    ]


def from_properties(properties: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    """The row that a report carries; None where it carries none."""
    found = {name.removeprefix(PREFIX): value for name, value in properties if name.startswith(PREFIX)}
    if "verdict" not in found:
        return None
    return {name: value if name in _TEXTS else json.loads(value) for name, value in found.items()}
