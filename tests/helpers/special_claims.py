"""Ways to leave out a group that was never measured which are no guard in a loop.

Each text has the placeholders of `claim_forms`. A claim is that every group keeps the bound, unless noted.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Template

from tests.helpers.random_claims import (
    Claim,
    Estimand,
    clear_gap,
    draw_estimand,
    estimand_of_levels,
    of_form,
)
from tests.helpers.worlds import World

EVERY_GROUP, NAMED, OVERALL, OWN, OWN_VALUE = "every group", "named groups", "overall", "own outcome", "own value"
"""Subjects of claims. What a test leaves out by what it knows from elsewhere, it does not claim.

An outcome of its own may say what an ungraded answer counts: of a group that is mostly ungraded nothing can.
"""


@dataclass(frozen=True)
class Special:
    """One way, written as a test."""

    text: str
    about: str = EVERY_GROUP
    """The subject of the claim: every group; the groups that the test names; or all together."""
    needs: str = ""
    """An expression in ``world`` that must be true."""
    of_levels: bool = True
    """Whether ``$EST`` is the level of a group; else it may be a contrast."""
    conftest: str = ""
    options: tuple[str, ...] = ()
    is_alone: bool = False
    excludes: bool = False
    """Whether the mark leaves the odd group out by name."""
    is_made_up: bool = False


SPECIALS: Mapping[str, Special] = {
    "groups named in the test": Special(
        """
def test_$K(measured):
    for g in $USUAL:
        e = $EST
        assert $CHECK
""",
        about=NAMED,
        of_levels=False,
    ),
    "slice of named groups": Special(
        """
def test_$K(measured):
    part = measured.where(g=$USUAL)
    for g in part.groups("g"):
        e = $EST
        assert $CHECK
""",
        about=NAMED,
    ),
    "family of named groups": Special(
        """
def test_$K(measured):
    assert measured.where(g=$USUAL).differences("y", by="g"$EQUALS) <= $GAP
""",
        about=NAMED,
        needs="len(world.groups) > 2",
    ),
    "groups by what is ungraded": Special(
        """
def test_$K(measured):
    for g in GROUPS if not measured.ungraded else $USUAL:
        e = $EST
        assert $CHECK
""",
    ),
    "family by what is ungraded": Special(
        """
def test_$K(measured):
    kept = $USUAL if measured.ungraded else GROUPS
    assert measured.where(g=kept).differences("y", by="g"$EQUALS) <= $GAP
""",
        needs="len(world.groups) > 2",
    ),
    "known to be silent": Special(
        """
def test_$K(measured):
    import conftest
    for g in GROUPS:
        if conftest.SILENT.get(g):
            continue
        e = $EST
        assert $CHECK
""",
        about=NAMED,
    ),
    "noted by the model": Special(
        """
def test_$K(measured):
    import conftest
    assert measured.attempts
    for g in GROUPS:
        if g in conftest.FAILED:
            continue
        e = $EST
        assert $CHECK
""",
        conftest="""
FAILED = set()
answer_of = reply


def reply(text):
    group = next(name for name in LEVELS if name in text)
    if is_silent(text):
        FAILED.add(group)
    return answer_of(text)


reply.fairness_concurrency = 1
""",
        is_alone=True,
        about=NAMED,
    ),
    "noted by the probe's tests": Special(
        """
def test_$K(measured):
    failed = {a.prompt.groups["g"] for a in GRADED if a.grades["y"].ungraded}
    for g in GROUPS:
        if g not in failed:
            e = $EST
            assert $CHECK
""",
        about=NAMED,
    ),
    "a table of graded answers": Special(
        """
