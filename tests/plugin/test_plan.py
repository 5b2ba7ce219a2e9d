"""``--fairness-plan``: what a run would say and cost, without a call."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.core.dry_run_results import CallCost, PlannedThreshold
from pytest_fairness.planning import predictions
from pytest_fairness.plugin.config.project_settings import ProjectSettings
from pytest_fairness.plugin.config.settings import Settings
from pytest_fairness.plugin.hooks.dry_runs.plan_tables import compute_total
from tests.helpers import project_sources
from tests.helpers.fork_server import set_constants
from tests.helpers.project import N2, NO_XDIST, Mode, Project, every_mode, failures, shown, unwrapped

at_once_and_distributed = pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
"""One plan takes seconds; ``-n0`` is tried with the cheapest of them."""

FIVE_TIMES = project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions=5")
ALIKE = project_sources.threshold(f"assert 0.8 <= {project_sources.RATIO} <= 1.2", name="test_alike")
RATE = project_sources.threshold('assert measured.rate("hired") >= 0.3', name="test_rate")
NARROW = project_sources.threshold(f"assert 0.99 <= {project_sources.RATIO} <= 1.01", name="test_narrow")


@pytest.fixture
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw less often where the numbers are not the subject."""
    set_constants(monkeypatch, predictions, DRAWS=40, FEWEST_DRAWS=20, SECONDS=600.0)


few_draws = pytest.mark.usefixtures("_few_draws")


def write(project: Project, *tests: str, count: int = 100, version: str | None = "1", body: str = "") -> None:
    project.write_suite(
        *tests,
        conftest=project_sources.application({"woman": 0.7, "man": 0.7}, version=version, body=body),
        count=count,
        probe=FIVE_TIMES,
    )


def plan(project: Project, *args: str, mode: Mode | None = None) -> dict[str, Any]:
    """Return the plan in the results file, with thresholds by their names."""
    project.run("--fairness-plan", *args, mode=mode)
    return written_plan(project)


def written_plan(project: Project) -> dict[str, Any]:
    """Return the plan of the last run."""
    written: dict[str, Any] = project.results()["plan"]
    return written | {"thresholds": {row["id"].partition("::test_")[2]: row for row in written["thresholds"]}}


def shares(row: dict[str, Any], index: int = 0) -> tuple[float, float, float]:
    scenario = row["scenarios"][index]
    return scenario["fair"], scenario["unfair"], scenario["undecided"]


@few_draws
@every_mode
def test_plan_requests_nothing_and_needs_no_store(project: Project) -> None:
    write(project, RATE, "def test_other(model):\n    assert model('a woman ')\n", count=20)
    result = project.run("--fairness-plan")
    assert not project.calls()
    assert not project.store.exists()
    result.assert_outcomes(passed=1, deselected=0 if project.mode.distributed else 21)
    assert project.results()["thresholds"] == []


@few_draws
def test_plan_is_in_the_terminal_and_the_results_file(project: Project) -> None:
    write(project, ALIKE)
    project.configure(prices={"default": {"input": 1, "output": 4}}, assumptions={"calls_per_second": 2.5})
    result = project.run("--fairness-plan")
    text = unwrapped(result)
    (row,) = project.results()["plan"]["thresholds"]
    assert (row["items"], row["sources"], row["repetitions"], row["basis"]) == (100, 100, 5, "assumptions")
    assert all(len(line) <= 80 for line in result.outlines if line.startswith(" "))
    for words in (
        "threshold items reps fair unfair undecided 80% at",
        f"alike 100 5 {shares(row)[0]:.0%} 0% ",
        f"with woman at 0.6 times 0% {shares(row, 1)[1]:.0%} ",
        "assumptions, no measurement: groups alike, base rate 0.5",
        "60% of answers as a `control` calls for",
        "1,000 calls, 0 of them in the store: 1,000 to make",
        "100,000 out (prompts at 4 characters a token, answers at 100",
        "0.41 USD at 1 in and 4 out per million tokens",
        "about 7 minutes at 2.5 calls per second",
    ):
        assert words in text, text
    of_model = project.results()["plan"]["models"][0]
    assert (of_model["calls"], of_model["stored"], of_model["seconds"]) == (1000, 0, 400)
    assert of_model["cost_usd"] == pytest.approx((of_model["input_tokens"] + 4 * 100_000) / 1e6)


