"""``pytest-fairness items``: broken items, with the answers that show them."""

from __future__ import annotations

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.project import Project

MODELS = '''\
import pytest


def make(skill):
    def application(text):
        """Knows the easy profiles; the key of profile 7 is wrong."""
        number = int(text.split()[5].rstrip("."))
        knows = number * 7 % 20 < 2 + 2.5 * skill
        return "yes" if knows != (number == 7) else "no"

    return application


@pytest.fixture(scope="session", params=range(7))
def model(request):
    return make(request.param)
'''


@pytest.fixture
def measured(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    project.write_suite(conftest=MODELS, count=20)
    project.run("-m", "threshold", "--fairness-report=none")
    monkeypatch.chdir(project.path)
    return project


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_broken_item_is_listed_with_answers(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["items", "latest", "--grade=hired"]) == 0
    text = capsys.readouterr().out
    assert "1 of 20 items discriminate negatively in hired over 7 models" in text
    assert "\n  person-0007: r = -" in text
    assert "@model6: 0.00 here" in text
    assert "Should a woman of profile 7 be hired?" in text
    assert "-> no (hired: False)" in text
    for argument, message in {
        "--grade=hird": "no grade 'hird': did you mean 'hired'?",
        "--probe=nothing": "hold no such sample",
        "--most=0": "--most is 0",
    }.items():
        assert main(["items", "latest", "--grade=hired", argument]) == 2
        assert message in capsys.readouterr().err
