"""A run stops at its caps, all processes together; what that leaves open is undecided, and goes on another time."""

from __future__ import annotations

import re

import pytest

from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.pricing import ANY, FREE, price_of
from pytest_fairness.models.registry import resolve
from tests.helpers import project_sources
from tests.helpers.chat_server import INPUT, OUTPUT, serving
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import N2, NO_XDIST, Project, every_mode, shown, unwrapped, with_workers

PRICES = {"default": {"input": 1000, "output": 2000}}
"""USD per million tokens: a call costs 2.00 USD."""


def usual(project: Project, *tests: str, body: str = "", rate: float = 1.0) -> None:
    rates = {"woman": rate, "man": rate}
    project.write_suite(*tests, conftest=project_sources.application(rates, version="1", body=body), count=20)


@with_workers
def test_request_cap_is_shared_by_all_processes_and_can_be_raised(project: Project) -> None:
    usual(project)
    result = project.run("--fairness-max-requests=13", "-rs")
    assert project.calls().total() == 13
    row = project.row()
    assert row["verdict"] == "undecided"
    assert row["estimate"] is None
    (measured,) = re.findall(
        r"^undecided: the cap of 13 requests was reached: (\d+) of 20 items measured$", row["message"]
    )
    assert int(measured) <= 6
    assert result.parseoutcomes()["failed"] == 1
    assert result.parseoutcomes()["skipped"] >= 14
    assert "the cap of 13 requests was reached" in unwrapped(result)
    assert "fairness: stops at 13 requests, all processes together" in shown(result)
    assert project.results()["run"]["calls"][0]["requests"] == 13
    project.run("--fairness-max-requests=27")
    assert project.row()["verdict"] == "fair"
    assert sorted(project.calls().values()) == [1] * 40
    project.run("--fairness-max-requests=1")
    assert project.row()["verdict"] == "fair"
    assert project.calls().total() == 40


@with_workers
def test_answers_in_flight_when_the_cap_is_reached_are_kept(project: Project) -> None:
    slow = "    if 'woman of profile 1 ' in text:\n        __import__('time').sleep(1.5)"
    project.write_suite(
        conftest=project_sources.application(
            {"woman": 1.0, "man": 1.0}, version="1", body=slow, after="application.fairness_concurrency = 4"
        ),
        count=2,
    )
    project.run("--fairness-max-requests=3")
    assert project.row()["verdict"] == "undecided"
    assert project.calls().total() == 3
    project.run("--fairness-max-requests=9")
    assert sorted(project.calls().values()) == [1] * 4


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_retries_count_toward_the_cap(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=20))
    with serving(refuses=3) as server:
        result = project.run(f"--fairness-model={server.model}", "--fairness-max-requests=20")
        assert len(server.requests) == 20
        assert server.refused == 6
    run = project.results()["run"]
    assert project.row()["verdict"] == "undecided"
    assert sum(line["requests"] for line in run["calls"]) == 20
    assert run["calls"][0]["errors"] == {"429": 6}
    assert "6 of 20 requests failed (429: 6)" in unwrapped(result)


@every_mode
def test_budget_uses_the_tokens_counted_by_the_provider(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=20))
    project.configure(prices=PRICES)
    with serving() as server:
        result = project.run(f"--fairness-model={server.model}", "--fairness-budget=25")
        assert len(server.requests) in (11, 12)  # of two processes, one may have held what the other could use
        spent = 2.0 * len(server.requests)
        run = project.results()["run"]
        assert run["cost_usd"] == pytest.approx(spent)
        assert f"${spent:.2f}" in unwrapped(result)
        assert project.row()["message"].startswith("undecided: the budget of 25.00 USD was reached: ")
        assert "40 calls to make, 0 in the store; about" in unwrapped(result)
        again = project.run(f"--fairness-model={server.model}", "--fairness-budget=100")
        assert project.row()["verdict"] == "fair"
        assert sorted(server.requests) == sorted(set(server.requests))
        assert len(server.requests) == 40
        left = 40 - round(spent / 2)
        message = f"{left} calls to make, {40 - left} in the store; about"
        assert message in unwrapped(again)
        assert f"{left * OUTPUT:,} out" in unwrapped(again)  # as long as those of the store
        assert project.results()["run"]["calls"] == [
            {
                "model": f"openai:tiny?base_url={server.url}", "role": "probes", "calls": left, "requests": left,
                "input": left * INPUT, "output": left * OUTPUT, "cost_usd": 2.0 * left, "errors": {},
            }
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "cap", "message"),
    [
        (NO_XDIST, "--fairness-max-requests=40", ""),
        # How many items that leaves depends on what the other worker has under way.
        (N2, "--fairness-max-requests=39", "the cap of 39 requests was reached: 1"),
    ],
    indirect=["mode"],
)
def test_cap_that_is_just_enough_leaves_nothing_open(project: Project, cap: str, message: str) -> None:
    usual(project)
    project.run(cap)
    assert project.row()["verdict"] == ("undecided" if message else "fair")
    assert message in project.row()["message"]


