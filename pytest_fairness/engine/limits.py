"""How many requests a model is sent at a time."""

from __future__ import annotations


class Limit:
    """Additive increase, multiplicative decrease, as TCP does it (Chiu and Jain 1989).

    A rate limit halves the number in flight, once for all requests that were under way
    when it came; each answer raises it again, by about one per round of answers.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self._allowed = float(ceiling)
        self._quiet_until = 0.0
        self._still_old = 0

    @property
    def allowed(self) -> int:
        return int(self._allowed)

    def free(self, now: float) -> int:
        """How many more may leave now (``now`` in seconds of a monotonic clock)."""
        if now < self._quiet_until:
            return 0
        return max(0, self.allowed - self.in_flight)

    def answered(self) -> None:
        """An answer came: allow a little more."""
        self._still_old = max(0, self._still_old - 1)
        self._allowed = min(float(self.ceiling), self._allowed + 1 / self._allowed)

    def refused(self, now: float, wait: float) -> None:
        """The provider asked for fewer requests, and for ``wait`` seconds of quiet."""
        if self._still_old == 0:
            self._allowed = max(1.0, self._allowed / 2)
            self._still_old = self.in_flight
        self._still_old = max(0, self._still_old - 1)
        self._quiet_until = max(self._quiet_until, now + wait)
