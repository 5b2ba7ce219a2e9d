"""Removal of runs and answers that no remaining run needs, and compaction of the store."""

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
_EARLIER_RUN_OPTIONS = {"--fairness-baseline=": "the baseline", "--fairness-adjust=": "the history"}
"""Options that name earlier runs, and the role of such a run in messages."""
_RUN_TABLES = (schema.samples, schema.parts, schema.influences, schema.spending, schema.paces)
"""Tables from which the rows of a run are removed. Its verdicts stay: each is a look that later runs count."""
_temporary = MetaData()
_needed, _sampled, _removed = (
    Table(f"pytest_fairness_{name}", _temporary, Column("id", Text, primary_key=True), prefixes=["TEMPORARY"])
    for name in ("kept", "held", "gone")
)
"""Attempt keys and prompt digests of runs that stay; attempt keys of the samples of any run; runs to remove."""


@dataclass(frozen=True, slots=True)
class PruneSelection:
    """The runs and the answers to remove: those that meet all conditions."""

    older_than: float | None = None
    """The least age in seconds of the run, or of the answer."""
    runs: Sequence[str] = ()
    """Ids of runs, or prefixes of ids."""
    models: Sequence[str] = ()
    """Runs that used no other models. A name without parameters matches any parameters."""
    keep: Sequence[str] = ()
    """Runs that stay even if they meet all conditions."""


@dataclass(slots=True)
class PruneResult:
    """The outcome of pruning."""

    runs: int = 0
    attempts: int = 0
    prompts: int = 0
    grades: int = 0
    size: int = 0
    """Bytes of the removed contents."""
    before: int = 0
    after: int = 0
    """Bytes of the store before and after."""


class _Undo(Exception):
    """Exception that ends a transaction which must change nothing."""


