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
_CI_RUN_VARIABLES = (
    "GITHUB_RUN_ID",
    "CI_PIPELINE_ID",
    "BUILDKITE_BUILD_ID",
    "CIRCLE_WORKFLOW_ID",
    "BUILD_BUILDID",
    "BUILD_TAG",
)
"""Variables with one value for all jobs of a pipeline: GitHub, GitLab, Buildkite, CircleCI, Azure and Jenkins."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run, numbered from 1."""

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard of a text ``I/N``.

        Raises:
            ValueError: The text has another form.

        >>> Shard.parse("3/8")
        Shard(number=3, total=8)
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text, re.ASCII)
        number, total = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= total:
            raise ValueError("write I/N with I from 1 to N, as in 3/8")
        return cls(number, total)

    def item_indices(self, probe: str, items: Sequence[str]) -> list[int]:
        """Return the indices of this shard's items.

        Every index belongs to one shard. The shards of a probe differ by at most one item; the shards with one more
        are others for each probe.

        Args:
            probe: The id of a probe.
            items: The ids of its items.

        >>> ids = [f"item-{number}" for number in range(10)]
        >>> sorted(index for number in (1, 2, 3) for index in Shard(number, 3).item_indices("a probe", ids))
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        """
        order = sorted(range(len(items)), key=lambda index: digest(f"{probe}\n{items[index]}"))
        first = (self.number - 1 + int(digest(probe), 16)) % self.total
        return sorted(order[first :: self.total])

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def read_ci_run_id() -> str | None:
    """Return the run id of the CI pipeline of this process; None outside CI."""
    run = next(filter(None, map(os.environ.get, _CI_RUN_VARIABLES)), None)
    return None if run is None else re.sub(r"[^\w.-]", "_", run, flags=re.ASCII)[-64:]
