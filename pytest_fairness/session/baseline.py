"""Earlier runs that the user names: the baseline to be no worse than, and the run to certify."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.core.keys import prompt_digest
from pytest_fairness.core.protocols import Model
from pytest_fairness.session.collection import selected_probes
from pytest_fairness.session.conditions import WRAPPED, conditions
from pytest_fairness.session.settings import Settings
from pytest_fairness.store.places import LATEST

if TYPE_CHECKING:
    from pytest_fairness.core.items import ProbeItem
    from pytest_fairness.session.looks import Look
    from pytest_fairness.session.measuring import LazyMeasured
    from pytest_fairness.session.probes import Probe
    from pytest_fairness.session.state import FairnessSession
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.store.places import Place
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

_Design = tuple[set[Any], int]
"""The prompts with their items and groups, and the repetitions of each."""
_MOST_CANDIDATES = 20
"""Runs that are looked through for one that can be compared."""
NO_BASELINE = "no baseline is named: give --fairness-baseline RUN, the id of an earlier run (or `latest`)"


def with_named_runs(settings: Settings, known: Mapping[str, Any]) -> Settings:
    """The settings with the ids of the runs that the user named; ``known`` has them in a worker.

    A run that is certified brings its models, where the user names none.
    Raises `StoreError`, in one line, where a name means no run or several.
    """
    named = {"baseline": settings.baseline, "certify": settings.certify}
    if not any(named.values()):
        return settings
    with earlier_runs(settings.store) as runs:
        found = {name: known.get(f"fairness_{name}") or (text and runs.find(text)) for name, text in named.items()}
        if settings.baseline == LATEST:  # which of them is known once the thresholds are
            found["baseline"] = LATEST
        models = settings.models
        if found["certify"] and not models:
            models = tuple(dict.fromkeys(named_models(runs, found["certify"])))
    return replace(settings, models=models, baseline=found["baseline"], certify=found["certify"])


def choose_latest(fairness: FairnessSession, items: Iterable[pytest.Item]) -> None:
    """Let ``--fairness-baseline latest`` be one run for all selected thresholds that take the baseline."""
    held = [item for item in items if "baseline" in getattr(item, "fixturenames", ())]
    probes = [probe for probe in selected_probes(held) if not probe.error]
    if fairness.settings.baseline == LATEST and probes:
        run = _latest_alike(fairness, probes) or fairness.store.runs.find(LATEST)
        fairness.settings = replace(fairness.settings, baseline=run)


def _latest_alike(fairness: FairnessSession, probes: Sequence[Probe]) -> str | None:
    """Return the newest earlier run that asked all of these probes what this run asks; None where none did.

    So a run of another size or of other prompts, which cannot be compared, does not become the baseline of the next.
    """
    runs = fairness.store.runs
    designs = {probe.id: _design(probe.items, range(fairness.repetitions(probe))) for probe in probes}
    candidates = runs.with_samples_of(list(designs), fairness.run)
    for run in candidates[:_MOST_CANDIDATES]:
        asked = {probe: _asked(runs, run, probe) for probe in designs}
        if asked == designs or (fairness.settings.resolve and all(map(_holds, asked.values(), designs.values()))):
            return run
    return candidates[0] if candidates else None


def _holds(asked: _Design, wanted: _Design) -> bool:
    """Whether a run asked all of a design, which the first of several looks needs, and maybe more."""
    return asked[0] >= wanted[0] and asked[1] >= wanted[1]


def _asked(runs: Runs, run: str, probe: str) -> _Design:
    key = next(key for of, _, key in runs.samples(run) if of == probe)
    sample = sample_of(runs, run, probe, key)
    return _design({item.id: item for item, _ in sample.prompts}.values(), sample.repetitions)


def _design(items: Iterable[ProbeItem], repetitions: range) -> _Design:
    prompts = {
        (item.id, prompt_digest(prompt.messages), tuple(sorted(prompt.groups.items())))
        for item in items
        for prompt in item.prompts
    }
    return prompts, len(repetitions)


@contextmanager
def earlier_runs(store: Place) -> Iterator[Runs]:
    """The runs of a store. Raises `StoreError`, in one line, where there is no such store."""
    if not store.exists():
        raise StoreError(f"there is no store {store} to find an earlier run in: name it with --fairness-store")
    from pytest_fairness.store.database import Database
    from pytest_fairness.store.runs import Runs

    database = Database(store)
    try:
        yield Runs(database)
    finally:
        database.close()


def named_models(runs: Runs, run: str) -> list[str]:
    """The models that a run has samples of, as ``--fairness-model`` takes them; not the user's own callables."""
    names = [model.partition(WRAPPED)[0] for _, model, _ in runs.samples(run)]
    return [name for name in names if not name.startswith("function:")]


