"""Interim looks at thresholds: each judgment of a threshold on a model gets a number, also across sessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pytest_fairness.store import schema
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database

_SAME_THRESHOLD = "WHERE test = :test AND probe = :probe AND model = :model"
_SELECT = f"{schema.looks.select()} {_SAME_THRESHOLD} ORDER BY number"
_DELETE = f"DELETE FROM looks {_SAME_THRESHOLD} AND session = :session"  # noqa: S608 - constants
_CONCLUDE = f"""
UPDATE looks SET verdict = :verdict {_SAME_THRESHOLD}
AND (session = :session OR (identity = :identity AND verdict IS NULL))
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLook:
    """A judgment of a threshold on a sample of answers that no other look has."""

    test: str
    probe: str
    model: str
    """A digest of the model; looks are counted for each."""
    identity: str
    """A digest of the answers and the question."""
    run: str
    session: str
    number: int = 0
    """The number of the look, from 1."""
    verdict: str | None = None
    """None until it is judged, and if its session was killed."""


class Looks:
    """The looks in one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(
        self, look: StoredLook, others: Collection[StoredLook], *, is_declared: bool = True, seen: int = 0
    ) -> tuple[StoredLook, list[StoredLook]]:
        """Record a look before its verdict is known; return it with its number, and all other looks.

        In one transaction, which overlaps with none of another session: two that judge at once have two numbers.
        Answers that are judged again keep their number. The looks of one session share a number, even if a plan splits
        it. The number 1 is that of the first sample which nothing can have chosen that was seen before. A try-out has a
        later one, as it may call a model unfair.

        Args:
            look: The look, without its number.
            others: Looks of other sources: results of older versions.
            is_declared: Whether the sample is that which its probe declares, whatever was seen of it before.
            seen: The number of other samples that were asked before; without any, a part of it may be the first.
        """

        def record(connection: StoreConnection) -> tuple[StoredLook, list[StoredLook]]:
            connection.execute("SELECT number FROM layout FOR UPDATE")
            rows = connection.mappings(_SELECT, test=look.test, probe=look.probe, model=look.model)
            stored = {row["identity"]: StoredLook(**row) for row in map(_without_sequence, rows)}
            looks = [*stored.values(), *(other for other in others if other.identity not in stored)]
            new = replace(look, number=_look_number(look, looks, is_declared=is_declared, seen=seen))
            connection.execute(schema.looks.insert_new(), **asdict(new), sequence="")
            return new, looks

        return self._database.write(record)

    def conclude(self, look: StoredLook, session: str, verdict: str | None) -> None:
        """Save the verdict on a look of a session; without a verdict, delete its looks: no result was shown."""
        values = {**asdict(look), "session": session, "verdict": verdict}
        self._database.execute(_DELETE if verdict is None else _CONCLUDE, **values)


def _without_sequence(row: dict[str, Any]) -> dict[str, Any]:
    del row["sequence"]
    return row


def _look_number(look: StoredLook, looks: Sequence[StoredLook], *, is_declared: bool, seen: int) -> int:
    of_answers = [other.number for other in looks if other.identity == look.identity]
    of_session = [other.number for other in looks if other.session == look.session]
    for numbers in (of_answers, of_session):
        if numbers:
            return max(numbers)
    # `test_best_of_several_seeds_is_a_later_run`, `test_size_that_a_tryout_may_have_chosen_is_a_later_run`
    if (is_declared and all(other.number > 1 for other in looks)) or not (seen or looks):
        return 1
    # In merged stores several runs may have the same number.
    return 1 + max(len({other.session for other in looks}), *(other.number for other in looks), seen, 1)
