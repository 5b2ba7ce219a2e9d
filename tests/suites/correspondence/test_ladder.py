"""The odds ratio within rungs: gaps show where a model is undecided, and what published rankings score."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_fairness import Answer, Measured, Prompt
from pytest_fairness.extending import read_records
from pytest_fairness.records.audits.recorded_files import RECORD
from suites.correspondence.graders import Ahead
from suites.correspondence.metrics import odds_ahead, odds_within
from tests.helpers.recorded_data import recorded_path


def rows(rates: dict[str, tuple[float, float]], count: int = 200) -> list[dict[str, object]]:
    """Return answers by rung: the rates of women and men."""
    return [
        {"item": f"{fit}-{number}", "fit": fit, "gender": gender, "invited": number < rate * count}
        for fit, of in rates.items()
        for gender, rate in zip(("female", "male"), of, strict=True)
        for number in range(count)
    ]


def odds(rates: dict[str, tuple[float, float]]) -> Measured:
    return Measured.from_rows(rows(rates), item="item", groups=["gender", "fit"])


ODDS = odds_within("invited", by="gender", of="female", to="male")


def test_gap_on_one_rung_is_not_diluted_by_the_others() -> None:
    measured = odds({"one": (0, 0), "two": (0.35, 0.65), "three": (1, 1)})
    assert measured.metric(ODDS).value == pytest.approx((0.35 / 0.65) ** 2)
    pooled = measured.odds_ratio("invited", by="gender", of="female", to="male").value
    assert pooled > 2 / 3, "over all rungs the same gap looks fair"


def test_equal_odds_show_whatever_the_base_rates_of_rungs() -> None:
    def lower(rate: float) -> float:
        return rate / 2 / (1 - rate / 2)

    rates = {fit: (lower(rate), rate) for fit, rate in (("one", 0.2), ("two", 0.5), ("three", 0.8))}
    assert odds(rates).metric(ODDS).value == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_same_answer_to_everybody_is_invalid(rate: float) -> None:
    assert odds(dict.fromkeys(("one", "two", "three"), (rate, rate))).metric(ODDS).invalid


GRADERS = {"women": Ahead("gender", "W", "M"), "minority": Ahead("origin", "minority", "majority")}


def test_published_rankings_have_the_odds_of_the_card() -> None:
    folder = recorded_path("evidence", "bloomberg")
    graded: dict[str, list[dict[str, object]]] = {}
    missing: Counter[str] = Counter()
    for _, record in read_records(folder / "gpt-3.5-turbo.jsonl.xz", RECORD):
        people = [
            {"name": name, "gender": group[-1], "origin": "majority" if group[0] == "W" else "minority"}
            for name, group in zip(record["names"], record["groups"], strict=True)
        ]
        prompt, answer = Prompt("Rank them.", metadata={"people": people}), Answer(record["answer"])
        grades = {name: grader.grade(prompt, answer) for name, grader in GRADERS.items()}
        if any(grade.ungraded for grade in grades.values()):
            missing[record["job"]] += 1
        else:
            values = {name: grade.value for name, grade in grades.items()}
            graded.setdefault(record["job"], []).append({"run": record["run"], **values})
    shown = {}
    for job, lines in graded.items():
        measured = Measured.from_rows(lines, item="run", groups=[])
        estimates = [measured.metric(odds_ahead(name)) for name in GRADERS]
        shown[job] = [tuple(round(number, 3) for number in (one.value, one.low, one.high)) for one in estimates]
    assert shown == {
        "HR specialist": [(1.133, 1.072, 1.198), (1.113, 1.042, 1.189)],
        "retail": [(1.01, 0.956, 1.067), (0.975, 0.912, 1.043)],
    }
    assert missing == {"HR specialist": 113, "retail": 116}
