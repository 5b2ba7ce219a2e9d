"""A threshold's row of the results file: builtins, which also is what crosses between processes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pytest

from pytest_fairness.core.breakdown import Side
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.marks import NOT_MARKED, Scale
from pytest_fairness.core.numerals import subject_text
from pytest_fairness.core.verdicts import Judgement, Verdict, flip_probability
from pytest_fairness.core.wording import advice
from pytest_fairness.session.identity import model_source, sample_of
from pytest_fairness.session.measuring import LazyMeasured
from pytest_fairness.session.probes import Probe, threshold_scale
from pytest_fairness.session.rehearsal import own_of
from pytest_fairness.session.settings import Settings
from pytest_fairness.session.shard_tests import find_other_test
from pytest_fairness.session.state import SESSION

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
        "location": location(item, judgement.failure),
        "verdict": judgement.verdict.value,
        "message": message,
        "flaky": "",
        "own": _own_row(item, judgement, measured.probe),
        "sample": measured.counts,
        "restricted": restrictions(measured.probe, item.config.stash[SESSION].settings),
        "graders": measured.fingerprints,
        "judges": measured.judges,
        "risk": measured.tail,
        "looks": {
            "number": measured.look.number,
            "of": measured.look.of,
            "first": measured.first_attempts,
            "run": measured.look.run,
            "plan": [list(size) for size in measured.look.plan],
            "anytime": measured.look.anytime,
        },
        "metrics": [metric_row(estimate) for estimate in judgement.estimates],
        "read": [subject_text(estimate) for estimate in judgement.read],
        "clustering": [],
    }
    if deciding is None:
        return _EMPTY_ROW | row | {"advice": advice(judgement) if judgement.verdict is Verdict.UNDECIDED else ""}
    bounds = judgement.about_deciding
    estimate = deciding.estimate
    flip = flip_probability(estimate, [comparison.bound for comparison in bounds])
    look = measured.look
    # A look's share of the error is smaller than the whole: its p-values count for that much more.
    shares = {name: look.tail / tail for name, tail in (("fair", look.own_tail), ("unfair", look.strict_tail))}
    return row | {
        "comparisons": [{"op": c.op, "bound": c.bound, "decision": c.decision.value} for c in bounds],
        "bounds": list(judgement.bounds),
        "flip_probability": flip,
        "outside_probability": outside_probability(bounds),
        "advice": advice(judgement) if judgement.verdict is Verdict.UNDECIDED else "",
        "p_value": _scaled(p_unfair(judgement.comparisons, judgement.asserted), shares["unfair"]),
        "p_fair": _scaled(p_fair(judgement.comparisons), shares["fair"]),
        **metric_row(estimate),
        **_breakdown_row(item, judgement, measured.probe, estimate),
    }


_EMPTY_ROW: dict[str, Any] = {
    "comparisons": [], "bounds": [None, None], "flip_probability": None,
    "outside_probability": None, "advice": "", "p_value": None, "p_fair": None, "mark": None, "scale": None,
    "metric": "", "title": "",
    "slice": {}, "estimate": None, "count": None, "low": None, "high": None, "confidence": None,
    "items": 0, "sources": 0,
    "attempts": 0, "ungraded": {}, "groups": {}, "invalid": "", "risk": None, "looks": {}, "history": {}, "graders": {},
    "judges": [], "own": {}, "read": [], "restricted": [], "clustering": [],
    "attribute": None, "reference": None, "by_group": {}, "example": None,
}  # fmt: skip


def restrictions(probe: Probe, settings: Settings) -> list[str]:
    """The options that make the sample another than the one that the probe's author has declared."""
    other = settings.repetitions not in (None, probe.repetitions)
    return [
        *(f"--fairness-where={chosen}" for chosen in probe.chosen),
        *([f"--fairness-sample={settings.sample}"] if probe.reserve else []),
        *([f"--fairness-repetitions={settings.repetitions}"] if other else []),
    ]


def _own_row(item: pytest.Function, judgement: Judgement, probe: Probe) -> dict[str, Any]:
    """What the project sets in place of the suite: of each setting what is ``set``, and ``instead_of`` what."""
    found = {name: {"set": probe.arguments[name], "instead_of": known} for name, known in probe.instead_of.items()}
    if judgement.bounds_of_test is not None:
        found["bounds"] = {"set": list(judgement.bounds), "instead_of": list(judgement.bounds_of_test)}
    if (own := own_of(item).scale) is not None:
        found["scale"] = {"set": _scale_row(own), "instead_of": _scale_row(threshold_scale(item.function))}
    return found


def _breakdown_row(item: pytest.Function, judgement: Judgement, probe: Probe, estimate: Estimate) -> dict[str, Any]:
    """Its groups side by side, and where it is not fair the item that shows best why."""
    if estimate.breakdown is None:
        return {}
    breakdown = estimate.breakdown()
    example = None
    if judgement.verdict in (Verdict.UNFAIR, Verdict.UNDECIDED):
        example = breakdown.example_towards(_bad_side(judgement, estimate))
    return {
        "attribute": breakdown.attribute,
        "reference": breakdown.reference,
        "by_group": {name: _group_row(group) for name, group in breakdown.groups.items()},
        "example": example
        and {
            "item": example.item,
            "test": find_other_test(item, probe.id, example.item),
            "sides": [_side_row(side) for side in example.sides],
        },
    }


