"""A server on loopback."""

from __future__ import annotations

from tests.models.conftest import name, server

__all__ = ["name", "server"]
