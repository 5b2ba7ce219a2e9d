"""Evaluation of a threshold's test on its own sample or another one, and checks by further evaluations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from random import randrange
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

import pytest

from pytest_fairness.core.answer_formats import FORMAT
from pytest_fairness.core.comparisons import has_result
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.threshold_results import FormatEffectResult, GroupResult
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.compat import has_hypothesis_seed
from pytest_fairness.plugin.probes.identity import get_sample
from pytest_fairness.plugin.probes.markers import threshold_mark
from pytest_fairness.plugin.samples.baseline import NO_BASELINE
from pytest_fairness.plugin.samples.measurement import evaluated_on, lazy_measured
from pytest_fairness.plugin.session.session import SESSION

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.threshold_judgment import ThresholdDesign

_ENDINGS = (pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception, SkipTest)
"""Exceptions that end a test without failing it."""

_FAILURES = (AssertionError, pytest.fail.Exception)


def evaluate_on(
    item: pytest.Function,
    measured: Measured,
    dependence: Dependence | None = None,
    strict_tail: float | None = None,
    *,
    reports: bool = True,
    design: ThresholdDesign | None = None,
) -> Judgment:
    """Return the judgment of a threshold on a sample: a measured, stored, resampled, permuted or simulated one.

    Args:
        item: The threshold, set up.
        measured: The sample.
        dependence: The estimates that the test depends on, from an earlier evaluation.
        strict_tail: The tail of a look at which the threshold is unfair (`core.verdicts.judge`).
        reports: Whether the sample is reported, not drawn: estimates that decide nothing are needed
            (`core.verdicts.judge`), and clusters that nobody has declared count.
        design: What it declares besides its test; None: all of it.
    """
    session, arguments = item.config.stash[SESSION], get_test_arguments(item)
    if reason := session.early_use(item):
        return Judgment(Verdict.INVALID, reason=reason, mistake=reason)
    override = session.overrides.of(item)
    _seed(item)

    def test(sample: Measured) -> None:
        with evaluated_on(item, sample):
            _call(item.obj, arguments)

    from pytest_fairness.stats.threshold_judgment import judge_threshold

    return judge_threshold(
        test,
        measured,
        replace(threshold_design(item) if design is None else design, clusters=reports),
        scale=override.scale or threshold_mark(item.function).scale,
        bounds=override.bounds,
        dependence=dependence,
        endings=_ENDINGS,
        failures=_FAILURES,
        strict_tail=strict_tail,
        reports=reports,
    )


def threshold_design(item: pytest.Function) -> ThresholdDesign:
    """Return what a threshold, the project and its probe declare for its judgment."""
    from pytest_fairness.stats.threshold_judgment import ThresholdDesign

    sample, slices = get_sample(item), item.config.stash[SESSION].overrides.of(item).slices
    mark = threshold_mark(item.function)
    return ThresholdDesign(
        mark.slices if slices is None else slices,
        mark.exclude,
        () if sample is None else sample.probe.controls,
        () if sample is None else sample.probe.designed_controls,
        alone=frozenset() if sample is None else frozenset(sample.probe.grades_of_answers),
    )


@dataclass(frozen=True, slots=True)
class ThresholdTest:
    """A threshold's test, set up, as plans and certificates judge it (`planning.protocols.Threshold`)."""

    item: pytest.Function

    @property
    def id(self) -> str:
        """The id of the test."""
        return self.item.nodeid

    @property
    def design(self) -> ThresholdDesign:
        """Its declarations besides the test."""
        return threshold_design(self.item)

    def judge(
        self,
        sample: Measured,
        dependence: Dependence | None = None,
        strict_tail: float | None = None,
        *,
        reports: bool = True,
        design: ThresholdDesign | None = None,
    ) -> Judgment:
        """Return its judgment on a sample; the arguments are those of `evaluate_on`."""
        return evaluate_on(self.item, sample, dependence, strict_tail, reports=reports, design=design)


