"""Removes runs and answers from a store that nothing which stays needs, and makes the store small again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, MetaData, Table, Text, cast, delete, func, select, update

from pytest_fairness.core.errors import StoreError, did_you_mean
from pytest_fairness.store import schema
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now
from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.owners import owner_of
from pytest_fairness.store.runs import Runs
from pytest_fairness.store.samples import unpack

_PAGE = 10_000
_EARLIER = {"--fairness-baseline=": "the baseline", "--fairness-adjust=": "the history"}
"""Options that name earlier runs, and what these are of a run."""
_OF_RUNS = (schema.samples, schema.parts, schema.influences, schema.spending, schema.paces)
"""Tables that lose the rows of a run that is removed. Its verdicts stay: each is a look that later runs count."""
_temporary = MetaData()
_kept, _held, _gone = (
    Table(f"pytest_fairness_{name}", _temporary, Column("id", Text, primary_key=True), prefixes=["TEMPORARY"])
    for name in ("kept", "held", "gone")
)
"""Keys and digests of prompts that runs hold which stay; keys that samples of any run hold; runs that go."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs and the answers to remove: those to which all applies that is given."""

    older_than: float | None = None
    """Seconds: they began, or were answered, longer ago."""
    runs: Sequence[str] = ()
    """Their ids, or the beginnings of them."""
    models: Sequence[str] = ()
    """They asked no others. A name without parameters means that with any."""
    keep: Sequence[str] = ()
    """Runs that stay whatever else is given."""


@dataclass(slots=True)
class Pruned:
    """The outcome of pruning."""

    runs: int = 0
    attempts: int = 0
    prompts: int = 0
    grades: int = 0
    size: int = 0
    """Bytes of all that."""
    before: int = 0
    after: int = 0
    """Bytes of the store."""


class _Undo(Exception):
    """Exception that ends a transaction which must change nothing."""


def prune(location: StoreLocation, chosen: Chosen, *, dry: bool) -> Pruned:
    """Remove what was chosen, in one transaction, and compact the store.

    What a run that stays needs to be verified, repeated or compared stays as well: its answers, those that its graders
    asked for, and its baseline. So does the run that ``latest`` means, unless it is named.

    Args:
        location: The store.
        chosen: What to remove.
        dry: Only count it.

    Raises:
        StoreError: A session has the store open, a run or model is not there, or a run that stays needs one that goes.
    """
    with closing(Database(location)) as database:
        owner = owner_of(database)
        try:
            removing = _Removing(database, chosen)
            before = database.size()

            def remove(connection: Connection) -> None:
                if owner.has_company(connection):
                    raise StoreError(f"the store {location} is in use: prune it when the other sessions have ended")
                removing.remove(connection)
                if dry:
                    raise _Undo

            try:
                database.alone(remove)
            except _Undo:
                return removing.pruned
            try:
                database.compact()
            except StoreError as error:
                raise StoreError(f"all that was chosen is removed, and its room is not given back: {error}") from None
            removing.pruned.before, removing.pruned.after = before, database.size()
            return removing.pruned
        finally:
            owner.release()


