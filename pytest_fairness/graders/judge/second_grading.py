"""Second gradings: a judge grades a part of its answers once more, with everything that has an order in reverse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_fairness.core.attempts import AGAIN, Attempt, Grade, GradedAttempt, value_or_none
from pytest_fairness.core.digests import digest
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Model, ModelQuery
from pytest_fairness.graders.judge.reply import read_reply
from pytest_fairness.graders.judge.requests import build_second_request, judged_text
from pytest_fairness.graders.judge.rubric import LabelField, NumberField, Rubric

MOST = 100
"""The expected number of answers that are graded twice: enough to find out a judge by chance in nearly all runs.

docs/judges.md has the shares, by `tests/benchmarks/judge_consistency.py`.
"""
FEWEST = 60
"""The fewest attempts of a sample of which a part is graded twice: fewer show nothing."""
MOST_UNJUDGED = 0.10
"""The largest share of answers whose grades may be those of a judge by chance, as of ungraded ones."""
_SHOWN = 16
"""Digits of a request that tell it from the others of a sample."""
_DIGITS = 8
UNREAD = "its second grading could not be read: "
_NOT_CHOSEN = "it was graded once"


@dataclass(frozen=True)
class SecondGrading:
    """Grader whose value is a dict: the second grades of an answer, by the names of the first; empty for most answers.

    An answer is chosen by a digest of its request, so that every run and worker chooses the same ones. The detail says
    why an answer that the judge has graded has no second grades; it is empty for one that the judge has not graded.
    """

    name: str
    """The grade whose judge is asked again."""
    fields: Mapping[str, NumberField | LabelField]
    """The fields of the rubric by the names of their grades."""
    models: Sequence[Model]
    rubric_for: Callable[[ProbeItem, Prompt], Rubric]
    judge: str | None
    """The fingerprint of the judge, without its models."""
    values: Mapping[Any, Any] = field(default_factory=dict)
    """The grade for a label, where it is not the label itself; None: ungraded."""
    accepts: tuple[str, ...] = ("refusal",)
    marker: str = ""
    """The start of the detail of a grade that the judge gave, where rules give the others."""
    share: float = 1.0
    """The share of answers that are chosen."""

    @property
    def fingerprint(self) -> str | None:
        return self.judge and f"second grading of {self.judge}, models={[model.key for model in self.models]}"

    def sized(self, attempts: int) -> SecondGrading | None:
        """Return this grading for a sample of that many attempts; None where it would show nothing."""
        if attempts < FEWEST:
            return None
        # What a judge grades after rules is little of all answers; under a tenth, it decides nothing.
        return replace(self, share=min(1.0, MOST / MOST_UNJUDGED / attempts if self.marker else MOST / attempts))

    def first_grade(self, graded: GradedAttempt, name: str) -> Any:
        """Return the first grade of an answer by its name; None where it has none."""
        return value_or_none(graded.grades[name])

    def most_questions(self, attempts: int) -> int:  # noqa: ARG002 - the protocol
        """Return 0: how many of an item's attempts are chosen is chance (`second_questions`)."""
        return 0

    def second_questions(self, attempts: int) -> int:
        """Return the expected number of requests, for a sample of that many attempts."""
        return round(self.share * attempts) * len(self.models)

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        grades = [Grade({}, detail=_NOT_CHOSEN if self._is_judged(graded) else "") for graded in attempts]
        rubrics = {
            index: self.rubric_for(item, graded.prompt) for index, graded in enumerate(attempts) if grades[index].detail
        }
        requests = {
            index: build_second_request(rubric, attempts[index].prompt, judged_text(attempts[index]))
            for index, rubric in rubrics.items()
        }
        # test_repeated_answers_are_graded_twice: equal answers are judged once.
        counts = Counter(request.digest for request in requests.values())
        chosen = sorted(
            (index for index, request in requests.items() if self._is_chosen(request, counts[request.digest])),
            key=lambda index: requests[index].digest,
        )
        if not chosen:
            return grades
        replies = iter((yield [ModelQuery(requests[index], model) for index in chosen for model in self.models]))
        for index in chosen:
            text = judged_text(attempts[index])
            read = [self._read(rubrics[index], next(replies), text) for _ in self.models]
            # test_stored_judge_is_found_out_again: a stored sample tells equal answers by their request alone.
            grades[index] = self._combine(read, f"graded twice, request {requests[index].digest[:_SHOWN]}")
        return grades

    def _is_judged(self, graded: GradedAttempt) -> bool:
        # test_panel_that_disputes_one_field_is_checked_on_the_others
        grades = [graded.grades[name] for name in self.fields]
        return any(grade.ungraded is None and grade.detail.startswith(self.marker) for grade in grades)

    def _is_chosen(self, request: Prompt, count: int) -> bool:
        # A recording is asked for what it holds only.
        are_held = (getattr(model, "holds", None) for model in self.models)
        return int(digest(request.digest)[:_DIGITS], 16) < count * self.share * 16**_DIGITS and all(
            holds is None or holds(request) for holds in are_held
        )

    def _read(self, rubric: Rubric, reply: Attempt, text: str) -> Grade:
        if reply.answer is None:
            return Grade.none("error", str(reply.error))
        return read_reply(rubric.reversed, reply.answer, text).grade

    def _combine(self, grades: Sequence[Grade], detail: str) -> Grade:
        readable = [grade.value for grade in grades if grade.ungraded is None]
        if 2 * len(readable) <= len(grades):
            return Grade({}, detail=UNREAD + next(grade.detail for grade in grades if grade.ungraded is not None))
        combined = {name: one.combine([values[one.name] for values in readable]) for name, one in self.fields.items()}
        mapped = {name: self.values.get(value, value) for name, value in combined.items()}
        return Grade({name: value for name, value in mapped.items() if value is not None}, detail=detail)


def second_questions(attempts: int) -> int:
    """Return the number of answers that are expected to be graded twice, of a sample of that many attempts."""
    return min(MOST, attempts) if attempts >= FEWEST else 0


def name_second_grading(name: str) -> str:
    """Return the name of the second grading of a grade."""
    return f"{name}{AGAIN}"
