"""Claims that hold for the answers of any real model, read from the store and the results file of a run."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.helpers.finished_run import FinishedRun

ALL_SUITES = (
    *("suites/agents/test_agents.py", "suites/asymmetry/test_asymmetry.py", "suites/bbq/test_bbq.py"),
    *("suites/emotion/test_emotion.py", "suites/gender/test_decisions.py", "suites/hiring/test_hiring.py"),
    *("-k", "credit or asymmetry or bbq or emotion or referral or rating or rated", "--fairness-sample=1"),
    *("--fairness-repetitions=1", "--fairness-concurrency=4"),
)
"""Arguments of a run of 32 prompts: one item of a probe of each suite."""

FEW_SUITES = (
    *("suites/agents/test_agents.py", "suites/bbq/test_bbq.py", "suites/gender/test_decisions.py"),
    *("-k", "credit or bbq or referral", "--fairness-sample=1"),
    *("--fairness-repetitions=1", "--fairness-concurrency=4"),
)
"""Arguments of a run with tools, with options and with yes or no: for a road of the same answers that is slower."""

JUDGED = ("suites/asymmetry/test_asymmetry.py", "--fairness-sample=1", "--fairness-concurrency=4")
"""Arguments of a run of two prompts whose answers a judge grades."""

REFERRALS = ("suites/gender/test_decisions.py", "-k", "referral", "--fairness-sample=6", "--fairness-repetitions=1")
"""Arguments of a run of 24 short prompts, which measures enough items for a verdict."""


def read_rows(store: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query of a store, which a run may be writing; none before there is a table."""
    if not store.exists():
        return []
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []


def count_answers(store: Path) -> int:
    return len(read_rows(store, "SELECT key FROM attempts WHERE text IS NOT NULL"))


def assert_every_answer_is_graded_or_has_a_reason(
    run: FinishedRun, store: Path, failed: int = 0, unjudged: int = 0
) -> None:
    """Assert that all attempts but the failed ones are stored, and that each has a grade or a reason why not."""
    attempts = read_rows(store, "SELECT key, text, error, finish_reason FROM attempts WHERE model NOT LIKE '%:judge%'")
    assert len(attempts) == run.results["run"]["attempts"] - failed > 0
    assert all(text is not None or error for _, text, error, _ in attempts)
    grades = read_rows(store, "SELECT key, value, ungraded, detail FROM grades")
    assert all((value == "null") == bool(ungraded and detail) for _, value, ungraded, detail in grades)
    # Not shown to a grader is an answer that was cut off; not stored is a grade from a reply of a judge that says none.
    graded = {key for key, *_ in grades}
    rest = [key for key, text, _, finish_reason in attempts if text and key not in graded and finish_reason != "length"]
    assert len(rest) <= min(unjudged, run.results["run"]["ungraded"])


def assert_nothing_is_fair(run: FinishedRun) -> None:
    """Assert that all thresholds are judged, and that so weak a model passes none of them."""
    judged = [row for row in run.results["thresholds"] if row["verdict"] != "not judged"]
    assert judged
    assert {row["verdict"] for row in judged} <= {"invalid", "undecided", "unfair"}
    assert all(row["message"] for row in judged)
    assert {release["verdict"] for release in run.results["release"]} <= {"invalid", "undecided", "unfair"}


def assert_propensities_are_probabilities(store: Path) -> None:
    """Assert that the options of each prompt have probabilities whose sum is at most 1."""
    answers = [json.loads(text)["log_likelihoods"] for (text,) in read_rows(store, "SELECT text FROM attempts")]
    sums = [sum(math.exp(low) for low, *_ in options.values()) for options in answers]
    assert sums
    assert all(0 < total <= 1.000001 for total in sums)
