"""A team's own application under test: whatever it does, the run ends, and says in one line what was wrong."""

from __future__ import annotations

import re

import pytest

from pytest_fairness.engine import dispatcher
from pytest_fairness.plugin.output import progress
from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Mode, Project, shown, unwrapped

both = pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
KEEPS_STATE = """\
    import time
    COUNT.append(1)
    time.sleep(0.02)
    with ASKED.with_name("most.txt").open("a") as file:
        file.write(f"{len(COUNT)}\\n")
    COUNT.pop()
"""
OUTCOMES = {
    0: "return None",
    1: "return b'x'",
    2: "from pytest_fairness import Answer; return Answer(None)",
    3: "import asyncio; raise asyncio.CancelledError",
    4: "raise KeyboardInterrupt",
    5: "raise SystemExit(3)",
    6: "pytest.skip('no key')",
    7: "pytest.fail('inside')",
    8: "raise GeneratorExit",
}
MESSAGES = (
    "returned a NoneType: it must return a text or an Answer",
    "returned a bytes: it must return a text or an Answer",
    "whose text is None: it must be a text",
    *(f"raised {name}" for name in ("CancelledError", "KeyboardInterrupt", "SystemExit: 3", "Skipped: no key")),
    *("raised Failed: inside", "raised GeneratorExit"),
)


@pytest.mark.parametrize(("mode", "is_async"), [(N2, False), (NO_XDIST, True)], indirect=["mode"])
def test_failing_application_fails_its_tests_in_one_line(project: Project, *, is_async: bool) -> None:
    """Regression: each of these once made the run wait forever."""
    body = "".join(f"    if 'profile {number} ' in text: {does}\n" for number, does in OUTCOMES.items())
    text = project_sources.application(body=body)
    assert text.count("def application(") == 1
    project.write_suite(
        "", conftest=text.replace("def application(", "async def application(") if is_async else text, count=12
    )
    result = project.run()
    assert result.parseoutcomes()["failed"] == len(OUTCOMES), shown(result)
    assert result.parseoutcomes()["passed"] == 12 - len(OUTCOMES)
    output = unwrapped(result)
    for message in MESSAGES:
        assert message in output


def most(project: Project) -> int:
    return max(map(int, (project.path / "most.txt").read_text().split()))


def test_application_is_called_one_at_a_time_by_default(project: Project) -> None:
    text = project_sources.application(body=KEEPS_STATE).replace("RATES =", "COUNT = []\nRATES =")
    project.write_suite("", conftest=text, count=12)
    result = project.run()
    assert most(project) == 1
    assert "fixture, 1 call at a time unless the application sets `fairness_concurrency`" in unwrapped(result)
    result = project.run("--fairness-concurrency=4")
    assert 1 < most(project) <= 4
    assert "fixture, 4 calls at a time unless the application sets `fairness_concurrency`" in unwrapped(result)
    (project.path / "most.txt").unlink()
    project.write(conftest=text + "\napplication.fairness_concurrency = 3\n")
    project.run("--fairness-concurrency=8")
    assert 1 < most(project) <= 3


HANGS = "    import time\n    if 'woman of profile 2 ' in text: time.sleep(60)"


def test_first_run_without_a_version_says_what_further_runs_cost(project: Project) -> None:
    cost = (
        "each run after a change is judged more strictly (now at 95.5% confidence, then at 99.7%, 99.92%, 99.97%), "
        'unless you name each version: application.fairness_version = "1"'
    )
    project.write_suite(conftest=project_sources.application(), count=20)
    assert unwrapped(project.run()).count(cost) == 1
    project.write(conftest=project_sources.application(project_sources.UNEVEN))
    changed = unwrapped(project.run())
    assert cost not in changed
    assert "run 2 of this threshold on this model" in changed
    project.write_suite(conftest=project_sources.application(version="1"), count=20)
    assert "more strictly" not in unwrapped(project.run())


@pytest.mark.slow
def test_hanging_call_ends_with_its_timeout(project: Project) -> None:
    conftest = project_sources.application(body=HANGS, after="application.fairness_timeout = 2")
    project.write_suite("", conftest=conftest, count=4)
    result = project.run("--fairness-concurrency=4")
    assert result.parseoutcomes() == {"passed": 3, "failed": 1}
    # A try that may have waited behind others is not counted.
    lines = " ".join(shown(result).split())
    assert re.search(r"took longer than 2 s: its attribute `fairness_timeout` allows more \(asked [34] times\)", lines)


@pytest.mark.slow
def test_hanging_call_is_named_and_ends_with_the_time_cap(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "GRACE", 0.5)
    monkeypatch.setattr(progress, "_IN_A_LOG", 0.2)
    monkeypatch.setattr(progress, "_SILENCE", 0.4)
    project.write_suite("", conftest=project_sources.application(body=HANGS), count=4)
    result = project.run("--fairness-max-minutes=0.1", "-rs", mode=Mode("alone", NO_XDIST.args, distributed=True))
    assert re.search(
        r"fairness: no call has ended for \d+ s, waiting for 1 of function:conftest\.application, 4 of 8 calls, "
        "0 a second(?!, about)",
        shown(result),
    ), shown(result)
    assert result.parseoutcomes() == {"passed": 2, "skipped": 2}
    assert "the cap of 0.1 minutes was reached" in unwrapped(result)


FAILS_ONCE = """\
    flag = ASKED.with_name("failed.txt")
    if "a woman of profile 1 " in text and not flag.exists():
        flag.write_text("")
        raise ValueError("the provider was down")
"""


@both
def test_repeated_job_of_a_run_retries_what_failed(project: Project) -> None:
    """Regression: a pipeline keeps its id where a job is repeated, and once kept the error."""
    text = project_sources.application(version="1", body=FAILS_ONCE)
    project.write_suite("", conftest=text, count=4)
    first, again = (project.run("--fairness-run=77") for _ in range(2))
    assert (first.parseoutcomes()["failed"], first.parseoutcomes()["passed"]) == (1, 3)
    assert again.parseoutcomes()["passed"] == 4
    failed = "Should a woman of profile 1 be hired?"
    assert {text: count for text, count in project.calls().items() if count > 1} == {failed: 2}
    assert project.calls().total() == 9


@pytest.mark.slow
def test_run_id_never_reuses_answers_of_a_changed_application(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_suite(conftest=project_sources.application({"woman": 0, "man": 0}), count=30)
    project.run("--fairness-run=dev", mode=N2)
    assert project.calls().total() == 60, "its workers share their answers"
    project.forget_calls()
    project.write(conftest=project_sources.application({"woman": 0, "man": 1}))
    project.run("--fairness-run=dev")
    assert project.calls().total() == 60
    assert project.row()["verdict"] == "unfair"
    project.forget_calls()
    monkeypatch.setenv("CI_PIPELINE_ID", "78")  # the jobs of a pipeline have one application
    for _ in range(2):
        project.run("--fairness-run=78")
    assert project.calls().total() == 60
