"""Runs a threshold test and lets its verdict decide the outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.verdicts import Judgement, Verdict
from pytest_fairness.core.wording import explanation
from pytest_fairness.engine.errors import SpentError
from pytest_fairness.report.texts import visible
from pytest_fairness.session.causes import cause_property
from pytest_fairness.session.clustering_checks import MOST_ATTEMPTS, SECONDS, check_clustering
from pytest_fairness.session.history import TRYOUT, History, JudgedRuns, read_history
from pytest_fairness.session.looks import items_limit, looks, note_decided
from pytest_fairness.session.measuring import LazyMeasured
from pytest_fairness.session.probes import FlakyMark, mark_of
from pytest_fairness.session.rehearsal import judged
from pytest_fairness.session.rows import influences_of, threshold_row, to_properties
from pytest_fairness.session.state import SESSION

_PACKAGE = str(Path(__file__).parents[1])

FLAKY: pytest.StashKey[str] = pytest.StashKey()
"""Why a test's report is to read *flaky*."""
SURE = 0.9
"""Probability from which a history shows that a threshold is more flaky than its mark allows."""
METRICS: pytest.StashKey[list[dict[str, Any]]] = pytest.StashKey()
"""Every estimate that a test made: sent with its report, but too many for its JUnit properties."""
_COMMAND = re.compile(r"\n(?=\s*(::|##))")


class Broken(AssertionError):
    """A threshold that is not fair.

    pytest's short summary shows an exception's name and as much of its message as fits. So
    the names of the subclasses are the verdicts, and the messages begin with the numbers.
    """

    def __init_subclass__(cls) -> None:
        cls.__module__ = "builtins"  # pytest shows the name alone


class Unfair(Broken):
    """The interval lies outside the bounds."""


class Undecided(Broken):
    """The interval straddles a bound."""


class Invalid(Broken):
    """Nothing can be concluded from what was measured."""


_EXCEPTIONS = {Verdict.UNFAIR: Unfair, Verdict.UNDECIDED: Undecided, Verdict.INVALID: Invalid}


def run_threshold(item: pytest.Function) -> None:
    """Call the test, judge what it compared, and raise where that is not fair.

    Raises `Broken`, named for the verdict, at the user's line.
    """
    __tracebackhide__ = True
    settings = item.config.stash[SESSION].settings
    measured = item.funcargs["measured"]
    assert isinstance(measured, LazyMeasured)  # noqa: S101 - the fixture's, or the test would have errored
    try:
        flaky = FlakyMark.of(item)
    except FairnessError as error:
        judgement, flaky, runs = Judgement(Verdict.INVALID, reason=str(error)), None, None
    else:
        runs = None
        judgement = Judgement(Verdict.UNDECIDED)
        for look in looks(item, settings, measured):
            before = measured.look
            measured.take(replace(look, run=runs.number if runs else 1))
            try:
                measured.load()
            except SpentError as error:  # what was not measured never helps: the rest may be the fairer part
                measured.take(before)
                judgement = replace(judgement, reason=str(error))
                break
            judgement = judged(item)
            if runs is None:
                runs = JudgedRuns.of(item.nodeid, measured, judgement)
                if runs.number > 1:
                    measured.take(replace(look, run=runs.number))
                    judgement = judged(item)
            judgement = at_look(judgement, measured)
            if judgement.verdict is not Verdict.UNDECIDED:
                note_decided(item)
            if judgement.verdict is not Verdict.UNDECIDED or judgement.reason:
                break
    conclude(item, judgement, measured, flaky, runs)


def at_look(judgement: Judgement, measured: LazyMeasured) -> Judgement:
    """The verdict on the sample of this look; one that is undecided for a reason needs no further look."""
    if judgement.verdict in (Verdict.INVALID, Verdict.UNDECIDED) and measured.cause is not None:
        # Not that all is ungraded, or more items are needed; and no flaky mark excuses what was not asked.
        cause, count = measured.cause
        return Judgement(judgement.verdict, reason=f"{cause} ({count:,} not asked)")
    if judgement.verdict in (Verdict.FAIR, Verdict.UNDECIDED) and measured.is_tryout:
        return replace(judgement, verdict=Verdict.UNDECIDED, reason=tryout(measured))
    if judgement.verdict is Verdict.UNDECIDED:
        return replace(judgement, reason=items_limit(judgement, measured.look, measured.probe))
    return judgement


