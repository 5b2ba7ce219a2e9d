"""One cause, one message: a model that cannot be asked at all fails no test for each of its items."""

from __future__ import annotations

import socket

import pytest

from pytest_fairness.engine import retries
from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from pytest_fairness.plugin.session.failure_causes import MOST_ALIKE
from tests.helpers import project_sources
from tests.helpers.chat_server import serving
from tests.helpers.fork_server import set_constants
from tests.helpers.project import Project, every_mode, first_in_every_mode, in_one_process, shown, unwrapped

ITEMS = 200


def assert_printed_once(result: pytest.RunResult, words: str) -> None:
    """Assert that the cause is listed once under the requests that could not be made, and that the output is short."""
    text = shown(result)
    assert "fairness: not measured" in text
    _, _, block = text.partition("fairness: not measured")
    assert words in " ".join(block.split())
    assert len(text.splitlines()) < 80
    assert "ungraded;" not in text


def test_missing_key_is_reported_before_any_request(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        project.write(test_hiring=project_sources.suite(count=ITEMS))
        model = "--fairness-model=openai:tiny?key_env=GPU_KEY"
        monkeypatch.delenv("GPU_KEY", raising=False)
        result = project.run(model)
        assert result.ret == 4
        assert shown(result).count("no API key: set GPU_KEY in the environment") == 1
        assert not {"failed", "errors", "skipped"} & result.parseoutcomes().keys()
        assert server.requests == []
        # With it, and again without: what is in the store needs none.
        monkeypatch.setenv("GPU_KEY", "a-key")
        project.run(model, "-k", "person-0000").assert_outcomes(passed=1)
        monkeypatch.delenv("GPU_KEY")
        project.run(model, "-k", "person-0000").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("replay:broken.jsonl", "broken.jsonl:2: not valid JSON"),
        ("replay:.", "is no file"),
        ("transformers:/nonexistent/dir", "there is no folder or GGUF file /nonexistent/dir"),
        ("transformers:/models/tiny.Q4.gguf", "there is no folder or GGUF file /models/tiny.Q4"),
        ("openai:m?base_url=http://127.0.0.1:9&headers_env=NOWHERE", "the variable NOWHERE of headers_env holds no"),
        ("openai:m?base_url=http://127.0.0.1:9/v1?key=SECRET", "its base URL has a query"),
    ],
)
def test_known_problem_is_reported_in_one_line(project: Project, model: str, words: str) -> None:
    (project.path / "broken.jsonl").write_text('{"prompt": "a", "text": "b"}\n{\n', encoding="utf-8")
    project.write(test_hiring=project_sources.suite(count=ITEMS))
    result = project.run(f"--fairness-model={model}")
    assert result.ret == 4
    assert len([line for line in result.errlines if line]) == 1
    assert words in shown(result)
    assert "SECRET" not in shown(result)


@every_mode
def test_refused_key_is_reported_once(project: Project) -> None:
    with serving(refuses=1, status=401) as server:
        project.write(test_hiring=project_sources.suite(count=ITEMS))
        result = project.run(f"--fairness-model={server.model}")
        assert result.ret == INVALID_CODE
        assert_printed_once(result, "no key was sent: name the variable")
        assert f"({2 * ITEMS:,} attempts not measured)" in unwrapped(result)
        outcomes = result.parseoutcomes()
        assert outcomes["failed"] <= (3 if project.mode.distributed else 2)
        assert outcomes["failed"] + outcomes["skipped"] == ITEMS + 1
        assert len(server.requests) <= 64
        row = project.row()
        assert row["verdict"] == "invalid"
        assert "no key was sent" in row["message"]
        assert f"({2 * ITEMS} attempts not measured)" in row["message"]


@in_one_process
def test_models_whose_names_differ_in_a_digit_are_reported_apart(project: Project) -> None:
    with serving(refuses=1, status=401) as server:
        project.write(test_hiring=project_sources.suite(count=4))
        models = [server.model, server.model.replace("tiny", "tiny-2"), server.model.replace("tiny", "tiny-3")]
        result = project.run(*(f"--fairness-model={model}" for model in models))
    causes = unwrapped(result).partition("fairness: not measured")[2].partition("= fairness: ")[0]
    assert causes.count("(8 attempts not measured)") == len(models)


@in_one_process
def test_missing_server_is_reported_once(project: Project) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # bound, not listening: refused
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        project.write(test_hiring=project_sources.suite(count=40))
        result = project.run(f"--fairness-model=openai:tiny?base_url={url}", "--fairness-concurrency=2")
    result.assert_outcomes(failed=2, skipped=39)
    assert_printed_once(result, "is the server running?")
    assert "is the server running?" in project.row()["message"]


