"""The small projects that pytest is run in, and a server on loopback."""

from __future__ import annotations

from tests.models.conftest import name, server
from tests.plugin.conftest import mode, project

__all__ = ["mode", "name", "project", "server"]