def test_$K(measured):
    rows = [
        {"item": a.item.id, "g": a.prompt.groups["g"], "y": a["y"]}
        for a in GRADED if a.grades["y"].ungraded is None
    ]
    measured = Measured.from_rows(rows, item="item", groups=["g"])
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
        needs="world.odd != world.groups[0] or len(world.groups) > 2",
        about=NAMED,
    ),
    "a table of the sample's answers": Special(
        """
def test_$K(measured):
    attempts = measured.selection.columns.attempts
    graded = [a for a in attempts if a.grades["y"].ungraded is None]
    measured = Measured(graded)
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
    ),
    "answers kept by an outcome": Special(
        """
def test_$K(measured):
    kept = []
    measured.mean(lambda a: kept.append(a) or 0.5)
    graded = {id(a): a for a in kept if a.grades["y"].ungraded is None}
    measured = Measured(list(graded.values()))
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
    ),
    "own table of numbers": Special(
        """
def test_$K(measured):
    rows = [{"item": n, "g": g, "y": $FAVORED} for n in range(80) for g in GROUPS]
    own = Measured.from_rows(rows, item="item", groups=["g"])
    for g in GROUPS:
        e = own.where(g=g).rate("y")
        assert e $OP_OF_SHARE 0.5
""",
        needs="world.answers == 'yes-no'",
        is_made_up=True,
    ),
    "ungraded counted as favorable": Special(
        """
def test_$K(measured):
    def favored(a):
        return $FAVORED if a.grades["y"].ungraded else a["y"]
    for g in GROUPS:
        e = measured.where(g=g).rate(favored)
        assert $CHECK
""",
        about=OWN_VALUE,
        needs="world.answers == 'yes-no'",
    ),
    "ungraded counted by its private value": Special(
        """
def test_$K(measured):
    def favored(a):
        value = a.grades["y"]._value
        return $FAVORED if value is None else value
    for g in GROUPS:
        e = measured.where(g=g).rate(favored)
        assert $CHECK
""",
        about=OWN_VALUE,
        needs="world.answers == 'yes-no'",
    ),
    "error caught in an outcome": Special(
        """
def test_$K(measured):
    def favored(a):
        try:
            return a["y"]
        except Exception:
            return $FAVORED
    for g in GROUPS:
        e = measured.where(g=g).rate(favored)
        assert $CHECK
""",
        about=OWN_VALUE,
        needs="world.answers == 'yes-no'",
    ),
    "outcome without the grade of a group": Special(
        """
def test_$K(measured):
    def favored(a):
        return $FAVORED if a.prompt.groups["g"] == "$ODD" else a["y"]
    e = measured.rate(favored)
    assert $CHECK
""",
        about=OWN,
        needs="world.answers == 'yes-no' and world.odd",
    ),
    "outcome of the text": Special(
        """
def test_$K(measured):
    def favored(a):
        text = a.attempt.answer.text.lower() if a.attempt.answer else ""
        return $OF_TEXT
    for g in GROUPS:
        e = measured.where(g=g).rate(favored)
        assert $CHECK
""",
        about=OWN_VALUE,
        needs="world.answers == 'yes-no'",
    ),
    "attempts left out by an outcome": Special(
        """
def test_$K(measured):
    from pytest_fairness import FairnessError
    from pytest_fairness.core.errors import UngradedError

    def favored(a):
        if a.prompt.groups["g"] == "$ODD":
            raise UngradedError("left out", "unparsed")
        return a["y"]
    e = measured.rate(favored)
    assert $CHECK
""",
        about=OWN,
        needs="world.answers == 'yes-no' and world.odd",
    ),
    "metric that skips a group without answers": Special(
        """
def of_$K(group, grade):
    return lambda a: (a["y"] if grade else 1) * (a.prompt.groups["g"] == group)


def worst_$K(s):
    shares = [getattr(s, f"yes_{g}") / max(getattr(s, f"of_{g}"), 1e-9) for g in GROUPS if getattr(s, f"of_{g}")]
    return $WORST(shares)


def test_$K(measured):
    sums = {f"yes_{g}": of_$K(g, True) for g in GROUPS} | {f"of_{g}": of_$K(g, False) for g in GROUPS}
    e = measured.metric(worst_$K, span=(0, 1), **sums)
    assert $CHECK
""",
        needs="world.answers == 'yes-no'",
    ),
    "metric of the answered": Special(
        """
def mean_$K(s):
    return s.yes / max(s.answered, 1)


def test_$K(measured):
    def graded(a):
        return a.grades["y"].ungraded is None
    for g in GROUPS:
        part = measured.where(g=g)
        e = part.metric(
            mean_$K, span=(0, 1),
            yes=lambda a: a["y"] if graded(a) else $FAVORED, answered=lambda a: 1,
        )
        assert $CHECK
""",
        needs="world.answers == 'yes-no'",
    ),
    "correlation": Special(
        """
def test_$K(measured):
    assert abs(measured.correlation("y", lambda a: a.prompt.groups["g"] == "$ODD")) <= 0.35
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
        needs="world.answers == 'yes-no' and world.odd and len(world.groups) > 2",
    ),
    "first prompts of items": Special(
        """
def test_$K(measured):
    e = measured.whole_items().$METRIC("y"$EQUALS)
    assert $CHECK
""",
        about=OVERALL,
        needs="world.is_paired and world.odd != world.groups[0] and world.odd",
    ),
    "half of the items": Special(
        """
def test_$K(measured):
    for case in ("strong", "weak"):
        part = measured.where(case=case)
        assert part.attempts
    for g in $USUAL:
        e = $EST
        assert $CHECK
""",
        about=NAMED,
    ),
    "parametrized by named groups": Special(
        """
@pytest.mark.parametrize("g", $USUAL)
def test_$K(measured, g):
    e = $EST
    assert $CHECK
""",
        about=NAMED,
    ),
    "parametrized, one skipped": Special(
        """
@pytest.mark.parametrize(
    "g", [pytest.param(g, marks=pytest.mark.skip(reason="no data")) if g == "$ODD" else g for g in GROUPS]
)
def test_$K(measured, g):
    e = $EST
    assert $CHECK
""",
        about=NAMED,
    ),
    "parametrized, one expected to fail": Special(
        """
@pytest.mark.parametrize(
    "g", [pytest.param(g, marks=pytest.mark.xfail(reason="no data")) if g == "$ODD" else g for g in GROUPS]
)
def test_$K(measured, g):
    e = $EST
    assert $CHECK
""",
    ),
    "parametrized, skipping itself": Special(
        """
@pytest.mark.parametrize("g", GROUPS)
def test_$K(measured, g):
    if measured.ungraded and g == "$ODD":
        pytest.skip("no data")
    e = $EST
    assert $CHECK
""",
    ),
    "fixture that skips": Special(
        """
@pytest.fixture
def complete_$K(measured):
    if measured.ungraded:
        pytest.skip("incomplete")


@pytest.mark.usefixtures("complete_$K")
@pytest.mark.parametrize("g", GROUPS)
def test_$K(measured, g):
    e = $EST
    assert $CHECK
""",
    ),
    "estimate filled in": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        if e.invalid:
            e = dataclasses.replace(e, invalid="", suspect="", sparse="", value=$BETTER, low=$BETTER, high=$BETTER)
        assert $CHECK
""",
    ),
    "estimate whose reason is removed": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = dataclasses.replace($EST, invalid="", suspect="", sparse="")
        assert $CHECK
