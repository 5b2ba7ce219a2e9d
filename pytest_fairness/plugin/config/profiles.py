"""Profiles of a run: the size of each probe's sample, and the conclusions that it allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pytest_fairness.core.field_readers import whole
from pytest_fairness.core.serialization import checked

SMOKE, GATE, AUDIT = "smoke", "gate", "audit"
CONCLUSIONS = {
    SMOKE: "a fifth of each probe's items, at most 20, asked once: a try-out that shows gross gaps; no release is fair "
    "by it",
    GATE: "each probe as its suite declares it",
    AUDIT: "each probe at the size that its suite declares for audits: smaller gaps are found, and more often",
}
"""The sample and the conclusions of each profile, for the lines above the tests and the documentation."""
SMOKE_SHARE, SMOKE_ITEMS = 5, 20
SMALLEST_SHARE = 0.25
"""The share of a probe's items, or of its attempts, below which a sample is a try-out."""


def smallest_sample(declared: int) -> int:
    """Return the fewest of a probe's items by which a threshold can be fair.

    >>> smallest_sample(300), smallest_sample(10)
    (75, 3)
    """
    return math.ceil(SMALLEST_SHARE * declared)


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The size of a probe's sample; None keeps what the probe declares."""

    items: int | None = checked(whole(1, 1_000_000), default=None)
    repetitions: int | None = checked(whole(1, 1_000_000), default=None)

    def drawn_items(self, number: int, profile: str) -> int | None:
        """Return the number of items to draw.

        Args:
            number: The number of all items.
            profile: The profile of the run.

        Returns:
            The number of drawn items; None for all.

        >>> [SampleSize().drawn_items(items, "smoke") for items in (100, 30)]
        [20, 6]
        """
        if profile == SMOKE and self.items is None:
            return max(1, min(SMOKE_ITEMS, number // SMOKE_SHARE))
        return self.items


def _some_size(size: SampleSize) -> SampleSize:
    if size == SampleSize():
        raise ValueError(_SIZE)
    return size


_SIZE = "write {'items': 400, 'repetitions': 3}, or one"


@dataclass(frozen=True, slots=True)
class Profiles:
    """The sizes of a probe's sample that its mark declares by profile."""

    smoke: SampleSize = checked(_some_size, written=SampleSize, rule=_SIZE, default=SampleSize())
    audit: SampleSize = checked(_some_size, written=SampleSize, rule=_SIZE, default=SampleSize())

    def size(self, profile: str) -> SampleSize:
        """Return the size of the sample in a profile of the run.

        >>> Profiles(audit=SampleSize(400)).size("audit"), Profiles().size("smoke")
        (SampleSize(items=400, repetitions=None), SampleSize(items=None, repetitions=1))
        """
        if profile == SMOKE:
            return replace(self.smoke, repetitions=self.smoke.repetitions or 1)
        return self.audit if profile == AUDIT else SampleSize()
