"""Where processes meet: attempts, claims and grades in one SQLite file."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, bindparam, delete, func, insert, select

from pytest_fairness.core.attempts import Answer, Attempt, Grade
from pytest_fairness.core.keys import prompt_digest
from pytest_fairness.store import tables
from pytest_fairness.store.database import Database
from pytest_fairness.store.owners import Owner
from pytest_fairness.store.runs import Runs
from pytest_fairness.store.samples import StoredSample

_BATCH = 1000
_attempt_columns = tables.attempts.c
_select_attempts = select(
    _attempt_columns.key,
    _attempt_columns.repetition,
    _attempt_columns.text,
    _attempt_columns.finish_reason,
    _attempt_columns.reasoning,
    _attempt_columns.usage,
    _attempt_columns.latency,
    _attempt_columns.served_by,
    _attempt_columns.error,
    _attempt_columns.run,
).where(_attempt_columns.key.in_(bindparam("keys", expanding=True)))
_select_grades = select(tables.grades).where(tables.grades.c.key.in_(bindparam("keys", expanding=True)))
_select_claims = select(tables.claims).where(tables.claims.c.key.in_(bindparam("keys", expanding=True)))
_delete_claims = delete(tables.claims).where(tables.claims.c.key == bindparam("k"))
_insert_claims = insert(tables.claims).prefix_with("OR IGNORE")
_insert_prompts = insert(tables.prompts).prefix_with("OR IGNORE")
_insert_attempts = insert(tables.attempts).prefix_with("OR REPLACE")
_insert_grades = insert(tables.grades).prefix_with("OR REPLACE")


@dataclass(frozen=True, slots=True)
class Asked:
    """An attempt that has ended, with what was sent, as the store keeps it."""

    attempt: Attempt
    model: str
    prompt: str
    messages: Sequence[Mapping[str, str]]


@dataclass(slots=True)
class Turn:
    """What one exchange with the store came to."""

    claimed: set[str] = field(default_factory=set)
    """Keys that are now this process's to ask."""
    answered: dict[str, Attempt] = field(default_factory=dict)
    """Keys that some process has answered in the meantime."""
    elsewhere: dict[str, str] = field(default_factory=dict)
    """Keys that another owner is asking."""
    stopped: bool = False
    """The run has been told to send nothing more."""


