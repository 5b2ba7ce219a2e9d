"""Replies in the store that do not belong to their requests: they are no answers of the model that was asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_fairness.core.digests import digest
from pytest_fairness.core.finish_reasons import stray_error, stray_reason
from pytest_fairness.core.served_models import is_same_model, short_name
from pytest_fairness.store.connection import StoreConnection
from pytest_fairness.store.database import Database
from pytest_fairness.store.stray_replies import StoredReply, find_strays

_SELECT_OWN = """
SELECT key, model, prompt, run, at, reply_id, cache, served_by FROM attempts
WHERE key IN :keys AND error IS NULL
"""
_SELECT_ERRORS = "SELECT key, error FROM attempts WHERE key IN :keys AND error IS NOT NULL"
_REPLY_ID = 5
"""The place of the id in a row of these."""
_SELECT_SHARED = "SELECT reply_id FROM attempts WHERE reply_id IN :ids GROUP BY reply_id HAVING count(*) > 1"
_SELECT_SAME_IDS = """
SELECT key, model, prompt, run, at, reply_id, cache FROM attempts WHERE reply_id IN :ids AND error IS NULL
"""
_SELECT_SERVED = """
SELECT DISTINCT served_by FROM attempts WHERE model = :model AND error IS NULL AND served_by IS NOT NULL
"""
_SELECT_CONTENTS = "SELECT key, text, finish_reason, actions FROM attempts WHERE key IN :keys"
# As an attempt that failed: another session requests it again.
_DISOWN = """
UPDATE attempts SET error = :error, session = :session, text = NULL, finish_reason = NULL, reasoning = NULL,
  usage = NULL, latency = NULL, served_by = NULL, actions = NULL, provider_state = NULL, reply_id = NULL, cache = NULL
WHERE key = :key AND error IS NULL
"""
_DELETE_GRADES = "DELETE FROM grades WHERE key IN :keys"
_PAGE = 1000


def disown_strays(database: Database, session: str, keys: Sequence[str]) -> dict[str, str]:
    """Turn replies that do not belong to their requests into failed attempts of this session.

    Args:
        database: The store.
        session: The session.
        keys: The keys of a whole sample, and of the questions of its graders.

    Returns:
        The reasons by key (`find_strays`), including those of replies that another process has disowned.
    """
    rows: list[Any] = [row for page in _pages(keys) for row in database.rows(_SELECT_OWN, keys=page)]
    shared = _shared_ids(database, {reply_id for *_, reply_id, _, _ in rows if reply_id})
    named = {(model, served_by) for _, model, *_, served_by in rows if served_by}
    unlike = {(model, served_by) for model, served_by in named if not is_same_model(short_name(model), served_by)}
    reached = _reached(database, {model for model, _ in unlike}, named)
    has_cache = any(cache for *_, cache, _ in rows)
    # Most replies have an id of their own, and the name of the requested model: nothing more is to be known of them.
    own = [StoredReply(*row) for row in rows if has_cache or row[_REPLY_ID] in shared or (row[1], row[-1]) in unlike]
    same_ids = _with_ids(database, shared)
    contents = _contents(database, [reply.key for reply in (*same_ids, *(one for one in own if one.cache))])
    if has_cache:  # they may repeat an answer to the same prompt
        requests = {reply.request for reply in own if reply.cache}
        contents |= _contents(database, [reply.key for reply in own if reply.request in requests])
    strays = find_strays(_with_contents(own, contents), _with_contents(same_ids, contents), reached, len(rows))
    if strays:
        database.write(lambda connection: _disown(connection, session, strays))
    # Another process may have disowned some, and so hidden that others share their ids, while the above was read.
    errors = (row for page in _pages(keys) for row in database.rows(_SELECT_ERRORS, keys=page))
    return {key: reason for key, error in errors if (reason := stray_reason(error))}


def _reached(database: Database, models: Collection[str], named: Iterable[tuple[str, str]]) -> set[str]:
    """Return the models of these that their servers name in some answer of the store."""
    if not models:
        return set()
    reached = {model for model, served_by in named if is_same_model(short_name(model), served_by)}
    return reached | {
        model
        for model in models
        if any(is_same_model(short_name(model), served) for (served,) in database.rows(_SELECT_SERVED, model=model))
    }


def _shared_ids(database: Database, ids: Collection[str]) -> set[str]:
    """Return those ids that several replies of the store have."""
    return {name for page in _pages(sorted(ids)) for (name,) in database.rows(_SELECT_SHARED, ids=page)}


def _with_ids(database: Database, ids: Collection[str]) -> list[StoredReply]:
    """Return the replies of the store with these ids, of those ids that several requests have."""
    by_id: dict[str, list[StoredReply]] = defaultdict(list)
    for page in _pages(sorted(ids)):
        for row in database.rows(_SELECT_SAME_IDS, ids=page):
            reply = StoredReply(*row)
            by_id[reply.reply_id or ""].append(reply)
    several = (replies for replies in by_id.values() if len({(*reply.request, reply.run) for reply in replies}) > 1)
    return [reply for replies in several for reply in replies]


def _contents(database: Database, keys: Iterable[str]) -> dict[str, str]:
    """Return digests of the answers under these keys."""
    return {
        key: digest(" ".join("\n".join(text or "" for text in texts).split()))
        for page in _pages(sorted(set(keys)))
        for key, *texts in database.rows(_SELECT_CONTENTS, keys=page)
    }


def _with_contents(replies: Iterable[StoredReply], contents: Mapping[str, str]) -> list[StoredReply]:
    return [replace(reply, content=contents.get(reply.key, reply.key)) for reply in replies]


def _disown(connection: StoreConnection, session: str, strays: Mapping[str, str]) -> None:
    rows = [{"key": key, "error": stray_error(reason), "session": session} for key, reason in sorted(strays.items())]
    connection.execute_many(_DISOWN, rows)
    for page in _pages(sorted(strays)):
        connection.execute(_DELETE_GRADES, keys=page)


def _pages(values: Sequence[str]) -> Iterator[list[str]]:
    return (list(values[start : start + _PAGE]) for start in range(0, len(values), _PAGE))