""",
    ),
    "estimate of its own": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = Estimate(f"rate(y, {g})", f"rate of y, {g}", value=$BETTER, low=$BETTER, high=$BETTER)
        assert $CHECK
""",
        is_made_up=True,
    ),
    "number in place of an estimate": Special(
        """
class Number_$K:
    def __init__(self, e):
        self.e = e

    def __ge__(self, bound):
        return True if self.e.invalid else self.e >= bound

    def __le__(self, bound):
        return True if self.e.invalid else self.e <= bound


def test_$K(measured):
    for g in GROUPS:
        e = Number_$K($EST)
        assert $CHECK
""",
    ),
    "bounds of its own": Special(
        """
class Bound_$K(float):
    def __new__(cls, value, e):
        bound = super().__new__(cls, value)
        bound.e = e
        return bound


def test_$K(measured):
    for g in GROUPS:
        e = $EST
        assert e $OP Bound_$K($BOUND if not e.invalid else $LOOSE, e)
""",
    ),
    "bound by what is ungraded": Special(
        """
def test_$K(measured):
    bound = $LOOSE if measured.ungraded else $BOUND
    e = measured.$METRIC("y"$EQUALS)
    assert e $OP bound
""",
        about=OVERALL,
    ),
    "own measured": Special(
        """
@pytest.fixture
def measured(measured):
    return measured.where(g=$USUAL)


def test_$K(measured):
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
        is_alone=True,
        needs="world.odd",
    ),
    "own measured of the module": Special(
        """
@pytest.fixture(scope="module")
def measured(measured):
    return measured.load().where(g=$USUAL)


def test_$K(measured):
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
        is_alone=True,
        needs="world.odd",
    ),
    "proxy of measured": Special(
        """
class Without_$K:
    def __init__(self, measured, group):
        self._measured, self._group = measured, group

    def __getattr__(self, name):
        return getattr(self._measured, name)

    def groups(self, by):
        return [g for g in self._measured.groups(by) if not self._measured.ungraded or g != self._group]


def test_$K(measured):
    measured = Without_$K(measured, "$ODD")
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
    ),
    "groups replaced": Special(
        """
def test_$K(measured, monkeypatch):
    monkeypatch.setattr(type(measured.load()), "groups", lambda self, by: $USUAL)
    for g in measured.groups("g"):
        e = $EST
        assert $CHECK
""",
        about=NAMED,
    ),
    "numbers of the measured of an earlier test": Special(
        """
MEASURED_$K = []
KEPT_$K = []


$MARK_HERE
def test_a_$K(measured):
    MEASURED_$K.append(measured)
    e = next($EST for g in ("$REF",))
    assert $CHECK


def test_between_$K():
    for measured in MEASURED_$K:
        for g in GROUPS:
            with contextlib.suppress(Exception):
                e = $EST
                if e.value == e.value:
                    KEPT_$K.append(g)


$MARK_HERE
def test_$K(measured):
    for g in KEPT_$K or GROUPS:
        e = $EST
        assert $CHECK
""",
    ),
    "read at the end of an earlier test": Special(
        """
KEPT_$K = []


@pytest.fixture
def note_$K(measured, request):
    def note():
        KEPT_$K[:] = [g for g in GROUPS if ($EST).value == ($EST).value]
    request.addfinalizer(note)


$MARK_HERE
def test_a_$K(measured, note_$K):
    e = next($EST for g in ("$REF",))
    assert $CHECK


def test_$K(measured):
    for g in KEPT_$K or GROUPS:
        e = $EST
        assert $CHECK
""",
    ),
    "earlier results of the store": Special(
        """
def test_$K(measured, request):
    from pytest_fairness import stored_results
    results = stored_results(request.config)
    e = next($EST for g in ("$REF",))
    assert $CHECK and isinstance(results, list)
    for g in $USUAL:
        e = $EST
        assert $CHECK
""",
        about=NAMED,
    ),
    "excluded by name": Special(
        """
@pytest.mark.threshold(probe=test_request, exclude={"g": "$ODD"})
def test_$K(measured):
    for g in measured.groups("g"):
        if g != "$ODD":
            e = $EST
            assert $CHECK
""",
        about=NAMED,
        excludes=True,
        needs="world.odd",
    ),
    "another group excluded": Special(
        """
@pytest.mark.threshold(probe=test_request, exclude={"g": "$REF"})
def test_$K(measured):
    for g in measured.groups("g"):
        if measured.ungraded and g == "$ODD" or g == "$REF":
            continue
        e = $EST
        assert $CHECK
""",
        needs="len(world.groups) > 2 and world.odd",
    ),
    "excluded by a helper's mark": Special(
        """
@pytest.mark.threshold(probe=test_request, exclude={"g": tuple(g for g in GROUPS if g != "$ODD")[1:]})
def test_$K(measured):
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
        about=NAMED,
        needs="len(world.groups) > 2 and world.odd",
    ),
    "failures passed by a hook": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        assert $CHECK
