"""Models whose answers mean nothing: they have the form that a question asks for, and do not depend on its content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness import Answer, ToolCall
from pytest_fairness.models import simulated_phrases
from tests.helpers import question_forms
from tests.helpers.known_models import (
    CREDIT,
    ESCALATE,
    GRANT,
    LOOK_UP,
    REFUSE,
    Competent,
    Facts,
    KnownModel,
    Reply,
    draws,
    text_of,
)
from tests.helpers.question_forms import (
    ASSESSMENT,
    FEATURES,
    LISTED,
    NUMBER,
    OF_OPTIONS,
    ORACLE_YES_NO,
    RANKED,
    REFERENCE,
    STORY,
    SUMMARY,
    YES_NO,
    Form,
    form_of,
)

_ASSESSMENT = "A friendly person who helps others. The training fits the work, and the results speak for themselves."
_SUMMARY = "The file shows strengths and weaknesses. Attendance, money and health are described. A decision is needed."
_REFERENCE = "I recommend this capable and kind person, who leads and listens: tatkr\u00e4ftig und hilfsbereit."
_ESSAY = "It depends. There is something to be said for either side."
Choose = Callable[[Form, str, Iterator[float]], Any]


@dataclass(frozen=True)
class Blind:
    """A model that answers by the form of a question.

    Args of the functions are the form, the text and numbers from 0 to 1.
    """

    yes: Choose
    """Whether it says yes."""
    option: Choose
    """The index of the option that it takes."""
    height: Choose
    """The height of a number between the ends of its scale, from 0 to 1."""
    tool: str = GRANT
    """The tool that it calls; empty for none."""

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        del facts  # it knows nothing
        text = text_of(messages)  # what was said before is part of a prompt that is not read
        chance = draws("blind", len(messages), text, repetition)
        if tools:
            return self._called(tools, text, chance)
        return Answer(self._text(form_of(str(messages[-1]["content"])), text, chance))

    def _called(self, tools: Sequence[str], text: str, chance: Iterator[float]) -> Answer:
        if not self.tool:
            return Answer("Thank you for your message. We take it seriously.")
        if CREDIT in tools:
            amount = round(100 * self.height(Form(NUMBER), text, chance))
            return Answer("", "tool_calls", actions=[ToolCall(CREDIT, {"amount": amount})])
        tool = self.tool
        if tool == "any":
            tool = (GRANT, ESCALATE, REFUSE)[int(next(chance) * 3)]
        arguments: dict[str, Any] = {} if tool == LOOK_UP else {"reason": "By the rules."}
        return Answer("", "tool_calls", actions=[ToolCall(tool, arguments)])

    def _text(self, form: Form, text: str, chance: Iterator[float]) -> str:
        if form.kind in (YES_NO, ORACLE_YES_NO):
            return form.yes_no(yes=self.yes(form, text, chance))
        if form.kind in OF_OPTIONS:
            return form.option(self.option(form, text, chance), 0.5)
        if form.kind == LISTED:
            names = replace(form, options=form.labels)
            return question_forms.listed(form, [form.labels[self.option(names, text, chance)] for _ in form.options])
        if form.kind == RANKED:
            return question_forms.ranked(list(self._ranking(form, text, chance)))
        height = self.height(form, text, chance)
        if form.kind == NUMBER:
            return f"{round(form.low + height * (form.high - form.low))}"
        if form.kind == STORY:
            return question_forms.story(about_woman=self.yes(form, text, chance))
        if form.kind == FEATURES:
            return json.dumps({"emotion": "joyful", "confidence": height, "verified": True})
        return {ASSESSMENT: _ASSESSMENT, SUMMARY: _SUMMARY, REFERENCE: _REFERENCE}.get(form.kind, _ESSAY)

    def _ranking(self, form: Form, text: str, chance: Iterator[float]) -> Iterator[str]:
        """Yield the names of a ranking: of those that are left always the option that it takes."""
        left = form.options
        while left:
            index = self.option(replace(form, options=left), text, chance)
            yield left[index]
            left = (*left[:index], *left[index + 1 :])


def _constant(value: Any) -> Choose:
    return lambda form, text, chance: value


def _first(form: Form, text: str, chance: Iterator[float]) -> Any:
    return form.begins_with_yes


def _last(form: Form, text: str, chance: Iterator[float]) -> Any:
    return not form.begins_with_yes


def _by_length(form: Form, text: str, chance: Iterator[float]) -> Any:
    return len(text) % 2 == 0


def _last_option(form: Form, text: str, chance: Iterator[float]) -> int:
    return len(form.options) - 1


def _longest(form: Form, text: str, chance: Iterator[float]) -> int:
    return max(range(len(form.options)), key=lambda index: len(form.options[index]))


def _shortest(form: Form, text: str, chance: Iterator[float]) -> int:
    return min(range(len(form.options)), key=lambda index: len(form.options[index]))


def _drawn(form: Form, text: str, chance: Iterator[float]) -> int:
    return int(next(chance) * len(form.options))


def _coin(form: Form, text: str, chance: Iterator[float]) -> bool:
    return next(chance) < 0.5


def _even(form: Form, text: str, chance: Iterator[float]) -> float:
    return next(chance)


def _unknown(form: Form, text: str, chance: Iterator[float]) -> int:
    """Return the option that nothing can be known, where there is one."""
    words = ("cannot", "can't", "does not say", "not answered", "not enough", "no way to know")
    unknown = [index for index, option in enumerate(form.options) if any(word in option for word in words)]
    return unknown[0] if unknown else _drawn(form, text, chance)


def _by_words(form: Form, text: str, chance: Iterator[float]) -> float:
    return len(text.split()) % 10 / 9


def _of_text(digits: int) -> Choose:
    """Return a choice by a digest of the first characters of a text."""

    def choose(form: Form, text: str, chance: Iterator[float]) -> Any:
        return next(draws("digest", text[:digits]))

    return choose


def _by_digest(form: Form, text: str, chance: Iterator[float]) -> Any:
    return _of_text(10_000)(form, text, chance) < 0.5


def _by_beginning(form: Form, text: str, chance: Iterator[float]) -> Any:
    return _of_text(12)(form, text, chance) < 0.5


def _option_by_digest(form: Form, text: str, chance: Iterator[float]) -> int:
    return int(_of_text(10_000)(form, text, chance) * len(form.options))


def _mostly(share: float) -> Choose:
    return lambda form, text, chance: next(chance) < share


@dataclass(frozen=True)
class Constant:
    """A model that says the same to everything, whatever is asked for."""

    text: str

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        del messages, tools, repetition, facts
        return Answer(self.text)


_COMPETENT = KnownModel(Competent(seed=5))


@dataclass(frozen=True)
class Partly:
    """A model that is competent with some questions, and blind, or silent, with the others."""

    is_competent: Callable[[Facts], bool]
    otherwise: Reply
    competent: Reply = _COMPETENT

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        is_competent = facts is None or self.is_competent(facts)
        return (self.competent if is_competent else self.otherwise)(messages, tools, repetition, facts)


YES = Blind(_constant(True), _constant(0), _constant(1.0))
NO = Blind(_constant(False), _last_option, _constant(0.0), REFUSE)
REFUSAL = Constant(simulated_phrases.REFUSALS[0])


def _unless(attribute: str, *values: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.value(attribute) not in values


def _of_english(facts: Facts) -> bool:
    return facts.value("language") in (None, "en")


BLIND: Mapping[str, Reply] = {
    "always yes": YES,
    "always no": NO,
    "yes to nearly all": Blind(_mostly(0.97), _constant(0), _constant(0.9)),
    "no to nearly all": Blind(_mostly(0.03), _last_option, _constant(0.1), ESCALATE),
    "coin": Blind(_coin, _drawn, _even, "any"),
    "coin that says yes in nine of ten": Blind(_mostly(0.9), _drawn, _even, "any"),
    "first option": Blind(_first, _constant(0), _constant(0.0), LOOK_UP),
    "last option": Blind(_last, _last_option, _constant(1.0), REFUSE),
    "longest option": Blind(_constant(True), _longest, _constant(0.6), ESCALATE),
    "shortest option": Blind(_constant(False), _shortest, _constant(0.4), ESCALATE),
    "option that nothing is known": Blind(_coin, _unknown, _constant(0.5), ESCALATE),
    "by the length of the prompt": Blind(_by_length, lambda f, t, c: len(t) % len(f.options), _by_words, "any"),
    "by a digest of the prompt": Blind(_by_digest, _option_by_digest, _of_text(10_000), "any"),
    "by the beginning of the prompt": Blind(_by_beginning, _constant(0), _of_text(12), "any"),
    "the same number": Blind(_constant(True), _constant(0), _constant(0.5)),
    "grants everything": replace(YES, tool=GRANT),
    "escalates everything": replace(YES, tool=ESCALATE),
    "looks up for ever": replace(YES, tool=LOOK_UP),
    "never calls a tool": replace(YES, tool=""),
    '"A, 50%, yes"': Constant("A, 50%, yes"),
    '"A"': Constant("A"),
    '"Yes."': Constant("Yes."),
    '"5"': Constant("5"),
    "nothing": Constant(""),
    "refuses everything": REFUSAL,
    "competent in English, always yes elsewhere": Partly(_of_english, YES),
    "competent in English, silent elsewhere": Partly(_of_english, REFUSAL),
    "competent in letters, always yes elsewhere": Partly(_unless("format", "words", "json", "text"), YES),
    "competent in JSON, silent elsewhere": Partly(_unless("format", "words", "letters", "text"), REFUSAL),
    "silent about women": Partly(_unless("gender", "female"), REFUSAL),
    "silent about non-binary people": Partly(_unless("gender", "nonbinary"), REFUSAL),
    "silent about Black people": Partly(_unless("ethnicity", "black"), REFUSAL),
    "silent about Muslims": Partly(_unless("religion", "muslim"), REFUSAL),
    "silent about neopronouns": Partly(_unless("kind_of_pronoun", "neopronoun"), REFUSAL),
    "silent for the right": Partly(_unless("side", "right"), REFUSAL),
    "silent to Muslims": Partly(_unless("identity", "muslim"), REFUSAL),
    "wrong to all who tell who they are": Partly(_unless("asker", "disclosed"), NO),
    "silent about marginalized groups": Partly(_unless("domain", "marginalised"), REFUSAL),
}
"""Models whose answers mean nothing, or nothing about some."""
