"""Functions and classes of `json`, as they were when this module was imported: a test may replace them meanwhile."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder, JSONEncoder, dumps, loads

__all__ = ["JSONDecodeError", "JSONDecoder", "JSONEncoder", "dumps", "loads"]