class Store:
    """The attempts of all runs, shared by every process of a run and by later runs.

    Raises `StoreError`, in one line, when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path)
        self.path = path
        self.runs = Runs(self._database)
        self.owner = Owner(path.with_name(f"{path.name}.owners"))

    def load(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[tuple[str, str], Grade]]:
        """The attempts that are stored under these keys, and their grades by grader's fingerprint."""
        attempts: dict[str, Attempt] = {}
        grades: dict[tuple[str, str], Grade] = {}
        with self._database.reading() as connection:
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                attempts |= _attempts(connection, batch, run)
                for key, grader, value, ungraded, detail in connection.execute(_select_grades, {"keys": batch}):
                    grades[key, grader] = Grade(json.loads(value), ungraded, detail)
        return attempts, grades

    def turn(
        self,
        run: str,
        *,
        asked: Sequence[Asked] = (),
        grades: Sequence[tuple[str, str, Grade]] = (),
        wanted: Sequence[str] = (),
    ) -> Turn:
        """Write what has been answered and graded, and claim what is to be asked next.

        All in one transaction: after a run was stopped nobody can claim, and a key is never
        free while its answer is not written.
        """
        turn = Turn()
        with self._database.writing() as connection:
            if asked:
                _write(connection, asked, run)
                connection.execute(_delete_claims, [{"k": one.attempt.key} for one in asked])
            if grades:
                connection.execute(_insert_grades, [_grade_row(*grade) for grade in grades])
            if wanted:
                turn.stopped = bool(connection.execute(select(tables.runs.c.stopped).filter_by(id=run)).scalar())
                self._claim(connection, wanted, run, turn)
        return turn

    def _claim(self, connection: Connection, wanted: Sequence[str], run: str, turn: Turn) -> None:
        turn.answered = _attempts(connection, wanted, run)
        free = [key for key in wanted if key not in turn.answered]
        if not free:
            return
        if not turn.stopped:
            connection.execute(_insert_claims, [{"key": key, "owner": self.owner.id} for key in free])
        for key, owner in connection.execute(_select_claims, {"keys": free}):
            if owner == self.owner.id:
                turn.claimed.add(key)
            else:
                turn.elsewhere[key] = owner

    def bury(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners whose processes are gone; whether there were any."""
        dead = [owner for owner in set(owners) if self.owner.is_dead(owner)]
        if dead:
            with self._database.writing() as connection:
                connection.execute(delete(tables.claims).where(tables.claims.c.owner.in_(dead)))
        return bool(dead)

    def with_answers(self, sample: StoredSample, run: str) -> StoredSample:
        """A stored sample with the answers of its attempts, as far as they are in the store."""
        found, _ = self.load([graded.attempt.key for graded in sample.attempts], run)
        attempts = [
            replace(graded, attempt=found.get(graded.attempt.key, graded.attempt)) for graded in sample.attempts
        ]
        return replace(sample, attempts=attempts)

    def grading(self) -> FileLock:
        """A lock for the process that grades a batch: others that want the same grades wait, and find them here."""
        return FileLock(f"{self.path}.grading", thread_local=False)

    def moments(self, keys: Sequence[str]) -> tuple[float | None, float | None, list[str]]:
        """When the first and the last of these attempts were answered (seconds since 1970), and by what."""
        times: list[float] = []
        served: set[str] = set()
        wanted = select(_attempt_columns.served_by, func.min(_attempt_columns.at), func.max(_attempt_columns.at))
        grouped = wanted.where(_attempt_columns.key.in_(bindparam("keys", expanding=True))).group_by(
            _attempt_columns.served_by
        )
        with self._database.reading() as connection:
            for start in range(0, len(keys), _BATCH):
                for served_by, first, last in connection.execute(grouped, {"keys": keys[start : start + _BATCH]}):
                    times += [first, last]
                    served |= {served_by} - {None}
        return min(times, default=None), max(times, default=None), sorted(served)

    def keep_answers(self, sample: StoredSample, run: str) -> None:
        """Keep the answers of a model that needs no store itself, a file of them, for those who read the run."""
        asked = [
            Asked(graded.attempt, sample.model, prompt_digest(graded.prompt.messages), graded.prompt.messages)
            for graded in sample.attempts
        ]
        self.turn(run, asked=asked)

    def close(self) -> None:
        """Give back all claims and close the file."""
        try:
            with self._database.writing() as connection:
                connection.execute(delete(tables.claims).where(tables.claims.c.owner == self.owner.id))
        finally:
            self.owner.release()
            self._database.close()


def _attempts(connection: Connection, keys: Sequence[str], run: str) -> dict[str, Attempt]:
    found: dict[str, Attempt] = {}
    rows = connection.execute(_select_attempts, {"keys": keys})
    for key, repetition, text, finish, reasoning, usage, latency, served_by, error, asked_by in rows:
        if error is None:
            answer = Answer(text, finish, reasoning, json.loads(usage) if usage else {}, latency, served_by)
            found[key] = Attempt(key, repetition, answer, None, asked_by != run)
        elif asked_by == run:
            found[key] = Attempt(key, repetition, None, error)
    return found


def _write(connection: Connection, asked: Sequence[Asked], run: str) -> None:
    now = time.time()
    texts = {one.prompt: json.dumps(list(map(dict, one.messages))) for one in asked}
    connection.execute(_insert_prompts, [{"digest": digest, "messages": text} for digest, text in texts.items()])
    connection.execute(_insert_attempts, [_attempt_row(one, run, now) for one in asked])


def _attempt_row(asked: Asked, run: str, now: float) -> dict[str, Any]:
    attempt = asked.attempt
    answer = attempt.answer
    return {
        "key": attempt.key,
        "model": asked.model,
        "prompt": asked.prompt,
        "repetition": attempt.repetition,
        "run": run,
        "at": now,
        "text": answer and answer.text,
        "finish_reason": answer and answer.finish_reason,
        "reasoning": answer and answer.reasoning,
        "usage": answer and json.dumps(dict(answer.usage)),
        "latency": answer and answer.latency,
        "served_by": answer and answer.served_by,
        "error": attempt.error,
    }


def _grade_row(key: str, grader: str, grade: Grade) -> dict[str, Any]:
    return {
        "key": key,
        "grader": grader,
        "value": json.dumps(grade.value),
        "ungraded": grade.ungraded,
        "detail": grade.detail,
    }
