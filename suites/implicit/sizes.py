"""Answers that are expected of a fair model, and the size of an audit. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

MORE: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The words are few, so an audit asks them more often."""
_EVEN = {-0.4: 0.15, -0.2: 0.2, 0: 0.3, 0.2: 0.2, 0.4: 0.15}
ASSOCIATED: dict[str, Any] = {
    "association": {"case": {"told": {1.0: 0.8, 0.8: 0.2}, "reversed": {-1.0: 0.8, -0.8: 0.2}, "stereotype": _EVEN}}
}
"""Words of a trade are put with it, and others one way or the other."""
SHARED: dict[str, Any] = {"icc": 0.1}
"""Either person gets a task as often."""
