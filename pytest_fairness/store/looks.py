"""Looks at thresholds: which judged run of a threshold on a model a session is, also beside others at the same time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace

from sqlalchemy import ColumnElement, Connection, delete, select, update

from pytest_fairness.store import schema
from pytest_fairness.store.database import Database

_looks = schema.looks.c


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLook:
    """A judgment of a threshold on answers of its own."""

    test: str
    probe: str
    model: str
    """A digest of the model over which looks are counted."""
    identity: str
    """A digest of the answers and the question."""
    run: str
    session: str
    sequence: str = ""
    """A digest that runs share whose samples may grow into each other."""
    number: int = 0
    """Number of the judged run, from 1."""
    verdict: str | None = None
    """None while it is judged, and for good where its session was killed."""


class Looks:
    """The looks in one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(
        self, look: StoredLook, others: Collection[StoredLook], extends: Callable[[str], bool], *, keep: bool = True
    ) -> tuple[StoredLook, list[StoredLook]]:
        """Record a look before its verdict is known; return it with its number, and all that are known besides.

        In one transaction, which overlaps with none of another session: two that judge at once have two numbers.
        The same answers are judged again under their number; the looks of one session, which a plan or reruns have
        divided, have one; so have those of a sample that grows.

        Args:
            look: The look, without its number.
            others: Looks that are known from elsewhere: results of older versions.
            extends: Whether the sample holds that of a run with the same sequence.
            keep: Whether to record it; a try-out is counted by nobody.
        """

        def record(connection: Connection) -> tuple[StoredLook, list[StoredLook]]:
            connection.execute(select(schema.layout).with_for_update())  # SQLite's writes are exclusive already
            rows = connection.execute(select(schema.looks).where(*_is_alike(look)).order_by(_looks.number)).all()
            stored = {row.identity: StoredLook(**row._mapping) for row in rows}
            looks = [*stored.values(), *(other for other in others if other.identity not in stored)]
            new = replace(look, number=_number(look, looks, extends))
            if keep:
                connection.execute(self._database.insert_new(schema.looks), [asdict(new)])
            return new, looks

        return self._database.write(record)

    def conclude(self, look: StoredLook, session: str, verdict: str | None) -> None:
        """Save the verdict on a look that a session took; without one, its looks are forgotten: nothing was seen."""
        own = _looks.session == session
        alike = _is_alike(look)
        if verdict is None:
            self._database.execute(delete(schema.looks).where(own, *alike))
        else:
            unfinished = (_looks.identity == look.identity) & _looks.verdict.is_(None)
            change = update(schema.looks).values(verdict=verdict)
            self._database.execute(change.where(own | unfinished, *alike))


def _is_alike(look: StoredLook) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of the looks at the same threshold on the same model."""
    return _looks.test == look.test, _looks.probe == look.probe, _looks.model == look.model


def _number(look: StoredLook, looks: Sequence[StoredLook], extends: Callable[[str], bool]) -> int:
    same = [other.number for other in looks if other.identity == look.identity]
    own = [other.number for other in looks if other.session == look.session]
    grown = [other.number for other in looks if look.sequence == other.sequence != "" and extends(other.run)]
    for numbers in (same, own, grown):
        if numbers:
            return max(numbers)
    # Of stores that were joined, several runs may have one number.
    return 1 + max(len({other.session for other in looks}), *(other.number for other in looks), 0)
