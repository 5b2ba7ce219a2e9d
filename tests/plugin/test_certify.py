"""Error rates of thresholds, from stored answers with groups exchanged and bias planted."""

from __future__ import annotations

from statistics import mean
from typing import Any

import pytest

from pytest_fairness.planning import error_rates as under_test
from pytest_fairness.stats.linear_estimate import LinearEstimate
from tests.helpers import project_sources
from tests.helpers.fork_server import set_constants
from tests.helpers.project import N2, Project, failures, shown, unwrapped

PROBE = """\
@pytest.mark.probe(items=people, grade={"hired": YesNo()}, repetitions=3)
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""

MODEL = "simulated:shipped?base=0.6&of=woman&ratio=0.85"
PAIR = 'by="gender", of="woman", to="man"'
RATIO = project_sources.threshold(f'assert 0.8 <= measured.ratio("hired", {PAIR}) <= 1.25', name="test_ratio")
RATE = project_sources.threshold('assert measured.rate("hired") >= 0.2', name="test_rate")
LEVEL = """\
@pytest.mark.threshold(probe=test_hiring{more})
def test_{name}(measured):
    assert {rates}
"""
PLAIN = "def test_of_something_else():\n    raise AssertionError\n"


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw less often: 200 draws take a second or two each. A test of the shares takes `enough_draws`."""
    set_constants(monkeypatch, under_test, DRAWS=20, STAGES=1, SECONDS=600.0)


@pytest.fixture
def enough_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    set_constants(monkeypatch, under_test, DRAWS=40, STAGES=3)


def write(project: Project, *tests: str, count: int = 150, groups: tuple[str, ...] = ("woman", "man")) -> None:
    project.write(
        test_hiring=project_sources.suite(*(tests or (RATIO, RATE, PLAIN)), count=count, groups=groups, probe=PROBE)
    )


def measure(project: Project, *models: str) -> str:
    """Measure the models; the id of the run."""
    models = tuple(f"--fairness-model={model}" for model in models or (MODEL,))
    project.run(*models, "-m", "threshold")
    run: str = project.results()["run"]["id"]
    return run


def certify(project: Project, *args: str, run: str = "latest") -> pytest.RunResult:
    return project.run(f"--fairness-certify={run}", *args)


def certificates(project: Project) -> dict[str, dict[str, Any]]:
    rows = project.results()["certify"]["thresholds"]
    return {row["threshold"]: row for row in rows}


def test_level_with_slices_may_be_unfair_on_the_bound(project: Project) -> None:
    """Draw again so that one rate is on the bound: those of slices, or of another comparison, may be beyond it."""
    sliced = LEVEL.format(name="sliced", more=', slices=("gender",)', rates='measured.rate("hired") >= 0.2')
    both = [f'measured.where(gender="{gender}").rate("hired") >= 0.2' for gender in ("woman", "man")]
    write(project, RATE, sliced, LEVEL.format(name="both", more="", rates=" and ".join(both)))
    measure(project)
    certify(project)
    errors = {name: [check["error"] for check in row["checks"]] for name, row in certificates(project).items()}
    alone = ["fair on the bound"]
    assert errors == {"rate": [*alone, "unfair on the bound"], "sliced": alone, "both": alone}


@pytest.mark.usefixtures("enough_draws")
def test_thresholds_are_certified_from_the_store(project: Project) -> None:
    write(project)
    run = measure(project)
    before = project.store.stat().st_size
    result = certify(project, "--fairness-offline", run=run[:10])
    result.assert_outcomes(passed=2, deselected=151)
    results = project.results()
    assert results["certify"]["run"] == run
    assert results["thresholds"] == results["metrics"] == []
    assert results["run"]["attempts"] == 0
    assert project.store.stat().st_size - before < 100_000
    row = certificates(project)["ratio"]
    assert row["model"] == "simulated:shipped?base=0.6&of=woman&ratio=0.85"
    assert row["metric"] == "ratio(hired; gender: woman/man)"
    assert row["draws"] >= 20
    truths = row["truths"]
    assert [truths[name]["value"] for name in ("parity", "bound", "beyond")] == [1.0, 0.8, pytest.approx(0.7)]
    for shares in truths.values():
        assert sum(shares[verdict] for verdict in ("fair", "unfair", "undecided", "invalid")) == pytest.approx(1)
        for verdict, share in shares["planned"].items():
            assert share == pytest.approx(shares[verdict], abs=0.2)
    assert truths["parity"]["fair"] > 0.8
    assert truths["parity"]["unfair"] == 0
    assert truths["bound"]["fair"] < 0.1
    assert truths["beyond"]["unfair"] > 0.3
    assert row["kept"]
    assert [check["error"] for check in row["checks"]] == ["unfair at parity", "fair on the bound"]
    assert all(check["share"] < check["at_most"] < 0.15 for check in row["checks"])
    text = shown(result)
    assert "certified: simulated:shipped" in text
    assert " ratio: bias planted at 0.8 and 0.7" in text
    most = max(check["at_most"] for row in certificates(project).values() for check in row["checks"])
    assert f"in at most 2.5% each; at most {most:.1%} on these answers" in " ".join(text.split())
    # Without groups the items are drawn again, so that the rate is the bound.
    rate = certificates(project)["rate"]
    assert {name: truth["value"] for name, truth in rate["truths"].items()} == {"bound": 0.2}
    assert [check["error"] for check in rate["checks"]] == ["fair on the bound", "unfair on the bound"]
    assert all(check["share"] < 0.1 for check in rate["checks"])
    assert " rate: drawn again with its true value at 0.2" in text
    assert max(map(len, text.splitlines()[-20:])) <= 80 + len(str(project.path))


