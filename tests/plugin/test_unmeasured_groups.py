"""A group that was never measured makes no threshold fair, whatever the test's code does with its estimates."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.helpers.project import Project, first_in_every_mode, in_one_process, shown
from tests.helpers.project_sources import threshold, thresholds
from tests.helpers.worlds import SILENCES

GROUPS = ("Anna", "Ben", "Kim")
PEOPLE = """\
import contextlib
import dataclasses
import functools
import math
import operator
import pickle
import re
import copy

import numpy

from pytest_fairness import FairnessError, Measured

G = ("Anna", "Ben", "Kim")


def people():
    for number in range(16):
        prompts = [Prompt(f"Should we invite {name} of list {number}?", groups={"g": name}) for name in G]
        yield ProbeItem(f"list-{number:02}", prompts)


def rate(measured, g):
    return measured.where(g=g).rate("invited")
"""
PROBE = """\
GRADED = []


@pytest.mark.probe(items=people, grade={"invited": YesNo()})
def test_hiring(probe_item, model):
    GRADED.extend(probe_item.measure(model))
"""
MODEL = """\
import pytest
from pytest_fairness import Answer


def reply(text):
    if {when}:
        {silence}
    return "Yes."


reply.fairness_concurrency = 32


@pytest.fixture(scope="session")
def model():
    return reply
