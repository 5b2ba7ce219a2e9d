"""Runs in the store: their work, verdicts and samples, for reports and for later runs."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.formatting import DAY
from pytest_fairness.store import schema
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database
from pytest_fairness.store.location import LATEST
from pytest_fairness.store.samples import StoredSample, join_samples, pack, unpack

_SELECT_RESULTS = "SELECT id, started, git, result FROM runs JOIN thresholds ON run = id WHERE result IS NOT NULL"
_INSERT_THRESHOLD = """
INSERT INTO thresholds (run, test, expected) VALUES (:run, :test, :expected) ON CONFLICT DO NOTHING
"""
_OF_TEST = " AND test IN :tests"
_UNTIL = " AND id <> :before AND started <= coalesce((SELECT started FROM runs WHERE id = :before), unix_time())"
_OF_LAST_RUNS = """
 AND id IN (
  SELECT id FROM runs WHERE id IN (SELECT run FROM thresholds WHERE result IS NOT NULL)
  ORDER BY started DESC, id LIMIT :last)
ORDER BY started, id, test
"""
_SELECT_RUNS = {
    "samples": "SELECT id FROM runs WHERE id IN (SELECT run FROM samples) ORDER BY started",
    "document": "SELECT id FROM runs WHERE document IS NOT NULL ORDER BY started",
    "anything": "SELECT id FROM runs ORDER BY started",
}
_COUNT_UNFINISHED = """
SELECT count(DISTINCT run) FROM thresholds WHERE run NOT IN (SELECT run FROM thresholds WHERE result IS NOT NULL)
"""
_SELECT_LAST_REPETITION = """
SELECT max(repetition) FROM attempts WHERE at < (SELECT started FROM runs WHERE id = :run) AND run <> :run
"""
_SELECT_OUTDATED = """
SELECT prompt, max(repetition) FROM attempts
WHERE model = :model AND error IS NULL AND (at < :oldest OR at > :newest) GROUP BY prompt
"""
_SELECT_SAMPLE_SIZE = "SELECT attempts FROM samples WHERE run = :run AND probe = :probe AND model_key = :model_key"
_SELECT_SAMPLE = """
SELECT probe, model, model_key, data FROM samples WHERE run = :run AND probe = :probe AND model_key = :model_key
"""
_SELECT_LATEST_SAMPLE = """
SELECT probe, model, model_key, data FROM samples
WHERE probe = :probe AND model_key = :model_key ORDER BY at DESC LIMIT 1
"""
_OF_OTHERS = "WHERE probe = :probe AND run <> :run AND (model_key = :model_key OR (model = :model AND model <> ''))"
# Samples are told apart by their sizes, which reads none of them.
_COUNT_OTHERS = f"""
SELECT count(*) FROM (
 SELECT DISTINCT model_key, attempts, octet_length(data) FROM samples {_OF_OTHERS}
 UNION ALL
 SELECT DISTINCT model_key, 0, size FROM (
  SELECT model_key, sum(octet_length(data)) AS size FROM parts
  {_OF_OTHERS} AND run NOT IN (SELECT run FROM samples {_OF_OTHERS}) GROUP BY run, model_key) AS by_run
) AS others
"""  # noqa: S608 - constants
_SELECT_ASKED = "SELECT DISTINCT prompt FROM attempts WHERE run = :run AND model = :model"
_SELECT_ANSWERS = """
SELECT prompt FROM attempts
WHERE model = :model AND prompt IN :prompts AND repetition < :before AND error IS NULL LIMIT 1
"""
_SELECT_PARTS = """
SELECT probe, model, model_key, owner FROM parts WHERE run = :run ORDER BY probe, model, model_key, owner
"""
_SELECT_PART = """
SELECT data FROM parts WHERE run = :run AND probe = :probe AND model_key = :model_key AND owner = :owner
"""
_SELECT_PARTS_OF = """
SELECT probe, model, model_key, data FROM parts WHERE run = :run AND probe = :probe AND model_key = :model_key
ORDER BY owner
"""
_SELECT_BY_SIZE = """
SELECT run FROM (
 SELECT run, probe, model_key, data FROM samples UNION ALL SELECT run, probe, model_key, data FROM parts
) AS measured
WHERE probe = :probe AND model_key = :model_key GROUP BY run ORDER BY sum(octet_length(data)) DESC, run
"""
_SELECT_MEASURED = """
SELECT id FROM runs
WHERE id IN (SELECT run FROM samples WHERE probe IN :probes GROUP BY run HAVING count(DISTINCT probe) = :count)
"""


class Runs:
    """The runs of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, run: str) -> None:
        """Record that a run has begun; each of its processes may do so."""
        statement = "INSERT INTO runs (id, started, stopped) VALUES (:run, unix_time(), 0) ON CONFLICT DO NOTHING"
        self._database.execute(statement, run=run)

    def started(self, run: str) -> float:
        """Return when a run has begun, in seconds since 1970; for one that has not, the time."""
        statement = "SELECT coalesce((SELECT started FROM runs WHERE id = :run), unix_time())"
        return float(self._database.scalar(statement, run=run))

    def elapsed(self, run: str) -> float:
        """Return the seconds since a run has begun, by the database's clock alone; 0 for one that has not."""
        return self._database.scalar("SELECT unix_time() - started FROM runs WHERE id = :run", run=run) or 0.0

    def describe_work(self, run: str, work: str) -> None:
        """Save the description of a run's work, for the process that prints it."""
        self._database.execute("UPDATE runs SET work = :work WHERE id = :run", run=run, work=work)

    def work(self, run: str) -> str | None:
        work: str | None = self._database.scalar("SELECT work FROM runs WHERE id = :run", run=run)
        return work

    def tokens(self, run: str) -> dict[str, int]:
        """Return the tokens that the run has paid for, by kind, as far as the providers counted them."""
        total: dict[str, int] = {}
        for (usage,) in self._database.rows("SELECT usage FROM attempts WHERE run = :run", run=run):
            for kind, count in json.loads(usage or "{}").items():
                total[kind] = total.get(kind, 0) + count
        return total

    def expect_thresholds(self, run: str, expected: Mapping[str, Mapping[str, Any]]) -> None:
        """Save which threshold tests the run has selected, so that a missing result is noticed."""
        rows = [{"run": run, "test": test, "expected": json.dumps(facts)} for test, facts in sorted(expected.items())]
        if rows:
            self._database.execute_many(_INSERT_THRESHOLD, rows)

    def expected_thresholds(self, run: str) -> dict[str, dict[str, Any]]:
        rows = self._database.rows("SELECT test, expected FROM thresholds WHERE run = :run", run=run)
        # Sorted here: how a database sorts text depends on its locale.
        return {test: json.loads(expected) for test, expected in sorted(rows)}

    def record_thresholds(
        self,
        run: str,
        results: Mapping[str, Mapping[str, Any]],
        commit: str | None = None,
        *,
        unjudged: Collection[str] = (),
    ) -> None:
        """Save each threshold's row of the results file, and the commit of the user's project.

        Args:
            run: The run.
            results: The rows, by the ids of their tests.
            commit: The commit.
            unjudged: The rows without a verdict: they do not replace the row of another session of the run.
        """
        change = "UPDATE thresholds SET result = :result WHERE run = :run AND test = :test"
        rows = [{"run": run, "test": test, "result": json.dumps(result)} for test, result in sorted(results.items())]

        def record(connection: StoreConnection) -> None:
            connection.execute_many(change, [row for row in rows if row["test"] not in unjudged])
            connection.execute_many(f"{change} AND result IS NULL", [row for row in rows if row["test"] in unjudged])
            connection.execute("UPDATE runs SET git = :commit WHERE id = :run", run=run, commit=commit)

        if rows:
            self._database.write(record)

    def save_influences(self, run: str, test: str, influences: Mapping[str, Any]) -> None:
        """Save the influences of the clusters on the estimate that decided a threshold, as JSON values."""
        statement = schema.influences.insert_or_replace()
        self._database.execute(statement, run=run, test=test, data=_compress(influences))

    def influences(self, run: str, test: str) -> dict[str, Any] | None:
        statement = "SELECT data FROM influences WHERE run = :run AND test = :test"
        return _decompress(self._database.scalar(statement, run=run, test=test))

    def save_document(self, run: str, document: Mapping[str, Any]) -> None:
        """Save the document of a run: ``results``, its results file, and ``cards`` by suite."""
        statement = "UPDATE runs SET document = :document WHERE id = :run"
        self._database.execute(statement, run=run, document=_compress(document))

    def document(self, run: str) -> dict[str, Any] | None:
        return _decompress(self._database.scalar("SELECT document FROM runs WHERE id = :run", run=run))

    def documents(self, last: int) -> list[dict[str, Any]]:
        """Return the documents of the last runs, oldest first."""
        statement = "SELECT document FROM runs WHERE document IS NOT NULL ORDER BY started DESC LIMIT :last"
        documents = [_decompress(data) for (data,) in self._database.rows(statement, last=last)]
        return [document for document in reversed(documents) if document is not None]

    def history(self, *tests: str, before: str | None = None) -> list[dict[str, Any]]:
        """Return the results of a threshold in all sessions that have ended, oldest first.

        Args:
            tests: The ids of the threshold, which differ between runs with one model and with several.
            before: Leaves out a run, and runs that started later.

        Returns:
            Rows of the results file, each with ``run``, ``started`` (seconds since 1970) and ``git`` (the commit of the
            user's project, or None).
        """
        statement = _SELECT_RESULTS + _OF_TEST + (_UNTIL if before is not None else "") + " ORDER BY started"
        return [
            {"run": run, "started": started, "git": git, **json.loads(result)}
            for run, started, git, result in self._database.rows(statement, tests=list(tests), before=before)
        ]

    def results(self, run: str) -> list[dict[str, Any] | None]:
        """Return the rows of the results file of a run's thresholds; None for one without a result."""
        rows = self._database.rows("SELECT result FROM thresholds WHERE run = :run ORDER BY test", run=run)
        return [None if result is None else json.loads(result) for (result,) in rows]

    def passed(self, run: str) -> bool:
        """Return whether a run had thresholds, and none of them failed: each passed, was accepted or left out."""
        rows = self.results(run)
        return bool(rows) and all(row is not None and row.get("outcome") not in (None, "failed") for row in rows)

    def last_results(self, last: int) -> list[tuple[str, float, str | None, dict[str, Any]]]:
        """Return the results of all thresholds in the last runs that have results, oldest run first.

        Args:
            last: The maximum number of runs. Pruned runs keep their results.

        Returns:
            Run, start (seconds since 1970), commit of the user's project, and row of the results file.
        """
        rows = self._database.rows(_SELECT_RESULTS + _OF_LAST_RUNS, last=last)
        return [(run, started, git, json.loads(result)) for run, started, git, result in rows]

    def unfinished(self) -> int:
        """Return how many runs have selected thresholds and recorded no result: killed, or still running."""
        return int(self._database.scalar(_COUNT_UNFINISHED))

    def next_repetition(self, run: str) -> int:
        """Return the first repetition that no attempt before this run was."""
        number: int | None = self._database.scalar(_SELECT_LAST_REPETITION, run=run)
        return 0 if number is None else number + 1

    def outdated(self, run: str, model: str, age: float) -> dict[str, int]:
        """Return how many repetitions of each prompt are outdated: up to the last that is older than ``age`` seconds.

        Ages are counted back from the start of the run, so that all its processes agree; from today's midnight (UTC) if
        it began on an earlier day. An answer from the future has no known age: it is outdated.
        """
        ((started, now),) = self._database.rows("SELECT started, unix_time() FROM runs WHERE id = :run", run=run)
        oldest = max(started, now - now % DAY) - age
        rows = self._database.rows(_SELECT_OUTDATED, model=model, oldest=oldest, newest=now + DAY)
        return {prompt: number + 1 for prompt, number in rows}

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
        rows = self._database.rows(_SELECT_RUNS[having])
        ids: list[str] = [run for (run,) in rows if text == LATEST or run.startswith(text)]
        if text == LATEST:
            ids = [next(filter(self._has_attempts, reversed(ids)), "")]
        if not any(ids):
            kind = {"samples": "judged run", "document": "finished run", "anything": "run"}[having]
            way_out = "name one by its id, or latest" if rows else "run pytest first"
            raise StoreError(f"the store {self._database.location} holds no {kind} {text!r}: {way_out}")
        if len(ids) > 1 and text not in ids:
            raise StoreError(f"{len(ids)} runs begin with {text!r}: {', '.join(ids[:3])}: write more of the id")
        return text if text in ids else ids[-1]

    def _has_attempts(self, run: str) -> bool:
        """Return whether a run has attempts: one without is never the latest."""
        document = self.document(run)
        return document is None or bool(document["results"]["run"]["attempts"])

    def with_samples_of(self, probes: Collection[str], before: str) -> list[str]:
        """Return the runs that have a sample of each of these probes and began before a run, newest first."""
        statement = _SELECT_MEASURED + _UNTIL + " ORDER BY started DESC"
        rows = self._database.rows(statement, probes=list(probes), count=len(probes), before=before)
        return [run for (run,) in rows]

    def save_sample(self, run: str, sample: StoredSample) -> bool:
        """Save a probe's whole sample of a model; return whether it was new.

        The largest sample is kept: a later look at a threshold holds the earlier ones.
        """
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        if (self._database.scalar(_SELECT_SAMPLE_SIZE, **row) or 0) >= len(sample.attempts):
            return False
        row |= {"model": sample.model, "attempts": len(sample.attempts), "data": pack(sample)}
        insert = schema.samples.insert_or_replace("excluded.attempts > samples.attempts", at="unix_time()")
        self._database.execute(insert, **row)
        return True

    def save_part(self, run: str, owner: str, sample: StoredSample) -> bool:
        """Save one process's part of a sample, unless the whole sample is stored; return whether it was saved."""
        row: dict[str, Any] = {"run": run, "probe": sample.probe, "model_key": sample.model_key}
        if self._database.scalar(_SELECT_SAMPLE_SIZE, **row) is not None:
            return False
        row |= {"owner": owner, "model": sample.model, "data": pack(sample)}
        self._database.execute(schema.parts.insert_or_replace(), **row)
        return True

    def measured(
        self, run: str, in_memory: Mapping[tuple[str, ...], StoredSample] = MappingProxyType({})
    ) -> list[StoredSample]:
        """Return all samples of a run, by probe and model, without the answers; of parts, joined.

        Args:
            run: The run.
            in_memory: Samples that this process has stored, by probe and model key, and its parts of samples, by these
                and its id: they are not read again.
        """
        whole_samples = self.samples(run)
        samples = [in_memory.get((probe, key)) or self.sample(run, probe, key) for probe, _, key in whole_samples]
        parts_by_sample: dict[tuple[str, str, str], list[StoredSample]] = {}
        for probe, model, key, of in self._database.rows(_SELECT_PARTS, run=run):
            if (probe, model, key) not in whole_samples:
                part = in_memory.get((probe, key, of))
                if part is None:
                    row = {"run": run, "probe": probe, "model_key": key, "owner": of}
                    part = self._read(probe, model, key, self._database.scalar(_SELECT_PART, **row))
                parts_by_sample.setdefault((probe, model, key), []).append(part)
        return [sample for sample in samples if sample] + [join_samples(part) for part in parts_by_sample.values()]

    def sample(self, run: str, probe: str, model_key: str) -> StoredSample | None:
        """Return a probe's sample of a model in a run; its attempts are without their answers."""
        rows = self._database.rows(_SELECT_SAMPLE, run=run, probe=probe, model_key=model_key)
        return self._read(*rows[0]) if rows else None

    def latest_sample(self, probe: str, model_key: str) -> StoredSample | None:
        """Return the latest sample of a probe on a model."""
        rows = self._database.rows(_SELECT_LATEST_SAMPLE, probe=probe, model_key=model_key)
        return self._read(*rows[0]) if rows else None

    def samples_by_size(self, probe: str, model_key: str) -> Iterator[StoredSample]:
        """Yield each run's sample of a probe on a model, whole or in parts, the largest first."""
        for (run,) in self._database.rows(_SELECT_BY_SIZE, probe=probe, model_key=model_key):
            sample = self.sample(run, probe, model_key)
            if sample is None:
                parts = self._database.rows(_SELECT_PARTS_OF, run=run, probe=probe, model_key=model_key)
                sample = join_samples([self._read(*part) for part in parts])
            yield sample

    def asked_prompts(self, run: str, model_key: str) -> set[str]:
        """Return the digests of the prompts that a run has asked a model."""
        return {prompt for (prompt,) in self._database.rows(_SELECT_ASKED, run=run, model=model_key)}

    def has_answers(self, model_key: str, prompts: Collection[str], before: int) -> bool:
        """Return whether a model has answered one of these prompts (digests) in a repetition before this one."""
        return bool(self._database.rows(_SELECT_ANSWERS, model=model_key, prompts=list(prompts), before=before))

    def count_others(self, run: str, probe: str, model_key: str, model: str) -> int:
        """Return how many samples of a probe, or parts of one, other runs have of a model; equal ones count once.

        Args:
            run: The run.
            probe: The id of the probe.
            model_key: The key of the model.
            model: The name of an application without a version, whose key differs from run to run; empty for others.
        """
        values = {"run": run, "probe": probe, "model_key": model_key, "model": model}
        return int(self._database.scalar(_COUNT_OTHERS, **values))

    def samples(self, run: str) -> list[tuple[str, str, str]]:
        """Return the samples of a run, oldest first: probe, name of the model, key of the model."""
        return self._database.rows("SELECT probe, model, model_key FROM samples WHERE run = :run ORDER BY at", run=run)

    def _read(self, probe: str, model: str, model_key: str, data: bytes) -> StoredSample:
        packed = unpack(data)
        statement = "SELECT digest, messages FROM prompts WHERE digest IN :digests"
        texts = dict(self._database.rows(statement, digests=packed.digests()))
        return packed.sample(probe, model, model_key, texts)


def _compress(content: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 6)


def _decompress(data: bytes | None) -> dict[str, Any] | None:
    return None if data is None else json.loads(zlib.decompress(data))