@pytest.mark.slow
def test_workers_certify_like_one_process(project: Project) -> None:
    write(project)
    run = measure(project)
    certify(project, run=run)
    alone = project.results()["certify"]
    result = project.run(f"--fairness-certify={run}", "--fairness-offline", mode=N2)
    result.assert_outcomes(passed=2)
    results = project.results()
    assert len(alone["thresholds"]) == 2
    assert results["certify"] == alone
    assert results["thresholds"] == results["metrics"] == []
    assert results["run"]["attempts"] == 0
    assert "certified: simulated:shipped" in shown(result)


@pytest.mark.slow
def test_draws_are_seeded(project: Project) -> None:
    write(project, RATIO, count=60)
    measure(project)
    truths = []
    for seed in (0, 0, 1):
        certify(project, f"--fairness-seed={seed}")
        truths.append(certificates(project)["ratio"]["truths"])
    assert truths[0] == truths[1] != truths[2]


PLANTED = {
    f'assert measured.ratio("hired", {PAIR}) <= 1.25': [1.25, 1.25 / 0.875],
    f'assert measured.ratio("hired", {PAIR}) >= 0.9': [0.9, 0.9 * 0.875],
    'assert measured.ratios("hired", by="gender") >= 0.8': [0.8, 0.7],
    'assert measured.worst_ratio("hired", by="gender") >= 0.8': [0.8, 0.7],
    f'assert measured.odds_ratio("hired", {PAIR}) >= 0.6': [0.6, 0.525],
    f'assert measured.odds_ratio("hired", {PAIR}) <= 1.6': [1.6, 1.6 / 0.875],
    'assert measured.odds_ratios("hired", by="gender") >= 0.6': [0.6, 0.525],
    f'assert abs(measured.difference("hired", {PAIR})) <= 0.1': [-0.1, -0.15],
    f'assert measured.difference("hired", {PAIR}) >= -0.1': [-0.1, -0.15],
    f'assert measured.difference("hired", {PAIR}) <= 0.1': [0.1, 0.15],
    f'assert -measured.difference("hired", {PAIR}) <= 0.1': [-0.1, -0.15],
    f'assert measured.rate("hired") >= 0.2 and measured.ratio("hired", {PAIR}) >= 0.8': [0.8, 0.7],
}
"""Bias of each form of a threshold: on its bound, and half as far again beyond it."""


