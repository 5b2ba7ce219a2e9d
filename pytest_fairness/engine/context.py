"""Context of an engine: the parts that its other parts share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.pending import PendingResults
from pytest_fairness.engine.rate_limits import RateLimiters
from pytest_fairness.engine.retries import Retries
from pytest_fairness.engine.scheduler import RequestScheduler
from pytest_fairness.engine.store_sync import StoreSync


class EngineContext(NamedTuple):
    """The parts of an engine that are needed to send requests."""

    results: PendingResults
    budget: Budget
    sync: StoreSync
    scheduler: RequestScheduler
    limits: RateLimiters
    retries: Retries
    wake: Callable[[], None]
    """A function that starts the next round of the engine's loop at once."""
    secrets: Sequence[str] = ()
    """Texts that are removed from errors before these are stored."""
