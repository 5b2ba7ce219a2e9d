"""Work of one process: the items that the selected tests measure, the samples that hold them, and the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from pytest_fairness.core.controls import with_levels
from pytest_fairness.plugin.compat import WorkerQueue
from pytest_fairness.plugin.probes.identity import ItemParameter, SampleParameter
from pytest_fairness.plugin.probes.probe import Probe
from pytest_fairness.plugin.session.first_prompts import LARGE, FirstAnswersRead, choose_prompts
from pytest_fairness.plugin.session.model_resolver import ModelResolver
from pytest_fairness.plugin.session.run_context import RunContext

if TYPE_CHECKING:
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.engine.budget import Caps
    from pytest_fairness.engine.engine import Engine
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.engine.requests import Request
    from pytest_fairness.store.samples import StoredSample


Subject = tuple[str | None, object]
"""The identity of a model before it is made: the name, and the fixture that makes it."""


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """One selected test of a probe or threshold."""

    model_name: str | None
    sample: SampleParameter
    items: Sequence[int]
    """The indices of the items that it measures ahead."""

    @property
    def probe(self) -> Probe:
        return self.sample.probe

    @property
    def subject(self) -> Subject:
        """The identity of its model."""
        return self.model_name, self.sample.model


class AssignedTests:
    """The tests of one worker of xdist, which learns of them in parts while it runs."""

    def __init__(self, queue: WorkerQueue) -> None:
        self._queue = queue
        self.planned: dict[int, PlannedTest] = {}
        """The selected tests of probes and thresholds, by the index of the test in the session."""
        self._indices: dict[int, None] = {}
        """The indices of the assigned tests, in order."""
        self._last = -1

    @property
    def tests(self) -> Iterator[PlannedTest]:
        """The assigned tests so far."""
        return (self.planned[index] for index in self._indices if index in self.planned)

    def take_new(self) -> list[PlannedTest]:
        """Return the tests that were assigned since the last call."""
        new = [index for index in self._queue.read_new() if index not in self._indices]
        self._indices |= dict.fromkeys(new)
        self._last = max(self._last, *new) if new else self._last
        return [self.planned[index] for index in new if index in self.planned]

    def later_tests(self) -> Iterator[PlannedTest]:
        """Yield this worker's part of the tests of items behind the assigned ones: most have no worker yet.

        Each worker has another part, so that no two of them claim the same requests.
        """
        index, end = self._last + 1, max(self.planned, default=-1)
        while index <= end:
            test = self.planned.get(index) if index % self._queue.workers == self._queue.number else None
            if test is not None and len(test.items) == 1:  # a threshold would add the items of other workers
                yield test
            index = max(index, self._last) + 1


class WorkPlan:
    """The selected tests, the samples of their probes, each made once, and the engine that measures them."""

    def __init__(self, context: RunContext, models: ModelResolver) -> None:
        self._context = context
        self._models = models
        self.on_wait: Callable[[], None] | None = None
        """A function that is called while a test waits for answers."""
        self.existing_engine: Engine | None = None
        """The engine, if it was started."""
        self.tests: list[PlannedTest] = []
        self.assigned: AssignedTests | None = None
        """The tests of this worker of xdist; None in other processes, which run all of them."""
        self._samples: dict[tuple[Probe, str], ProbeSample] = {}
        self._submitted: dict[Subject, Model] = {}
        """Subjects whose planned requests the engine has, with their models."""
        self.stored: dict[tuple[str, ...], StoredSample] = {}
        """The samples and parts that this process has put into the store, as `Runs.measured` takes them."""
        self._outdated: dict[str, dict[str, int]] = {}
        """By the keys of models: the first repetition to request, by prompts whose stored answers are too old."""
        self._lock = RLock()
        self.first = FirstAnswersRead()

    def add(self, index: int, test: PlannedTest) -> None:
        """Add a selected test, which has this index in the session."""
        self.tests.append(test)
        if self.assigned is not None:
            self.assigned.planned[index] = test

    # The engine.

    @property
    def engine(self) -> Engine:
        if self.existing_engine is None:
            from pytest_fairness.core.secrets import secrets_in
            from pytest_fairness.engine.budget import Budget
            from pytest_fairness.engine.engine import Engine

            settings, run = self._context.settings, self._context.run
            budget = Budget(
                self.caps,
                price=self._models.find_price,
                longest=self._longest,
                assumed=settings.project.assumptions["output"],
                elapsed=self._context.store.runs.elapsed(run),
            )
            self.existing_engine = Engine(
                self._context.store,
                run,
                concurrency=settings.model_concurrency,
                offline=settings.offline,
                budget=budget,
                batch=settings.batch,
                secrets=secrets_in(self._models.model_context.environment),
            )
            self.existing_engine.answers.on_wait = self.on_wait
        return self.existing_engine

    @property
    def caps(self) -> Caps:
        """The limits of this run's spending."""
        from pytest_fairness.engine.budget import Caps

        settings = self._context.settings
        return Caps(settings.budget, settings.max_requests, settings.max_minutes)

    def _longest(self, model: Model) -> float | None:
        """Return the tokens of the longest answer to expect; None to wait for a first answer, which a batch cannot."""
        lengths = self._context.store.lengths(model.key)
        if lengths is None and self._context.settings.batch:
            return self._context.settings.project.assumptions["output"]
        return lengths and lengths[1]

    def stop(self) -> None:
        """Make all processes of the session stop sending requests."""
        if self.existing_engine is not None:
            self.existing_engine.stop()
        elif self._context.existing_store is not None or (
            self._context.are_settings_read and self._context.settings.store.exists()
        ):
            self._context.store.stop()

    def close_engine(self, *, at_once: bool = False) -> None:
        """Store the answers that have arrived and, unless ``at_once``, those in flight that arrive soon."""
        if self.existing_engine is not None:
            self.existing_engine.close(at_once=at_once)

    # Counts.

    def item_indices(self, probe: Probe) -> Sequence[int]:
        """Return the indices of the items of a probe that this session measures ahead: all, or its shard's."""
        shard = self._context.settings.shard
        if shard is None:
            return range(len(probe.items))
        return shard.item_indices(probe.id, [item.id for item in probe.items])

    def repetitions(self, probe: Probe) -> int:
        """Return the attempts per prompt of a probe."""
        return 1 if probe.is_propensity else self._context.settings.repetitions or probe.repetitions

    def count_attempts(self, measured: object) -> int:
        """Return the number of attempts of a probe's item; 0 for anything else."""
        if not isinstance(measured, ItemParameter):
            return 0
        probe = measured.sample.probe
        return len(probe.items[measured.index].prompts) * self.repetitions(probe)

    # Repetitions: stored answers are kept by repetition and never replaced.

    def first_probe_repetition(self, probe: Probe, model: Model) -> int:
        """Return the first repetition of a probe on one model, the same for every selection of its items.

        So a later look at a threshold, which takes more items, holds the answers of the earlier ones.
        """
        items = [*probe.items, *probe.reserve, *probe.filtered] if self._context.settings.max_age else []
        return self.first_repetition(model, [prompt for item in items for prompt in item.prompts])

    def first_repetition(self, model: Model, prompts: Sequence[Prompt]) -> int:
        """Return the first repetition of these prompts that this run may reuse or request.

        A fresh run, and prompts whose answers are too old, continue after the last stored repetition.
        """
        if self._context.settings.fresh:
            return self._next_repetition
        if self._context.settings.max_age is None:
            return 0
        with self._lock:
            if model.key not in self._outdated:
                self._outdated[model.key] = self._context.store.runs.outdated(
                    self._context.run, model.key, self._context.settings.max_age
                )
        outdated = self._outdated[model.key]
        return max((outdated.get(prompt.digest, 0) for prompt in prompts if outdated), default=0)

    @cached_property
    def _next_repetition(self) -> int:
        return self._context.store.runs.next_repetition(self._context.run)

    # Samples.

    def sample(self, test: PlannedTest, model: Model) -> ProbeSample:
        """Return a probe's items on one model. The first sample of a model starts the engine's work on its tests."""
        sample = self._sample(test.probe, model)
        is_first = test.subject not in self._submitted
        if is_first:
            self._submitted[test.subject] = model
        if self.assigned is not None and not self._context.settings.batch:  # a batch holds all requests
            self._plan_assigned(self.assigned, test.subject if is_first else None)
        elif is_first:
            self.engine.plan(self._first_requests(self.tests, model, test.subject))
            self.engine.plan(self._requests(self.tests, model, test.subject))
        return sample

    def _plan_assigned(self, assigned: AssignedTests, new_subject: Subject | None) -> None:
        """Let the engine work on the tests of this worker, and on those that no worker has yet if these are few."""
        new = assigned.take_new()
        engine = self.engine
        for subject, model in self._submitted.items():
            if tests := [*assigned.tests] if subject == new_subject else new:
                engine.plan(self._first_requests(tests, model, subject))
                engine.plan(self._requests(tests, model, subject))
        if new_subject is not None:
            model = self._submitted[new_subject]
            engine.plan(self._requests(assigned.later_tests(), model, new_subject), shared=True)

    def _sample(self, probe: Probe, model: Model) -> ProbeSample:
        key = (probe, model.key)
        with self._lock:  # the engine's thread reads the plan while the thread of the tests measures
            if key not in self._samples:
                self._samples[key] = self.build_sample(probe, probe.items, model, self.repetitions(probe))
        return self._samples[key]

    def build_sample(self, probe: Probe, items: Sequence[ProbeItem], model: Model, repetitions: int) -> ProbeSample:
        """Return a new sample of any items of a probe on one model."""
        from pytest_fairness.engine.probe_sample import ProbeSample

        if probe.controls and getattr(model, "follows_controls", False):
            items = with_levels(items, probe.controls)
        engine = self.engine
        return ProbeSample(
            items, model, repetitions, engine, self.first_probe_repetition(probe, model), self.first_repetition
        )

    def _requests(self, tests: Iterable[PlannedTest], model: Model, subject: Subject) -> Iterator[Request]:
        for test in tests:
            if (
                test.subject == subject
                and not test.probe.error
                and not self.first.unreadable.get((test.probe.id, model.key))
            ):
                yield from self._sample(test.probe, model).requests(test.items)

    def measured_items(self, probe: Probe, subject: Subject) -> list[int]:
        """Return the indices of the items of a probe that the selected tests of this session measure."""
        own = self._by_probe.get((probe, subject), ())
        return sorted({index for test in own for index in test.items})

    @cached_property
    def _by_probe(self) -> dict[tuple[Probe, Subject], list[PlannedTest]]:
        by_probe: dict[tuple[Probe, Subject], list[PlannedTest]] = {}
        for test in self.tests:
            by_probe.setdefault((test.probe, test.subject), []).append(test)
        return by_probe

    def first_prompts(self, test: PlannedTest, sample: ProbeSample) -> list[tuple[int, int]]:
        """Return the prompts of a test's probe that are sent first, by item and number; none of a small probe."""
        probe, indices = test.probe, self.measured_items(test.probe, test.subject)
        attempts = self.repetitions(probe) * sum(len(sample.items[index].prompts) for index in indices)
        # A batch is answered as a whole, and probabilities of options need no reading.
        if attempts < LARGE or self._context.settings.batch or probe.is_propensity:
            return []
        return choose_prompts(sample.items, indices)

    def _first_requests(self, tests: Iterable[PlannedTest], model: Model, subject: Subject) -> Iterator[Request]:
        """Yield the requests of the first answers of the probes of these tests."""
        of_probes = {test.probe: test for test in tests if test.subject == subject and not test.probe.error}
        for probe, test in of_probes.items():
            sample = self._sample(probe, model)
            yield from sample.first_requests(self.first_prompts(test, sample))

    def save_sample(self, sample: StoredSample, model: Model) -> None:
        """Store the sample of a probe, so that its verdicts can be made again."""
        if self._context.store.runs.save_sample(self._context.run, sample):
            self.stored[sample.probe, sample.model_key] = sample
            self._save_answers(sample, model)

    def _save_answers(self, sample: StoredSample, model: Model) -> None:
        """Store the answers of a sample that the engine does not store: those of a file."""
        if not getattr(model, "stored", True):
            self._context.store.save_answers(sample, self._context.run)

    def close(self) -> None:
        """Store what this process measured of probes whose whole sample no threshold has taken; let go of all answers.

        A report is made from the store, and would hold them a second time. The engine is closed.
        """
        try:
            self._save_partial_samples()
        finally:
            self._samples.clear()
            self.existing_engine = None

    def _save_partial_samples(self) -> None:
        from pytest_fairness.store.samples import StoredSample

        for (probe, key), sample in self._samples.items():
            if attempts := sample.measured():
                model = sample.model
                questions = sample.asked_by_graders()
                part = StoredSample(
                    probe.id, model.name, key, attempts, graders=sample.fingerprints, questions=questions
                )
                store = self._context.store
                if store.runs.save_part(self._context.run, store.owner.id, part):
                    self.stored[part.probe, key, store.owner.id] = part
                    self._save_answers(part, model)
