"""Profiles of a run: the size of each probe's sample, and the conclusions that it allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pytest_fairness.core.errors import FairnessError, did_you_mean

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
_FIELDS = ("items", "repetitions")


def smallest_sample(declared: int) -> int:
    """Return the fewest of a probe's items by which a threshold can be fair.

    >>> smallest_sample(300), smallest_sample(10)
    (75, 3)
    """
    return math.ceil(SMALLEST_SHARE * declared)


class SampleSize(NamedTuple):
    """The size of a probe's sample; None keeps what the probe declares."""

    items: int | None = None
    repetitions: int | None = None

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


def read_sample_size(profile: str, declared: object) -> SampleSize:
    """Return the size of a probe's sample in a profile.

    Args:
        profile: The profile of the run.
        declared: The argument ``profiles`` of the probe's mark: sizes by profile, as in
            ``{"audit": {"items": 400, "repetitions": 3}}``.

    Raises:
        FairnessError: ``declared`` has another form.
    """
    if not isinstance(declared, Mapping):
        raise FairnessError(f"profiles is {declared!r:.60}: write profiles={{'audit': {{'items': 400}}}}")
    for name, size in declared.items():
        if name not in (SMOKE, AUDIT):
            raise FairnessError(f"profiles: no profile {name!r} has a size; {did_you_mean(str(name), (SMOKE, AUDIT))}")
        _check_size(name, size)
    size = declared.get(profile, {})
    default = 1 if profile == SMOKE else None
    return SampleSize(size.get("items"), size.get("repetitions", default))


def _check_size(profile: str, size: Any) -> None:
    if not isinstance(size, Mapping) or not size:
        raise FairnessError(f"profiles: {profile} is {size!r:.60}: write {{'items': 400, 'repetitions': 3}}, or one")
    for name, value in size.items():
        if name not in _FIELDS:
            raise FairnessError(f"profiles: {profile} has no {name!r}; {did_you_mean(str(name), _FIELDS)}")
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1_000_000:
            raise FairnessError(f"profiles: {name} of {profile} is {value!r:.40}: it must be a whole number from 1")
