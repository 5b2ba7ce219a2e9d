"""A sparse line while a test waits for many answers: what is there, what is to come."""

from __future__ import annotations

import time

import pytest

_ON_A_TERMINAL = 10.0
_IN_A_LOG = 60.0
"""Seconds between two lines."""


class Progress:
    """Tells how far the answers are, past pytest's capturing, in the process that has the terminal."""

    def __init__(self, config: pytest.Config, attempts: int) -> None:
        self._reporter = config.pluginmanager.get_plugin("terminalreporter")
        self._interval = _ON_A_TERMINAL if getattr(self._reporter, "isatty", False) else _IN_A_LOG
        self._attempts = attempts
        self._started = self._told = time.monotonic()

    def tell(self, answered: int) -> None:
        """Called while somebody waits; mostly says nothing."""
        now = time.monotonic()
        if self._reporter is None or now - self._told < self._interval:
            return
        self._told = now
        rate = answered / (now - self._started)
        left = max(0, self._attempts - answered) / rate if rate else 0.0
        self._reporter.ensure_newline()
        self._reporter.write_line(
            f"fairness: {answered:,} of {self._attempts:,} attempts, {rate:,.0f} a second, about {left:,.0f} s left"
        )
