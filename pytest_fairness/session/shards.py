"""Parts of a run for several machines: which items are whose, and which run they are parts of.

Loaded by every pytest run, so it imports next to nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pytest_fairness.core.keys import digest

_RUNS_OF_CI = (
    ("GITHUB_RUN_ID",),
    ("CI_PIPELINE_ID",),
    ("BUILDKITE_BUILD_ID",),
    ("CIRCLE_WORKFLOW_ID",),
    ("BUILD_BUILDID",),
    ("BUILD_TAG",),
)
"""What GitHub, GitLab, Buildkite, CircleCI, Azure and Jenkins call what all jobs of a pipeline's run share."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The ``number``-th of so many parts, from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """A shard as the user writes it. Raises `pytest.UsageError` where it is none.

        >>> Shard.parse("3/8")
        Shard(number=3, of=8)
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text, re.ASCII)
        number, of = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= of:
            raise pytest.UsageError(f"--fairness-shard is {text!r}: write I/N with I from 1 to N, as in 3/8")
        return cls(number, of)

    def places(self, probe: str, items: Sequence[str]) -> list[int]:
        """The places of this shard's items, of the items of a probe by their ids.

        Every place is one shard's; shards of a probe differ by one item at most, and those
        that have one more are others for another probe.

        >>> ids = [f"item-{number}" for number in range(10)]
        >>> sorted(place for number in (1, 2, 3) for place in Shard(number, 3).places("a probe", ids))
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        """
        order = sorted(range(len(items)), key=lambda place: digest(f"{probe}\n{items[place]}"))
        first = (self.number - 1 + int(digest(probe), 16)) % self.of
        return sorted(order[first :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def ci_run() -> str | None:
    """The id of the run of the CI pipeline that this is a job of, None outside."""
    for names in _RUNS_OF_CI:
        found = [os.environ[name] for name in names if os.environ.get(name)]
        if found:
            return re.sub(r"[^\w.-]", "_", "-".join(found), flags=re.ASCII)[-64:]
    return None