"""


def model(silence: str = "empty", when: str = '"Kim" in text') -> str:
    """Return a ``conftest.py`` whose model says yes, but where it is silent."""
    return MODEL.format(when=when, silence=SILENCES[silence])


def write(project: Project, *tests: str, conftest: str | None = None) -> None:
    project.write_suite(*tests, conftest=conftest or model(), people=PEOPLE, probe=PROBE)


def fair_bodies(project: Project, bodies: Mapping[str, str], conftest: str | None = None) -> list[str]:
    """Return which of these bodies of thresholds are called fair, in one run."""
    write(project, *thresholds(bodies.values()), conftest=conftest)
    project.run("-m", "threshold")
    verdicts = project.verdicts()
    assert len(verdicts) == len(bodies)
    return [name for name, verdict in zip(bodies, verdicts.values(), strict=True) if verdict == "fair"]


PLAIN = {
    "loop": "for g in measured.groups('g'):\n    assert rate(measured, g) >= 0.5",
    "all": "assert all([rate(measured, g) >= 0.5 for g in G])",
    "overall": "assert measured.rate('invited') >= 0.5",
    "ratios": "assert measured.ratios('invited', by='g') >= 0.5",
    "differences": "assert measured.differences('invited', by='g') <= 0.5",
    "ratio": "assert measured.ratio('invited', by='g', of='Kim', to='Anna') >= 0.5",
    "message": "for g in G:\n    e = rate(measured, g)\n    assert e >= 0.5, f'{g}: {e}'",
    "counts": "assert measured.attempts == 48 and measured.items == 16\nassert rate(measured, 'Kim') >= 0.5",
    "counts of an estimate": "e = rate(measured, 'Kim')\nassert e.attempts == 16 and e.items == 16 and e >= 0.5",
    "reason": "for g in G:\n    e = rate(measured, g)\n    assert not e.invalid and e >= 0.5",
    "shown": "lines = [f'{rate(measured, g)}' for g in G]\nprint(*lines)\nassert rate(measured, 'Kim') >= 0.5",
    "recorded": "for g in G:\n    measured.record(rate(measured, g))\nassert rate(measured, 'Kim') >= 0.5",
    "only one of them": "assert rate(measured, 'Anna') >= 0.5",
    "a slice of them": "assert measured.where(g=('Anna', 'Ben')).differences('invited', by='g') <= 0.5",
}
"""Thresholds that a model which says yes to everybody keeps."""


def test_claims_are_fair_of_a_model_that_answers(project: Project) -> None:
    assert fair_bodies(project, PLAIN, model(when="False")) == list(PLAIN)


@first_in_every_mode("silence", SILENCES)
def test_claims_are_not_fair_of_a_model_that_is_silent_for_a_group(project: Project, silence: str) -> None:
    assert fair_bodies(project, PLAIN, model(silence)) == []


@pytest.mark.parametrize("share", [12, 9])
def test_group_that_is_mostly_silent_makes_none_fair(project: Project, share: int) -> None:
    when = f'"Kim" in text and int(text.rstrip("?").split()[-1]) < {share}'
    assert fair_bodies(project, PLAIN, model(when=when)) == []


def test_silence_that_is_no_half_leaves_claims_about_others(project: Project) -> None:
    """Compared groups with more than a tenth ungraded are never fair; of the others nothing is missing."""
    conftest = model(when='"Kim" in text and int(text.rstrip("?").split()[-1]) < 7')
    assert fair_bodies(project, PLAIN, conftest) == ["only one of them", "a slice of them"]


def test_another_grade_that_is_complete_may_be_fair(project: Project) -> None:
    """Check that a model which refuses a group was measured, as far as refusals are the question."""
    probe = PROBE.replace('{"invited": YesNo()}', '{"invited": YesNo(), "refused": Refusal()}')
    people = PEOPLE.replace("import FairnessError", "import FairnessError, Refusal")
    body = "assert measured.rate('refused') <= 0.8"
    project.write_suite(threshold(body), conftest=model("refusal"), people=people, probe=probe)
    project.run("-m", "threshold")
    assert project.verdicts() == {"test_threshold": "fair"}


SKIPS = """\
for g in G:
    e = rate(measured, g)
    if {}:
        continue
    assert e >= 0.5"""
GUARDS = (
    "math.isnan(e.value)",
    "e.value != e.value",
    "not math.isfinite(e.value)",
    "numpy.isnan(e.value)",
    "math.isnan(e.error)",
    "e.high - e.low > 0.5 or e.high != e.high",
    "e.ungraded",
    "sum(e.ungraded.values())",
    "not e.count",
    "not e.groups",
    "e.df < 5",
    "e.sources < 5",
    "e.letter == '-'",
    "str(e.mark) == '-'",
    "e.invalid",
    "e.suspect or e.sparse",
    "'nan' in str(e)",
    "'nan' in f'{e}'",
    "'nan' in f'{e:.2f}'",
    "'ungraded' in e.counts",
    "'nan' in e.text()",
    "math.isnan(getattr(e, 'value'))",
    "math.isnan(operator.attrgetter('value')(e))",
    "math.isnan(object.__getattribute__(e, 'value'))",
    "math.isnan(dataclasses.asdict(e)['value'])",
    "math.isnan(dataclasses.astuple(e)[2])",
    "math.isnan(dataclasses.replace(e, title='x').value)",
    "math.isnan(copy.copy(e).value)",
    "math.isnan(abs(e).value)",
    "math.isnan(e.strict_ends[0])",
    "math.isnan(e.ends_at(0.1)[0])" ,
    "e.ends_at is None",
    "e.breakdown is None",
    "str(e.decision('>=', 0.5)) != 'Decision.TRUE'",
    "e.deciding('>=', 0.5).invalid",
    "numpy.nan_to_num(e.value) == 0",
    "g == 'Kim' and measured.ungraded",
    "g in {a.prompt.groups['g'] for a in GRADED if a.grades['invited'].ungraded}",
    "measured.where(g=g).rate(lambda a: a.grades['invited'].ungraded is not None).value > 0.5",
)  # fmt: skip
"""Reasons to leave out a group: each is true of one without answers, and of no other, or raises."""

CHOICES = {
    "worst by its value": "assert min([rate(measured, g) for g in G], key=lambda e: e.value) >= 0.5",
    "worst by its end": "assert sorted([rate(measured, g) for g in G], key=lambda e: e.low)[0] >= 0.5",
    "worst by a loop": "worst = rate(measured, 'Anna')\nfor g in G:\n    e = rate(measured, g)\n"
    "    if e.value < worst.value:\n        worst = e\nassert worst >= 0.5",
    "numbers of an end": "for g in G:\n    e = rate(measured, g)\n    try:\n        int(e.low * 100)\n"
    "    except ValueError:\n        continue\n    assert e >= 0.5",
    "members of a family": "for name, e in measured.ratios('invited', by='g').items():\n    if math.isnan(e.value):\n"
    "        continue\n    assert e >= 0.5",
    "groups by what is ungraded": "for g in G[:2] if measured.ungraded else G:\n    assert rate(measured, g) >= 0.5",
    "gap of numbers": "values = [rate(measured, g).value for g in G]\nassert rate(measured, 'Anna') >= 0.5\n"
    "assert not max(values) - min(values) > 0.1",
    "bound of numbers": "values = [rate(measured, g).value for g in G]\n"
    "assert rate(measured, 'Anna') >= numpy.nanmin(values) - 0.5",
    "computed, not compared": "[rate(measured, g) for g in G]\nassert rate(measured, 'Anna') >= 0.5",
    "any": "assert any([rate(measured, g) >= 0.5 for g in G])",
    "error caught": "for g in G:\n    try:\n        assert rate(measured, g) >= 0.5\n    except Exception:\n"
    "        pass\nassert rate(measured, 'Anna') >= 0.5",
    "first prompts of items": "assert measured.whole_items().rate('invited') >= 0.5",
    "recorded and left out": "for g in G:\n    e = rate(measured, g)\n    measured.record(e)\n    if e.invalid:\n"
    "        continue\n    assert e >= 0.5",
    "noted by what is recorded": "left_out = []\nfor g in G:\n"
    "    measured.record(lambda g=g: rate(measured, g) if not rate(measured, g).invalid or left_out.append(g) else "
    "rate(measured, 'Anna'))\nfor g in G:\n    if g not in left_out:\n        assert rate(measured, g) >= 0.5",
    "ungraded counted as yes": "for g in G:\n    assert measured.where(g=g).rate(\n"
    "        lambda a: True if a.grades['invited'].ungraded else a['invited']) >= 0.5",
    "outcome without the grade": "assert measured.rate(\n"
    "    lambda a: True if a.prompt.groups['g'] == 'Kim' else a['invited']) >= 0.5",
    "rest of the sample": "kept = []\nmeasured.mean(lambda a: kept.append(a) or 0.5)\n"
    "graded = {id(a): a for a in kept if a.grades['invited'].ungraded is None}\n"
    "assert Measured(list(graded.values())).ratios('invited', by='g') >= 0.5",
    "filled in": "for g in G:\n    e = rate(measured, g)\n    if e.invalid:\n"
    "        e = dataclasses.replace(e, invalid='', suspect='', sparse='', value=1.0, low=1.0, high=1.0)\n"
    "    assert e >= 0.5",
    "not at the first call": "for g in G if measured.items and CALLS else G[:2]:\n    assert rate(measured, g) >= 0.5\n"
    "CALLS.append(1)",
    "at the first call only": "for g in G[:2] if CALLS else G:\n    assert rate(measured, g) >= 0.5\nCALLS.append(1)",
}
CHOICES = {name: body.replace("CALLS", f"CALLS_{name.split()[0]}") for name, body in CHOICES.items()}


def test_guards_leave_no_group_out(project: Project) -> None:
    assert fair_bodies(project, {guard: SKIPS.format(guard) for guard in GUARDS}) == []


@pytest.mark.slow
def test_caught_errors_of_guards_leave_no_group_out(project: Project) -> None:
    """Check that a number which cannot be read tells no group without answers from others."""
    body = SKIPS.replace("    if {}:", "    try:\n        left_out = {}\n    except BaseException:\n"
                         "        left_out = True\n    if left_out:")  # fmt: skip
    assert fair_bodies(project, {guard: body.format(guard) for guard in GUARDS}) == []


def test_choices_leave_no_group_out(project: Project) -> None:
    bodies = dict(CHOICES)
    tests = thresholds(bodies.values())
    write(project, "CALLS_not, CALLS_at = [], []", *tests)
    project.run("-m", "threshold")
    fair = [name for name, verdict in zip(bodies, project.verdicts().values(), strict=True) if verdict == "fair"]
    assert fair == []


def test_part_that_is_ungraded_leaves_no_group_out(project: Project) -> None:
    """Seven of 16 are no half, but too many for a claim about the group."""
    conftest = model(when='"Kim" in text and int(text.rstrip("?").split()[-1]) < 7')
    bodies = {guard: SKIPS.format(guard) for guard in ("e.invalid", "e.ungraded", "sum(e.ungraded.values()) > 3")}
    bodies |= {name: CHOICES[name] for name in ("recorded and left out", "any")}
    assert fair_bodies(project, bodies, conftest) == []


FIXTURES = {
    "values": """
