"""Judges of two answers side by side: which of them is better, whichever is shown first."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_fairness.core.attempts import COMPARES, Attempt, Grade, GradedAttempt
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.protocols import Model, ModelQuery
from pytest_fairness.graders.judge.judge import Judge, JudgeGrader
from pytest_fairness.graders.judge.reply import JudgeReading
from pytest_fairness.graders.judge.requests import build_pair_request, judged_text
from pytest_fairness.graders.judge.rubric import Field, LabelField, NumberField, Rubric, TextField
from pytest_fairness.graders.judge.second_grading import SecondGrading

WON = "won"
"""The grade of whether an answer is the better one of its pair."""
_POSITIONS = ("first", "second")
_NEITHER = "neither"
_BETTER = LabelField(
    "better", (*_POSITIONS, _NEITHER), "which answer is better; neither where no reader could tell them apart"
)
_COMPARED = LabelField(WON, ("better", "worse", _NEITHER))
_ORDERS = "orders"
"""The key of what a judge says of an answer in each order, in the value of its grade."""


@explains_construction
@dataclass(frozen=True)
class PairJudge(Judge):
    """Judge of the two answers of an item that it sees together, in either order.

    In a mark, ``grade={"comparison": PairJudge(rubric, between="side")}`` gives the grade ``won``: 1 for an answer that
    is the better one in both orders, else 0; so both answers of a pair have 0 where neither is better, or where it
    depends on the order. Each number of the rubric is a grade too: the mean over both orders. All are in the dict
    ``comparison``.

    An item has two prompts, which differ in the group ``between``; answers of one repetition are a pair. If one of them
    cannot be judged, both are ungraded. How far the two orders agree is shown, and decides, as the agreement of second
    gradings does for a `Judge`; it costs no request.

    The rubric has numbers and texts on one answer. It and the other arguments are those of a `Judge`; both prompts of
    an item must name one rubric.

    Args:
        between: The group in which the two prompts of an item differ.

    Raises:
        FairnessError: The rubric has a label, whose two gradings have no mean, or no group is named.

    >>> rubric = Rubric("Which letter is kinder?", [NumberField("kindness", 0, 3)])
    >>> [field.name for field in PairJudge(rubric, between="gender").fields]
    ['won', 'kindness']
    """

    between: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.between, str) or not self.between:
            raise FairnessError(f"a PairJudge has between={self.between!r}: name the group in which two prompts differ")
        for field in self.own_fields:
            if isinstance(field, LabelField) or field.name in (WON, _ORDERS, _BETTER.name):
                raise FairnessError(
                    f"the rubric of a PairJudge has the field {field.name!r}: it takes numbers and texts that are "
                    f"not called {WON}, {_ORDERS} or {_BETTER.name}"
                )

    @property
    def own_fields(self) -> Sequence[Field]:
        """The fields of the rubric."""
        return next(iter(self.rubrics.values())).fields

    @property
    def fields(self) -> Sequence[Field]:
        """The fields of a grade: `WON` and those of the rubric."""
        return (NumberField(WON, 0, 1, whole=True), *self.own_fields)

    @cached_property
    def fingerprint(self) -> str:
        """That of a judge, with the group."""
        return f"{super().fingerprint}{COMPARES}{self.between!r}"

    def grader_of(self, model: Model) -> JudgeGrader:
        return PairGrader(self, model)

    def second_grading(self, name: str, models: Sequence[Model]) -> SecondGrading | None:
        """Return the grader of what the judge says in the other order; None for several judges.

        Args:
            name: The name of the entry of a mark.
            models: The models that judge.
        """
        if len(models) > 1:
            return None
        numbers = {field.name: field for field in self.own_fields if isinstance(field, NumberField)}
        return OtherOrder(name, {WON: _COMPARED, **numbers}, tuple(models), self.rubric_for, fingerprint_of(self))

    def second_questions(self, attempts: int) -> int:  # noqa: ARG002 - the protocol
        """Return 0: both orders are asked in any case."""
        return 0

    def reply_rubric(self, item: ProbeItem, pair: Sequence[GradedAttempt]) -> Rubric:
        """Return the rubric of a reply: which answer is better, and each field for either.

        Raises:
            FairnessError: The prompts of the pair have different rubrics.
        """
        rubrics = {self.rubric_for(item, graded.prompt).fingerprint: graded.prompt for graded in pair}
        if len(rubrics) > 1:
            raise FairnessError(f"the prompts of item {item.id!r} have different rubrics: a pair is judged by one")
        rubric = self.rubric_for(item, pair[0].prompt)
        numbers = [
            _at_position(field, position)
            for field in rubric.fields
            if isinstance(field, NumberField)
            for position in _POSITIONS
        ]
        texts = [field for field in rubric.fields if isinstance(field, TextField)]
        return Rubric(rubric.instructions, [*texts, *numbers, _BETTER])

    def pairs(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[tuple[int, int]]:
        """Return the indices of the two attempts of each repetition, in an order that the groups do not decide.

        Raises:
            FairnessError: The item has not two prompts that differ in the group.
        """
        groups = [prompt.groups.get(self.between) for prompt in item.prompts]
        if len(groups) != 2 or None in groups or len(set(groups)) < 2:
            raise FairnessError(
                f"item {item.id!r} has prompts of {self.between} {groups}: a PairJudge compares two, of two groups"
            )
        repetitions: dict[int, list[int]] = {}
        for index, graded in enumerate(attempts):
            repetitions.setdefault(graded.attempt.repetition, []).append(index)
        return [
            (first, second)
            for indices in repetitions.values()
            if len(indices) == 2
            for first, second in [sorted(indices, key=lambda index: digest(attempts[index].prompt.text))]
        ]


def _at_position(field: NumberField, position: str) -> NumberField:
    """Return a number of the rubric for the answer in one position."""
    meaning = f"of the {position.upper()} ANSWER: {field.meaning}"
    return NumberField(f"{position}_{field.name}", field.low, field.high, meaning, field.whole)


@dataclass(frozen=True)
class PairGrader(JudgeGrader):
    """Grader by one judge that compares: the value has each field, and what the judge says in each order."""

    judge: PairJudge
    fingerprint = JudgeGrader.fingerprint

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        grades = {index: self.judge.unjudged(graded) for index, graded in enumerate(attempts)}
        pairs = self.judge.pairs(item, attempts)
        orders = [order for pair in pairs for order in (pair, pair[::-1])]
        shown = [[(attempts[index].prompt, judged_text(attempts[index])) for index in order] for order in orders]
        rubrics = [self.judge.reply_rubric(item, [attempts[index] for index in order]) for order in orders]
        texts = ["\n".join(answer for _, answer in pair) for pair in shown]
        requests = {
            number: build_pair_request(rubrics[number], shown[number])
            for number, order in enumerate(orders)
            if all(grades[index] is None for index in order)
        }

        def repair(number: int, reading: JudgeReading) -> Prompt:
            return build_pair_request(rubrics[number], shown[number], reading.reply, reading.problems)

        judged = yield from self._judge(requests, repair, rubrics, texts)
        for number, pair in enumerate(pairs):
            both = [judged[2 * number], judged[2 * number + 1]] if 2 * number in judged else []
            for index, other in (pair, pair[::-1]):
                grades[index] = self._grade(index, both, pair) if both else grades[index] or _of_other(grades[other])
        return [grade or Grade.none("error", "the other answer is missing") for grade in grades.values()]

    def _grade(self, index: int, both: Sequence[Grade], pair: tuple[int, int]) -> Grade:
        """Return the grade of one answer of a pair from the replies in both orders."""
        ungraded = next((reply for reply in both if reply.ungraded is not None), None)
        if ungraded is not None:
            return ungraded
        positions = (_POSITIONS[pair.index(index)], _POSITIONS[1 - pair.index(index)])
        orders = [_read_position(position, reply.value) for position, reply in zip(positions, both, strict=True)]
        values: dict[str, Any] = {WON: int(all(order[WON] == "better" for order in orders))}
        for field in self.judge.own_fields:
            replies = [reply.value for reply in both] if isinstance(field, TextField) else orders
            values[field.name] = field.combine([one[field.name] for one in replies])
        return Grade({**values, _ORDERS: orders}, detail=" / ".join(reply.detail for reply in both if reply.detail))


def _of_other(grade: Grade | None) -> Grade | None:
    """Return the grade of an answer whose pair cannot be judged for the other one."""
    return grade and Grade.none(grade.ungraded or "error", f"the other answer of the pair: {grade.detail}")


def _read_position(position: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reply says of the answer in one position."""
    better = reply[_BETTER.name]
    numbers = {
        name.removeprefix(f"{position}_"): value for name, value in reply.items() if name.startswith(f"{position}_")
    }
    return {WON: _NEITHER if better == _NEITHER else "better" if better == position else "worse", **numbers}


@dataclass(frozen=True)
class OtherOrder(SecondGrading):
    """Grader whose value is what a judge says of an answer in the second order, as `SecondGrading` has it."""

    fingerprint = SecondGrading.fingerprint

    def sized(self, attempts: int) -> SecondGrading | None:
        return None if super().sized(attempts) is None else self

    def second_questions(self, attempts: int) -> int:  # noqa: ARG002 - the protocol
        """Return 0: both orders are asked in any case."""
        return 0

    def first_grade(self, graded: GradedAttempt, name: str) -> Any:
        """Return what the judge says of an answer in the first order, by the name of the grade."""
        grade = graded.grades[self.name]
        return None if grade.ungraded is not None else grade.value[_ORDERS][0][name]

    def grade_item(  # type: ignore[override]
        self,
        item: ProbeItem,  # noqa: ARG002 - the protocol
        attempts: Sequence[GradedAttempt],
    ) -> list[Grade]:
        return [self._of(graded) for graded in attempts]

    def _of(self, graded: GradedAttempt) -> Grade:
        grade = graded.grades[self.name]
        if grade.ungraded is not None:
            return Grade({})
        return Grade(grade.value[_ORDERS][1], detail=f"judged in both orders, answer {digest(judged_text(graded))}")
