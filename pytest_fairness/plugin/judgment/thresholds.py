"""Runs of threshold tests, and the outcomes that follow from their verdicts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import pytest

from pytest_fairness.core.acceptance_states import ACCEPTED, NOT_NEEDED
from pytest_fairness.core.causes import cause_sentences
from pytest_fairness.core.decisions import Verdict, is_library
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.json_objects import finite
from pytest_fairness.core.messages import explanation
from pytest_fairness.core.threshold_results import MetricResult, ThresholdResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.engine.errors import BudgetExceededError
from pytest_fairness.plugin.compat import expects_failure
from pytest_fairness.plugin.config.profiles import smallest_sample
from pytest_fairness.plugin.judgment.causes import find_threshold_causes
from pytest_fairness.plugin.judgment.evaluation import estimate_format_effects, evaluate, threshold_design
from pytest_fairness.plugin.judgment.flaky_marks import marked_acceptance
from pytest_fairness.plugin.judgment.history import JudgedRuns, history_result, read_history
from pytest_fairness.plugin.judgment.seals import is_unsealed, under_seal
from pytest_fairness.plugin.judgment.threshold_rows import get_influences, store_key, threshold_row
from pytest_fairness.plugin.probes.mark_arguments import FlakyMark
from pytest_fairness.plugin.probes.markers import flaky_mark
from pytest_fairness.plugin.report_data import CAUSE, COMPETENCE, ESTIMATES, EXCUSE, THRESHOLD, clear, write
from pytest_fairness.plugin.samples.baseline import LazyBaseline
from pytest_fairness.plugin.samples.measurement import LazyMeasured, lazy_measured
from pytest_fairness.plugin.samples.sequential_looks import MOST_LOOKS, Look, explain_limit
from pytest_fairness.plugin.session.acceptances import REPORT_ACCEPTED
from pytest_fairness.plugin.session.failure_causes import FailureCause
from pytest_fairness.plugin.session.session import SESSION
from pytest_fairness.report.decisions import acceptance_phrase
from pytest_fairness.report.escaping import escape_controls

_PACKAGE = f"{Path(__file__).parents[2]}{os.sep}"

_COMMAND = re.compile(r"\n(?=\s*(::|##))")


class ThresholdFailure(AssertionError):
    """A threshold that is not fair.

    pytest's short summary shows an exception's name and as much of its message as fits. So
    the names of the subclasses are the verdicts, and the messages begin with the numbers.
    """

    def __init_subclass__(cls) -> None:
        cls.__module__ = "builtins"  # so that pytest prints the name without a module


class Unfair(ThresholdFailure):
    """The interval lies outside the bounds."""


class Undecided(ThresholdFailure):
    """The interval crosses a bound."""


class Invalid(ThresholdFailure):
    """Nothing can be concluded from the measurements."""


_EXCEPTIONS = {Verdict.UNFAIR: Unfair, Verdict.UNDECIDED: Undecided, Verdict.INVALID: Invalid}


def run_threshold(item: pytest.Function) -> None:
    """Call the test, judge its comparisons, and raise if the verdict is not fair.

    Args:
        item: The test of a threshold, set up.

    Raises:
        ThresholdFailure: The verdict breaks the build; the exception is named for it, and raised at the user's line.
    """
    __tracebackhide__ = True
    measured = lazy_measured(item.funcargs["measured"])
    try:
        flaky = flaky_mark(item)
    except FairnessError as error:
        _fail(str(error))
    baseline = item.funcargs.get("baseline")
    baseline = baseline if isinstance(baseline, LazyBaseline) else None
    runs = None
    judgment = Judgment(Verdict.UNDECIDED)
    for look in _looks(item, measured, baseline):
        previous_look = measured.look
        measured.look = replace(look, run=runs.look.number if runs else 1)
        try:
            _load(measured, item.config.stash[SESSION].models.show)
        except BudgetExceededError as error:  # a part that is measured may be the fairer one
            measured.look = previous_look
            judgment = replace(judgment, reason=str(error))
            break
        judgment = evaluate(item)
        if runs is None:
            key, answers = store_key(item) or item.nodeid, baseline.answers if baseline else ""
            runs = JudgedRuns.record(key, measured, judgment, threshold_design(item), answers)
            if runs.look.number > 1:
                measured.look = replace(look, run=runs.look.number)
                judgment = evaluate(item)
        judgment = at_look(item, judgment, measured)
        if judgment.verdict is not Verdict.UNDECIDED or judgment.reason:
            break
    finish_threshold(item, judgment, measured, flaky, runs)


def _looks(item: pytest.Function, measured: LazyMeasured, baseline: LazyBaseline | None) -> Iterator[Look]:
    """Yield the looks of this call of a threshold's test, in order: several with ``--fairness-resolve``.

    A rerun by pytest-rerunfailures has the same looks again, and so the same verdict.
    """
    settings = item.config.stash[SESSION].settings
    most = MOST_LOOKS if settings.resolve else 1
    first = measured.first_look(most)
    if most > 1 and baseline is not None:
        first = _limit_to_baseline(baseline, first) or measured.first_look(1)
    yield from (replace(first, number=number) for number in range(1, first.total + 1))


def _limit_to_baseline(baseline: LazyBaseline, first: Look) -> Look | None:
    """Return the first look of a plan with the looks that the baseline's sample covers; None for fewer than two."""
    sizes = [size for number, size in enumerate(first.plan, start=1) if baseline.covers(replace(first, number=number))]
    return replace(first, plan=tuple(sizes)) if len(sizes) > 1 else None


