"""``--fairness-certify RUN``: the error rates of thresholds on stored answers, without requests.

The labels of groups are permuted, so that parity is the truth; then positives of one group are removed at random, so
that a known bias is the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from pytest_fairness.core.dry_run_results import CertifiedThreshold, CertifyResult, TruthResult, VerdictShares
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import align_columns
from pytest_fairness.planning import error_rates
from pytest_fairness.planning.error_rates import ErrorRateSample, add_holm_results, estimate_error_rates
from pytest_fairness.planning.time_budget import TimeBudget
from pytest_fairness.plugin.hooks.dry_runs.dry_run import DryRun
from pytest_fairness.plugin.judgment import threshold_rows
from pytest_fairness.plugin.judgment.evaluation import ThresholdTest
from pytest_fairness.plugin.output import terminal_text
from pytest_fairness.plugin.probes.marked_tests import is_threshold
from pytest_fairness.plugin.samples.baseline import uses_baseline
from pytest_fairness.plugin.samples.measurement import lazy_measured
from pytest_fairness.plugin.samples.stored_samples import find_sample_key, load_sample, restore_measured
from pytest_fairness.plugin.session.session import SESSION

AGAINST_BASELINE = "it is compared with a baseline, not with parity"

COLUMNS = (("parity", "blocked"), ("parity", "unfair"), ("bound", "fair"), ("beyond", "missed"), ("beyond", "fair"))
_HEADS = ("threshold", "blocked", "unfair", "fair", "missed", "fair")
_OVER = ("", "at parity", "", "on bound", "beyond", "")


class ErrorRateCheck:
    """Hooks that check the error rates of thresholds on stored answers, instead of measuring."""

    def __init__(self, dry_run: DryRun[CertifiedThreshold]) -> None:
        self._dry_run = dry_run
        self._budget: TimeBudget | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Certify one threshold; it is skipped if nothing can be concluded."""
        __tracebackhide__ = True
        if self._budget is None:
            self._budget = TimeBudget(error_rates.SECONDS, sum(map(is_threshold, pyfuncitem.session.items)))
        with self._budget.share() as seconds:
            row = certify_threshold(pyfuncitem, seconds)
        self._dry_run.attach(pyfuncitem, row)
        if row.reason:
            pytest.skip(f"not certified: {row.reason}")
        return True

    def conclude(self) -> None:
        """Write the error rates, corrected for the number of thresholds."""
        run = self._dry_run.state.fairness.settings.certify
        self._dry_run.conclude(lambda rows: CertifyResult(run=run, thresholds=add_holm_results(rows)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        certify = self._dry_run.results.certify if self._dry_run.results else None
        self._dry_run.write_tables(terminalreporter, "certified", certify.thresholds if certify else (), self._lines)

    def _lines(self, model: str, rows: Sequence[CertifiedThreshold], width: int) -> Iterator[str]:  # noqa: ARG002
        yield from format_table(rows, width)
        yield from format_notes(rows, width)


def certify_threshold(item: pytest.Function, seconds: float) -> CertifiedThreshold:
    """Return the error rates of a threshold on the stored sample of its probe and model.

    The row has a ``reason`` if nothing can be concluded. The test fails if there is no such sample.

    Args:
        item: The threshold's test.
        seconds: The CPU seconds for its samples.
    """
    fairness = item.config.stash[SESSION]
    run = fairness.settings.certify or ""
    measured = lazy_measured(item.funcargs["measured"])
    row = CertifiedThreshold(
        id=item.nodeid,
        suite=measured.probe.suite,
        threshold=threshold_rows.threshold_title(item),
        model=measured.subject.name,
        reason=AGAINST_BASELINE if uses_baseline(item) else "",
    )
    try:
        runs = fairness.store.runs
        sample = load_sample(
            runs, run, measured.probe.id, find_sample_key(runs, run, measured.probe.id, measured.subject)
        )
    except FairnessError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    if row.reason:
        return row
    try:
        restored = restore_measured(sample)
        confidence = measured.first_look(1).confidence
        view = restored.from_selection(restored.selection.whole(confidence=confidence))
        stored = ErrorRateSample(sample, view, measured.tail)
        return estimate_error_rates(ThresholdTest(item), row, stored, fairness.settings.seed, seconds)
    except FairnessError as error:
        return replace(row, reason=str(error))


def format_table(rows: Sequence[CertifiedThreshold], width: int) -> Iterator[str]:
    """Yield a table of the shares of verdicts by threshold and truth, with the plan's predictions in brackets."""
    certified = [row for row in rows if not row.reason]
    if not certified:
        return
    lines = [[row.threshold, *(_format_cell(row, truth, error) for truth, error in COLUMNS)] for row in certified]
    yield from (f" {line}" for line in align_columns([_OVER, _HEADS, *lines], width=width - 2))


def format_notes(rows: Sequence[CertifiedThreshold], width: int) -> Iterator[str]:
    """Yield the notes below the table: thresholds that were not certified, planted biases, and error rates."""
    certified = [row for row in rows if not row.reason]
    for row in rows:
        if row.reason:
            yield from terminal_text.wrap_text(f"{row.threshold}: not certified: {row.reason}", width)
            continue
        for note in filter(None, (row.note, *row.clustering)):
            yield from terminal_text.wrap_text(f"{row.threshold}: {note}", width)
        planted = [f"{row.truths[name].value:.4g}" for name in ("bound", "beyond") if name in row.truths]
        if planted:
            how = "bias planted" if "parity" in row.truths else "drawn again with its true value"
            yield from terminal_text.wrap_text(
                f"{row.threshold}: {how} at {' and '.join(planted)}, {row.draws} samples each", width
            )
        broken = "" if row.kept else "the promise is broken: "
        yield from terminal_text.wrap_text(f"{row.threshold}: {broken}{_format_errors(row)}", width)
    if certified:
        yield from terminal_text.wrap_text(_format_promise(certified), width)


def _format_promise(certified: Sequence[CertifiedThreshold]) -> str:
    share = max(row.promise for row in certified)
    most = max(check.at_most for row in certified for check in row.checks)
    broken = sum(not row.kept for row in certified)
    summary = f"{broken} of {len(certified)} thresholds break it" if broken else f"at most {most:.1%} on these answers"
    return (
        f"promise: unfair at parity and fair on the bound in at most {share:.1%} each; {summary} (upper ends at 95%, "
        "Holm's correction over all thresholds); in brackets what the plan predicts"
    )


def _format_errors(row: CertifiedThreshold) -> str:
    """Return the error rates: ``unfair in 1.0% at parity (at most 4.6%), fair in 2.5% on the bound (at most 6.6%)``."""
    parts = [(*check.error.partition(" "), check) for check in row.checks]
    return ", ".join(
        f"{verdict} in {check.share:.1%} {where} (at most {check.at_most:.1%})" for verdict, _, where, check in parts
    )


def _format_cell(row: CertifiedThreshold, truth: str, error: str) -> str:
    shares = row.truths.get(truth)
    if shares is None:
        return "-"
    planned = shares.planned
    return _format_share(shares, error) + (f" ({_format_share(planned, error)})" if planned else "")


def _format_share(shares: TruthResult | VerdictShares, error: str) -> str:
    """Return the share of an error: a verdict, "blocked" (not fair) or "missed" (not unfair)."""
    if error in ("fair", "unfair"):
        return f"{getattr(shares, error):.1%}"
    return f"{1 - (shares.fair if error == 'blocked' else shares.unfair):.0%}"
