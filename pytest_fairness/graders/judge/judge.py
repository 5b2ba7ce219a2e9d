"""A judge: a model that grades answers by a rubric; and several of them, whose grades become one."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.declarations import DeclarativeGrader, GraderDeclaration
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.protocols import ItemGrader, Model, ModelQuery
from pytest_fairness.graders.judge.prompt import asked_again, asked_to_judge
from pytest_fairness.graders.judge.reply import JudgeReading, read_reply
from pytest_fairness.graders.judge.rubric import Field, LabelField, NumberField, Rubric, TextField
from pytest_fairness.graders.refusal import nothing_read


@dataclass(frozen=True)
class Judge(DeclarativeGrader):
    """Grader of free answers by a rubric and one model, or several.

    ``models`` are who judges: models, or their names; None for the `judge` fixture, so ``--fairness-judge``.
    ``rubric`` may also be several by name: ``by`` is then the attribute of a prompt (a group, or metadata of the
    prompt or item) that says which. They must have the same fields.

    In a mark, ``grade={"assessment": Judge(rubric)}`` gives the grade ``assessment``, whose value is a dict of all
    fields and whose detail is their texts, and one grade for every number and label under the name of its field.
    Of several judges there is one such dict each, ``assessment by NAME``; a number is then their median, a label what
    more than half of them say, and ungraded where none has so many, or where no more than half of the judges
    could be read. `agreement` says how far they agree.

    A judge sees the prompt and the answer, each in a fence that the text in it cannot close, and nothing of the
    model, the group or the order. A reply that cannot be read for certain (`read_reply`) is asked for once more,
    with what was wrong; after that the answer is ungraded, with the reason. Providers that have structured output
    are given the rubric's schema. Equal answers to one prompt are judged once.

    Raises `FairnessError` for rubrics that do not fit together.
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
        given = declaration.parameters
        return cls(
            Rubric.from_file(declaration.find_file(given)) if isinstance(given, str) else Rubric.from_data(given)
        )

    @classmethod
    def declared_values(cls, declaration: GraderDeclaration) -> Mapping[str, Collection[str] | None]:
        fields = cls.from_declaration(declaration).fields
        return {field.name: field.labels if isinstance(field, LabelField) else None for field in fields}

    def __post_init__(self) -> None:
        if isinstance(self.rubric, Rubric) == (self.by is not None):
            raise FairnessError(f"a Judge has by={self.by!r}: it goes with several rubrics only, {{name: Rubric(...)}}")
        if not self.rubrics or any(rubric.fields != self.fields for rubric in self.rubrics.values()):
            raise FairnessError("the rubrics of a Judge must be one or more, all with the same fields")
        if self.models is not None and (isinstance(self.models, str) or not self.models):
            raise FairnessError(f"the models of a Judge are {self.models!r}: write a list of models or names, or None")

    @property
    def rubrics(self) -> Mapping[str | None, Rubric]:
        """The rubrics by the value of ``by``; a lone one by None."""
        return {None: self.rubric} if isinstance(self.rubric, Rubric) else dict(self.rubric.items())

    @property
    def fields(self) -> Sequence[Field]:
        """The fields of a grade, which all its rubrics share."""
        return next(iter(self.rubrics.values())).fields

    def graders(self, name: str, models: Sequence[Model]) -> dict[str, ItemGrader]:
        """Return the graders that a mark's entry of this name stands for, once it is known who judges.

        Raises `FairnessError` for a judge that is named twice, or a field of the same name.
        """
        if min(len({model.key for model in models}), len({model.name for model in models})) < len(models):
            raise FairnessError(f"the judges of {name!r} are {', '.join(m.name for m in models)}: name each once")
        one = len(models) == 1
        if name in {field.name for field in self.fields}:
            raise FairnessError(f"the judge of {name!r} has a field of that name: rename one")
        judges = {name if one else f"{name} by {model.name}": JudgeGrader(self, model) for model in models}
        panel = {} if one else {name: JudgePanel(self.fields, tuple(judges))}
        graded = [field for field in self.fields if not isinstance(field, TextField)]
        return {**judges, **panel, **{field.name: FieldGrader(field, tuple(judges)) for field in graded}}

    def most_questions(self, attempts: int) -> int:
        """Return the most requests of all its models: one for each attempt, and a second for an unreadable reply."""
        return 2 * attempts * len(self.models or (None,))

    def rubric_for(self, item: ProbeItem, prompt: Prompt) -> Rubric:
        """Return the rubric for a prompt. Raises `FairnessError` for one that names none."""
        if self.by is None:
            return self.rubrics[None]
        name = next((of[self.by] for of in (prompt.groups, prompt.metadata, item.metadata) if self.by in of), None)
        rubric = self.rubrics.get(str(name)) if name is not None else None
        if rubric is None:
            names = ", ".join(map(str, self.rubrics))
            raise FairnessError(f"item {item.id!r} has {self.by} {name!r}: there are rubrics for {names}")
        return rubric

    def unjudged(self, graded: GradedAttempt) -> Grade | None:
        """Return why an answer is not shown to a judge: it is empty, or more in a subclass. None where it is."""
        answer = graded.attempt.answer
        if answer is None:
            return Grade.none("error", graded.attempt.error or "")
        return None if answer.text.strip() else nothing_read(answer, "the answer is empty")

    @property
    def fingerprint(self) -> str:
        """Class with its module, rubrics and version of the reading rules."""
        parts = [f"{name}:{rubric.fingerprint}" for name, rubric in self.rubrics.items()]
        kind = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"{kind}({digest(' '.join(parts))}, by={self.by!r}) v2"