@every_mode
def test_server_that_answers_nothing_is_given_up(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop after the six tries of the first request, as the others would fail as well."""
    set_constants(monkeypatch, retries, _LONGEST_WAIT=0.02)
    project.write(test_hiring=project_sources.suite(count=ITEMS))
    with serving(refuses=1, status=500) as server:
        result = project.run(f"--fairness-model={server.model}", "--fairness-concurrency=4")
        # Ten in vain, and what is under way by then.
        assert len(server.requests) <= (10 + 4) * 6 * (2 if project.mode.distributed else 1)
    assert_printed_once(result, "(asked 6 times)")
    assert project.row()["verdict"] == "invalid"
    with serving() as server:
        project.run(f"--fairness-model={server.model}")
        assert len(server.requests) == 2 * ITEMS


@pytest.mark.slow
def test_credit_that_ends_during_the_run_is_reported_once(project: Project) -> None:
    flaky = f'@pytest.mark.flaky_threshold(reason="few", by="Ada", until="{project_sources.LATER}", max_flip=0.5)'
    flaky += "\n@pytest.mark.threshold"
    test = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.9").replace("@pytest.mark.threshold", flaky)
    with serving(status=402) as server:
        server.last = 60
        project.write(test_hiring=project_sources.suite(test, count=ITEMS))
        result = project.run(f"--fairness-model={server.model}", "--fairness-concurrency=4", "--fairness-resolve")
        outcomes = result.parseoutcomes()
        assert outcomes["failed"] == 2
        assert 14 <= outcomes["passed"] <= 30, "24 of the 60 answers come first, and are of as many items"
        assert_printed_once(result, "has no credit left")
        assert len(server.requests) <= 64
    row = project.row()
    assert row["verdict"] in ("invalid", "undecided")
    assert "has no credit left" in row["message"]


def test_threshold_alone_reports_the_cause(project: Project) -> None:
    with serving(refuses=1, status=401) as server:
        project.write(test_hiring=project_sources.suite(count=ITEMS))
        result = project.run(f"--fairness-model={server.model}", "-m", "threshold")
        result.assert_outcomes(failed=1, deselected=ITEMS)
        assert_printed_once(result, f"({2 * ITEMS} attempts not measured)")


def test_application_without_a_price_is_reported_once(project: Project) -> None:
    project.write_suite(count=40)
    result = project.run("--fairness-budget=1")
    result.assert_outcomes(failed=1, skipped=39, errors=1)
    assert "the price of function:" in shown(result)
    assert not project.calls()


def test_offline_run_reports_missing_answers_once(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1"), count=40)
    project.run("-k", "person-0000").assert_outcomes(passed=1, deselected=40)
    result = project.run("--fairness-offline")
    result.assert_outcomes(passed=1, failed=2, skipped=38)
    assert_printed_once(result, "and --fairness-offline is given (78 attempts not measured)")


def test_expected_failure_does_not_hide_a_cause(project: Project) -> None:
    probe = project_sources.PROBE.replace("@pytest.mark.probe", "@pytest.mark.xfail\n@pytest.mark.probe")
    with serving(refuses=1, status=401) as server:
        project.write(test_hiring=project_sources.suite(probe=probe, count=6))
        result = project.run(f"--fairness-model={server.model}")
        result.assert_outcomes(xfailed=6, failed=1)
        assert_printed_once(result, "(12 attempts not measured)")


def test_inherited_tests_of_a_cause_are_counted_once(project: Project) -> None:
    body = project_sources.PROBE.replace("(probe_item, model)", "(self, probe_item, model)")
    body += project_sources.THRESHOLD.replace("(measured)", "(self, measured)")
    base = "class Base:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    classes = "class TestA(Base): pass\nclass TestB(Base): pass\ndef test_plain(): pass\n"
    project.write(test_hiring=project_sources.suite(base, classes, probe="", count=6))
    result = project.run()
    result.assert_outcomes(passed=1, errors=3, skipped=11)
    assert_printed_once(result, "(12 attempts not measured)")
    _, _, tables = shown(result).partition("fairness: no model")
    assert "no model is named" not in " ".join(tables.partition("short test summary")[0].split())
    assert all("no model is named" in row["message"] for row in project.rows())


MISTAKES = {
    "application": ("raise RuntimeError('no answer to ' + text)", "YesNo()"),
    "conversation": ("return 'yes'", "YesNo()"),
    "grader": ("return 'yes'", "Raises()"),
    "grader of an item": ("return 'yes'", "RaisesOnItem()"),
}
GRADERS = """
class Raises:
    def grade(self, prompt, answer):
        raise ValueError("cannot read " + prompt.text)

class RaisesOnItem:
    def grade_item(self, item, attempts):
        raise ValueError(f"cannot read {item.id} of {attempts[0].prompt.text}")
"""


@first_in_every_mode("mistake", MISTAKES)
def test_mistake_in_every_item_is_reported_a_few_times(mistake: str, project: Project) -> None:
    body, grader = MISTAKES[mistake]
    suite = project_sources.suite(probe=GRADERS + project_sources.PROBE.replace("YesNo()", grader), count=60)
    if mistake == "conversation":
        suite = suite.replace("Prompt(f", "Prompt([{'role': 'assistant', 'content': f").replace(
            'hired?"', "hired?\"}, {'role': 'user', 'content': 'So?'}]"
        )
    project.write(conftest=project_sources.application(body=f"    {body}"), test_hiring=suite)
    result = project.run()
    assert result.ret == INVALID_CODE
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] <= 1 + MOST_ALIKE * (2 if project.mode.distributed else 1)
    assert outcomes["failed"] + outcomes["skipped"] == 61
    assert len(shown(result).splitlines()) < 80
    assert project.row()["verdict"] == "invalid"
    assert "RuntimeError" in shown(result) or "cannot read" in shown(result) or "a conversation" in shown(result)


def test_errors_between_successes_are_reported_three_times(project: Project) -> None:
    project.write_suite(
        conftest=project_sources.application(body="    if ' 2' in text:\n        raise OSError('down')"), count=30
    )
    result = project.run("-k", "person-0002 or person-0003 or person-0020 or person-0021 or person-0022")
    result.assert_outcomes(passed=1, failed=3, skipped=1, deselected=26)