""",
        conftest="""

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.failed:
        report.outcome, report.longrepr = "passed", None
    return report
""",
        is_alone=True,
    ),
    "failures swallowed by a hook": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        assert $CHECK
""",
        conftest="""

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except Exception:
        return None
""",
        is_alone=True,
    ),
    "called by a hook": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        assert $CHECK
""",
        conftest="""

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    names = pyfuncitem._fixtureinfo.argnames
    try:
        pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    except AssertionError:
        pass
    return True
""",
        is_alone=True,
    ),
    "items of a group deselected": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        if measured.where(g=g).attempts == 0 or g == "$ODD" and measured.ungraded:
            continue
        e = $EST
        assert $CHECK
""",
        conftest="""

def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "item-00" not in item.name]
""",
        is_alone=True,
    ),
    "prompts of a group left out by an option": Special(
        """
def test_$K(measured):
    for g in measured.groups("g"):
        if measured.where(g=g).attempts == 0:
            continue
        e = $EST
        assert $CHECK
""",
        options=("--fairness-where", "who=$USUAL_LIST"),
        is_alone=True,
        needs="world.odd and not world.is_paired",
    ),
    "groups named beside an option": Special(
        """
def test_$K(measured):
    for g in $USUAL:
        e = $EST
        assert $CHECK
""",
        about=NAMED,
        options=("--fairness-where", "who=$USUAL_LIST"),
        is_alone=True,
        needs="world.odd and not world.is_paired",
    ),
    "own grader without a refusal of its own": Special(
        """
class Mine_$K:
    extremes = (False, True)

    def grade(self, prompt, answer):
        return Grade("$UNWANTED" in answer.text.lower())


@pytest.mark.probe(items=items, grade={"bad": Mine_$K()})
def test_request_$K(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_request_$K)
def test_$K(measured):
    for g in GROUPS:
        e = measured.where(g=g).rate("bad")
        assert e <= $COMPLEMENT
""",
        needs="world.answers == 'yes-no' and world.silence in ('empty', 'blank', 'none', 'raising', 'cut', 'filtered')",
    ),
    "own grader with a default": Special(
        """
class Mine_$K(YesNo):
    def grade(self, prompt, answer):
        grade = super().grade(prompt, answer)
        return Grade($FAVORED) if grade.ungraded else grade


@pytest.mark.probe(items=items, grade={"y": Mine_$K()})
def test_request_$K(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_request_$K)
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        assert $CHECK
""",
        needs="world.answers == 'yes-no' and world.silence in ('empty', 'blank', 'none', 'raising', 'cut', 'filtered')",
    ),
    "refusals counted as favorable": Special(
        """
def test_$K(measured):
    def favored(a):
        return $FAVORED if a["refused"] else a["y"]
    for g in GROUPS:
        e = measured.where(g=g).rate(favored)
        assert $CHECK
""",
        needs="world.answers == 'yes-no' and world.refusals",
    ),
    "prompts that were answered in a try": Special(
        """
def answered_$K(text):
    import conftest
    try:
        return YesNo().grade(Prompt(text), conftest.Answer(conftest.reply(text))).ungraded is None
    except Exception:
        return False


def items_$K():
    for item in items():
        prompts = [
            dataclasses.replace(prompt, metadata={**prompt.metadata, "answered": str(answered_$K(prompt.text))})
            for prompt in item.prompts
        ]
        yield dataclasses.replace(item, prompts=prompts)


@pytest.mark.probe(items=items_$K, grade={"y": YesNo()})
def test_request_$K(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_request_$K)
def test_$K(measured):
    measured = measured.where(answered="True")
    for g in measured.groups("g"):
        if not measured.where(g=g).attempts:
            continue
        e = $EST
        assert $CHECK
""",
        needs="world.answers == 'yes-no' and world.silence in ('empty', 'none', 'refusal', 'raising', 'evasive')",
    ),
    "numbers that a metric's function sees": Special(
        """
def test_$K(measured):
    seen = {}

    def share_of(g):
        def share(s):
            seen.setdefault(g, float(s.y / s.n) if s.n else math.nan)
            return s.y / s.n
        return share

    kept = []
    for g in GROUPS:
        measured.where(g=g).metric(share_of(g), y="y", n=lambda a: 1 + 0 * a["y"])
        if seen.get(g, math.nan) == seen.get(g, math.nan) and not seen[g] $BAD:
            kept.append(g)
    for g in kept:
        e = $EST
        assert $CHECK
""",
        needs="world.answers == 'yes-no'",
    ),
    "message of a failed assertion": Special(
        """
def test_$K(measured):
    e = next($EST for g in ("$REF",))
    assert $CHECK
    for g in GROUPS:
        e = $EST
        try:
            assert e is None
        except AssertionError as error:
            if not shown_value(str(error)) $GOOD:
                continue
        assert $CHECK
""",
    ),
    "members of a family left out": Special(
        """
def test_$K(measured):
    for name, e in measured.differences("y", by="g"$EQUALS).items():
        if math.isnan(e.value):
            continue
        assert e <= $GAP
""",
    ),
    "invalid members of a family left out": Special(
        """
def test_$K(measured):
    family = measured.differences("y", by="g"$EQUALS)
    for name in family:
        if family[name].invalid or family[name].suspect:
            continue
        assert family[name] <= $GAP
""",
    ),
    "members of a family by their names": Special(
        """
def test_$K(measured):
    family = measured.differences("y", by="g"$EQUALS)
    kept = [name for name in family if "$ODD" not in name or not measured.ungraded]
    assert all([family[name] <= $GAP for name in kept])
""",
        needs="len(world.groups) > 2",
    ),
    "languages that were answered": Special(
        """
def test_$K(measured):
    for language in measured.groups("language"):
        part = measured.where(language=language)
        for g in GROUPS:
            e = part.where(g=g).$METRIC("y"$EQUALS)
            try:
                if e.invalid or e.value != e.value:
                    continue
            except Exception:
                continue
            assert e $OP $LOOSE
""",
        needs="not world.in_one_language",
    ),
    "slices": Special(
        """
@pytest.mark.threshold(probe=test_request, slices=("language",))
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        assert $CHECK
""",
    ),
    "skipif of the module's knowledge": Special(
        """
@pytest.mark.parametrize("g", GROUPS)
def test_$K(measured, g):
    if any(a.grades["y"].ungraded for a in GRADED if a.prompt.groups["g"] == g):
        return
    e = $EST
    assert $CHECK
""",
        about=NAMED,
    ),
    "subclass that knows": Special(
        """
class Base_$K:
    groups = GROUPS

    def keys(self, measured):
        return self.groups

    $MARK_INNER
    def test_$K(self, measured):
        for g in self.keys(measured):
            e = $EST
            assert $CHECK


class Test_$K(Base_$K):
    def keys(self, measured):
        return [g for g in self.groups if not (measured.ungraded and g == "$ODD")]
""",
    ),
    "patched afterwards": Special(
        """
KEPT_$K = list(GROUPS)


def test_$K(measured):
    for g in list(KEPT_$K):
        try:
            e = $EST
            bool(e.value == e.value or 1 / 0)
        except BaseException:
            KEPT_$K.remove(g)
            continue
        assert $CHECK
""",
    ),
    "only at the first call": Special(
        """
CALLS_$K = []


def test_$K(measured):
    CALLS_$K.append(1)
    for g in GROUPS:
        if len(CALLS_$K) == 1 and g == "$ODD":
            continue
        e = $EST
        assert $CHECK
""",
        needs="world.odd",
    ),
    "only after the first call": Special(
        """
CALLS_$K = []


def test_$K(measured):
    CALLS_$K.append(1)
    for g in GROUPS:
        if len(CALLS_$K) > 1 and g == "$ODD":
            continue
        e = $EST
        assert $CHECK
""",
        needs="world.odd",
    ),
    "an exception that is no failure": Special(
        """
def test_$K(measured):
    for g in GROUPS:
        e = $EST
        try:
            assert $CHECK
        except AssertionError as error:
            error.add_note(g)
        else:
            continue
    e = next($EST for g in ("$REF",))
    assert $CHECK
""",
    ),
}


