"""Propensities: the probability of each option, as a question to a model, as its reply and as a grade.

The question is the last message of a prompt, with the role `CONTINUATIONS`. So it is part of an attempt's key, and
drawn answers and propensities never share one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.finish_reasons import LIKELIHOODS
from pytest_fairness.core.items import CONTINUATIONS, ProbeItem, Prompt

ROUNDING = 1e-3
"""The excess of the probabilities of a reply over 1 that passes: half-precision weights and providers round them."""
_RAW_SPACES = "\u0120\u2581"
"""Spaces as vocabularies have them, which some servers send in place of text: of byte-level BPE, of SentencePiece."""
WAY_OUT = "measure drawn answers instead: leave out propensity=True, or --fairness-propensity"


class NoLikelihoodsError(PermanentError):
    """A model gives no probabilities of what is asked for; it may well answer."""


@dataclass(frozen=True, slots=True)
class Continuations:
    """Texts whose probability a model is asked for, in place of an answer.

    Attributes:
        options: From the name of an option to its spellings. Each counts with and without a space before it, and
            stands for every answer that begins with it.
        exclusive: Whether the options are those of one answer, so that their probabilities sum to at most 1. Else
            each is one free text, as it is written, whose likelihood is asked for by itself.
        has_context: Whether the texts continue the messages. Else they stand alone, from the model's first token.

    >>> Continuations({"yes": ("Yes", "yes"), "no": ("No", "no")}).option_of(" yes")
    'yes'

    Raises:
        FairnessError: An option has no spelling, or two options share one.
    """

    options: Mapping[str, tuple[str, ...]]
    exclusive: bool = True
    has_context: bool = True

    def __post_init__(self) -> None:
        options = {str(name): tuple(dict.fromkeys(spellings)) for name, spellings in self.options.items()}
        object.__setattr__(self, "options", options)
        spelled = [spelling.strip() if self.exclusive else spelling for entry in options.values() for spelling in entry]
        if not options or not all(options.values()) or not all(map(str.strip, spelled)):
            raise FairnessError(f"continuations are {options!r:.200}: each option needs a text")
        if self.exclusive and len(set(spelled)) < len(spelled):
            raise FairnessError(f"continuations are {options!r:.200}: no two options may share a spelling; {WAY_OUT}")
        if not self.exclusive and any(len(entry) > 1 for entry in options.values()):
            raise FairnessError(f"continuations are {options!r:.200}: a free text has one spelling")

    def option_of(self, token: str) -> str | None:
        """Return the option that an answer's first token settles; None where it settles none.

        A token that also begins a longer spelling of another option settles none: "A" of "A" and "A boy".
        """
        text = token.strip().lstrip(_RAW_SPACES).strip()
        option = next((name for name, spellings in self.options.items() if text in spellings), None)
        other_spellings = (
            spelling for name, spellings in self.options.items() if name != option for spelling in spellings
        )
        return None if option is None or any(spelling.startswith(text) for spelling in other_spellings) else option

    def ask(self, prompt: Prompt) -> Prompt:
        """Return a prompt that asks for these likelihoods in place of an answer."""
        question = {"options": {name: list(spellings) for name, spellings in self.options.items()}}
        flags = {name: False for name in ("exclusive", "has_context") if not getattr(self, name)}
        content = json.dumps(question | flags, ensure_ascii=False)
        messages = (*prompt.messages, {"role": CONTINUATIONS, "content": content})
        return Prompt(messages, prompt.groups, prompt.metadata, prompt.slots)


def continuations_of(prompt: Prompt) -> Continuations | None:
    """Return the likelihoods that a prompt asks for; None for a prompt that asks for an answer.

    >>> question = Continuations({"yes": ("Yes",), "no": ("No",)}).ask(Prompt("Hire her?"))
    >>> continuations_of(question).options, continuations_of(Prompt("Hire her?"))
    ({'yes': ('Yes',), 'no': ('No',)}, None)

    Raises:
        FairnessError: The message with the role `CONTINUATIONS` holds no options.
    """
    last = prompt.messages[-1]
    if last["role"] != CONTINUATIONS:
        return None
    try:
        content = json.loads(last["content"])
        options = {name: tuple(map(str, spellings)) for name, spellings in content["options"].items()}
        return Continuations(options, content.get("exclusive", True), content.get("has_context", True))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise FairnessError(
            f"a message of the role {CONTINUATIONS} holds no options: {last['content']!r:.100}"
        ) from None


def context_of(prompt: Prompt) -> Prompt:
    """Return a prompt that asks for likelihoods without that question, as a model reads it."""
    return Prompt(prompt.messages[:-1], prompt.groups, prompt.metadata, prompt.slots)


@dataclass(frozen=True, slots=True)
class OptionLikelihood:
    """The log-probability of one option.

    ``low`` and ``high`` differ where a model reports a bound only; -inf stands for 0. ``tokens`` counts those of a free
    text, and is 0 where they are unknown. ``greedy`` is whether each of these was the most probable one, and None where
    that is unknown.
    """

    low: float
    high: float
    tokens: int = 0
    greedy: bool | None = None

    @classmethod
    def exact(cls, log: float, tokens: int = 0, *, greedy: bool | None = None) -> OptionLikelihood:
        """Return a likelihood that is known."""
        return cls(log, log, tokens, greedy)


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """A model's reply to `Continuations`: the likelihood of each option, by name.

    ``rest`` names the most probable of what is no option, for messages.
    """

    options: Mapping[str, OptionLikelihood]
    rest: str = ""

    def answer(
        self, usage: Mapping[str, int] | None = None, latency: float = 0.0, served_by: str | None = None
    ) -> Answer:
        """Return the reply as an answer: JSON text, with `LIKELIHOODS` as its finish reason."""
        logs = {
            name: [
                _plain(entry.low),
                _plain(entry.high),
                entry.tokens,
                *([] if entry.greedy is None else [entry.greedy]),
            ]
            for name, entry in self.options.items()
        }
        content = {"log_likelihoods": logs} | ({"rest": self.rest} if self.rest else {})
        return Answer(json.dumps(content, ensure_ascii=False), LIKELIHOODS, None, usage or {}, latency, served_by)


def likelihoods_of(answer: Answer, question: Continuations) -> Likelihoods:
    """Return the likelihoods in a reply.

    Raises:
        PermanentError: They are no probabilities of all that was asked for.
    """
    try:
        if answer.finish_reason != LIKELIHOODS:
            raise ValueError(f"its finish reason is {answer.finish_reason!r}")
        content = json.loads(answer.text)
        options = {
            name: OptionLikelihood(_log(low), _log(high), int(n), *map(bool, greedy[:1]))
            for name, (low, high, n, *greedy) in content["log_likelihoods"].items()
        }
        rest = str(content.get("rest", ""))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise PermanentError(f"a reply holds no log-likelihoods: {error}: {answer.text!r:.80}") from None
    if options.keys() != question.options.keys():
        raise PermanentError(f"a reply is about {', '.join(options)}, not about {', '.join(question.options)}")
    for name, entry in options.items():
        if not entry.low <= entry.high <= ROUNDING:  # also of nan
            raise PermanentError(
                f"the log-likelihood of {name!r} is {entry.low:g} to {entry.high:g}: it must be at most 0"
            )
    total = sum(math.exp(entry.low) for entry in options.values())
    if question.exclusive and total > 1 + ROUNDING:
        raise PermanentError(f"the probabilities of {', '.join(options)} sum to {total:.4f}: at most 1 can be right")
    return Likelihoods(options, rest)


@dataclass(frozen=True, slots=True)
class Propensities:
    """A grade that is a distribution: the probability of each value, at temperature 1.

    The rest up to 1 fell on no option, or on one that the model reports a bound of. It counts as ungraded, and is
    never shared out among the options.

    >>> grade = Propensities(((True, 0.62), (False, 0.34)))
    >>> grade[True], round(grade.outside, 3)
    (0.62, 0.04)

    Raises:
        FairnessError: A share is no probability, or they sum to more than 1.
    """

    shares: tuple[tuple[Any, float], ...]

    def __post_init__(self) -> None:
        shares = tuple((value, float(share)) for value, share in self.shares)
        total = sum(share for _, share in shares)
        if not shares or not all(0 <= share <= 1 + ROUNDING for _, share in shares) or not total <= 1 + ROUNDING:
            raise FairnessError(
                f"propensities are {shares!r:.200}: they must lie between 0 and 1, and sum to at most 1"
            )
        if total > 1:
            shares = tuple((value, share / total) for value, share in shares)
        object.__setattr__(self, "shares", shares)

    def __getitem__(self, value: Any) -> float:
        """Return the probability of a value; 0 of one that is no option."""
        return sum(share for option, share in self.shares if option == value)

    def __str__(self) -> str:
        shares = ", ".join(f"{value} {share:.3f}" for value, share in self.shares)
        return f"{shares}, outside {self.outside:.3f}"

    @property
    def graded(self) -> float:
        """The probability of all values together."""
        return min(1.0, math.fsum(share for _, share in self.shares))

    @property
    def outside(self) -> float:
        """The probability of no value."""
        return 1 - self.graded

    def expected(self, outcome: Callable[[Any], float]) -> float:
        """Return the expected outcome, to which the probability of no value adds nothing."""
        return math.fsum(share * outcome(value) for value, share in self.shares)

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads."""
        return {"propensities": [list(pair) for pair in self.shares]}

    @classmethod
    def from_json(cls, value: Any) -> Any:
        """Return propensities that were written by `to_json`; any other value as it is."""
        if isinstance(value, dict) and value.keys() == {"propensities"}:
            return cls(tuple((option, share) for option, share in value["propensities"]))
        return value


