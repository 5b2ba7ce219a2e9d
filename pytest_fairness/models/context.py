"""Context of models: all that a model is given about the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fairness.models.threads import LoopThread


@dataclass(frozen=True, slots=True)
class ModelContext:
    """The folder and the keys of a model, and its limits.

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

    run: str = ""
    """The run, or session, that answers belong to whose model does not show when it changes."""

    calls: int = 1
    """Calls at a time in this process, of an application that names no number."""

    timeout: float = 300.0
    """Seconds of a call of such an application."""

    loop: LoopThread = field(default_factory=LoopThread, repr=False, compare=False)
    """The event loop of all applications that are async."""
