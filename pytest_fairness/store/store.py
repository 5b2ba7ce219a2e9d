"""Store of attempts, claims and grades: one database that processes and machines share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt, stored_value
from pytest_fairness.core.garbage_collection import paused_collection
from pytest_fairness.core.items import Message
from pytest_fairness.store import schema, spending
from pytest_fairness.store.archive import readable
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database
from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.owners import ForeignOwner, foreign_owners, owner_of
from pytest_fairness.store.runs import Runs
from pytest_fairness.store.samples import StoredSample, grade_from_json
from pytest_fairness.store.spending import Decide, SpendingDecision, SpendingEntry

if TYPE_CHECKING:
    from pytest_fairness.core.errors import UngradedReason
    from pytest_fairness.core.tool_calls import ToolCall
    from pytest_fairness.store.looks import Looks
    from pytest_fairness.store.provider_batches import Submission, Submissions
    from pytest_fairness.store.throttle import SlotGrant, SlotRequest

_ANSWER_FIELDS = (
    *("text", "finish_reason", "reasoning", "latency", "served_by", "provider_state", "reply_id", "cache"),
)
"""Columns that hold fields of an answer unchanged."""
_SELECT_ATTEMPTS = f"""
SELECT key, repetition, error, run, session, at, usage, actions, {", ".join(_ANSWER_FIELDS)}
FROM attempts WHERE key IN :keys
"""  # noqa: S608 - constants
_INSERT_CLAIMS = schema.claims.insert_new()
_INSERT_PROMPTS = schema.prompts.insert_new()
_INSERT_GRADES = schema.grades.insert_or_replace()
_SELECT_CLAIMS = "SELECT key, owner FROM claims WHERE key IN :keys"
_DELETE_CLAIMS = """
DELETE FROM claims WHERE key IN :keys AND (owner = :owner OR owner IN (SELECT id FROM submissions))
"""
_SELECT_GRADES = f"{schema.grades.select()} WHERE key IN :keys"
_COUNT_ATTEMPTS = "SELECT count(*) FROM attempts WHERE key IN :keys AND (error IS NULL OR session = :session)"
_COUNT_SERVED = """
SELECT served_by, count(*) FROM attempts WHERE key IN :keys AND served_by IS NOT NULL GROUP BY served_by
"""
_SELECT_USAGES = "SELECT model, usage FROM attempts WHERE key IN :keys AND error IS NULL"
_SELECT_TIMES = "SELECT min(at), max(at) FROM attempts WHERE key IN :keys"
_REPLACE_ATTEMPTS = schema.attempts.insert_or_replace(at="unix_time()")
# After missed heartbeats two processes may send the same request: the first answer counts, unless it is an error.
_INSERT_ATTEMPTS = schema.attempts.insert_or_replace("attempts.error IS NOT NULL", at="unix_time()")
_PAGE = 1000
"""Attempts that are read at a time, so that a database's driver never holds all of them."""

DecideOnClaims = Callable[[Collection[str], Sequence[SpendingEntry]], SpendingDecision]
"""A function that decides on new claims, given their keys: see `Decide`."""


class CompletedAttempt(NamedTuple):
    """A completed attempt, with the messages that were sent."""

    attempt: Attempt
    model: str
    prompt: str
    messages: Sequence[Mapping[str, str]]


