"""From two rows of one threshold to what is different, and whether it is worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.report.view import Row
from pytest_fairness.stats.differences import TAIL, Difference, Told, difference, further
from pytest_fairness.stats.multiplicity import holm

VERDICTS = ("fair", "undecided", "unfair", "invalid")
"""From best to worst: what could not be judged never counts as better than what could."""
MARKS: dict[str | None, int] = {"A": 0, "B": 1, "C": 2, None: 3, "D": 3}
"""What is not marked ranks as a D."""


@dataclass(frozen=True, slots=True)
class Against:
    """One threshold in one column against the same in its reference."""

    new: Row
    old: Row
    reason: str = ""
    """Why no difference can be taken; empty where one can."""
    comparable: bool = True
    """Whether the two asked the same question, so that their verdicts may be held against each other."""
    difference: Difference | None = None
    log: bool = False
    """Whether the difference is a factor, of two ratios."""
    side: int = 0
    """1 where the new estimate is worse than the old one, -1 where it is better; 0 where that cannot be said."""
    p_value: float = 1.0
    """Of the claim that it is worse, or better."""
    p_holm: float = 1.0
    """The same after Holm's correction over the thresholds that were compared of this column."""

    @property
    def told(self) -> int:
        """``side`` where chance does not explain it, else 0."""
        return self.side if self.p_holm <= 2 * TAIL else 0

    @property
    def turns(self) -> tuple[int, int, int]:
        """Of the verdict, the mark and the difference: 1 where it is worse, -1 where it is better."""
        if not self.comparable:
            return 0, 0, 0
        verdict = VERDICTS.index(self.new["verdict"]) - VERDICTS.index(self.old["verdict"])
        marked = self.new.get("scale") is not None and self.old.get("scale") is not None
        mark = MARKS[self.new.get("mark")] - MARKS[self.old.get("mark")] if marked else 0
        return _sign(verdict), _sign(mark), self.told

    @property
    def turn(self) -> int:
        """1 where anything got worse, -1 where nothing did and something got better."""
        return 1 if 1 in self.turns else min(self.turns)

    @property
    def severity(self) -> tuple[int, int, float]:
        """Smaller is worse: the new verdict, the new mark, the p-value."""
        return -VERDICTS.index(self.new["verdict"]), -MARKS[self.new.get("mark")], self.p_holm


def against(new: Row, old: Row, new_influences: Row | None, old_influences: Row | None) -> Against:
    """A threshold's row against that of its reference, with what each cluster adds to either estimate."""
    if reason := _other_question(new, old):
        return Against(new, old, reason, comparable=False)
    if reason := _no_difference(new, old):
        return Against(new, old, reason)
    both = [_told(row, influences) for row, influences in ((new, new_influences), (old, old_influences))]
    first, second = both
    found = difference(first, second)
    if found is None:
        return Against(new, old, "a ratio of zero is infinitely far from any other")
    side, p_value = _worse(new, first, second, found)
    return Against(new, old, difference=found, log=first.log, side=side, p_value=p_value)


def corrected(line: Sequence[Against | None]) -> list[Against | None]:
    """All of one column, with Holm's correction over those that have a difference."""
    places = [place for place, each in enumerate(line) if each is not None and each.difference is not None]
    p_values = dict(
        zip(places, holm([each.p_value for each in line if each is not None and each.difference]), strict=True)
    )
    return [
        replace(each, p_holm=p_values[place]) if each is not None and place in p_values else each
        for place, each in enumerate(line)
    ]


def _other_question(new: Row, old: Row) -> str:
    if not (new["metric"] and old["metric"]):
        return ""
    if _asked(new) != _asked(old):
        return "another metric was compared"
    if new["slice"] != old["slice"]:
        return "another part of the sample was compared"
    if _bounds(new) != _bounds(old):
        return "its bounds were others"
    return ""


def _asked(row: Row) -> str:
    """The metric without the groups, which are found in the data where all pairs are compared."""
    groups = list(row["groups"])
    metric = str(row["metric"])
    return metric.removesuffix(f"{groups[0]}/{groups[1]})") if len(groups) == 2 else metric


def _bounds(row: Row) -> list[tuple[str, float]]:
    return [(comparison["op"], comparison["bound"]) for comparison in row["comparisons"]]


def _no_difference(new: Row, old: Row) -> str:
    if new["estimate"] is None or old["estimate"] is None:
        return "it was not measured in both"
    if new["metric"] != old["metric"] and not (_is_size(new) and set(new["groups"]) == set(old["groups"])):
        return f"another pair of groups decided: {' and '.join(new['groups'])}, not {' and '.join(old['groups'])}"
    if new["metric"].endswith(" against the baseline"):
        return "each was held against a baseline of its own"
    return ""


def _is_size(row: Row) -> bool:
    """Whether the value has no sign: a gap by its size, or the smaller rate over the larger, whichever that is."""
    metric = row["metric"]
    all_pairs = metric.startswith("ratio(") and row.get("attribute") is not None and row.get("reference") is None
    return all_pairs or metric.startswith(("abs ", "worst_ratio("))


def _told(row: Row, influences: Row | None) -> Told:
    log = row["metric"].startswith(("ratio(", "worst_ratio("))
    value, low, high = (
        _scaled(end, log=log) for end in (row["estimate"], _or(row["low"], -math.inf), _or(row["high"], math.inf))
    )
    known: dict[str, Any] = {"confidence": row["confidence"], "ungraded": sum(row["ungraded"].values()), "log": log}
    if influences is not None and influences["log"] == log:
        known |= {"influences": influences["values"], "error": influences["error"] or 0.0}
    return Told(value, low, high, **known)


def _scaled(value: float, *, log: bool) -> float:
    if not log:
        return value
    return math.log(value) if value > 0 else -math.inf


def _worse(row: Row, new: Told, old: Told, found: Difference) -> tuple[int, float]:
    """On which side of no change it lies, 1 where that is the worse one, and the p-value of the claim."""
    low, high = row["bounds"]
    if _is_size(row):
        return further(new, old, 0.0)
    if low is not None and high is not None:
        return further(new, old, _parity(_scaled(low, log=new.log), _scaled(high, log=new.log)))
    upwards = _sign(found.value - (1.0 if new.log else 0.0))
    return (-upwards if low is not None else upwards), found.p_value


def _parity(low: float, high: float) -> float:
    """What lies in the middle of two bounds: no difference where they hold it, else their mean."""
    return 0.0 if low < 0 < high else (low + high) / 2


def _or(value: float | None, edge: float) -> float:
    return edge if value is None else value


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
