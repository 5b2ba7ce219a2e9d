"""Stores of older versions are opened, and made new, with all that is in them."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import schema, sqlite
from pytest_fairness.store.location import StoreLocation
from pytest_fairness.store.store import Store
from pytest_fairness.store.throttle import SlotRequest
from tests.helpers.postgresql_server import PostgreSQL

OLDEST = """
CREATE TABLE layout (number INTEGER NOT NULL, PRIMARY KEY (number));
CREATE TABLE prompts (digest VARCHAR(32) NOT NULL, messages TEXT NOT NULL, PRIMARY KEY (digest));
CREATE TABLE attempts (key VARCHAR(32) NOT NULL, model TEXT NOT NULL, prompt VARCHAR(32) NOT NULL,
  repetition INTEGER NOT NULL, run VARCHAR(32) NOT NULL, at FLOAT NOT NULL, text TEXT, finish_reason TEXT,
  reasoning TEXT, usage TEXT, latency FLOAT, served_by TEXT, error TEXT, PRIMARY KEY (key));
CREATE TABLE claims (key VARCHAR(32) NOT NULL, owner VARCHAR(32) NOT NULL, PRIMARY KEY (key));
CREATE TABLE grades (key VARCHAR(32) NOT NULL, grader TEXT NOT NULL, value TEXT, ungraded TEXT, detail TEXT,
  PRIMARY KEY (key, grader));
CREATE TABLE runs (id VARCHAR(32) NOT NULL, started FLOAT NOT NULL, stopped INTEGER NOT NULL, work TEXT,
  PRIMARY KEY (id));
CREATE TABLE thresholds (run VARCHAR(32) NOT NULL, test TEXT NOT NULL, expected TEXT NOT NULL, result TEXT,
  PRIMARY KEY (run, test));
INSERT INTO layout VALUES (1);
INSERT INTO prompts VALUES ('p', '[{"role": "user", "content": "Who?"}]');
INSERT INTO attempts VALUES ('k', 'm', 'p', 0, 'old', 1000.5, 'an old answer', 'stop', '', '{"input": 3}', 0.5, 'm-1',
  NULL);
INSERT INTO grades VALUES ('k', 'g', 'true', NULL, '');
INSERT INTO runs VALUES ('old', 1000.0, 0, '{}');
INSERT INTO thresholds VALUES ('old', 't.py::t', '{"suite": "s"}', '{"verdict": "fair"}')
"""
"""Layout that the first version wrote, and a run in it."""
SINCE = {
    2: """
ALTER TABLE runs ADD COLUMN git TEXT;
UPDATE runs SET git = 'c0ffee';
CREATE INDEX thresholds_by_test ON thresholds (test);
CREATE TABLE samples (run VARCHAR(32) NOT NULL, probe TEXT NOT NULL, model_key TEXT NOT NULL, model TEXT NOT NULL,
  at FLOAT NOT NULL, attempts INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, probe, model_key));
UPDATE layout SET number = 2
""",
    3: """
ALTER TABLE runs ADD COLUMN document BLOB;
CREATE TABLE parts (run VARCHAR(32) NOT NULL, probe TEXT NOT NULL, model_key TEXT NOT NULL,
  owner VARCHAR(32) NOT NULL, model TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, probe, model_key, owner));
CREATE TABLE influences (run VARCHAR(32) NOT NULL, test TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, test));
UPDATE layout SET number = 3
""",
    4: """
CREATE TABLE owners (id VARCHAR(32) NOT NULL, since FLOAT NOT NULL, seen FLOAT NOT NULL, PRIMARY KEY (id));
CREATE TABLE spending (run TEXT NOT NULL, owner VARCHAR(32) NOT NULL, model TEXT NOT NULL, role VARCHAR(16) NOT NULL,
  calls INTEGER NOT NULL, requests INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, usd FLOAT,
  held INTEGER NOT NULL, held_usd FLOAT NOT NULL, errors TEXT NOT NULL, PRIMARY KEY (run, owner, model, role));
CREATE TABLE submissions (id VARCHAR(32) NOT NULL, model TEXT NOT NULL, name TEXT, requests INTEGER NOT NULL,
  at FLOAT NOT NULL, PRIMARY KEY (id));
CREATE TABLE paces (run TEXT NOT NULL, endpoint TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (run, endpoint));
INSERT INTO paces VALUES ('old', 'e', '{"allowed": 2.0, "at": 5.0, "least": null, "windows": 3, "owners": {}}');
UPDATE layout SET number = 4
""",
    5: """
ALTER TABLE attempts ADD COLUMN session TEXT;
CREATE TABLE stops (session TEXT NOT NULL, PRIMARY KEY (session));
UPDATE layout SET number = 5
""",
    6: """
CREATE TABLE looks (test TEXT NOT NULL, probe TEXT NOT NULL, model VARCHAR(32) NOT NULL, identity VARCHAR(32) NOT NULL,
  number INTEGER NOT NULL, sequence VARCHAR(32) NOT NULL, run TEXT NOT NULL, session TEXT NOT NULL, verdict TEXT,
  PRIMARY KEY (test, probe, model, identity));
UPDATE layout SET number = 6
""",
    7: """
