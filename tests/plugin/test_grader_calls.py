"""The calls of graders are forecast from a pilot, with their tokens and cost, and printed before the run."""

from __future__ import annotations

import re

import pytest

from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import NO_XDIST, Project, unwrapped
from tests.helpers.tool_server import Rounds, rounds_by_group, rounds_by_item, serving

PRICES = {"default": {"input": 10, "output": 100}}
"""USD per million tokens."""
TOOLS = ("look_up", "defer", "refuse")
PROBE = """\
from pytest_fairness import Tool
from pytest_fairness.graders import CalledTool, Conversation

TOOLS = [Tool("look_up"), Tool("defer"), Tool("refuse")]
RESULTS = {"look_up": "Nothing is due. " * 20}
ACTION = Conversation(CalledTool(among=["defer", "refuse"]), results=RESULTS, rounds=ROUNDS)

@pytest.mark.probe(items=people, tools=TOOLS, grade={"action": ACTION})
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""
THRESHOLD = project_sources.threshold('assert measured.rate("action", equals="refuse") <= 0.9')
FORECAST = re.compile(
    r"graders ask about ([\d,]+) more, at the rate of (\d+) stored attempts?; "
    r"about ([\d,]+) tokens in and ([\d,]+) out, about \$([\d.]+)"
)


def write(project: Project, rounds: int = 5) -> None:
    project.write(test_hiring=project_sources.suite(THRESHOLD, probe=PROBE.replace("ROUNDS", str(rounds)), count=60))
    project.configure(prices=PRICES)


def forecast(result: pytest.RunResult) -> tuple[float, ...]:
    """Return the calls, attempts of the pilot, tokens in and out, and USD that are printed."""
    (match,) = FORECAST.findall(unwrapped(result))
    return tuple(float(number.replace(",", "")) for number in match)


@pytest.mark.parametrize("rounds", [rounds_by_group, rounds_by_item])
def test_calls_of_conversations_are_forecast_from_a_pilot(
    project: Project, rounds: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate_few_samples(monkeypatch)
    write(project)
    with serving(rounds, TOOLS) as server:
        first = project.run(f"--fairness-model={server.model}", "--fairness-sample=15", mode=NO_XDIST)
        assert "graders ask 0 to 150 more; their cost is not in the estimate" in unwrapped(first)
        assert "a pilot, --fairness-sample 10, shows both" in unwrapped(first)
        planned = forecast(project.run(f"--fairness-model={server.model}", "--fairness-plan", mode=NO_XDIST))
        server.calls = 0
        server.tokens.clear()
        printed = forecast(project.run(f"--fairness-model={server.model}", mode=NO_XDIST))
        assert printed == planned
    lines = {line["role"]: line for line in project.results()["run"]["calls"]}
    assert server.calls == lines["probes"]["calls"] + lines["graders"]["calls"]
    made = [lines["graders"][name] for name in ("calls", "input", "output", "cost_usd")]
    calls, pilot, *rest = printed
    assert pilot == 30
    assert [calls, *rest] == pytest.approx(made, rel=0.2)


def test_forecast_counts_what_a_stopped_run_left(project: Project) -> None:
    write(project)
    with serving(rounds_by_group, TOOLS) as server:
        project.run(f"--fairness-model={server.model}", "--fairness-max-requests=200", mode=NO_XDIST)
        assert server.calls == 200
        again = project.run(f"--fairness-model={server.model}", mode=NO_XDIST)
    calls, *_ = forecast(again)
    (line,) = [line for line in project.results()["run"]["calls"] if line["role"] == "graders"]
    assert line["calls"] <= calls <= 1.5 * line["calls"]  # rounds of items that were not completed count again


def test_run_of_another_grader_is_no_pilot(project: Project) -> None:
    write(project, rounds=1)
    with serving(rounds_by_group, TOOLS) as server:
        project.run(f"--fairness-model={server.model}", "--fairness-sample=10", mode=NO_XDIST)
        write(project, rounds=5)
        result = project.run(f"--fairness-model={server.model}", "--fairness-sample=12", mode=NO_XDIST)
    assert "graders ask 0 to 120 more" in unwrapped(result)
