"""``--fairness-where``: a run on some of the items."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import Mode, Project, every_mode, shown, unwrapped

ITEMS = """\
def people():
    for number in range(40):
        prompts = [Prompt(f"Should a {group} of profile {number} be hired?", groups={"group": group})
                   for group in ("woman", "man")]
        yield ProbeItem(f"person-{number:04}", prompts, metadata={"kind": "even" if number % 2 == 0 else "odd"})
"""


@pytest.fixture
def project(project: Project, mode: Mode) -> Project:
    test = project_sources.threshold('assert measured.rate("hired") >= 0.1')
    project.write_suite(test, conftest=project_sources.application(project_sources.UNEVEN), people=ITEMS)
    return project


@every_mode
def test_only_matching_items_are_measured(project: Project) -> None:
    project.run("--fairness-where=kind=odd")
    assert project.row()["items"] == 20
    assert len(project.calls()) == 40
    assert all(int(text.split()[5]) % 2 for text in project.calls())
    assert "--fairness-where=kind=odd" in project.results()["run"]["command"]


def test_several_values_of_one_attribute_are_combined(project: Project) -> None:
    project.run("--fairness-where=kind=odd", "--fairness-where=kind=even")
    assert project.row()["items"] == 40


def test_unknown_attributes_are_refused_before_any_request(project: Project) -> None:
    result = project.run("--fairness-where=knd=odd")
    text = unwrapped(result)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "no item of the selected probes has an attribute 'knd'; did you mean 'kind'?" in text
    assert not project.calls()
    assert not {"failed", "errors", "passed"} & result.parseoutcomes().keys()


def test_groups_of_prompts_select_no_items(project: Project) -> None:
    result = project.run("--fairness-where=group=woman")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    says = "--fairness-where: 'group' is a group of prompts, and an item is measured with all its groups"
    assert f"{says}: name an attribute of items; known: kind" in unwrapped(result)


def test_probes_without_the_attribute_are_measured_whole_and_named(project: Project) -> None:
    other = project_sources.items(count=5).replace("people", "others") + project_sources.PROBE.replace(
        "test_hiring", "test_other"
    )
    text = (project.path / "test_hiring.py").read_text(encoding="utf-8")
    project.write(test_hiring=text + other.replace("items=people", "items=others").replace("of profile", "of place"))
    result = project.run("--fairness-where=kind=odd")
    assert "--fairness-where kind: no item of test_other has it, so all of them are measured" in " ".join(
        shown(result).split()
    )
    assert len(project.calls()) == 40 + 10


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("kind", "write NAME=VALUE"),
        ("kind=", "write NAME=VALUE"),
        ("kind=odds", "no item has kind 'odds'; did you mean 'odd'"),
    ],
)
def test_value_without_items_is_refused(project: Project, condition: str, message: str) -> None:
    result = project.run(f"--fairness-where={condition}")
    assert message in unwrapped(result)
    assert result.ret != 0


def test_restricted_run_is_verified(project: Project) -> None:
    project.run("--fairness-where=kind=odd")
    result = project.bare_run("--fairness-verify=results.json")
    assert "verified: 1 of 1" in shown(result)


LEFT_OUT = """\
def people():
    for number in range(80):
        region = "north" if number % 2 else "south"
        groups = ("woman", "man", "elder") if region == "north" else ("woman", "man")
        prompts = [Prompt(f"Should a {group} of profile {number} be hired?", groups={"group": group})
                   for group in groups]
        topic = "sport" if number % 4 < 2 else "music"
        yield ProbeItem(f"person-{number:04}", prompts, metadata={"region": region, "topic": topic})
        # No elder was ever asked about this, whatever the options of a run.
        prompts = [Prompt(f"Should a {group} of trade {number} be hired?", groups={"group": group})
                   for group in ("woman", "man")]
        yield ProbeItem(f"trade-{number:04}", prompts, metadata={"region": region, "topic": "trade"})
"""

FAMILY = 'measured.ratios("hired", by="group")'
SLICE = 'measured.where(topic={}).ratios("hired", by="group")'

RESULTS_FILE = [
    f"assert {FAMILY} >= 0.8",
    'assert measured.worst_ratio("hired", by="group") >= 0.8',
    'for group in measured.groups("group"):\n    assert measured.where(group=group).rate("hired") >= 0.1',
    'assert measured.ratio("hired", by="group", of="elder", to="man") >= 0.8',
    f"assert {SLICE.format(('music', 'trade'))} >= 0.8",
    f"assert {SLICE.format(('trade',))} >= 0.8",
    'assert measured.rate("hired") >= 0.1',
]
NAMES = ("family", "worst", "loop", "pair", "slice", "slice_without", "whole")


@pytest.fixture
def of_groups(project: Project) -> Project:
    """Return a project whose application hires no elder; elders live in the north."""
    tests = [
        project_sources.threshold(body, name=f"test_{name}") for name, body in zip(NAMES, RESULTS_FILE, strict=True)
    ]
    application = project_sources.application({"woman": 0.9, "man": 0.9, "elder": 0.0}, version="1")
    project.write_suite(*tests, conftest=application, people=LEFT_OUT)
    return project


def test_excluded_groups_make_comparisons_invalid(of_groups: Project) -> None:
    result = of_groups.run("--fairness-where=region=south")
    verdicts = {row["id"].partition("::test_")[2]: row["verdict"] for row in of_groups.rows()}
    assert verdicts == dict.fromkeys(NAMES, "invalid") | {"slice_without": "fair", "whole": "fair"}
    message = "no attempts of elder: --fairness-where=region=south left them out"
    assert message in unwrapped(result)
    messages = {row["id"].partition("::test_")[2]: row["message"] for row in of_groups.rows()}
    assert all(message in messages[name] for name in ("family", "worst", "pair", "slice"))
    assert "--fairness-where=region=south left them out" in messages["loop"]


@pytest.mark.slow
def test_stored_runs_remember_excluded_groups(of_groups: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    of_groups.run("--fairness-where=region=south")
    assert f"verified: {len(NAMES)} of {len(NAMES)}" in shown(of_groups.bare_run("--fairness-verify=results.json"))
    of_groups.run("--fairness-certify=latest", "-k", "family")
    (row,) = of_groups.results()["certify"]["thresholds"]
    assert {shares["invalid"] for shares in row["truths"].values()} == {1.0}
    plan = of_groups.run("--fairness-plan", "--fairness-where=region=south", "-k", "family or whole")
    plan.assert_outcomes(failed=1, passed=1, deselected=len(NAMES) - 2 + 80)
    assert "cannot pass with any data: no attempts of elder: --fairness-where=region=south" in shown(plan)


def test_sample_without_a_group_is_invalid(project: Project) -> None:
    rare = project_sources.items(400).replace(
        "('woman', 'man')", "('woman', 'man', 'elder')[: 3 if number == 7 else 2]"
    )
    family = project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.5')
    application = project_sources.application({"woman": 0.9, "man": 0.9, "elder": 0.9})
    project.write_suite(family, conftest=application, people=rare)
    project.run("--fairness-sample=20")
    assert "invalid: no attempts of elder: --fairness-sample=20 left them out" in project.row()["message"]
