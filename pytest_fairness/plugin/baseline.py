"""The baseline of a run: the earlier run that its thresholds are compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.protocols import Model
from pytest_fairness.plugin.collection import selected_probes
from pytest_fairness.plugin.named_runs import conditions
from pytest_fairness.store.location import LATEST

if TYPE_CHECKING:
    from pytest_fairness.core.items import ProbeItem
    from pytest_fairness.plugin.measurement import LazyMeasured
    from pytest_fairness.plugin.probe import Probe
    from pytest_fairness.plugin.sequential_looks import Look
    from pytest_fairness.plugin.session import FairnessSession
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

_Design = tuple[set[Any], int]
"""The prompts with their items and groups, and the repetitions of each."""
_MOST_CANDIDATES = 20
"""The most runs that are searched for a comparable one."""
NO_BASELINE = "no baseline is named: give --fairness-baseline RUN, the id of an earlier run (or `latest`)"


def choose_latest(fairness: FairnessSession, items: Iterable[pytest.Item]) -> None:
    """Let ``--fairness-baseline latest`` be one run for all selected thresholds that take the baseline."""
    held = [item for item in items if "baseline" in getattr(item, "fixturenames", ())]
    probes = [probe for probe in selected_probes(held) if not probe.error]
    if fairness.settings.baseline == LATEST and probes:
        run = _latest_alike(fairness, probes) or fairness.store.runs.find(LATEST)
        fairness.settings = replace(fairness.settings, baseline=run)


def _latest_alike(fairness: FairnessSession, probes: Sequence[Probe]) -> str | None:
    """Return the newest earlier run with the samples of this run; None where no run has samples of these probes.

    A run of another size or of other prompts cannot be compared, and must not become the baseline of the next one.
    """
    runs = fairness.store.runs
    designs = {probe.id: _design(probe.items, range(fairness.work.repetitions(probe))) for probe in probes}
    candidates = runs.with_samples_of(list(designs), fairness.run)
    for run in candidates[:_MOST_CANDIDATES]:
        stored = {probe: _stored_design(runs, run, probe) for probe in designs}
        if stored == designs or (fairness.settings.resolve and all(map(_holds, stored.values(), designs.values()))):
            return run
    return candidates[0] if candidates else None


def _holds(stored: _Design, wanted: _Design) -> bool:
    """Return whether a run has all of a design, and maybe more: what the first of several looks needs."""
    return stored[0] >= wanted[0] and stored[1] >= wanted[1]


def _stored_design(runs: Runs, run: str, probe: str) -> _Design:
    key = next(key for of, _, key in runs.samples(run) if of == probe)
    sample = sample_of(runs, run, probe, key)
    return _design({item.id: item for item, _ in sample.prompts}.values(), sample.repetitions)


def _design(items: Iterable[ProbeItem], repetitions: range) -> _Design:
    prompts = {
        (item.id, prompt.digest, tuple(sorted(prompt.groups.items()))) for item in items for prompt in item.prompts
    }
    return prompts, len(repetitions)


class LazyBaseline:
    """`Measured` of the same probe in the run of ``--fairness-baseline``, read on first use.

    The test is skipped where no run is named. By then its own sample was measured and stored, so that this run can be a
    baseline.
    """

    def __init__(self, measured: LazyMeasured, fairness: FairnessSession) -> None:
        self._of = measured
        self._fairness = fairness
        self._loaded: dict[Look, Measured] = {}

    def __getattr__(self, name: str) -> Any:
        __tracebackhide__ = True
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.load(), name)

    def __repr__(self) -> str:
        return f"<baseline of {self._of.probe.id}: run {self._fairness.settings.baseline}>"

    def load(self) -> Measured:
        """Return the metrics.

        Raises:
            FairnessError: Where the run has no such sample.
        """
        __tracebackhide__ = True
        if self._fairness.settings.baseline is None:
            pytest.skip(NO_BASELINE)
        look = self._of.look
        if look not in self._loaded:
            self._loaded[look] = self._at(look)
        return self._loaded[look]

    def reaches(self, look: Look) -> bool:
        """Return whether a run is named, and holds all items and repetitions of a look."""
        if self._fairness.settings.baseline is None:
            return False
        items, repetitions = look.design(self._of.probe)
        try:
            held = {graded.item.id for graded in self._stored.attempts}
        except FairnessError:  # the test fails with it
            return False
        return held >= {item.id for item in items} and len(self._stored.repetitions) >= repetitions

    @cached_property
    def _stored(self) -> StoredSample:
        return baseline_sample(
            self._fairness.store.runs, self._fairness.settings.baseline or "", self._of.probe.id, self._of.subject
        )

    def _at(self, look: Look) -> Measured:
        """Return the stored sample as far as a look goes; whole where there is one look."""
        sample = self._stored
        if look.of > 1:
            items, repetitions = look.design(self._of.probe)
            ids, end = {item.id for item in items}, sample.repetitions.start + repetitions
            kept = [graded for graded in sample.attempts if graded.item.id in ids and graded.attempt.repetition < end]
            sample = replace(sample, attempts=kept)
        return measured_again(sample)


def baseline_sample(runs: Runs, run: str, probe: str, model: Model) -> StoredSample:
    """Return the sample of a run to compare a probe's sample on this model with.

    It is the sample of the same model, else that of the only model of the run.
    Raises `FairnessError` where the run has no such sample.
    """
    stored = [key for of, _, key in runs.samples(run) if of == probe]
    same = key_of(runs, run, probe, model)
    if same is None and len(stored) > 1:
        raise FairnessError(
            f"run {run[:8]} measured this probe on {len(stored)} models and not on {model.name}: "
            "name a run with it, or with one model only"
        )
    return sample_of(runs, run, probe, same or next(iter(stored), ""))


def key_of(runs: Runs, run: str, probe: str, model: Model) -> str | None:
    """Return the key of a probe's sample in a run: that of this model, else of a model of the same name."""
    stored = {key: name for of, name, key in runs.samples(run) if of == probe}
    # A callable has another key in each run; the part of the key that names its maker is the same.
    alike = [key for key in stored if stored[key] == model.name]
    return next((key for key in stored if _of_any_run(key) == _of_any_run(model.key)), next(iter(alike), None))


def _of_any_run(key: str) -> str:
    return re.sub(r"(?<=\?run=)\w+", "", key) if key.startswith("function:") else key


def sample_of(runs: Runs, run: str, probe: str, key: str | None) -> StoredSample:
    """Return a sample of a run.

    Raises:
        FairnessError: The run has no sample of the probe and model.
    """
    sample = runs.sample(run, probe, key) if key else None
    if sample is None:
        raise FairnessError(f"run {run[:8]} has no sample of {probe}: name a run that has judged its thresholds")
    return sample


def measured_again(sample: StoredSample) -> Measured:
    """Return the metrics of a stored sample."""
    from pytest_fairness.stats.measured import Measured

    return Measured(
        sample.attempts,
        extremes=sample.extremes,
        conditions=conditions(sample.model, sample.graders, sample.judge),
        **sample.arguments,
    )