@pytest.mark.slow
def test_bias_is_planted_on_and_beyond_the_bound(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    set_constants(monkeypatch, under_test, DRAWS=25)
    write(project, *project_sources.thresholds(PLANTED), count=200)
    measure(project, "simulated:x?base=0.7")
    certify(project)
    truths = [row["truths"] for _, row in sorted(certificates(project).items())]
    for (body, planted), of_truth in zip(PLANTED.items(), truths, strict=True):
        parity, bound, beyond = (of_truth[name] for name in ("parity", "bound", "beyond"))
        assert [bound["value"], beyond["value"]] == pytest.approx(planted), body
        assert bound["fair"] <= 0.08, body
        assert bound["unfair"] <= 0.08, body
        assert beyond["fair"] <= bound["fair"], body
        assert beyond["unfair"] >= bound["unfair"], body
        assert parity["fair"] > bound["fair"], body
        assert abs(bound["planned"]["fair"] - 0.025) < 0.01, body
    assert mean(of_truth["bound"]["fair"] for of_truth in truths) <= 0.04


@pytest.mark.slow
def test_worst_of_three_groups_is_certified_on_its_bound(project: Project) -> None:
    worst = project_sources.threshold('assert measured.worst_ratio("hired", by="gender") >= 0.8', name="test_worst")
    write(project, worst, count=20, groups=("woman", "man", "person"))
    measure(project, "simulated:x?base=0.7")
    certify(project)
    assert certificates(project)["worst"]["truths"]["bound"]["value"] == pytest.approx(0.8)


@pytest.mark.slow
@pytest.mark.usefixtures("enough_draws")
def test_gate_with_wrong_error_rates_breaks_the_promise(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certify intervals that are as narrow as a point: on the bound about every second sample is fair."""
    monkeypatch.setattr(LinearEstimate, "ends", lambda self, tail: (self.value - tail * 1e-6, self.value + tail * 1e-6))
    write(project, project_sources.threshold(f'assert measured.ratio("hired", {PAIR}) >= 0.8', name="test_it"))
    measure(project, "simulated:x?base=0.6&of=woman&ratio=0.6")
    result = certify(project)
    row = certificates(project)["it"]
    assert 0.3 < row["truths"]["bound"]["fair"] < 0.7
    assert not row["kept"]
    text = unwrapped(result)
    assert "it: the promise is broken: unfair in 0.0% at parity (at most " in text
    assert f"fair in {row['truths']['bound']['fair']:.1%} on the bound (at most " in text
    assert "1 of 1 thresholds break it" in text


def test_function_of_attempts_is_certified_at_parity_only(project: Project) -> None:
    body = f"assert measured.ratio(turned_down, {PAIR}) >= 0.5"
    function = "def turned_down(attempt):\n    return not attempt['hired']\n"
    write(project, function, project_sources.threshold(body, name="test_it"), count=60)
    measure(project)
    result = certify(project)
    row = certificates(project)["it"]
    assert list(row["truths"]) == ["parity"]
    assert row["note"] == "no bias is planted: a function of attempts is no grade of true and false"
    assert f" it: {row['note']}" in shown(result)


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        (RATE.replace('"hired"', 'lambda attempt: attempt["hired"]'), "no rate or mean of a grade"),
        (RATE.replace("0.2", "0.99999"), "no cluster lies above a mean of 0.99999"),
        (project_sources.threshold("pass", name="test_it"), "nothing was compared"),
        (
            project_sources.threshold(f'measured.ratio("hired", {PAIR}) >= 0.8', name="test_it"),
            "cannot fail the test by itself",
        ),
        (RATIO.replace("(measured)", "(measured, baseline)"), "it is compared with a baseline"),
    ],
    ids=["no-grade", "far-bound", "nothing-compared", "no-assert", "baseline"],
)
def test_uncertifiable_threshold_is_skipped_with_the_reason(project: Project, test: str, reason: str) -> None:
    write(project, test, count=20)
    measure(project)
    result = certify(project, "-rs")
    result.assert_outcomes(skipped=1, deselected=20)
    assert "not certified: " in shown(result)
    (row,) = certificates(project).values()
    assert reason in row["reason"]
    assert row["truths"] == {}


def test_run_without_the_sample_fails_in_one_line(project: Project) -> None:
    write(project, RATIO, count=20)
    run = measure(project)
    other = RATIO.replace("test_hiring", "test_other").replace("test_ratio", "test_it")
    write(project, RATIO, PROBE.replace("test_hiring", "test_other"), other, count=20)
    result = certify(project)
    result.assert_outcomes(passed=1, failed=1, deselected=40)
    assert failures(result)["test_it[simulated:shipped]"] == [
        f"run {run[:8]} has no sample of test_hiring.py::test_other: name a run that has judged its thresholds"
    ]


def test_missing_run_is_a_usage_error(project: Project) -> None:
    write(project, RATIO, count=20)
    assert "there is no store" in shown(certify(project))
    measure(project)
    result = certify(project, run="abcdef")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "holds no judged run 'abcdef'" in shown(result)


@pytest.mark.slow
def test_every_model_of_the_run_is_certified(project: Project) -> None:
    write(project, RATIO, count=40)
    measure(project, MODEL, "simulated:second")
    result = certify(project)
    result.assert_outcomes(passed=2, deselected=80)
    assert {row["model"] for row in project.results()["certify"]["thresholds"]} == {MODEL_TEXT, "simulated:second"}
    certify(project, "--fairness-model=simulated:second").assert_outcomes(passed=1, deselected=40)


MODEL_TEXT = "simulated:shipped?base=0.6&of=woman&ratio=0.85"


def test_application_is_not_called(project: Project) -> None:
    project.write(conftest=project_sources.application())
    write(project, RATIO, count=40)
    project.run()
    project.forget_calls()
    certify(project).assert_outcomes(passed=1, deselected=40)
    assert not project.calls()
    (row,) = certificates(project).values()
    assert row["model"] == "function:conftest.application"
