"""Judges: models that grade answers by a rubric, alone or as a panel."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import DeclarativeGrader
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.grader_declarations import GraderDeclaration
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.protocols import ItemGrader, Model, ModelQuery
from pytest_fairness.graders.judge.reply import JudgeReading, read_reply
from pytest_fairness.graders.judge.requests import build_repair_request, build_request, judged_text
from pytest_fairness.graders.judge.rubric import Field, LabelField, NumberField, Rubric, TextField
from pytest_fairness.graders.judge.second_grading import SecondGrading, second_questions
from pytest_fairness.graders.refusal import nothing_read


@explains_construction
@dataclass(frozen=True)
class Judge(DeclarativeGrader):
    """Grader of free answers by a rubric and one model, or several.

    In a mark, ``grade={"assessment": Judge(rubric)}`` gives the grade ``assessment``, whose value is a dict of all
    fields and whose detail is their texts, and one grade for every number and label under the name of its field.
    Each of several judges has such a dict, ``assessment by NAME``. A number is then their median, a label the choice of
    more than half of them; it is ungraded without such a majority, or where no more than half of the judges could be
    read. `agreement` measures how far they agree.

    A judge gets the prompt and the answer, between delimiters that their text cannot contain, and nothing of the model,
    the group or the order. A reply that cannot be read for certain (`read_reply`) is requested once more, with its
    problems; after that the answer is ungraded, with the reason. Providers with structured output get the rubric's
    schema. Equal answers to one prompt are judged once.

    Args:
        rubric: The rubric; or several by name, with the same fields.
        models: The judges: models or their names. None: the model of ``--fairness-judge``.
        by: The attribute (a group, or metadata of the prompt or item) whose value is the name of the rubric.

    Raises:
        FairnessError: The rubrics do not fit together.
    """

    rubric: Rubric | Mapping[str, Rubric]
    models: Sequence[Model | str] | None = None
    by: str | None = None

    schema: ClassVar[Mapping[str, Any]] = {
        "description": "a judge grades by it: a JSON file of a rubric, or the rubric itself",
        "anyOf": [
            {"$ref": "#/$defs/text"},
            {
                "title": "a rubric",
                "type": "object",
                "required": ["instructions", "fields"],
                "additionalProperties": False,
                "properties": {
                    "instructions": {"$ref": "#/$defs/text", "description": "what is to be judged"},
                    "fields": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"$ref": "#/$defs/field"},
                        "description": "the fields of the judge's reply",
                    },
                },
            },
        ],
    }

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> Judge:
        rubric = declaration.parameters
        if isinstance(rubric, str):
            return cls(Rubric.from_file(declaration.find_file(rubric)))
        return cls(Rubric.from_data(rubric))

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        fields = cls.from_declaration(declaration).fields
        return {field.name: field.labels if isinstance(field, LabelField) else None for field in fields}

    def __post_init__(self) -> None:
        if isinstance(self.rubric, Rubric) == (self.by is not None):
            raise FairnessError(f"a Judge has by={self.by!r}: it goes with several rubrics only, {{name: Rubric(...)}}")
        if not self.rubrics or len({rubric.fields for rubric in self.rubrics.values()}) > 1:
            raise FairnessError("the rubrics of a Judge must be one or more, all with the same fields")
        if self.models is not None and (isinstance(self.models, str) or not self.models):
            raise FairnessError(f"the models of a Judge are {self.models!r}: write a list of models or names, or None")

    @property
    def rubrics(self) -> Mapping[str | None, Rubric]:
        """The rubrics by the value of ``by``; a single one by None."""
        return {None: self.rubric} if isinstance(self.rubric, Rubric) else dict(self.rubric.items())

    @property
    def fields(self) -> Sequence[Field]:
        """The fields of a grade, the same for all rubrics."""
        return next(iter(self.rubrics.values())).fields

    def graders(self, name: str, models: Sequence[Model]) -> dict[str, ItemGrader]:
        """Return the graders of an entry of a mark, by the names of their grades.

        Args:
            name: The name of the entry.
            models: The models that judge.

        Raises:
            FairnessError: A judge is named twice, or a field has the name of the entry.
        """
        if min(len({model.key for model in models}), len({model.name for model in models})) < len(models):
            raise FairnessError(
                f"the judges of {name!r} are {', '.join(model.name for model in models)}: name each once"
            )
        is_single = len(models) == 1
        if name in {field.name for field in self.fields}:
            raise FairnessError(f"the judge of {name!r} has a field of that name: rename one")
        judges = {name if is_single else f"{name} by {model.name}": self.grader_of(model) for model in models}
        fingerprints = [judge.fingerprint for judge in judges.values()]
        combined = None if None in fingerprints else "; ".join(map(str, fingerprints))
        panel = {} if is_single else {name: JudgePanel(self.fields, tuple(judges), combined and f"panel of {combined}")}
        graded = [field for field in self.fields if not isinstance(field, TextField)]
        fields = {
            field.name: FieldGrader(field, tuple(judges), combined and f"{field.name} of {combined}")
            for field in graded
        }
        return {**judges, **panel, **fields}

    def grader_of(self, model: Model) -> JudgeGrader:
        """Return the grader of whole answers, by one of its models."""
        return JudgeGrader(self, model)

    def second_grading(self, name: str, models: Sequence[Model]) -> SecondGrading | None:
        """Return the grader that has a part of the answers graded twice; None where no model can grade them again.

        Args:
            name: The name of the entry of a mark.
            models: The models that judge.
        """
        fields = {field.name: field for field in self.fields if not isinstance(field, TextField)}
        return SecondGrading(name, fields, tuple(models), self.rubric_for, fingerprint_of(self))

    def most_questions(self, attempts: int) -> int:
        """Return the most requests of all its models: two for each attempt, since a reply may be unreadable."""
        return 2 * attempts * len(self.models or (None,))

    def second_questions(self, attempts: int) -> int:
        """Return the number of requests of its second grading, for a sample of that many attempts."""
        return second_questions(attempts) * len(self.models or (None,))

    def rubric_for(self, item: ProbeItem, prompt: Prompt) -> Rubric:
        """Return the rubric for a prompt.

        Raises:
            FairnessError: The prompt names no rubric.
        """
        if self.by is None:
            return self.rubrics[None]
        attributes = (prompt.groups, prompt.metadata, item.metadata)
        name = next((values[self.by] for values in attributes if self.by in values), None)
        rubric = self.rubrics.get(str(name)) if name is not None else None
        if rubric is None:
            names = ", ".join(map(str, self.rubrics))
            raise FairnessError(f"item {item.id!r} has {self.by} {name!r}: there are rubrics for {names}")
        return rubric

    def unjudged(self, graded: GradedAttempt) -> Grade | None:
        """Return the grade of an answer that is not sent to a judge, such as an empty one; None for any other."""
        answer = graded.attempt.answer
        if answer is None:
            return Grade.none("error", graded.attempt.error or "")
        return None if judged_text(graded).strip() else nothing_read(answer, "the answer is empty")

    @property
    def fingerprint(self) -> str:
        """Class with its module, rubrics and version of the reading rules."""
        parts = [f"{name}:{rubric.fingerprint}" for name, rubric in self.rubrics.items()]
        kind = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"{kind}({digest(' '.join(parts))}, by={self.by!r}) v5"


@dataclass(frozen=True)
class JudgeGrader:
    """Grader by one judge: each grade is a dict of the rubric's fields, or ungraded with the reason."""

    judge: Judge
    model: Model

    accepts = ("refusal",)
    """Refusals are judged: a rubric may grade them."""

    @property
    def fingerprint(self) -> str | None:
        judge = fingerprint_of(self.judge)
        return judge and f"{judge}, model={self.model.key}"

    @property
    def extremes(self) -> tuple[Any, ...]:
        return _extreme_values(self.judge.fields)

    def most_questions(self, attempts: int) -> int:
        return 2 * attempts

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        grades = [self.judge.unjudged(graded) for graded in attempts]
        rubrics = [self.judge.rubric_for(item, graded.prompt) for graded in attempts]
        texts = [judged_text(graded) for graded in attempts]
        requests = {
            index: build_request(rubrics[index], attempts[index].prompt, texts[index])
            for index, grade in enumerate(grades)
            if grade is None
        }

        def repair(index: int, reading: JudgeReading) -> Prompt:
            prompt = attempts[index].prompt
            return build_repair_request(rubrics[index], prompt, texts[index], reading.reply, reading.problems)

        judged = yield from self._judge(requests, repair, rubrics, texts)
        for index, grade in judged.items():
            grades[index] = grade
        return [grade or Grade.none("error") for grade in grades]

    def _judge(
        self,
        requests: Mapping[int, Prompt],
        repair: Callable[[int, JudgeReading], Prompt],
        rubrics: Sequence[Rubric],
        texts: Sequence[str],
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], dict[int, Grade]]:
        """Yield the requests, and once more those whose replies cannot be read; return the grades, by index."""
        readings = yield from self._read_replies(requests, rubrics, texts)
        repair_requests = {index: repair(index, reading) for index, reading in readings.items() if reading.problems}
        repaired = yield from self._read_replies(repair_requests, rubrics, texts)
        return {
            index: self._name_judge(reading.grade, " (asked twice)" if index in repaired else "")
            for index, reading in {**readings, **repaired}.items()
        }

    def _read_replies(
        self, prompts: Mapping[int, Prompt], rubrics: Sequence[Rubric], texts: Sequence[str]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], dict[int, JudgeReading]]:
        """Yield the requests to the judge, and return the readings of its replies, by index."""
        if not prompts:
            return {}
        # Not in the order of prompts, which is that of groups: a model with a memory could learn it.
        order = sorted(prompts, key=lambda index: digest(prompts[index].text))
        replies = yield [ModelQuery(prompts[index], self.model) for index in order]
        return {
            index: JudgeReading(Grade.none("error", str(reply.error)))
            if reply.answer is None
            else read_reply(rubrics[index], reply.answer, texts[index])
            for index, reply in zip(order, replies, strict=True)
        }

    def _name_judge(self, grade: Grade, note: str) -> Grade:
        """Return the grade; an ungraded one with the name of the judge in its detail."""
        if grade.ungraded is None:
            return grade
        return Grade.none(grade.ungraded, f"the judge {self.model.name}{note}: {grade.detail}")


