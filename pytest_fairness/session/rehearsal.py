"""Calls a threshold's test function and judges it: for its verdict, and on samples that never were."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.verdicts import Judgement, Verdict, judge
from pytest_fairness.session.bounds import Own
from pytest_fairness.session.collection import unasserted_comparison
from pytest_fairness.session.probes import threshold_scale
from pytest_fairness.session.state import SESSION

if TYPE_CHECKING:
    from pytest_fairness.stats.measured import Measured


def rehearse(item: pytest.Function, measured: Measured) -> Judgement:
    """What a threshold's test says of another sample than its own: resampled, permuted or simulated.

    The test is called with the fixtures that it was set up with, but for its ``measured``. No
    model is asked, and nothing is noted on the test. Its source is not read again: `mistake`
    says once what is wrong with it.
    """
    return _judged(item, arguments_of(item) | {"measured": measured})


def judged(item: pytest.Function) -> Judgement:
    """The verdict of a threshold's test on its own sample."""
    reason = mistake(item)
    if reason:
        return Judgement(Verdict.INVALID, reason=reason)
    return _judged(item, arguments_of(item))


def _judged(item: pytest.Function, arguments: Mapping[str, Any]) -> Judgement:
    own = own_of(item)
    return judge(
        lambda: _call(item.obj, arguments), scale=own.scale or threshold_scale(item.function), bounds=own.bounds
    )


def own_of(item: pytest.Function) -> Own:
    """What the project sets for a threshold in place of its suite."""
    return item.config.stash[SESSION].own.of(f"{item.nodeid.removesuffix(item.name)}{item.originalname}")


def arguments_of(item: pytest.Function) -> dict[str, Any]:
    """The fixtures that a test takes as arguments, once it is set up."""
    return {name: item.funcargs[name] for name in inspect.signature(item.obj).parameters if name in item.funcargs}


def mistake(item: pytest.Function) -> str:
    """Why a threshold's test could not fail whatever it compares; empty where it can."""
    line = unasserted_comparison(item.obj)
    return "" if line is None else f"a comparison in line {line} stands without an assert: write assert before it"


def _call(function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    returned = function(**arguments)
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise FairnessError(f"threshold {function.__name__} is a coroutine: write it as an ordinary function")
