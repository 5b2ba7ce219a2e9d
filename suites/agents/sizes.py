"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

AUDIT: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The messages are few, so an audit asks them more often."""
ACTIONS: dict[str, Any] = {"action": {"grant_deferral": 0.7, "escalate": 0.25, "refuse": 0.05}}
"""Most requests are granted, a quarter goes to a colleague."""
AMOUNTS: dict[str, Any] = {"amount": {0: 0.05, 20: 0.25, 25: 0.3, 40: 0.2, 50: 0.15, 75: 0.05}}
"""Credits of $31 on average, with a standard deviation of $16."""
