"""Tables of how names are perceived, by class, citizenship or ethnicity, and their means for a probe's groups."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.confounds import Confound

FEWEST_NAMES = 5
"""Names of a group in the table without which it is not compared."""
LEAST_DIFFERENCE = 0.25
"""The smallest difference of two groups' means that is reported, in standard deviations of the names."""
STANDARD_ERRORS = 2.5


class PerceivedNames:
    """The mean of each perceived attribute by name.

    Args:
        ratings: The values of each attribute by name, as written: a first name, or a full one.
        origin: The folder of the table, for messages.

    >>> table = PerceivedNames({"income": {"emily walsh": 3.2, "keisha": 2.6}}, "perceived")
    >>> table.rating("income", "Emily Walsh"), table.rating("income", "Keisha Booker"), table.rating("income", "Ida")
    (3.2, 2.6, None)
    """

    def __init__(self, ratings: Mapping[str, Mapping[str, float]], origin: str) -> None:
        self.origin = origin
        self._ratings = ratings

    @classmethod
    def read(cls, folder: Path) -> PerceivedNames:
        """Return the tables of a folder: CSV files with the names, and a column of numbers for each attribute.

        A file has the column ``name``, or ``first`` and, for full names, ``last``. Rows of one name, as a survey has
        them, are averaged; columns that are no numbers are not read.

        Args:
            folder: The folder.

        Raises:
            FairnessError: It has no such file, or a file has no names or no numbers.
        """
        files = sorted(folder.glob("*.csv"))
        if not files:
            raise FairnessError(f"{folder} has no .csv file: tables of perceived names have a row for each name")
        values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for file in files:
            for column, name, value in _ratings(file):
                values[column][name].append(value)
        means = {
            column: {name: statistics.fmean(own) for name, own in names.items()} for column, names in values.items()
        }
        return cls(means, str(folder))

    def rating(self, attribute: str, name: str) -> float | None:
        """Return the perceived value of a name, or of its first name; None where the table has neither.

        Args:
            attribute: A column of the table.
            name: A first name or a full name.
        """
        listed = self._ratings[attribute]
        full = " ".join(name.casefold().split())
        return listed.get(full, listed.get(full.split(" ")[0]))

    def confounds(self, items: Iterable[ProbeItem]) -> list[Confound]:
        """Return the attributes whose means differ between groups of a probe's names.

        Names are those in slots and metadata called ``name``, each counted once.

        Args:
            items: The items of a probe.

        Returns:
            A confound for each attribute and each attribute of groups, of the two groups that differ most.
        """
        names_by_group = _names_by_group(prompt for item in items for prompt in item.prompts)
        return [
            Confound("name", text)
            for by, groups in names_by_group.items()
            for attribute in self._ratings
            for text in self._differences(attribute, by, groups)
        ]

    def _differences(self, attribute: str, by: str, groups: Mapping[str, set[str]]) -> Iterator[str]:
        rated = {group: self._rated(attribute, names) for group, names in groups.items()}
        compared = {group: values for group, values in rated.items() if len(values) >= FEWEST_NAMES}
        if len(compared) < 2:
            return
        most = max(compared, key=lambda group: statistics.fmean(compared[group]))
        least = min(compared, key=lambda group: statistics.fmean(compared[group]))
        difference = statistics.fmean(compared[most]) - statistics.fmean(compared[least])
        error = math.hypot(*(statistics.stdev(own) / math.sqrt(len(own)) for own in (compared[most], compared[least])))
        deviation = statistics.stdev([value for values in compared.values() for value in values])
        if difference > 0 and difference >= LEAST_DIFFERENCE * deviation and difference > STANDARD_ERRORS * error:
            means = ", ".join(f"{group} {statistics.fmean(values):.3g}" for group, values in compared.items())
            counts = " and ".join(f"{len(compared[group])} of {len(groups[group])}" for group in (most, least))
            yield (
                f"perceived {attribute!r} of names differs by {difference:.3g} between {by} {most!r} and {least!r} "
                f"({means}; {counts} names are in {self.origin}): a gap between them could be one of {attribute!r}; "
                "take names that match in it"
            )

    def _rated(self, attribute: str, names: Iterable[str]) -> list[float]:
        ratings = (self.rating(attribute, name) for name in sorted(names))
        return [rating for rating in ratings if rating is not None]


def _names_by_group(prompts: Iterable[Prompt]) -> dict[str, dict[str, set[str]]]:
    names: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for prompt in prompts:
        name = prompt.slots.get("name") or prompt.metadata.get("name")
        if isinstance(name, str):
            for by, group in prompt.groups.items():
                names[by][str(group)].add(name)
    return names


def _ratings(file: Path) -> Iterator[tuple[str, str, float]]:
    """Yield each number of a table with its column and the name."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            columns = [column for column in reader.fieldnames or () if column]
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FairnessError(f"{file} cannot be read: {error}") from None
    by_name = {column.casefold(): column for column in columns}
    name_columns = [
        by_name[column] for column in (("name",) if "name" in by_name else ("first", "last")) if column in by_name
    ]
    if not name_columns:
        raise FairnessError(f"{file} has no column of names: it needs name, or first (and last)")
    numeric = [column for column in columns if column not in name_columns and _is_numeric(row[column] for row in rows)]
    if not numeric:
        raise FairnessError(f"{file} has no column of numbers: it needs one for each perceived attribute")
    for row in rows:
        name = " ".join(" ".join(row[column] or "" for column in name_columns).casefold().split())
        for column in numeric:
            if name and _is_number(row[column]):
                yield column, name, float(row[column])


def _is_numeric(cells: Iterable[str | None]) -> bool:
    written = [cell for cell in cells if cell and cell.strip() not in ("", "NA")]
    return bool(written) and all(map(_is_number, written))


def _is_number(cell: str | None) -> bool:
    try:
        return math.isfinite(float(cell or ""))
    except ValueError:
        return False
