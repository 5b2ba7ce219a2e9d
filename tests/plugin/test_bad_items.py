"""Probes and thresholds that cannot be built: one test that errors, with one clear line."""

from __future__ import annotations

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, failures, first_in_every_mode, shown, unwrapped, with_workers

BAD_ITEMS = {
    "raises": ("raise OSError('the list is gone')", "its items raised OSError: the list is gone"),
    "raises-late": (
        "yield item('a')\n    raise OSError('the list is gone')",
        "its items raised OSError: the list is gone",
    ),
    "none": ("return []", "`people()` gives no item"),
    "no-iterable": ("return 7", "its items are 7"),
    "nothing-returned": ("pass", "its items are None"),
    "no-item": ("yield item('a')\n    yield 'b'", "one of its items is 'b'"),
    "duplicate": ("yield item('a')\n    yield item('b')\n    yield item('a')", "two of its items are called 'a'"),
    "no-prompts": ("yield ProbeItem('a', [])", "probe item 'a' has no prompts"),
    "empty-prompt": ("yield ProbeItem('a', [Prompt('')])", "a prompt is empty"),
    "no-prompt": ("yield ProbeItem('a', ['hello'])", "probe item 'a' holds 'hello'"),
    "empty-id": ("yield ProbeItem(' ', [Prompt('a man ')])", "the id of a probe item is ' '"),
    "message-number": ("yield ProbeItem('a', [Prompt(7)])", "a message of a prompt is 7: give a text"),
    "message-text": ("yield ProbeItem('a', [Prompt(['a man '])])", "a message of a prompt is 'a man ': give a text"),
    "one-prompt": ("yield ProbeItem('a', Prompt('a man '))", "the prompts of probe item 'a' are Prompt("),
    "group-name": ("yield ProbeItem('a', [Prompt('a ', {3: 'man'})])", "the groups of a prompt have the name 3"),
    "empty-group": ("yield ProbeItem('a', [Prompt('a ', {'gender': ''})])", "the gender of a prompt is ''"),
    "unclear-group": (
        "import decimal; yield ProbeItem('a', [Prompt('a ', {'gender': decimal.Decimal('sNaN')})])",
        "the gender of a prompt is Decimal('sNaN')",
    ),
    "metadata-name": ("yield ProbeItem('a', [Prompt('a ', {}, {3: 1})])", "the metadata of a prompt has the name 3"),
    "groups-text": ("yield ProbeItem('a', [Prompt('a man ', 'man')])", "the groups of a prompt are 'man'"),
    "groups-list": ("yield ProbeItem('a', [Prompt('a man ', ['man'])])", "the groups of a prompt are ['man']"),
    "no-group": ("yield ProbeItem('a', [Prompt('a ', {'gender': None})])", "the gender of a prompt is None"),
    "missing-group": (
        "yield ProbeItem('a', [Prompt('a ', {'gender': float('nan')})])",
        "the gender of a prompt is nan",
    ),
    "two-groups": ("yield ProbeItem('a', [Prompt('a ', {'gender': ['a']})])", "the gender of a prompt is ['a']"),
    "prompt-metadata": ("yield ProbeItem('a', [Prompt('a ', {}, 7)])", "the metadata of a prompt is 7"),
    "metadata": ("yield ProbeItem('a', [Prompt('a ')], metadata=[1])", "the metadata of probe item 'a' is [1]"),
    "endless-metadata": (
        "loop = {}; loop['a'] = [loop]; yield ProbeItem('a', [Prompt('a ', {}, loop)])",
        "the metadata 'a' of a prompt holds itself, or more than 100 levels",
    ),
    "metadata-without-text": (
        "class Bad:\n        __repr__ = __str__ = 0\n    yield ProbeItem('a', [Prompt('a ')], metadata={'b': [Bad()]})",
        "the metadata 'b' of probe item 'a' has no text, TypeError: 'int' object is not callable",
    ),
    "source": ("yield ProbeItem('a', [Prompt('a ')], {'b': 1})", "the source of probe item 'a' is {'b': 1}"),
    "exits": ("raise SystemExit(0)", "its items raised SystemExit"),
}

GENERATOR = """
def item(name):
    return ProbeItem(name, [Prompt(f"Should a man called {{name}} be hired?")])

def people():
    {body}
"""


def write(project: Project, body: str) -> None:
    project.write_suite(people=GENERATOR.format(body=body), test_other="def test_other(): pass\n")