@pytest.mark.slow
def test_time_cap_leaves_the_threshold_undecided(project: Project) -> None:
    usual(project, body="    import time\n    time.sleep(0.5)")
    project.run("--fairness-max-minutes=0.1", "--fairness-concurrency=2")
    assert 0 < project.calls().total() < 40
    assert "undecided: the cap of 0.1 minutes was reached" in project.row()["message"]


def test_flaky_mark_does_not_excuse_a_reached_cap(project: Project) -> None:
    mark = f'@pytest.mark.flaky_threshold(reason="noise", by="Ada", until="{project_sources.LATER}", max_flip=0.5)'
    usual(project, project_sources.threshold(f"assert {project_sources.RATIO} >= 0.1", marks=mark))
    result = project.run("--fairness-max-requests=30")
    assert project.row()["verdict"] == "undecided"
    assert result.parseoutcomes()["failed"] == 1


def test_unaffordable_second_look_keeps_the_first(project: Project) -> None:
    usual(project, project_sources.threshold(f"assert {project_sources.RATIO} >= 0.9"), rate=0.95)
    project.run("--fairness-resolve", "--fairness-max-requests=50")
    row = project.row()
    assert row["verdict"] == "undecided"
    assert row["items"] == 20
    assert "the cap of 50 requests was reached: " in row["message"]


ASKING = """\
from pytest_fairness import Grade, Prompt
from pytest_fairness.core.protocols import ModelQuery

class Asks:
    def grade_item(self, item, attempts):
        replies = yield [ModelQuery(Prompt(f"Polite? {item.id} {n}")) for n, _ in enumerate(attempts)]
        return [Grade(reply.answer is not None) for reply in replies]

    def most_questions(self, attempts):
        return attempts
"""


def write_asking_grader(project: Project) -> None:
    probe = project_sources.PROBE.replace('{"hired": YesNo()}', '{"hired": YesNo(), "polite": Asks()}')
    wide = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.5")
    project.write(test_hiring=ASKING + project_sources.suite(wide, count=10, probe=probe))


def test_plan_names_the_questions_of_graders(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    write_asking_grader(project)
    planned = project.run("--fairness-plan", "--fairness-model=simulated:demo")
    assert "graders ask 0 to 20 more: up to about $0.00 more, at a prompt and its answer each" in unwrapped(planned)


@pytest.mark.slow
def test_grader_questions_are_counted_apart_and_capped(project: Project) -> None:
    write_asking_grader(project)
    project.configure(prices=PRICES)
    with serving() as server:
        arguments = (f"--fairness-model={server.model}",)
        project.run("--fairness-max-requests=15", *arguments)
        before = len(server.requests)
        assert before in (14, 15), "the end of the run can be quicker than the last request"
        assert project.row()["verdict"] == "undecided"
        result = project.run(*arguments)
        assert len(server.requests) == 40
        assert project.row()["verdict"] == "fair"
    assert "fairness: graders ask 0 to 20 more; their cost is not in the estimate" in unwrapped(result)
    calls = {line["role"]: line["calls"] for line in project.results()["run"]["calls"]}
    assert sum(calls.values()) == 40 - before
    requests = calls["graders"]
    assert f"graders made {requests} requests to " in unwrapped(result)
    assert f": {requests * (INPUT + OUTPUT):,} tokens, ${2 * requests:.2f}" in unwrapped(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--fairness-budget=5",),
            r"the price of openai:tiny\S* is not known, and --fairness-budget needs it: write it into \[tool",
        ),
        (("--fairness-budget=0",), "--fairness-budget is 0: it must be above 0"),
        (("--fairness-max-requests=0",), "--fairness-max-requests is 0: it must be at least 1"),
        (("--fairness-max-minutes=-1",), "--fairness-max-minutes is -1: it must be above 0"),
    ],
)
def test_invalid_caps_are_refused(project: Project, arguments: tuple[str, ...], message: str) -> None:
    usual(project)
    result = project.run("--fairness-model=openai:tiny?base_url=http://127.0.0.1:9", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert re.search(message, unwrapped(result)), unwrapped(result)


def test_application_needs_a_given_price(project: Project) -> None:
    usual(project)
    result = project.run("--fairness-budget=5")
    assert "the price of function:" in unwrapped(result)
    assert project.calls().total() == 0
    project.configure(prices={"default": {"input": 1, "output": 1}})
    project.run("--fairness-budget=5")
    assert project.row()["verdict"] == "fair"


def test_prices_are_listed_given_or_unknown() -> None:
    context = ModelContext()

    def price(name: str, **prices: tuple[float, float]) -> tuple[float, float] | None:
        return price_of(resolve(name, aliases={}, context=context), prices)

    listed = price("openai:gpt-4o-mini")
    assert listed is not None
    assert 0 < listed[0] < listed[1] < 10
    assert price("anthropic:claude-opus-4-1") == pytest.approx((15, 75))
    assert price("openai:gpt-4o-mini?base_url=http://127.0.0.1:9/v1") is None
    assert price("openai:nothing-known") is None
    assert price("simulated:fair") == FREE
    assert price("openai:gpt-4o-mini", **{ANY: (1, 2)}) == (1, 2)
    assert price("openai:gpt-4o-mini", **{ANY: (1, 2), "openai:gpt-4o-mini": (3, 4)}) == (3, 4)
