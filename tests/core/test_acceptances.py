"""Accepted verdicts: what they cover, what breaks them, and files that are refused in one line."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.acceptance_results import FailingEstimate, FirstAcceptance
from pytest_fairness.core.acceptances import (
    Acceptance,
    acceptance_of,
    accepted_span,
    parse_acceptances,
    read_acceptances,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.threshold_results import EstimateResult, LooksResult, ThresholdResult
from pytest_fairness.report.acceptance_file import HEAD, entry_text
from pytest_fairness.report.decisions import decision_line
from pytest_fairness.report.escaping import escape_controls

DAY = date(2026, 11, 23)
UNFAIR = FailingEstimate(metric="ratio", verdict="unfair", value=0.6, low=0.5, high=0.7, bounds=(0.8, 1.25))
OPEN = FailingEstimate(metric="gap", verdict="undecided", value=0.1, low=0.02, high=0.2, bounds=(None, 0.15))


def row(*failing: FailingEstimate, verdict: str = "unfair", **changes: Any) -> ThresholdResult:
    facts: dict[str, Any] = {
        "id": "test_pay.py::test_alike[x:y]", "threshold": "Paid alike", "model": "x:y",
        "probe": "test_pay.py::test_pay",
        "verdict": verdict, "items_digest": "a1b2", "graders": {"paid": "YesNo v1"}, "failing": failing or (UNFAIR,),
    }  # fmt: skip
    return ThresholdResult(**facts | changes)


def accept(of: ThresholdResult, **changes: Any) -> Acceptance:
    facts: dict[str, Any] = {
        "run": "r1", "by": "Ada", "reason": "under review", "on": DAY, "until": DAY + timedelta(days=30)
    }  # fmt: skip
    return acceptance_of(of, **facts | changes)


def state(entry: Acceptance, of: ThresholdResult, day: date = DAY) -> tuple[str, str]:
    applied = entry.applied_to(of, day)
    return applied.state, applied.why


@pytest.mark.parametrize(
    ("estimate", "expected"), [(0.6, "accepted"), (0.5, "accepted"), (0.79, "accepted"), (0.499, "broken")]
)
def test_worse_estimate_breaks_the_acceptance(estimate: float, expected: str) -> None:
    now = replace(UNFAIR, value=estimate, low=estimate - 0.1, high=estimate + 0.1)
    assert state(accept(row()), row(now))[0] == expected


def test_estimate_beyond_the_other_bound_breaks_the_acceptance() -> None:
    now = replace(UNFAIR, value=1.4, low=1.3, high=1.5)
    assert state(accept(row()), row(now)) == ("broken", "ratio is 1.4, beyond the accepted 0.5 to 1.25")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"threshold": "Paid equally"}, "the title is 'Paid equally' now, 'Paid alike' was accepted"),
        ({"probe": "other"}, "the probe is other now, test_pay.py::test_pay was accepted"),
        ({"items_digest": "ffff"}, "the items of the probe have changed"),
        ({"graders": {"paid": "YesNo v2"}}, "the graders have changed"),
        (
            {"failing": (replace(UNFAIR, bounds=(0.7, 1.25)),)},
            "the bounds are 0.7 to 1.25 now, 0.8 to 1.25 were accepted",
        ),
        (
            {"failing": (UNFAIR, replace(UNFAIR, slice={"lang": "de"}))},
            "ratio where the lang is de is unfair and was not accepted",
        ),
        ({"failing": (UNFAIR, OPEN)}, "gap is undecided and was not accepted"),
        ({"failing": (replace(UNFAIR, value=None),)}, "ratio could not be measured"),
        ({"failing": (replace(UNFAIR, verdict="invalid"),)}, "ratio could not be measured"),
        ({"verdict": "invalid"}, "the verdict is invalid, and only unfair or undecided is accepted"),
        ({"looks": LooksResult(tryout=True)}, "a try-out of few items is never accepted"),
        (
            {"estimate": EstimateResult(against_baseline=True)},
            "it is compared with a baseline, which another run changes",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_every_change_breaks_the_acceptance(changes: dict[str, Any], why: str) -> None:
    assert state(accept(row()), replace(row(), **changes)) == ("broken", why)


def test_undecided_threshold_without_failing_estimates_is_not_covered() -> None:
    entry = accept(row(OPEN, verdict="undecided"))
    assert state(entry, replace(row(OPEN, verdict="undecided"), failing=()))[0] == "broken"


def test_undecided_acceptance_does_not_cover_unfair() -> None:
    entry = accept(row(OPEN, verdict="undecided"))
    assert state(entry, row(OPEN, verdict="undecided")) == ("accepted", "")
    unfair = replace(OPEN, verdict="unfair", low=0.16)
    assert state(entry, row(unfair)) == ("broken", "it was accepted as undecided and is unfair now")
    # Beside another estimate that was accepted as unfair.
    both = accept(row(UNFAIR, OPEN))
    assert state(both, row(UNFAIR, unfair)) == ("broken", "gap was accepted as undecided and is unfair now")


def test_acceptance_ends_after_its_last_day() -> None:
    entry = accept(row())
    assert state(entry, row(), entry.until)[0] == "accepted"
    assert state(entry, row(), entry.until + timedelta(days=1)) == ("expired", f"it ended on {entry.until}")
    assert state(entry, row(), DAY - timedelta(days=1))[0] == "broken"
    assert accept(row(), until=DAY + timedelta(days=366)).until == date(2027, 11, 24)
    assert state(entry, row(verdict="fair"), DAY)[0] == "not needed"
    assert entry.unused(DAY, "not judged").state == "not used"
    assert entry.unused(entry.until + timedelta(days=1), "").state == "expired"


@pytest.mark.parametrize(
    ("of", "changes", "message"),
    [
        (row(verdict="fair"), {}, "'Paid alike' on x:y is fair: only unfair or undecided verdicts can be accepted"),
        (row(verdict="invalid"), {}, "is invalid"),
        (row(items_digest=""), {}, "of an older version"),
        (row(replace(UNFAIR, high=None)), {}, "has no end"),
        (row(), {"reason": " "}, "reason is ' ': write a text that is not empty"),
        (row(), {"reason": "a\nb"}, "one line"),
        (row(), {"reason": "\x1b[31mred"}, "control characters"),
        (row(), {"by": "\u202egnp"}, "control characters"),
        (row(), {"reason": "x" * 1_001}, "1,001 characters"),
        (row(), {"until": DAY - timedelta(days=1)}, "must not lie before"),
        (row(), {"until": DAY + timedelta(days=367)}, "at most a year"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_verdict_that_cannot_be_accepted_is_refused(of: ThresholdResult, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FairnessError) as error:
        accept(of, **changes)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


GOOD = HEAD + "\n" + entry_text(accept(row()))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[accepted]]", "[[accepted]", ":4: not valid TOML"),
        ("[[accepted]]", "[accepted]", ":4: 'accepted' is no list of tables"),
        ("[[accepted]]", "[[accept]]", ":4: the file has 'accept'"),
        ('by = "Ada"\n', "", ":4: an entry needs `by`: `pytest-fairness accept` writes"),
        ('by = "Ada"', 'owner = "Ada"', ":10: an entry has no field 'owner'"),
        ("until = 2026-12-23", 'until = "2026-12-23"', ":12: until is '2026-12-23': write a date without quotes"),
        ("until = 2026-12-23", "until = 2026-12-23T10:00:00", "write a date without quotes"),
        ("until = 2026-12-23", "until = 2028-12-23", ":12: until is 2028-12-23: it must lie at most a year after"),
        ("until = 2026-12-23", "until = 2026-11-22", "it must not lie before the decision"),
        ("until = 2026-12-23", "until = 2026-13-45", "not valid TOML"),
        ('verdict = "unfair"\nreason', 'verdict = "invalid"\nreason', ":8: verdict is 'invalid'"),
        ('reason = "under review"', 'reason = "  "', ":9: reason is '  '"),
        ('reason = "under review"', "reason = 1", "write a text"),
        ('reason = "under review"', 'reason = "a\\u001b[31m"', "control characters"),
        ("interval = [0.5, 0.7]", "interval = [0.7, 0.5]", "an estimate lies in its interval"),
        ("interval = [0.5, 0.7]", "interval = [-inf, 0.7]", "finite numbers"),
        ("interval = [0.5, 0.7]", "interval = 0.5", "estimates[0].interval is 0.5: write [LOW, HIGH]"),
        ("estimate = 0.6", "estimate = nan", "estimates[0].estimate is nan: it must be a finite number"),
        ("estimate = 0.6", "estimate = true", "it must be a finite number"),
        ("estimate = 0.6", f"estimate = {'9' * 400}", "estimates[0].estimate"),
        ("estimate = 0.6", f"estimate = {'9' * 5000}", "not valid TOML"),
        ("bounds = [0.8, 1.25]", "bounds = [-inf, inf]", "estimates[0].bounds is [-inf, inf]: write [LOW, HIGH]"),
        ("bounds = [0.8, 1.25]", "bounds = [nan, 1]", "write [LOW, HIGH]"),
        ("slice = {}", "slice = {a = 1}", "estimates[0].slice.a is 1: it must be a text"),
        ("slice = {}, ", "", "estimates[0] needs `slice`"),
    ],
)
def test_malformed_entry_is_refused_in_one_line(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(FairnessError) as error:
        parse_acceptances(GOOD.replace(old, new), "accepted.toml")
    assert message in str(error.value)
    assert str(error.value).startswith("accepted.toml:")
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


def test_renewed_acceptance_keeps_the_first_estimate() -> None:
    """Regression: an acceptance that was renewed each time forgot where it began."""
    estimates = [UNFAIR, *(replace(UNFAIR, value=value, low=0.4) for value in (0.58, 0.55))]
    entry, *later = (accept(row(part), on=DAY + timedelta(days=day)) for day, part in enumerate(estimates))
    for renewed in later:
        (entry,) = parse_acceptances(HEAD + "\n" + entry_text(renewed.renewal_of(entry)))
    assert entry.first == FirstAcceptance(on="2026-11-23", value=0.6, renewals=2)
    (line,) = decision_line(entry.result()).splitlines()
    assert (
        "unfair at 0.55 (0.4 to 0.7), bounds 0.8 to 1.25, accepted 3 times since 2026-11-23, at 0.6 then, by " in line
    )


def test_two_entries_for_one_threshold_are_refused() -> None:
    entry = entry_text(accept(row()))
    with pytest.raises(FairnessError, match=r":23: 'test_pay.py::test_alike\[x:y\]' on 'x:y' is accepted at .*:4 too"):
        parse_acceptances(f"{HEAD}\n{entry}\n# again\n\n{entry}", "accepted.toml")
    other = entry.replace('model = "x:y"', 'model = "x:z"')
    assert len(parse_acceptances(f"{entry}\n{other}")) == 2


TEXTS = st.text(min_size=1, max_size=40).filter(lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text))
WRITTEN = TEXTS.filter(lambda text: text.isprintable() and bool(text.strip()))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), WRITTEN, WRITTEN, st.lists(NUMBERS, min_size=3, max_size=3))
def test_entry_is_read_as_it_was_written(
    names: tuple[str, str, str, str], by: str, reason: str, numbers: list[float]
) -> None:
    low, value, high = sorted(numbers)
    part = replace(UNFAIR, metric=names[3], slice={names[0]: names[1]}, value=value, low=low, high=high)
    entry = accept(row(part, id=names[0], threshold=names[1], model=names[2]), by=by, reason=reason)
    (entry_read,) = parse_acceptances(f"{HEAD}\n{entry_text(entry)}")
    assert replace(entry_read, where="") == entry
    lines = entry_text(entry_read).split("\n")
    assert [escape_controls(line) for line in lines] == lines


@given(st.lists(NUMBERS, min_size=4, max_size=4), st.booleans(), st.booleans(), NUMBERS)
def test_accepted_span_holds_bounds_and_interval(
    numbers: list[float],
    has_low: bool,
    has_high: bool,
    value: float,
) -> None:
    low, high = sorted(numbers[:2])
    ends = sorted(numbers[2:])
    bounds = (low if has_low else None, high if has_high else None)
    part = replace(UNFAIR, low=ends[0], high=ends[1], bounds=bounds)
    least, most = accepted_span(part)
    inside_bounds = (not has_low or value >= low) and (not has_high or value <= high)
    assert (least == -math.inf) == (not has_low)
    assert (most == math.inf) == (not has_high)
    assert least <= ends[0] <= ends[1] <= most
    if inside_bounds:
        assert least <= value <= most
    elif (has_low and value < min(low, ends[0])) or (has_high and value > max(high, ends[1])):
        assert not least <= value <= most


@pytest.mark.parametrize(
    "text",
    ["", HEAD, "# no entry yet\n", "\ufeff", f"\ufeff{HEAD}"],
    ids=["empty", "head", "comment", "mark", "mark-and-head"],
)
def test_file_without_entries_accepts_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fairness-accepted.toml"
    path.write_text(text, encoding="utf-8")
    assert read_acceptances(path) == []
