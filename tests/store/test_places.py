"""Where a store is, as a user writes it; and what cannot be opened, in one line without the password."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness.core.errors import StoreError
from pytest_fairness.store import database
from pytest_fairness.store.places import Server, place_of
from pytest_fairness.store.store import Store
from tests.postgres import PostgreSQL


def test_a_path_is_meant_from_a_folder_and_a_url_is_a_server() -> None:
    assert place_of("a/b.sqlite", Path("/home/me")) == Path("/home/me/a/b.sqlite")
    assert place_of("/a/b.sqlite", Path("/home/me")) == Path("/a/b.sqlite")
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        assert place_of(f"{scheme}://me@host/db", Path()) == Server("postgresql+psycopg://me@host/db")
    with pytest.raises(StoreError, match=r"mysql://: write a path, or postgresql\+psycopg://"):
        place_of("mysql://me:hush@host/db", Path())


@pytest.mark.parametrize(
    ("rest", "shown"),
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
def test_a_server_is_shown_without_its_password(rest: str, shown: str) -> None:
    server = Server(f"postgresql+psycopg://{rest}")
    assert str(server) == f"postgresql+psycopg://{shown}"
    assert "hu" not in repr(server)


@pytest.mark.parametrize("url", ["me:hush@host:port/db", "me:hush@127.0.0.1:1/db"])
def test_a_server_that_cannot_be_opened_is_told_in_one_line(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_OPENING", 0.3)
    with pytest.raises(StoreError) as caught:
        Store(Server(f"postgresql+psycopg://{url}"))
    assert "\n" not in str(caught.value)
    assert "hush" not in str(caught.value)
    assert "me@" in str(caught.value)


def test_an_unknown_database_is_told_in_one_line(postgresql: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_OPENING", 0.3)
    known = postgresql.place()
    with pytest.raises(StoreError, match='database "elsewhere" does not exist') as caught:
        Store(Server(known.url.rpartition("/")[0] + "/elsewhere"))
    assert "\n" not in str(caught.value)


def test_prompts_and_answers_stay_out_of_repositories(tmp_path: Path) -> None:
    Store(tmp_path / ".fairness" / "store.sqlite").close()
    assert "*" in (tmp_path / ".fairness" / ".gitignore").read_text(encoding="utf-8").splitlines()
    Store(tmp_path / "mine" / "store.sqlite").close()
    assert not (tmp_path / "mine" / ".gitignore").exists()