@first_in_every_mode("body", BAD_ITEMS)
def test_failing_items_function_is_one_error(project: Project, body: str) -> None:
    source, words = BAD_ITEMS[body]
    write(project, source)
    result = project.run()
    assert result.ret == INVALID_CODE
    result.assert_outcomes(passed=1, errors=2)
    messages = failures(result)
    assert sorted(messages) == ["test_hiring[items]", "test_women_and_men_alike"]
    for lines in messages.values():
        assert len(lines) == 1
        assert lines[0].startswith(f"probe test_hiring: {words}")
    assert not project.calls()
    assert project.verdicts() == {"test_women_and_men_alike": "invalid"}
    assert words.split()[-1] in project.row()["message"]


def test_sources_and_groups_may_be_numbers(project: Project) -> None:
    body = """for number in range(80):
        prompts = [Prompt(f"a man of {age} years, {number}", {"age": age}) for age in (30, 60)]
        yield ProbeItem(f"a{number}", prompts, number)
    """
    threshold = project_sources.threshold("assert measured.ratio('hired', by='age', of='30', to='60') >= 0.5")
    project.write_suite(threshold, people=GENERATOR.format(body=body))
    result = project.run("--fairness-report=report.html")
    result.assert_outcomes(passed=81)
    assert "bug" not in shown(result)
    assert (project.path / "report.html").exists()


@with_workers
def test_ids_may_be_members_of_an_enum(project: Project) -> None:
    """Regression: runs with ``-n`` ended with an internal error."""
    write(project, "import enum\n    yield from map(item, enum.StrEnum('Names', ['Ann', 'Bo']))")
    result = project.run()
    result.assert_outcomes(passed=3, failed=1)
    assert "INTERNALERROR" not in shown(result)


def test_reports_hold_any_metadata(project: Project) -> None:
    """Regression: such values left runs without a report."""
    body = """class Array:
        def __eq__(self, other):
            raise ValueError("ambiguous")
        __hash__ = None
    for number in range(6):
        yield ProbeItem(f"a{number}", [Prompt(f"a man {number}", {}, {"a": {(1, 2): 3}})], metadata={"b": Array()})
    """
    write(project, body)
    result = project.run("--fairness-report=report.html")
    assert "bug" not in shown(result)
    assert (project.path / "report.html").exists()


