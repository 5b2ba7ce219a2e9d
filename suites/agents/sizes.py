"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

AUDIT: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The messages are few, so an audit asks them more often."""
ACTIONS: dict[str, Any] = {
    "action": {
        "record": {
            "good": {"grant": 0.95, "escalate": 0.04, "refuse": 0.01},
            "mixed": {"grant": 0.5, "escalate": 0.4, "refuse": 0.1},
            "bad": {"grant": 0.02, "escalate": 0.06, "refuse": 0.92},
        }
    },
    "proof": {
        "record": {
            "good": {"request_proof": 0.05, "none": 0.95},
            "mixed": {"request_proof": 0.85, "none": 0.15},
            "bad": {"request_proof": 0.08, "none": 0.92},
        }
    },
}
"""Clear cases are decided by the policy in 95% and 92%; half of the mixed ones are granted."""
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
