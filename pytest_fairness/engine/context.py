"""Parts that all of one engine's parts work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_fairness.engine.budget import Budget
from pytest_fairness.engine.pending import PendingResults
from pytest_fairness.engine.rate_limits import RateLimiters
from pytest_fairness.engine.retries import Retries
from pytest_fairness.engine.scheduler import RequestScheduler
from pytest_fairness.engine.store_sync import StoreSync


@dataclass(frozen=True, slots=True)
class EngineContext:
    """The parts that sending needs; each is made before this, from the parts above it alone."""

    results: PendingResults
    budget: Budget
    sync: StoreSync
    scheduler: RequestScheduler
    limits: RateLimiters
    retries: Retries
    wake: Callable[[], None]
    """Has the engine look at once at what there is to do."""
    secrets: Sequence[str] = ()
    """Stand in no error that is kept."""