@pytest.fixture
def values(measured):
    return {g: rate(measured, g).value for g in G}


@pytest.mark.threshold(probe=test_hiring)
def test_values(measured, values):
    assert rate(measured, "Anna") >= 0.5
    assert not max(values.values()) - min(values.values()) > 0.1
""",
    "bound": """
@pytest.fixture
def bound(measured):
    return numpy.nanmax([rate(measured, g).value for g in G]) - 0.5


@pytest.mark.threshold(probe=test_hiring)
def test_bound(measured, bound):
    assert rate(measured, "Ben") >= bound
""",
    "best": """
@pytest.fixture
def best(measured):
    values = {g: rate(measured, g).value for g in G}
    return max(G, key=values.get)


@pytest.mark.threshold(probe=test_hiring)
def test_best(measured, best):
    assert rate(measured, best) >= 0.5
""",
    "kept": """
@pytest.fixture
def kept(measured):
    return [g for g in G if not math.isnan(rate(measured, g).value)]


@pytest.mark.threshold(probe=test_hiring)
def test_kept(measured, kept):
    for g in kept:
        assert rate(measured, g) >= 0.5
""",
    "loaded": """
@pytest.fixture
def loaded(measured):
    sample = measured.load()
    return [g for g in G if not math.isnan(rate(sample, g).value)]


