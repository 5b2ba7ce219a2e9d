"""The verdict of a threshold test, and samples that a grader has graded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.core.sealed_estimates import SealedEstimate
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]


def verdict(holds: Callable[[], bool]) -> str:
    """Return the verdict of a threshold test that asserts this."""

    def threshold() -> None:
        assert holds()

    return judge(threshold).verdict.value


def of_rows(rows: Rows, **options: Any) -> Measured:
    """Return a sample of rows with the columns item and group; every other column is a grade."""
    return Measured.from_rows(rows, item="item", groups=["group"], **options)


def of_texts(
    grader: Grader,
    texts: Mapping[str, Iterable[str]],
    options: AnswerOptions | None = None,
    finish_reason: str = "stop",
) -> Measured:
    """Return a sample of graded texts by group; the n-th text of every group is of item n, its grade is ``told``."""
    metadata = {} if options is None else {"options": options}
    attempts = []
    for group, group_texts in texts.items():
        prompt = Prompt(f"A question about a {group}.", groups={"group": group}, metadata=metadata)
        for number, text in enumerate(group_texts):
            answer = Answer(text, finish_reason)
            attempt = Attempt(f"{group} {number}", 0, answer)
            item = ProbeItem(str(number), [prompt])
            attempts.append(GradedAttempt(item, prompt, attempt, {"told": grader.grade(prompt, answer)}))
    return Measured(attempts)


def as_computed(estimate: Estimate) -> Estimate:
    """Return an estimate as a threshold's test would have computed it: others must not be compared there."""
    return SealedEstimate(estimate)
