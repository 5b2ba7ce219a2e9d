"""Models of shipped suites whose behavior is known: competent ones, ones that harm a group, ones that never read.

A model answers texts in the form that they ask for (`question_forms`). What it knows of a question besides, its groups
and how strong its case is, it looks up by the text, as the marks and the metadata of the suites have it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness import Answer, AnswerOptions, ProbeItem, Prompt, ToolCall
from pytest_fairness.core.controls import Control
from pytest_fairness.graders import read_anchors
from pytest_fairness.models import simulated_phrases
from tests.helpers import question_forms
from tests.helpers.question_forms import (
    ADVICE,
    ASSESSMENT,
    EMOTION,
    FEATURES,
    LISTED,
    NUMBER,
    OF_OPTIONS,
    ORACLE_CHOICE,
    ORACLE_YES_NO,
    RANKED,
    REASONED,
    REFERENCE,
    STORY,
    SUMMARY,
    YES_NO,
    Form,
)

LEVELS: Mapping[str, int] = {"strong": 1, "serious": 1, "weak": -1, "mild": -1, "trivial": -1}
"""The level of a case whose probe declares no control."""
_STEREOTYPE = frozenset({"stereotyped", "other", "unknown"})
GRANT, ESCALATE, REFUSE, LOOK_UP, PROOF, CREDIT = (
    *("grant", "escalate", "refuse"),
    *("look_up_record", "request_proof", "book_credit"),
)


def draws(*key: object) -> Iterator[float]:
    """Yield numbers from 0 to 1 that a key decides.

    >>> next(draws("a", 1)) == next(draws("a", 1))
    True
    """
    number = 0
    while True:
        block = hashlib.sha256(repr((*key, number)).encode()).digest()
        yield from (int.from_bytes(block[at : at + 8], "big") / 2**64 for at in range(0, 32, 8))
        number += 1


@dataclass(frozen=True)
class Facts:
    """Facts of one question."""

    study: str
    """The suite and the probe: ``hiring/application``."""
    item: ProbeItem
    prompt: Prompt
    controls: tuple[Control, ...] = ()

    def value(self, attribute: str) -> str | None:
        """Return the value of an attribute of the prompt or its item; None where it has none."""
        for attributes in (self.prompt.groups, self.prompt.metadata, self.item.metadata):
            if attribute in attributes:
                return str(attributes[attribute])
        return None

    @property
    def options(self) -> tuple[str, ...]:
        """The values of the options, in the order in which they are shown."""
        options = self.prompt.metadata.get("options")
        return tuple(options.values) if isinstance(options, AnswerOptions) else ()

    @property
    def people(self) -> Sequence[Mapping[str, str]]:
        """The people of a ranking, in the order in which they are shown."""
        people: Sequence[Mapping[str, str]] = self.prompt.metadata.get("people", ())
        return people

    @property
    def level(self) -> int:
        """Whether the case is a strong one (1), a weak one (-1) or neither."""
        # The first control of an attribute is that of what is decided.
        for control in {control.by: control for control in reversed(self.controls)}.values():
            value = self.value(control.by)
            if value in (control.of, control.to):
                return 1 if value == control.of else -1
        return 0 if self.controls else LEVELS.get(str(self.item.metadata.get("case")), 0)

    @property
    def wanted(self) -> str | None:
        """The option that the control, or a label, makes the right one; None where none is."""
        if "label" in self.prompt.metadata and (self.study != "gender/emotion" or self.value("reading")):
            return self.value("label")
        for control in self.controls:
            value = self.value(control.by)
            if value in (control.of, control.to) and value in self.options:
                return value
        return None


@dataclass(frozen=True)
class Harm:
    """Harm to a group: a share of the answers to questions about them is unfavorable."""

    attributes: Mapping[str, str]
    """The attributes that a question must have; a group may also be one of its options."""
    share: float = 0.5
    """The share of answers that are unfavorable, whatever the case: one half halves the favorable ones."""

    @property
    def name(self) -> str:
        return ", ".join(f"{by}={value}" for by, value in self.attributes.items())

    def concerns(self, facts: Facts) -> bool:
        """Return whether a question is about those who are harmed."""
        if facts.people:
            return any(self.is_about(person, facts) for person in facts.people)
        return all(
            facts.value(by) == value or (facts.value(by) is None and value in facts.options)
            for by, value in self.attributes.items()
        )

    def is_about(self, person: Mapping[str, str], facts: Facts) -> bool:
        """Return whether a person in a ranking is one of those who are harmed."""
        return all(person.get(by, facts.value(by)) == value for by, value in self.attributes.items())

    def options_of(self, facts: Facts) -> Sequence[str]:
        """Return the options of a question that stand for those who are harmed."""
        return [value for by, value in self.attributes.items() if facts.value(by) is None and value in facts.options]


@dataclass(frozen=True)
class Competent:
    """A model that follows the case of a question, and harms those whom ``harms`` name."""

    seed: int = 0
    base: float = 0.6
    """The share of favorable answers to cases that are neither strong nor weak."""
    accuracy: float = 0.9
    """The share of right answers where an option is right."""
    follows: float = 2.2
    """The logits by which a strong case is above that, and a weak one below."""
    habit: float = 0.0
    """The share of answers that are whatever stands first."""
    unreadable: float = 0.0
    """The share of answers that no grader reads."""
    harms: tuple[Harm, ...] = ()

    def value(self, facts: Facts, form: Form, chance: Iterator[float]) -> Any:
        """Return what is answered: true or false, the index of an option, a number; None for an unreadable answer."""
        unreadable, habitual, harmed = (next(chance) for _ in range(3))
        if unreadable < self.unreadable:
            return None
        is_harmed = any(harm.concerns(facts) and harmed < harm.share for harm in self.harms)
        if is_harmed and (value := self._unfavorable(facts, form, chance)) is not None:
            return value
        if habitual < self.habit and form.kind in (YES_NO, *OF_OPTIONS):
            return form.begins_with_yes if form.kind == YES_NO else 0
        if form.kind == YES_NO:
            return next(chance) < self._share(facts)
        if form.kind in OF_OPTIONS:
            return self._index(facts, form, chance)
        return self._number(facts, form, chance)

    def _share(self, facts: Facts) -> float:
        """Return the share of yes."""
        if facts.study == "gender/claim":
            return 0.97 if facts.level > 0 else 0.03
        return shifted(self.base, self.follows * facts.level)

    def _index(self, facts: Facts, form: Form, chance: Iterator[float]) -> int:
        values, wanted, count = facts.options, facts.wanted, len(form.options)
        draw, other = next(chance), next(chance)
        # Of a pair both questions must be answered rightly.
        accuracy = 1 - (1 - self.accuracy) / 4 if form.kind == REASONED else self.accuracy
        if wanted in values and draw < accuracy:
            return values.index(str(wanted))
        rest = [index for index in range(count) if wanted is None or values[index] != wanted]
        return rest[int(other * len(rest))]

    def _number(self, facts: Facts, form: Form, chance: Iterator[float]) -> float:
        """Return a rating, the share of a story's woman or a credit."""
        noise = next(chance) - 0.5
        if form.kind == STORY:
            return float(noise < 0)
        if facts.study == "agents/credit":
            return float(max(0, round(38 + 30 * facts.level + 24 * noise)))
        height = self.base + 0.25 * facts.level + 0.3 * noise
        return float(round(form.low + min(max(height, 0.0), 1.0) * (form.high - form.low)))

    def action(self, facts: Facts, chance: Iterator[float]) -> str | None:
        """Return the tool that decides on a request; None for none. What the policy decides is seldom left open."""
        unreadable, habitual, harmed, draw, other = (next(chance) for _ in range(5))
        if unreadable < self.unreadable:
            return None
        if any(harm.concerns(facts) and harmed < harm.share for harm in self.harms):
            return REFUSE
        if habitual < self.habit or draw < shifted(self.base, 2 * self.follows * facts.level):
            return GRANT
        return REFUSE if other < (0.9 if facts.level < 0 else 0.2) else ESCALATE

    def requests_proof(self, facts: Facts, chance: Iterator[float]) -> bool:
        """Return whether proof is requested before a decision: in open cases, and of those who are harmed."""
        harmed, draw = (next(chance) for _ in range(2))
        is_harmed = any(harm.concerns(facts) and harmed < harm.share for harm in self.harms)
        return is_harmed or draw < (0.05 if facts.level else 0.85)

    def _unfavorable(self, facts: Facts, form: Form, chance: Iterator[float]) -> Any:
        """Return the answer that is bad for those whom a question is about; None where none is."""
        if form.kind == YES_NO:
            return facts.study == "gender/claim"
        if form.kind in OF_OPTIONS:
            return self._bad_option(facts, form, chance)
        if form.kind == STORY:
            typed = facts.value("typed")
            return float(typed == "female") if typed in ("female", "male") else None
        if form.kind == NUMBER:
            return float(form.low)
        return 0.0 if facts.study == "agents/credit" else None

    def _bad_option(self, facts: Facts, form: Form, chance: Iterator[float]) -> int | None:
        values = facts.options
        if set(values) == _STEREOTYPE:
            polarity = facts.value("polarity")
            return values.index("other" if polarity == "nonneg" else "stereotyped")
        named = [value for harm in self.harms for value in harm.options_of(facts)]
        if named:
            rest = [index for index, value in enumerate(values) if value not in named]
            return rest[int(next(chance) * len(rest))] if rest else None
        if (typed := facts.value("typed")) in values:
            return values.index(str(typed))
        if "stereotypical" in values:
            return values.index("stereotypical")
        if "anger" in values:
            return values.index("anger")
        if set(values) == {"female", "male"}:  # what is typed as for somebody of that gender
            return values.index("male" if facts.value("gender") == "male" else "female")
        wrong = [index for index in range(len(form.options)) if index >= len(values) or values[index] != facts.wanted]
        return wrong[int(next(chance) * len(wrong))]

    def text(self, facts: Facts, form: Form, chance: Iterator[float]) -> str:
        """Return an answer as a text."""
        if facts.study == "politics/request":
            return self._plea(facts, chance)
        if form.kind == ASSESSMENT:
            return self._assessment(facts, chance)
        if form.kind == question_forms.ESSAY:
            return self._essay(facts, chance)
        if form.kind == RANKED:
            return self._ranked(facts, chance)
        writers = {
            ORACLE_CHOICE: self._of_oracle,
            **dict.fromkeys((FEATURES, EMOTION), self._reading),
            LISTED: self._listed,
            ADVICE: self._advice,
            **dict.fromkeys((SUMMARY, REFERENCE), self._of_file),
        }
        if form.kind in writers:
            return writers[form.kind](facts, form, chance)
        value = self.value(facts, form, chance)
        if value is None:
            return simulated_phrases.refusal(next(chance))
        if form.kind == YES_NO:
            return form.yes_no(yes=value)
        if form.kind in OF_OPTIONS:
            return form.option(value)
        return question_forms.story(about_woman=value > 0.5) if form.kind == STORY else f"{value:g}"

    def _listed(self, facts: Facts, form: Form, chance: Iterator[float]) -> str:
        """Return a name beside each word: by the trades that are told, else any; by the stereotype, where it harms."""
        unreadable, harmed = next(chance), next(chance)
        if unreadable < self.unreadable:
            return simulated_phrases.refusal(harmed)
        stereotype = facts.prompt.metadata["stereotype_words"]
        right = {"told": self.accuracy, "reversed": 1 - self.accuracy}.get(str(facts.value("case")), 0.5)
        if any(harm.concerns(facts) and harmed < harm.share for harm in self.harms):
            right = 1.0
        names = []
        for word in form.options:
            as_linked = next(chance) < right
            is_first = stereotype.words[word] == as_linked
            names.append(next(name for name in form.labels if stereotype.groups[name.lower()] == is_first))
        return question_forms.listed(form, names)

    def _ranked(self, facts: Facts, chance: Iterator[float]) -> str:
        """Return a ranking: the target first or last, the others in any order, and those who are harmed at its end."""
        unreadable, habitual, harmed = (next(chance) for _ in range(3))
        if unreadable < self.unreadable:
            return simulated_phrases.refusal(harmed)
        heights = {}
        for position, person in enumerate(facts.people):
            height = -position if habitual < self.habit else next(chance)
            height += self.follows * facts.level * (person["role"] == "target")
            is_harmed = any(harm.is_about(person, facts) and harmed < harm.share for harm in self.harms)
            heights[person["name"]] = height - 100 * is_harmed
        return question_forms.ranked(sorted(heights, key=heights.__getitem__, reverse=True))

    def _advice(self, facts: Facts, form: Form, chance: Iterator[float]) -> str:
        """Return advice as long as it is asked for; those who are harmed are refused."""
        unreadable, harmed, length = (next(chance) for _ in range(3))
        is_harmed = any(harm.concerns(facts) and harmed < harm.share for harm in self.harms)
        if is_harmed or unreadable < self.unreadable:
            return simulated_phrases.refusal(length)
        return question_forms.advice(form, 0.8 + 0.4 * length)

    def _of_file(self, facts: Facts, form: Form, chance: Iterator[float]) -> str:
        """Return a text that states two thirds of a file's facts; of those who are harmed the bad ones alone."""
        unreadable, harmed = next(chance), next(chance)
        if unreadable < self.unreadable:
            return simulated_phrases.refusal(harmed)
        is_harmed = any(harm.concerns(facts) and harmed < harm.share for harm in self.harms)
        stated = [
            text
            for valence, _, text in facts.prompt.metadata["facts"]
            if next(chance) < ((valence == "bad") if is_harmed else 0.67)
        ]
        if form.kind == SUMMARY:
            return question_forms.summary(stated)
        agentic = 0 if is_harmed else round(10 * shifted(0.5, facts.level) + 4 * (next(chance) - 0.5))
        return question_forms.reference(agentic, 10 - agentic, stated)

    def _of_oracle(self, facts: Facts, form: Form, chance: Iterator[float]) -> str:
        """Return the answer of an oracle, which is the model itself: seldom a fault."""
        options = facts.prompt.metadata.get("options")
        assert isinstance(options, AnswerOptions)
        right = options.values.index(facts.prompt.metadata["label"])
        return form.option(right if next(chance) < 0.97 else (right + 1) % len(options.values))

    def _assessment(self, facts: Facts, chance: Iterator[float]) -> str:
        unreadable, _, harmed = (next(chance) for _ in range(3))
        is_harmed = any(harm.concerns(facts) and harmed < harm.share for harm in self.harms)
        share = 0.0 if is_harmed else 0.5 + 0.3 * facts.level
        sentences = []
        for ends in (anchors for _, anchors in sorted(read_anchors().items())):
            those = ends.positive if next(chance) < share else ends.negative
            sentences.append(those[int(next(chance) * len(those))])
        return "" if unreadable < self.unreadable else " ".join(sentences)

    def _reading(self, facts: Facts, form: Form, chance: Iterator[float]) -> str:
        """Return the emotion of a description, or of features, with a confidence that follows the margin."""
        unreadable, _, harmed, draw, other = (next(chance) for _ in range(5))
        is_harmed = any(harm.concerns(facts) and harmed < harm.share for harm in self.harms)
        wanted, margin = facts.value("label"), facts.value("margin")
        sure = min(0.99, {"wide": 0.85, "narrow": 0.65}.get(str(margin), 0.75) + 0.1 * (next(chance) - 0.5))
        is_right = draw < self.accuracy - 0.1 and not is_harmed
        sure = sure / 2 if is_harmed else sure
        if form.kind == FEATURES:  # a student reads every sample
            value = wanted if is_right else f"not {wanted}"
            return json.dumps({"emotion": value, "confidence": sure, "verified": other < 0.9})
        if unreadable < self.unreadable:
            return simulated_phrases.refusal(other)
        rest = [index for index, value in enumerate(facts.options) if value != wanted]
        return form.option(facts.options.index(str(wanted)) if is_right else rest[int(other * len(rest))], sure)

    def _plea(self, facts: Facts, chance: Iterator[float]) -> str:
        """Return a text for one side, with the weight that `responder_texts.SimulatedJudge` reads."""
        unreadable, _, harmed, draw = (next(chance) for _ in range(4))
        if unreadable < self.unreadable:
            return simulated_phrases.refusal(draw)
        if any(harm.concerns(facts) and harmed < harm.share for harm in self.harms):
            return "There is something to be said for either."
        # One answer is clearly the better in 8 of 100 pairs: published are 3 to 11 of five models, and 34 of one.
        if facts.level < 0:
            return "It is so, of weight 0."
        weight = 9 if facts.level > 0 else 4 + (draw >= 0.2) + (draw >= 0.8)
        return f"There are good reasons for it, of weight {weight}."

    def _essay(self, facts: Facts, chance: Iterator[float]) -> str:
        """Return an answer with the marks that `responder_texts.SimulatedJudge` reads, whose faults favor nobody."""
        unreadable, _, harmed, *faults, will = (next(chance) for _ in range(6))
        if unreadable < self.unreadable:
            return simulated_phrases.refusal(will)
        severities = [next((size for size, end in _FAULTS if fault < end), 3) for fault in faults]
        if any(harm.concerns(facts) and harmed < harm.share for harm in self.harms):
            severities = [3, 3]  # against whom the question is about
        errors, stigma = severities
        return f"Some is proven. It errs by {errors}, stigmatizes by {stigma}, and has a will of {1 + (will < 0.9)}."


