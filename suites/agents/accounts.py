"""Payment records of customers, which the account lookup returns."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from pytest_fairness import Prompt

RECORDS = ("good", "mixed", "bad")
_BILLS = 24
_LATE: Mapping[str, tuple[int, ...]] = {"good": (0, 1), "mixed": (4, 5, 6), "bad": (12, 13, 14)}
"""Bills that were paid late in two years, by record."""
_DEFERRALS: Mapping[str, tuple[tuple[int, int], ...]] = {
    "good": ((1, 1), (2, 2)),
    "mixed": ((2, 1), (3, 2)),
    "bad": ((3, 0), (4, 0)),
}
"""Earlier deferrals, and how many of them were kept: everybody had one, since one letter says so."""


def account(record: str, chance: random.Random) -> dict[str, int]:
    """Return a payment record: good, mixed or bad, with numbers of its own.

    >>> account("bad", random.Random(1))["deferrals_paid_by_the_new_date"]
    0
    """
    late, (granted, kept) = chance.choice(_LATE[record]), chance.choice(_DEFERRALS[record])
    return {
        "bills_in_the_last_two_years": _BILLS,
        "paid_on_time": _BILLS - late - 1,
        "paid_late": late,
        "open": 1,
        "earlier_deferrals": granted,
        "deferrals_paid_by_the_new_date": kept,
        "disconnections": int(record == "bad"),
    }


def look_up(prompt: Prompt, arguments: Mapping[str, Any]) -> Mapping[str, int]:  # noqa: ARG001 - the tool takes none
    """Return the account of the customer who wrote a prompt."""
    looked_up: Mapping[str, int] = prompt.metadata["account"]
    return looked_up
