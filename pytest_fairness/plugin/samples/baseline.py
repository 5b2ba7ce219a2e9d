"""The baseline of a run: the earlier run that its thresholds are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.decisions import current_recorder
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.history_results import DriftResult
from pytest_fairness.core.served_models import Origin
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.plugin.probes.marked_tests import selected_probes
from pytest_fairness.plugin.samples.stored_samples import (
    attempts_of_design,
    find_baseline_sample,
    load_sample,
    restore_measured,
)
from pytest_fairness.store.location import LATEST

if TYPE_CHECKING:
    from pytest_fairness.core.items import ProbeItem
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.plugin.samples.measurement import LazyMeasured
    from pytest_fairness.plugin.samples.sequential_looks import Look
    from pytest_fairness.plugin.session.session import FairnessSession
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

_Design = tuple[set[Any], int]
"""The prompts with their items and groups, and the repetitions of each."""
_MOST_CANDIDATES = 20
"""The most runs that are searched for a comparable one."""
NO_BASELINE = "no baseline is named: give --fairness-baseline RUN, the id of an earlier run (or `latest`)"


def uses_baseline(item: pytest.Function) -> bool:
    """Return whether a test was given a baseline of this plugin; a project may have a fixture of that name."""
    return isinstance(item.funcargs.get("baseline"), LazyBaseline)


def choose_latest_baseline(fairness: FairnessSession, items: Iterable[pytest.Item]) -> None:
    """Set ``--fairness-baseline latest`` to one run for all selected thresholds with a baseline.

    Raises:
        FairnessError: No earlier run of their probes has passed.
    """
    compared = [item for item in items if "baseline" in getattr(item, "fixturenames", ())]
    probes = [probe for probe in selected_probes(compared) if not probe.error]
    if fairness.settings.baseline == LATEST and probes:
        run = _find_comparable_run(fairness, probes)
        fairness.settings = replace(fairness.settings, baseline=run)


def _find_comparable_run(fairness: FairnessSession, probes: Sequence[Probe]) -> str:
    """Return the newest earlier run with the samples of this run that passed, or whose verdicts were accepted.

    A run of another size or with other prompts cannot be compared. One that failed was not shipped
    (`test_latest_is_a_run_that_passed`).
    """
    runs = fairness.store.runs
    designs = {probe.id: _design(probe.items, range(fairness.work.repetitions(probe))) for probe in probes}
    earlier = runs.with_samples_of(list(designs), fairness.run)
    if not earlier:
        return runs.find(LATEST)
    candidates = list(islice(filter(runs.passed, earlier), _MOST_CANDIDATES))
    if not candidates:
        raise FairnessError(
            f"--fairness-baseline=latest: none of {counted(len(earlier), 'earlier run')} passed: accept the verdicts "
            "of one and run it again, name one by its id, or leave the option out"
        )
    for run in candidates:
        stored = {probe: _stored_design(runs, run, probe) for probe in designs}
        if stored == designs or (fairness.settings.resolve and all(map(_contains, stored.values(), designs.values()))):
            return run
    return candidates[0]


def _contains(stored: _Design, design: _Design) -> bool:
    """Return whether a run has all prompts and repetitions of a design: enough for the first of several looks."""
    return stored[0] >= design[0] and stored[1] >= design[1]


def _stored_design(runs: Runs, run: str, probe: str) -> _Design:
    key = next(key for probe_id, _, key in runs.samples(run) if probe_id == probe)
    sample = load_sample(runs, run, probe, key)
    return _design({item.id: item for item, _ in sample.prompts}.values(), sample.repetitions)


def _design(items: Iterable[ProbeItem], repetitions: range) -> _Design:
    prompts = {
        (item.id, prompt.digest, tuple(sorted(prompt.groups.items()))) for item in items for prompt in item.prompts
    }
    return prompts, len(repetitions)


def _identity(row: ThresholdResult) -> tuple[str, str]:
    """Return the test of a threshold and its title, without the model, which may be another one in each run."""
    return row.id.partition("[")[0], row.threshold


class LazyBaseline:
    """`Measured` of the same probe in the run of ``--fairness-baseline``, read on first use.

    The test is skipped if no run is named. Its own sample is measured and stored before that, so that this run can be a
    baseline.
    """

    def __init__(self, measured: LazyMeasured, fairness: FairnessSession) -> None:
        self._measured = measured
        self._fairness = fairness
        self._cache: dict[Look, Measured] = {}

    def __getattr__(self, name: str) -> Any:
        __tracebackhide__ = True
        if name.startswith("__"):
            raise AttributeError(name)
        if current_recorder() is None:
            raise FairnessError(self._fairness.note_outside_use(f"baseline.{name}"))
        return getattr(self.load(), name)

    def __repr__(self) -> str:
        return f"<baseline of {self._measured.probe.id}: run {self._fairness.settings.baseline}>"

    def load(self) -> Measured:
        """Return the metrics.

        Raises:
            FairnessError: The run has no such sample.
        """
        __tracebackhide__ = True
        if self._fairness.settings.baseline is None:
            pytest.skip(NO_BASELINE)
        look = self._measured.look
        if look not in self._cache:
            restored = self._restore(look)
            self._refuse_itself(self._stored_sample)
            self._cache[look] = restored
        return self._cache[look]

    def _refuse_itself(self, sample: StoredSample) -> None:
        """Check that the two samples were not answered by one model, as servers name it.

        Raises:
            FairnessError: The one was, mostly, by the model that the other was asked of.
        """
        subject, store = self._measured.subject, self._fairness.store
        new = Origin(subject.name, store.served_by([graded.attempt.key for graded in self._measured.attempts]))
        old = Origin(sample.model, store.served_by([graded.attempt.key for graded in sample.attempts]))
        if text := new.mistaken_for(old) or old.mistaken_for(new):
            raise FairnessError(f"nothing is compared with the baseline: {text}")

    def drift(self, result: ThresholdResult) -> DriftResult | None:
        """Return the change of a threshold since the first of its baselines; None where its estimate compares none."""
        run, runs = self._fairness.settings.baseline, self._fairness.store.runs
        value = result.estimate.value
        if run is None or value is None or not result.estimate.against_baseline:
            return None
        read = partial(ThresholdResult.from_json, strict=False)
        earlier = [read({"id": "", **row}, f"run {run[:8]}") for row in runs.results(run) if row is not None]
        same = (past for past in earlier if _identity(past) == _identity(result))
        drift = next((past.drift for past in same if past.estimate.metric == result.estimate.metric), None)
        if drift is None or drift.value is None:
            day = datetime.fromtimestamp(runs.started(run), UTC).date().isoformat()
            return DriftResult(baseline=run, first=run, day=day, runs=1, value=value)
        total = drift.value * value if result.estimate.log_scale else drift.value + value
        return replace(drift, baseline=run, runs=drift.runs + 1, value=total)

    @property
    def answers(self) -> str:
        """A digest of the answers that the test was compared with; empty if it did not use them."""
        if not self._cache:
            return ""
        grades = (f"{graded.attempt.key} {sorted(graded.grades.items())}" for graded in self._stored_sample.attempts)
        return digest("\n".join(sorted(grades)))

    def covers(self, look: Look) -> bool:
        """Return whether the baseline has all items and repetitions of a look."""
        if self._fairness.settings.baseline is None:
            return False
        items, repetitions = look.design(self._measured.probe)
        try:
            stored = {graded.item.id for graded in self._stored_sample.attempts}
        except FairnessError:  # the test itself reports it
            return False
        return stored >= {item.id for item in items} and len(self._stored_sample.repetitions) >= repetitions

    @cached_property
    def _stored_sample(self) -> StoredSample:
        return find_baseline_sample(
            self._fairness.store.runs,
            self._fairness.settings.baseline or "",
            self._measured.probe.id,
            self._measured.subject,
        )

    def _restore(self, look: Look) -> Measured:
        """Return the part of the stored sample that belongs to a look; all of it if there is one look."""
        sample = self._stored_sample
        if look.total > 1:
            sample = replace(sample, attempts=attempts_of_design(sample, *look.design(self._measured.probe)))
        return restore_measured(sample)
