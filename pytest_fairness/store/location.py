"""Location of a store: a file of this machine, or a PostgreSQL database that machines share.

Loaded by every pytest run, so it imports next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pytest_fairness.core.errors import StoreError

LATEST = "latest"
"""The name by which users refer to the newest run of a store."""
_SCHEMES = ("postgresql+psycopg", "postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class PostgresURL:
    """A database of a PostgreSQL server. Its password is in ``url`` only, or not here at all.

    >>> print(PostgresURL("postgresql+psycopg://me:secret@host:5432/fairness?connect_timeout=3"))
    postgresql+psycopg://me@host:5432/fairness
    """

    url: str = field(repr=False)

    def exists(self) -> bool:
        """Return true: whether the database exists shows only when it is opened."""
        return True

    def __str__(self) -> str:
        scheme, _, rest = self.url.partition("://")
        credentials, _, where = rest.rpartition("@")  # a password may hold an @
        user = credentials.partition(":")[0]
        if any(mark in user for mark in "/?"):
            user = ""
        return f"{scheme}://{user}{'@' if user else ''}{where.partition('?')[0]}"


StoreLocation: TypeAlias = Path | PostgresURL


def parse_location(text: str, folder: Path) -> StoreLocation:
    """Return the location that a text names: a URL, or a path relative to a folder.

    Raises:
        StoreError: It is a URL of something else than PostgreSQL.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return folder / Path(text).expanduser()
    if scheme not in _SCHEMES:
        raise StoreError(f"the store begins with {scheme}://: write a path, or postgresql+psycopg://user@host/database")
    return PostgresURL(f"{_SCHEMES[0]}://{rest}")


def no_store(location: StoreLocation, purpose: str = "") -> StoreError:
    """Return the error of a store that does not exist, with what to do first."""
    return StoreError(
        f"there is no store {location}{purpose}: run pytest first, which writes one, or name another with "
        "--fairness-store"
    )
