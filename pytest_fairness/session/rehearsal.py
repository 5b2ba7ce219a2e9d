"""Calls a threshold's test function and judges it: for its verdict, and on samples that never were."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from random import randrange
from typing import TYPE_CHECKING, Any
from unittest import SkipTest

import pytest

from pytest_fairness.core.comparisons import compared
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.verdicts import Judgement, judge
from pytest_fairness.session.baseline import NO_BASELINE
from pytest_fairness.session.bounds import Own
from pytest_fairness.session.compat import has_hypothesis_seed
from pytest_fairness.session.measuring import LazyMeasured
from pytest_fairness.session.probes import threshold_scale
from pytest_fairness.session.state import SESSION

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.stats.measured import Measured

_ENDINGS = (pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception, SkipTest)
"""What ends a test without failing it."""

_FAILURES = (AssertionError, pytest.fail.Exception)


def rehearse(
    item: pytest.Function, measured: Measured, known: Dependence | None = None, strict_tail: float | None = None
) -> Judgement:
    """Return the judgement of a threshold test on a resampled, permuted or simulated sample.

    The test is called with the fixtures that it was set up with, but for its ``measured``. No
    model is asked, and nothing is noted on the test. ``known`` is what an earlier judgement
    found the test to depend on. ``strict_tail`` is that of a look (`core.verdicts.judge`).
    """
    return _judged(item, arguments_of(item) | {"measured": measured}, known, strict_tail)


def judged(item: pytest.Function) -> Judgement:
    """The verdict of a threshold's test on its own sample."""
    measured = item.funcargs["measured"]
    assert isinstance(measured, LazyMeasured)  # noqa: S101 - the fixture's, or the test would have errored
    look = measured.look
    return _judged(item, arguments_of(item), strict_tail=None if look.of == 1 else look.strict_tail)


def _judged(
    item: pytest.Function,
    arguments: Mapping[str, Any],
    known: Dependence | None = None,
    strict_tail: float | None = None,
) -> Judgement:
    own = own_of(item)
    _seed(item)
    return judge(
        lambda: _call(item.obj, arguments),
        scale=own.scale or threshold_scale(item.function),
        bounds=own.bounds,
        known=known,
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


def own_of(item: pytest.Function) -> Own:
    """What the project sets for a threshold in place of its suite."""
    return item.config.stash[SESSION].own.of(f"{item.nodeid.removesuffix(item.name)}{item.originalname}")


def arguments_of(item: pytest.Function) -> dict[str, Any]:
    """The fixtures that a test takes as arguments, once it is set up."""
    return {name: item.funcargs[name] for name in inspect.signature(item.obj).parameters if name in item.funcargs}


def _call(function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    try:
        returned = function(**arguments)
    except (pytest.skip.Exception, pytest.xfail.Exception) as left:
        if not compared() or str(left) == NO_BASELINE:  # which is no choice of the test's
            raise
        raise FairnessError(f"it was skipped after it had compared an estimate: {left}") from None
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise FairnessError(f"threshold {function.__name__} is a coroutine: write it as an ordinary function")
    if returned is not None:
        raise FairnessError(f"it returns {returned!r:.40}, and a test returns nothing: write `assert`, not `return`")
