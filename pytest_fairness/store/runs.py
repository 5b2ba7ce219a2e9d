"""What each run was: its work, its verdicts and its samples, for this run's report and for later runs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, select, update

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import tables
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now
from pytest_fairness.store.places import LATEST
from pytest_fairness.store.samples import StoredSample, joined, pack, unpack


class Runs:
    """The runs of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, run: str) -> None:
        """Note that a run has begun; each of its processes may do so."""
        self._database.execute(self._database.insert_new(tables.runs).values(id=run, started=Now(), stopped=0))

    def elapsed(self, run: str) -> float:
        """Seconds since a run has begun, by the database's clock alone; 0 for one that has not."""
        return self._database.scalar(select(Now() - tables.runs.c.started).filter_by(id=run)) or 0.0

    def describe_work(self, run: str, work: str) -> None:
        """Keep what the run is going to ask, for the process that tells the user."""
        self._database.execute(update(tables.runs).where(tables.runs.c.id == run).values(work=work))

    def work(self, run: str) -> str | None:
        work: str | None = self._database.scalar(select(tables.runs.c.work).filter_by(id=run))
        return work

    def tokens(self, run: str) -> dict[str, int]:
        """Tokens that the run has paid for, by kind, as far as the providers told."""
        total: dict[str, int] = {}
        for (usage,) in self._database.rows(select(tables.attempts.c.usage).where(tables.attempts.c.run == run)):
            for kind, count in json.loads(usage or "{}").items():
                total[kind] = total.get(kind, 0) + count
        return total

    def expect_thresholds(self, run: str, expected: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep which threshold tests the run has selected, so that a lost one is missed."""
        rows = [{"run": run, "test": test, "expected": json.dumps(what)} for test, what in sorted(expected.items())]
        if rows:
            self._database.execute(self._database.insert_new(tables.thresholds), rows)

    def expected_thresholds(self, run: str) -> dict[str, dict[str, Any]]:
        table = tables.thresholds.c
        rows = self._database.rows(select(table.test, table.expected).where(table.run == run))
        # Sorted here: how a database sorts text depends on its locale.
        return {test: json.loads(expected) for test, expected in sorted(map(tuple, rows))}

    def record_thresholds(self, run: str, results: Mapping[str, Mapping[str, Any]], commit: str | None = None) -> None:
        """Keep each threshold's row of the results file, and the commit of the user's project that they hold for."""
        table = tables.thresholds
        change = update(table).where(table.c.run == run, table.c.test == bindparam("t")).values(result=bindparam("r"))
        rows = [{"t": test, "r": json.dumps(result)} for test, result in sorted(results.items())]

        def record(connection: Connection) -> None:
            connection.execute(change, rows)
            connection.execute(update(tables.runs).where(tables.runs.c.id == run).values(git=commit))

        if rows:
            self._database.write(record)

    def keep_influences(self, run: str, test: str, influences: Mapping[str, Any]) -> None:
        """Keep what each cluster adds to the estimate that decided a threshold, as builtins."""
        row = {"run": run, "test": test, "data": _compressed(influences)}
        self._database.execute(self._database.insert_or_replace(tables.influences), [row])

    def influences(self, run: str, test: str) -> dict[str, Any] | None:
        wanted = select(tables.influences.c.data).filter_by(run=run, test=test)
        return _expanded(self._database.scalar(wanted))

    def keep_document(self, run: str, document: Mapping[str, Any]) -> None:
        """Keep what the run told at its end: ``results``, its results file, and ``cards`` by suite."""
        change = update(tables.runs).where(tables.runs.c.id == run)
        self._database.execute(change.values(document=_compressed(document)))

    def document(self, run: str) -> dict[str, Any] | None:
        return _expanded(self._database.scalar(select(tables.runs.c.document).filter_by(id=run)))

    def documents(self, last: int) -> list[dict[str, Any]]:
        """What the last runs told, oldest first."""
        runs = tables.runs.c
        wanted = select(runs.document).where(runs.document.is_not(None)).order_by(runs.started.desc()).limit(last)
        found = [_expanded(data) for (data,) in self._database.rows(wanted)]
        return [document for document in reversed(found) if document is not None]

    def history(self, test: str, before: str) -> list[dict[str, Any]]:
        """What runs that started before this one said of a threshold, oldest first.

        Each is its row of the results file, with ``run``, ``started`` (seconds since 1970)
        and ``git`` (the commit of the user's project, or None).
        """
        runs = tables.runs.c
        started = select(func.max(runs.started)).where(runs.id == before).scalar_subquery()
        return self._judgments(test, runs.id != before, runs.started <= func.coalesce(started, Now()))

    def judgments(self, test: str) -> list[dict[str, Any]]:
        """Return what every session that has ended said of a threshold, this run's own among them; as `history`."""
        return self._judgments(test)

    def _judgments(self, test: str, *conditions: Any) -> list[dict[str, Any]]:
        runs, thresholds = tables.runs.c, tables.thresholds.c
        wanted = (
            select(runs.id, runs.started, runs.git, thresholds.result)
            .join(tables.thresholds, thresholds.run == runs.id)
            .where(thresholds.test == test, thresholds.result.is_not(None), *conditions)
            .order_by(runs.started)
        )
        return [
            {"run": run, "started": started, "git": git, **json.loads(result)}
            for run, started, git, result in self._database.rows(wanted)
        ]

    def next_repetition(self, run: str) -> int:
        """The first repetition that no attempt before this run was."""
        attempts = tables.attempts.c
        started = select(tables.runs.c.started).filter_by(id=run).scalar_subquery()
        last = select(func.max(attempts.repetition)).where(attempts.at < started, attempts.run != run)
        number: int | None = self._database.scalar(last)
        return 0 if number is None else number + 1

    def find(self, text: str, having: Literal["samples", "document"] = "samples") -> str:
        """The id of the run that is meant, of those that have judged a sample, or have told their results.

        ``text`` is ``latest`` or the beginning of an id.
        Raises `StoreError` where none, or more than one, is meant.
        """
        if not text.strip():
            raise StoreError("the name of the run is empty (an unset variable?): name one by its id, or latest")
        runs = tables.runs.c
        judged = runs.id.in_(select(tables.samples.c.run).distinct())
        wanted = judged if having == "samples" else runs.document.is_not(None)
        known = self._database.rows(select(runs.id).where(wanted).order_by(runs.started))
        ids: list[str] = [run for (run,) in known if text == LATEST or run.startswith(text)]
        if text == LATEST:
            ids = [next(filter(self._has_attempts, reversed(ids)), "")]
        if not any(ids):
            kind = "judged" if having == "samples" else "finished"
            raise StoreError(
                f"the store {self._database.place} holds no {kind} run {text!r}: name one by its id, or latest"
            )
        if len(ids) > 1:
            raise StoreError(f"{len(ids)} runs begin with {text!r}: {', '.join(ids[:3])}: write more of the id")
        return ids[-1]

    def _has_attempts(self, run: str) -> bool:
        """Whether a run has measured anything: one that has not is never the latest."""
        document = self.document(run)
        return document is None or bool(document["results"]["run"]["attempts"])

    def with_samples_of(self, probes: Collection[str], before: str) -> list[str]:
        """Return the runs that have a sample of each of these probes and began before a run, newest first."""
        runs, samples = tables.runs.c, tables.samples.c
        measured = select(samples.run).where(samples.probe.in_(probes)).group_by(samples.run)
        began = func.coalesce(select(tables.runs.c.started).filter_by(id=before).scalar_subquery(), Now())
        wanted = (
            select(runs.id)
            .where(runs.id.in_(measured.having(func.count(samples.probe.distinct()) == len(probes))))
            .where(runs.id != before, runs.started <= began)
            .order_by(runs.started.desc())
        )
        return [run for (run,) in self._database.rows(wanted)]

    def keep_sample(self, run: str, sample: StoredSample) -> bool:
        """Keep what a probe measured of a model in this run; whether it was new.

        The largest sample is kept: a later look at a threshold holds the earlier ones.
        """
        samples = tables.samples.c
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        if (self._database.scalar(select(samples.attempts).filter_by(**row)) or 0) >= len(sample.attempts):
            return False
        row |= {"model": sample.model, "at": Now(), "attempts": len(sample.attempts), "data": pack(sample)}
        keep = self._database.insert_or_replace(tables.samples, lambda new: new.attempts > samples.attempts)
        self._database.execute(keep.values(row))
        return True

    def keep_part(self, run: str, owner: str, sample: StoredSample) -> bool:
        """Keep what one process measured of a probe's items, unless the whole sample is kept; whether it was new."""
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        if self._database.rows(select(tables.samples.c.run).filter_by(**row)):
            return False
        row |= {"owner": owner, "model": sample.model, "data": pack(sample)}
        self._database.execute(self._database.insert_or_replace(tables.parts), [row])
        return True

    def measured(self, run: str) -> list[StoredSample]:
        """All that a run measured, by probe and model, without the answers."""
        whole = self.samples(run)
        found = [self.sample(run, probe, key) for probe, _, key in whole]
        parts = tables.parts.c
        wanted = select(parts.probe, parts.model, parts.model_key, parts.data).where(parts.run == run)
        rows = self._database.rows(wanted.order_by(parts.probe, parts.model, parts.model_key, parts.owner))
        pieces: dict[tuple[str, str, str], list[StoredSample]] = {}
        for row in rows:
            if (row.probe, row.model, row.model_key) not in whole:
                pieces.setdefault((row.probe, row.model, row.model_key), []).append(self._read(row))
        return [sample for sample in found if sample] + [joined(part) for part in pieces.values()]

    def sample(self, run: str, probe: str, model_key: str) -> StoredSample | None:
        """What a probe measured of a model in that run; its attempts are without their answers."""
        samples = tables.samples.c
        return self._sample(
            select(tables.samples).where(samples.run == run, samples.probe == probe, samples.model_key == model_key)
        )

    def latest_sample(self, probe: str, model_key: str) -> StoredSample | None:
        """What a probe measured of a model when it last did."""
        samples = tables.samples.c
        wanted = select(tables.samples).where(samples.probe == probe, samples.model_key == model_key)
        return self._sample(wanted.order_by(samples.at.desc()).limit(1))

    def samples(self, run: str) -> list[tuple[str, str, str]]:
        """Which samples a run has: probe, name of the model, key of the model."""
        samples = tables.samples.c
        wanted = select(samples.probe, samples.model, samples.model_key).where(samples.run == run)
        return [(probe, model, key) for probe, model, key in self._database.rows(wanted.order_by(samples.at))]

    def _sample(self, wanted: Any) -> StoredSample | None:
        found = self._database.rows(wanted)
        return self._read(found[0]) if found else None

    def _read(self, row: Any) -> StoredSample:
        packed = unpack(row.data)
        digests = packed.digests()
        texts: dict[str, str] = {}
        for start in range(0, len(digests), 1000):
            batch = select(tables.prompts).where(tables.prompts.c.digest.in_(digests[start : start + 1000]))
            texts |= {row.digest: row.messages for row in self._database.rows(batch)}
        return packed.sample(row.probe, row.model, row.model_key, texts)


def _compressed(content: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 6)


def _expanded(data: bytes | None) -> dict[str, Any] | None:
    return None if data is None else json.loads(zlib.decompress(data))