def test_endless_items_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: such items once took all memory, and the process was killed without a message."""
    write(project, "number = 0\n    while True:\n        number += 1\n        yield item(str(number))")
    monkeypatch.setattr("pytest_fairness.plugin.probes.probe.MOST_ITEMS", 50)
    result = project.run()
    result.assert_outcomes(passed=1, errors=2)
    text = unwrapped(result)
    assert "its items are more than 50, or have no end: give fewer" in text


def test_endlessly_repeated_items_are_refused(project: Project) -> None:
    """Regression: the error once came after a million items."""
    write(project, "import itertools\n    yield from itertools.cycle([item('a'), item('b')])")
    result = project.run()
    result.assert_outcomes(passed=1, errors=2)
    assert "probe test_hiring: two of its items are called 'a': give each an id of its own" in shown(result)


def test_endless_prompts_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fairness.core.items.MOST_PROMPTS", 50)
    write(project, "import itertools\n    yield ProbeItem('a', (Prompt(f'{n}?') for n in itertools.count()))")
    result = project.run()
    result.assert_outcomes(passed=1, errors=2)
    assert "probe item 'a' has more than 50 prompts, or no end of them" in shown(result)


def test_collect_only_accepts_a_failing_probe(project: Project) -> None:
    write(project, "raise OSError('the list is gone')")
    result = project.bare_run("--collect-only", "-q")
    assert result.ret == 0
    assert len([line for line in result.outlines if "::" in line]) == 3


BAD_MARKS = {
    "probe-positional": (
        project_sources.PROBE.replace("items=people, ", "people, "),
        project_sources.THRESHOLD,
        "@pytest.mark.probe takes keywords only",
    ),
    "probe-misspelt": (
        project_sources.PROBE.replace("grade=", "grades="),
        project_sources.THRESHOLD,
        "@pytest.mark.probe has no argument 'grades'; did you mean 'grade'?",
    ),
    "probe-empty": (
        project_sources.PROBE.replace("items=people, ", ""),
        project_sources.THRESHOLD,
        "@pytest.mark.probe needs `items=`",
    ),
    "probe-bare": (
        project_sources.PROBE.replace('(items=people, grade={"hired": YesNo()})', ""),
        project_sources.THRESHOLD,
        "@pytest.mark.probe needs `items=`",
    ),
    "grade-none": (
        project_sources.PROBE.replace('{"hired": YesNo()}', "YesNo()"),
        project_sources.THRESHOLD,
        "grade",
    ),
    "grade-class": (
        project_sources.PROBE.replace("YesNo()", "YesNo"),
        project_sources.THRESHOLD,
        "the grader of 'hired' is the class YesNo: write YesNo()",
    ),
    "grade-number": (
        project_sources.PROBE.replace('"hired"', "3"),
        project_sources.THRESHOLD,
        "the name of a grade is 3: it must be a text",
    ),
    "fingerprint-number": (
        "class Numbered(YesNo):\n    fingerprint = 3\n\n" + project_sources.PROBE.replace("YesNo", "Numbered"),
        project_sources.THRESHOLD,
        "the fingerprint of the grader of 'hired' is 3: it must be a text",
    ),
    "grade-signature": (
        "class Short:\n    def grade(self, prompt): ...\n\n" + project_sources.PROBE.replace("YesNo", "Short"),
        project_sources.THRESHOLD,
        "the grader of 'hired' cannot be called as grade(prompt, answer): too many positional arguments",
    ),
    "accepts": (
        "class Lax(YesNo):\n    accepts = 7\n\n" + project_sources.PROBE.replace("YesNo", "Lax"),
        project_sources.THRESHOLD,
        "accepts of the grader of 'hired' is 7: write a tuple of reasons",
    ),
    "repetitions-zero": (
        project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions=0"),
        project_sources.THRESHOLD,
        "repetitions",
    ),
    "repetitions-text": (
        project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions='three'"),
        project_sources.THRESHOLD,
        "repetitions",
    ),
    "confidence": (
        project_sources.PROBE.replace("YesNo()}", "YesNo()}, confidence=95"),
        project_sources.THRESHOLD,
        "confidence",
    ),
    "sources": (
        project_sources.PROBE.replace("YesNo()}", "YesNo()}, sources='rand'"),
        project_sources.THRESHOLD,
        "sources",
    ),
    "expected-grade": (
        project_sources.PROBE.replace("YesNo()}", "YesNo()}, expected={'hire': 0.5}"),
        project_sources.THRESHOLD,
        "probe test_hiring: expected: there is no grade 'hire'; did you mean 'hired'?",
    ),
    "control-grade": (
        project_sources.PROBE.replace("YesNo()}", "YesNo()}, control={'hire': {'case': ('a', 'b')}}"),
        project_sources.THRESHOLD,
        "probe test_hiring: control: there is no grade 'hire'; did you mean 'hired'?",
    ),
    "two-marks": (
        project_sources.PROBE.replace("@pytest", "@pytest.mark.probe(items=people, grade={'no': YesNo()})\n@pytest"),
        project_sources.THRESHOLD,
        "probe test_hiring: @pytest.mark.probe is given twice",
    ),
    "flaky-probe": (
        "@pytest.mark.flaky_threshold(reason='x', by='Ada', until='2026-12-01')\n" + project_sources.PROBE,
        project_sources.THRESHOLD,
        "@pytest.mark.flaky_threshold is for a threshold, and this test measures",
    ),
    "no-probe-item": (
        project_sources.PROBE.replace("(probe_item, model)", "(model)").replace("probe_item.measure(model)", "pass"),
        project_sources.THRESHOLD,
        "its test takes no `probe_item`",
    ),
}


@pytest.mark.parametrize("case", BAD_MARKS)
def test_invalid_probe_mark_is_reported(project: Project, case: str) -> None:
    probe, threshold, words = BAD_MARKS[case]
    project.write_suite(threshold, probe=probe, count=12)
    result = project.run("--tb=short")
    assert result.ret in (1, INVALID_CODE), shown(result)
    assert words in shown(result)
    assert "INTERNALERROR" not in shown(result)
    if case not in ("confidence", "sources"):
        assert "passed" not in result.parseoutcomes()
    assert project.verdicts() == {"test_women_and_men_alike": "invalid"}


BAD_THRESHOLDS = {
    "two-marks": (
        "@pytest.mark.threshold(probe=test_hiring, title='Alike')\n" + project_sources.THRESHOLD,
        "@pytest.mark.threshold is given twice, and one of the two would be ignored",
    ),
    "no-measured": (project_sources.threshold("pass").replace("(measured)", "()"), "its test takes no `measured`"),
    "no-probe": (
        project_sources.THRESHOLD.replace("probe=test_hiring", "probe=people"),
        "is not marked as a probe",
    ),
    "text": (
        project_sources.THRESHOLD.replace("probe=test_hiring", "probe='test_hiring'"),
        "is not marked as a probe",
    ),
    "misspelt": (project_sources.THRESHOLD.replace("probe=", "prob="), "has no argument 'prob'; did you mean 'probe'?"),
    "empty": (project_sources.THRESHOLD.replace("probe=test_hiring", ""), "@pytest.mark.threshold needs `probe=`"),
    "bare": (project_sources.THRESHOLD.replace("(probe=test_hiring)", ""), "@pytest.mark.threshold needs `probe=`"),
    "coroutine": (
        project_sources.THRESHOLD.replace("def test_women", "async def test_women"),
        "is a coroutine",
    ),
}


@first_in_every_mode("case", BAD_THRESHOLDS)
def test_invalid_threshold_mark_is_reported(project: Project, case: str) -> None:
    threshold, words = BAD_THRESHOLDS[case]
    project.write_suite(threshold, count=6)
    result = project.run()
    assert result.ret == INVALID_CODE
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes.get("failed", 0) + outcomes.get("errors", 0)) == (6, 1)
    ((name, lines),) = failures(result).items()
    assert name.startswith("test_women" if "measured" not in case else "test_threshold")
    assert len(lines) == 1
    assert words in lines[0]
    assert list(project.verdicts().values()) == ["invalid"]


@pytest.mark.parametrize("arguments", ["probe_item, model", "probe_item"])
def test_threshold_mark_given_one_callable_fails(project: Project, arguments: str) -> None:
    """``@pytest.mark.threshold(test_hiring)`` marks the probe instead, and calls it with the threshold."""
    threshold = project_sources.THRESHOLD.replace("probe=test_hiring", "test_hiring")
    probe = project_sources.PROBE.replace("probe_item, model", arguments).replace("probe_item.measure(model)", "pass")
    project.write_suite(threshold, probe=probe, count=6)
    assert project.run().ret != 0


def test_test_with_both_marks_is_refused(project: Project) -> None:
    both = "@pytest.mark.threshold(probe=test_hiring)\n" + project_sources.PROBE.replace(
        "def test_hiring", "def test_both"
    )
    project.write_suite(both, count=6)
    result = project.run()
    assert result.ret == INVALID_CODE, shown(result)
    assert "INTERNALERROR" not in shown(result)


@pytest.mark.parametrize("fixture", ["measured", "probe_item"])
def test_fixtures_require_their_marks(project: Project, fixture: str) -> None:
    project.write_suite(f"def test_plain({fixture}):\n    pass\n", count=6)
    result = project.run()
    assert result.ret == 1
    result.assert_outcomes(passed=6, errors=1)
    (line,) = failures(result)["test_plain"]
    assert "@pytest.mark." in line
    assert "INTERNALERROR" not in shown(result)


BAD_METRICS = {
    "group": ('measured.ratio("hired", by="gender", of="womn", to="man")', "gender has no group 'womn': did you mean"),
    "attribute": ('measured.ratio("hired", by="gendr", of="woman", to="man")', "gendr"),
    "grade": ('measured.rate("hird")', "no attempt has a grade 'hird': did you mean 'hired'"),
    "slice": ('measured.where(gendr="woman").rate("hired")', "gendr"),
    "itself": ('measured.ratio("hired", by="gender", of="man", to="man")', "compared with itself"),
    "equals": ('measured.rate("hired", equals="perhaps")', "perhaps"),
    "outcome": ("measured.rate(YesNo())", "name a grade, or give a function of an attempt"),
    "metric": ("measured.no_such_metric()", "no_such_metric"),
}


@pytest.mark.parametrize("case", BAD_METRICS)
def test_metric_of_missing_data_is_invalid(project: Project, case: str) -> None:
    metric, words = BAD_METRICS[case]
    project.write_suite(project_sources.threshold(f"assert {metric} <= 5"), count=30)
    result = project.run("-k", "test_threshold")
    assert result.ret == INVALID_CODE
    assert words in shown(result)
    assert project.verdicts() == {"test_threshold": "invalid"}


@pytest.mark.parametrize("case", ["group", "metric"])
def test_metric_error_is_shown_at_the_user_line(project: Project, case: str) -> None:
    threshold = project_sources.threshold(f"assert {BAD_METRICS[case][0]} <= 5")
    project.write_suite(threshold, count=6)
    result = project.run("-k", "test_threshold")
    result.stdout.re_match_lines([r">?\s+assert measured\."])
    assert "pytest_fairness/" not in shown(result)
