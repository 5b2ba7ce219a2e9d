"""A results file is verified: every verdict is made again from what its run has in the store."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import project_sources
from tests.helpers.project import (
    NO_XDIST,
    Mode,
    Project,
    every_mode,
    failures,
    first_in_every_mode,
    in_one_process,
    shown,
    unwrapped,
)

PAIR = 'by="gender", of="woman", to="man"'
RATIO = project_sources.threshold(f'assert 0.8 <= measured.ratio("hired", {PAIR}) <= 1.25', name="test_ratio")
RATE = project_sources.threshold('assert measured.rate("hired") >= 0.2', name="test_rate")
HIGH = project_sources.threshold(
    'assert measured.rate("hired") >= 0.9', name="test_high", marks="@pytest.mark.xfail(strict=True)"
)
PLAIN = "def test_of_something_else():\n    raise AssertionError\n"
PROBE = project_sources.PROBE.replace("items=people", "items=people, repetitions=2")
MODEL = "simulated:shipped?base=0.6&of=woman&ratio=0.85"
RATIO_ID = "test_hiring.py::test_ratio[simulated:shipped]"
RATE_ID = "test_hiring.py::test_rate[simulated:shipped]"


def write(project: Project, *tests: str, count: int = 60, probe: str = PROBE) -> None:
    project.write(test_hiring=project_sources.suite(*(tests or (RATIO, RATE, PLAIN)), count=count, probe=probe))


MEASURED: dict[tuple[str, ...], Path] = {}
"""Copies of measured projects, by their source and the arguments: many tests begin with the same run."""


def measure(project: Project, *args: str) -> dict[str, Any]:
    """Measure the model, unless another is named; the results file."""
    models = () if any(arg.startswith("--fairness-model") for arg in args) else (f"--fairness-model={MODEL}",)
    sources = [
        f"{file.name}: {file.read_text(encoding='utf-8')}"
        for file in sorted(project.path.glob("*.*"))
        if file.is_file()
    ]
    key = (*args, *sources)
    if key in MEASURED:
        shutil.copytree(MEASURED[key], project.path, dirs_exist_ok=True)
        return project.results()
    is_new = not project.store.exists()
    project.run("-m", "threshold", *models, *args, mode=NO_XDIST)  # the mode of a test is how it verifies
    if is_new:
        MEASURED[key] = project.path.with_name(f"measured-{len(MEASURED)}")
        # Compiled files name the folder in which they were compiled.
        shutil.copytree(project.path, MEASURED[key], ignore=shutil.ignore_patterns("__pycache__"))
    return project.results()


def verify(project: Project, *args: str, mode: Mode | None = None) -> pytest.RunResult:
    return project.bare_run("--fairness-verify=results.json", "--fairness-json=verify.json", *args, mode=mode)


def verification(project: Project) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((project.path / "verify.json").read_text(encoding="utf-8"))["verify"]
    return report


def differences(project: Project) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Return the differences by threshold and field: the value in the file, and the value now."""
    return {
        row["threshold"]: {change["field"]: (change["file"], change["now"]) for change in row["differences"]}
        for row in verification(project)["thresholds"]
        if row["differences"]
    }


def reasons(project: Project) -> dict[str, str]:
    return {row["threshold"]: row["reason"] for row in verification(project)["thresholds"] if row["reason"]}


def tamper(project: Project, change: Callable[[dict[str, Any]], object]) -> None:
    results = project.results()
    change(results)
    (project.path / "results.json").write_text(json.dumps(results), encoding="utf-8")


def row_of(results: dict[str, Any], name: str) -> dict[str, Any]:
    (row,) = (row for row in results["thresholds"] if row["threshold"] == name)
    typed: dict[str, Any] = row
    return typed


def saying(name: str, field: str, value: Any) -> Callable[[dict[str, Any]], object]:
    """Return a function that changes one field of a threshold."""
    return lambda results: row_of(results, name).update({field: value})


