"""The seal of a threshold in the results file, and the name of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.serialization import JsonRecord

SEAL = "fairness-seal.toml"
"""The file of the seal, in the folder of the ini file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealResult(JsonRecord):
    """The seal under which a threshold was judged."""

    digest: str
    """The SHA-256 of its file."""
    differences: Sequence[str] = ()
    """The parts in which the run differs from it, each with file and line: then the threshold is never fair."""
