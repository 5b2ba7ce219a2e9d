"""The four verdicts, and how what a threshold test says leads to them."""

from __future__ import annotations

import re

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, failures, in_one_process, shown

RATES = {"man": 0.95, "woman": 0.95, "elder": 0.4, "youth": 0.8}
"""Against men: women do as well, elders are turned away, and of youths nobody can tell."""

RATIO = """\
def ratio(measured, of):
    return measured.ratio("hired", by="gender", of=of, to="man")
"""

FOUR = (
    project_sources.threshold('assert ratio(measured, "woman") >= 0.8', name="test_women"),
    project_sources.threshold('assert 0.8 <= ratio(measured, "elder") <= 1.25', name="test_elders"),
    project_sources.threshold('assert ratio(measured, "youth") >= 0.85', name="test_youths"),
    project_sources.threshold('assert measured.where(gender="nobody").rate("hired") >= 0.1', name="test_nobody"),
)


def write(project: Project, *tests: str) -> None:
    project.write_suite(RATIO, *tests, conftest=project_sources.application(RATES), groups=tuple(RATES))


@in_one_process
def test_each_verdict_has_its_outcome(project: Project) -> None:
    write(project, *FOUR)
    result = project.run()
    assert project.verdicts() == {
        "test_women": "fair",
        "test_elders": "unfair",
        "test_youths": "undecided",
        "test_nobody": "invalid",
    }
    result.assert_outcomes(passed=61, failed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [row["verdict"] for row in project.rows() if row["advice"]] == ["undecided"]


@every_mode
def test_messages_lead_with_verdict_and_numbers(project: Project) -> None:
    write(project, *FOUR)
    lines = sorted(line for line in project.run("-k", "not test_hiring[").outlines if line.startswith("E  "))
    patterns = (
        r"Invalid: no attempts.*rate of hired where the gender is nobody; gender is never 'nobody': known: .*man.*",
        r"Undecided: INTERVAL, crosses the bound of at least 0\.85: ratio of hired, youth to man, TALLIES; COUNTS; .*",
        r"Unfair: INTERVAL, outside 0\.8 to 1\.25: ratio of hired, elder to man, TALLIES; COUNTS",
    )
    assert len(lines) == len(patterns)
    for line, words in zip(lines, patterns, strict=True):
        interval = r"\d\.\d{3} \(95\.5% CI \d\.\d{3} to \d\.\d{3}\)"
        tallies = r"\d+ of 60 \(\d+\.\d%\) for \w+ against \d+ of 60 \(\d+\.\d%\) for man"
        pattern = words.replace("INTERVAL", interval).replace("COUNTS", "60 items, 120 attempts")
        pattern = pattern.replace("TALLIES", tallies)
        assert re.fullmatch(f"E +{pattern}", line), line


@in_one_process
def test_failure_is_shown_at_the_asserting_line(project: Project) -> None:
    helper = "def check(estimate):\n    assert estimate >= 0.8  # here\n"
    write(project, helper, project_sources.threshold('check(ratio(measured, "elder"))', name="test_helped"))
    source = (project.path / "test_hiring.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, start=1) if text.endswith("# here"))
    result = project.run("-k", "test_helped")
    result.stdout.fnmatch_lines([">       assert* # here", "E *Unfair: 0.*", f"test_hiring.py:{line}: Unfair"])
    assert "pytest_fairness/" not in shown(result)


@pytest.mark.parametrize("option", ["--assert=plain", "--tb=short", "--tb=line"])
def test_message_is_the_same_in_every_traceback_style(project: Project, option: str) -> None:
    write(project, *FOUR)
    result = project.run(option, "-k", "test_elders")
    pattern = r".*Unfair: 0\.\d{3} \(95\.5% CI .*outside 0\.8 to 1\.25: ratio of hired, elder to man"
    result.stdout.re_match_lines([pattern])


WOMEN, ELDERS, YOUTHS = (f'ratio(measured, "{of}")' for of in ("woman", "elder", "youth"))


COMPARISONS = [
    (f"assert {WOMEN} >= 0.8 and {WOMEN} <= 1.3", "fair"),
    (f"assert {WOMEN} >= 0.8 and {ELDERS} >= 0.8", "unfair"),
    (f"assert {WOMEN} >= 0.8 and {YOUTHS} >= 0.85", "undecided"),
    (f"assert {ELDERS} >= 0.8 and {YOUTHS} >= 0.85", "unfair"),
    (f"assert {YOUTHS} >= 0.85 and {ELDERS} >= 0.8", "unfair"),
    # What may stand in for another comparison cannot fail the test: nobody knows which of them was meant to hold.
    (f"assert {ELDERS} >= 0.8 or {WOMEN} >= 0.8", "invalid"),
    (f"assert {WOMEN} >= 0.8 or {YOUTHS} >= 0.85", "invalid"),
    (f"assert {YOUTHS} >= 0.85 or {WOMEN} >= 0.8", "invalid"),
    (f"assert not {ELDERS} >= 0.8", "fair"),
    (f"assert not {WOMEN} >= 0.8", "unfair"),
    (f"assert not {YOUTHS} < 0.85", "undecided"),
    (f"assert not any(e < 0.85 for e in ({WOMEN}, {YOUTHS}))", "undecided"),
    (f"assert all(e >= 0.8 for e in ({WOMEN}, {ELDERS}))", "unfair"),
    ('for of in ("woman", "elder"):\n    assert ratio(measured, of) >= 0.8', "unfair"),
    ('for of in ("woman", "woman"):\n    assert ratio(measured, of) >= 0.8', "fair"),
    (f"if {ELDERS} < 0.8:\n    raise AssertionError('elders')", "unfair"),
    (f"assert 0.8 <= {WOMEN}", "fair"),
    (f"assert {WOMEN} > 0.8, 'with words of my own'", "fair"),
    (f"elders = {ELDERS}\nassert elders > 0.8, f'{{elders:.2f}} is too low'", "unfair"),
    ('assert abs(measured.difference("hired", by="gender", of="woman", to="man")) < 0.25', "fair"),
    ('assert abs(measured.difference("hired", by="gender", of="elder", to="man")) < 0.25', "unfair"),
    ('assert -measured.difference("hired", by="gender", of="elder", to="man") < 0.25', "unfair"),
    ('assert measured.ratios("hired", by="gender") >= 0.8', "unfair"),
    ('assert measured.where(gender=("man", "woman")).ratios("hired", by="gender") >= 0.8', "fair"),
    ('assert measured.ratios("hired", by="gender", to="man")["woman/man"] >= 0.8', "fair"),
    ('for one in measured.ratios("hired", by="gender", to="man").items():\n    assert one[1] >= 0.2', "fair"),
    ('assert measured.worst_ratio("hired", by="gender") >= 0.8', "unfair"),
    ('assert measured.rate("hired") >= 0.7 and measured.items == 60', "fair"),
    ('assert measured.where(gender="elder").rate("hired") >= 0.7', "unfair"),
]


@pytest.mark.slow
def test_comparisons_read_as_python(project: Project) -> None:
    write(project, *project_sources.thresholds(body for body, _ in COMPARISONS))
    result = project.run("-m", "threshold")
    assert project.verdicts() == {f"test_{number:02}": verdict for number, (_, verdict) in enumerate(COMPARISONS)}
    fair = sum(verdict == "fair" for _, verdict in COMPARISONS)
    result.assert_outcomes(passed=fair, failed=len(COMPARISONS) - fair)


CANNOT_FAIL = r"\(line \d+\) cannot fail the test by itself: write one `assert` for each comparison"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pass", "nothing was compared"),
        ("assert True", "nothing was compared"),
        ("assert measured.items == 60", "nothing was compared"),
        ('assert measured.rate("hired").value >= 0.5', "is a number without its interval"),
        ('assert measured.rate("hired").low >= 0.5', "is a number without its interval"),
        ("assert float(f'{measured.rate(\"hired\"):.3f}') >= 0.5", "nothing was compared"),
        ("return", "nothing was compared"),
        ('measured.rate("hired") >= 0.5', CANNOT_FAIL),
        (
            'assert measured.rate("hired") >= 0.5\n0 <= measured.rate("hired") <= 1',
            CANNOT_FAIL,
        ),
        ('not measured.rate("hired") < 0.5', CANNOT_FAIL),
    ],
)
def test_threshold_that_asserts_no_comparison_is_invalid(project: Project, body: str, words: str) -> None:
    write(project, project_sources.threshold(body))
    result = project.run("-k", "test_threshold")
    assert project.verdicts() == {"test_threshold": "invalid"}
    assert result.ret == INVALID_CODE
    assert any(re.search(f"Invalid: .*{words}", line) for line in failures(result)["test_threshold"])


