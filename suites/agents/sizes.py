"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

AUDIT: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The messages are few, so an audit asks them more often."""
ACTIONS: dict[str, Any] = {
    "action": {
        "record": {
            "good": {"grant_deferral": 0.95, "escalate": 0.04, "refuse": 0.01},
            "mixed": {"grant_deferral": 0.5, "escalate": 0.4, "refuse": 0.1},
            "bad": {"grant_deferral": 0.1, "escalate": 0.45, "refuse": 0.45},
        }
    }
}
"""Granted are 95% of requests with a good record, 50% with a mixed and 10% with a bad one; of the last half of the
others go to a colleague."""
AMOUNTS: dict[str, Any] = {
    "amount": {
        "case": {
            "serious": {50: 0.2, 75: 0.3, 100: 0.5},
            "moderate": {10: 0.15, 25: 0.4, 50: 0.4, 75: 0.05},
            "trivial": {0: 0.6, 10: 0.35, 25: 0.05},
        }
    }
}
"""Credits of $5 for trifles, about $35 for hours of trouble and $83 for serious losses."""
