"""Forms of threshold tests in which a claim about every group may be written, and reasons by which it is weakened.

Placeholders: ``$K`` makes names unique; ``$KEYS`` are the groups, ``$EST`` is the estimate of group ``g``; ``$CHECK``
is the comparison of ``e`` with its bound; ``$BAD`` is the operator and the bound that a group with a bad value meets;
``$ODD`` is the group that is treated otherwise, ``$USUAL`` are the others and ``$REF`` is the first of them;
``$SKIPS(measured, g, e)`` is a function that returns whether a group is left out, by one of `GUARDS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MARK = "@pytest.mark.threshold(probe=test_request)\n"

IMPORTS = """\
import asyncio
import concurrent.futures
import contextlib
import contextvars
import copy
import dataclasses
import decimal
import fractions
import functools
import heapq
import inspect
import itertools
import json
import math
import operator
import pickle
import re
import statistics
import threading
import unittest

import numpy as np
import pytest

from pytest_fairness import (
    AnswerOptions, Choice, Estimate, Grade, MarkScale, Measured, ProbeItem, Prompt, Rating, Refusal, YesNo,
)

SCALE = MarkScale(A=(0, 0.4), B=(0, 0.8), C=(0, 0.9))
OPTIONS = AnswerOptions({"grant": "Grant the loan", "refuse": "Turn it down"})
"""

PLAIN: Mapping[str, str] = {
    "loop": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        assert $CHECK
""",
    "all of a generator": """
def test_$K(measured):
    assert all($CHECK for e in ($EST for g in $KEYS))
""",
    "all of a list": """
def test_$K(measured):
    estimates = [$EST for g in $KEYS]
    assert all([$CHECK for e in estimates])
""",
    "helper that asserts": """
def check_$K(e):
    assert $CHECK


def test_$K(measured):
    for g in $KEYS:
        check_$K($EST)
""",
    "helper that returns": """
def holds_$K(e):
    return $CHECK


def test_$K(measured):
    for g in $KEYS:
        assert holds_$K($EST), f"{g} is left behind"
""",
    "raise": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            raise AssertionError(g)
""",
    "pytest.fail": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            pytest.fail(f"{g}: too far off")
""",
    "not any": """
def test_$K(measured):
    assert not any(not ($CHECK) for e in [$EST for g in $KEYS])
""",
    "walrus": """
def test_$K(measured):
    for g in $KEYS:
        assert (e := $EST) is not None and $CHECK
""",
    "parametrized groups": """
@pytest.mark.parametrize("g", GROUPS)
def test_$K(measured, g):
    if g not in $KEYS:
        g = $KEYS[0]
    e = $EST
    assert $CHECK
""",
    "method": """
class Test_$K:
    $MARK_INNER
    def test_$K(self, measured):
        for g in $KEYS:
            self.check($EST)

    def check(self, e):
        assert $CHECK
""",
    "dict": """
def test_$K(measured):
    estimates = {g: $EST for g in $KEYS}
    while estimates:
        _, e = estimates.popitem()
        assert $CHECK
""",
    "recursion": """
def check_$K(measured, groups):
    if groups:
        g, *rest = groups
        e = $EST
        assert $CHECK
        check_$K(measured, rest)


def test_$K(measured):
    check_$K(measured, $KEYS)
""",
    "unittest": """
def test_$K(measured):
    case = unittest.TestCase()
    for g in $KEYS:
        e = $EST
        case.assertTrue($CHECK)
""",
    "message": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        assert $CHECK, f"{g} has {e}"
""",
    "titled and recorded": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        measured.record(e)
        e = e.titled(f"loans granted, {g}")
        assert $CHECK
""",
    "decorated": """
def traced_$K(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


$MARK_HERE
@traced_$K
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        assert $CHECK
""",
    "groups of a fixture": """
@pytest.fixture
def groups_$K(measured):
    return measured.groups("g")


def test_$K(measured, groups_$K):
    for g in groups_$K:
        if g in $KEYS:
            e = $EST
            assert $CHECK
""",
    "subtests": """
def test_$K(measured, subtests):
    for g in $KEYS:
        e = $EST
        assert $CHECK
    with subtests.test("sizes"):
        assert measured.items > 0
""",
    "match": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        match bool($CHECK):
            case False:
                raise AssertionError(g)