ALTER TABLE attempts ADD COLUMN actions TEXT;
UPDATE layout SET number = 7
""",
}
"""Changes of each later layout."""


def executed(location: StoreLocation, script: str) -> list[Any]:
    """Execute statements without the plugin's code; return the rows of the last."""
    opened: Any
    if isinstance(location, Path):
        opened = sqlite3.connect(location, isolation_level=None)
    else:
        opened = psycopg.connect(location.url.replace("+psycopg", ""), autocommit=True)
        script = script.replace("BLOB", "BYTEA")
    with closing(opened) as connection:
        for statement in script.split(";"):
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def make(location: StoreLocation, layout: int) -> None:
    for script in (OLDEST, *(SINCE[number] for number in range(2, layout + 1))):
        executed(location, script)


def shape(location: StoreLocation) -> list[Any]:
    """Return the columns and the indexes of each table."""
    if isinstance(location, Path):
        columns = "SELECT m.name, c.name, c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c"
        indexes = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index'"
    else:
        columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        indexes = "SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public'"
    return sorted(executed(location, columns)) + sorted(executed(location, indexes))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("layout", [1, *SINCE])
def test_older_layout_is_upgraded_once(layout: int, kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server = request.getfixturevalue("postgresql") if kind == "postgresql" else None
    location = server.location() if server else tmp_path / "old.sqlite"
    fresh = server.location() if server else tmp_path / "fresh.sqlite"
    make(location, layout)
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(Store, [location] * 4))
    store = stores[0]
    attempts, grades = store.load(["k"], "new")
    assert attempts["k"].answer is not None
    assert attempts["k"].answer.text == "an old answer"
    assert attempts["k"].answer.actions == ()
    assert grades["k", "g"].value is True
    (row,) = store.runs.history("t.py::t", before="new")
    assert (row["run"], row["verdict"], row["git"]) == ("old", "fair", "c0ffee" if layout > 1 else None)
    store.runs.save_document("old", {"results": {}})
    assert store.runs.documents(1) == [{"results": {}}]
    # The pace of a run that an older version began is begun anew.
    assert store.sync("old", wanted=["new"], slots=[SlotRequest("e", 8, keys=["new"])]).claimed == {"new"}
    for opened in stores:
        opened.close()
    Store(fresh).close()
    assert shape(location) == shape(fresh)
    assert executed(location, "SELECT number FROM layout") == [(schema.LAYOUT,)]


def test_newer_layout_on_a_server_is_refused(postgresql: PostgreSQL) -> None:
    location = postgresql.location()
    Store(location).close()
    executed(location, "UPDATE layout SET number = number + 1")
    with pytest.raises(StoreError, match=f"layout {schema.LAYOUT + 1} .* upgrade pytest-fairness"):
        Store(location)


DAMAGES = {
    "other-program": ("CREATE TABLE notes (a)", "holds tables of another program"),
    "no-layout": ("DELETE FROM layout", "is damaged, it has no layout"),
    "unknown-layout": ("UPDATE layout SET number = -3", "is damaged, it has no layout"),
    "newer-layout": ("UPDATE layout SET number = 99", "has layout 99 and this version of pytest-fairness reads up to"),
    "lost-table": ("DROP TABLE attempts", "is damaged, it has lost the table attempts"),
    "older": (
        "UPDATE layout SET number = 5; ALTER TABLE grades DROP COLUMN detail",
        "has lost the column detail of grades",
    ),
    "lost-column": ("ALTER TABLE grades DROP COLUMN detail", "is damaged, it has lost the column detail of grades"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_damaged_store_is_refused_and_left_unchanged(
    damage: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    location = request.getfixturevalue("postgresql").location() if kind == "postgresql" else tmp_path / "store.sqlite"
    statement, message = DAMAGES[damage]
    if damage == "other-program":
        statement = statement.replace("(a)", "(a INTEGER)")
    else:
        Store(location).close()
    executed(location, statement)
    before = shape(location)
    with pytest.raises(StoreError, match=re.escape(message)):
        Store(location)
    assert shape(location) == before


def test_file_that_is_no_database_is_named_with_its_way_out(tmp_path: Path) -> None:
    text_file, half = tmp_path / "notes.txt", tmp_path / "half.sqlite"
    text_file.write_text("hello " * 500, encoding="utf-8")
    Store(half).close()
    content = half.read_bytes()
    half.write_bytes(content[: len(content) // 2])
    for path, message in (
        (text_file, "it is no SQLite file, or one no longer: remove it"),
        (half, "the file is damaged: put a copy back"),
        (tmp_path, "is a folder"),
        (Path("/dev/null"), "is no file"),
    ):
        with pytest.raises(StoreError, match=message) as refused:
            Store(path)
        assert str(refused.value).endswith("name another with --fairness-store")
        assert "is kept" not in str(refused.value)


def test_connection_to_a_file_that_is_no_database_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open one: Python 3.13 warns of connections that are left open, in whichever test runs then."""
    drivers: list[sqlite3.Connection] = []

    class Noted(sqlite._Driver):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            drivers.append(self)

    monkeypatch.setattr(sqlite, "_Driver", Noted)
    file = tmp_path / "notes.txt"
    file.write_text("hello " * 500, encoding="utf-8")
    with pytest.raises(StoreError, match="no SQLite file"):
        Store(file)
    (driver,) = drivers
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        driver.execute("SELECT 1")