def _evaluate_estimates(item: pytest.Function, sample: Measured, dependence: Dependence | None) -> list[Estimate]:
    """Return the estimates of a threshold on a part of its sample, where no verdict is needed."""
    design = replace(threshold_design(item), slices=(), controls=())
    judgment = evaluate_on(item, sample, dependence, reports=False, design=design)
    return [*(comparison.estimate for comparison in judgment.comparisons), *judgment.estimates]


def evaluate(item: pytest.Function) -> Judgment:
    """Return the verdict of a threshold's test on its own sample."""
    measured = lazy_measured(item.funcargs["measured"])
    look = measured.look
    sample = measured.load()
    labeled = {str(row.get("grade")) for row in measured.read_labels(measured.attempts)}
    design = replace(threshold_design(item), judges=tuple(measured.judges), labeled=frozenset(labeled))
    return evaluate_on(item, sample, strict_tail=None if look.total == 1 else look.strict_tail, design=design)


def _seed(item: pytest.Function) -> None:
    """Set a seed for a hypothesis test, so that all its evaluations draw the same examples."""
    function = getattr(item.obj, "__func__", item.obj)
    is_hypothesis_test = getattr(function, "is_hypothesis_test", False)
    if is_hypothesis_test and not has_hypothesis_seed(function):
        from hypothesis import seed

        seed(randrange(2**32))(function)


def get_test_arguments(item: pytest.Function) -> dict[str, Any]:
    """Return the fixture values of a test that is set up, by its arguments."""
    values = {name: item.funcargs[name] for name in inspect.signature(item.obj).parameters if name in item.funcargs}
    return {name: TransparentSubtests() if _are_subtests(value) else value for name, value in values.items()}


def _are_subtests(value: object) -> bool:
    """Return whether a fixture's value is that of `subtests`, of pytest 9 or of pytest-subtests."""
    kind = type(value)
    return kind.__module__ in ("_pytest.subtests", "pytest_subtests.plugin") and callable(getattr(value, "test", None))


class TransparentSubtests:
    """Subtests of a threshold, which is judged as a whole: an `assert` in one fails the test, as elsewhere.

    Those of pytest keep the failure to themselves, so that no comparison could fail the test, and report every
    evaluation (`test_comparisons_in_subtests_are_judged`).
    """

    def test(self, msg: str | None = None, **context: object) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return a context without an effect."""
        return nullcontext()


def _call(function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    try:
        returned = function(**arguments)
    except (pytest.skip.Exception, pytest.xfail.Exception) as skip:
        if not has_result() or str(skip) == NO_BASELINE:  # the fixture skips without a baseline, not the test
            raise
        raise FairnessError(f"it was skipped after it had compared or read an estimate: {skip}") from None
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise FairnessError(f"threshold {function.__name__} is a coroutine: write it as an ordinary function")
    if returned is not None:
        raise FairnessError(f"it returns {returned!r:.40}, and a test returns nothing: write `assert`, not `return`")


def estimate_format_effects(item: pytest.Function, measured: Measured, judgment: Judgment) -> FormatEffectResult | None:
    """Return the deciding estimate of a threshold in each answer format, with its sign; None for one format.

    Args:
        item: The threshold.
        measured: Its sample.
        judgment: Its verdict on that sample.
    """
    estimate = judgment.deciding.estimate if judgment.deciding else None
    if estimate is None or FORMAT not in measured.selection.columns.known_attributes or FORMAT in estimate.slice:
        return None
    from pytest_fairness.stats.pvalues import p_equal

    by_format: dict[str, Estimate] = {}
    for name in measured.groups(FORMAT):
        for other in _evaluate_estimates(item, measured.where(**{FORMAT: name}), judgment.dependence):
            other_slice = {attribute: value for attribute, value in other.slice.items() if attribute != FORMAT}
            same_slice = other_slice == dict(estimate.slice)
            if other.metric == estimate.metric and same_slice and other.absolute == estimate.absolute:
                by_format[name] = other
                break
    # Absolute values would hide that two formats have opposite effects.
    by_format = {name: other if other.signed is None else other.signed for name, other in by_format.items()}
    if len(by_format) < 2:
        return None
    return FormatEffectResult(
        by_format={name: GroupResult.of(other) for name, other in by_format.items()},
        p_value=p_equal(list(by_format.values())),
    )
