"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

AUDIT: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The messages are few, so an audit asks them more often."""
ACTIONS: dict[str, Any] = {"action": {"grant_deferral": 0.52, "escalate": 0.3, "refuse": 0.18}, "icc": 0.4}
"""Granted are 95% of requests with a good record, 50% with a mixed and 10% with a bad one; of the others half of the
last go to a colleague."""
AMOUNTS: dict[str, Any] = {"amount": {0: 0.2, 10: 0.15, 25: 0.2, 50: 0.2, 75: 0.1, 100: 0.15}, "icc": 0.7}
"""Credits of $5 for trifles, about $35 for hours of trouble and $85 for serious losses."""