""",
    "negated": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        assert not e $BAD
""",
    "sum": """
def test_$K(measured):
    holding = [$CHECK for e in [$EST for g in $KEYS]]
    assert sum(holding) == len(holding)
""",
    "generator": """
def estimates_$K(measured):
    for g in $KEYS:
        yield $EST


def test_$K(measured):
    for e in estimates_$K(measured):
        assert $CHECK
""",
    "nested test": """
def test_$K(measured):
    def check(g):
        e = $EST
        assert $CHECK
    list(map(check, $KEYS))
""",
    "data class": """
@dataclasses.dataclass
class Row_$K:
    group: str
    e: object


def test_$K(measured):
    for row in [Row_$K(g, $EST) for g in $KEYS]:
        e = row.e
        assert $CHECK, row.group
""",
    "context manager": """
@contextlib.contextmanager
def about_$K(g):
    yield g


def test_$K(measured):
    for g in $KEYS:
        with about_$K(g), contextlib.nullcontext():
            e = $EST
            assert $CHECK
""",
    "reduce": """
def test_$K(measured):
    def check(e):
        assert $CHECK
        return True
    assert functools.reduce(operator.and_, [check($EST) for g in $KEYS])
""",
    "class with setup": """
class Test_$K:
    groups = GROUPS

    def setup_method(self):
        self.keys = $KEYS

    $MARK_INNER
    def test_$K(self, measured):
        for g in self.keys:
            e = $EST
            assert $CHECK
""",
}
"""Plain forms: what they say is what they assert."""

UNUSUAL: Mapping[str, str] = {
    "numpy bound": """
def test_$K(measured):
    for g in $KEYS:
        assert ($EST) $GOOD_OP np.float64($BOUND)
""",
    "numpy bound first": """
def test_$K(measured):
    for g in $KEYS:
        assert np.float64($BOUND) $TURNED ($EST)
""",
    "fraction": """
def test_$K(measured):
    for g in $KEYS:
        assert fractions.Fraction("$BOUND") $TURNED ($EST)
""",
    "decimal": """
def test_$K(measured):
    for g in $KEYS:
        assert decimal.Decimal("$BOUND") $TURNED ($EST)
""",
    "array": """
def test_$K(measured):
    estimates = np.array([$EST for g in $KEYS], dtype=object)
    assert (estimates $GOOD).all()
""",
    "array of answers": """
def test_$K(measured):
    assert np.all([$CHECK for e in [$EST for g in $KEYS]])
""",
    "bound method": """
def test_$K(measured):
    e = next($EST for g in ("$REF",))
    assert $CHECK
    assert all(map(($BOUND).$METHOD, [$EST for g in $KEYS]))
""",
    "operator": """
def test_$K(measured):
    holds = functools.partial(operator.$TURNED_NAME, $BOUND)
    assert all(map(holds, [$EST for g in $KEYS]))
""",
    "smallest of estimates": """
def test_$K(measured):
    e = $WORST([$EST for g in $KEYS])
    assert $CHECK
""",
    "sorted estimates": """
def test_$K(measured):
    e = sorted([$EST for g in $KEYS])[0]
    assert $CHECK
""",
    "smallest answer": """
def test_$K(measured):
    assert min($CHECK for e in [$EST for g in $KEYS])
""",
    "product": """
def test_$K(measured):
    assert math.prod($CHECK for e in [$EST for g in $KEYS])
""",
    "set of answers": """
def test_$K(measured):
    assert {$CHECK for e in [$EST for g in $KEYS]} == {True}
""",
    "chained": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        assert ($CHECK) is True
""",
    "exit": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            raise SystemExit(g)
""",
    "own exception": """
class LeftBehind_$K(Exception):
    pass


def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            raise LeftBehind_$K(g)
""",
    "conditional expression": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        _ = None if $CHECK else pytest.fail(g)
""",
    "exec": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        exec("assert $CHECK", {"e": e})
""",
    "generator test": """
def test_$K(measured):
    checks = (($EST), g) for g in $KEYS
    while True:
        try:
            e, g = next(checks)
        except StopIteration:
            break
        assert $CHECK
""".replace("(($EST), g) for g in $KEYS", "((($EST), g) for g in $KEYS)"),
}
"""Forms in which every group is compared, in a way that few people write."""

