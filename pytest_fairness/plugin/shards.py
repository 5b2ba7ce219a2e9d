"""Shards: the parts of a run that several machines measure, and the id of the run that they share.

Every pytest run loads this module, so it imports next to nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.digests import digest

DEFERRED = "deferred"
"""Begins the reason why a shard skips a threshold."""
_RUNS_OF_CI = (
    "GITHUB_RUN_ID",
    "CI_PIPELINE_ID",
    "BUILDKITE_BUILD_ID",
    "CIRCLE_WORKFLOW_ID",
    "BUILD_BUILDID",
    "BUILD_TAG",
)
"""Variables that all jobs of a pipeline share: GitHub, GitLab, Buildkite, CircleCI, Azure and Jenkins."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run, numbered from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard in ``I/N``. Raises `ValueError`, with the rule, for anything else.

        >>> Shard.parse("3/8")
        Shard(number=3, of=8)
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text, re.ASCII)
        number, of = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= of:
            raise ValueError("write I/N with I from 1 to N, as in 3/8")
        return cls(number, of)

    def item_indices(self, probe: str, items: Sequence[str]) -> list[int]:
        """Return the indices of this shard's items among the ids of a probe's items.

        Every index belongs to one shard. Shards of a probe differ by one item at most, and the shards with one more
        differ from probe to probe.

        >>> ids = [f"item-{number}" for number in range(10)]
        >>> sorted(index for number in (1, 2, 3) for index in Shard(number, 3).item_indices("a probe", ids))
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        """
        order = sorted(range(len(items)), key=lambda index: digest(f"{probe}\n{items[index]}"))
        first = (self.number - 1 + int(digest(probe), 16)) % self.of
        return sorted(order[first :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def ci_run() -> str | None:
    """Return the run id of the CI pipeline that this process is a job of; None outside CI."""
    run = next(filter(None, map(os.environ.get, _RUNS_OF_CI)), None)
    return None if run is None else re.sub(r"[^\w.-]", "_", run, flags=re.ASCII)[-64:]