@every_mode
def test_measured_run_is_verified_without_requests(project: Project) -> None:
    write(project)
    results = measure(project)
    text = (project.path / "results.json").read_bytes()
    result = verify(project)
    assert result.ret == 0, shown(result)
    result.assert_outcomes(passed=2, deselected=0 if project.mode.distributed else 61)
    run = results["run"]["id"]
    line = f"verified: 2 of 2 thresholds, the release and the marks are as in results.json (run {run[:8]})"
    assert line in unwrapped(result)
    report = verification(project)
    assert (report["run"], report["same"], report["overall"], report["new"]) == (run, True, [], [])
    assert [row["id"] for row in report["thresholds"]] == [RATE_ID, RATIO_ID]
    assert (project.path / "results.json").read_bytes() == text


def test_store_on_a_read_only_disk_is_verified(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project)
    measure(project)
    archive = project.store.parent
    before = {path: path.read_bytes() for path in archive.rglob("*") if path.is_file()}
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or archive not in (path, path.parent))
    assert "verified: 2 of 2 thresholds" in shown(verify(project, mode=NO_XDIST))
    assert {path: path.read_bytes() for path in archive.rglob("*") if path.is_file()} == before


def test_application_is_not_called(project: Project) -> None:
    project.write(conftest=project_sources.application())
    write(project)
    project.run("-m", "threshold")
    project.forget_calls()
    assert verify(project).ret == 0
    assert not project.calls()


def _unfair(results: dict[str, Any]) -> None:
    row_of(results, "rate")["verdict"] = "unfair"


@in_one_process
def test_changed_verdict_is_found(project: Project) -> None:
    write(project)
    measure(project)
    tamper(project, _unfair)
    result = verify(project)
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1, deselected=0 if project.mode.distributed else 61)
    assert f"{RATE_ID}: verdict is fair now, unfair in the file" in unwrapped(result)
    assert "not verified: 1 of 2 thresholds are as in results.json (run " in unwrapped(result)
    assert failures(result)["test_rate[simulated:shipped]"] == ["verdict is fair now, unfair in the file"]
    assert differences(project) == {"rate": {"verdict": ("unfair", "fair")}}
    assert not verification(project)["same"]


CHANGES: list[tuple[str, Any]] = [
    ("estimate", 0.5), ("low", None), ("high", 0.1), ("confidence", 0.9), ("risk", 0.05), ("p_value", 0.5),
    ("p_fair", 0.5), ("p_holm", 0.5), ("mark", "D"), ("bounds", [0.3, None]), ("items", 61), ("attempts", 1),
    ("metric", "rate(fired)"), ("groups", {"woman": 0.5}), ("flip_probability", True), ("invalid", "why"),
    ("looks", {"number": 1, "of": 2, "first": 240, "run": 1, "plan": [[60, 2, 240, 60], [60, 4, 480, 60]]}),
    ("looks", {"number": 1, "of": 1, "first": 60, "run": 1, "plan": [[60, 2, 120, 60]]}),
    ("model", "simulated:other"), ("slice", {"a": "b"}), ("count", 1), ("negated", True), ("family", "rate(fired)"),
    ("base", "rate(fired)"), ("against_baseline", True), ("items_digest", "0"),
]  # fmt: skip


@pytest.mark.slow
def test_each_changed_number_is_found(project: Project) -> None:
    write(project, RATE, count=20)
    results = measure(project)
    for field, value in CHANGES:
        assert row_of(results, "rate")[field] != value
        tamper(project, saying("rate", field, value))
        result = verify(project, "--fairness-model=simulated:other") if field == "model" else verify(project)
        (project.path / "results.json").write_text(json.dumps(results), encoding="utf-8")
        assert result.ret == 1, field
        if field == "model":  # its test has another id
            continue
        names = {name.partition(" ")[0] for name in differences(project)["rate"]}
        assert field in names
        assert names <= {field, "confidence", "low", "high", "p_value", "p_fair", "p_holm"}


