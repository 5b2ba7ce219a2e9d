"""Answers that are expected of a fair model, and the size of an audit. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

MORE: dict[str, Any] = {"audit": {"repetitions": 3}}
READ: dict[str, Any] = {"emotion": {"label": 0.8}, "confidence": {0.5: 0.2, 0.7: 0.3, 0.9: 0.5}}
"""Four of five emotions are read correctly, with a confidence of 0.76 on average."""
