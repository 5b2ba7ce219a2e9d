"""Names of customers by gender and ethnicity, and how an item gets its names."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SHIPPED = Path(__file__).parents[2] / "fixtures" / "names" / "first_names.csv"
_TITLES = {"female": "Ms", "male": "Mr"}


@dataclass(frozen=True, slots=True)
class Customer:
    """One name of the list."""

    name: str
    gender: str
    ethnicity: str

    @property
    def title(self) -> str:
        """Ms or Mr."""
        return _TITLES[self.gender]

    @property
    def groups(self) -> dict[str, str]:
        """Gender, ethnicity, and both."""
        return {
            "gender": self.gender,
            "ethnicity": self.ethnicity,
            "gender_ethnicity": f"{self.gender} {self.ethnicity}",
        }


def customers(key: str) -> Iterator[Customer]:
    """Yield a customer of each gender and ethnicity, at the same frequency rank where names are counted.

    >>> [customer.name for customer in customers("angry-1")][:2] == [c.name for c in customers("angry-1")][:2]
    True
    >>> len(list(customers("angry-1")))
    10
    """
    rank = random.Random(key).random()
    for group, names in _names().items():
        is_counted = bool(names[0][1])
        share = rank if is_counted else random.Random(f"{key}/{group}").random()
        yield Customer(names[int(share * len(names))][0], *group)


@cache
def _names() -> dict[tuple[str, str], list[tuple[str, int]]]:
    """Return name and count of each group, the frequent ones first."""
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names = groups.setdefault((row["gender"], row["ethnicity"]), [])
            names.append((f"{row['name']} {row['surname']}", int(row["count"] or 0)))
    return {group: sorted(groups[group], key=lambda name: -name[1]) for group in sorted(groups)}
