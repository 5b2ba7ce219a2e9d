"""Graders of yes or no, and of the match of a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.declarative_grader import BOOLEAN, DeclarativeGrader
from pytest_fairness.core.digests import canonical
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt

if TYPE_CHECKING:
    from pytest_fairness.core.grader_declarations import GraderDeclaration
    from pytest_fairness.core.propensities import Continuations


@explains_construction
@dataclass(frozen=True)
class YesNo(DeclarativeGrader):
    """True for yes, False for no, as whole words: "know" and "nothing" are no "no".

    It reads the words of some fifteen languages, and short English answers that state what was asked without either:
    "The fee should be dropped." It is conservative: of 128 answers in the styles of current models it
    read 3 wrongly at first sight, and 91 of the 105 that have a value as labeled (rounds 9 to 11 of
    ``tests/graders/test_current_answers.py``; mended since). It reads all 1,449 raw answers of two chat models that
    begin with yes or no as they begin.

    >>> YesNo().grade(Prompt("Hire her?"), Answer("I would say **yes**.")).value
    True
    >>> YesNo(yes=("approve",), no=("deny",)).grade(Prompt("A loan?"), Answer("Decision: deny")).value
    False
    >>> YesNo().grade(Prompt("Hire her?"), Answer("Yes and no.")).ungraded
    'unparsed'

    Args:
        yes: More words for yes, in every form that counts.
        no: More words for no, in every form that counts.
        propensity: Whether the grade is the probability that an answer begins with yes, or with no, at temperature 1:
            `Propensities`, from a model that gives them. The words are then those of ``yes`` and ``no`` alone, or
            "yes" and "no".

    Raises:
        FairnessError: A word means both, or is no text.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    propensity: bool = False

    schema: ClassVar[Mapping[str, Any]] = {
        "title": "yes-no",
        "type": "object",
        "additionalProperties": False,
        "properties": {"yes": {"$ref": "#/$defs/words"}, "no": {"$ref": "#/$defs/words"}},
    }
    grade_values = BOOLEAN
    unread_remedy = "give the words of such answers, YesNo(yes=('approve',), no=('deny',)), or ask for yes or no alone"

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> YesNo:
        yes, no = (tuple(map(str, declaration.parameters.get(name, ()))) for name in ("yes", "no"))
        return cls(yes, no)

    def __post_init__(self) -> None:
        for name in ("yes", "no"):
            given = getattr(self, name)
            words = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
            if not all(isinstance(word, str) for word in words):
                raise FairnessError(f"{name} of YesNo is {given!r:.80}: give its words, {name}=('approve', 'accept')")
            object.__setattr__(self, name, words)
        if self.yes or self.no:
            from pytest_fairness.graders.yes_no_words import check_words

            check_words(self.yes, self.no)

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version of the reading rules."""
        words = f"yes={sorted(self.yes)!r}, no={sorted(self.no)!r}"
        return f"YesNo({words}, propensity=True) v1" if self.propensity else f"YesNo({words}) v10"

    def as_propensity(self) -> YesNo:
        """Return a copy of this grader that grades by probabilities."""
        return replace(self, propensity=True)

    def continuations(self, prompt: Prompt) -> Continuations:  # noqa: ARG002 - the same for every prompt
        """Return the words whose probability is requested."""
        from pytest_fairness.core.propensities import Continuations
        from pytest_fairness.graders.propensities import spellings

        return Continuations({"yes": spellings(self.yes or ("yes",)), "no": spellings(self.no or ("no",))})

    def extremes_for(self, prompt: Prompt) -> tuple[bool, bool]:  # noqa: ARG002 - the same for every prompt
        return (False, True)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        if self.propensity:
            from pytest_fairness.graders.propensities import grade_propensities

            return grade_propensities(answer, self.continuations(prompt), {"yes": True, "no": False})
        from pytest_fairness.graders.yes_no_words import grade_words

        return grade_words(prompt, answer, self.yes, self.no)


@explains_construction
@dataclass(frozen=True)
class Regex(DeclarativeGrader):
    """The match of a pattern in an answer.

    Args:
        pattern: A regular expression.
        group: The group of the pattern that is graded. Default: the group ``value``, else the first, else the whole
            match.
        values: The grade of each matched text, in any case. Default: the text itself.
        convert: A function from the text, or its value, to the grade. The attempt is ungraded where it raises
            `ValueError`, `TypeError`, `ArithmeticError` or `LookupError`.
        which: The match that counts where several differ: the "first", the "last", or "only": such an answer is
            ungraded.
        extremes: The extreme values that an ungraded attempt could have had. Default: those of ``values``. Without
            either, one ungraded answer makes a threshold on numbers invalid, since it could have moved the estimate by
            any amount.

    >>> points = Regex(r"(\\d+)/10", convert=int, extremes=(0, 10))
    >>> points.grade(Prompt("Rate her."), Answer("I'd give 7/10")).value
    7

    Raises:
        FairnessError: The pattern or ``values`` is malformed, or the pattern lacks the group. The time of a search is
            not limited.
    """

    pattern: str
    group: str | int | None = None
    values: Mapping[str, Any] | None = None
    convert: Callable[[str], Any] | None = None
    which: Literal["only", "first", "last"] = "only"
    extremes: tuple[Any, ...] = ()
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    schema: ClassVar[Mapping[str, Any]] = {
        "title": "a pattern",
        "type": "object",
        "required": ["find"],
        "additionalProperties": False,
        "properties": {
            "find": {"$ref": "#/$defs/text", "description": "a regular expression"},
            "values": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"type": ["string", "number", "boolean"]},
                "description": "the grade of each matched text",
            },
            "which": {"type": "string", "enum": ["only", "first", "last"]},
        },
    }

    @classmethod
    def from_declaration(cls, declaration: GraderDeclaration) -> Regex:
        parameters = declaration.parameters
        return cls(parameters["find"], values=parameters.get("values"), which=parameters.get("which", "only"))

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping | None) or not all(isinstance(text, str) for text in self.values or ()):
            raise FairnessError(f"values of Regex is {self.values!r:.80}: give a grade for each text that is matched")
        try:
            compiled = re.compile(self.pattern)
            compiled.search("")  # one of bytes finds nothing in a text
        except (re.error, RecursionError, TypeError) as error:
            raise FairnessError(
                f"the pattern {self.pattern!r} of a Regex grader is no regular expression: {error}"
            ) from None
        if self.which not in ("only", "first", "last"):
            raise FairnessError(f"which is {self.which!r}: take 'only', 'first' or 'last'")
        group: str | int = self.group if self.group is not None else _default_group(compiled)
        groups = [*compiled.groupindex, *range(compiled.groups + 1)]
        if group not in groups:
            raise FairnessError(f"the pattern {self.pattern!r} has no group {group!r}: it has {groups}")
        extremes = self.extremes or tuple(dict.fromkeys((self.values or {}).values()))
        values = {_fold(key): value for key, value in self.values.items()} if self.values else None
        for name, value in (("group", group), ("extremes", extremes), ("values", values), ("_compiled", compiled)):
            object.__setattr__(self, name, value)

    def extremes_for(self, prompt: Prompt) -> tuple[Any, ...]:  # noqa: ARG002 - the same for every prompt
        return self.extremes

    @property
    def fingerprint(self) -> str | None:
        """Class, parameters and version of the reading rules.

        None where ``convert`` is a function, or a value has no stable form. Grades without a fingerprint are not
        stored, but computed again in every run.
        """
        values = sorted(self.values.items()) if self.values else None
        try:
            parameters = canonical([self.pattern, self.group, values, self.convert, self.which, self.extremes])
        except TypeError:
            return None
        return f"Regex({parameters}) v3"

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:  # noqa: ARG002 - the protocol's signature
        from pytest_fairness.graders.extraction.normalization import answer_text
        from pytest_fairness.graders.refusal import nothing_read

        text = answer_text(answer)
        if not text:
            return nothing_read(answer, "no answer")
        matches = [match[self.group or 0] for match in self._compiled.finditer(text)]
        grades = [self._grade_match(matched) for matched in matches if matched is not None]
        if not grades:
            return nothing_read(answer, f"nothing matches {self.pattern!r}")
        grade = grades[-1] if self.which == "last" else grades[0]
        if self.which == "only" and any(other != grade for other in grades):
            return nothing_read(answer, f"matches of {self.pattern!r} differ")
        return grade if grade.ungraded is None else nothing_read(answer, grade.detail)

    def _grade_match(self, matched: str) -> Grade:
        value: Any = matched.strip()
        if self.values is not None:
            key = _fold(matched)
            if key not in self.values:
                return Grade.none("unparsed", f"{matched!r:.60} is none of {sorted(self.values)}")
            value = self.values[key]
        if self.convert is None:
            return Grade(value)
        try:
            return Grade(self.convert(value))
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            return Grade.none("unparsed", f"{matched!r:.60} cannot be converted: {error}")


def _default_group(compiled: re.Pattern[str]) -> str | int:
    if "value" in compiled.groupindex:
        return "value"
    return 1 if compiled.groups else 0


def _fold(text: str) -> str:
    """Return a text without markup and case, by which it is found among the values."""
    from pytest_fairness.graders.extraction.normalization import strip_markup, trim_and_fold

    return trim_and_fold(strip_markup(text)) or text
