"""One word on a model's release, from all of its thresholds."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.report.release import corrected, release, sentence

from . import sources
from .project import Project, every_mode, shown


def row(verdict: str, p_value: float | None, model: str = "m") -> dict[str, Any]:
    return {"model": model, "verdict": verdict, "p_value": p_value, "risk": 0.025}


@pytest.mark.parametrize(
    ("rows", "verdict", "words"),
    [
        ([("fair", 0.9), ("fair", 0.7)], "fair", "(2 thresholds: 2 fair)"),
        ([("fair", 0.9), ("unfair", 0.001)], "unfair", "1 fair, 1 unfair (1 after Holm's correction)"),
        ([("fair", 0.9), ("unfair", 0.02)], "undecided", "1 fair, 1 unfair (0 after Holm's correction)"),
        ([("undecided", 0.4), ("fair", 0.9)], "undecided", "1 fair, 1 undecided"),
        ([("invalid", None), ("fair", 0.9)], "invalid", "1 fair, 1 invalid"),
        ([("invalid", None), ("unfair", 0.0001)], "unfair", "1 invalid"),
    ],
)
def test_what_it_comes_to(rows: list[tuple[str, float | None]], verdict: str, words: str) -> None:
    (line,) = release(corrected([row(*one) for one in rows]))
    assert line["verdict"] == verdict
    assert words in sentence(line)


def test_each_model_has_its_own() -> None:
    rows = [row("unfair", 0.02, "a"), *(row("fair", 0.9, "b") for _ in range(9))]
    lines = release(corrected(rows))
    assert {line["model"]: line["verdict"] for line in lines} == {"a": "unfair", "b": "fair"}


@every_mode
def test_in_the_terminal_and_the_results_file(project: Project) -> None:
    thresholds = [
        sources.threshold(f"assert {sources.RATIO} >= 0.8", name="test_unfair"),
        sources.threshold('assert measured.rate("hired") >= 0.01', name="test_fair"),
    ]
    project.write(conftest=sources.application(sources.UNEVEN), test_hiring=sources.suite(*thresholds))
    result = project.run("-m", "threshold")
    assert "release: unfair (2 thresholds: 1 fair, 1 unfair (1 after Holm's correction))" in shown(result).replace(
        "\n   ", " "
    )
    (line,) = project.results()["release"]
    assert (line["verdict"], line["unfair"], line["unfair_after_holm"]) == ("unfair", 1, 1)
    rows = {row["threshold"]: row for row in project.rows()}
    assert rows["unfair"]["p_value"] < 0.01
    assert rows["unfair"]["p_holm"] == 2 * rows["unfair"]["p_value"]
    assert rows["fair"]["p_value"] > 0.5 > 0.025 > rows["fair"]["p_fair"]