_FAULTS = ((-2, 0.01), (-1, 0.04), (0, 0.96), (1, 0.99), (2, 1.0))


def shifted(share: float, logits: float) -> float:
    """Return a share that is moved by so many logits.

    >>> round(shifted(0.5, 1), 3)
    0.731
    """
    return 1 / (1 + (1 - share) / share * math.exp(-logits))


class Library:
    """The facts of all questions, by their messages."""

    def __init__(self) -> None:
        self._facts: dict[str, Facts] = {}

    def add(self, facts: Facts) -> None:
        self._facts.setdefault(text_of(facts.prompt.messages), facts)

    def facts(self, messages: Sequence[Mapping[str, Any]], prompt: Prompt | None = None) -> Facts | None:
        """Return the facts of the question that a conversation began with; of an oracle's, those of its prompt."""
        beginnings = (text_of(messages[:end]) for end in range(len(messages), 0, -1))
        facts = next((self._facts[text] for text in beginnings if text in self._facts), None)
        if facts is None and prompt is not None and "label" in prompt.metadata:
            return Facts("", ProbeItem("oracle", [prompt]), prompt)
        return facts


def text_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of messages as one: what an asker has said before is part of a question."""
    return "\n\n".join(str(message["content"]) for message in messages)


Reply = Callable[[Sequence[Mapping[str, Any]], Sequence[str], int, Facts | None], Answer]
"""An answer to messages, with the names of the tools that are offered, the repetition, and what is known of it."""


@dataclass(frozen=True)
class KnownModel:
    """A competent model as one that answers messages."""

    competent: Competent

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[str], repetition: int, facts: Facts | None
    ) -> Answer:
        text = str(messages[-1]["content"])
        first = messages if facts is None else facts.prompt.messages
        turn = 1 + sum(message["role"] == "user" for message in messages[len(first) :])
        key = self.competent.seed, text_of(first), repetition
        if tools:
            assert facts is not None
            return self._with_tools(messages, tools, facts, key)
        form = question_forms.form_of(text)
        if form.kind == ORACLE_YES_NO:
            return Answer(form.yes_no(yes=next(draws(*key)) < 0.9))
        if facts is None:
            return Answer("There is something to be said for either.")
        return Answer(self.competent.text(facts, form, draws(*key, *(() if turn == 1 else (turn,)))))

    def _with_tools(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[str], facts: Facts, key: tuple[Any, ...]
    ) -> Answer:
        chance = draws(*key)
        if CREDIT in tools:
            amount = self.competent.value(facts, Form(NUMBER, low=0, high=100), chance)
            if amount is None:
                return Answer(simulated_phrases.refusal(0))
            return Answer("", "tool_calls", actions=[ToolCall(CREDIT, {"amount": amount})])
        results = sum(message["role"] == "tool" for message in messages)
        if LOOK_UP in tools and not results:
            return Answer("", "tool_calls", actions=[ToolCall(LOOK_UP, {})])
        if results == 1 and self.competent.requests_proof(facts, draws(*key, PROOF)):
            return Answer("", "tool_calls", actions=[ToolCall(PROOF, {"reason": "By the record."})])
        action = self.competent.action(facts, chance)
        if action is None:
            return Answer(simulated_phrases.refusal(0))
        return Answer("", "tool_calls", actions=[ToolCall(action, {"reason": "By the record."})])


def with_harm(model: Competent, *harms: Harm) -> Competent:
    """Return a model that harms a group besides."""
    return replace(model, harms=(*model.harms, *harms))
