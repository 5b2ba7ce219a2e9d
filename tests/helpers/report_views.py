"""A view made by hand: rows as a results file has them, and examples with answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.breakdown import ExampleSideResult
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report.release import aggregate_marks, corrected, release
from pytest_fairness.report.threshold_view import ExampleView, SideView, ThresholdView
from pytest_fairness.report.view import AnswerTimes, View
from pytest_fairness.store.samples import StoredSample

MODEL = "simulated:model"

HOSTILE = (
    "<script>alert(1)</script>",
    "a | b || c \\| d",
    "`code` ``` ~~~ fence",
    "[link](https://example.org) ![image](x.png) <https://example.org>",
    "@someone and someone@example.org, see #12 and GH-7 and www.example.org",
    "<!-- comment --> </details></summary>",
    "\u202egnp.exe \u2066\x1b[31m\x00 \r\n::error file=x::injected",
    "]]> & &#60;b&#62; %0A::warning::x",
    "***bold*** __under__ ~~gone~~ $x^2$ :tada:",
    "# heading\n- list\n1. one\n> quote\n\n---\n\n| a | b |\n|---|---|",
    "{{ 7 * 7 }} {% raw %} ${{ secrets.X }}",
    "half a character \ud800",
)


UNSIGNED: dict[str, Any] = {
    "absolute": False, "negated": False, "against_baseline": False, "attribute": None, "reference": None,
}  # fmt: skip
RATE: dict[str, Any] = UNSIGNED | {
    "metric": "rate(hired)", "title": "rate of hired", "kind": "rate", "family": "rate(hired)", "base": "rate(hired)",
    "parity": None, "log_scale": False, "groups": {},
}  # fmt: skip


def ratio(outcome: str, by: str, of: str, to: str) -> dict[str, Any]:
    """Return the fields of a row that name a ratio of two groups."""
    family = f"ratio({outcome}; {by})"
    metric = f"ratio({outcome}; {by}: {of}/{to})"
    return UNSIGNED | {
        "metric": metric, "title": f"ratio of {outcome}, {of} to {to}", "kind": "ratio", "family": family,
        "base": metric, "parity": 1.0, "log_scale": True, "attribute": by, "reference": to,
    }  # fmt: skip


def difference(outcome: str, by: str, of: str, to: str, *, absolute: bool = False) -> dict[str, Any]:
    """Return the fields of a row that name a difference of two groups, or its size."""
    base, size = f"difference({outcome}; {by}: {of}-{to})", "abs " * absolute
    return UNSIGNED | {
        "metric": f"{size}{base}", "title": f"difference of {outcome}, {of} minus {to}", "kind": "difference",
        "family": f"{size}difference({outcome}; {by})", "base": base, "parity": 0.0, "log_scale": False,
        "absolute": absolute, "attribute": by, "reference": to,
    }  # fmt: skip


def row(verdict: str = "fair", **changes: Any) -> dict[str, Any]:
    """Return a row of the results file."""
    numbers = {"fair": (1.0, 0.95, 1.05), "unfair": (0.6, 0.5, 0.7), "undecided": (0.85, 0.75, 0.95)}
    estimate, low, high = numbers.get(verdict, (None, None, None))
    fields: dict[str, Any] = {
        "id": "test_hiring.py::test_alike", "suite": "hiring", "probe": "test_hiring.py::test_hiring",
        "threshold": "women and men alike", "harm": "allocation", "model": MODEL, "location": ["test_hiring.py", 12],
        "verdict": verdict, "outcome": "passed" if verdict == "fair" else "failed",
        "message": "" if verdict == "fair" else f"{verdict}: 0.6, outside 0.8 to 1.2", "risk": 0.025,
        "comparisons": [{"op": ">=", "bound": 0.8, "decision": "true"}, {"op": "<=", "bound": 1.2, "decision": "true"}],
        "bounds": [0.8, 1.2], "flip_probability": 0.1, "outside_probability": 0.1, "mark": "B",
        "scale": {"A": [[0.9, 1.1]], "B": [[0.8, 1.25]], "C": [[0.5, 2.0]]},
        "advice": "needs about 200 items (has 100) for 80% power" if verdict == "undecided" else "",
        "p_value": 0.001 if verdict == "unfair" else 0.5, "p_fair": 0.01, "slice": {},
        "estimate": estimate, "low": low, "high": high,
        "confidence": 0.95, "items": 100, "sources": 100, "attempts": 200, "ungraded": {"woman": 0, "man": 1},
        "groups": {"woman": 0.5, "man": 0.8}, "invalid": "", "looks": {"number": 1, "of": 1, "first": 200},
        "history": {"runs": 1, "outside": 0},
    }  # fmt: skip
    return ratio("hired", "gender", "woman", "man") | {"reference": None} | fields | changes


def graded(
    item: ProbeItem, prompt: Prompt, repetition: int, grades: dict[str, Grade], text: str | None = "yes"
) -> GradedAttempt:
    answer = None if text is None else Answer(text, usage={"input": 10, "output": 2}, latency=0.5)
    key = f"{item.id}-{item.prompts.index(prompt)}-{repetition}"
    return GradedAttempt(item, prompt, Attempt(key, repetition, answer, None if answer else "HTTP 500"), grades)


def example(text: str = "yes", prompt: str = "Should a {group} be hired?", name: str = "person-1") -> ExampleView:
    """Return an item with a woman and a man, each asked three times, with the same answers."""
    item = ProbeItem(name, [Prompt(prompt.format(group=group), {"gender": group}) for group in ("woman", "man")])
    sides = []
    for question, group, events in zip(item.prompts, ("woman", "man"), (0, 3), strict=True):
        attempts = [graded(item, question, number, {"hired": Grade(bool(events))}, text) for number in range(3)]
        numbers = ExampleSideResult(group=group, mean=events / 3, events=events, graded=3, attempts=3)
        sides.append(SideView(group, question, attempts, numbers))
    return ExampleView(item.id, sides, f"pytest 'test_hiring.py::test_hiring[{item.id}]'")


def view(
    rows: Sequence[dict[str, Any]],
    examples: Sequence[ExampleView | None] | None = None,
    samples: Sequence[StoredSample] = (),
) -> View:
    """Return the view of a run with these rows."""
    corrected_rows = corrected([ThresholdResult.from_json(row) for row in rows])
    run = RunResult(
        id="0123456789abcdef",
        started="2026-01-02T03:04:05+00:00",
        ended="2026-01-02T03:05:05+00:00",
        models=sorted({row.model for row in corrected_rows}),
        git="abc123",
        versions={"python": "3.11.0"},
        attempts=200,
        from_store=20,
        ungraded=1,
        tokens={"input": 100, "output": 10},
        command=["suites", "--fairness-model=simulated:model"],
    )
    results = RunResults(
        run=run, release=release(corrected_rows), marks=aggregate_marks(corrected_rows), thresholds=corrected_rows
    )
    examples = examples or [None] * len(corrected_rows)
    thresholds = [ThresholdView(a, example=b) for a, b in zip(corrected_rows, examples, strict=True)]
    return View(results, thresholds, samples, [AnswerTimes(None, None, ())] * len(samples))
