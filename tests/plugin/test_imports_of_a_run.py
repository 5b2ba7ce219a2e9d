"""Modules that a run imports: none that it does not use, since a start is mostly imports."""

from __future__ import annotations

import pytest

CONFTEST = """
import pathlib, sys

def pytest_unconfigure():
    pathlib.Path("imported.txt").write_text(" ".join(sys.modules), encoding="utf-8")
"""
LOADERS = """
import pathlib, sys

def pytest_unconfigure():
    loaders = {name: getattr(module, "__loader__", None) for name, module in sys.modules.items()}
    rewritten = [name for name, loader in loaders.items() if type(loader) is type(__loader__)]
    pathlib.Path("rewritten.txt").write_text(" ".join(rewritten), encoding="utf-8")
"""
SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

ITEMS = [
    ProbeItem(f"case {n}", [Prompt(f"Is case {n}, a {who}, approved?", {"gender": who}) for who in ("man", "woman")])
    for n in range(40)
]

@pytest.mark.probe(items=ITEMS, grade={"approved": YesNo()})
def test_case(probe_item, model):
    probe_item.measure(model)
"""
THRESHOLD = """
@pytest.mark.threshold(probe=test_case, title="Women are approved as often as men")
def test_alike(measured):
    assert -0.9 <= measured.difference("approved", by="gender", of="woman", to="man") <= 0.9
"""
STATISTICS = {"numpy", "scipy", "pytest_fairness.stats.measured"}
JUDGING = STATISTICS | {
    *("tomllib", "pytest_fairness.core.agreement_results", "pytest_fairness.core.evidence_results"),
    *("pytest_fairness.core.comparisons", "pytest_fairness.core.verdicts", "pytest_fairness.plugin.probes.overrides"),
    *("pytest_fairness.core.decisions", "pytest_fairness.core.threshold_results", "pytest_fairness.core.breakdown"),
    *("pytest_fairness.plugin.judgment.threshold_rows", "pytest_fairness.store.looks"),
    "pytest_fairness.core.answer_formats",
    *("pytest_fairness.plugin.samples.baseline", "pytest_fairness.plugin.judgment.evaluation"),
    *("pytest_fairness.plugin.samples.measurement", "pytest_fairness.plugin.judgment.thresholds"),
}
"""Modules, among them those that read the clauses of laws on which thresholds bear."""
REPORT = {"jinja2", "pytest_fairness.report.html.page", "pytest_fairness.report.load_run"}
ASKING = {
    *("pytest_fairness.engine.request_runner", "pytest_fairness.engine.rate_limiter", "pytest_fairness.store.throttle"),
    *("pytest_fairness.engine.answer_grading", "pytest_fairness.graders.yes_no_words", "pytest_fairness.core.tools"),
    "pytest_fairness.core.propensities",
}
"""Modules that send requests and grade answers."""
NEVER = {
    *("anthropic", "datasets", "hypothesis", "inspect_ai", "lm_eval", "openai", "pandas", "psycopg", "torch", "yaml"),
    *("aiohttp", "markdown_it", "matplotlib", "narwhals", "polars", "tenacity"),
    "pytest_fairness.store.postgresql",
    *(
        "pytest_fairness.records",
        "pytest_fairness.design",
        "pytest_fairness.harnesses",
        "pytest_fairness.local",
        "pytest_fairness.tables",
    ),
    *("pytest_fairness.cli", "pytest_fairness.search", "pytest_fairness.graders.judge"),
    *("pytest_fairness.models.http_errors", "pytest_fairness.models.http_model", "pytest_fairness.models.openai"),
    *("pytest_fairness.plugin.hooks.dry_runs.plan", "pytest_fairness.stats.simulation"),
    *("pytest_fairness.core.dry_run_results", "pytest_fairness.core.search_results"),
    *("pytest_fairness.report.html.threshold_section", "pytest_fairness.report.html.cards"),
    *("pytest_fairness.core.acceptances", "pytest_fairness.core.batch_api"),
    *("pytest_fairness.engine.item_grading", "pytest_fairness.engine.batch_grading"),
    *("pytest_fairness.models.callable_model", "pytest_fairness.plugin.hooks.xdist_crashes"),
}


@pytest.mark.parametrize(
    ("suite", "options", "unused", "used"),
    [
        (SUITE, ["--fairness-report=none"], JUDGING | REPORT, {"pytest_fairness.store.sqlite"}),
        (SUITE, [], JUDGING, REPORT),
        (SUITE + THRESHOLD, ["--fairness-report=none"], REPORT, JUDGING),
    ],
    ids=["measured", "measured-and-reported", "judged"],
)
def test_run_imports_only_what_it_uses(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    suite: str,
    options: list[str],
    unused: set[str],
    used: set[str],
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]")
    pytester.makepyfile(conftest=CONFTEST, test_cases=suite)
    modules = imported_by_run(pytester, *options)
    assert used <= modules
    assert modules & (NEVER | unused) == set()


def imported_by_run(pytester: pytest.Pytester, *options: str) -> set[str]:
    """Return the modules of a run in a process of its own: this one has imported everything."""
    arguments = ["-p", "pytest_fairness.plugin", "--fairness-model=simulated:yes-no", *options]
    assert pytester.runpytest_subprocess(*arguments).ret == 0
    return set((pytester.path / "imported.txt").read_text(encoding="utf-8").split())


def test_modules_that_ask_are_not_imported_for_stored_answers(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]")
    pytester.makepyfile(conftest=CONFTEST, test_cases=SUITE)
    assert imported_by_run(pytester) >= ASKING
    assert imported_by_run(pytester) & ASKING == set()


def test_plugin_modules_are_not_rewritten(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(conftest=LOADERS, test_cases=SUITE)
    result = pytester.runpytest_subprocess("-p", "pytest_fairness.plugin", "--fairness-model=simulated:yes-no")
    assert result.ret == 0
    rewritten = set((pytester.path / "rewritten.txt").read_text(encoding="utf-8").split())
    assert rewritten == {"conftest", "test_cases", "pytest_fairness.plugin", "pytest_fairness.plugin.compat"}