class _Removing:
    """One removal: which runs stay, what they hold, and what of the rest was chosen."""

    def __init__(self, database: Database, chosen: Chosen) -> None:
        self._database = database
        self._chosen = chosen
        self._runs = Runs(database)
        self.pruned = Pruned()

    def remove(self, connection: Connection) -> None:
        """Remove all that was chosen; it may be done again in a later transaction."""
        self.pruned = Pruned()
        models = self._models(connection)
        gone = self._chosen_runs(connection, models)
        unknown = self._hold(connection, gone)
        of_gone = select(_gone.c.id)
        attempts, prompts, grades = schema.attempts.c, schema.prompts.c, schema.grades.c
        free = attempts.key.not_in(select(_kept.c.id)) & attempts.run.in_(of_gone)
        if unknown:  # what their graders asked for is in no sample, as is what a killed run has left
            free &= attempts.key.in_(select(_held.c.id))
        if self._chosen.older_than is not None:
            free &= attempts.at < Now() - self._chosen.older_than
        if models is not None:
            free &= attempts.model.in_(models)
        self.pruned.grades = self._delete(connection, schema.grades, grades.key.in_(select(attempts.key).where(free)))
        self.pruned.attempts = self._delete(connection, schema.attempts, free)
        orphans = prompts.digest.not_in(select(attempts.prompt)) & prompts.digest.not_in(select(_kept.c.id))
        self.pruned.prompts = self._delete(connection, schema.prompts, orphans)
        emptied: Any = schema.runs.c.document.is_not(None)
        for table in _OF_RUNS:
            emptied |= schema.runs.c.id.in_(select(table.c.run))
        emptied &= schema.runs.c.id.in_(of_gone)
        self.pruned.runs = connection.execute(select(func.count()).where(emptied)).scalar_one()
        self.pruned.size += self._size(connection, schema.runs, emptied)
        for table in _OF_RUNS:
            self._delete(connection, table, table.c.run.in_(of_gone))
        emptied = schema.runs.c.id.in_(of_gone)
        connection.execute(update(schema.runs).where(emptied).values(work=None, document=None))
        connection.execute(delete(schema.stops))  # of sessions that have all ended

    def _chosen_runs(self, connection: Connection, models: Collection[str] | None) -> list[str]:
        """Return the runs that go."""
        runs, chosen = schema.runs.c, self._chosen
        named = {self._runs.find(text, having="anything") for text in chosen.runs}
        wanted = select(runs.id).order_by(runs.started)
        if chosen.older_than is not None:
            wanted = wanted.where(runs.started < Now() - chosen.older_than)
        gone = [run for (run,) in connection.execute(wanted) if not named or run in named]
        if models is not None:
            used = self._models_by_run(connection)
            gone = [run for run in gone if used.get(run) and used[run] <= set(models)]
        stay = {self._runs.find(text, having="anything") for text in chosen.keep}
        ids = list(connection.execute(select(runs.id).order_by(runs.started.desc())).scalars())
        stay |= {run for run in ids if run not in gone}
        if not named and (latest := next(filter(self._has_results, ids), None)):
            stay.add(latest)
        for run in ids:  # newest first: a baseline is older
            for earlier, what in self._earlier(run, ids) if run in stay else ():
                if earlier in named:
                    raise StoreError(f"run {earlier[:8]} is {what} of run {run[:8]}, which stays: name both")
                stay.add(earlier)
        return [run for run in gone if run not in stay]

    def _has_results(self, run: str) -> bool:
        document = self._runs.document(run)
        return document is not None and bool(document["results"]["run"]["attempts"])

    def _earlier(self, run: str, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the runs that a run was held against or adjusted by, and what each is of it."""
        command = ((self._runs.document(run) or {}).get("results") or {}).get("run", {}).get("command") or ()
        for option, what in _EARLIER.items():
            given = [word.removeprefix(option) for word in command if word.startswith(option)]
            yield from ((other, what) for text in given for other in ids if other.startswith(text))

    def _models(self, connection: Connection) -> list[str] | None:
        """Return the keys of the models that were named; None where none was."""
        if not self._chosen.models:
            return None
        samples, parts = schema.samples.c, schema.parts.c
        stored = {(key, key) for (key,) in connection.execute(select(schema.attempts.c.model).distinct())}
        for named in (samples, parts):
            stored.update((name, key) for name, key in connection.execute(select(named.model, named.model_key)))
        chosen: set[str] = set()
        for text in self._chosen.models:
            keys = {key for name, key in stored if text == name or name.startswith(f"{text}?")}
            if not keys:
                names = sorted({name for name, _ in stored})
                raise StoreError(
                    f"the store {self._database.location} has nothing of a model {text!r}; {did_you_mean(text, names)}"
                )
            chosen |= keys
        return sorted(chosen)

    def _models_by_run(self, connection: Connection) -> dict[str, set[str]]:
        """Return the keys of the models that each run has samples of; of a run without, all that it has used."""
        attempts = schema.attempts.c
        of_samples: dict[str, set[str]] = {}
        for columns in (schema.samples.c, schema.parts.c):
            for run, key in connection.execute(select(columns.run, columns.model_key)):
                of_samples.setdefault(run, set()).add(key)
        of_attempts: dict[str, set[str]] = {}
        for run, key in connection.execute(select(attempts.run, attempts.model).distinct()):
            of_attempts.setdefault(run, set()).add(key)
        return of_attempts | of_samples

    def _hold(self, connection: Connection, gone: Collection[str]) -> bool:
        """Note what goes and what samples hold; whether it is unknown what graders of a run that stays have asked."""
        _temporary.drop_all(connection)
        _temporary.create_all(connection)
        self._put(connection, _gone, list(gone))
        unknown = False
        for table in (schema.samples, schema.parts):
            columns = table.c
            for run, probe, key in connection.execute(select(columns.run, columns.probe, columns.model_key)).all():
                same = (columns.run == run, columns.probe == probe, columns.model_key == key)
                for data in connection.execute(select(columns.data).where(*same)).scalars():
                    packed = unpack(data)
                    keys = packed.keys(key)
                    self._put(connection, _held, keys)
                    if run not in gone:
                        self._put(connection, _kept, [*keys, *packed.digests(), *(packed.questions or ())])
                        unknown |= packed.questions is None
        return unknown

    def _put(self, connection: Connection, table: Table, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _PAGE):
            rows = [{"id": key} for key in ids[start : start + _PAGE]]
            connection.execute(self._database.insert_new(table), rows)

    def _delete(self, connection: Connection, table: Table, where: Any) -> int:
        count = connection.execute(select(func.count()).select_from(table).where(where)).scalar_one()
        self.pruned.size += self._size(connection, table, where) if count else 0
        connection.execute(delete(table).where(where))
        return int(count)

    def _size(self, connection: Connection, table: Table, where: Any) -> int:
        """Return the bytes of texts and data in these rows."""
        texts = [column for column in table.columns if column.type.python_type not in (int, float)]
        sizes = [func.coalesce(func.sum(self._length(column)), 0) for column in texts]
        return sum(map(int, connection.execute(select(*sizes).where(where)).one()))

    def _length(self, column: Column[Any]) -> Any:
        if self._database.dialect == "postgresql":
            return func.octet_length(column)
        return func.length(cast(column, LargeBinary))