def test_numbers_are_compared_to_a_billionth(project: Project) -> None:
    write(project, RATE)
    estimate = row_of(measure(project), "rate")["estimate"]
    for factor, code in ((1 + 1e-11, 0), (1 + 1e-8, 1)):
        tamper(project, saying("rate", "estimate", estimate * factor))
        assert verify(project).ret == code
    assert differences(project) == {"rate": {"estimate": (estimate * (1 + 1e-8), estimate)}}


@pytest.mark.parametrize("part", ["release", "marks"])
def test_release_and_marks_are_verified(project: Project, part: str) -> None:
    write(project)
    measure(project)
    name = "verdict" if part == "release" else "mark"
    tamper(project, lambda results: results[part][0].update({name: "fairest"}))
    result = verify(project)
    assert result.ret == 1
    assert f" {part} " in unwrapped(result)
    assert "now, fairest in the file" in unwrapped(result)
    assert "2 of 2 thresholds are as in results.json" in unwrapped(result)
    assert len(verification(project)["overall"]) == 1


def test_changed_bound_in_the_code_is_found(project: Project) -> None:
    write(project)
    measure(project)
    write(project, RATIO.replace("1.25", "1.2"), RATE)
    result = verify(project)
    assert result.ret == 1
    assert "bounds are 0.8 to 1.2 now, 0.8 to 1.25 in the file" in unwrapped(result)
    assert list(differences(project)) == ["ratio"]


def test_changed_test_is_found_and_changed_grader_ignored(project: Project) -> None:
    write(project)
    measure(project)
    inverse = "class Inverse(YesNo):\n    def grade(self, prompt, answer):\n        raise AssertionError\n"
    write(project, RATIO, RATE, probe=f"{inverse}\n\n" + PROBE.replace("YesNo()", "Inverse()"))
    assert verify(project).ret == 0
    write(project, RATIO, RATE.replace('rate("hired")', 'where(gender="woman").rate("hired")'))
    assert verify(project).ret == 1
    assert differences(project)["rate"]["slice gender"] == (None, "woman")


def test_changed_confidence_is_found(project: Project) -> None:
    write(project)
    measure(project)
    write(project, probe=PROBE.replace("repetitions=2", "repetitions=2, confidence=0.9"))
    assert verify(project).ret == 1
    assert differences(project)["rate"]["risk"] == (0.025, 0.05)


def test_thresholds_expected_to_fail_are_verified(project: Project) -> None:
    write(project, HIGH, RATE)
    assert row_of(measure(project), "high")["outcome"] == "xfailed"
    verify(project).assert_outcomes(passed=2, deselected=60)
    tamper(project, lambda results: row_of(results, "high").update(verdict="fair"))
    result = verify(project)
    result.assert_outcomes(passed=1, failed=1, deselected=60)
    assert result.ret == 1


@in_one_process
def test_missing_threshold_is_not_verified(project: Project) -> None:
    write(project)
    measure(project)
    write(project, RATE)
    result = verify(project)
    assert result.ret == 1
    assert f"{RATIO_ID}: not verified: its test did not run" in unwrapped(result)
    assert "1 of 2 thresholds are as in results.json" in unwrapped(result)
    assert "the release and the marks were not made again" in unwrapped(result)
    assert list(reasons(project)) == ["ratio"]
    assert verification(project)["overall"] is None


def test_empty_collection_is_not_verified(project: Project) -> None:
    write(project)
    measure(project)
    result = verify(project, "-k", "no_such")
    assert result.ret == 1
    assert "0 of 2 thresholds are as in results.json" in unwrapped(result)


def test_failing_or_skipped_test_is_not_verified(project: Project) -> None:
    write(project)
    measure(project)
    write(project, RATE.replace("    assert", "    1 / 0\n    assert"), "@pytest.mark.skip\n" + RATIO)
    assert verify(project).ret == 1
    assert reasons(project) == {
        "rate": "its test failed before it was judged", "ratio": "its test is skipped before it was judged"
    }  # fmt: skip