def prune(location: StoreLocation, chosen: PruneSelection, *, dry: bool) -> PruneResult:
    """Remove what was chosen, in one transaction, and compact the store.

    A run that stays keeps all that it needs to be verified, repeated or compared: its answers, those of its graders,
    and its baseline. The run that ``latest`` names also stays, unless it is named by its id.

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
            removal = _Removal(database, chosen)
            before = database.size()

            def remove(connection: Connection) -> None:
                if owner.has_company(connection):
                    raise StoreError(f"the store {location} is in use: prune it when the other sessions have ended")
                removal.remove(connection)
                if dry:
                    raise _Undo

            try:
                database.alone(remove)
            except _Undo:
                return removal.pruned
            try:
                database.compact()
            except StoreError as error:
                raise StoreError(f"all that was chosen is removed, and its room is not given back: {error}") from None
            removal.pruned.before, removal.pruned.after = before, database.size()
            return removal.pruned
        finally:
            owner.release()


class _Removal:
    """One removal: the runs that stay, the rows that they need, and the rest of what was chosen."""

    def __init__(self, database: Database, chosen: PruneSelection) -> None:
        self._database = database
        self._chosen = chosen
        self._runs = Runs(database)
        self.pruned = PruneResult()

    def remove(self, connection: Connection) -> None:
        """Remove all that was chosen; it may be done again in a later transaction."""
        self.pruned = PruneResult()
        models = self._models(connection)
        removed_runs = self._chosen_runs(connection, models)
        unknown_questions = self._fill_temporary_tables(connection, removed_runs)
        removed_ids = select(_removed.c.id)
        attempts, prompts, grades = schema.attempts.c, schema.prompts.c, schema.grades.c
        removable = attempts.key.not_in(select(_needed.c.id)) & attempts.run.in_(removed_ids)
        if unknown_questions:  # the graders' answers are in no sample, and neither are those of a killed run
            removable &= attempts.key.in_(select(_sampled.c.id))
        if self._chosen.older_than is not None:
            removable &= attempts.at < Now() - self._chosen.older_than
        if models is not None:
            removable &= attempts.model.in_(models)
        self.pruned.grades = self._delete(
            connection, schema.grades, grades.key.in_(select(attempts.key).where(removable))
        )
        self.pruned.attempts = self._delete(connection, schema.attempts, removable)
        orphans = prompts.digest.not_in(select(attempts.prompt)) & prompts.digest.not_in(select(_needed.c.id))
        self.pruned.prompts = self._delete(connection, schema.prompts, orphans)
        emptied: Any = schema.runs.c.document.is_not(None)
        for table in _RUN_TABLES:
            emptied |= schema.runs.c.id.in_(select(table.c.run))
        emptied &= schema.runs.c.id.in_(removed_ids)
        self.pruned.runs = connection.execute(select(func.count()).where(emptied)).scalar_one()
        self.pruned.size += self._size(connection, schema.runs, emptied)
        for table in _RUN_TABLES:
            self._delete(connection, table, table.c.run.in_(removed_ids))
        emptied = schema.runs.c.id.in_(removed_ids)
        connection.execute(update(schema.runs).where(emptied).values(work=None, document=None))
        connection.execute(delete(schema.stops))  # of sessions that have all ended

    def _chosen_runs(self, connection: Connection, models: Collection[str] | None) -> list[str]:
        """Return the runs that go."""
        runs, chosen = schema.runs.c, self._chosen
        named_runs = {self._runs.find(text, having="anything") for text in chosen.runs}
        statement = select(runs.id).order_by(runs.started)
        if chosen.older_than is not None:
            statement = statement.where(runs.started < Now() - chosen.older_than)
        removed = [run for (run,) in connection.execute(statement) if not named_runs or run in named_runs]
        if models is not None:
            used = self._models_by_run(connection)
            removed = [run for run in removed if used.get(run) and used[run] <= set(models)]
        staying = {self._runs.find(text, having="anything") for text in chosen.keep}
        ids = list(connection.execute(select(runs.id).order_by(runs.started.desc())).scalars())
        staying |= {run for run in ids if run not in removed}
        if not named_runs and (latest := next(filter(self._has_results, ids), None)):
            staying.add(latest)
        for run in ids:  # newest first: a baseline is older
            for earlier, role in self._earlier_runs(run, ids) if run in staying else ():
                if earlier in named_runs:
                    raise StoreError(f"run {earlier[:8]} is {role} of run {run[:8]}, which stays: name both")
                staying.add(earlier)
        return [run for run in removed if run not in staying]

    def _has_results(self, run: str) -> bool:
        document = self._runs.document(run)
        return document is not None and bool(document["results"]["run"]["attempts"])

    def _earlier_runs(self, run: str, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the runs that a run was compared with or adjusted by, and their roles."""
        command = ((self._runs.document(run) or {}).get("results") or {}).get("run", {}).get("command") or ()
        for option, role in _EARLIER_RUN_OPTIONS.items():
            prefixes = [word.removeprefix(option) for word in command if word.startswith(option)]
            yield from ((other, role) for prefix in prefixes for other in ids if other.startswith(prefix))

    def _models(self, connection: Connection) -> list[str] | None:
        """Return the keys of the models that were named; None where none was."""
        if not self._chosen.models:
            return None
        samples, parts = schema.samples.c, schema.parts.c
        stored = {(key, key) for (key,) in connection.execute(select(schema.attempts.c.model).distinct())}
        for columns in (samples, parts):
            stored.update((name, key) for name, key in connection.execute(select(columns.model, columns.model_key)))
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
        """Return the model keys of each run's samples; of a run without samples, those of its attempts."""
        attempts = schema.attempts.c
        of_samples: dict[str, set[str]] = {}
        for columns in (schema.samples.c, schema.parts.c):
            for run, key in connection.execute(select(columns.run, columns.model_key)):
                of_samples.setdefault(run, set()).add(key)
        of_attempts: dict[str, set[str]] = {}
        for run, key in connection.execute(select(attempts.run, attempts.model).distinct()):
            of_attempts.setdefault(run, set()).add(key)
        return of_attempts | of_samples

    def _fill_temporary_tables(self, connection: Connection, removed_runs: Collection[str]) -> bool:
        """Fill the temporary tables; return whether the graders' requests of a run that stays are unknown."""
        _temporary.drop_all(connection)
        _temporary.create_all(connection)
        self._insert(connection, _removed, list(removed_runs))
        is_unknown = False
        for table in (schema.samples, schema.parts):
            columns = table.c
            for run, probe, key in connection.execute(select(columns.run, columns.probe, columns.model_key)).all():
                is_sample = (columns.run == run, columns.probe == probe, columns.model_key == key)
                for data in connection.execute(select(columns.data).where(*is_sample)).scalars():
                    packed = unpack(data)
                    keys = packed.keys(key)
                    self._insert(connection, _sampled, keys)
                    if run not in removed_runs:
                        self._insert(connection, _needed, [*keys, *packed.digests(), *(packed.questions or ())])
                        is_unknown |= packed.questions is None
        return is_unknown

    def _insert(self, connection: Connection, table: Table, ids: Sequence[str]) -> None:
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