def _load(measured: LazyMeasured, show: Callable[[str], str]) -> None:
    """Measure the sample of a look; a mistake in what the probe names fails the test without a line of its own."""
    __tracebackhide__ = True
    try:
        measured.load()
    except BudgetExceededError:
        raise
    except FairnessError as error:
        mistake = str(error)
    else:
        return
    _fail(show(mistake))


def at_look(item: pytest.Function, judgment: Judgment, measured: LazyMeasured) -> Judgment:
    """Return the verdict on the sample of a look, under the seal of the project: every verdict of a run is made here.

    With a reason, an undecided one needs no further look.
    """
    return under_seal(item, _at_look(judgment, measured), measured)


def _at_look(judgment: Judgment, measured: LazyMeasured) -> Judgment:
    if judgment.verdict in (Verdict.INVALID, Verdict.UNDECIDED) and measured.cause is not None:
        # No needs are reported, and a flaky mark does not excuse requests that were not made.
        cause, count = measured.cause
        return Judgment(judgment.verdict, reason=f"{cause} ({counted(count, 'attempt')} not measured)")
    items, whole = measured.look.size.items, len(measured.probe.items) + len(measured.probe.reserve)
    if items < whole:
        judgment = replace(judgment, larger=whole / items, sampling=measured.sampling)
    if judgment.verdict in (Verdict.FAIR, Verdict.UNDECIDED) and measured.is_tryout:
        return replace(judgment, verdict=Verdict.UNDECIDED, reason=tryout(measured))
    if judgment.verdict is Verdict.UNDECIDED:
        from pytest_fairness.stats.limits import with_limit

        first_tail = replace(measured.look, run=1).own_tail if measured.look.run > 1 else None
        judgment = with_limit(judgment, measured.look.next_share, first_tail)
        return replace(judgment, reason=explain_limit(judgment, measured.look, measured.probe))
    return judgment


def tryout(measured: LazyMeasured) -> str:
    """Return the reason why a threshold on a small sample is undecided."""
    if measured.is_smoke:
        return "a smoke run is a try-out, and nothing is fair by it: leave out --fairness-profile=smoke"
    (items, attempts), made = measured.probe.declared, len(measured.attempts)
    number, least = len(measured.probe.items), smallest_sample(items)
    if number < least:
        size, way_out = f"{number:,} of {items:,} items", f"measure at least {least:,} items"
    else:
        size, way_out = f"{made:,} of {attempts:,} attempts", "measure more repetitions"
    return f"a try-out of {size} is under a quarter, and never fair: {way_out}"


