"""One thing to be asked: the unit of the work list, of a claim and of an attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.items import Prompt
from pytest_fairness.core.keys import attempt_key, prompt_digest
from pytest_fairness.core.protocols import Model
from pytest_fairness.store.ledger import Role


@dataclass(slots=True, eq=False)
class Ask:
    """One repetition of one prompt on one model."""

    key: str
    model: Model
    prompt: Prompt
    digest: str
    repetition: int
    place: int = -1
    """Its place in the work list; -1 where it stands in none."""
    role: Role = "probes"

    @property
    def is_stored(self) -> bool:
        """Whether its answer belongs into the store; recorded answers are one already."""
        return getattr(self.model, "stored", True)


def asks_of(
    prompts: Sequence[Prompt], model: Model, repetitions: int, first: int = 0, role: Role = "probes"
) -> list[Ask]:
    """Every repetition of every prompt, prompt by prompt; they are counted from ``first``."""
    asks: list[Ask] = []
    for prompt in prompts:
        digest = prompt_digest(prompt.messages)
        asks += [
            Ask(attempt_key(model.key, digest, repetition), model, prompt, digest, repetition, role=role)
            for repetition in range(first, first + repetitions)
        ]
    return asks