@in_one_process
def test_new_threshold_is_reported_without_failure(project: Project) -> None:
    write(project, RATIO)
    measure(project)
    write(project, RATIO, RATE)
    result = verify(project)
    assert result.ret == 0
    assert f"{RATE_ID}: the results file does not have it" in unwrapped(result)
    assert verification(project)["new"] == [RATE_ID]


def test_threshold_removed_from_the_file_is_found(project: Project) -> None:
    """Remove the row only: nothing else in the file would be wrong."""
    write(project, RATE, HIGH)
    measure(project)

    def without(results: dict[str, Any]) -> None:
        results["thresholds"] = [row for row in results["thresholds"] if row["threshold"] == "rate"]
        results["release"][0] |= {"verdict": "fair", "unfair": 0, "unfair_after_holm": 0, "undecided": 0}

    tamper(project, without)
    result = verify(project)
    assert result.ret == 1
    verdict = "its run called it "
    assert f"test_high[simulated:shipped]: not verified: the results file does not have it, and {verdict}" in unwrapped(
        result
    )


def test_threshold_never_judged_is_not_verified(project: Project) -> None:
    write(project, RATE.replace("    assert", "    1 / 0\n    assert"))
    measure(project)
    write(project, RATE)
    assert verify(project).ret == 1
    assert reasons(project) == {"rate": "its run has not judged it"}


def test_missing_answers_cannot_be_verified(project: Project) -> None:
    write(project)
    results = measure(project)
    project.store.rename(project.store.with_name("other.sqlite"))
    result = verify(project)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "there is no store" in shown(result)
    assert verify(project, "--fairness-store=.fairness/other.sqlite").ret == 0
    write(project, PROBE.replace("test_hiring", "test_moved"), RATE.replace("test_hiring", "test_moved"))
    assert verify(project, "--fairness-store=.fairness/other.sqlite").ret == 1
    assert reasons(project)["rate"] == (
        f"the store has no sample of test_hiring.py::test_moved in run {results['run']['id'][:8]}"
    )


def test_results_are_not_verified_against_another_run(project: Project) -> None:
    write(project)
    measure(project)
    results = project.results()
    other = measure(project, "--fairness-model=simulated:shipped?base=0.5&of=woman&ratio=0.5")["run"]["id"]
    results["run"]["id"] = other
    (project.path / "results.json").write_text(json.dumps(results), encoding="utf-8")
    assert verify(project).ret == 1
    assert {*reasons(project), *differences(project)} == {"rate", "ratio"}


def _gone(results: dict[str, Any]) -> None:
    results["run"]["id"] = "0" * 32


def _schema(results: dict[str, Any]) -> None:
    results["schema"] = 3


def _empty(results: dict[str, Any]) -> None:
    results["thresholds"] = []


def _twice(results: dict[str, Any]) -> None:
    results["thresholds"] += results["thresholds"]


def _no_run(results: dict[str, Any]) -> None:
    del results["run"]["id"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (_gone, "has no samples of the run of results.json (run 00000000): name the store"),
        (_schema, "results.json has schema 3: this version of pytest-fairness verifies schema 1 and 2"),
        (_empty, "results.json holds no thresholds: name the results file of a run that judged some"),
        (_twice, "results.json is no results file: one of its `thresholds` occurs twice"),
        (_no_run, "results.json is no results file: it has no `run` with an `id`"),
    ],
)
def test_unverifiable_file_is_refused(project: Project, change: Any, line: str) -> None:
    write(project)
    measure(project)
    tamper(project, change)
    result = verify(project)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert line in unwrapped(result)
    assert not (project.path / "verify.json").exists()


