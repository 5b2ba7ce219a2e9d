"""Requests: the units of the work list, of claims and of attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.items import Prompt
from pytest_fairness.core.keys import attempt_key
from pytest_fairness.core.message_roles import CONTINUATIONS
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.system_prompts import system_prompt_of
from pytest_fairness.store.spending import Role


@dataclass(slots=True, eq=False)
class Request:
    """One repetition of one prompt on one model."""

    key: str
    model: Model
    prompt: Prompt
    digest: str
    repetition: int
    position: int = -1
    """Its index in the work list; -1 for a request that is not in it."""
    role: Role = "probes"

    @property
    def asks_likelihoods(self) -> bool:
        """Whether it is for the likelihoods of options in place of an answer."""
        return self.prompt.messages[-1]["role"] == CONTINUATIONS

    @property
    def sent_prompt(self) -> Prompt:
        """The prompt as it is sent: with the model's system prompt, where it has one."""
        system = system_prompt_of(self.model)
        return self.prompt if system is None else system.before(self.prompt)

    @property
    def is_stored(self) -> bool:
        """Whether its answer is stored; recorded answers are not, since a file holds them."""
        return getattr(self.model, "stored", True)


def build_requests(
    prompts: Sequence[Prompt], model: Model, repetitions: int, first: int = 0, role: Role = "probes"
) -> list[Request]:
    """Return every repetition of every prompt, prompt by prompt.

    Args:
        prompts: The prompts.
        model: The model.
        repetitions: The number of attempts of each prompt.
        first: The number of the first repetition.
        role: The part of the run that sends them, under which their costs are counted.
    """
    requests: list[Request] = []
    for prompt in prompts:
        digest = prompt.digest
        requests += [
            Request(attempt_key(model.key, digest, repetition), model, prompt, digest, repetition, role=role)
            for repetition in range(first, first + repetitions)
        ]
    return requests
