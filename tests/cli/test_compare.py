"""``pytest-fairness compare``: models of a run, and runs, side by side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_fairness.cli.main import main
from tests.helpers import project_sources
from tests.helpers.project import NO_XDIST, Mode, Project, every_mode

SHIPPED = {"woman": 0.8, "man": 0.9}
WORSE = {"woman": 0.5, "man": 0.9}

Compare = Callable[..., tuple[int, str, str]]


def measure(project: Project, rates: dict[str, float], *tests: str, mode: Mode | None = None) -> str:
    """Measure an application; the id of the run."""
    project.write_suite(*tests, conftest=project_sources.application(rates), count=100)
    selection = () if project.mode.distributed else ("-m", "threshold")  # workers measure parts
    project.run("--fairness-report=none", *selection, mode=mode)
    run: str = project.results()["run"]["id"]
    return run


@pytest.fixture
def compare(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Run the command in the project: its exit code, output and errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(project.path)
        capsys.readouterr()
        code = main(["compare", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@every_mode
def test_run_is_compared_with_an_earlier_one_item_by_item(project: Project, compare: Compare) -> None:
    old, new = measure(project, SHIPPED, mode=NO_XDIST), measure(project, WORSE)
    code, out, _ = compare(old[:8], "latest")
    assert code == 0
    text = " ".join(out.split())
    assert "worse: hiring: women and men alike: verdict fair to unfair" in text
    assert ", paired; beyond chance (p below 0.001)" in text
    assert out.index(old[:8]) < out.index(new[:8])
    assert max(map(len, out.splitlines())) <= 80


def test_same_answers_are_no_difference(project: Project, compare: Compare) -> None:
    runs = [measure(project, SHIPPED) for _ in range(2)]
    _, out, _ = compare(*runs)
    assert "2 against 1: the same on every item" in out
    assert " No verdict and no mark changed, and no difference is beyond chance." in out
    assert " 1    1     fair" in out
    assert " 2    1     fair" in out


def test_models_of_one_run_are_compared(project: Project, compare: Compare) -> None:
    project.write(test_hiring=project_sources.suite(count=100))
    models = ["simulated:even?base=0.8&seed=1", "simulated:lean?base=0.8&seed=2&of=woman&ratio=0.6"]
    project.run("--fairness-report=none", *(f"--fairness-model={model}" for model in models))
    code, out, _ = compare("latest", "--html=out/page.html", "--markdown=out/page.md")
    assert code == 0
    assert "verdict fair to unfair" in " ".join(out.split())
    assert "paired" in out
    estimates = [f"{row['estimate']:.3f} (" for row in project.rows()]
    for name in ("page.html", "page.md"):
        text = (project.path / "out" / name).read_text(encoding="utf-8")
        assert "simulated:lean" in text
        assert all(estimate in text for estimate in estimates)
    _, turned, _ = compare("latest", "--to", "simulated:lean")
    assert "better: hiring: women and men alike: verdict unfair to fair" in " ".join(turned.split())


def test_results_files_are_compared_without_pairing(project: Project, compare: Compare) -> None:
    for name, rates in (("old", SHIPPED), ("new", WORSE)):
        measure(project, rates)
        (project.path / "results.json").rename(project.path / f"{name}.json")
    project.store.unlink()
    code, out, _ = compare("old.json", "new.json")
    assert code == 0
    assert "independent; beyond chance (p" in " ".join(out.split())
    assert not project.store.exists()


def test_incomparable_runs_are_reported_in_one_line(project: Project, compare: Compare) -> None:
    measure(project, SHIPPED)
    for arguments, words in {
        ("latest",): "1 model, and comparing takes two",
        ("0123", "latest"): "holds no finished run '0123'",
        ("latest", "latest"): "one run is named twice",
        ("latest", "--store", "elsewhere.sqlite"): "there is no store elsewhere.sqlite",
    }.items():
        code, out, error = compare(*arguments)
        assert (code, out) == (2, "")
        assert words in error
        assert len(error.splitlines()) == 1


def test_unwritable_page_is_reported_in_one_line(project: Project, compare: Compare) -> None:
    runs = [measure(project, rates) for rates in (SHIPPED, WORSE)]
    (project.path / "file").touch()
    code, _, error = compare(*runs, "--html=file/page.html")
    assert code == 2
    assert "cannot be written" in error
    assert len(error.splitlines()) == 1
