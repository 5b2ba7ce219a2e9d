"""Grades made of the likelihoods of texts: propensities of options, and likelihoods of free continuations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import LIKELIHOODS
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import Continuations, Likelihoods, Propensities, likelihoods_of

SMALLEST = 1e-6
"""The probability of all options together under which a reply is ungraded."""


def spellings(words: Iterable[str]) -> tuple[str, ...]:
    """Return the ways in which an answer may begin with one of these words.

    >>> spellings(["yes"])
    ('Yes', 'yes', 'YES', '**Yes')
    """
    ways = ((word[:1].upper() + word[1:], word, word.upper(), f"**{word[:1].upper()}{word[1:]}") for word in words)
    return tuple(dict.fromkeys(way for likelihood in ways for way in likelihood))


def propensity_grade(answer: Answer, question: Continuations, values: Mapping[str, Any]) -> Grade:
    """Return the probability of each value, of the option that stands for it; what is not known counts as outside."""
    likelihoods = _likelihoods(answer, question)
    shares = {name: min(1.0, math.exp(likelihood.low)) for name, likelihood in likelihoods.options.items()}
    outside = 1 - sum(shares.values())
    detail = f"most probable outside of the options: {likelihoods.rest}" if likelihoods.rest else ""
    if 1 - outside < SMALLEST:
        return Grade.none("unparsed", f"all probability fell on no option; {detail}".removesuffix("; "))
    return Grade(Propensities(tuple((values[name], share) for name, share in shares.items())), detail=detail)


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of free texts after a prompt: which one a model finds more likely, or by how much.

    The texts stand in ``prompt.metadata["options"]``, `AnswerOptions` whose labels are not used. Without ``of`` the
    grade is the value of the most likely text: of two sentences their pairwise preference, as in CrowS-Pairs. With
    ``of`` it is that text's log-likelihood, with ``to`` its difference to that of another.

    ``normalize`` is "sum" for whole texts, "tokens" or "characters" for the mean over these. ``join`` stands between
    prompt and text. With ``has_context=False`` the texts stand alone, from the model's first token; the prompt then
    only names them.

    >>> options = AnswerOptions({"stereotyped": "Women cook.", "other": "Men cook."})
    >>> prompt = Prompt("Which sentence?", metadata={"options": options})
    >>> Likelihood(has_context=False).continuations(prompt).options
    {'stereotyped': ('Women cook.',), 'other': ('Men cook.',)}

    Raises:
        FairnessError: A parameter is out of range, or a prompt has no options.
    """

    of: str | None = None
    to: str | None = None
    normalize: Literal["sum", "tokens", "characters"] = "sum"
    join: str = " "
    has_context: bool = True

    def __post_init__(self) -> None:
        if self.normalize not in ("sum", "tokens", "characters"):
            raise FairnessError(f"normalize is {self.normalize!r}: take 'sum', 'tokens' or 'characters'")
        if self.to is not None and (self.of is None or self.of == self.to):
            raise FairnessError(f"Likelihood compares {self.of!r} to {self.to!r}: name two values, of= and to=")

    @property
    def fingerprint(self) -> str:
        """Class, parameters and version."""
        return f"{self!r} v1"

    def extremes_for(self, prompt: Prompt) -> tuple[str, ...]:
        """Return the values that an ungraded preference could have had; of a number nobody knows them."""
        return _options(prompt).values if self.of is None else ()

    def continuations(self, prompt: Prompt) -> Continuations:
        """Return the texts whose likelihood is asked for."""
        join = self.join if self.has_context else ""
        texts = {value: (f"{join}{text}",) for value, text in _options(prompt).texts.items()}
        return Continuations(texts, exclusive=False, has_context=self.has_context)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        options = _options(prompt)
        likelihoods = _likelihoods(answer, self.continuations(prompt)).options
        logs = {}
        for value, likelihood in likelihoods.items():
            if not math.isfinite(likelihood.low) or likelihood.low != likelihood.high:
                return Grade.none("unparsed", f"the likelihood of {value!r} is not known")
            size = {"sum": 1, "tokens": likelihood.tokens, "characters": len(options.texts[value])}[self.normalize]
            if size < 1:
                return Grade.none("unparsed", f"the number of tokens of {value!r} is not known")
            logs[value] = likelihood.low / size
        shown = ", ".join(f"{value} {log:.3f}" for value, log in logs.items())
        if self.of is None:
            best = max(logs.values())
            first, *others = [value for value, log in logs.items() if log == best]
            return Grade.none("unparsed", f"equally likely: {shown}") if others else Grade(first, detail=shown)
        for name in (self.of, self.to):
            if name is not None and name not in logs:
                raise FairnessError(f"Likelihood is of {name!r}, and the options are {', '.join(logs)}")
        return Grade(logs[self.of] - (0.0 if self.to is None else logs[self.to]), detail=shown)


def _likelihoods(answer: Answer, question: Continuations) -> Likelihoods:
    """Return the likelihoods of a reply.

    Raises:
        FairnessError: It is an answer: nobody knew in time that likelihoods are wanted.
    """
    if answer.finish_reason != LIKELIHOODS:
        raise FairnessError("propensities were not asked for: write their grader into the mark of the probe itself")
    return likelihoods_of(answer, question)


def _options(prompt: Prompt) -> AnswerOptions:
    options = prompt.metadata.get("options")
    if not isinstance(options, AnswerOptions):
        raise FairnessError(
            f"a prompt graded by Likelihood has {options!r:.60} as metadata['options']: put AnswerOptions(...) there"
        )
    return options