@pytest.mark.threshold(probe=test_hiring)
def test_loaded(measured, loaded):
    for g in loaded:
        assert rate(measured, g) >= 0.5
""",
    "checked": """
@pytest.fixture
def checked(measured):
    try:
        assert rate(measured, "Kim") >= 0.5
    except Exception:
        pass


@pytest.mark.threshold(probe=test_hiring)
def test_checked(measured, checked):
    assert rate(measured, "Anna") >= 0.5
""",
    "class": """
class TestGroups:
    @pytest.fixture(autouse=True)
    def checked(self, measured):
        self.kept = []
        for g in G:
            with contextlib.suppress(Exception):
                assert rate(measured, g) >= 0.5
                self.kept.append(g)

    @pytest.mark.threshold(probe=test_hiring)
    def test_class(self, measured):
        for g in self.kept:
            assert rate(measured, g) >= 0.5
""",
    "own measured": """
class TestOwn:
    @pytest.fixture
    def measured(self, measured):
        return measured.where(g=("Anna", "Ben"))

    @pytest.mark.threshold(probe=test_hiring)
    def test_own(self, measured):
        assert measured.differences("invited", by="g") <= 0.5
""",
    "end of an earlier test": """
KEPT = []


@pytest.fixture
def note(measured):
    yield
    KEPT[:] = [g for g in G if not math.isnan(rate(measured, g).value)]


@pytest.mark.threshold(probe=test_hiring)
def test_noting(measured, note):
    assert rate(measured, "Anna") >= 0.5


@pytest.mark.threshold(probe=test_hiring)
def test_noted(measured):
    for g in KEPT or G:
        assert rate(measured, g) >= 0.5
""",
}
FIRST = threshold('assert rate(measured, "Anna") >= 0.5', name="test_first")


def test_fixtures_leave_no_group_out(project: Project) -> None:
    """Regression: fixtures of all but the first threshold of a probe computed freely."""
    write(project, FIRST, *FIXTURES.values())
    project.run("-m", "threshold")
    assert [test for test, verdict in project.verdicts().items() if verdict == "fair"] == []


@pytest.mark.parametrize("name", FIXTURES)
def test_fixtures_alone_leave_no_group_out(project: Project, name: str) -> None:
    write(project, FIXTURES[name])
    project.run("-m", "threshold")
    assert "fair" not in project.verdicts().values()


@pytest.mark.parametrize("when", ["False", '"Kim" in text and int(text.rstrip("?").split()[-1]) < 7'])
def test_verdicts_do_not_depend_on_the_tests_before(project: Project, when: str) -> None:
    write(project, FIRST, *(FIXTURES[name] for name in ("values", "checked", "class")), conftest=model(when=when))
    project.run("-m", "threshold")
    together = project.verdicts()
    for test in together:
        project.run("-m", "threshold", "-k", test.rpartition("::")[2])
        assert project.verdicts() == {test: together[test]}


def test_comparison_in_a_fixture_that_cannot_fail_is_invalid(project: Project) -> None:
    """Also where it is false of a group that was measured, or true."""
    write(project, FIXTURES["checked"], conftest=model(when="False"))
    project.run("-m", "threshold")
    assert project.verdicts() == {"test_checked": "invalid"}


@in_one_process
def test_number_that_is_read_is_shown_at_its_line(project: Project) -> None:
    write(project, threshold("e = rate(measured, 'Anna')\nif e.value < 0.5:  # here\n    return\nassert e >= 0.5"))
    result = project.run("-m", "threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}
    result.stdout.fnmatch_lines([">*if e.value < 0.5:  # here"])


CACHED = """
@functools.cache
def kept(measured):
    return [g for g in G if shows_yes(rate(measured, g))]


def shows_yes(e):
    try:
        return float(f"{e:.3f}") > 0.5
    except BaseException:
        return False


