"""Interfaces of models and graders: one method that answers or grades."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.propensities import Continuations


@runtime_checkable
class Model(Protocol):
    """A model or application that answers prompts.

    One that answers ``batch_size`` prompts at a time with weights of its own has that as an attribute: an executor
    may then hold it on other machines, made there from its name. A method ``preflight()``, where there is one, raises
    `FatalError` for what is known before the first prompt, a missing key say: then nothing is asked. A method
    ``remark(prompts)`` returns a line to be shown above the tests, or nothing, for the prompts of a run.

    One with an attribute ``calls_tools`` that is true offers the tools of a prompt (``prompt.tools``) to its model, and
    returns the calls as ``actions`` of the answer. Any other is asked no prompt with tools. A text ``refuses_results``,
    where there is one, is the reason that it can be sent no results of calls that are not its own.
    """

    name: str
    """Name as reports show it: ``provider:name?parameters``."""

    key: str
    """Key that distinguishes its answers from those of any other model, decoding and seed included.

    Two models with one key share their answers in the store."""

    local: bool
    """Whether it answers without a connection, so that an offline run may ask it."""

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Answer one prompt.

        ``repetition`` counts from 0: repetitions of one prompt are different attempts, and
        a seeded model must not give them all the same answer.
        Raises `TransientError`, `PermanentError` or `FatalError`.
        """
        ...

    async def close(self) -> None:
        """Free what it holds: connections, memory of a device."""
        ...


@runtime_checkable
class LikelihoodModel(Protocol):
    """A `Model` that also gives the probability of texts: for propensities.

    A model without this method is refused for them in one line.
    """

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the log-likelihood of each option after the messages of ``prompt``, at temperature 1.

        The answer is made by `Likelihoods.answer`. A probability that is not known is a bound, never a guess.
        Raises as ``answer`` does, and `NoLikelihoodsError` where the model gives none.
        """
        ...


@runtime_checkable
class Grader(Protocol):
    """A grader, which turns one answer into a grade.

    One with a method ``continuations(prompt)``, which returns `Continuations`, has the model asked for their
    likelihoods in place of an answer; its attribute ``propensity``, where there is one, turns that off by being false.

    A grader whose code and parameters are told apart by an attribute ``fingerprint``
    has its grades kept in the store; one without is asked again in every run. It must be defined by the
    grader's own class: a subclass that inherits it grades otherwise, and is taken to have none.
    An answer that is not complete (cut off, filtered, refused by the provider, ended for an unknown reason) is
    ungraded and never shown to a grader, unless its attribute ``accepts`` names the reason: ``("refusal",)``.
    An attribute ``extremes`` (a tuple of values) or a method ``extremes_for(prompt)``
    names the values that an ungraded attempt could have had. Without, these are 0 and 1 where all that was seen is so,
    and one ungraded attempt makes a threshold on any other grade invalid.
    A method ``check_prompt(prompt)`` raises `FairnessError` before anything is asked, for a prompt whose answers it
    cannot grade.
    """

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Grade one answer; what cannot be read is ``Grade.none(reason)``, never a default."""
        ...


def extremes_of(grader: object) -> Callable[[Prompt], Sequence[Any]] | None:
    """Return the values that an ungraded attempt could have had, of each prompt; None where its grader does not say."""
    extremes_for: Callable[[Prompt], Sequence[Any]] | None = getattr(grader, "extremes_for", None)
    values = getattr(grader, "extremes", None)
    return extremes_for or (None if values is None else lambda _: values)


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """A question of a grader to a model."""

    prompt: Prompt
    model: Model | None = None
    """None: the model under test itself."""
    repetition: int = 0
    """Repetition from 0, or that of the attempt it is about: equal prompts of one repetition are asked once."""


Grading = Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]
"""Yields questions, is sent their attempts in order, and returns the grades."""


@runtime_checkable
class ItemGrader(Protocol):
    """A grader of an item's attempts together; it may ask a model, and ask again.

    ``accepts``, ``extremes`` and ``extremes_for`` mean what they do for a `Grader`. Its questions go the
    way of all attempts, so what is in the store is not asked again; its grades follow from
    them and are made again in every run. A method ``most_questions(attempts)`` returns how many
    it asks at most about an item with that many attempts, for plans and estimates.

    >>> class Agree:
    ...     def grade_item(self, item, attempts):
    ...         return [Grade(len({attempt["answer"] for attempt in attempts}) == 1)] * len(attempts)
    >>> class Polite:
    ...     def grade_item(self, item, attempts):
    ...         answers = [attempt.attempt.answer for attempt in attempts]
    ...         asked = yield [ModelQuery(Prompt(f"Polite, yes or no? {each.text}")) for each in answers if each]
    ...         said = iter(asked)
    ...         replies = [next(said).answer if each else None for each in answers]
    ...         return [Grade(reply.text == "yes") if reply else Grade.none("error") for reply in replies]
    >>> isinstance(Agree(), ItemGrader) and isinstance(Polite(), ItemGrader)
    True
    """

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading | Sequence[Grade]:
        """Return one grade for each attempt, in order: prompts in order, each with its repetitions.

        The attempts carry the grades that stand before this one in the mark, those of all plain
        graders first. An attempt that failed, or whose answer is not complete, is among them without an
        answer; whatever it is given here, it is ungraded. Where it asks for the value of an ungraded attempt,
        the item is ungraded for the same reason. A question may fail as well: its attempt then has an error and
        no answer, and the item's test fails.
        """
        ...


@runtime_checkable
class BatchGrader(Protocol):
    """A grader of many attempts at once: embeddings, classifiers.

    ``fingerprint``, ``accepts``, ``extremes`` and ``extremes_for`` mean what they do for a `Grader`. A grade
    must follow from its own attempt, not from the others of the batch: those differ from run to
    run, since what is in the store is not graded again. A method ``close()``, where there is one,
    is called at the end of the run.

    >>> class Length:
    ...     fingerprint = "Length v1"
    ...     def grade_batch(self, attempts):
    ...         return [Grade(len(attempt.attempt.answer.text)) for attempt in attempts]
    >>> isinstance(Length(), BatchGrader)
    True
    """

    def grade_batch(self, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
        """Return one grade for each attempt, in order.

        Called when a threshold takes its probe's whole sample, with all attempts that have a complete answer
        and no grade in the store. They carry the grades of the other graders, but for those over a batch.
        """
        ...