@dataclass(frozen=True)
class JudgeGrader:
    """One judge's grades: each a dict of the rubric's fields, or ungraded with the reason."""

    judge: Judge
    model: Model

    accepts = ("refusal",)
    """A rubric may grade how a question is refused."""

    @property
    def fingerprint(self) -> str | None:
        judge = fingerprint_of(self.judge)
        return judge and f"{judge}, model={self.model.key}"

    @property
    def extremes(self) -> tuple[Any, ...]:
        return _dicts(self.judge.fields)

    def most_questions(self, attempts: int) -> int:
        return 2 * attempts

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        grades = [self.judge.unjudged(graded) for graded in attempts]
        rubrics = [self.judge.rubric_for(item, graded.prompt) for graded in attempts]
        texts = [graded.attempt.answer.text if graded.attempt.answer else "" for graded in attempts]
        first = {
            index: asked_to_judge(rubrics[index], attempts[index].prompt, texts[index])
            for index, grade in enumerate(grades)
            if grade is None
        }
        readings = yield from self._readings(first, rubrics, texts)
        again = {
            index: asked_again(rubrics[index], attempts[index].prompt, texts[index], reading.reply, reading.problems)
            for index, reading in readings.items()
            if reading.problems
        }
        repaired = yield from self._readings(again, rubrics, texts)
        for index, reading in {**readings, **repaired}.items():
            grades[index] = self._explain(reading.grade, " (asked twice)" if index in repaired else "")
        return [grade or Grade.none("error") for grade in grades]

    def _readings(
        self, prompts: Mapping[int, Prompt], rubrics: Sequence[Rubric], texts: Sequence[str]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], dict[int, JudgeReading]]:
        """Yield what the judge replies to these requests, by place."""
        if not prompts:
            return {}
        # Not in the order of the prompts, which is one of groups: a judge with a memory could learn it.
        places = sorted(prompts, key=lambda index: digest(prompts[index].text))
        replies = yield [ModelQuery(prompts[index], self.model) for index in places]
        return {
            index: JudgeReading(Grade.none("error", str(reply.error)))
            if reply.answer is None
            else read_reply(rubrics[index], reply.answer, texts[index])
            for index, reply in zip(places, replies, strict=True)
        }

    def _explain(self, grade: Grade, note: str) -> Grade:
        if grade.ungraded is None:
            return grade
        return Grade.none(grade.ungraded, f"the judge {self.model.name}{note}: {grade.detail}")


@dataclass(frozen=True)
class FieldGrader:
    """One field's value, as the judges' grades come to it."""

    field: NumberField | LabelField
    judges: Sequence[str]
    """The names of their grades."""

    @property
    def fingerprint(self) -> str:
        return f"FieldOf({self.field!r}, {self.judges!r}) v1"

    @property
    def extremes(self) -> tuple[Any, ...]:
        return self.field.extremes

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:  # noqa: ARG002 - the protocol
        return [self._joined([graded.grades[name] for name in self.judges]) for graded in attempts]

    def _joined(self, grades: Sequence[Grade]) -> Grade:
        readable = _readable(grades)
        if isinstance(readable, Grade):
            return readable
        values_of_judges = [values[self.field.name] for values in readable]
        value = self.field.joined(values_of_judges)
        if value is None:
            return Grade.none(
                "unparsed", f"the judges disagree on {self.field.name}: {', '.join(map(str, values_of_judges))}"
            )
        return Grade(value)


@dataclass(frozen=True)
class JudgePanel:
    """All fields' values, as the grades of several judges come to them; ungraded where one field is."""

    fields: Sequence[Field]
    judges: Sequence[str]
    """The names of their grades."""

    @property
    def fingerprint(self) -> str:
        return f"Panel({digest(repr(self.fields))}, {self.judges!r}) v1"

    @property
    def extremes(self) -> tuple[Any, ...]:
        return _dicts(self.fields)

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:  # noqa: ARG002 - the protocol
        return [self._joined([graded.grades[name] for name in self.judges]) for graded in attempts]

    def _joined(self, grades: Sequence[Grade]) -> Grade:
        readable = _readable(grades)
        if isinstance(readable, Grade):
            return readable
        values = {field.name: field.joined([one[field.name] for one in readable]) for field in self.fields}
        torn = [name for name, value in values.items() if value is None]
        if torn:
            return Grade.none("unparsed", f"the judges disagree on {', '.join(torn)}")
        texts = [values[field.name] for field in self.fields if isinstance(field, TextField)]
        return Grade(values, detail=" / ".join(map(str, texts)))


def _readable(grades: Sequence[Grade]) -> list[dict[str, Any]] | Grade:
    """Return the values of the judges that could be read; the first other grade, where these are no more than half."""
    readable = [grade.value for grade in grades if grade.ungraded is None]
    missing = [grade for grade in grades if grade.ungraded is not None]
    return missing[0] if len(missing) >= len(readable) else readable


def _dicts(fields: Sequence[Field]) -> tuple[dict[str, Any], ...]:
    """Return values of all fields together, among which each field has all of its extremes."""
    ends = {field.name: ("",) if isinstance(field, TextField) else field.extremes for field in fields}
    most = max(map(len, ends.values()))
    return tuple({name: of[index % len(of)] for name, of in ends.items()} for index in range(most))
