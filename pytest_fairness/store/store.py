"""Where processes and machines meet: attempts, claims and grades in one database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, bindparam, delete, func, select

from pytest_fairness.core.attempts import Answer, Attempt, Grade, value_or_none
from pytest_fairness.core.keys import prompt_digest
from pytest_fairness.store import ledger, pace, tables
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now
from pytest_fairness.store.owners import owner_of
from pytest_fairness.store.places import Place
from pytest_fairness.store.runs import Runs
from pytest_fairness.store.samples import StoredSample
from pytest_fairness.store.submissions import Submission, Submissions, submissions_of

_BATCH = 900
"""Keys of one statement; SQLite before 3.32 takes 999 parameters."""
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
    _attempt_columns.session,
).where(_attempt_columns.key.in_(bindparam("keys", expanding=True)))
_select_grades = select(tables.grades).where(tables.grades.c.key.in_(bindparam("keys", expanding=True)))
_select_claims = select(tables.claims).where(tables.claims.c.key.in_(bindparam("keys", expanding=True)))
_delete_claims = delete(tables.claims).where(tables.claims.c.key.in_(bindparam("keys", expanding=True)))
_select_answered = select(func.count()).where(_attempt_columns.key.in_(bindparam("keys", expanding=True)))


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
    submissions: dict[str, Submission] = field(default_factory=dict)
    """Of those owners the batches that providers have."""
    refused: set[str] = field(default_factory=set)
    """Keys that a cap forbids to ask now."""
    held: set[str] = field(default_factory=set)
    """Keys for which there is no place at their endpoint now."""
    grants: dict[str, pace.Grant] = field(default_factory=dict)
    """By endpoint, what came of the wishes."""
    stopped: bool = False
    """The session sends nothing more."""


class Store:
    """The attempts of all runs, shared by every process of a run and by later runs.

    ``session`` is one call of pytest, its workers included; by default every store is a session of its own. Failed
    attempts and `stop` hold for their session alone: a repeated job of the same run requests again what has failed.
    Raises `StoreError`, in one line, when the database cannot be read or written.
    """

    def __init__(self, place: Place, session: str | None = None) -> None:
        self._database = Database(place)
        self.place = place
        self.session = session or uuid4().hex
        self.runs = Runs(self._database)
        self.owner = owner_of(self._database)
        self.submissions = Submissions(self._database, self.owner.id)
        new = self._database.insert_new, self._database.insert_or_replace
        self._insert_claims, self._insert_prompts = map(new[0], (tables.claims, tables.prompts))
        self._replace_attempts, self._insert_grades = map(new[1], (tables.attempts, tables.grades))
        # Where an owner was silent for too long, two may have asked: the first answer counts. An error is none.
        self._insert_attempts = new[1](tables.attempts, lambda _: _attempt_columns.error.is_not(None))
        self._insert_attempts = self._insert_attempts.values(at=Now()).execution_options(preserve_rowcount=True)

    def load(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[tuple[str, str], Grade]]:
        """The attempts that are stored under these keys, and their grades by grader's fingerprint."""
        attempts: dict[str, Attempt] = {}
        grades: dict[tuple[str, str], Grade] = {}
        for batch in _batches(keys):
            attempts |= self._database.read(lambda connection, keys=batch: self._attempts(connection, keys, run))  # type: ignore[misc]
            for key, grader, value, ungraded, detail in self._database.rows(_select_grades.params(keys=batch)):
                grades[key, grader] = Grade(json.loads(value), ungraded, detail)
        return attempts, grades

    def elsewhere(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[str, str]]:
        """What has come of attempts that others were asking: the answered, and the owners of those still claimed."""
        attempts: dict[str, Attempt] = {}
        owners: dict[str, str] = {}

        def look(connection: Connection) -> None:
            for batch in _batches(keys):
                owners.update((key, owner) for key, owner in connection.execute(_select_claims, {"keys": batch}))
                attempts.update(self._attempts(connection, batch, run))

        self._database.read(look)
        return attempts, owners

    def unanswered(self, keys: Sequence[str]) -> int:
        """How many of these attempts this session would still have to ask for."""
        answered = _select_answered.where(_attempt_columns.error.is_(None) | (_attempt_columns.session == self.session))
        known: int = sum(self._database.scalar(answered.params(keys=batch)) for batch in _batches(keys))
        return len(keys) - known

    def turn(
        self,
        run: str,
        *,
        asked: Sequence[Asked] = (),
        grades: Sequence[tuple[str, str, Grade]] = (),
        wanted: Sequence[str] = (),
        purse: ledger.Purse | None = None,
        wishes: Sequence[pace.Wish] = (),
    ) -> Turn:
        """Write what has been answered and graded, and claim what is to be asked next and was granted.

        All in one transaction: after a session was stopped none of it can claim, and a key is never
        free while its answer is not written. An answer that comes after another process's
        is not kept: that one's is among the turn's answers instead.
        """

        def exchange(connection: Connection) -> Turn:
            turn = Turn()
            # Rows are written in one order by all, and what is claimed is freed last: nobody waits in a circle.
            if wanted and purse is not None and purse.is_capped:
                ledger.lock(connection, run)
            taken = pace.take(connection, run, self.owner.id, wishes)
            turn.grants = {endpoint: grant for endpoint, (_, grant) in taken.items()}
            turn.held = {key for wish in wishes for key in wish.keys[turn.grants[wish.endpoint].keys :]}
            if wanted:
                turn.stopped = self._is_stopped(connection)
                if granted := [key for key in wanted if key not in turn.held]:
                    self._claim(connection, granted, run, turn)
            if asked:
                turn.answered |= self._write(connection, asked, run)
            if grades:
                connection.execute(self._insert_grades, sorted(map(_grade_row, grades), key=_by_key))
            if purse is not None:
                turn.refused = ledger.settle(connection, run, self.owner.id, purse, turn.claimed)
                turn.claimed -= turn.refused
            pace.keep(connection, run, self.owner.id, wishes, taken, turn.claimed)
            self._free(connection, [*(one.attempt.key for one in asked), *turn.refused])
            return turn

        return self._database.write(exchange)

    def may_retry(self, run: str, key: str, purse: ledger.Purse) -> bool:
        """Whether the caps of a run let a claim that is under way be sent once more."""

        def ask(connection: Connection) -> bool:
            ledger.lock(connection, run)
            allowed = purse.may_retry(key, ledger.read(connection, run, besides=self.owner.id))
            ledger.write(connection, run, self.owner.id, purse.entries(()))
            return allowed

        return self._database.write(ask)

    def release(self, key: str) -> None:
        """Give back a claim of this process: others may ask it."""
        self._database.write(lambda connection: self._free(connection, [key]))

    def is_stopped(self) -> bool:
        """Return whether a process of this session has stopped it."""
        return self._database.read(self._is_stopped)

    def _is_stopped(self, connection: Connection) -> bool:
        return connection.execute(select(tables.stops).filter_by(session=self.session)).first() is not None

    def stop(self) -> None:
        """Let no process of this session send anything more."""
        self._database.execute(self._database.insert_new(tables.stops), [{"session": self.session}])

    def spent(self, run: str) -> list[ledger.Entry]:
        """What a run has asked and spent, by model and role."""
        return self._database.read(lambda connection: ledger.read(connection, run))

    def lengths(self, model: str) -> tuple[float, float] | None:
        """The mean and the greatest number of tokens that a model's stored answers have; None where none tells."""
        return self._database.read(lambda connection: ledger.answers(connection, model))

    def _claim(self, connection: Connection, wanted: Sequence[str], run: str, turn: Turn) -> None:
        # Claimed before it is looked for: an answer is written before its claim falls, so it is found then.
        if not turn.stopped:
            claims = [{"key": key, "owner": self.owner.id} for key in sorted(wanted)]
            connection.execute(self._insert_claims, claims)
        for batch in _batches(wanted):
            turn.answered |= self._attempts(connection, batch, run)
            for key, owner in connection.execute(_select_claims, {"keys": batch}):
                if owner != self.owner.id:
                    turn.elsewhere[key] = owner
                elif not turn.stopped:
                    turn.claimed.add(key)
        if known := sorted(turn.claimed & turn.answered.keys()):
            turn.claimed.difference_update(known)
            self._free(connection, known)
        for key in turn.answered:
            turn.elsewhere.pop(key, None)
        turn.submissions = submissions_of(connection, set(turn.elsewhere.values()))

    def _free(self, connection: Connection, keys: Sequence[str]) -> None:
        """Delete the claims of this process and of batches on these keys, not what another process asks by now."""
        owner = tables.claims.c.owner
        own = (owner == self.owner.id) | owner.in_(select(tables.submissions.c.id))
        for batch in _batches(keys):
            connection.execute(_delete_claims.where(own), {"keys": batch})

    def _attempts(self, connection: Connection, keys: Sequence[str], run: str) -> dict[str, Attempt]:
        """The answers under these keys, and what has failed in this session."""
        found: dict[str, Attempt] = {}
        rows = connection.execute(_select_attempts, {"keys": keys})
        for key, repetition, text, finish, reasoning, usage, latency, served_by, error, asked_by, session in rows:
            if error is None:
                answer = Answer(text, finish, reasoning, json.loads(usage) if usage else {}, latency, served_by)
                found[key] = Attempt(key, repetition, answer, None, asked_by != run)
            elif session == self.session:
                found[key] = Attempt(key, repetition, None, error)
        return found

    def _attempt_row(self, asked: Asked, run: str) -> dict[str, Any]:
        attempt, answer = asked.attempt, asked.attempt.answer
        return {
            "key": attempt.key,
            "model": asked.model,
            "prompt": asked.prompt,
            "repetition": attempt.repetition,
            "run": run,
            "session": self.session,
            "text": answer and answer.text,
            "finish_reason": answer and answer.finish_reason,
            "reasoning": answer and answer.reasoning,
            "usage": answer and json.dumps(dict(answer.usage)),
            "latency": answer and answer.latency,
            "served_by": answer and answer.served_by,
            "error": attempt.error,
        }

    def _write(self, connection: Connection, asked: Sequence[Asked], run: str) -> dict[str, Attempt]:
        """Put attempts where there is no answer yet; the answers of others, where there were some."""
        texts = {one.prompt: json.dumps(list(map(dict, one.messages))) for one in asked}
        prompts = [{"digest": digest, "messages": text} for digest, text in sorted(texts.items())]
        connection.execute(self._insert_prompts, prompts)
        rows = sorted((self._attempt_row(one, run) for one in asked), key=_by_key)
        done = connection.execute(self._insert_attempts, rows)
        if done.rowcount == len(rows):
            return {}
        found: dict[str, Attempt] = {}
        for batch in _batches([one.attempt.key for one in asked]):
            found |= self._attempts(connection, batch, run)
        return found

    def bury(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners whose processes are gone; whether it is known that there were any."""
        return self.owner.bury(owners)

    def with_answers(self, sample: StoredSample, run: str) -> StoredSample:
        """A stored sample with the answers of its attempts, as far as they are in the store."""
        found, _ = self.load([graded.attempt.key for graded in sample.attempts], run)
        attempts = [
            replace(graded, attempt=found.get(graded.attempt.key, graded.attempt)) for graded in sample.attempts
        ]
        return replace(sample, attempts=attempts)

    def grading(self) -> AbstractContextManager[None]:
        """A lock for the process that grades a batch: others that want the same grades wait, and find them here."""
        return self._database.lock("grading")

    def moments(self, keys: Sequence[str]) -> tuple[float | None, float | None, list[str]]:
        """When the first and the last of these attempts were answered (seconds since 1970), and by what."""
        times: list[float] = []
        served: set[str] = set()
        wanted = select(_attempt_columns.served_by, func.min(_attempt_columns.at), func.max(_attempt_columns.at))
        grouped = wanted.where(_attempt_columns.key.in_(bindparam("keys", expanding=True))).group_by(
            _attempt_columns.served_by
        )
        for batch in _batches(keys):
            for served_by, first, last in self._database.rows(grouped.params(keys=batch)):
                times += [first, last]
                served |= {served_by} - {None}
        return min(times, default=None), max(times, default=None), sorted(served)

    def keep_answers(self, sample: StoredSample, run: str) -> None:
        """Keep the answers of a model that needs no store itself, a file of them, for those who read the run."""
        texts, rows = {}, {}
        for graded in sample.attempts:
            digest = prompt_digest(graded.prompt.messages)
            texts[digest] = json.dumps(list(map(dict, graded.prompt.messages)))
            rows[graded.attempt.key] = self._attempt_row(Asked(graded.attempt, sample.model, digest, ()), run)
        prompts = [{"digest": digest, "messages": text} for digest, text in sorted(texts.items())]

        def keep(connection: Connection) -> None:
            connection.execute(self._insert_prompts, prompts)
            connection.execute(self._replace_attempts.values(at=Now()), sorted(rows.values(), key=_by_key))

        if rows:
            self._database.write(keep)

    def close(self) -> None:
        """Give back all claims and close the database."""
        try:
            self.owner.release()
        finally:
            self._database.close()


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many at a time as a statement takes."""
    return (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH))


def _by_key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["key"], row.get("grader", "")


def _grade_row(graded: tuple[str, str, Grade]) -> dict[str, Any]:
    key, grader, grade = graded
    return {
        "key": key,
        "grader": grader,
        "value": json.dumps(value_or_none(grade)),
        "ungraded": grade.ungraded,
        "detail": grade.detail,
    }
