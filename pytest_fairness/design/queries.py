"""Queries to the models of a design, sent through the engine and its store as in a pytest run."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_fairness import Model, Prompt
from pytest_fairness.extending import Attempt, Engine, build_requests


@contextmanager
def opened_engine(store: Path) -> Iterator[Engine]:
    """Return an engine whose answers are kept in the store at this path: nothing is asked twice, by whichever design.

    It closes the models that were used.
    """
    from pytest_fairness.extending import Store

    opened = Store(store)
    run = uuid.uuid4().hex
    opened.runs.start(run)
    engine = Engine(opened, run, concurrency=16)
    try:
        yield engine
    finally:
        engine.close()
        opened.close()


def ask(engine: Engine, model: Model, prompts: Sequence[Prompt], repetition: int = 0) -> list[Attempt]:
    """Return one attempt for each prompt, in order; one that failed has an error and no answer."""
    return engine.attempts(build_requests(prompts, model, 1, repetition))