@pytest.mark.slow
def test_plan_agrees_with_the_reference(project: Project) -> None:
    """Compare with the reference: fair in 19% of runs with 40 items, 84% with 100 (paired, rate 0.5, 5 repetitions)."""
    write(project, ALIKE)
    large = plan(project)["thresholds"]["alike"]
    small = plan(project, "--fairness-sample=40")["thresholds"]["alike"]
    assert shares(large)[0] == pytest.approx(0.84, abs=0.08)
    assert shares(small)[0] == pytest.approx(0.19, abs=0.08)
    # Each run draws anew: a callable without a version has a key of its own in each.
    assert 65 <= large["needed"]["items"] <= 120
    assert 65 <= small["needed"]["items"] <= 130
    assert 8 <= small["needed"]["repetitions"] <= 20
    assert shares(large, 1)[1] > 0.9
    assert 0.6 < large["detectable"]["below"] < 0.72
    assert 1 / 0.72 < large["detectable"]["above"] * 0.8 / 0.83 < 1 / 0.6
    assert large["cannot_pass"] == ""


@pytest.mark.slow
@few_draws
def test_rating_is_planned_over_all_values_of_its_scale(project: Project) -> None:
    def probe(more: str) -> str:
        rated = project_sources.PROBE.replace('"hired": YesNo()', '"hired": Rating(1, 5)')
        return rated.replace("@pytest", "from pytest_fairness import Rating\n\n\n@pytest").replace(")}", f")}}{more}")

    test = project_sources.threshold('assert measured.mean("hired") <= 3.5', name="test_mean")
    plans = []
    for more in ("", ', expected={"hired": {1: 0.2, 2: 0.2, 3: 0.2, 4: 0.2, 5: 0.2}}'):
        conftest = project_sources.application({"woman": 0.7, "man": 0.7}, version="1")
        project.write_suite(test, conftest=conftest, count=60, probe=probe(more))
        plans.append(plan(project)["thresholds"]["mean"])
    assert plans[0] == plans[1]
    assert shares(plans[0])[0] > 0.8  # as two values, in 66% of runs


@few_draws
def test_assumptions_can_be_set(project: Project) -> None:
    write(project, ALIKE, count=50)
    project.configure(assumptions={"rate": 0.9, "icc": 0, "output": 7})
    likely = plan(project)
    assert shares(likely["thresholds"]["alike"])[0] > 0.97
    assert likely["models"][0]["output_tokens"] == 3500
    project.configure(assumptions={"rate": 0.1})
    rare = plan(project)
    assert shares(rare["thresholds"]["alike"])[0] < 0.1


@few_draws
def test_plan_does_not_compute_recorded_functions(project: Project) -> None:
    """Let a recorded function fail: a plan does not call it, and a run does."""
    body = 'measured.record(lambda: measured.rate("unknown"))\nassert measured.rate("hired") >= 0.3'
    write(project, project_sources.threshold(body, name="test_rate"), count=20)
    assert shares(plan(project)["thresholds"]["rate"])[0] > 0
    assert "unknown" in shown(project.run())


def test_recorded_function_does_not_compare(project: Project) -> None:
    """Regression: such a comparison decided the run, and a plan, which does not call the function, lacked it."""
    body = """
def rate():
    rate = measured.rate("hired")
    assert rate >= 0.3
    return rate
measured.record(rate)
assert rate() >= 0.2"""
    write(project, project_sources.threshold(body, name="test_rate"), count=20)
    result = project.run()
    assert project.verdicts() == {"test_rate": "invalid"}
    assert "a function that `record` is given compares an estimate: compare it outside of it" in unwrapped(result)