def as_propensities(graders: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return graders that ask for likelihoods in place of answers, by their method ``as_propensity``.

    Returns:
        The graders, and an empty text; or None, and why not all of them can.
    """
    converted: dict[str, Any] = {}
    for name, grader in graders.items():
        convert = getattr(grader, "as_propensity", None)
        if continuations_function(grader) is None and not callable(convert):
            grader_name = f"the fixture {grader!r}" if isinstance(grader, str) else type(grader).__name__
            return None, f"{name!r} is graded by {grader_name}, which reads answers only"
        converted[name] = grader if convert is None else convert()
    return converted, ""


def add_continuations(graders: Mapping[str, object], items: Sequence[ProbeItem]) -> list[ProbeItem] | None:
    """Return the items with the likelihoods that their graders ask for; None where all graders take answers.

    Raises:
        FairnessError: Some graders of a probe take answers and others likelihoods, or they ask for different ones.
    """
    asking = {name: ask for name, grader in graders.items() if (ask := continuations_function(grader)) is not None}
    if not asking:
        return None
    if of_answers := graders.keys() - asking.keys():
        raise FairnessError(
            f"{min(asking)!r} is graded by propensities and {min(of_answers)!r} by answers: make it two probes"
        )

    def with_question(prompt: Prompt) -> Prompt:
        questions = [ask(prompt) for ask in asking.values()]
        if any(question != questions[0] for question in questions):
            raise FairnessError(
                f"{' and '.join(map(repr, asking))} ask for the likelihoods of different texts: make it two probes"
            )
        return questions[0].ask(prompt)

    return [replace(item, prompts=[with_question(prompt) for prompt in item.prompts]) for item in items]


def continuations_function(grader: object) -> Callable[[Prompt], Continuations] | None:
    """Return the function from a prompt to a grader's continuations; None for a grader of answers."""
    ask = getattr(grader, "continuations", None)
    is_asking = callable(ask) and getattr(grader, "propensity", True)
    return ask if is_asking else None


def _plain(log: float) -> float | None:
    return None if log == -math.inf else log


def _log(value: float | None) -> float:
    return -math.inf if value is None else float(value)
