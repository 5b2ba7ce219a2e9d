"""Locations of a store, as users write them, and errors on opening, in one line without the password."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import database
from pytest_fairness.store.location import PostgresURL, parse_location
from pytest_fairness.store.store import Store
from tests.helpers.postgresql_server import PostgreSQL


def test_store_location_is_a_path_or_a_server_url() -> None:
    assert parse_location("a/b.sqlite", Path("/home/me")) == Path("/home/me/a/b.sqlite")
    assert parse_location("/a/b.sqlite", Path("/home/me")) == Path("/a/b.sqlite")
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        assert parse_location(f"{scheme}://me@host/db", Path()) == PostgresURL("postgresql+psycopg://me@host/db")
    with pytest.raises(StoreError, match=r"mysql://: write a path, or postgresql\+psycopg://"):
        parse_location("mysql://me:hush@host/db", Path())


@pytest.mark.parametrize(
    ("rest", "text"),
    [
        ("me:hush@host:5432/db", "me@host:5432/db"),
        ("me:hu@sh@host/db", "me@host/db"),
        ("me:hu/s?h@host/db?sslmode=require", "me@host/db"),
        (":hush@host/db", "host/db"),
        ("host/db?user=me&password=hush", "host/db"),
        ("host/db?password=hu@sh", "sh"),
        ("me@/db?host=/var/run/postgresql", "me@/db"),
    ],
)
def test_server_is_shown_without_its_password(rest: str, text: str) -> None:
    server = PostgresURL(f"postgresql+psycopg://{rest}")
    assert str(server) == f"postgresql+psycopg://{text}"
    assert "hu" not in repr(server)


@pytest.mark.parametrize("url", ["me:hush@host:port/db", "me:hush@127.0.0.1:1/db", "me:x@hush@127.0.0.1:1/db"])
def test_unreachable_server_is_reported_in_one_line(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_OPENING", 0.3)
    with pytest.raises(StoreError) as caught:
        Store(PostgresURL(f"postgresql+psycopg://{url}"))
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)
    assert "me@" in str(caught.value)


@pytest.mark.parametrize("credentials", ["tests:a/b?c#d%", "tests:a%2Fb%40c", "tests"])
def test_special_characters_of_a_password_are_taken(credentials: str, postgresql: PostgreSQL) -> None:
    url = postgresql.location().url.replace("tests@", f"{credentials}@")
    store = Store(PostgresURL(f"{url}?application_name=mine"))
    assert store._database.scalar("SELECT current_setting('application_name')") == "mine"
    store.close()


def test_unknown_database_is_reported_in_one_line(postgresql: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_OPENING", 0.3)
    server = postgresql.location()
    with pytest.raises(StoreError, match='database "elsewhere" does not exist') as caught:
        Store(PostgresURL(server.url.rpartition("/")[0] + "/elsewhere"))
    assert "\n" not in str(caught.value)


def test_default_store_folder_is_ignored_by_git(tmp_path: Path) -> None:
    Store(tmp_path / ".fairness" / "store.sqlite").close()
    assert "*" in (tmp_path / ".fairness" / ".gitignore").read_text(encoding="utf-8").splitlines()
    Store(tmp_path / "mine" / "store.sqlite").close()
    assert not (tmp_path / "mine" / ".gitignore").exists()


def test_file_of_two_names_is_refused(tmp_path: Path) -> None:
    """SQLite names its log after the path: by two hard links two runs would write two logs into one file."""
    Store(tmp_path / "store.sqlite").close()
    (tmp_path / "other.sqlite").hardlink_to(tmp_path / "store.sqlite")
    with pytest.raises(StoreError, match=r"store.sqlite is a file of 2 names \(hard links\).*: name a copy"):
        Store(tmp_path / "store.sqlite")


def test_store_behind_a_link_is_made_and_found(tmp_path: Path) -> None:
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "real.sqlite")
    Store(tmp_path / "link.sqlite").close()
    assert (tmp_path / "real.sqlite").is_file()
    Store(tmp_path / "real.sqlite").close()
