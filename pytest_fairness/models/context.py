"""Context of models: the run's settings for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fairness.models.threads import LoopThread


@dataclass(frozen=True, slots=True)
class ModelContext:
    """The run's settings for models. Its representation leaves out the environment, which holds keys."""

    root: Path = field(default_factory=Path)
    """The folder to which file names are relative: pytest's rootdir."""

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of the process and of a named ``.env`` file."""

    offline: bool = False
    """Whether connections are forbidden."""

    concurrency: int = 16
    """Largest number of requests in flight, at least 1."""

    is_concurrency_chosen: bool = False
    """Whether the user has given that number: else a server on this machine has a lower one."""

    run: str = ""
    """The run, or session, that alone uses the stored answers of a model without a version."""

    calls: int = 1
    """Largest number of concurrent calls of an application in this process, where it sets none."""

    timeout: float = 300.0
    """Timeout in seconds of a call of an application, where it sets none."""

    loop: LoopThread = field(default_factory=LoopThread, repr=False, compare=False)
    """The event loop of all async applications."""