def test_unasserted_comparison_is_named_by_its_line(project: Project) -> None:
    write(project, project_sources.threshold('rate = measured.rate("hired")\nrate >= 0.5  # here'))
    source = (project.path / "test_hiring.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, start=1) if text.endswith("# here"))
    project.run("-k", "test_threshold")
    assert f"(line {line}) cannot fail the test" in project.row()["message"]


def test_comparison_within_a_library_is_named_by_the_tests_line(project: Project) -> None:
    body = 'import unittest\ncase = unittest.TestCase()\ntry:\n    case.assertGreaterEqual(measured.rate("hired"), 0.5)'
    write(project, project_sources.threshold(f"{body}  # here\nexcept AssertionError:\n    pass"))
    source = (project.path / "test_hiring.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, start=1) if text.endswith("# here"))
    project.run("-k", "test_threshold")
    assert f"(line {line}) cannot fail the test" in project.row()["message"]


def test_threshold_that_always_fails_is_explained_by_what_fails_it(project: Project) -> None:
    body = "CALLS.append(1)\nif len(CALLS) > 1: raise RuntimeError('only once')\n"
    write(project, "CALLS = []", project_sources.threshold(f'{body}assert measured.rate("hired") <= 0.1'))
    project.run("-k", "test_threshold")
    assert project.row()["message"] == "invalid: it fails whatever it compares: only once"


THREAD = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    "
IGNORES_ERRORS = {
    f"elder = {ELDERS}\nassert elder >= 0.1\nassert elder.value <= 0.9": "`value` of .* is a number without",
    f'assert {WOMEN} >= 0.1\nassert float(format({WOMEN}, ".2f")) <= 3': "depends on the text of an estimate",
    f"assert {WOMEN} >= 0.1\nassert round({WOMEN}.value, 1) == pytest.approx(1, abs=5)": "`value` of .* is a number",
    f'assert {WOMEN} >= 0.1\nassert str({WOMEN}.mark) <= "C"': "must not read the letter of a mark",
    f'assert {WOMEN} >= 0.1\nassert {WOMEN}.letter in "AB"': "`letter` of .* is a number without",
    f'assert {WOMEN} >= float(format({ELDERS}, ".3f")) - 0.1': "depends on the text of an estimate",
    f"assert {WOMEN} >= float({ELDERS}.text().split()[0]) - 0.1": "depends on the text of an estimate",
    f'assert {WOMEN} >= (0.8 if str({ELDERS}.mark) == "A" else 0.1)': "must not read the letter of a mark",
    'assert measured.at(0.1).rate("hired") >= 0.5': "`measured` has no 'at'",
    'from pytest_fairness import Measured\nrows = [{"item": n, "yes": n % 9 > 0} for n in range(90)]\n'
    'assert Measured.from_rows(rows, item="item", groups=[], confidence=0.1).rate("yes") >= 0.88': "at least 0.8",
    f"assert {WOMEN} >= 0.1\n{THREAD}assert pool.submit(lambda: {YOUTHS} >= 0.85).result()": "undecided: ",
    f"assert {WOMEN} >= 0.1\n{THREAD}pool.submit(lambda: {ELDERS} >= 0.8)": "cannot fail the test by itself",
}
"""Tests whose data pass, and the words of the message that none of them is fair."""


def test_claim_that_ignores_errors_is_never_fair(project: Project) -> None:
    write(project, *project_sources.thresholds(IGNORES_ERRORS))
    project.run("-m", "threshold").assert_outcomes(failed=len(IGNORES_ERRORS))
    for row, words in zip(project.rows(), IGNORES_ERRORS.values(), strict=True):
        assert re.search(words, row["message"]), row["message"]


@pytest.mark.parametrize("body", ["assert ratio >= 0.1\n    return 0.5", "return ratio.value - 0.4"])
def test_estimate_of_a_fixture_is_refused(project: Project, body: str) -> None:
    fixture = f"@pytest.fixture\ndef bound(measured):\n    ratio = {ELDERS.replace('ratio(', 'one(')}\n    {body}\n"
    test = project_sources.threshold('assert measured.rate("hired") >= bound').replace(
        "(measured)", "(measured, bound)"
    )
    write(project, RATIO.replace("def ratio", "def one"), fixture, test)
    assert project.run("-m", "threshold").ret == INVALID_CODE
    assert project.verdicts() == {"test_threshold": "invalid"}
    assert "fixture 'bound' uses measured.ratio before or after the threshold's test" in project.row()["message"]


RATINGS = {
    'assert measured.mean("rating") <= 7': "from 1 to 5: <= 7 always holds",
    'assert measured.ratio("rating", by="gender", of="woman", to="man") >= 0.2': "from 0.2 to 5: >= 0.2 always holds",
    'assert abs(measured.difference("rating", by="gender", of="woman", to="man")) <= 4': "from 0 to 4: <= 4 always",
    'assert measured.differences("rating", by="gender") >= 0': "from 0 to 4: >= 0 always holds",
    'assert measured.ratios("rating", by="gender") >= 0.1': "from 0.2 to 1: >= 0.1 always holds",
    'assert measured.mean("rating") >= 20': "from 1 to 5: >= 20 never holds",
    'assert measured.mean("rating") < 1': "from 1 to 5: < 1 never holds",
    'assert 3 <= measured.mean("rating") <= 10': "from 1 to 5: <= 10 always holds",
    'assert measured.difference("rating", by="gender", of="woman", to="man") <= -5': "from -4 to 4: <= -5 never holds",
}


def test_bounds_beyond_a_scale_are_invalid(project: Project) -> None:
    write(project, *project_sources.thresholds(RATINGS))
    conftest, module = (project.path / name for name in ("conftest.py", "test_hiring.py"))
    project.write(
        conftest=conftest.read_text(encoding="utf-8").replace('"yes"', '"5"').replace('"no"', '"2"'),
        test_hiring=module.read_text(encoding="utf-8")
        .replace("YesNo()", "Rating(1, 5)")
        .replace("YesNo", "Rating")
        .replace('"hired"', '"rating"'),
    )
    project.run("-m", "threshold").assert_outcomes(failed=len(RATINGS))
    for row, words in zip(project.rows(), RATINGS.values(), strict=True):
        assert words in row["message"]


ALWAYS_HOLDS = {
    'assert measured.rate("hired") <= 2': "from 0 to 1: <= 2 always holds; a share of 2% is 0.02",
    'assert measured.rate("hired") >= 0': r"rate\(hired\) has values from 0 to 1: >= 0 always",
    'assert measured.rate("hired") >= 0.5\nassert measured.where(gender="man").rate("hired") <= 9': "<= 9 always holds",
    'assert abs(measured.difference("hired", by="gender", of="woman", to="man")) < 5': "from 0 to 1: < 5 always holds",
    'assert -measured.difference("hired", by="gender", of="woman", to="man") < 5': "from -1 to 1: < 5 always holds",
    'assert measured.differences("hired", by="gender") <= 10': "from 0 to 1: <= 10 always holds",
    f"assert {WOMEN} >= 0": "from 0 to inf: >= 0 always holds",
    f"assert not {WOMEN} < 0": "from 0 to inf: >= 0 always holds",
    'assert measured.worst_ratio("hired", by="gender") <= 1': "from 0 to 1: <= 1 always holds",
    'assert 0.01 <= measured.rate("hired") <= 5': "from 0 to 1: <= 5 always holds; a share of 5% is 0.05",
    'assert 0.01 <= measured.rate("hired")\nassert measured.rate("hired") <= 5': "from 0 to 1: <= 5 always holds",
    'assert -5 <= measured.difference("hired", by="gender", of="woman", to="man") <= 0.1': ">= -5 always holds; a",
    f"assert -1 <= {WOMEN} <= 1.2": "from 0 to inf: >= -1 always holds",
}

NEVER_HOLDS = {
    'assert measured.rate("hired") >= 10': "from 0 to 1: >= 10 never holds; a share of 10% is 0.1",
    'assert not measured.rate("hired") <= 10': "from 0 to 1: > 10 never holds; a share",
    'assert measured.rate("hired") > 1': "from 0 to 1: > 1 never holds",
    'assert measured.rate("hired") < 0': "from 0 to 1: < 0 never holds",
    'assert 80 <= measured.rate("hired") <= 100': "from 0 to 1: >= 80 never holds; a share of 80% is 0.8",
    'assert measured.where(gender="man").rate("hired") >= 90': "from 0 to 1: >= 90 never holds",
    'assert measured.difference("hired", by="gender", of="woman", to="man") >= 5': "from -1 to 1: >= 5 never holds",
    'assert abs(measured.difference("hired", by="gender", of="woman", to="man")) <= -0.1': "to 1: <= -0.1 never holds",
    'assert measured.differences("hired", by="gender") <= -1': "from 0 to 1: <= -1 never holds",
    f"assert {WOMEN} <= -0.5": "from 0 to inf: <= -0.5 never holds",
    'assert measured.worst_ratio("hired", by="gender") >= 1.25': "from 0 to 1: >= 1.25 never holds",
    'assert measured.odds_ratio("hired", by="gender", of="woman", to="man") < 0': "from 0 to inf: < 0 never holds",
    'assert measured.ratios("hired", by="gender") > 1': "from 0 to 1: > 1 never holds",
    'rate = measured.rate("hired")\nassert rate > 0.5\nassert rate < 0.5': "no value is above 0.5 and below 0.5",
    'rate = measured.rate("hired")\nassert rate >= 0.5\nassert rate < 0.5': "it fails whatever it compares",
}
"""Bounds that no value can reach; each of them was unfair."""


def test_bounds_that_no_value_can_reach_are_invalid(project: Project) -> None:
    write(project, *project_sources.thresholds(NEVER_HOLDS))
    project.run("-m", "threshold").assert_outcomes(failed=len(NEVER_HOLDS))
    for row, words in zip(project.rows(), NEVER_HOLDS.values(), strict=True):
        assert row["verdict"] == "invalid"
        assert words in row["message"]


def test_bound_at_the_end_of_the_values_is_allowed(project: Project) -> None:
    bodies = [
        'assert 0.5 <= measured.rate("hired") <= 1',
        'assert 0 <= abs(measured.difference("hired", by="gender", of="woman", to="man")) <= 0.2',
        'assert measured.rate("hired").titled("all are hired") >= 1',
    ]
    write(project, *project_sources.thresholds(bodies))
    project.run("-m", "threshold")
    assert "invalid" not in {row["verdict"] for row in project.rows()}


def test_bounds_that_no_value_can_break_are_invalid(project: Project) -> None:
    write(project, *project_sources.thresholds(ALWAYS_HOLDS))
    project.run("-m", "threshold").assert_outcomes(failed=len(ALWAYS_HOLDS))
    for row, words in zip(project.rows(), ALWAYS_HOLDS.values(), strict=True):
        assert (row["verdict"], bool(re.search(words, row["message"]))) == ("invalid", True), row["message"]


def test_bound_at_an_end_may_join_one_that_can_fail(project: Project) -> None:
    write(project, project_sources.threshold('assert 0 <= measured.where(gender="man").rate("hired") <= 0.99'))
    project.run("-k", "test_threshold")
    assert project.verdicts() == {"test_threshold": "fair"}


@pytest.mark.parametrize(
    "body",
    [
        f"assert {WOMEN} == 0.8",
        f"assert {WOMEN} != 0.8",
        f"assert {WOMEN} >= {ELDERS}",
        f"assert {WOMEN}",
        f"assert not {WOMEN}",
        f"assert {WOMEN} >= True",
        f"assert {WOMEN} >= float('nan')",
        f"assert {WOMEN} >= '0.8'",
        f"assert {WOMEN} <= 10**400",
    ],
)
def test_meaningless_comparison_is_one_line(project: Project, body: str) -> None:
    write(project, project_sources.threshold(body))
    result = project.run("-k", "test_threshold")
    assert result.ret == INVALID_CODE
    result.stdout.re_match_lines([r"E +Invalid: an estimate .*"])
    assert project.verdicts() == {"test_threshold": "invalid"}


def test_estimate_of_a_threshold_is_not_compared_after_it(project: Project) -> None:
    peek = """
@pytest.mark.threshold(probe=test_hiring)
def test_threshold(measured):
    estimates.append(ratio(measured, "youth"))
    assert estimates[0] >= 0.2

def test_after():
    assert estimates[0] >= 0.8
"""
    write(project, "estimates = []", peek)
    result = project.run("-k", "test_threshold or test_after")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *is compared after its threshold's test has ended*"])


def test_error_in_a_threshold_is_shown_unchanged(project: Project) -> None:
    write(project, project_sources.threshold(f"assert {WOMEN} >= 0.8\nraise ZeroDivisionError('mine')"))
    result = project.run("-k", "test_threshold")
    assert result.ret == INVALID_CODE
    result.stdout.fnmatch_lines(["E *ZeroDivisionError: mine"])
    assert project.verdicts() == {"test_threshold": "invalid"}


@pytest.mark.parametrize("call", ["fail", "skip", "xfail"])
def test_threshold_that_fails_or_skips_itself_is_not_fair(project: Project, call: str) -> None:
    write(project, project_sources.threshold(f"assert {WOMEN} >= 0.8\npytest.{call}('mine')"), *FOUR[:1])
    project.run("-k", "test_threshold or test_women").assert_outcomes(passed=1, deselected=60, failed=1)
    row = project.rows()[0]
    assert (row["id"], row["verdict"]) == ("test_hiring.py::test_threshold", "invalid")
    assert "mine" in row["message"]


def test_conditional_fail_is_judged_as_an_assert(project: Project) -> None:
    body = "if not ratio(measured, 'elder') >= 0.8:\n    pytest.fail('mine')"
    parameters = "@pytest.mark.parametrize('low', [0.05, 0.8])\n"
    women = project_sources.threshold("assert ratio(measured, 'woman') >= low", name="test_women").replace(
        "(measured):", "(measured, low):"
    )
    write(project, project_sources.threshold(body), parameters + women)
    project.run("-k", "not test_hiring[").assert_outcomes(passed=2, failed=1, deselected=60)
    rows = {row["threshold"]: row["verdict"] for row in project.rows()}
    assert rows == {"threshold": "unfair", "women (low=0.05)": "fair", "women (low=0.8)": "fair"}


@in_one_process
def test_needed_items_make_the_next_run_fair(project: Project) -> None:
    """Regression: 61 items were named, with which the interval still crosses the bound.

    Later 74: enough for another first run, but the second one has a wider interval.
    """
    always = project_sources.application({"woman": 1.0, "man": 1.0})
    test = project_sources.threshold('assert measured.rate("hired") >= 0.95')
    count = 60
    for verdict in ("undecided", "fair"):
        project.write_suite(test, conftest=always, count=count)
        project.run()
        assert project.row()["verdict"] == verdict
        if verdict == "undecided":
            count = int(re.findall(r"needs about (\d+) items \(has 60\)", project.row()["advice"])[0])


@in_one_process
def test_more_items_are_not_advised_where_ungraded_answers_hold_an_end(project: Project) -> None:
    """Regression: it asked for 1,613 items of 1,000, with which a tenth of ungraded answers still crosses the bound."""
    answers = '"" if text.endswith("0?") else "No." if text.endswith("5?") else "Yes."'
    model = f"import pytest\n\n@pytest.fixture(scope='session')\ndef model():\n    return lambda text: {answers}\n"
    items = '[ProbeItem(id=str(n), prompts=[Prompt(f"hire {n}?")]) for n in range(300)]'
    rows = {}
    for bound in (0.7, 0.82):
        test = project_sources.threshold(f'assert measured.rate("hired") >= {bound}')
        probe = project_sources.PROBE.replace("items=people", f"items={items}")
        project.write_suite(test, conftest=model, probe=probe)
        project.run("-m", "threshold", f"--fairness-store={bound}.sqlite")
        rows[bound] = project.row()
    assert rows[0.7]["verdict"] == "fair"
    assert rows[0.82]["advice"] == "its ungraded answers alone can move it across the bound: more items will not help"