@pytest.mark.parametrize(
    ("table", "key", "value", "words"),
    [
        ("assumptions", "rate", 2, "assumptions.rate is 2: it must be a number from 0.01 to 0.99"),
        ("assumptions", "ice", 0.2, "[tool.pytest-fairness.assumptions] has no field 'ice'; did you mean 'icc'"),
        ("assumptions", "icc", "much", "assumptions.icc is 'much': it must be a number from 0 to 0.99"),
        ("assumptions", "calls_per_second", 0, "assumptions.calls_per_second is 0: it must be a number from 0.001"),
        ("prices", "default", 3, "prices.default is 3: it must be a table such as {input = 1.25, output = 10}"),
        ("prices", "prod", {"input": "1", "output": 2}, "prices.prod is {'input': '1', 'output': 2}: it must be"),
        ("prices", "prod", {"input": 1}, "prices.prod is {'input': 1}: it must be a table"),
        ("data", "bbq", ["a"], "data.bbq is ['a']: it must be a text, a folder or hub@COMMIT"),
    ],
)
def test_invalid_project_settings_are_refused(
    project: Project, table: str, key: str, value: object, words: str
) -> None:
    write(project, ALIKE)
    project.configure(**{table: {key: value}})
    result = project.run("--fairness-plan")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line]
    assert line.startswith("ERROR: ")
    assert f"pyproject.toml:2: {words}" in line


