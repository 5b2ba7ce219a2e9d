"""Propensities: the probability of each option, in the request to a model, in its reply and as a grade.

The request is the last message of a prompt, with the role `CONTINUATIONS`. So it is part of an attempt's key, and
sampled answers and propensities never share one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.finish_reasons import LIKELIHOODS
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.message_roles import CONTINUATIONS

ROUNDING = 1e-3
"""Tolerated excess over 1 of the probabilities in a reply: half-precision weights and providers round them."""
_RAW_SPACES = "\u0120\u2581"
"""Spaces in the vocabularies of byte-level BPE and of SentencePiece, which some servers send in place of text."""
WAY_OUT = "measure drawn answers instead: leave out propensity=True, or --fairness-propensity"
"""The end of a message that no probabilities can be had."""


class NoLikelihoodsError(PermanentError):
    """A model gives no probabilities of texts; it may still answer prompts."""


@dataclass(frozen=True, slots=True)
class Continuations:
    """A request for the probabilities of texts, in place of an answer.

    Attributes:
        options: The spellings of each option, by its name. Each counts with and without a space before it, and
            stands for all answers that begin with it.
        exclusive: Whether the options are those of one answer, so that their probabilities sum to at most 1. Else
            each is one free text, as it is written, with its own likelihood.
        has_context: Whether the texts continue the messages. Else they begin at the model's first token.

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
        """Return the option that an answer's first token decides on; None where it decides on none.

        A token that also begins a longer spelling of another option decides on none: "A" of "A" and "A boy".
        """
        text = token.strip().lstrip(_RAW_SPACES).strip()
        option = next((name for name, spellings in self.options.items() if text in spellings), None)
        other_spellings = (
            spelling for name, spellings in self.options.items() if name != option for spelling in spellings
        )
        return None if option is None or any(spelling.startswith(text) for spelling in other_spellings) else option

    def ask(self, prompt: Prompt) -> Prompt:
        """Return a prompt for these likelihoods in place of an answer."""
        question = {"options": {name: list(spellings) for name, spellings in self.options.items()}}
        flags = {name: False for name in ("exclusive", "has_context") if not getattr(self, name)}
        content = json.dumps(question | flags, ensure_ascii=False)
        messages = (*prompt.messages, {"role": CONTINUATIONS, "content": content})
        return Prompt(messages, prompt.groups, prompt.metadata, prompt.slots)


def continuations_of(prompt: Prompt) -> Continuations | None:
    """Return the request for likelihoods in a prompt; None for a prompt for an answer.

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
    """Return a prompt without its request for likelihoods."""
    return Prompt(prompt.messages[:-1], prompt.groups, prompt.metadata, prompt.slots)


@dataclass(frozen=True, slots=True)
class OptionLikelihood:
    """The log-probability of one option.

    >>> OptionLikelihood(-2.0, -1.5)
    OptionLikelihood(low=-2.0, high=-1.5, tokens=0, greedy=None)
    """

    low: float
    """The lowest value, which is below ``high`` where only a bound is known; -inf for a probability of 0."""
    high: float
    tokens: int = 0
    """The number of tokens of a free text; 0 where it is unknown."""
    greedy: bool | None = None
    """Whether each of these tokens is the most probable one; None where that is unknown."""

    @classmethod
    def exact(cls, log: float, tokens: int = 0, *, greedy: bool | None = None) -> OptionLikelihood:
        """Return a likelihood whose bounds are equal."""
        return cls(log, log, tokens, greedy)


def log_probability(share: float) -> float:
    """Return the logarithm of a probability; -inf for 0."""
    return math.log(share) if share > 0 else -math.inf


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """A model's reply to `Continuations`: the likelihood of each option."""

    options: Mapping[str, OptionLikelihood]
    rest: str = ""
    """The most probable first tokens outside of the options, for messages."""

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
        PermanentError: The reply has not one valid likelihood for each option.
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
    if question.exclusive and (total := sum(math.exp(entry.low) for entry in options.values())) > 1 + ROUNDING:
        raise PermanentError(f"the probabilities of {', '.join(options)} sum to {total:.4f}: at most 1 can be right")
    return Likelihoods(options, rest)


@dataclass(frozen=True, slots=True)
class Propensities:
    """A grade that is a distribution: the probability of each value, at temperature 1.

    The rest up to 1 is the probability of texts outside of the options, or of options with only a bound. It counts as
    ungraded, and is never distributed among the options.

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
        """The total probability of all values."""
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


def _plain(log: float) -> float | None:
    return None if log == -math.inf else log


def _log(value: float | None) -> float:
    return -math.inf if value is None else float(value)
