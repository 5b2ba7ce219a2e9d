"""What a model and a grader have to be: one method each."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.items import Prompt


@runtime_checkable
class Model(Protocol):
    """Who answers."""

    name: str
    """As the reports show it: ``provider:name?parameters``."""

    key: str
    """What tells its answers from those of any other model, decoding and seed included.

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
class Grader(Protocol):
    """What was answered.

    A grader whose code and parameters are told apart by an attribute ``fingerprint``
    has its grades kept in the store; one without is asked anew in every run.
    An attribute ``extremes`` (a tuple of values) or a method ``extremes_for(prompt)``
    names the values that an ungraded attempt could have had; without, 0 and 1 are taken.
    """

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Grade one answer; what cannot be read is ``Grade.none(reason)``, never a default."""
        ...
