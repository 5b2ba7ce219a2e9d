"""What each run was: its work, its verdicts and its samples, for this run's report and for later runs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, bindparam, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import tables
from pytest_fairness.store.database import Database
from pytest_fairness.store.samples import StoredSample, pack, unpack

LATEST = "latest"
"""Names the newest run that has judged something."""


class Runs:
    """The runs of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, run: str) -> None:
        """Note that a run has begun; each of its processes may say so."""
        with self._database.writing() as connection:
            row = {"id": run, "started": time.time(), "stopped": 0}
            connection.execute(insert(tables.runs).prefix_with("OR IGNORE"), [row])

    def stop(self, run: str) -> None:
        """Let no process of the run send anything more."""
        with self._database.writing() as connection:
            connection.execute(update(tables.runs).where(tables.runs.c.id == run).values(stopped=1))

    def describe_work(self, run: str, work: str) -> None:
        """Keep what the run is going to ask, for the process that tells the user."""
        with self._database.writing() as connection:
            connection.execute(update(tables.runs).where(tables.runs.c.id == run).values(work=work))

    def work(self, run: str) -> str | None:
        with self._database.reading() as connection:
            return connection.execute(select(tables.runs.c.work).filter_by(id=run)).scalar()

    def tokens(self, run: str) -> dict[str, int]:
        """Tokens that the run has paid for, by kind, as far as the providers told."""
        total: dict[str, int] = {}
        with self._database.reading() as connection:
            for (usage,) in connection.execute(select(tables.attempts.c.usage).where(tables.attempts.c.run == run)):
                for kind, count in json.loads(usage or "{}").items():
                    total[kind] = total.get(kind, 0) + count
        return total

    def expect_thresholds(self, run: str, expected: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep which threshold tests the run has selected, so that a lost one is missed."""
        rows = [{"run": run, "test": test, "expected": json.dumps(what)} for test, what in expected.items()]
        if rows:
            with self._database.writing() as connection:
                connection.execute(insert(tables.thresholds).prefix_with("OR IGNORE"), rows)

    def expected_thresholds(self, run: str) -> dict[str, dict[str, Any]]:
        with self._database.reading() as connection:
            table = tables.thresholds.c
            rows = connection.execute(select(table.test, table.expected).where(table.run == run).order_by(table.test))
            return {test: json.loads(expected) for test, expected in rows}

    def record_thresholds(self, run: str, results: Mapping[str, Mapping[str, Any]], commit: str | None = None) -> None:
        """Keep each threshold's row of the results file, and the commit of the user's project that they hold for."""
        table = tables.thresholds
        change = update(table).where(table.c.run == run, table.c.test == bindparam("t")).values(result=bindparam("r"))
        rows = [{"t": test, "r": json.dumps(result)} for test, result in results.items()]
        if rows:
            with self._database.writing() as connection:
                connection.execute(change, rows)
                connection.execute(update(tables.runs).where(tables.runs.c.id == run).values(git=commit))

    def history(self, test: str, before: str) -> list[dict[str, Any]]:
        """What earlier runs than ``before`` said of a threshold, oldest first.

        Each is its row of the results file, with ``run``, ``started`` (seconds since 1970)
        and ``git`` (the commit of the user's project, or None).
        """
        runs, thresholds = tables.runs.c, tables.thresholds.c
        wanted = (
            select(runs.id, runs.started, runs.git, thresholds.result)
            .join(tables.thresholds, thresholds.run == runs.id)
            .where(thresholds.test == test, thresholds.result.is_not(None), runs.id != before)
            .order_by(runs.started)
        )
        with self._database.reading() as connection:
            return [
                {"run": run, "started": started, "git": git, **json.loads(result)}
                for run, started, git, result in connection.execute(wanted)
            ]

    def next_repetition(self, run: str) -> int:
        """The first repetition that no attempt before this run was."""
        attempts = tables.attempts.c
        started = select(tables.runs.c.started).filter_by(id=run).scalar_subquery()
        with self._database.reading() as connection:
            last = connection.execute(
                select(func.max(attempts.repetition)).where(attempts.at < started, attempts.run != run)
            )
            number = last.scalar()
        return 0 if number is None else number + 1

    def find(self, text: str) -> str:
        """The id of the run that is meant: ``latest``, or the beginning of an id.

        Raises `StoreError` where none, or more than one, is meant.
        """
        runs = tables.runs.c
        judged = select(tables.samples.c.run).distinct()
        with self._database.reading() as connection:
            known = connection.execute(select(runs.id).where(runs.id.in_(judged)).order_by(runs.started)).scalars()
            ids: list[str] = [run for run in known if text == LATEST or run.startswith(text)]
        if not ids:
            raise StoreError(
                f"the store {self._database.path} holds no judged run {text!r}: name one by its id, or latest"
            )
        if text != LATEST and len(ids) > 1:
            raise StoreError(f"{len(ids)} runs begin with {text!r}: {', '.join(ids[:3])}: write more of the id")
        return ids[-1]

    def keep_sample(self, run: str, sample: StoredSample, *, messages: bool) -> None:
        """Keep what a probe measured of a model in this run; ``messages`` as well where no attempt has kept them.

        The largest sample is kept: a later look at a threshold holds the earlier ones.
        """
        samples = tables.samples.c
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        kept = select(samples.attempts).filter_by(**row)
        with self._database.reading() as connection:
            if (connection.execute(kept).scalar() or 0) >= len(sample.attempts):
                return
        row |= {"model": sample.model, "at": time.time(), "attempts": len(sample.attempts), "data": pack(sample)}
        with self._database.writing() as connection:
            statement = upsert(tables.samples).values(row)
            new = {name: statement.excluded[name] for name in ("at", "attempts", "data")}
            larger = statement.excluded.attempts > samples.attempts
            connection.execute(statement.on_conflict_do_update(set_=new, where=larger))
            if messages:
                texts = [{"digest": digest, "messages": text} for digest, text in sample.messages().items()]
                connection.execute(insert(tables.prompts).prefix_with("OR IGNORE"), texts)

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
        with self._database.reading() as connection:
            return [(probe, model, key) for probe, model, key in connection.execute(wanted.order_by(samples.at))]

    def _sample(self, wanted: Any) -> StoredSample | None:
        with self._database.reading() as connection:
            row: Row[Any] | None = connection.execute(wanted).first()
            if row is None:
                return None
            packed = unpack(row.data)
            digests = packed.digests()
            texts: dict[str, str] = {}
            for start in range(0, len(digests), 1000):
                batch = select(tables.prompts).where(tables.prompts.c.digest.in_(digests[start : start + 1000]))
                texts |= {row.digest: row.messages for row in connection.execute(batch)}
        return packed.sample(row.probe, row.model, row.model_key, texts)
