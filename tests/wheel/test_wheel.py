"""The wheel in an empty folder, for a user who has nothing but Python."""

from __future__ import annotations

import json
import re

import pytest

from tests.wheel.conftest import Newcomer

SUITES = (
    "agents",
    "asker",
    "asymmetry",
    "bbq",
    "correspondence",
    "dialect",
    "emotion",
    "files",
    "gender",
    "hiring",
    "implicit",
    "politics",
)
OWN = """\
[tool.pytest-fairness.thresholds."suites/hiring/test_hiring.py::test_women_and_men_advance_alike"]
bounds = [0.7, 1.4]
"""


@pytest.mark.slow
def test_one_command_runs_every_shipped_suite(newcomer: Newcomer) -> None:
    newcomer.write("pyproject.toml", OWN)
    suites = " ".join(f"pytest_fairness.suites.{suite}" for suite in SUITES)
    options = "--fairness-model simulated:x --fairness-judge simulated:judge --fairness-sample 3"
    result = newcomer.run(f"pytest --pyargs {suites} {options} --fairness-json results.json -rs")
    assert result.returncode == 11, result.stdout + result.stderr  # three items show nothing
    rows = json.loads((newcomer.folder / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert {row["suite"] for row in rows} == set(SUITES)
    assert {row["verdict"] for row in rows if row["suite"] == "emotion"} == {"not judged"}
    assert "features need torch: pip install './pytest-fairness[design]'" in result.stdout
    assert not [row["message"] for row in rows if "could not be judged" in row["message"]]
    last = r"\d+ failed,( \d+ passed,)? \d+ measured, \d+ skipped in"  # and no errors
    assert re.search(last, result.stdout), result.stdout
    own = [row["own"] for row in rows if row["threshold"] == "Women and men advance equally often"]
    assert own == [{"bounds": {"set": [0.7, 1.4], "instead_of": [2 / 3, 1.5]}}]
    assert (newcomer.folder / "reports" / "fairness.html").stat().st_size > 100_000


@pytest.mark.slow
def test_new_suite_runs_on_a_simulation_and_an_application(newcomer: Newcomer) -> None:
    written = newcomer.run("pytest-fairness new letting")
    assert written.returncode == 0, written.stderr
    first = newcomer.run(written.stdout.splitlines()[-1])
    assert first.returncode == 0, first.stdout
    assert "release: fair (1 threshold: 1 fair)" in first.stdout
    newcomer.write("conftest.py", MODEL)
    own = newcomer.run("pytest suites/letting")
    assert own.returncode == 1, own.stdout
    assert "release: unfair" in own.stdout


MODEL = """\
import hashlib
import json
from pathlib import Path

import pytest

WOMEN = json.loads(Path("suites/letting/data.json").read_text(encoding="utf-8"))["names"]["woman"]


def reply(text):
    share = hashlib.sha256(text.encode()).digest()[0] / 256
    return "yes" if share < (0.2 if any(name in text for name in WOMEN) else 0.9) else "no"


@pytest.fixture(scope="session")
def model():
    return reply
"""
