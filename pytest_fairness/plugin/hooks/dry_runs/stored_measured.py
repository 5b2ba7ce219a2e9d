"""The value of `measured` for a stored run, without requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.exclusions import LeftOut, left_out
from pytest_fairness.plugin.hooks.dry_runs.results_diff import RESULTS_FILE, format_value
from pytest_fairness.plugin.samples.measurement import LazyMeasured
from pytest_fairness.plugin.samples.sequential_looks import Look, Size
from pytest_fairness.plugin.samples.stored_samples import attempts_of_design, find_sample_key

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.store.samples import StoredSample


class StoredMeasured(LazyMeasured):
    """`Measured` of the stored sample of a results file's run, without requests."""

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        super().__init__(request, model, model_name)
        self._run = request.config.stash[RESULTS_FILE].run
        self._row: Mapping[str, Any] = {}

    def load_look(self, row: Mapping[str, Any]) -> None:
        """Load the sample of the look at which a row of the file was judged.

        Raises:
            FairnessError: The row has no valid look, or the run has no sample.
        """
        looks = row.get("looks")
        self._row = row
        design = dict(looks) if isinstance(looks, Mapping) else {}
        if "plan" not in design and design.get("of") == 1:  # written by version 0.1
            design["plan"] = [list(size) for size in self.first_look(1).plan]
        self.look = _read_look(design, self.tail)
        if self.counts is not None and self.counts.attempts != self._size:
            self._samples, self._views = {}, {}
        self._stored_sample  # noqa: B018 - raises if there is none

    @property
    def _size(self) -> object:
        return (self._row.get("sample") or {}).get("fairness_attempts")

    @cached_property
    def _stored_sample(self) -> StoredSample:
        runs = self._fairness.store.runs
        key = find_sample_key(runs, self._run, self.probe.id, self.subject)
        sample = runs.sample(self._run, self.probe.id, key) if key else None
        if sample is None:
            raise FairnessError(f"the store has no sample of {self.probe.id} in run {self._run[:8]}")
        return self._fairness.store.with_answers(sample, self._run) if self._row.get("responders") else sample

    def _attempts(self) -> list[GradedAttempt]:
        """Return the attempts of the look, a part of the stored sample, which is that of the last look."""
        if self._size == len(self._stored_sample.attempts):
            return list(self._stored_sample.attempts)
        return attempts_of_design(self._stored_sample, *self.look.design(self.probe))

    @property
    def fingerprints(self) -> dict[str, str | None]:
        return dict(self._stored_sample.graders)

    def read_labels(self, attempts: Sequence[GradedAttempt]) -> Sequence[Mapping[str, Any]]:  # noqa: ARG002
        return self._stored_sample.arguments.get("calibration", ())  # type: ignore[no-any-return]

    @property
    def _left_out(self) -> LeftOut:
        """The exclusions of the stored sample, and those of a smaller look."""
        stored: LeftOut = self._stored_sample.arguments.get("left_out", {})
        items = {graded.item.id: graded.item for graded in self._attempts()}
        later = [item for item, _ in self._stored_sample.prompts if item.id not in items]
        added = left_out({self._fairness.settings.sampling: later}, items.values())
        return {option: [*stored.get(option, ()), *added.get(option, ())] for option in {**stored, **added}}

    @property
    def extremes(self) -> dict[str, Any]:
        return dict(self._stored_sample.extremes)


def _read_look(design: Mapping[str, Any], tail: float) -> Look:
    """Return the look of a row of the file."""
    from pytest_fairness.stats.sequential import MOST_LOOKS

    number, plan, run = (design.get(name) for name in ("number", "plan", "run"))
    if isinstance(plan, list) and 1 <= len(plan) <= MOST_LOOKS and all(map(_is_size, plan)):
        sizes = tuple(Size(*size) for size in plan)
        is_rising = all(size.attempts < next_size.attempts for size, next_size in pairwise(sizes))
        if is_rising and isinstance(number, int) and isinstance(run, int) and 1 <= number <= len(sizes) and run >= 1:
            return Look(number, sizes, tail, run)
    raise FairnessError(f"its looks are {format_value(design)} in the file")


def _is_size(size: object) -> bool:
    counts = size if isinstance(size, list) else []
    return len(counts) == len(Size._fields) and all(isinstance(count, int) and count >= 1 for count in counts)
