"""Rate limits of endpoints in one process, which the processes of a run share through the store.

The store holds one throttle for each endpoint (`pytest_fairness.store.throttle`). With each exchange a process reports
its replies from the endpoint (`SlotRequest`), and is granted slots (`SlotGrant`) for new requests and retries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.event_loops import Event
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.requests import Request
from pytest_fairness.store.rates import Rates
from pytest_fairness.store.store import SyncResult

if TYPE_CHECKING:
    from pytest_fairness.engine.rate_limiter import RateLimiter
    from pytest_fairness.store.throttle import SlotRequest


def endpoint_of(model: Model) -> str:
    """Return the key of a model's limits: a provider limits a model of an account, whatever the decoding."""
    endpoint: str = getattr(model, "endpoint", model.key)
    return endpoint


class RateLimiters:
    """The rate limits of all endpoints that a process uses.

    Args:
        ceiling: The largest number of requests in flight at one endpoint, of all processes.
        rates: The limits of an endpoint whose model has none.
        wake: A function that starts the next round of the engine's loop, which requests slots of the store.
        batch_size: A function from a model to the largest size of its batches; None for one without batches.
        is_counted: Whether claims count toward a cap: no request is claimed then before it can be sent.
    """

    def __init__(
        self,
        ceiling: int,
        rates: Rates,
        wake: Callable[[], None],
        batch_size: Callable[[Model], int | None],
        *,
        is_counted: bool,
    ) -> None:
        self._ceiling, self._rates, self._wake, self._batch_size = ceiling, rates, wake, batch_size
        self._is_counted = is_counted
        self.gate = Event()
        """An event that is cleared while no new request may be sent."""
        self.gate.set()
        self._limits: dict[str, RateLimiter] = {}

    def of(self, model: Model) -> RateLimiter:
        """Return the limiter of a model's endpoint."""
        endpoint = endpoint_of(model)
        if endpoint not in self._limits:
            from pytest_fairness.engine.rate_limiter import RateLimiter

            requests, tokens = getattr(model, "rates", (None, None))
            rates = Rates(requests or self._rates.requests, tokens or self._rates.tokens)
            size = self._batch_size(model)
            # Local models, and calls of an application, are those of one process.
            is_shared = not model.local and getattr(model, "paced", True) and size is None
            own_ceiling: int | None = getattr(model, "most_in_flight", None)
            most: int = getattr(model, "in_flight", own_ceiling or self._ceiling) if size is None else size
            ceiling = own_ceiling or max(most, self._ceiling)
            is_called_here = model.local or getattr(model, "in_process", False)
            is_in_process = is_called_here and size is None and not self._is_counted
            self._limits[endpoint] = RateLimiter(
                endpoint,
                most,
                ceiling,
                rates,
                self._wake,
                self.gate,
                is_shared=is_shared,
                is_in_process=is_in_process,
                claims_ahead=is_shared and not (rates or self._is_counted),
            )
        return self._limits[endpoint]

    def free(self) -> dict[str, int]:
        """Return how many requests may be claimed now, by endpoint."""
        now = Clock.monotonic()
        return {name: limit.free(now) for name, limit in self._limits.items()}

    @property
    def waiting(self) -> int:
        """The number of waiting retries."""
        return sum(limit.waiting for limit in self._limits.values())

    def pause(self, longest: float) -> float:
        """Return the seconds until the next endpoint opens, at most ``longest``; its opening wakes no task."""
        now = Clock.monotonic()
        return min((longest, *(limit.closed(now) or longest for limit in self._limits.values())))

    def slot_requests(self, wanted: Mapping[str, Request]) -> list[SlotRequest]:
        """Return the reports of all endpoints, with the requests of slots for these requests."""
        keys: dict[str, list[str]] = {endpoint: [] for endpoint in self._limits}
        for key, request in wanted.items():
            keys[endpoint_of(request.model)].append(key)
        now = Clock.monotonic()
        slots = (limit.slot_request(keys[endpoint], now) for endpoint, limit in self._limits.items())
        return [slot for slot in slots if slot is not None]

    def apply(self, slots: Sequence[SlotRequest], result: SyncResult) -> set[str]:
        """Adopt the granted slots, and return the owners of the slots that were not granted."""
        holders: set[str] = set()
        for requested in slots:
            grant = result.grants[requested.endpoint]
            self._limits[requested.endpoint].apply(requested, grant, len(result.claimed.intersection(requested.keys)))
            holders |= grant.holders
        return holders