@dataclass(slots=True)
class CallTokens:
    """The number of answered calls, and their tokens."""

    calls: int = 0
    counted: int = 0
    """Those of which the tokens are known."""
    input: int = 0
    output: int = 0

    def add(self, usage: Mapping[str, int]) -> None:
        """Add a call with the tokens that its provider has reported, if any."""
        self.calls += 1
        self.counted += "input" in usage and "output" in usage
        self.input += usage.get("input", 0)
        self.output += usage.get("output", 0)


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
    grants: dict[str, SlotGrant] = field(default_factory=dict)
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
        self.owner = owner_of(self._database)

    @cached_property
    def looks(self) -> Looks:
        """The looks at thresholds."""
        from pytest_fairness.store.looks import Looks

        return Looks(self._database)

    @cached_property
    def submissions(self) -> Submissions:
        """The batches that were submitted to providers."""
        from pytest_fairness.store.provider_batches import Submissions

        return Submissions(self._database, self.owner.id)

    def load(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[tuple[str, str], Grade]]:
        """Return the attempts that are stored under these keys, and their grades by grader's fingerprint."""
        with paused_collection():
            attempts = self._load_attempts(keys, run)
            grades: dict[tuple[str, str], Grade] = {}
            # Without an answer the grades are those of a reply that was disowned.
            for page in _pages([*attempts]):
                for key, grader, value, ungraded, detail in self._database.rows(_SELECT_GRADES, keys=page):
                    grades[key, grader] = _grade(value, ungraded, detail)
        return attempts, grades

    def _load_attempts(self, keys: Sequence[str], run: str) -> dict[str, Attempt]:
        attempts: dict[str, Attempt] = {}
        for page in _pages(keys):
            attempts |= self._database.read(lambda connection, keys=page: self._attempts(connection, keys, run))  # type: ignore[misc]
        return attempts

    def disown_strays(self, keys: Sequence[str]) -> dict[str, str]:
        """Turn replies that do not belong to their requests into failed attempts; see `store.strays`."""
        from pytest_fairness.store.strays import disown_strays

        return disown_strays(self._database, self.session, keys)

    def served_by(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the numbers of these answers by the model that gave them, as servers name it."""
        counts: Counter[str] = Counter()
        for page in _pages(keys):
            counts.update(dict(self._database.rows(_COUNT_SERVED, keys=page)))
        return dict(counts.most_common())

    def foreign_claims(self, keys: Sequence[str], run: str) -> tuple[dict[str, Attempt], dict[str, str]]:
        """Return which of these attempts are answered by now, and the owners of those that are still claimed."""
        attempts: dict[str, Attempt] = {}
        owners: dict[str, str] = {}

        def look(connection: StoreConnection) -> None:
            # Claims first: an answer is written before its claim is released.
            owners.update(connection.rows(_SELECT_CLAIMS, keys=list(keys)))
            attempts.update(self._attempts(connection, keys, run))

        self._database.read(look)
        return attempts, owners

    def unanswered(self, keys: Sequence[str]) -> int:
        """Return how many of these attempts this session would still have to request."""
        answered: int = self._database.scalar(_COUNT_ATTEMPTS, keys=list(keys), session=self.session)
        return len(keys) - answered

    def sync(
        self,
        run: str,
        *,
        completed: Collection[CompletedAttempt] = (),
        grades: Sequence[tuple[str, str, Grade]] = (),
        wanted: Sequence[str] = (),
        slots: Sequence[SlotRequest] = (),
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
        from pytest_fairness.store import throttle

        def exchange(connection: StoreConnection) -> SyncResult:
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
                rows = sorted(map(_grade_row, grades), key=_by_key)
                connection.execute_many(_INSERT_GRADES, rows)
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

        def settle(connection: StoreConnection) -> SpendingDecision:
            spending.lock(connection, run)
            return spending.settle(connection, run, self.owner.id, decide)

        return self._database.write(settle)

    def release(self, keys: Collection[str]) -> None:
        """Release claims of this process, so that others may request them."""
        self._database.write(lambda connection: self._free(connection, sorted(keys)))

    def is_stopped(self) -> bool:
        """Return whether a process of this session has stopped it."""
        return self._database.read(self._is_stopped)

    def _is_stopped(self, connection: StoreConnection) -> bool:
        return connection.scalar("SELECT session FROM stops WHERE session = :session", session=self.session) is not None

    def stop(self) -> None:
        """Let no process of this session send anything more."""
        self._database.execute(schema.stops.insert_new(), session=self.session)

    def spent(self, run: str) -> list[SpendingEntry]:
        """Return what a run has requested and spent, by model and role."""
        return self._database.read(lambda connection: spending.read(connection, run))

    def lengths(self, model: str) -> tuple[float, float] | None:
        """Return the mean and the greatest number of tokens of a model's stored answers; None where none is known."""
        return self._database.read(lambda connection: spending.answer_tokens(connection, model))

    def tokens_by_model(self, keys: Sequence[str]) -> dict[str, CallTokens]:
        """Return the number and the tokens of these answers, by the key of the model that gave them."""
        tokens: dict[str, CallTokens] = {}
        for page in _pages(keys):
            for model, usage in self._database.rows(_SELECT_USAGES, keys=page):
                tokens.setdefault(model, CallTokens()).add(_usage(usage) if usage else {})
        return tokens

    def _claim(self, connection: StoreConnection, wanted: Sequence[str], run: str, result: SyncResult) -> None:
        # Claim first, then look up: an answer is written before its claim is released, so none is missed.
        if not result.stopped:
            claims = [{"key": key, "owner": self.owner.id} for key in sorted(wanted)]
            connection.execute_many(_INSERT_CLAIMS, claims)
        result.answered |= self._attempts(connection, wanted, run)
        for key, owner in connection.rows(_SELECT_CLAIMS, keys=list(wanted)):
            if owner != self.owner.id:
                result.foreign[key] = owner
            elif not result.stopped:
                result.claimed.add(key)
        if answered := sorted(result.claimed & result.answered.keys()):
            result.claimed.difference_update(answered)
            self._free(connection, answered)
        for key in result.answered:
            result.foreign.pop(key, None)
        if result.foreign:
            from pytest_fairness.store.provider_batches import submissions_of

            result.submissions = submissions_of(connection, set(result.foreign.values()))

    def _free(self, connection: StoreConnection, keys: Sequence[str]) -> None:
        """Delete the claims of this process and of batches on these keys; those of other processes stay."""
        if keys:
            connection.execute(_DELETE_CLAIMS, keys=list(keys), owner=self.owner.id)

    def _attempts(self, connection: StoreConnection, keys: Sequence[str], run: str) -> dict[str, Attempt]:
        """Return the answers under these keys, and the errors of this session."""
        attempts: dict[str, Attempt] = {}
        rows = connection.execute(_SELECT_ATTEMPTS, keys=list(keys))
        for key, repetition, error, of_run, session, at, usage, actions, *fields in rows:
            if error is None:
                text, finish, reasoning, latency, served, state, *reply = fields
                calls = _calls(actions) if actions else ()
                tokens = _usage(usage) if usage else {}
                answer = Answer(text, finish, reasoning, tokens, latency, served, calls, state, *reply)
                is_earlier = of_run != run
                attempts[key] = Attempt(key, repetition, answer, None, is_earlier, at if is_earlier else None)
            elif session == self.session:
                attempts[key] = Attempt(key, repetition, None, error)
        return attempts

    def _insert_rows(
        self, connection: StoreConnection, insert: str, completed: Collection[CompletedAttempt], run: str
    ) -> int:
        """Write attempts with their prompts by one of the inserts; return the number of written rows."""
        texts = {one.prompt: json.dumps(list(map(_key_fields, one.messages))) for one in completed}
        prompts = [{"digest": digest, "messages": text} for digest, text in sorted(texts.items())]
        connection.execute_many(_INSERT_PROMPTS, prompts)
        rows = []
        for one in completed:
            answer = one.attempt.answer
            row = {name: answer and getattr(answer, name) for name in _ANSWER_FIELDS}
            row |= {"key": one.attempt.key, "repetition": one.attempt.repetition, "error": one.attempt.error}
            row |= {"model": one.model, "prompt": one.prompt, "run": run, "session": self.session}
            row["usage"] = answer and json.dumps(dict(answer.usage))
            calls = [call.to_json() for call in answer.actions] if answer else []
            row["actions"] = json.dumps(calls) if calls else None
            rows.append(row)
        return connection.execute_many(insert, sorted(rows, key=_by_key))

    def _write(
        self, connection: StoreConnection, completed: Collection[CompletedAttempt], run: str
    ) -> Mapping[str, Attempt]:
        """Write attempts that have no answer yet; return the answers that other processes have written."""
        attempts: dict[str, Attempt] = {}
        if self._insert_rows(connection, _INSERT_ATTEMPTS, completed, run) < len(completed):
            attempts |= self._attempts(connection, [one.attempt.key for one in completed], run)
        return attempts

    def release_dead(self, owners: Iterable[str]) -> bool:
        """Free the claims of those owners that have died; return whether any was found dead."""
        return self.owner.release_dead(owners)

    def foreign_owners(self, run: str) -> list[ForeignOwner]:
        """Return the processes outside of a run that have claimed requests."""
        return foreign_owners(self._database, run)

    def with_answers(self, sample: StoredSample, run: str) -> StoredSample:
        """Return a stored sample of a run with the answers that its attempts lack, as far as they are in the store."""
        attempts = [graded.attempt for graded in sample.attempts]
        lacking = [attempt.key for attempt in attempts if attempt.answer is None and attempt.error is None]
        if not lacking:
            return sample
        loaded = self._load_attempts(lacking, run)
        completed = [
            GradedAttempt(one.item, one.prompt, loaded.get(one.attempt.key, one.attempt), one.grades)
            for one in sample.attempts
        ]
        return replace(sample, attempts=completed)

    def grading(self) -> AbstractContextManager[None]:
        """Return a lock for grading a batch: other processes wait, and then find the grades in the store."""
        return self._database.lock("grading")

    def times(self, keys: Sequence[str]) -> list[float]:
        """Return the times of the first and the last of these attempts, in seconds since 1970; nothing without any."""
        return [at for row in self._database.rows(_SELECT_TIMES, keys=list(keys)) for at in row if at is not None]

    def save_answers(self, sample: StoredSample, run: str) -> None:
        """Save the answers of a model that is itself a file of answers, for reports of the run."""
        completed = {
            one.attempt.key: CompletedAttempt(one.attempt, sample.model, one.prompt.digest, one.prompt.messages)
            for one in sample.attempts
        }
        if completed:
            rows = completed.values()
            self._database.write(lambda connection: self._insert_rows(connection, _REPLACE_ATTEMPTS, rows, run))

    def close(self) -> None:
        """Release all claims and close the database."""
        try:
            self.owner.release()
        finally:
            self._database.close()


@contextmanager
def open_to_read(location: StoreLocation) -> Iterator[Store]:
    """Open a store that exists, to read it, wherever it lies."""
    with readable(location) as file, closing(Store(file)) as store:
        yield store


def _pages(keys: Sequence[str]) -> Iterator[list[str]]:
    return (list(keys[start : start + _PAGE]) for start in range(0, len(keys), _PAGE))


def _grade(text: str, ungraded: UngradedReason | None, detail: str) -> Grade:
    is_mutable = text[0] in "[{"
    return grade_from_json(json.loads(text) if is_mutable else _plain_value(text), ungraded, detail)


_plain_value = lru_cache(maxsize=4096)(json.loads)


@lru_cache(maxsize=4096)
def _usage(usage: str) -> Mapping[str, int]:
    """Return the tokens of an answer; equal ones share one object, to save memory."""
    tokens: dict[str, int] = json.loads(usage)
    return tokens


def _calls(actions: str) -> Sequence[ToolCall]:
    from pytest_fairness.core.tools import calls_from_json

    return calls_from_json(json.loads(actions))


def _key_fields(message: Message) -> Message:
    """Return the fields of a message that are part of the attempt key."""
    return {"role": message["role"], "content": message["content"]}


def _by_key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["key"], row.get("grader", "")


def _grade_row(graded: tuple[str, str, Grade]) -> dict[str, Any]:
    key, grader, grade = graded
    value = json.dumps(stored_value(grade))
    return {"key": key, "grader": grader, "value": value, "ungraded": grade.ungraded, "detail": grade.detail}