def test_project_settings_outside_of_the_rootdir_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression of a verdict on the shipped data where the project names its own."""
    write(project, ALIKE)
    (project.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    folder = project.path / "inner"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.pytest-fairness.data]\nbbq = "mine"\n', encoding="utf-8")
    monkeypatch.chdir(folder)
    result = project.run("--fairness-plan", "..")
    assert f"pyproject.toml:1: 'data' is not read, since the rootdir is {project.path}: add --rootdir=" in shown(result)


@few_draws
def test_threshold_that_cannot_pass_fails(project: Project) -> None:
    write(project, RATE, NARROW, count=20)
    result = project.run("--fairness-plan")
    result.assert_outcomes(passed=1, failed=1, deselected=0 if project.mode.distributed else 20)
    (line,) = (line for line in failures(result)["test_narrow"] if "cannot pass" in line)
    assert line.startswith("cannot pass with any data: equal answers to all groups leave it undecided: ratio of hired")
    rows = {row["threshold"]: row for row in project.results()["plan"]["thresholds"]}
    assert rows["narrow"]["needed"] is None
    assert "equal answers" in rows["narrow"]["cannot_pass"]
    assert "its bounds are narrower than its interval, about 0." in unwrapped(result)
    assert not rows["rate"]["cannot_pass"]


def test_plan_and_certify_together_are_refused(project: Project) -> None:
    write(project, RATE)
    project.run("-m", "threshold")
    assert "drop one" in shown(project.run("--fairness-plan", "--fairness-certify=latest"))


@few_draws
def test_fewer_than_five_sources_cannot_pass(project: Project) -> None:
    write(project, ALIKE, RATE, count=4)
    result = project.run("--fairness-plan")
    result.assert_outcomes(failed=2, deselected=4)
    assert "cannot pass with any data: only 4 independent items or sources" in shown(result)


@pytest.mark.slow
def test_comparison_without_an_assert_cannot_pass(project: Project) -> None:
    write(project, project_sources.threshold(f"{project_sources.RATIO} >= 0.8", name="test_idle"))
    result = project.run("--fairness-plan")
    result.assert_outcomes(failed=1, deselected=100)
    assert "cannot fail the test by itself" in unwrapped(result)


@few_draws
def test_high_bound_is_not_reported_as_impossible(project: Project) -> None:
    write(project, project_sources.threshold('assert measured.rate("hired") >= 0.9', name="test_high"))
    row = plan(project)["thresholds"]["high"]
    assert shares(row)[1] == 1.0  # at the assumed base rate
    assert row["cannot_pass"] == ""


@pytest.mark.slow
@few_draws
@pytest.mark.parametrize("mode", [N2], ids=["n2"], indirect=True)
def test_workers_and_one_process_plan_alike(project: Project) -> None:
    write(project, ALIKE, RATE, count=20)
    workers = plan(project)
    alone = plan(project, mode=NO_XDIST)
    assert workers["models"] == alone["models"]
    assert workers["thresholds"] == alone["thresholds"]


@pytest.mark.slow
@few_draws
def test_pilot_in_the_store_replaces_assumptions(project: Project) -> None:
    write(project, ALIKE, RATE, count=40, body="    text += str(ASKED.read_text().count(chr(10)) % 5)")
    project.run()
    measured = {row["threshold"]: row for row in project.rows()}
    project.forget_calls()
    planned = plan(project)
    row = planned["thresholds"]["rate"]
    assert not project.calls()
    assert (row["basis"], len(row["scenarios"])) == ("pilot", 1)
    assert shares(row) == (1.0, 0.0, 0.0)
    assert planned["models"][0]["stored"] == planned["models"][0]["calls"] == 400
    estimate = measured["alike"]
    alike = planned["thresholds"]["alike"]
    assert measured["rate"]["estimate"] > 0.6
    assert shares(alike)[1] == 0
    # At the pilot's own size its verdict is among the likely ones.
    assert alike["scenarios"][0][estimate["verdict"]] > 0.2
    grown = plan(project, "--fairness-repetitions=8")
    assert (grown["models"][0]["calls"], grown["models"][0]["stored"]) == (640, 400)


@few_draws
def test_unfair_pilot_is_predicted_unfair(project: Project) -> None:
    project.write_suite(ALIKE, conftest=project_sources.application({"woman": 0.4, "man": 0.9}, version="1"), count=60)
    project.run()
    row = plan(project)["thresholds"]["alike"]
    assert row["needed"] is None
    assert shares(row)[1] > 0.85
    assert row["cannot_pass"] == ""


@few_draws
def test_run_with_errors_only_is_no_pilot(project: Project) -> None:
    project.write_suite(
        RATE, conftest=project_sources.application(version="1", body="    raise RuntimeError('no key')"), count=20
    )
    project.run()
    result = project.run("--fairness-plan")
    assert written_plan(project)["thresholds"]["rate"]["basis"] == "assumptions"
    assert "of runs under these assumptions" in unwrapped(result)


@few_draws
def test_stored_answers_are_no_calls_of_a_plan(project: Project) -> None:
    write(project, RATE, count=10)
    project.run("--fairness-repetitions=2", mode=NO_XDIST)
    assert "100 calls, 40 of them in the store: 60 to make" in unwrapped(project.run("--fairness-plan"))


@few_draws
def test_application_without_a_version_has_no_pilot(project: Project) -> None:
    write(project, RATE, count=20, version=None)
    project.run()
    assert plan(project)["thresholds"]["rate"]["basis"] == "assumptions"


@few_draws
def test_threshold_against_a_baseline_is_not_planned(project: Project) -> None:
    text = project_sources.threshold(f"assert {project_sources.RATIO} >= 0.8", name="test_against").replace(
        "(measured)", "(measured, baseline)"
    )
    write(project, text, RATE)
    project.run("--fairness-plan").assert_outcomes(passed=1, skipped=1, deselected=100)


def test_thresholds_pass_together_less_often_than_alone() -> None:
    cost = CallCost(
        calls=10, stored=4, tokens_from="characters", input=5, output=2, price=(1.0, 2.0), questions=3,
        silent=["polite"], propensities=4, seconds=0.5,
    )  # fmt: skip

    def row(probe: str, draws: str) -> PlannedThreshold:
        names = {name: name for name in ("id", "suite", "threshold", "model", "basis")}
        sizes = {"items": 1, "sources": 1, "repetitions": 1}
        return PlannedThreshold(probe=probe, fair_draws=draws, cost=cost, **names, **sizes)  # type: ignore[arg-type]

    settings = Settings.__new__(Settings)
    for name, value in (("project", ProjectSettings()), ("models", ()), ("concurrency", 3)):
        object.__setattr__(settings, name, value)
    apart = compute_total("m", [row(f"probe {number}", "1" * 61 + "0" * 39) for number in range(20)], settings)
    assert apart.all_fair == pytest.approx(0.61**20)
    together = compute_total("m", [row("probe", "1100"), row("probe", "1010"), row("probe", "1111")], settings)
    assert together.all_fair == 0.25
    assert (together.calls, together.stored, together.input_tokens, together.seconds) == (10, 4, 30, 1.0)
    assert (together.questions, together.silent) == (3, ["polite"])
    assert (together.propensities, together.drawn) == (4, 10)
    assert together.cost_usd == pytest.approx((30 + 2 * 12) / 1e6)


@few_draws
def test_two_looks_are_named_with_their_attempts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fairness.plugin.hooks.dry_runs.pilot.MOST_LOOKS", 2)
    write(project, RATE, count=20)
    result = project.run("--fairness-plan", "--fairness-sample=10", "--fairness-resolve")
    assert "rate: 2 looks, at 100 to 200 attempts; " in unwrapped(result)
    (line,) = (line.split() for line in result.outlines if line.startswith(" rate "))
    assert line[:3] == ["rate", "10", "5"]


@pytest.mark.slow
@few_draws
def test_looks_are_simulated(project: Project) -> None:
    write(project, ALIKE, RATE, count=200)
    once = plan(project, "--fairness-sample=50")["thresholds"]["alike"]
    result = project.run("--fairness-plan", "--fairness-sample=50", "--fairness-resolve")
    looked = written_plan(project)["thresholds"]
    assert [size[0] for size in once["looks"]] == [50]
    assert [size[:2] for size in looked["alike"]["looks"]] == [[50, 5], [100, 5], [150, 5], [200, 5]] + [
        [200, repetitions] for repetitions in (6, 8, 9, 10)
    ]
    fair, unfair, undecided = shares(looked["alike"])
    assert fair > shares(once)[0] + 0.3
    assert fair + unfair + undecided == pytest.approx(1)
    assert 500 < looked["alike"]["scenarios"][0]["attempts"] < 4000
    assert looked["rate"]["scenarios"][0]["attempts"] < 600  # mostly the first look decides it
    assert "alike: 8 looks, at 500 to 4,000 attempts; " in unwrapped(result)


@few_draws
def test_needed_items_of_unequal_sources_were_simulated(project: Project) -> None:
    """Regression: 465 of 140 items were named where one of 8 sources holds 80%: fair in 16 of 60 simulated runs."""
    source = "            source=str(max(number - 111, 0) // 4),\n"
    suite = project_sources.suite(RATE.replace(">= 0.3", "<= 0.8"), count=140).replace(
        "            ],\n", f"            ],\n{source}"
    )
    project.write(conftest=project_sources.application(version="1"), test_hiring=suite)
    needed = plan(project, "-m", "threshold")["thresholds"]["rate"]["needed"]
    assert needed["items"] > 4 * 140
    assert needed["sources"] == pytest.approx(needed["items"] * 8 / 140, abs=1)


@few_draws
def test_needed_sources_are_named_where_items_share_them(project: Project) -> None:
    """Regression: 343 items were named where the run that followed asked for more than the 8 sources of its 100."""
    suite = project_sources.suite(RATE.replace(">= 0.3", "<= 0.6"), count=100).replace(
        "            ],\n", "            ],\n            source=str(number % 8),\n"
    )
    project.write(conftest=project_sources.application(version="1"), test_hiring=suite)
    project.configure(assumptions={"icc": 0.1})
    result = project.run("--fairness-plan", "-m", "threshold")
    (needed,) = (row["needed"] for row in project.results()["plan"]["thresholds"])
    assert needed["sources"] == pytest.approx(needed["items"] * 8 / 100, abs=1)
    assert f"{needed['sources']:,} sources ({needed['items']:,} items)" in unwrapped(result)