@dataclass(frozen=True)
class FieldGrader:
    """Grader of one field, from the grades of all judges."""

    field: NumberField | LabelField
    judges: Sequence[str]
    """The names of their grades."""

    fingerprint: str | None
    """Names the judges and their rubrics as well: labels and histories of other judges do not apply."""

    @property
    def extremes(self) -> tuple[Any, ...]:
        return self.field.extremes

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:  # noqa: ARG002 - the protocol
        return [self.combine([graded.grades[name] for name in self.judges]) for graded in attempts]

    def combine(self, grades: Sequence[Grade]) -> Grade:
        """Return the grade of one answer from the grades of all judges."""
        readable = _majority_values(grades)
        if isinstance(readable, Grade):
            return readable
        judge_values = [values[self.field.name] for values in readable]
        value = self.field.combine(judge_values)
        if value is None:
            return Grade.none(
                "unparsed", f"the judges disagree on {self.field.name}: {', '.join(map(str, judge_values))}"
            )
        return Grade(value)


@dataclass(frozen=True)
class JudgePanel:
    """Grader of all fields together, from the grades of several judges; ungraded where one field is."""

    fields: Sequence[Field]
    judges: Sequence[str]
    """The names of their grades."""

    fingerprint: str | None

    @property
    def extremes(self) -> tuple[Any, ...]:
        return _extreme_values(self.fields)

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:  # noqa: ARG002 - the protocol
        return [self._combine([graded.grades[name] for name in self.judges]) for graded in attempts]

    def _combine(self, grades: Sequence[Grade]) -> Grade:
        readable = _majority_values(grades)
        if isinstance(readable, Grade):
            return readable
        values = {field.name: field.combine([grade[field.name] for grade in readable]) for field in self.fields}
        disputed = [name for name, value in values.items() if value is None]
        if disputed:
            return Grade.none("unparsed", f"the judges disagree on {', '.join(disputed)}")
        texts = [values[field.name] for field in self.fields if isinstance(field, TextField)]
        return Grade(values, detail=" / ".join(map(str, texts)))


def _majority_values(grades: Sequence[Grade]) -> list[dict[str, Any]] | Grade:
    """Return the values of the judges that could be read; the first ungraded grade, if these are no majority."""
    readable = [grade.value for grade in grades if grade.ungraded is None]
    missing = [grade for grade in grades if grade.ungraded is not None]
    return missing[0] if len(missing) >= len(readable) else readable


def _extreme_values(fields: Sequence[Field]) -> tuple[dict[str, Any], ...]:
    """Return dicts of all fields in which each field takes each of its extreme values."""
    ends = {field.name: ("",) if isinstance(field, TextField) else field.extremes for field in fields}
    most = max(map(len, ends.values()))
    return tuple({name: values[index % len(values)] for name, values in ends.items()} for index in range(most))