SWALLOWING: Mapping[str, str] = {
    "any": """
def test_$K(measured):
    assert any([$CHECK for e in [$EST for g in $KEYS]])
""",
    "any of a generator": """
def test_$K(measured):
    assert any($CHECK for e in ($EST for g in $KEYS))
""",
    "all but one": """
def test_$K(measured):
    holding = [$CHECK for e in [$EST for g in $KEYS]]
    assert sum(holding) >= len(holding) - 1
""",
    "suppress": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        with contextlib.suppress(AssertionError):
            assert $CHECK
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "except": """
def test_$K(measured):
    for g in $KEYS:
        try:
            e = $EST
            assert $CHECK
        except Exception:
            continue
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "finally": """
def check_$K(e):
    try:
        assert $CHECK
    finally:
        return


def test_$K(measured):
    for g in $KEYS:
        check_$K($EST)
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "unasserted": """
def holds_$K(e):
    return $CHECK


def test_$K(measured):
    for g in $KEYS:
        holds_$K($EST)
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "computed only": """
def test_$K(measured):
    estimates = [$EST for g in $KEYS]
    e = next($EST for g in ("$REF",))
    assert $CHECK and len(estimates)
""",
    "subtests that fail": """
def test_$K(measured, subtests):
    for g in $KEYS:
        with subtests.test(g=g):
            e = $EST
            assert $CHECK
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "fixture that swallows": """
@pytest.fixture
def checked_$K(measured):
    for g in $KEYS:
        try:
            e = $EST
            assert $CHECK
        except Exception:
            pass


def test_$K(measured, checked_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "fixture that computes": """
@pytest.fixture
def estimates_$K(measured):
    return [$EST for g in $KEYS]


def test_$K(measured, estimates_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "fixture that compares": """
@pytest.fixture
def holding_$K(measured):
    return [$CHECK for e in [$EST for g in $KEYS]]


def test_$K(measured, holding_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK
    assert any(holding_$K)
""",
    "fixture of each group": """
@pytest.fixture(params=GROUPS)
def estimate_$K(request, measured):
    g = request.param if request.param in $KEYS else $KEYS[0]
    return $EST


def test_$K(measured, estimate_$K):
    e = estimate_$K
    assert $CHECK
""",
    "autouse fixture that swallows": """
class Test_$K:
    @pytest.fixture(autouse=True)
    def checked(self, measured):
        for g in $KEYS:
            with contextlib.suppress(Exception):
                e = $EST
                assert $CHECK
        yield

    $MARK_INNER
    def test_$K(self, measured):
        e = next($EST for g in ("$REF",))
        assert $CHECK
""",
    "fixture that swallows at its end": """
@pytest.fixture
def checked_$K(measured):
    yield
    for g in $KEYS:
        with contextlib.suppress(Exception):
            e = $EST
            assert $CHECK


def test_$K(measured, checked_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "threads": """
def test_$K(measured):
    def check(g):
        e = $EST
        assert $CHECK
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(map(lambda future: future.exception(), [pool.submit(check, g) for g in $KEYS]))
    e = next($EST for g in ("$REF",))
    assert $CHECK and done
""",
    "task": """
async def check_$K(measured, g):
    e = $EST
    assert $CHECK


def test_$K(measured):
    async def check():
        return await asyncio.gather(*(check_$K(measured, g) for g in $KEYS), return_exceptions=True)
    asyncio.run(check())
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "pytest.raises": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        with pytest.raises(BaseException):
            assert $CHECK
            raise KeyError(g)
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "warning": """
def test_$K(measured):
    import warnings
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            warnings.warn(f"{g} is left behind", stacklevel=1)
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "xfail": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            pytest.xfail(f"{g} is known to be left behind")
""",
    "skip": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not ($CHECK):
            pytest.skip(f"{g} is known to be left behind")
""",
    "recorded by a function": """
def test_$K(measured):
    for g in $KEYS:
        measured.record(lambda g=g: $EST)
    e = next($EST for g in ("$REF",))
    assert $CHECK
    assert measured.where(g=tuple($KEYS)).attempts
""",
    "hypothesis": """
def test_$K(measured):
    from hypothesis import assume, given, settings
    from hypothesis import strategies as st

    @settings(max_examples=12, derandomize=True, database=None, deadline=None)
    @given(st.sampled_from($KEYS))
    def check(g):
        e = $EST
        assume($CHECK)
        assert $CHECK
    check()
""",
}
"""Forms in which a group may fail, or be unmeasured, and the test passes."""
ONLY_RECORDED = ("recorded by a function",)
"""Forms that only record what could not be measured, which is allowed: they claim nothing about it."""
OF_ONE_GROUP = ("computed only", "fixture that computes", *ONLY_RECORDED)
"""Forms that compare one group: what is true of it makes them true, as long as the others are measured."""

GUARDED: Mapping[str, str] = {
    "continue": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if skips_$K(measured, g, e):
            continue
        assert $CHECK
""",
    "if not": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if not skips_$K(measured, g, e):
            assert $CHECK
""",
    "filtered list": """
def test_$K(measured):
    kept = [e for g in $KEYS if not skips_$K(measured, g, e := $EST)]
    assert all([$CHECK for e in kept])
""",
    "all if not": """
def test_$K(measured):
    assert all($CHECK for g in $KEYS if not skips_$K(measured, g, e := $EST))
""",
    "break": """
def test_$K(measured):
    for g in ("$REF", *$KEYS):
        e = $EST
        if skips_$K(measured, g, e):
            break
        assert $CHECK
""",
    "return": """
def test_$K(measured):
    e = next($EST for g in ("$REF",))
    assert $CHECK
    for g in $KEYS:
        e = $EST
        if skips_$K(measured, g, e):
            return
        assert $CHECK
""",
    "or": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        assert skips_$K(measured, g, e) or $CHECK
""",
    "choice of the others": """
def test_$K(measured):
    kept = [g for g in $KEYS if not skips_$K(measured, g, $EST)]
    for g in kept:
        e = $EST
        assert $CHECK
""",
    "choice by where": """
def test_$K(measured):
    kept = tuple(g for g in $KEYS if not skips_$K(measured, g, $EST))
    part = measured.where(g=kept)
    for g in part.groups("g"):
        if g in $KEYS:
            e = $EST
            assert $CHECK
""",
    "next": """
def test_$K(measured):
    e = next(e for g in ("$ODD", *$KEYS) if not skips_$K(measured, g, e := $EST))
    assert $CHECK
""",
    "first that holds": """
def test_$K(measured):
    for g in ("$ODD", *$KEYS):
        e = $EST
        if skips_$K(measured, g, e):
            continue
        assert $CHECK
        break
""",
    "parametrized skip": """
@pytest.mark.parametrize("g", GROUPS)
def test_$K(measured, g):
    if g not in $KEYS:
        g = $KEYS[0]
    e = $EST
    if skips_$K(measured, g, e):
        e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "record and continue": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        measured.record(e)
        if skips_$K(measured, g, e):
            continue
        assert $CHECK
""",
    "fixture": """
@pytest.fixture
def kept_$K(measured):
    return [g for g in $KEYS if not skips_$K(measured, g, $EST)]


def test_$K(measured, kept_$K):
    for g in kept_$K:
        e = $EST
        assert $CHECK
""",
    "fixture of the module": """
@pytest.fixture(scope="module")
def kept_$K(measured):
    return [g for g in $KEYS if not skips_$K(measured, g, $EST)]


def test_$K(measured, kept_$K):
    for g in kept_$K:
        e = $EST
        assert $CHECK
""",
    "fixture of a class": """
class Test_$K:
    @pytest.fixture(scope="class")
    def kept(self, measured):
        return [g for g in $KEYS if not skips_$K(measured, g, $EST)]

    $MARK_INNER
    def test_$K(self, measured, kept):
        for g in kept:
            e = $EST
            assert $CHECK
""",
    "autouse fixture": """
KEPT_$K = []


class Test_$K:
    @pytest.fixture(autouse=True)
    def kept(self, measured):
        KEPT_$K[:] = [g for g in $KEYS if not skips_$K(measured, g, $EST)]

    $MARK_INNER
    def test_$K(self, measured):
        for g in KEPT_$K:
            e = $EST
            assert $CHECK
""",
    "loaded in a fixture": """
@pytest.fixture
def kept_$K(measured):
    measured = measured.load()
    return [g for g in $KEYS if not skips_$K(measured, g, $EST)]


def test_$K(measured, kept_$K):
    for g in kept_$K:
        e = $EST
        assert $CHECK
""",
    "getfixturevalue": """
@pytest.fixture
def kept_$K(measured):
    return [g for g in $KEYS if not skips_$K(measured, g, $EST)]


def test_$K(measured, request):
    for g in request.getfixturevalue("kept_$K"):
        e = $EST
        assert $CHECK
""",
    "fixture of an earlier threshold": """
KEPT_$K = []


@pytest.fixture
def kept_$K(measured):
    yield
    KEPT_$K[:] = [g for g in $KEYS if not skips_$K(measured, g, $EST)]


$MARK_HERE
def test_a_$K(measured, kept_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK


def test_$K(measured):
    for g in KEPT_$K or $KEYS:
        e = $EST
        assert $CHECK
""",
    "memory of an earlier threshold": """
KEPT_$K = []


$MARK_HERE
def test_a_$K(measured):
    with contextlib.suppress(Exception):
        KEPT_$K[:] = [g for g in $KEYS if not skips_$K(measured, g, $EST)]
    e = next($EST for g in ("$REF",))
    assert $CHECK


def test_$K(measured):
    for g in KEPT_$K or $KEYS:
        e = $EST
        assert $CHECK
""",
    "ordinary test between": """
ESTIMATES_$K = {}
KEPT_$K = []


$MARK_HERE
def test_a_$K(measured):
    ESTIMATES_$K.update({g: $EST for g in $KEYS})
    for g, e in ESTIMATES_$K.items():
        assert $CHECK


def test_between_$K():
    measured = None
    with contextlib.suppress(Exception):
        KEPT_$K[:] = [g for g, e in ESTIMATES_$K.items() if not skips_$K(measured, g, e)]


$MARK_HERE
def test_$K(measured):
    for g in KEPT_$K or $KEYS:
        e = $EST
        assert $CHECK
""",
    "cache": """
@functools.cache
def kept_$K(measured):
    return [g for g in $KEYS if not skips_$K(measured, g, $EST)]


def test_$K(measured):
    for g in kept_$K(measured):
        e = $EST
        assert $CHECK
""",
    "cache that was filled before": """
KEPT_$K = {}


def kept_$K(measured, g):
    if g not in KEPT_$K:
        KEPT_$K[g] = not skips_$K(measured, g, $EST)
    return KEPT_$K[g]


$MARK_HERE
def test_a_$K(measured):
    assert any([kept_$K(measured, g) for g in $KEYS])
    e = next($EST for g in ("$REF",))
    assert $CHECK


def test_$K(measured):
    for g in $KEYS:
        if kept_$K(measured, g):
            e = $EST
            assert $CHECK
""",
    "cached property": """
class Numbers_$K:
    def __init__(self, measured):
        self.measured = measured

    @functools.cached_property
    def kept(self):
        measured = self.measured
        return [g for g in $KEYS if not skips_$K(measured, g, $EST)]


def test_$K(measured):
    for g in Numbers_$K(measured).kept:
        e = $EST
        assert $CHECK
""",
    "thread": """
def test_$K(measured):
    kept = []
    def choose():
        kept.extend(g for g in $KEYS if not skips_$K(measured, g, $EST))
    thread = threading.Thread(target=choose)
    thread.start()
    thread.join()
    for g in kept or $KEYS:
        e = $EST
        assert $CHECK
""",
    "empty context": """
def test_$K(measured):
    def choose():
        return [g for g in $KEYS if not skips_$K(measured, g, $EST)]
    for g in contextvars.Context().run(choose):
        e = $EST
        assert $CHECK
""",
    "coroutine": """
def test_$K(measured):
    async def choose():
        return [g for g in $KEYS if not skips_$K(measured, g, $EST)]
    for g in asyncio.run(choose()):
        e = $EST
        assert $CHECK
""",
    "eval": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        if eval(compile("skips(measured, g, e)", "<guard>", "eval"), {"skips": skips_$K}, locals()):
            continue
        assert $CHECK
""",
    "lower bound": """
def test_$K(measured):
    for g in $KEYS:
        e = $EST
        left_out = skips_$K(measured, g, e)
        e = next($EST for g in ("$REF",)) if left_out else e
        assert $CHECK
""",
    "min": """
def test_$K(measured):
    estimates = [(skips_$K(measured, g, e := $EST), number, e) for number, g in enumerate(("$ODD", *$KEYS))]
    e = min(estimates, key=lambda row: row[:2])[2]
    assert $CHECK
""",
    "subtest that skips": """
def test_$K(measured, subtests):
    for g in $KEYS:
        with subtests.test(g=g):
            e = $EST
            if skips_$K(measured, g, e):
                pytest.skip(g)
            assert $CHECK
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    "assume": """
def test_$K(measured):
    from hypothesis import assume, given, settings
    from hypothesis import strategies as st

    @settings(max_examples=12, derandomize=True, database=None, deadline=None)
    @given(st.sampled_from($KEYS))
    def check(g):
        e = $EST
        assume(not skips_$K(measured, g, e))
        assert $CHECK
    check()
""",
    "exit stack": """
class Unless_$K:
    def __init__(self, left_out):
        self.left_out = left_out

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return self.left_out


def test_$K(measured):
    for g in $KEYS:
        e = $EST
        with Unless_$K(skips_$K(measured, g, e)):
            assert $CHECK
""",
    "generator that waits": """
def keeps_$K(measured):
    g = yield
    while True:
        g = yield not skips_$K(measured, g, $EST)


def test_$K(measured):
    keeps = keeps_$K(measured)
    next(keeps)
    for g in $KEYS:
        if keeps.send(g):
            e = $EST
            assert $CHECK
""",
    "default argument": """
def test_$K(measured):
    def check(e, left_out):
        assert left_out is True or $CHECK
    for g in $KEYS:
        e = $EST
        check(e, bool(skips_$K(measured, g, e)))
""",
    "recorded function": """
def test_$K(measured):
    left_out = set()
    def note(g, e):
        if skips_$K(measured, g, e):
            left_out.add(g)
        return e
    for g in $KEYS:
        measured.record(lambda g=g: note(g, $EST))
    for g in $KEYS:
        if g not in left_out:
            e = $EST
            assert $CHECK
""",
    "recorded function of an earlier threshold": """
LEFT_OUT_$K = set()


def note_$K(measured, g, e):
    if skips_$K(measured, g, e):
        LEFT_OUT_$K.add(g)
    return e


$MARK_HERE
def test_a_$K(measured):
    for g in $KEYS:
        measured.record(lambda g=g: note_$K(measured, g, $EST))
    e = next($EST for g in ("$REF",))
    assert $CHECK


def test_$K(measured):
    for g in $KEYS:
        if g not in LEFT_OUT_$K:
            e = $EST
            assert $CHECK
""",
}
"""Forms in which a group is left out by a guard."""
REMEMBERING = tuple(name for name, text in GUARDED.items() if "test_a_$K" in text)
"""Forms in which one test chooses, and another one claims something of the groups that were chosen."""

GUARDS: tuple[str, ...] = (
    "math.isnan(e.value)",
    "e.value != e.value",
    "not math.isfinite(e.value)",
    "np.isnan(e.value)",
    "not np.isfinite(np.array([e.low, e.high])).all()",
    "math.isnan(e.error)",
    "e.high - e.low > 0.5 or e.high != e.high",
    "e.value $BAD or e.value != e.value",
    "not e.value $GOOD",
    "e.value $BAD",
    "e.low $BAD",
    "int(e.low * 100) < 0",
    "round(e.value, 2) != round(e.value, 2)",
    "str(e.letter) in 'CD-'",
    "str(e.mark) in '-CD'",
    "e.letter == '-'",
    "sum(e.ungraded.values())",
    "sum(e.ungraded.values()) > 5",
    "any(e.ungraded.values())",
    "e.ungraded",
    "dict(e.ungraded)",
    "not e.count",
    "e.count is not None and e.count < 20",
    "e.invalid",
    "bool(e.invalid) or bool(e.suspect)",
    "len(e.invalid) > 0",
    "e.suspect or e.sparse",
    "e.attempts == 0",
    "e.attempts == sum(e.ungraded.values())",
    "e.items == 0",
    "e.items < 20",
    "e.sources < 20",
    "e.df < 5 or not math.isfinite(e.df)",
    "e.equal_sources == 0",
    "not e.groups",
    "math.isnan(next(iter(e.groups.values()), math.nan))",
    "'nan' in str(e)",
    "'nan' in f'{e}' or 'invalid' in f'{e}'",
    "'invalid' in repr(e)",
    "'nan' in f'{e:.2f}'",
    "float(f'{e:.3f}') $BAD",
    "float(format(e, '.3f')) != float(format(e, '.3f'))",
    "shown_value(str(e)) $BAD",
    "not shown_value(f'{e}') $GOOD",
    "not shown_value(repr(e)) $GOOD",
    "not shown_value(f': {e.text()} (') $GOOD",
    "'ungraded' in e.counts",
    "'nan' in e.text()",
    "math.isnan(dataclasses.asdict(e)['value'])",
    "math.isnan(dataclasses.astuple(e)[2])",
    "math.isnan(getattr(e, 'value'))",
    "math.isnan(getattr(e, 'val' + 'ue'))",
    "math.isnan(operator.attrgetter('value')(e))",
    "any(math.isnan(getattr(e, name)) for name in ('value', 'low'))",
    "math.isnan(object.__getattribute__(e, 'value'))",
    "math.isnan(Estimate.value.__get__(e))",
    "math.isnan(copy.copy(e).value)",
    "math.isnan(copy.deepcopy(e).value)",
    "math.isnan(pickle.loads(pickle.dumps(e)).value)",
    "math.isnan(e.__reduce_ex__(2)[2][1]['value'])",
    "math.isnan(e.__getstate__()[2])",
    "math.isnan(dataclasses.replace(e, title='x').value)",
    "'NaN' in json.dumps(e.value)",
    "'NaN' in json.dumps(dataclasses.asdict(e), default=str)",
    "math.isnan(dict(inspect.getmembers(e))['value'])",
    "math.isnan(abs(e).value)",
    "math.isnan((-e).value)",
    "math.isnan(e.titled('x').value)",
    "math.isnan(e.marked(SCALE).value)",
    "e.marked(SCALE).letter == '-'",
    "math.isnan(e.corrected(1).value)",
    "math.isnan(e.as_claimed().low)",
    "math.isnan(e.strict_ends[0])",
    "math.isnan(e.ends_at(0.1)[0])",
    "e.ends_at is None",
    "e.breakdown is None",
    "e.breakdown().values",
    "reads_ends(e)",
    "e.decision('>=', 0.5).value == 'invalid'",
    "str(e.decision('>=', 0.5)) != 'Decision.TRUE'",
    "bool(e.deciding('>=', 0.5).invalid)",
    "e.always('>=', 0.5) or e.span is None",
    "e.decide('>=', 0.5).value == 'invalid'",
    "not 0 <= e.value <= 10",
    "np.nan_to_num(e.value) == 0",
    "max(0.0, e.value) == 0",
    "sorted([0.001, e.value])[0] != 0.001 or e.value != e.value",
    "statistics.fmean([e.value, e.low]) $BAD",
    "decimal.Decimal(e.value).is_nan()",
    "np.nanmin([e.value, 0.999]) == 0.999",
    "bool(e)",
    "float(e) != float(e)",
    "hash(e.value) == hash(math.nan)",
    "not e >= 0.01",
    "e $BAD",
    "measured.ungraded and g == '$ODD'",
    "sum(measured.ungraded.values()) and g == '$ODD'",
    "measured.where(g=g).attempts == 0",
    "measured.where(g=g).items < 20",
    "measured.counts.ungraded and g == '$ODD'",
    "np.isnan(measured.where(g=g).resamples(lambda s: s.y / s.n, draws=9, y='y', n=lambda a: 1)).any()",
    "measured.where(g=g).rate(lambda a: a.grades['y'].ungraded is not None).value > 0.2",
    "measured.where(g=g).rate(lambda a: a.grades['y'].ungraded is not None) >= 0.2",
    "measured.where(g=g).mean(lambda a: a['y']).value $BAD",
    "any(a.grades['y'].ungraded for a in GRADED if a.prompt.groups['g'] == g)",
    "statistics.fmean(a.grades['y'].ungraded is not None for a in GRADED if a.prompt.groups['g'] == g) > 0.2",
    "any(a.grades['y'].ungraded for a in measured.where(g=g).selection.columns.attempts if g in a.prompt.text)",
    "bool(seen_ungraded(measured, g))",
    "not seen_mean(measured, g) $GOOD",
    "not statistics.fmean(a['y'] for a in GRADED if a.prompt.groups['g'] == g) $GOOD",
)
"""Reasons to leave out a group: expressions in ``e``, ``g`` and ``measured``, some of which raise."""
READS_ANSWERS = re.compile(r"seen_|GRADED|selection\.columns|lambda a: a|metric's function")
"""Claims that read single answers: what they leave out by these, no estimate shows."""

HELPERS = """\
def shown_value(text):
    found = re.search(r": (-?[0-9.]+|nan) \\(", text)
    return float(found[1]) if found else math.nan


def seen_mean(measured, g):
    seen = []
    measured.where(g=g).mean(lambda a: seen.append(a["y"]) or seen[-1])
    return statistics.fmean(map(float, seen)) if seen else math.nan


def reads_ends(e):
    seen = []
    e.with_ends(lambda low, high: (seen.append(low), (low, high))[1])
    return seen[0] != seen[0]


def seen_ungraded(measured, g):
    seen = []
    measured.where(g=g).rate(lambda a: bool(seen.append(a.grades["y"].ungraded)) or True)
    return [reason for reason in seen if reason]
"""

SKIPS = {
    "bare": """
def skips_$K(measured, g, e):
    return bool($GUARD)
""",
    "swallowing": """
def skips_$K(measured, g, e):
    try:
        return bool($GUARD)
    except Exception:
        return True
""",
    "swallowing everything": """
def skips_$K(measured, g, e):
    try:
        return bool($GUARD)
    except BaseException:
        return True
""",
}

NUMBERS: Mapping[str, str] = {
    "gap of numbers": """
def test_$K(measured):
    values = {g: $EST.value for g in $KEYS}
    e = next($EST for g in ("$REF",))
    assert $CHECK
    assert not max(values.values()) - min(values.values()) > 0.2
""",
    "gap of numbers of a fixture": """
@pytest.fixture
def values_$K(measured):
    return {g: $EST.value for g in $KEYS}


def test_$K(measured, values_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK
    assert not max(values_$K.values()) - min(values_$K.values()) > 0.2
""",
    "bound of numbers": """
def test_$K(measured):
    values = {g: $EST.value for g in $KEYS}
    e = next($EST for g in ("$REF",))
    assert e $GOOD_OP float(np.nanmean(list(values.values()))) $SLACK
""",
    "bound of numbers of a fixture": """
@pytest.fixture
def bound_$K(measured):
    return float(np.nanmean([$EST.value for g in $KEYS])) $SLACK


def test_$K(measured, bound_$K):
    e = next($EST for g in ("$REF",))
    assert e $GOOD_OP bound_$K
""",
    "worst by key": """
def test_$K(measured):
    e = $WORST([$EST for g in $KEYS], key=lambda e: e.value)
    assert $CHECK
""",
    "worst by an end": """
def test_$K(measured):
    e = sorted([$EST for g in $KEYS], key=lambda e: e.low)[$FIRST]
    assert $CHECK
""",
    "best by key": """
def test_$K(measured):
    e = $BEST([$EST for g in $KEYS], key=lambda e: e.value)
    assert $CHECK
""",
    "worst by a loop": """
def test_$K(measured):
    worst = next($EST for g in ("$REF",))
    for g in $KEYS:
        e = $EST
        if not e.value $GOOD and e.value == e.value:
            worst = e
    e = worst
    assert $CHECK
""",
    "worst group by numbers": """
def test_$K(measured):
    values = {g: $EST.value for g in ("$REF", *$KEYS)}
    g = $WORST(values, key=values.get)
    e = $EST
    assert $CHECK
""",
    "best group by numbers of a fixture": """
@pytest.fixture
def best_$K(measured):
    values = {g: $EST.value for g in ("$REF", *$KEYS)}
    return $BEST(values, key=values.get)


def test_$K(measured, best_$K):
    g = best_$K
    e = $EST
    assert $CHECK
""",
    "numpy": """
def test_$K(measured):
    values = np.array([$EST.value for g in $KEYS])
    e = next($EST for g in ("$REF",))
    assert $CHECK
    assert np.nanmin(values) >= 0
""",
    "heap": """
def test_$K(measured):
    heap = [($EST.value, number) for number, g in enumerate($KEYS)]
    heapq.heapify(heap)
    g = $KEYS[heap[0][1]]
    e = $EST
    assert $CHECK
""",
    "compared by key": """
def test_$K(measured):
    order = functools.cmp_to_key(lambda a, b: -1 if a.value < b.value else 1)
    e = sorted([$EST for g in $KEYS], key=order)[$FIRST]
    assert $CHECK
""",
    "median": """
def test_$K(measured):
    values = sorted(($EST.value, g) for g in ("$REF", "$REF", *$KEYS))
    g = values[len(values) // 2][1]
    e = $EST
    assert $CHECK
""",
    "best by text": """
def test_$K(measured):
    e = $BEST([$EST for g in $KEYS], key=lambda e: f"{e:.3f}")
    assert $CHECK
""",
    "truth of numbers": """
def test_$K(measured):
    e = next($EST for g in ("$REF",))
    assert $CHECK
    for g in $KEYS:
        e = $EST
        assert not e.value $BAD
""",
    "shown and read": """
def test_$K(measured, capsys):
    for g in $KEYS:
        e = $EST
        print(e)
        if "nan" in capsys.readouterr().out:
            continue
        assert $CHECK
""",
}
"""Forms that compute with numbers of estimates."""
OF_THE_BEST = (
    *("bound of numbers", "bound of numbers of a fixture", "best by key", "best group by numbers of a fixture"),
    *("median", "best by text"),
)
"""Forms that are true where a usual group keeps the bound."""

SINGLE: Mapping[str, tuple[str, bool]] = {
    "assert": (
        """
def test_$K(measured):
    assert $CHECK
""",
        True,
    ),
    "kept": (
        """
def test_$K(measured):
    holds = $CHECK
    assert holds
""",
        True,
    ),
    "raise": (
        """
def test_$K(measured):
    if not ($CHECK):
        raise AssertionError("too far off")
""",
        True,
    ),
    "two asserts": (
        """
def test_$K(measured):
    assert measured.items > 5
    assert ($CHECK), "in words of my own"
""",
        True,
    ),
    "or true": (
        """
def test_$K(measured):
    assert ($CHECK) or measured.items > 0
""",
        False,
    ),
    "returned": (
        """
def test_$K(measured):
    return $CHECK
""",
        False,
    ),
    "caught": (
        """
def test_$K(measured):
    try:
        assert $CHECK
    except AssertionError:
        pass
""",
        False,
    ),
    "in a list": (
        """
def test_$K(measured):
    assert [$CHECK]
""",
        False,
    ),
    "if ungraded": (
        """
def test_$K(measured):
    if measured.ungraded:
        return
    assert $CHECK
""",
        False,
    ),
    "unless ungraded": (
        """
def test_$K(measured):
    assert measured.ungraded or ($CHECK)
""",
        False,
    ),
    "skipped if ungraded": (
        """
def test_$K(measured):
    if measured.ungraded:
        pytest.skip("incomplete")
    assert $CHECK
""",
        False,
    ),
    "skipped unless it holds": (
        """
def test_$K(measured):
    if not ($CHECK):
        pytest.skip("not yet")
""",
        False,
    ),
}
"""Forms of a test of one comparison, and whether they are plain."""
