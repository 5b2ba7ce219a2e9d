"""Commands of ``pytest-fairness`` on a stored run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_fairness import Measured
from pytest_fairness.cli.main import main
from tests.helpers.accessibility import check_accessibility
from tests.helpers.finished_run import MODELS, FinishedRun, run, with_models, write_suite

if TYPE_CHECKING:
    from tests.helpers.fork_server import ForkedWorkers
    from tests.report.conftest import OpenPage


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, forked_workers: ForkedWorkers) -> FinishedRun:
    folder = write_suite(tmp_path_factory.mktemp("commands"))
    return run(folder, *with_models(*MODELS), "--fairness-report=none", python=forked_workers.server.python)


@pytest.fixture(autouse=True)
def here(finished: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(finished.folder)


def test_report_command_writes_the_report_of_a_stored_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "latest", "--html", "again/page.html"]) == 0
    assert capsys.readouterr().out == "written: again/page.html\n"
    assert "women and men are invited alike" in Path("again/page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_compare_command_compares_two_models(finished: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", finished.results["run"]["id"][:6], "--html", "compare.html", "--markdown", "c.md"]) == 0
    output = capsys.readouterr().out
    assert "paired" in output
    assert max(map(len, output.splitlines())) <= 80 + len("written: compare.html")


@pytest.mark.slow
def test_axe_finds_no_serious_violation_in_a_comparison(open_page: OpenPage) -> None:
    assert main(["compare", "latest", "--html", "compare.html"]) == 0
    check_accessibility(open_page(Path("compare.html").resolve(), bypass_csp=True))


def test_parquet_export_gives_the_same_estimate(finished: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "parquet", "latest", "--out", "attempts.parquet"]) == 0
    assert capsys.readouterr().out == "720 attempts written to attempts.parquet\n"
    import pyarrow.parquet  # type: ignore[import-untyped]

    table = pyarrow.parquet.read_table("attempts.parquet")
    row = next(row for row in finished.results["thresholds"] if row["threshold"].startswith("women"))
    of = [line for line in table.to_pylist() if line["model"] == row["model"]]
    measured = Measured.from_rows(
        [{"item": line["item"], "gender": line["group_gender"], "invited": line["grade_invited"]} for line in of],
        item="item", groups=["gender"], confidence=row["confidence"],
    )  # fmt: skip
    ratio = measured.ratio("invited", by="gender", of="female", to="male")
    assert (ratio.value, ratio.low, ratio.high) == (row["estimate"], row["low"], row["high"])


def test_exports_to_registries_are_of_one_model(finished: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "every-eval-ever", "latest", "--out=log.txt"]
    assert main(command) == 2
    assert "2 models" in capsys.readouterr().err
    assert main([*command, "--model", finished.results["run"]["models"][0]]) == 0
    assert Path("log.txt").read_text(encoding="utf-8").startswith("{")


def test_one_attribute_is_not_sex_and_ethnicity(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "impact-ratios", "latest", "--grade", "invited", "--sex", "gender", "--ethnicity", "gender"]
    assert main([*command, "--out", "impact.md"]) == 2
    assert "'gender' is named as sex and as race/ethnicity" in capsys.readouterr().err


@pytest.mark.slow
def test_unknown_grade_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["export", "impact-ratios", "latest", "--grade", "hired", "--sex", "gender", "--ethnicity", "gender"]
    assert main([*command, "--out", "x.md"]) == 2
    assert "no probe of the run has a grade 'hired'" in capsys.readouterr().err


@pytest.mark.slow
def test_closed_pipe_is_not_an_error(finished: FinishedRun) -> None:
    command = f"{sys.executable} -m pytest_fairness compare latest | head -1"
    process = subprocess.run(command, shell=True, cwd=finished.folder, capture_output=True, text=True, check=False)  # noqa: S602
    assert process.stderr == ""
    assert "rank" in process.stdout