@first_in_every_mode(
    "text", ["{", "[" * 100_000, "[]", "{}", "\x00", '{"schema": 1, "run": {"id": "a"}, "thresholds": [1]}']
)
def test_invalid_results_file_is_refused_in_one_line(project: Project, text: str) -> None:
    write(project, RATE)
    (project.path / "results.json").write_text(text, encoding="utf-8")
    result = verify(project)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = (line for line in shown(result).splitlines() if "is no results file" in line)
    assert line.startswith("ERROR: ")
    assert line.endswith("name a file that --fairness-json wrote")


def test_missing_file_is_refused(project: Project) -> None:
    write(project, RATE)
    result = verify(project)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "results.json cannot be read: No such file or directory" in shown(result)


def test_verify_with_plan_is_refused(project: Project) -> None:
    write(project, RATE)
    result = verify(project, "--fairness-plan")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--fairness-verify and --fairness-plan cannot be in one run: drop one" in shown(result)


def test_looks_are_verified_on_their_own_samples(project: Project) -> None:
    """Decide thresholds at the first look and another later: the store has the largest sample.

    One is invalid, since its first look has no person of an item that the later look has.
    """
    rates = dict.fromkeys(("woman", "man", "person"), 0.8)
    worst = project_sources.threshold('assert measured.worst_ratio("hired", by="gender") >= 0.1', name="test_worst")
    suite = project_sources.suite(project_sources.THRESHOLD, RATE.replace("0.2", "0.1"), worst, count=400)
    suite = suite.replace("in ('woman', 'man')", "in ('woman', 'man', *(['person'] if number == 7 else []))")
    project.write(conftest=project_sources.application(rates, version="1"), test_hiring=suite)
    project.run("--fairness-resolve", "--fairness-sample=60", "-m", "threshold", mode=NO_XDIST)
    looks = {row["threshold"]: row["looks"]["number"] for row in project.rows()}
    assert looks["rate"] == looks["worst"] == 1 < looks["women and men alike"]
    assert "--fairness-sample=60 left them out" in row_of(project.results(), "worst")["message"]
    later = row_of(project.results(), "women and men alike")
    assert later["sample"]["fairness_attempts"] == 2 * later["items"] + 1
    project.forget_calls()
    result = verify(project)
    assert result.ret == 0, shown(result)
    assert not project.calls()
    tamper(project, lambda results: row_of(results, "women and men alike")["looks"].update(number=1, of=1))
    assert verify(project, mode=NO_XDIST).ret == 1
    assert "looks of" in differences(project)["women and men alike"]


def test_repetitions_of_later_looks_are_separated(project: Project) -> None:
    loose = project_sources.threshold('assert measured.rate("hired") >= 0.05', name="test_loose")
    write(project, project_sources.THRESHOLD, loose)
    measure(project, "--fairness-resolve", "--fairness-model=simulated:even")
    looks = {row["threshold"]: row["looks"]["number"] for row in project.rows()}
    assert looks["loose"] == 1 < looks["women and men alike"]
    result = verify(project)
    assert result.ret == 0, shown(result)


@pytest.mark.slow
def test_each_judged_run_is_verified_at_its_own_interval(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=60, probe=PROBE))
    texts = []
    for more in ((), ("--fairness-fresh",)):
        measure(project, *more)
        texts.append((project.path / "results.json").read_text(encoding="utf-8"))
    for number, text in enumerate(texts, start=1):
        (project.path / "results.json").write_text(text, encoding="utf-8")
        assert project.row()["looks"]["run"] == number
        result = verify(project)
        assert result.ret == 0, shown(result)
    tamper(project, lambda results: results["thresholds"][0]["looks"].update(run=1))
    assert verify(project).ret == 1
    changes = differences(project)["women and men alike"]
    assert changes["looks run"] == (1, 2)


def test_baseline_must_be_named_to_verify(project: Project) -> None:
    against = project_sources.threshold(
        f'assert measured.against(baseline).ratio("hired", {PAIR}) <= 1.1', name="test_no_worse"
    ).replace("(measured)", "(measured, baseline)")
    write(project, RATE)
    run = measure(project)["run"]["id"]
    write(project, RATE, against)
    measure(project, f"--fairness-baseline={run[:12]}")
    result = verify(project)
    assert result.ret == 0, shown(result)
    tamper(project, lambda results: results["run"].pop("command"))
    result = verify(project)
    assert result.ret == 1
    assert reasons(project) == {"no worse": "name the baseline: --fairness-baseline RUN"}
    assert verify(project, f"--fairness-baseline={run}").ret == 0