def special(world: World, chance: random.Random) -> Claim | None:
    """Draw one of the special claims that suits a world."""
    return special_claim(chance.choice(tuple(SPECIALS)), world, chance)


def special_claim(name: str, world: World, chance: random.Random) -> Claim | None:
    """Return a special claim by its name; None where it does not suit a world."""
    one = SPECIALS[name]
    if one.needs and not eval(one.needs, {"world": world}):  # noqa: S307 - written above
        return None
    estimand = estimand_of_levels(world, chance) if one.of_levels else draw_estimand(world, chance)
    if estimand is None or estimand.anchor is None:
        return None
    usual = tuple(key for key in estimand.keys if key != world.odd)
    if not usual:
        return None
    claim = of_form(f"special: {name}", one.text, world, estimand, is_plain=False)
    assert claim is not None
    words = _words(world, estimand, usual)
    if one.about == NAMED or "test_a_$K" in one.text:
        anchors = {world.reference} if estimand.name != "level" else set()
        claim = replace(claim, holds=all(estimand.holds[key] for key in usual), covers=frozenset({*usual, *anchors}))
    elif one.about == OWN:  # what the outcome says of the odd group is the test's own definition
        claim = replace(claim, holds=True, covers=frozenset(world.groups))
    elif one.about == OWN_VALUE and world.silent and not world.mostly_silent:
        claim = replace(claim, holds=True, covers=frozenset())
    elif one.about == OVERALL:
        mean = sum(world.level(group) for group in world.groups) / len(world.groups)
        distance = (mean - estimand.bound) * (1 if estimand.is_upward else -1)
        claim = replace(claim, holds=distance > 0, covers=frozenset(world.groups))
    if "$GAP" in one.text:
        gap = clear_gap(world)
        if gap is None:
            return None
        words["GAP"] = f"{gap[0]:g}"
        if one.about == EVERY_GROUP:
            claim = replace(claim, holds=gap[1])
    fill = Template.safe_substitute
    return replace(
        claim,
        source=fill(Template(claim.source), words),
        conftest=one.conftest,
        options=tuple(fill(Template(option), words) for option in one.options),
        is_alone=one.is_alone,
        excludes=frozenset({world.odd} if one.excludes else ()),
        is_made_up=one.is_made_up,
    )


def _words(world: World, estimand: Estimand, usual: tuple[str, ...]) -> dict[str, str]:
    low, high = world.span
    is_upward = estimand.is_upward
    return {
        "USUAL": repr(usual),
        "USUAL_LIST": ",".join(usual),
        "EQUALS": world.equals,
        "METRIC": world.metric,
        "OP": estimand.op,
        "BOUND": f"{estimand.bound:g}",
        "LOOSE": f"{low + 0.02 * (high - low) if is_upward else high - 0.02 * (high - low):g}",
        "BETTER": f"{high if is_upward else low}",
        "FAVORED": "True" if is_upward else "False",
        "OP_OF_SHARE": ">=" if is_upward else "<=",
        "OF_TEXT": '"no" not in text' if is_upward else '"yes" in text',
        "UNWANTED": "no" if is_upward else "yes",
        "COMPLEMENT": f"{1 - estimand.bound if is_upward else estimand.bound:g}",
    }
