"""The verdict of a threshold test, and samples that a grader has graded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.options import Options
from pytest_fairness.core.protocols import Grader
from pytest_fairness.core.verdicts import judge
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]


def verdict(holds: Callable[[], bool]) -> str:
    """What a threshold test that asserts this comes to."""

    def threshold() -> None:
        assert holds()

    return judge(threshold).verdict.value


def of_rows(rows: Rows, **options: Any) -> Measured:
    """A sample whose rows have the columns item and group; every other is a grade."""
    return Measured.from_rows(rows, item="item", groups=["group"], **options)


def of_texts(
    grader: Grader, texts: Mapping[str, Iterable[str]], options: Options | None = None, finish_reason: str = "stop"
) -> Measured:
    """A sample of texts that a grader reads, by group; the n-th of every group is of item n. Its grade is ``told``."""
    metadata = {} if options is None else {"options": options}
    attempts = []
    for group, said in texts.items():
        prompt = Prompt(f"A question about a {group}.", groups={"group": group}, metadata=metadata)
        for number, text in enumerate(said):
            answer = Answer(text, finish_reason)
            attempt = Attempt(f"{group} {number}", 0, answer)
            item = ProbeItem(str(number), [prompt])
            attempts.append(GradedAttempt(item, prompt, attempt, {"told": grader.grade(prompt, answer)}))
    return Measured(attempts)
