"""Removal of runs and answers that no remaining run needs, and compaction of the store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_fairness.core.errors import StoreError, did_you_mean
from pytest_fairness.store import schema
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database
from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.owners import owner_of
from pytest_fairness.store.runs import Runs
from pytest_fairness.store.samples import unpack
from pytest_fairness.store.schema import Table

_BASELINE = "--fairness-baseline="
_RUN_TABLES = (schema.samples, schema.parts, schema.influences, schema.spending, schema.paces)
"""Tables from which the rows of a run are removed. Its verdicts stay: each is a look that later runs count."""
_TEMPORARY = ("removed_runs", "sampled_ids", "needed_ids")
"""Runs to remove; attempt keys of the samples of any run; attempt keys and prompt digests of runs that stay."""
_REMOVABLE = "run IN (SELECT id FROM removed_runs) AND key NOT IN (SELECT id FROM needed_ids)"
_REMOVED = "IN (SELECT id FROM removed_runs)"
_ORPHANS = "digest NOT IN (SELECT prompt FROM attempts) AND digest NOT IN (SELECT id FROM needed_ids)"


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
    and its baseline. The newest run and the newest that passed, either of which ``latest`` may name, stay too, unless
    runs are named by their ids.

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

            def remove(connection: StoreConnection) -> None:
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

    def remove(self, connection: StoreConnection) -> None:
        """Remove all that was chosen; it may be done again in a later transaction."""
        self.pruned = PruneResult()
        models = self._models(connection)
        removed_runs = self._chosen_runs(connection, models)
        unknown_questions = self._fill_temporary_tables(connection, removed_runs)
        removable = _REMOVABLE
        if unknown_questions:  # the graders' answers are in no sample, and neither are those of a killed run
            removable += " AND key IN (SELECT id FROM sampled_ids)"
        if self._chosen.older_than is not None:
            removable += " AND at < unix_time() - :age"
        if models is not None:
            removable += " AND model IN :models"
        values = {"age": self._chosen.older_than, "models": models}
        of_removable = f"key IN (SELECT key FROM attempts WHERE {removable})"  # noqa: S608 - constants
        self.pruned.grades = self._delete(connection, schema.grades, of_removable, **values)
        self.pruned.attempts = self._delete(connection, schema.attempts, removable, **values)
        self.pruned.prompts = self._delete(connection, schema.prompts, _ORPHANS)
        has_data = " OR ".join(f"id IN (SELECT run FROM {table.name})" for table in _RUN_TABLES)  # noqa: S608 - constants
        emptied = f"id {_REMOVED} AND (document IS NOT NULL OR {has_data})"
        self.pruned.runs = self._measure(connection, schema.runs, emptied)
        for table in _RUN_TABLES:
            self._delete(connection, table, f"run {_REMOVED}")
        connection.execute("UPDATE runs SET work = NULL, document = NULL WHERE id IN (SELECT id FROM removed_runs)")
        connection.execute("DELETE FROM stops")  # of sessions that have all ended

    def _chosen_runs(self, connection: StoreConnection, models: Collection[str] | None) -> list[str]:
        """Return the runs that go."""
        chosen = self._chosen
        named_runs = {self._runs.find(text, having="anything") for text in chosen.runs}
        ids = connection.column("SELECT id FROM runs ORDER BY started DESC")
        removed = ids
        if chosen.older_than is not None:
            older = "SELECT id FROM runs WHERE started < unix_time() - :age"
            removed = connection.column(older, age=chosen.older_than)
        if named_runs:
            removed = [run for run in removed if run in named_runs]
        if models is not None:
            used = self._models_by_run(connection)
            removed = [run for run in removed if used.get(run) and used[run] <= set(models)]
        staying = {self._runs.find(text, having="anything") for text in chosen.keep}
        staying |= {run for run in ids if run not in removed}
        if not named_runs:
            with_results = list(filter(self._has_results, ids))
            staying.update(with_results[:1])
            # test_newest_passed_run_stays_as_baseline
            staying.update(islice(filter(self._runs.passed, with_results), 1))
        for run in ids:  # newest first: a baseline is older
            for baseline in self._baselines(run, ids) if run in staying else ():
                if baseline in named_runs:
                    raise StoreError(f"run {baseline[:8]} is the baseline of run {run[:8]}, which stays: name both")
                staying.add(baseline)
        return [run for run in removed if run not in staying]

    def _has_results(self, run: str) -> bool:
        document = self._runs.document(run)
        return document is not None and bool(document["results"]["run"]["attempts"])

    def _baselines(self, run: str, ids: Sequence[str]) -> Iterator[str]:
        """Yield the runs that a run was compared with."""
        command = ((self._runs.document(run) or {}).get("results") or {}).get("run", {}).get("command") or ()
        prefixes = [word.removeprefix(_BASELINE) for word in command if word.startswith(_BASELINE)]
        yield from (other for prefix in prefixes for other in ids if other.startswith(prefix))

    def _models(self, connection: StoreConnection) -> list[str] | None:
        """Return the keys of the models that were named; None where none was."""
        if not self._chosen.models:
            return None
        stored = set(connection.rows("SELECT DISTINCT model, model FROM attempts"))
        stored.update(connection.rows("SELECT model, model_key FROM samples"))
        stored.update(connection.rows("SELECT model, model_key FROM parts"))
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

    def _models_by_run(self, connection: StoreConnection) -> dict[str, set[str]]:
        """Return the model keys of each run's samples; of a run without samples, those of its attempts."""
        of_samples, of_attempts = dict[str, set[str]](), dict[str, set[str]]()
        for run, key in connection.rows("SELECT run, model_key FROM samples UNION SELECT run, model_key FROM parts"):
            of_samples.setdefault(run, set()).add(key)
        for run, key in connection.rows("SELECT DISTINCT run, model FROM attempts"):
            of_attempts.setdefault(run, set()).add(key)
        return of_attempts | of_samples

    def _fill_temporary_tables(self, connection: StoreConnection, removed_runs: Collection[str]) -> bool:
        """Fill the temporary tables; return whether the graders' requests of a run that stays are unknown."""
        for name in _TEMPORARY:
            connection.execute(f"DROP TABLE IF EXISTS {name}")
            connection.execute(f"CREATE TEMPORARY TABLE {name} (id TEXT NOT NULL PRIMARY KEY)")
        self._insert(connection, "removed_runs", removed_runs)
        is_unknown = False
        for table in ("samples", "parts"):
            identity = "run = :run AND probe = :probe AND model_key = :model_key"
            for row in connection.mappings(f"SELECT DISTINCT run, probe, model_key FROM {table}"):  # noqa: S608 - constants
                for data in connection.column(f"SELECT data FROM {table} WHERE {identity}", **row):  # noqa: S608 - constants
                    packed = unpack(data)
                    keys = packed.keys(row["model_key"])
                    self._insert(connection, "sampled_ids", keys)
                    if row["run"] not in removed_runs:
                        self._insert(connection, "needed_ids", [*keys, *packed.digests(), *(packed.questions or ())])
                        is_unknown |= packed.questions is None
        return is_unknown

    def _insert(self, connection: StoreConnection, table: str, ids: Collection[str]) -> None:
        rows = [{"id": key} for key in ids]
        connection.execute_many(f"INSERT INTO {table} (id) VALUES (:id) ON CONFLICT DO NOTHING", rows)  # noqa: S608 - constants

    def _delete(self, connection: StoreConnection, table: Table, where: str, **values: Any) -> int:
        count = self._measure(connection, table, where, **values)
        connection.execute(f"DELETE FROM {table.name} WHERE {where}", **values)  # noqa: S608 - constants
        return count

    def _measure(self, connection: StoreConnection, table: Table, where: str, **values: Any) -> int:
        """Add the bytes of texts and data in these rows to the result; return the number of rows."""
        sizes = ", ".join(f"sum(octet_length({name}))" for name in table.texts)
        statement = f"SELECT count(*), {sizes} FROM {table.name} WHERE {where}"  # noqa: S608 - constants
        ((count, *bytes_of_columns),) = connection.rows(statement, **values)
        self.pruned.size += sum(int(size or 0) for size in bytes_of_columns)
        return int(count)