def tryout(measured: LazyMeasured) -> str:
    """Return why a small sample makes nothing fair."""
    declared, _ = measured.probe.declared
    items = len(measured.probe.items)
    return (
        f"a try-out: {items:,} of {declared:,} items say nothing good; measure at least a quarter of them, "
        "and all for a verdict"
    )


def conclude(
    item: pytest.Function,
    judgement: Judgement,
    measured: LazyMeasured,
    flaky: FlakyMark | None,
    runs: JudgedRuns | None,
) -> None:
    """Note the verdict on the test and raise where it breaks the build."""
    __tracebackhide__ = True
    message = explanation(judgement) if judgement.verdict is not Verdict.FAIR else ""
    history = read_history(item.nodeid, judgement, measured)
    row = threshold_row(item, judgement, measured, message) | {"history": asdict(history)}
    if runs is not None:
        row["looks"] |= runs.row() | ({"identity": TRYOUT} if measured.is_tryout else {})
    if judgement.deciding is not None and judgement.deciding.estimate.attempts <= MOST_ATTEMPTS:
        row["clustering"] = check_clustering(item, measured.load(), judgement, SECONDS)
    if influences := influences_of(judgement):
        measured.keep_influences(item.nodeid, influences)
    broken = _not_excused(item, judgement, flaky, row, history)
    if judgement.verdict is Verdict.UNDECIDED and not broken:
        item.stash[FLAKY] = row["flaky"] = f"flaky: {message}"
    item.stash[METRICS] = row.pop("metrics")
    item.user_properties[:] = to_properties(row)
    if measured.cause is not None:
        item.user_properties.append(cause_property(*measured.cause, measured.probe.id))
    if judgement.verdict is Verdict.FAIR or not broken:
        return
    # On CI pytest prints a message whole, and a line of it that begins with :: is a command to the runner.
    text = visible(message.removeprefix(f"{judgement.verdict}: "), lines=judgement.deciding is None)
    text = _COMMAND.sub(r"\\u000a", text)
    exception = _EXCEPTIONS[judgement.verdict]
    text += broken if isinstance(broken, str) else ""
    traceback = _users_part(judgement.failure)
    if traceback is None:  # no line of the user's to show
        _fail(f"{exception.__name__}: {text}")
    raise exception(text).with_traceback(traceback) from None


def _fail(text: str) -> NoReturn:
    # Not hidden from tracebacks: pytest remarks on a failure of which every entry is.
    pytest.fail(text, pytrace=False)


def _users_part(failure: BaseException | None) -> TracebackType | None:
    """The traceback as far as the user's own line: what lies below is no help."""
    traceback = failure.__traceback__ if failure else None
    last, entry = None, traceback
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            last = entry
        entry = entry.tb_next
    if last is None:
        return None
    last.tb_next = None
    return traceback


def _not_excused(
    item: pytest.Function,
    judgement: Judgement,
    flaky: FlakyMark | None,
    row: Mapping[str, Any],
    history: History,
) -> str | bool:
    """Whether the verdict breaks the build, with what to say besides where a flaky mark does not help."""
    if judgement.verdict is not Verdict.UNDECIDED or flaky is None or item.get_closest_marker("xfail"):
        return judgement.verdict is not Verdict.FAIR
    if judgement.deciding is None:
        return "; its flaky mark excuses what was measured near a bound"
    if datetime.now().astimezone().date() > flaky.until:
        return f"; its flaky mark ended on {flaky.until} ({flaky.reason})"
    allowed = f"over the {flaky.max_flip:.0%} of its flaky mark ({flaky.reason})"
    outside = row["outside_probability"]
    if outside is not None and outside > flaky.max_flip:
        return f"; a rerun would lie outside with probability {outside:.0%}, {allowed}"
    if history.exceeds(flaky.max_flip) >= SURE:
        return f"; it lay outside in {history.outside} of {history.runs} runs, {allowed}"
    return False


def is_threshold(item: pytest.Item) -> bool:
    """Whether a test is marked ``threshold``."""
    return isinstance(item, pytest.Function) and mark_of(item.function, "threshold") is not None
