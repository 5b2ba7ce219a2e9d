"""Runs in the store: their work, verdicts and samples, for reports and for later runs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, select, true, update

from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.formatting import DAY
from pytest_fairness.store import schema
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now, batches
from pytest_fairness.store.location import LATEST
from pytest_fairness.store.samples import StoredSample, join_samples, pack, unpack

_select_results = (
    select(schema.runs.c.id, schema.runs.c.started, schema.runs.c.git, schema.thresholds.c.result)
    .join(schema.thresholds, schema.thresholds.c.run == schema.runs.c.id)
    .where(schema.thresholds.c.result.is_not(None))
)


class Runs:
    """The runs of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, run: str) -> None:
        """Record that a run has begun; each of its processes may do so."""
        self._database.execute(self._database.insert_new(schema.runs).values(id=run, started=Now(), stopped=0))

    def elapsed(self, run: str) -> float:
        """Return the seconds since a run has begun, by the database's clock alone; 0 for one that has not."""
        return self._database.scalar(select(Now() - schema.runs.c.started).filter_by(id=run)) or 0.0

    def describe_work(self, run: str, work: str) -> None:
        """Save the description of a run's work, for the process that prints it."""
        self._database.execute(update(schema.runs).where(schema.runs.c.id == run).values(work=work))

    def work(self, run: str) -> str | None:
        work: str | None = self._database.scalar(select(schema.runs.c.work).filter_by(id=run))
        return work

    def tokens(self, run: str) -> dict[str, int]:
        """Return the tokens that the run has paid for, by kind, as far as the providers counted them."""
        total: dict[str, int] = {}
        for (usage,) in self._database.rows(select(schema.attempts.c.usage).where(schema.attempts.c.run == run)):
            for kind, count in json.loads(usage or "{}").items():
                total[kind] = total.get(kind, 0) + count
        return total

    def expect_thresholds(self, run: str, expected: Mapping[str, Mapping[str, Any]]) -> None:
        """Save which threshold tests the run has selected, so that a missing result is noticed."""
        rows = [{"run": run, "test": test, "expected": json.dumps(what)} for test, what in sorted(expected.items())]
        if rows:
            self._database.execute(self._database.insert_new(schema.thresholds), rows)

    def expected_thresholds(self, run: str) -> dict[str, dict[str, Any]]:
        table = schema.thresholds.c
        rows = self._database.rows(select(table.test, table.expected).where(table.run == run))
        # Sorted here: how a database sorts text depends on its locale.
        return {test: json.loads(expected) for test, expected in sorted(map(tuple, rows))}

    def record_thresholds(self, run: str, results: Mapping[str, Mapping[str, Any]], commit: str | None = None) -> None:
        """Save each threshold's row of the results file, and the commit of the user's project."""
        table = schema.thresholds
        change = update(table).where(table.c.run == run, table.c.test == bindparam("t")).values(result=bindparam("r"))
        rows = [{"t": test, "r": json.dumps(result)} for test, result in sorted(results.items())]

        def record(connection: Connection) -> None:
            connection.execute(change, rows)
            connection.execute(update(schema.runs).where(schema.runs.c.id == run).values(git=commit))

        if rows:
            self._database.write(record)

    def save_influences(self, run: str, test: str, influences: Mapping[str, Any]) -> None:
        """Save the influences of the clusters on the estimate that decided a threshold, as JSON values."""
        row = {"run": run, "test": test, "data": _compress(influences)}
        self._database.execute(self._database.insert_or_replace(schema.influences), [row])

    def influences(self, run: str, test: str) -> dict[str, Any] | None:
        statement = select(schema.influences.c.data).filter_by(run=run, test=test)
        return _decompress(self._database.scalar(statement))

    def save_document(self, run: str, document: Mapping[str, Any]) -> None:
        """Save the document of a run: ``results``, its results file, and ``cards`` by suite."""
        change = update(schema.runs).where(schema.runs.c.id == run)
        self._database.execute(change.values(document=_compress(document)))

    def document(self, run: str) -> dict[str, Any] | None:
        return _decompress(self._database.scalar(select(schema.runs.c.document).filter_by(id=run)))

    def documents(self, last: int) -> list[dict[str, Any]]:
        """Return the documents of the last runs, oldest first."""
        runs = schema.runs.c
        statement = select(runs.document).where(runs.document.is_not(None)).order_by(runs.started.desc()).limit(last)
        documents = [_decompress(data) for (data,) in self._database.rows(statement)]
        return [document for document in reversed(documents) if document is not None]

    def history(self, test: str, before: str | None = None) -> list[dict[str, Any]]:
        """Return the results of a threshold in all sessions that have ended, oldest first.

        Args:
            test: The threshold's id.
            before: Leaves out a run, and runs that started later.

        Returns:
            Rows of the results file, each with ``run``, ``started`` (seconds since 1970) and ``git`` (the commit of the
            user's project, or None).
        """
        runs = schema.runs.c
        statement = _select_results.where(schema.thresholds.c.test == test).order_by(runs.started)
        if before is not None:
            started = select(func.max(runs.started)).where(runs.id == before).scalar_subquery()
            statement = statement.where(runs.id != before, runs.started <= func.coalesce(started, Now()))
        return [
            {"run": run, "started": started, "git": git, **json.loads(result)}
            for run, started, git, result in self._database.rows(statement)
        ]

    def last_results(self, last: int) -> list[tuple[str, float, str | None, dict[str, Any]]]:
        """Return the results of all thresholds in the last runs that have results, oldest run first.

        Args:
            last: The maximum number of runs. Pruned runs keep their results.

        Returns:
            Run, start (seconds since 1970), commit of the user's project, and row of the results file.
        """
        runs, thresholds = schema.runs.c, schema.thresholds.c
        judged = select(thresholds.run).where(thresholds.result.is_not(None))
        newest = select(runs.id).where(runs.id.in_(judged)).order_by(runs.started.desc(), runs.id).limit(last)
        statement = _select_results.where(runs.id.in_(newest)).order_by(runs.started, runs.id, thresholds.test)
        return [(run, started, git, json.loads(result)) for run, started, git, result in self._database.rows(statement)]

    def unfinished(self) -> int:
        """Return how many runs have selected thresholds and recorded no result: killed, or still running."""
        thresholds = schema.thresholds.c
        judged = select(thresholds.run).where(thresholds.result.is_not(None))
        count = select(func.count(thresholds.run.distinct())).where(thresholds.run.not_in(judged))
        return int(self._database.scalar(count) or 0)

    def next_repetition(self, run: str) -> int:
        """Return the first repetition that no attempt before this run was."""
        attempts = schema.attempts.c
        started = select(schema.runs.c.started).filter_by(id=run).scalar_subquery()
        last = select(func.max(attempts.repetition)).where(attempts.at < started, attempts.run != run)
        number: int | None = self._database.scalar(last)
        return 0 if number is None else number + 1

    def outdated(self, run: str, model: str, age: float) -> dict[str, int]:
        """Return how many repetitions of each prompt are outdated: up to the last that is older than ``age`` seconds.

        Ages are counted back from the start of the run, so that all its processes agree; from today's midnight (UTC) if
        it began on an earlier day. An answer from the future has no known age: it is outdated.
        """
        attempts = schema.attempts.c
        ((started, now),) = self._database.rows(select(schema.runs.c.started, Now()).where(schema.runs.c.id == run))
        start = max(started, now - now % DAY)
        last = select(attempts.prompt, func.max(attempts.repetition)).where(
            attempts.model == model,
            attempts.error.is_(None),
            (attempts.at < start - age) | (attempts.at > now + DAY),
        )
        return {prompt: number + 1 for prompt, number in self._database.rows(last.group_by(attempts.prompt))}

    def find(self, text: str, having: Literal["samples", "document", "anything"] = "samples") -> str:
        """Return the id of a run.

        Args:
            text: ``latest``, or the beginning of the id.
            having: Which runs count: those that have judged a sample, those that have ended, or all.

        Raises:
            StoreError: No run matches, or more than one.
        """
        if not text.strip():
            raise StoreError("the run is empty (an unset variable?): name one by its id, or latest")
        runs = schema.runs.c
        judged = runs.id.in_(select(schema.samples.c.run).distinct())
        statement = {"samples": judged, "document": runs.document.is_not(None), "anything": true()}[having]
        rows = self._database.rows(select(runs.id).where(statement).order_by(runs.started))
        ids: list[str] = [run for (run,) in rows if text == LATEST or run.startswith(text)]
        if text == LATEST:
            ids = [next(filter(self._has_attempts, reversed(ids)), "")]
        if not any(ids):
            kind = {"samples": "judged run", "document": "finished run", "anything": "run"}[having]
            raise StoreError(
                f"the store {self._database.location} holds no {kind} {text!r}: name one by its id, or latest"
            )
        if len(ids) > 1:
            raise StoreError(f"{len(ids)} runs begin with {text!r}: {', '.join(ids[:3])}: write more of the id")
        return ids[-1]

    def _has_attempts(self, run: str) -> bool:
        """Return whether a run has attempts: one without is never the latest."""
        document = self.document(run)
        return document is None or bool(document["results"]["run"]["attempts"])

    def with_samples_of(self, probes: Collection[str], before: str) -> list[str]:
        """Return the runs that have a sample of each of these probes and began before a run, newest first."""
        runs, samples = schema.runs.c, schema.samples.c
        measured = select(samples.run).where(samples.probe.in_(probes)).group_by(samples.run)
        began = func.coalesce(select(schema.runs.c.started).filter_by(id=before).scalar_subquery(), Now())
        statement = (
            select(runs.id)
            .where(runs.id.in_(measured.having(func.count(samples.probe.distinct()) == len(probes))))
            .where(runs.id != before, runs.started <= began)
            .order_by(runs.started.desc())
        )
        return [run for (run,) in self._database.rows(statement)]

    def save_sample(self, run: str, sample: StoredSample) -> bool:
        """Save a probe's whole sample of a model; return whether it was new.

        The largest sample is kept: a later look at a threshold holds the earlier ones.
        """
        samples = schema.samples.c
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        if (self._database.scalar(select(samples.attempts).filter_by(**row)) or 0) >= len(sample.attempts):
            return False
        row |= {"model": sample.model, "at": Now(), "attempts": len(sample.attempts), "data": pack(sample)}
        insert = self._database.insert_or_replace(schema.samples, lambda new: new.attempts > samples.attempts)
        self._database.execute(insert.values(row))
        return True

    def save_part(self, run: str, owner: str, sample: StoredSample) -> bool:
        """Save one process's part of a sample, unless the whole sample is stored; return whether it was saved."""
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        if self._database.rows(select(schema.samples.c.run).filter_by(**row)):
            return False
        row |= {"owner": owner, "model": sample.model, "data": pack(sample)}
        self._database.execute(self._database.insert_or_replace(schema.parts), [row])
        return True

    def measured(
        self, run: str, in_memory: Mapping[tuple[str, str], StoredSample] = MappingProxyType({})
    ) -> list[StoredSample]:
        """Return all samples of a run, by probe and model, without the answers; of parts, joined.

        Args:
            run: The run.
            in_memory: Samples that this process has stored, by probe and model key: they are not read again.
        """
        whole_samples = self.samples(run)
        samples = [in_memory.get((probe, key)) or self.sample(run, probe, key) for probe, _, key in whole_samples]
        parts = schema.parts.c
        statement = select(parts.probe, parts.model, parts.model_key, parts.data).where(parts.run == run)
        rows = self._database.rows(statement.order_by(parts.probe, parts.model, parts.model_key, parts.owner))
        parts_by_sample: dict[tuple[str, str, str], list[StoredSample]] = {}
        for row in rows:
            if (row.probe, row.model, row.model_key) not in whole_samples:
                parts_by_sample.setdefault((row.probe, row.model, row.model_key), []).append(self._read(row))
        return [sample for sample in samples if sample] + [join_samples(part) for part in parts_by_sample.values()]

    def sample(self, run: str, probe: str, model_key: str) -> StoredSample | None:
        """Return a probe's sample of a model in a run; its attempts are without their answers."""
        return self._sample(select(schema.samples).filter_by(run=run, probe=probe, model_key=model_key))

    def latest_sample(self, probe: str, model_key: str) -> StoredSample | None:
        """Return the latest sample of a probe on a model."""
        statement = select(schema.samples).filter_by(probe=probe, model_key=model_key)
        return self._sample(statement.order_by(schema.samples.c.at.desc()).limit(1))

    def samples(self, run: str) -> list[tuple[str, str, str]]:
        """Return the samples of a run, oldest first: probe, name of the model, key of the model."""
        samples = schema.samples.c
        statement = select(samples.probe, samples.model, samples.model_key).where(samples.run == run)
        return [tuple(row) for row in self._database.rows(statement.order_by(samples.at))]

    def _sample(self, statement: Any) -> StoredSample | None:
        rows = self._database.rows(statement)
        return self._read(rows[0]) if rows else None

    def _read(self, row: Any) -> StoredSample:
        packed = unpack(row.data)
        texts: dict[str, str] = {}
        for digests in batches(packed.digests()):
            statement = select(schema.prompts).where(schema.prompts.c.digest.in_(digests))
            texts |= {row.digest: row.messages for row in self._database.rows(statement)}
        return packed.sample(row.probe, row.model, row.model_key, texts)


def _compress(content: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 6)


def _decompress(data: bytes | None) -> dict[str, Any] | None:
    return None if data is None else json.loads(zlib.decompress(data))
