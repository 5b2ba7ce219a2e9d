"""A grader by rules whose doubtful answers a judge reads."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import DeclarativeGrader
from pytest_fairness.core.digests import canonical
from pytest_fairness.core.errors import FairnessError, UngradedError
from pytest_fairness.core.grader_declarations import GraderDeclaration
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.protocols import Grader, ItemGrader, Model, ModelQuery, extremes_of
from pytest_fairness.graders.judge.judge import FieldGrader, Judge, JudgeGrader
from pytest_fairness.graders.judge.rubric import LabelField, NumberField
from pytest_fairness.graders.judge.second_grading import SecondGrading

_JUDGED_BY = "judged by "
"""The start of the detail of a grade that a judge gave."""


@explains_construction
@dataclass(frozen=True)
class JudgeFallback(DeclarativeGrader):
    """Grader by rules; a judge grades the answers that the rules leave unparsed, if the run has one.

    The judge is that of its ``models``, else of the `judge` fixture and ``--fairness-judge``. Without any, these
    answers stay ungraded. A refusal, or an answer that is not complete, is never judged.

    The detail of a grade that the judge gave begins with "judged by" and its name. The summary, the results file and
    the report show how many there are. Several judges grade as in a `Judge`.

    Args:
        grade: The grader that reads an answer first.
        judge: The judge, whose rubric has exactly one number or label.
        values: The grade for a label of the judge, where it is not the label itself; None: ungraded.

    Raises:
        FairnessError: An argument is no grader or judge, or the rubric has several numbers or labels.

    >>> from pytest_fairness import Judge
    >>> from pytest_fairness.graders import CharacterGender
    >>> gender = JudgeFallback(CharacterGender(), Judge(CharacterGender.rubric), {"none": None})
    >>> gender.graders("gender", models=[])
    {'gender': CharacterGender()}
    """

    grade: Grader
    judge: Judge
    values: Mapping[str, Any] = field(default_factory=dict)

    schema: ClassVar[Mapping[str, Any]] = {
        "title": "a grader and a judge of the answers that it cannot read",
        "type": "object",
        "required": ["grade", "judge"],
        "additionalProperties": False,
        "properties": {
            "grade": {"$ref": "#/$defs/grader"},
            "judge": Judge.schema,
            "values": {"type": "object", "description": "the grade for a label of the judge; null: ungraded"},
        },
    }

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> JudgeFallback:
        return cls(
            declaration.read_grader("grade").grader,
            Judge.from_declaration(_declared_judge(declaration)),
            declaration.parameters.get("values", {}),
        )

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        return declaration.read_grader("grade").values

    def __post_init__(self) -> None:
        if not callable(getattr(self.grade, "grade", None)) or isinstance(self.grade, type):
            raise FairnessError(f"the grade of a JudgeFallback is {self.grade!r}: it must be a grader of one answer")
        if not isinstance(self.judge, Judge):
            raise FairnessError(f"the judge of a JudgeFallback is {self.judge!r}: write Judge(Rubric(...))")
        fields = [field for field in self.judge.fields if isinstance(field, NumberField | LabelField)]
        if len(fields) > 1:
            names = ", ".join(field.name for field in fields)
            raise FairnessError(f"the rubric of a JudgeFallback has the fields {names}: it needs one number or label")
        if unknown := sorted(self.values.keys() - self._labels()):
            raise FairnessError(f"values of a JudgeFallback name {unknown[0]!r}: the rubric has no such label")

    @property
    def judged_field(self) -> NumberField | LabelField:
        """The number or label of the rubric."""
        return next(field for field in self.judge.fields if isinstance(field, NumberField | LabelField))

    def _labels(self) -> Collection[str]:
        judged = self.judged_field
        return judged.labels if isinstance(judged, LabelField) else ()

    @property
    def accepts(self) -> tuple[str, ...]:
        """Reasons of incomplete answers that its grader accepts."""
        return tuple(getattr(self.grade, "accepts", ()))

    def check_prompt(self, prompt: Prompt) -> None:
        """Raise `FairnessError` for a prompt whose answers the grader cannot grade, or the judge grades otherwise."""
        getattr(self.grade, "check_prompt", lambda _: None)(prompt)
        extremes = extremes_of(self.grade)
        possible = tuple(extremes(prompt)) if extremes else ()
        if not possible:  # the grader declares none
            return
        ends = f"its grades {', '.join(map(repr, possible))}"
        for label in self._labels():
            value = self.values.get(label, label)
            if value is not None and not _is_possible(value, possible):
                raise FairnessError(
                    f"the judge's label {label!r} is none of {ends}: give its grade, or None, in `values`"
                )
        judged = self.judged_field
        if isinstance(judged, NumberField) and {judged.low, judged.high} != set(possible):
            raise FairnessError(f"the judge gives {judged.form}, which is not the scale of {ends}: give both one scale")

    def graders(self, name: str, models: Sequence[Model]) -> dict[str, Grader | ItemGrader]:
        """Return the graders of an entry of a mark: without a model, the grader alone.

        Args:
            name: The name of the entry.
            models: The models that judge.
        """
        if not models:
            return {name: self.grade}
        self.judge.graders(f"{name} of the judge", models)  # refuses a model that is named twice
        return {name: JudgeFallbackGrader(self, tuple(models))}

    def second_grading(self, name: str, models: Sequence[Model]) -> SecondGrading | None:
        """Return the grader that has a part of the judged answers graded twice; None without a judge.

        Args:
            name: The name of the entry of a mark.
            models: The models that judge.
        """
        if not models:
            return None
        again = SecondGrading(
            name, {name: self.judged_field}, tuple(models), self.judge.rubric_for, fingerprint_of(self.judge)
        )
        return replace(again, values=dict(self.values), accepts=self.accepts, marker=_JUDGED_BY)


@dataclass(frozen=True)
class JudgeFallbackGrader:
    """Grader by rules and, for the answers that they leave unparsed, by judges."""

    fallback: JudgeFallback
    models: Sequence[Model]

    @property
    def fingerprint(self) -> str | None:
        fallback = self.fallback
        parts = [fingerprint_of(fallback.grade), fingerprint_of(fallback.judge)]
        if None in parts:
            return None
        keys = [model.key for model in self.models]
        return f"JudgeFallback({', '.join(map(str, parts))}, {canonical([keys, dict(fallback.values)])}) v1"

    @property
    def accepts(self) -> tuple[str, ...]:
        return self.fallback.accepts

    def extremes_for(self, prompt: Prompt) -> Sequence[Any]:
        """Return the values that an ungraded attempt could have had; none where the grader declares none."""
        extremes = extremes_of(self.fallback.grade)
        return extremes(prompt) if extremes else ()

    def most_questions(self, attempts: int) -> int:
        """Return the most requests for a number of attempts: the judges may read all of them."""
        return 2 * attempts * len(self.models)

    def is_judged(self, grade: Grade) -> bool:
        """Return whether a judge gave this grade."""
        return grade.ungraded is None and grade.detail.startswith(_JUDGED_BY)

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        grades = [self._read(graded) for graded in attempts]
        unread = [
            index for index, grade in enumerate(grades) if isinstance(grade, Grade) and grade.ungraded == "unparsed"
        ]
        judged = []
        for model in self.models if unread else ():
            judge = JudgeGrader(self.fallback.judge, model)
            judged.append((yield from judge.grade_item(item, [attempts[index] for index in unread])))
        for index, *judge_grades in zip(unread, *judged, strict=True):
            grades[index] = self._combine(judge_grades)
        return grades

    def _read(self, graded: GradedAttempt) -> Grade:
        answer = graded.attempt.answer
        if answer is None:
            return Grade.none("error", graded.attempt.error or "")
        try:
            return self.fallback.grade.grade(graded.prompt, answer)
        except UngradedError as error:
            return Grade.none(error.reason, str(error))

    def _combine(self, grades: Sequence[Grade]) -> Grade:
        """Return the grade of one answer from those of all judges."""
        names = " and ".join(model.name for model in self.models)
        judged = self.fallback.judged_field
        combined = FieldGrader(judged, (), None).combine(grades)
        if combined.ungraded is not None:
            return combined
        value = combined.value
        texts = [grade.detail for grade in grades if grade.ungraded is None and grade.detail]
        detail = ": ".join([f"{_JUDGED_BY}{names}", *texts[:1]])
        if isinstance(judged, LabelField):
            value = self.fallback.values.get(value, value)
        return (
            Grade.none("unparsed", f"{detail} as {combined.value!r}") if value is None else Grade(value, detail=detail)
        )


def _is_possible(value: object, possible: Sequence[Any]) -> bool:
    """Return whether a grade is one of those that a grader may give, or lies between them."""
    are_numbers = all(type(one) in (int, float) for one in (value, *possible))
    return value in possible or (are_numbers and min(possible) <= value <= max(possible))


def _declared_judge(declaration: GraderDeclaration) -> GraderDeclaration:
    return GraderDeclaration(declaration.grade, declaration.parameters["judge"], find_file=declaration.find_file)