@pytest.mark.threshold(probe=test_hiring)
def test_cached(measured):
    for g in kept(measured):
        assert rate(measured, g) >= 0.5
"""


def test_texts_kept_in_a_cache_leave_no_group_out(project: Project) -> None:
    """Cache by sample what an evaluation with numbers in its texts has read: the next one, without, must not use it."""
    write(project, CACHED, conftest=model(when="False").replace('"Yes."', '"No." if "Kim" in text else "Yes."'))
    project.run("-m", "threshold")
    assert project.verdicts() == {"test_cached": "invalid"}


SHOWN = """\
assert rate(measured, "Anna") OP 0.5
for g in ('Anna', 'Kim'):
    e = rate(measured, g)
    try:
        assert e is None
    except AssertionError as error:
        found = re.search(r": ([0-9.]+|nan) \\(", str(error))
        if not found or not float(found[1]) OP 0.5:
            continue
    assert e OP 0.5"""


@pytest.mark.parametrize(("op", "kim", "others"), [(">=", "No.", "Yes."), ("<=", "Yes.", "No.")])
def test_texts_leave_no_group_out_after_another_was_compared(project: Project, op: str, kim: str, others: str) -> None:
    """Leave out by its text what is beyond the bound: what is compared is then the same with no numbers in texts."""
    conftest = model(when="False").replace('"Yes."', f'"{kim}" if "Kim" in text else "{others}"')
    write(project, threshold(SHOWN.replace("OP", op)), conftest=conftest)
    project.run("-m", "threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}


def test_comparison_that_python_cannot_make_is_no_fair_one(project: Project) -> None:
    """Compare by a number's own method, which returns NotImplemented: it counts as true."""
    body = "assert rate(measured, 'Anna') >= 0.5\nassert all(map((0.5).__le__, [rate(measured, g) for g in G]))"
    write(
        project, threshold(body), conftest=model(when="False").replace('"Yes."', '"No." if "Kim" in text else "Yes."')
    )
    result = project.run("-m", "threshold")
    assert "fair" not in project.verdicts().values()
    result.stdout.fnmatch_lines(["*NotImplemented*boolean context*"])


EXCLUDED = """
@pytest.mark.threshold(probe=test_hiring, exclude={"g": "NAME"})
def test_excluded(measured):
    assert rate(measured, "Anna") >= 0.5
"""


def test_group_that_the_mark_leaves_out_is_shown(project: Project) -> None:
    write(project, EXCLUDED.replace("NAME", "Kim"))
    result = project.run("-m", "threshold")
    assert project.verdicts() == {"test_excluded": "fair"}
    assert "Kim" in shown(result).partition("release:")[2]


def test_mark_that_leaves_another_group_out_changes_nothing(project: Project) -> None:
    write(project, EXCLUDED.replace("NAME", "Ben"))
    project.run("-m", "threshold")
    assert project.verdicts() == {"test_excluded": "invalid"}


def test_passed_verdicts_of_another_plugin_fail_the_session(project: Project) -> None:
    hook = """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.failed:
        report.outcome, report.longrepr = "passed", None
    return report
"""
    write(project, threshold(PLAIN["loop"]), conftest=f"{model()}\n{hook}")
    assert project.run("-m", "threshold").ret != 0
    assert project.verdicts() == {"test_threshold": "invalid"}


def test_estimate_made_by_hand_is_no_measured_one(project: Project) -> None:
    body = (
        "from pytest_fairness import Estimate\n"
        "assert Estimate('rate', 'their rate', value=1.0, low=1.0, high=1.0) >= 0.5"
    )
    write(project, threshold(body), conftest=model(when="False"))
    result = project.run("-m", "threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}
    result.stdout.fnmatch_lines(["*their rate was not computed by this test*"])


def test_family_with_an_estimate_made_by_hand_is_refused(project: Project) -> None:
    """Mix a measured estimate with one made by hand: its numbers must not be read there, nor the other one decide."""
    body = """
from pytest_fairness import Estimate
from pytest_fairness.extending import EstimateFamily
family = EstimateFamily({"own": rate(measured, "Anna"), "made": Estimate("r", "r", value=1.0, low=1.0, high=1.0)})
if family["own"].value > 0.5:
    assert family >= 0.5"""
    write(project, threshold(body.strip()), conftest=model(when="False"))
    result = project.run("-m", "threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}
    result.stdout.fnmatch_lines(["*estimate that was not computed by its test*"])
