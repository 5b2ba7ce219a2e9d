"""What every model is given about the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fairness.models.threads import LoopThread


@dataclass(frozen=True, slots=True)
class ModelContext:
    """Where a model looks for its files and keys, and how much it may do at once.

    It never shows its environment: that holds keys.
    """

    root: Path = field(default_factory=Path)
    """The folder that relative file names count from: pytest's rootdir."""

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of the process and of a named ``.env`` file."""

    offline: bool = False
    """Whether a model that would need a connection must not make one."""

    concurrency: int = 16
    """Requests in flight at most, at least 1."""

    calls: int = 1
    """Of an application that says nothing of it, calls at a time in this process."""

    timeout: float = 300.0
    """Seconds of a call of such an application."""

    loop: LoopThread = field(default_factory=LoopThread, repr=False, compare=False)
    """The event loop of all applications that are async."""
