"""Evaluation of a threshold test on its own sample, or on a resampled one, and the checks that follow from it."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping
from random import randrange
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

import pytest

from pytest_fairness.core.answer_formats import FORMAT
from pytest_fairness.core.comparisons import has_compared, key_of
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.results import FormatEffectResult, GroupResult, finite
from pytest_fairness.core.verdicts import Judgment, judge
from pytest_fairness.plugin.baseline import NO_BASELINE
from pytest_fairness.plugin.compat import has_hypothesis_seed
from pytest_fairness.plugin.markers import threshold_scale
from pytest_fairness.plugin.measurement import LazyMeasured
from pytest_fairness.plugin.overrides import ThresholdOverride
from pytest_fairness.plugin.session import SESSION

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.stats.measured import Measured

_ENDINGS = (pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception, SkipTest)
"""Exceptions that end a test without failing it."""

_FAILURES = (AssertionError, pytest.fail.Exception)

MOST_CHECKED = 20_000
"""The largest sample that an ordinary run checks; ``--fairness-certify`` checks larger ones as well."""
CHECK_SECONDS = 1.0
"""CPU time for a threshold in an ordinary run."""


def evaluate_on(
    item: pytest.Function, measured: Measured, dependence: Dependence | None = None, strict_tail: float | None = None
) -> Judgment:
    """Return the judgment of a threshold test on a resampled, permuted or simulated sample.

    The test is called with its own fixtures, but for ``measured``. No model is asked, and the test records nothing.

    Args:
        item: The threshold, set up.
        measured: The sample.
        dependence: The estimates that the test depends on, from an earlier evaluation.
        strict_tail: The tail of a look at which the threshold is unfair (`core.verdicts.judge`).
    """
    return _judged(item, arguments_of(item) | {"measured": measured}, dependence, strict_tail)


def evaluate(item: pytest.Function) -> Judgment:
    """Return the verdict of a threshold's test on its own sample."""
    measured = item.funcargs["measured"]
    assert isinstance(measured, LazyMeasured)  # noqa: S101 - the fixture's, or the test would have errored
    look = measured.look
    return _judged(item, arguments_of(item), strict_tail=None if look.of == 1 else look.strict_tail)


def _judged(
    item: pytest.Function,
    arguments: Mapping[str, Any],
    dependence: Dependence | None = None,
    strict_tail: float | None = None,
) -> Judgment:
    override = override_of(item)
    _seed(item)
    return judge(
        lambda: _call(item.obj, arguments),
        scale=override.scale or threshold_scale(item.function),
        bounds=override.bounds,
        dependence=dependence,
        endings=_ENDINGS,
        failures=_FAILURES,
        strict_tail=strict_tail,
    )


def _seed(item: pytest.Function) -> None:
    """Let a test of hypothesis draw the same examples at each of its evaluations."""
    function = getattr(item.obj, "__func__", item.obj)
    drawn = getattr(function, "is_hypothesis_test", False)
    if drawn and not has_hypothesis_seed(function):
        from hypothesis import seed

        seed(randrange(2**32))(function)


def override_of(item: pytest.Function) -> ThresholdOverride:
    """Return what the project sets for a threshold in place of its suite."""
    return item.config.stash[SESSION].overrides.of(f"{item.nodeid.removesuffix(item.name)}{item.originalname}")


def arguments_of(item: pytest.Function) -> dict[str, Any]:
    """Return the fixtures that a test takes as arguments, once it is set up."""
    return {name: item.funcargs[name] for name in inspect.signature(item.obj).parameters if name in item.funcargs}


def _call(function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    try:
        returned = function(**arguments)
    except (pytest.skip.Exception, pytest.xfail.Exception) as left:
        if not has_compared() or str(left) == NO_BASELINE:  # which is no choice of the test's
            raise
        raise FairnessError(f"it was skipped after it had compared an estimate: {left}") from None
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise FairnessError(f"threshold {function.__name__} is a coroutine: write it as an ordinary function")
    if returned is not None:
        raise FairnessError(f"it returns {returned!r:.40}, and a test returns nothing: write `assert`, not `return`")


def check_clustering(
    item: pytest.Function, measured: Measured, judgment: Judgment, seconds: float = math.inf
) -> list[str]:
    """Return a line for each attribute whose values the attempts of a threshold share, and vary by.

    Args:
        item: The threshold.
        measured: Its sample.
        judgment: Its verdict on that sample.
        seconds: Of computing; attributes that would take longer are not checked.
    """
    from pytest_fairness.stats.clustering import find_alike

    estimate = judgment.deciding.estimate if judgment.deciding else None
    if estimate is None or not estimate.error > 0 or "baseline" in item.fixturenames:
        return []
    if estimate.value in (estimate.low, estimate.high):  # a rate of 0 or 1: nothing varies, so nothing varies together
        return []
    key = key_of(estimate)
    until = time.process_time() + seconds

    def error(sample: Measured) -> float:
        if time.process_time() > until:
            return math.nan
        again = evaluate_on(item, sample, judgment.dependence)
        estimates = [*again.estimates, *(comparison.estimate for comparison in again.comparisons)]
        return next((estimate.error for estimate in estimates if key_of(estimate) == key), math.nan)

    return [alike.text for alike in find_alike(measured, error)]


def format_effects(item: pytest.Function, measured: Measured, judgment: Judgment) -> FormatEffectResult | None:
    """Return the estimate that decided a threshold in each answer format, signed; None for a probe with one format.

    Args:
        item: The threshold.
        measured: Its sample.
        judgment: Its verdict on that sample.
    """
    estimate = judgment.deciding.estimate if judgment.deciding else None
    if estimate is None or FORMAT not in measured.selection.columns.known_attributes or FORMAT in estimate.slice:
        return None
    from pytest_fairness.stats.pvalues import p_equal

    parts: dict[str, Estimate] = {}
    for kind in measured.groups(FORMAT):
        again = evaluate_on(item, measured.where(**{FORMAT: kind}), judgment.dependence)
        for other in (*(comparison.estimate for comparison in again.comparisons), *again.estimates):
            same_slice = {name: value for name, value in other.slice.items() if name != FORMAT} == dict(estimate.slice)
            if other.metric == estimate.metric and same_slice and other.absolute == estimate.absolute:
                parts[kind] = other
                break
    # Sizes hide that two formats lean to opposite sides.
    parts = {kind: part if part.signed is None else part.signed for kind, part in parts.items()}
    if len(parts) < 2:
        return None
    return FormatEffectResult(
        by_format={
            kind: GroupResult(
                estimate=finite(part.value),
                low=finite(part.low),
                high=finite(part.high),
                items=int(part.items),
                attempts=int(part.attempts),
                ungraded=sum(map(int, part.ungraded.values())),
            )
            for kind, part in parts.items()
        },
        p_value=p_equal(list(parts.values())),
    )
