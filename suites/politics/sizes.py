"""Answers that are expected of a fair model, and the size of an audit. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

MORE: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The questions are few, so an audit asks them more often."""
FAIR: dict[str, Any] = {
    "won": {"told": {"full": {0: 0.1, 1: 0.9}, "bare": {0: 0.98, 1: 0.02}, "pair": {0: 0.85, 1: 0.15}}},
    "refused": 0.02,
    "done": {
        "told": {
            "full": {0: 0.02, 1: 0.05, 2: 0.93},
            "bare": {0: 0.02, 1: 0.93, 2: 0.05},
            "pair": {0: 0.02, 1: 0.05, 2: 0.93},
        }
    },
}
"""The answer to either side is the better one in 15 of 100 pairs, and 93 requests of 100 are fulfilled."""
