"""Interfaces of models and graders."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt

if TYPE_CHECKING:
    from pytest_fairness.core.propensities import Continuations


@runtime_checkable
class Model(Protocol):
    """A model or application that answers prompts.

    Optional attributes:

    - ``batch_size``: the number of prompts that local weights answer at a time. An executor may then construct the
      model on other machines, from its name.
    - ``preflight()``: a method that raises `FatalError` for an error that is known before the first prompt, such as a
      missing key. No prompt is sent then.
    - ``remark(prompts)``: a method that returns a line to print above the tests, or nothing, for the prompts of a run.
    - ``calls_tools``: if true, the model is sent prompts with tools (``prompt.tools``), and returns its calls as
      ``actions`` of the answer.
    - ``follows_controls``: if true, its prompts have the levels of the probe's controls in their metadata
      (`core.controls.LEVELS`), as a simulated model needs them.
    - ``refuses_results``: the reason that it cannot be sent results of calls that are not its own.
    """

    name: str
    """The name in reports: ``provider:name?parameters``."""

    key: str
    """The key that distinguishes its answers from those of any other model, with decoding and seed.

    Two models with one key share their answers in the store."""

    local: bool
    """Whether it answers without a connection, and so in an offline run."""

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer to one prompt.

        Args:
            prompt: The prompt.
            repetition: The number of the repetition, from 0. Repetitions of one prompt are different attempts:
                a model with a seed must not give them all the same answer.

        Raises:
            TransientError: The request may succeed if it is sent again.
            PermanentError: There is no answer to this prompt.
            FatalError: There is no answer to any prompt.
        """
        ...

    async def close(self) -> None:
        """Release its resources: connections, memory of a device."""
        ...


def is_model(value: object) -> TypeGuard[Model]:
    """Return whether an object has the members of a `Model`, if only by its ``__getattr__``, as a wrapper has.

    From Python 3.12 on, `isinstance` of a protocol overlooks those.
    """
    members = ("name", "key", "local", "answer", "close")
    return not isinstance(value, type) and all(hasattr(value, name) for name in members)


@runtime_checkable
class LikelihoodModel(Protocol):
    """A `Model` that also returns the probabilities of texts, for propensities."""

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the log-likelihood of each option after the messages of a prompt, at temperature 1.

        Args:
            prompt: The prompt.
            question: The options, and how their likelihoods are combined.

        Returns:
            The answer of `Likelihoods.answer`. An unknown probability is an upper bound, never a guess.

        Raises:
            NoLikelihoodsError: The model gives no likelihoods.
            ModelError: As ``answer`` does.
        """
        ...


def is_likelihood_model(value: object) -> TypeGuard[LikelihoodModel]:
    """Return whether an object has `likelihoods`, if only by its ``__getattr__``."""
    return hasattr(value, "likelihoods")


@runtime_checkable
class Grader(Protocol):
    """A function from one answer to a grade.

    An answer that is not complete (cut off, filtered, refused by the provider, ended for an unknown reason) is
    ungraded and not passed to a grader, unless ``accepts`` contains the reason.

    Optional attributes:

    - ``fingerprint``: a text that changes with the code and the parameters of the grader. Grades are stored under it;
      without one, a grader grades again in every run. A subclass does not inherit it, since it may grade otherwise.
    - ``accepts``: reasons for which incomplete answers are graded, such as ``("refusal",)``.
    - ``extremes`` (a tuple of values), or a method ``extremes_for(prompt)``: the values that an ungraded attempt could
      have had. By default these are 0 and 1 where all grades are 0 or 1; one ungraded attempt makes a threshold on
      any other grade invalid.
    - ``check_prompt(prompt)``: a method that raises `FairnessError`, before the first request, for a prompt whose
      answers it cannot grade.
    - ``continuations(prompt)``: a method that returns `Continuations`. The model then returns their likelihoods in
      place of an answer, unless an attribute ``propensity`` is false.
    """

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Return the grade of one answer.

        Args:
            prompt: The prompt, with its groups and metadata.
            answer: The complete answer.

        Returns:
            The grade; for an answer that cannot be read ``Grade.none(reason)``, and never a default.
        """
        ...


def extremes_of(grader: object) -> Callable[[Prompt], Sequence[Any]] | None:
    """Return the function from a prompt to the values that an ungraded attempt could have had; None if undeclared."""
    extremes_for: Callable[[Prompt], Sequence[Any]] | None = getattr(grader, "extremes_for", None)
    values = getattr(grader, "extremes", None)
    return extremes_for or (None if values is None else lambda _: values)


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """A question of a grader to a model."""

    prompt: Prompt
    model: Model | None = None
    """The model; None for the model under test."""
    repetition: int = 0
    """The repetition, from 0, or that of the attempt in question: equal prompts of one repetition are sent once."""


Grading = Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]
"""A generator that yields questions, receives their attempts in order, and returns the grades."""


@runtime_checkable
class ItemGrader(Protocol):
    """A grader of all attempts of an item, which may send questions to a model in several rounds.

    ``accepts``, ``extremes`` and ``extremes_for`` are as for a `Grader`. Its questions are attempts like
    any other, so stored ones are not sent again; its grades are computed from them in every run. A method
    ``most_questions(attempts)`` returns the largest number of questions about an item with that many attempts, for
    plans and cost estimates.

    >>> class Agree:
    ...     def grade_item(self, item, attempts):
    ...         return [Grade(len({attempt["answer"] for attempt in attempts}) == 1)] * len(attempts)
    >>> class Polite:
    ...     def grade_item(self, item, attempts):
    ...         answers = [attempt.attempt.answer for attempt in attempts]
    ...         questions = [ModelQuery(Prompt(f"Polite, yes or no? {answer.text}")) for answer in answers if answer]
    ...         replies = iter((yield questions))
    ...         verdicts = [next(replies).answer if answer else None for answer in answers]
    ...         return [Grade(verdict.text == "yes") if verdict else Grade.none("error") for verdict in verdicts]
    >>> isinstance(Agree(), ItemGrader) and isinstance(Polite(), ItemGrader)
    True
    """

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading | Sequence[Grade]:
        """Return one grade for each attempt of an item.

        An attempt that failed, or whose answer is not complete, has no answer here, and is ungraded whatever its
        grade. If the grader reads the value of an ungraded attempt, the item is ungraded for the same reason. A failed
        question has an attempt with an error and no answer, and fails the item's test.

        Args:
            item: The item.
            attempts: Its attempts: prompts in order, each with its repetitions. They have the grades of the graders
                before this one in the mark, those of all plain graders first.

        Returns:
            The grades, in the order of the attempts; or a generator that asks questions first.
        """
        ...


@runtime_checkable
class BatchGrader(Protocol):
    """A grader of many attempts at once: embeddings, classifiers.

    ``fingerprint``, ``accepts``, ``extremes`` and ``extremes_for`` are as for a `Grader`. A grade
    must depend on its own attempt only: the other attempts of a batch differ from run to
    run, since attempts with stored grades are left out. An optional method ``close()``
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

        Args:
            attempts: When a threshold reads its probe's sample, all attempts that have a complete answer and no stored
                grade. They have the grades of all graders that are no batch graders.
        """
        ...