def test_models_are_taken_from_the_file(project: Project) -> None:
    write(project)
    measure(project, f"--fairness-model={MODEL}", "--fairness-model=simulated:shipped?base=0.7")
    (project.path / "pytest.ini").write_text("[pytest]\nfairness_model = simulated:of_the_project\n", encoding="utf-8")
    result = verify(project)
    assert result.ret == 0, shown(result)
    assert "4 of 4 thresholds" in unwrapped(result)


def test_hostile_text_in_the_file_is_escaped(project: Project) -> None:
    write(project)
    measure(project)
    hostile = "\x1b[31mfair\u202e\n::error::"

    def change(results: dict[str, Any]) -> None:
        row_of(results, "rate").update(verdict=hostile, groups={hostile: 1})
        results["thresholds"].append({**row_of(results, "ratio"), "id": hostile})
        results["release"][0]["model"] = hostile

    tamper(project, change)
    result = verify(project)
    assert result.ret == 1
    assert not any(character in shown(result) for character in ("\x1b", "\u202e", "\n::error"))
    assert "\\u001b[31mfair\\u202e\\n::error::" in shown(result)


@pytest.mark.parametrize("field", ["looks", "sample", "bounds", "comparisons", "groups", "scale", "model", "ungraded"])
def test_any_json_value_of_a_field_is_a_difference(project: Project, field: str) -> None:
    write(project, RATE, count=20)
    measure(project)
    values: list[Any] = [3, "x", [[]], {"": {}}]
    for value in values:
        tamper(project, saying("rate", field, value))
        result = verify(project)
        assert result.ret == 1, shown(result)
        assert "INTERNALERROR" not in shown(result)


def test_keys_are_never_shown(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "correct-horse-battery")
    rename = 'hired.__name__ = "correct-horse-battery"\n'
    write(project, f'def hired(attempt):\n    return attempt["hired"]\n\n\n{rename}', RATE.replace('"hired"', "hired"))
    measure(project)
    assert verify(project).ret == 0
    tamper(project, saying("rate", "metric", "correct-horse-battery"))
    tamper(project, lambda results: results["release"][0].update(model="correct-horse-battery"))
    result = verify(project)
    assert result.ret == 1
    assert "correct-horse" not in shown(result) + (project.path / "verify.json").read_text(encoding="utf-8")


def test_verification_does_not_overwrite_its_file(project: Project) -> None:
    write(project)
    (project.path / "pytest.ini").write_text("[pytest]\nfairness_json = results.json\n", encoding="utf-8")
    measure(project)
    before = (project.path / "results.json").read_bytes()
    assert project.bare_run("--fairness-verify=./results.json").ret == 0
    assert (project.path / "results.json").read_bytes() == before


def test_unjudged_thresholds_are_skipped_and_cannot_be_forged(project: Project) -> None:
    write(project, RATE, RATIO, "@pytest.mark.skip(reason='later')\n" + HIGH)
    results = measure(project, "-k", "rate or high")
    result = verify(project)
    assert result.ret == 0, shown(result)
    run = results["run"]["id"][:8]
    line = f"verified: 1 of 1 thresholds, the release and the marks are as in results.json (run {run})"
    assert f"{line}; 2 were not judged" in unwrapped(result)

    def hide(results: dict[str, Any]) -> None:
        row_of(results, "rate").update(verdict="not judged", message="not judged: not selected", outcome="not run")

    tamper(project, hide)
    result = verify(project)
    assert result.ret == 1
    assert f"{RATE_ID}: verdict is fair now, not judged in the file" in unwrapped(result)