def finish_threshold(
    item: pytest.Function, judgment: Judgment, measured: LazyMeasured, flaky: FlakyMark | None, runs: JudgedRuns | None
) -> None:
    """Record the verdict on the test, and raise if it fails the test.

    Args:
        item: The test of the threshold.
        judgment: The judgment of its last look.
        measured: The sample.
        flaky: Its flaky mark, if any.
        runs: The judged runs of the threshold; None where nothing was judged.

    Raises:
        ThresholdFailure: The verdict breaks the build.
    """
    __tracebackhide__ = True
    message = explanation(judgment) if judgment.verdict is not Verdict.FAIR else ""
    causes = find_threshold_causes(item, judgment, measured) if judgment.verdict is not Verdict.FAIR else []
    message += "".join(f"; {text}" for text in cause_sentences(causes, message))
    show = item.config.stash[SESSION].models.show
    message = show(message)
    if runs is not None:
        # What differs from a seal was shown, so it counts as a run: test_runs_against_the_seal_are_counted.
        is_invalid = judgment.verdict is Verdict.INVALID and not is_unsealed(judgment)
        verdict = Verdict.UNDECIDED if is_unsealed(judgment) else judgment.verdict
        measured.conclude_look(runs.look, None if is_invalid else str(verdict))
    result = replace(_checked_row(item, judgment, measured, message, runs), causes=causes)
    earlier = runs.results if runs is not None else ()
    history = read_history(result, earlier)
    result = replace(result, history=history_result(result, history, earlier))
    if isinstance(baseline := item.funcargs.get("baseline"), LazyBaseline):
        result = replace(result, drift=baseline.drift(result))
    if influences := get_influences(judgment):
        measured.store_influences(result.stored_id, influences)
    near = judgment.deciding is not None and not judgment.sensitivity
    marked = None if flaky is None else marked_acceptance(flaky, result, history, near_bound=near)
    result = replace(result, accepted=item.config.stash[SESSION].acceptances.applied_to(result) or marked)
    excuse, remark = _apply_acceptance(item, result)
    subject = {"suite": result.suite, "probe": result.probe, "model": result.model}
    metrics = [
        MetricResult.of(estimate, column=estimate.column, observed=finite(estimate.observed), **subject)
        for estimate in judgment.estimates
    ]
    clear(item)
    write(item, THRESHOLD, result.to_json())
    write(item, ESTIMATES, [metric.to_json() for metric in metrics])
    if excuse:
        write(item, EXCUSE, excuse)
    if (probe_result := measured.probe_result) is not None:
        write(item, COMPETENCE, probe_result.to_json())
    if measured.cause is not None:
        cause, attempts = measured.cause
        write(item, CAUSE, FailureCause(show(cause), attempts, measured.probe.id).to_json())
    if judgment.verdict is not Verdict.FAIR and not excuse:
        _raise_verdict(judgment, message, remark)


def _checked_row(
    item: pytest.Function, judgment: Judgment, measured: LazyMeasured, message: str, runs: JudgedRuns | None
) -> ThresholdResult:
    """Return the result of a threshold, with its looks, and with the effects of formats."""
    result = threshold_row(item, judgment, measured, message)
    if runs is not None and result.looks is not None:
        result = replace(result, looks=runs.looks(result.looks))
    if judgment.deciding is None:
        return result
    # A replayed model has one answer for all formats.
    if not measured.subject.name.startswith("replay:"):
        result = replace(result, formats=estimate_format_effects(item, measured.load(), judgment))
    return result


def _raise_verdict(judgment: Judgment, message: str, remark: str) -> NoReturn:
    """Fail the test at the user's line."""
    __tracebackhide__ = True
    # On CI pytest prints the whole message, in which a line that begins with :: would be a command to the runner.
    text = escape_controls(message.removeprefix(f"{judgment.verdict}: "), lines=judgment.deciding is None)
    text = _COMMAND.sub(r"\\u000a", text) + escape_controls(remark)
    exception = _EXCEPTIONS[judgment.verdict]
    traceback = _user_traceback(judgment.failure)
    if traceback is None:  # without a line of the user's
        _fail(f"{exception.__name__}: {text}")
    raise exception(text).with_traceback(traceback) from None


def _apply_acceptance(item: pytest.Function, result: ThresholdResult) -> tuple[str, str]:
    """Return the reason for which a test's report reads *accepted*, if it does; else what its message adds on that."""
    accepted = result.accepted
    if accepted is None or accepted.state == NOT_NEEDED or expects_failure(item):
        return "", ""
    phrase = acceptance_phrase(accepted)
    if accepted.state == ACCEPTED and item.config.stash[SESSION].settings.accepted == REPORT_ACCEPTED:
        return f"{phrase}: {result.message}", ""
    return "", f"; {phrase}"


def _fail(text: str) -> NoReturn:
    # Not hidden from tracebacks: pytest warns if every entry is.
    pytest.fail(text, pytrace=False)


def _user_traceback(failure: BaseException | None) -> TracebackType | None:
    """Return the traceback down to the user's line, without later frames of this package and of libraries."""
    traceback = failure.__traceback__ if failure else None
    last, entry = None, traceback
    while entry is not None:
        filename = entry.tb_frame.f_code.co_filename
        if not filename.startswith(_PACKAGE) and (last is None or not is_library(filename)):
            last = entry
        entry = entry.tb_next
    if last is None:
        return None
    last.tb_next = None
    return traceback
