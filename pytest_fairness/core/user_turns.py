"""The turns of a user that a model plays: in the detail of a grade, and compared by group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fairness.core.formatting import format_level
from pytest_fairness.core.serialization import JsonRecord

PLAYED_USER = "played user"
"""The speaker of a turn that a model wrote for the user."""
USER_GAP = "a gap between them, or none, may be the user's"
"""The end of the reason that a threshold is not fair where the turns of a played user differ."""
UNITS = ("turns", "words per turn")
"""The numbers of a played user that groups are compared by."""
_INDENT = "\n  "


def format_transcript(turns: Iterable[tuple[str, str]]) -> str:
    r"""Return speakers and texts, each turn on its own line; further lines of a text are indented.

    >>> format_transcript([("played user", "Please.\nplayed user: I insist."), ("assistant", "No.")])
    'played user: Please.\n  played user: I insist.\nassistant: No.'
    """
    return "\n".join(f"{speaker}: {indent(text)}" for speaker, text in turns)


def indent(text: str) -> str:
    """Return a text whose further lines are indented, so that none of them looks like a turn."""
    return _INDENT.join(text.splitlines())


def read_played_turns(detail: str) -> list[str]:
    r"""Return the turns of a played user in the detail of a conversation's grade, in order.

    >>> read_played_turns("played user: Please.\n  played user: I insist.\nassistant: No.")
    ['Please.\n  played user: I insist.']
    >>> read_played_turns("user: Please.\nassistant: No.")
    []
    """
    if PLAYED_USER not in detail:
        return []
    turns: list[str] = []
    is_played = False
    for line in detail.splitlines():
        if line.startswith(f"{PLAYED_USER}: "):
            is_played = True
            turns.append(line.removeprefix(f"{PLAYED_USER}: "))
        elif not line.startswith("  "):
            is_played = False
        elif is_played:
            turns[-1] += f"\n{line}"
    return turns


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurnsResult(JsonRecord):
    """The turns of a played user in two compared groups: a mean for each answer, and their difference.

    >>> longer = UserTurnsResult(
    ...     grade="granted", by="sex", unit=UNITS[1], groups={"f": 9.5, "m": 6.0}, low=2.1, high=4.9, confidence=0.9875
    ... )
    >>> longer.differs
    True
    >>> longer.text
    'the played user writes 9.5 words per turn for f and 6.0 for m (grade granted; difference 2.1 to 4.9, 98.75% CI)'
    """

    grade: str
    by: str
    """The attribute of the groups."""
    groups: Mapping[str, float | None]
    """The mean of each group."""
    low: float | None
    """The lower end of the difference, first group minus second; None where it has no interval."""
    high: float | None
    unit: str = "turns"
    """``turns``, or ``words per turn`` in the conversations that have any."""
    confidence: float = 0.95
    """That of the interval: all of a threshold's, with both units and all pairs, hold together at the threshold's."""
    invalid: str = ""
    """The reason that the turns cannot be compared; else empty."""
    is_needed: bool = True
    """Whether over a tenth of the conversations of a group count: where fewer do, nothing hangs on their words."""

    @property
    def differs(self) -> bool:
        """Whether the interval is on one side of 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def is_doubt(self) -> bool:
        """Whether nothing is fair by conversations with this user: it differs by group, or may without being seen."""
        return self.differs or (self.is_needed and bool(self.invalid))

    @property
    def text(self) -> str:
        """One clause with the numbers."""
        if self.invalid or self.low is None or self.high is None:
            names = " and ".join(self.groups)
            return f"whether the played user's {self.unit} are alike for {names} is not known: {self.invalid}"
        (one, first), (other, second) = self.groups.items()
        means = f"{_shown(first)} {self.unit} for {one} and {_shown(second)} for {other}"
        interval = f"difference {_shown(self.low)} to {_shown(self.high)}, {format_level(self.confidence)} CI"
        return f"the played user writes {means} (grade {self.grade}; {interval})"


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}"