class LazyBaseline:
    """`Measured` of the same probe in the run of ``--fairness-baseline``, read when it is first asked anything.

    The test that asks is skipped where no run is named; by then its own sample was measured
    and kept, so that this run can be a baseline.
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
        """The metrics. Raises `FairnessError` where the run has no such sample."""
        __tracebackhide__ = True
        if self._fairness.settings.baseline is None:
            pytest.skip(NO_BASELINE)
        look = self._of.look
        if look not in self._loaded:
            self._loaded[look] = self._at(look)
        return self._loaded[look]

    def reaches(self, look: Look) -> bool:
        """Whether a run is named, and holds all items and repetitions of a look."""
        if self._fairness.settings.baseline is None:
            return False
        items, repetitions = look.design(self._of.probe)
        try:
            held = {graded.item.id for graded in self._stored.attempts}
        except FairnessError:  # which the test is told
            return False
        return held >= {item.id for item in items} and len(self._stored.repetitions) >= repetitions

    @cached_property
    def _stored(self) -> StoredSample:
        return baseline_sample(
            self._fairness.store.runs, self._fairness.settings.baseline or "", self._of.probe.id, self._of.subject
        )

    def _at(self, look: Look) -> Measured:
        """The stored sample as far as a look goes; whole where there is one look."""
        sample = self._stored
        if look.of > 1:
            items, repetitions = look.design(self._of.probe)
            ids, end = {item.id for item in items}, sample.repetitions.start + repetitions
            kept = [graded for graded in sample.attempts if graded.item.id in ids and graded.attempt.repetition < end]
            sample = replace(sample, attempts=kept)
        return measured_again(sample)


def baseline_sample(runs: Runs, run: str, probe: str, model: Model) -> StoredSample:
    """The sample of a run that a probe's sample on this model is to be held against.

    That of the same model; where the run has it not, that of its only model.
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
    """The key under which a run has a probe's sample on this model: its own, or that of the same name."""
    stored = {key: name for of, name, key in runs.samples(run) if of == probe}
    # A callable has a key of its own in each run; what has made it tells those of one name apart.
    alike = [key for key in stored if stored[key] == model.name]
    return next((key for key in stored if _of_any_run(key) == _of_any_run(model.key)), next(iter(alike), None))


def _of_any_run(key: str) -> str:
    return re.sub(r"(?<=\?run=)\w+", "", key) if key.startswith("function:") else key


def sample_of(runs: Runs, run: str, probe: str, key: str | None) -> StoredSample:
    """A sample of a run. Raises `FairnessError` where there is none."""
    sample = runs.sample(run, probe, key) if key else None
    if sample is None:
        raise FairnessError(f"run {run[:8]} has no sample of {probe}: name a run that has judged its thresholds")
    return sample


def measured_again(sample: StoredSample) -> Measured:
    """The metrics of a stored sample."""
    from pytest_fairness.stats.measured import Measured

    return Measured(
        sample.attempts,
        extremes=sample.extremes,
        conditions=conditions(sample.model, sample.graders, sample.judge),
        **sample.arguments,
    )
