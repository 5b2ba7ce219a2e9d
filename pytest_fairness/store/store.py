"""Store of attempts, claims and grades: one database that processes and machines share."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from sqlalchemy import BindParameter, Connection, bindparam, delete, func, select

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt, stored_value
from pytest_fairness.core.items import Message
from pytest_fairness.core.tools import calls_from_json
from pytest_fairness.store import schema, spending, throttle
from pytest_fairness.store.database import Database
from pytest_fairness.store.dialects import Now, batches
from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.looks import Looks
from pytest_fairness.store.owners import owner_of
from pytest_fairness.store.provider_batches import Submission, Submissions, submissions_of
from pytest_fairness.store.runs import Runs
from pytest_fairness.store.samples import StoredSample, grade_from_json
from pytest_fairness.store.spending import Decide, SpendingDecision, SpendingEntry

_columns = schema.attempts.c
_keys: BindParameter[str] = bindparam("keys", expanding=True)
_ANSWER_FIELDS = ("text", "finish_reason", "reasoning", "latency", "served_by", "provider_state")
"""Columns that hold fields of an answer unchanged."""
_SELECTED = (*["key", "repetition", "error", "run", "session", "at", "usage", "actions"], *_ANSWER_FIELDS)
_select_attempts = select(*(_columns[name] for name in _SELECTED)).where(_columns.key.in_(_keys))
_select_grades = select(schema.grades).where(schema.grades.c.key.in_(_keys))
_select_claims = select(schema.claims).where(schema.claims.c.key.in_(_keys))
_delete_claims = delete(schema.claims).where(schema.claims.c.key.in_(_keys))
_count_attempts = select(func.count()).where(_columns.key.in_(_keys))


DecideOnClaims = Callable[[Collection[str], Sequence[SpendingEntry]], SpendingDecision]
"""A function that decides on new claims, given their keys: see `Decide`."""


@dataclass(frozen=True, slots=True)
class CompletedAttempt:
    """A completed attempt, with the messages that were sent."""

    attempt: Attempt
    model: str
    prompt: str
    messages: Sequence[Mapping[str, str]]


@dataclass(slots=True)
class SyncResult:
    """The outcome of one exchange with the store."""

    claimed: set[str] = field(default_factory=set)
    """Keys that this process has claimed and must request."""
    answered: dict[str, Attempt] = field(default_factory=dict)
    """Attempts that some process has made in the meantime."""
    foreign: dict[str, str] = field(default_factory=dict)
    """Keys that another owner has claimed, with the owner."""
    submissions: dict[str, Submission] = field(default_factory=dict)
    """Those owners that are batches of a provider."""
    spending: SpendingDecision = field(default_factory=SpendingDecision)
    """The claims that a cap forbids, and what this process has spent."""
    held: set[str] = field(default_factory=set)
    """Keys for which there is no free slot at their endpoint."""
    grants: dict[str, throttle.SlotGrant] = field(default_factory=dict)
    """Slots that were granted, by endpoint."""
    stopped: bool = False
    """Whether the session was stopped and sends no more requests."""


class Store:
    """The attempts of all runs, shared by every process of a run and by later runs.

    Failed attempts and `stop` hold for their session alone: a repeated job of the same run requests again what has
    failed. All methods raise `StoreError`, in one line, where the database cannot be read or written.

    Args:
        location: A file, or a PostgreSQL database.
        session: One call of pytest, with its workers; every store is a session of its own by default.
    """

    def __init__(self, location: StoreLocation, session: str | None = None) -> None:
        self._database = Database(location)
        self.location = location
        self.session = session or uuid4().hex
        self.runs = Runs(self._database)
        self.looks = Looks(self._database)
        self.owner = owner_of(self._database)
        self.submissions = Submissions(self._database, self.owner.id)
        inserts = self._database.insert_new, self._database.insert_or_replace
        self._insert_claims, self._insert_prompts = map(inserts[0], (schema.claims, schema.prompts))
        self._replace_attempts, self._insert_grades = map(inserts[1], (schema.attempts, schema.grades))
        # After missed heartbeats two processes may send the same request: the first answer counts, unless an error.
        self._insert_attempts = inserts[1](schema.attempts, lambda _: _columns.error.is_not(None))
        self._insert_attempts = self._insert_attempts.values(at=Now()).execution_options(preserve_rowcount=True)

    def load(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[tuple[str, str], Grade]]:
        """Return the attempts that are stored under these keys, and their grades by grader's fingerprint."""
        attempts = self._load_attempts(keys, run)
        grades: dict[tuple[str, str], Grade] = {}
        for batch in batches(keys):
            for key, grader, value, ungraded, detail in self._database.rows(_select_grades.params(keys=batch)):
                grades[key, grader] = grade_from_json(json.loads(value), ungraded, detail)
        return attempts, grades

    def _load_attempts(self, keys: Sequence[str], run: str) -> dict[str, Attempt]:
        attempts: dict[str, Attempt] = {}
        for batch in batches(keys):
            attempts |= self._database.read(lambda connection, keys=batch: self._attempts(connection, keys, run))  # type: ignore[misc]
        return attempts

    def foreign_claims(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[str, str]]:
        """Return which of these attempts are answered by now, and the owners of those that are still claimed."""
        attempts: dict[str, Attempt] = {}
        owners: dict[str, str] = {}

        def look(connection: Connection) -> None:
            for batch in batches(keys):  # claims first: an answer is written before its claim is released
                owners.update((key, owner) for key, owner in connection.execute(_select_claims, {"keys": batch}))
                attempts.update(self._attempts(connection, batch, run))

        self._database.read(look)
        return attempts, owners

    def unanswered(self, keys: Sequence[str]) -> int:
        """Return how many of these attempts this session would still have to request."""
        is_recorded = _columns.error.is_(None) | (_columns.session == self.session)
        statement = _count_attempts.where(is_recorded)
        answered: int = sum(self._database.scalar(statement.params(keys=batch)) for batch in batches(keys))
        return len(keys) - answered

    def sync(
        self,
        run: str,
        *,
        completed: Collection[CompletedAttempt] = (),
        grades: Sequence[tuple[str, str, Grade]] = (),
        wanted: Sequence[str] = (),
        slots: Sequence[throttle.SlotRequest] = (),
        decide: DecideOnClaims | None = None,
        is_capped: bool = False,
    ) -> SyncResult:
        """Write attempts and grades, and claim what is to be requested next, in one transaction.

        So no process claims anything after its session was stopped, and a claim is never released before its answer is
        written. An attempt that arrives after another process's answer is dropped: the result has that answer.

        Args:
            run: The run.
            completed: Completed attempts; their claims are released.
            grades: Grades, each with the key of its attempt and the fingerprint of its grader.
            wanted: Keys to claim, in order.
            slots: The slots that the process needs at endpoints, for those keys and for retries.
            decide: Checks the claims against the caps of the run.
            is_capped: Whether the run has caps.
        """

        def exchange(connection: Connection) -> SyncResult:
            result = SyncResult()
            # All processes write tables and rows in the same order, and release claims last, to avoid deadlocks.
            # The order is: the run, throttles, claims, attempts, grades, spending, throttles.
            if wanted and is_capped:
                spending.lock(connection, run)
            throttles = throttle.take(connection, run, self.owner.id, slots)
            result.grants = {endpoint: grant for endpoint, (_, grant) in throttles.items()}
            result.held = {key for slot in slots for key in slot.keys[result.grants[slot.endpoint].keys :]}
            if wanted:
                result.stopped = self._is_stopped(connection)
                if granted := [key for key in wanted if key not in result.held]:
                    self._claim(connection, granted, run, result)
            if completed:
                result.answered |= self._write(connection, completed, run)
            if grades:
                connection.execute(self._insert_grades, sorted(map(_grade_row, grades), key=_by_key))
            if decide is not None:
                is_weighed = is_capped and bool(result.claimed)
                weigh = partial(decide, result.claimed)
                result.spending = spending.settle(connection, run, self.owner.id, weigh, is_weighed=is_weighed)
                result.claimed.difference_update(result.spending.refused)
            # Slots that were granted and not used go back: the key was answered by others, or a cap forbids it.
            throttle.save(connection, run, self.owner.id, slots, throttles, result.claimed)
            self._free(connection, [*(one.attempt.key for one in completed), *result.spending.refused])
            return result

        return self._database.write(exchange)

    def decide(self, run: str, decide: Decide) -> SpendingDecision:
        """Decide on something given the spending of the other processes of a run, and write that of this one."""

        def settle(connection: Connection) -> SpendingDecision:
            spending.lock(connection, run)
            return spending.settle(connection, run, self.owner.id, decide)

        return self._database.write(settle)

    def release(self, keys: Collection[str]) -> None:
        """Release claims of this process, so that others may request them."""
        self._database.write(lambda connection: self._free(connection, sorted(keys)))

    def is_stopped(self) -> bool:
        """Return whether a process of this session has stopped it."""
        return self._database.read(self._is_stopped)

    def _is_stopped(self, connection: Connection) -> bool:
        return connection.execute(select(schema.stops).filter_by(session=self.session)).first() is not None

    def stop(self) -> None:
        """Let no process of this session send anything more."""
        self._database.execute(self._database.insert_new(schema.stops), [{"session": self.session}])

    def spent(self, run: str) -> list[SpendingEntry]:
        """Return what a run has requested and spent, by model and role."""
        return self._database.read(lambda connection: spending.read(connection, run))

    def lengths(self, model: str) -> tuple[float, float] | None:
        """Return the mean and the greatest number of tokens of a model's stored answers; None where none is known."""
        return self._database.read(lambda connection: spending.answer_tokens(connection, model))

    def _claim(self, connection: Connection, wanted: Sequence[str], run: str, result: SyncResult) -> None:
        # Claim first, then look up: an answer is written before its claim is released, so none is missed.
        if not result.stopped:
            claims = [{"key": key, "owner": self.owner.id} for key in sorted(wanted)]
            connection.execute(self._insert_claims, claims)
        for batch in batches(wanted):
            result.answered |= self._attempts(connection, batch, run)
            for key, owner in connection.execute(_select_claims, {"keys": batch}):
                if owner != self.owner.id:
                    result.foreign[key] = owner
                elif not result.stopped:
                    result.claimed.add(key)
        if answered := sorted(result.claimed & result.answered.keys()):
            result.claimed.difference_update(answered)
            self._free(connection, answered)
        for key in result.answered:
            result.foreign.pop(key, None)
        result.submissions = submissions_of(connection, set(result.foreign.values()))

    def _free(self, connection: Connection, keys: Sequence[str]) -> None:
        """Delete the claims of this process and of batches on these keys; those of other processes stay."""
        owner = schema.claims.c.owner
        is_own = (owner == self.owner.id) | owner.in_(select(schema.submissions.c.id))
        for batch in batches(keys):
            connection.execute(_delete_claims.where(is_own), {"keys": batch})

    def _attempts(self, connection: Connection, keys: Sequence[str], run: str) -> dict[str, Attempt]:
        """Return the answers under these keys, and the errors of this session."""
        attempts: dict[str, Attempt] = {}
        rows = connection.execute(_select_attempts, {"keys": keys})
        for (
            key,
            repetition,
            error,
            of_run,
            session,
            at,
            usage,
            actions,
            text,
            finish,
            reasoning,
            latency,
            served,
            state,
        ) in rows:
            if error is None:
                calls = calls_from_json(json.loads(actions)) if actions else ()
                answer = Answer(text, finish, reasoning, _usage(usage) if usage else {}, latency, served, calls, state)
                is_earlier = of_run != run
                attempts[key] = Attempt(key, repetition, answer, None, is_earlier, at if is_earlier else None)
            elif session == self.session:
                attempts[key] = Attempt(key, repetition, None, error)
        return attempts

    def _insert_rows(
        self, connection: Connection, insert: Any, completed: Collection[CompletedAttempt], run: str
    ) -> int:
        """Write attempts with their prompts by one of the inserts; return the number of written rows."""
        texts = {one.prompt: json.dumps(list(map(_key_fields, one.messages))) for one in completed}
        prompts = [{"digest": digest, "messages": text} for digest, text in sorted(texts.items())]
        connection.execute(self._insert_prompts, prompts)
        rows = []
        for one in completed:
            answer = one.attempt.answer
            row = {name: answer and getattr(answer, name) for name in _ANSWER_FIELDS}
            row |= {"key": one.attempt.key, "repetition": one.attempt.repetition, "error": one.attempt.error}
            row |= {"model": one.model, "prompt": one.prompt, "run": run, "session": self.session}
            row["usage"] = answer and json.dumps(dict(answer.usage))
            calls = [call.to_json() for call in answer.actions] if answer else []
            rows.append({**row, "actions": json.dumps(calls) if calls else None})
        written: int = connection.execute(insert, sorted(rows, key=_by_key)).rowcount
        return written

    def _write(
        self, connection: Connection, completed: Collection[CompletedAttempt], run: str
    ) -> Mapping[str, Attempt]:
        """Write attempts that have no answer yet; return the answers that other processes have written."""
        attempts: dict[str, Attempt] = {}
        if self._insert_rows(connection, self._insert_attempts, completed, run) < len(completed):
            for batch in batches([one.attempt.key for one in completed]):
                attempts |= self._attempts(connection, batch, run)
        return attempts

    def release_dead(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners that have died; return whether any was found dead."""
        return self.owner.release_dead(owners)

    def with_answers(self, sample: StoredSample, run: str) -> StoredSample:
        """Return a stored sample of a run with the answers of its attempts, as far as they are in the store."""
        loaded = self._load_attempts([graded.attempt.key for graded in sample.attempts], run)
        attempts = [
            GradedAttempt(one.item, one.prompt, loaded.get(one.attempt.key, one.attempt), one.grades)
            for one in sample.attempts
        ]
        return replace(sample, attempts=attempts)

    def grading(self) -> AbstractContextManager[None]:
        """Return a lock for grading a batch: other processes wait, and then find the grades in the store."""
        return self._database.lock("grading")

    def moments(self, keys: Sequence[str]) -> tuple[float | None, float | None, list[str]]:
        """Return the times of the first and the last of these attempts (seconds since 1970), and who served them."""
        times: list[float] = []
        served: set[str] = set()
        statement = select(_columns.served_by, func.min(_columns.at), func.max(_columns.at)).where(
            _columns.key.in_(_keys)
        )
        for batch in batches(keys):
            for row in self._database.rows(statement.group_by(_columns.served_by).params(keys=batch)):
                times += row[1:]
                served |= {row.served_by} - {None}
        return min(times, default=None), max(times, default=None), sorted(served)

    def save_answers(self, sample: StoredSample, run: str) -> None:
        """Save the answers of a model that is itself a file of answers, for reports of the run."""
        completed = {
            one.attempt.key: CompletedAttempt(one.attempt, sample.model, one.prompt.digest, one.prompt.messages)
            for one in sample.attempts
        }
        replace_all = self._replace_attempts.values(at=Now())
        if completed:
            self._database.write(lambda connection: self._insert_rows(connection, replace_all, completed.values(), run))

    def close(self) -> None:
        """Release all claims and close the database."""
        try:
            self.owner.release()
        finally:
            self._database.close()


@lru_cache(maxsize=4096)
def _usage(usage: str) -> Mapping[str, int]:
    """Return the tokens of an answer; equal ones share one object, to save memory."""
    tokens: dict[str, int] = json.loads(usage)
    return tokens


def _key_fields(message: Message) -> Message:
    """Return the fields of a message that are part of the attempt key."""
    return {"role": message["role"], "content": message["content"]}


def _by_key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["key"], row.get("grader", "")


def _grade_row(graded: tuple[str, str, Grade]) -> dict[str, Any]:
    key, grader, grade = graded
    value = json.dumps(stored_value(grade))
    return {"key": key, "grader": grader, "value": value, "ungraded": grade.ungraded, "detail": grade.detail}