def _bad_side(judgement: Judgement, estimate: Estimate) -> int:
    """1 where too high a value is what it broke or may have broken, -1 where too low a one: at the nearest bound."""
    nearest = min(judgement.about_deciding, key=lambda comparison: abs(estimate.value - comparison.bound))
    if judgement.verdict is Verdict.UNFAIR and estimate.value != nearest.bound:
        return 1 if estimate.value > nearest.bound else -1  # whichever way round the test has put it
    return -1 if nearest.op in (">", ">=") else 1


def _group_row(group: Estimate) -> dict[str, Any]:
    return {
        "estimate": finite(group.value),
        "low": finite(group.low),
        "high": finite(group.high),
        "items": int(group.items),
        "attempts": int(group.attempts),
        "ungraded": sum(map(int, group.ungraded.values())),
    }


def _side_row(side: Side) -> dict[str, Any]:
    numbers = {"mean": finite(side.mean), "events": side.events, "graded": side.graded, "attempts": side.attempts}
    return {"group": side.group, **numbers, "keys": list(side.keys)}


def influences_of(judgement: Judgement) -> dict[str, Any] | None:
    """What each item or source adds to the deciding estimate's error, to compare two runs by; None where nobody knows.

    ``values`` by name, in the units of the estimate, or (``log``) of the logarithm of its size; ``error`` is its
    standard error in the same units.
    """
    estimate = judgement.deciding.estimate if judgement.deciding else None
    if estimate is None or estimate.breakdown is None:
        return None
    breakdown = estimate.breakdown()
    if not breakdown.influences:
        return None
    error = estimate.error / abs(estimate.value) if breakdown.log else estimate.error
    return {"log": breakdown.log, "error": finite(error), "values": dict(breakdown.influences)}


def _scaled(p_value: float | None, share: float) -> float | None:
    return None if p_value is None else min(1.0, p_value * share)


def metric_row(estimate: Estimate) -> dict[str, Any]:
    """An estimate as the results file has it."""
    return {
        "metric": estimate.metric,
        "title": estimate.title,
        "slice": {str(name): str(value) for name, value in estimate.slice.items()},
        "estimate": finite(estimate.value),
        "count": estimate.count,
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
        "scale": _scale_row(estimate.scale),
    }


def _scale_row(scale: Scale | None) -> dict[str, Any] | None:
    return None if scale is None else {mark: _spans(scale, mark) for mark in "ABC"}


def _spans(scale: Scale, mark: str) -> list[list[float | None]]:
    return [[finite(low), finite(high)] for low, high in getattr(scale, mark)]


def finite(value: float) -> float | None:
    """JSON knows neither infinities nor nan."""
    return float(value) if math.isfinite(value) else None


def location(item: pytest.Item, failure: BaseException | None = None) -> list[Any]:
    """Where a threshold stands: its file, from the rootdir, and the line of the assert that failed, or its own."""
    file, line, _ = item.location
    found = (line or 0) + 1
    entry = failure.__traceback__ if failure else None
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == str(item.path):
            found = entry.tb_lineno
        entry = entry.tb_next
    return [file, found]


def title_of(item: pytest.Item) -> str:
    """Return the name of a threshold as reports show it, with the parameters that are not its model's.

    ``test_women_and_men_advance_alike[openai:x]`` is ``women and men advance alike``, and
    ``test_reach[0.8]`` is ``reach (bound=0.8)``.
    """
    name = str(getattr(item, "originalname", None) or item.name).removeprefix("test_").replace("_", " ")
    callspec: Any = getattr(item, "callspec", None)
    indices: dict[str, int] = {} if callspec is None else callspec.indices
    own = []
    for key, index in indices.items():
        value = callspec.params[key]
        if key not in ("model_name", "measured", "flips"):
            own.append(f"{key}={value}" if isinstance(value, str | int | float | None) else f"{key} {index}")
    return f"{name} ({', '.join(own)})" if own else name


def expected_row(item: pytest.Item) -> dict[str, Any]:
    """What is known of a threshold before it runs: its row, should it never report."""
    parameters: dict[str, Any] = item.callspec.params if hasattr(item, "callspec") else {}
    sample, model = sample_of(item), parameters.get("model_name")
    known = dict.fromkeys(("suite", "probe", "harm"), "")
    if sample is not None:
        known = {"suite": sample.probe.suite, "probe": sample.probe.id, "harm": sample.probe.harm}
    named = {"threshold": title_of(item), "model": model or "", "location": location(item)}
    if isinstance(item, pytest.Function):
        named["model_source"] = model_source(item)
    return {"id": item.nodeid, **known, **named, **_EMPTY_ROW}


def uncollected_row(test: str, line: int) -> dict[str, Any]:
    """What is known of a threshold of which only the source was read."""
    file, _, name = test.partition("::")
    suite = PurePosixPath(file).parent.name or PurePosixPath(file).stem.removeprefix("test_")
    known = {"suite": suite, **dict.fromkeys(("probe", "harm", "model"), "")}
    title = name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
    return {"id": test, **known, "threshold": title, "location": [file, line], **_EMPTY_ROW}


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
