"""Value of the fixture `measured`: requests the answers of a whole sample and grades them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.decisions import current_recorder, refused
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, NoSuchNameError, did_you_mean
from pytest_fairness.core.exclusions import LeftOut, left_out
from pytest_fairness.core.finish_reasons import stray_reason
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.model_names import keys_in_runs
from pytest_fairness.core.protocols import extremes_of
from pytest_fairness.core.threshold_results import InfluenceResult, JudgeResult, PastResult
from pytest_fairness.engine.errors import STOPPED, BudgetExceededError, RunStoppedError
from pytest_fairness.plugin.config.profiles import SMALLEST_SHARE, SMOKE
from pytest_fairness.plugin.probes.identity import CollectionError
from pytest_fairness.plugin.samples.first_answers import read_first_answers
from pytest_fairness.plugin.samples.judges import resolve_graders, summarize_judges
from pytest_fairness.plugin.samples.look_sample import LookSample
from pytest_fairness.plugin.samples.sequential_looks import Look, plan_looks, select_items
from pytest_fairness.plugin.samples.shard_hooks import defer_to_others
from pytest_fairness.plugin.samples.stored_samples import conditions
from pytest_fairness.plugin.session.session import SESSION
from pytest_fairness.plugin.session.work_plan import PlannedTest

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt, SampleCounts
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.probe_results import ProbeResult
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.plugin.session.session import FairnessSession
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.store.looks import StoredLook


_PUBLIC = (
    *("rate", "mean", "difference", "ratio", "odds_ratio", "ratios", "odds_ratios", "differences", "rates"),
    *(
        "worst_ratio",
        "correlation",
        "flips",
        "metric",
        "where",
        "groups",
        "whole_items",
        "against",
        "record",
        "items",
        "attempts",
    ),
)
"""The attributes of `measured` that a test may use, for messages."""


def _explain_missing_sample(test: pytest.Item | None) -> str:
    """Return the reason why a test has no sample."""
    if test is not None and test.get_closest_marker("threshold"):
        return "@pytest.mark.threshold is on a class or a module: write it on each test function"
    return "`measured` is for tests marked @pytest.mark.threshold(probe=...)"


class MeasuredFixture:
    """The value of the fixture `measured`: the metrics of the sample on which a threshold's test is evaluated.

    Outside of an evaluation it has none. Numbers that a fixture computed before the test would carry no error, those
    of one look would decide at another, and nothing would judge a comparison.
    """

    def __init__(self, lazy: LazyMeasured, fairness: FairnessSession) -> None:
        self._lazy, self._fairness = lazy, fairness
        self._sample: Measured | None = None

    def __getattr__(self, name: str) -> Any:
        __tracebackhide__ = True
        if name.startswith("__"):
            raise AttributeError(name)
        if self._sample is None:
            raise FairnessError(self._fairness.note_outside_use(f"measured.{name}"))
        if name == "ungraded":
            raise refused(
                "what is ungraded must not decide what a threshold compares: every estimate accounts for it, and "
                "the message of a threshold counts it"
            )
        if not hasattr(self._sample, name):
            raise NoSuchNameError(f"`measured` has no {name!r}; {did_you_mean(name, _PUBLIC)}")
        return getattr(self._sample, name)

    def load(self) -> Measured:
        """Return the sample of the evaluation.

        Raises:
            FairnessError: The test is not evaluated.
        """
        if self._sample is None:
            raise FairnessError(self._fairness.note_outside_use("measured"))
        return self._sample

    def __hash__(self) -> int:
        """Return another hash in each evaluation: a function that caches by sample must not keep what one has seen."""
        return hash((id(self), id(current_recorder())))

    def __repr__(self) -> str:
        return repr(self._lazy)


def lazy_measured(fixture: object) -> LazyMeasured:
    """Return the sample behind the value of the fixture `measured`."""
    assert isinstance(fixture, MeasuredFixture)  # noqa: S101 - another's was refused in the set-up
    return fixture._lazy


@contextmanager
def evaluated_on(item: pytest.Function, sample: Measured) -> Iterator[None]:
    """Give a threshold's test, and the functions of its fixtures, this sample as `measured` within the block."""
    fixture = item.funcargs["measured"]
    assert isinstance(fixture, MeasuredFixture)  # noqa: S101 - another's was refused in the set-up
    outer, fixture._sample = fixture._sample, sample
    try:
        yield
    finally:
        fixture._sample = outer


class LazyMeasured:
    """The sample of a probe on a model, which is measured when it is first loaded."""

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        self._fairness = request.config.stash[SESSION]
        parameter = getattr(request, "param", CollectionError(_explain_missing_sample(self._fairness.test)))
        if isinstance(parameter, CollectionError):
            parameter.end()
        self.probe: Probe = parameter.probe
        self._planned = PlannedTest(model_name, parameter, ())
        if self.probe.error is not None:
            CollectionError(self.probe.error, self.probe.is_skipped).end()
        self._model_name = model_name
        self.graders = resolve_graders(self.probe, request)
        self.look = self.first_look(1)
        """The current look."""
        self._samples: dict[int, LookSample] = {}
        """Samples by the number of the look."""
        self._views: dict[Look, Measured] = {}
        """Metrics by look, since thresholds may look at one sample with different confidences."""
        self._judges: dict[int, list[JudgeResult]] = {}
        """The judges by the number of the look; of the last one only."""
        self.cause: tuple[str, int] | None = None
        """The most frequent error, and its number of attempts or of requests by graders."""
        try:
            self.subject = self._fairness.models.wrap(model, self._model_name)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)

    def __repr__(self) -> str:
        attempts = self.look.plan[0].attempts
        return (
            f"<measured: {counted(len(self.probe.items), 'item')}, {counted(attempts, 'attempt')} of {self.probe.id}>"
        )

    @property
    def tail(self) -> float:
        """The probability to err on either side: 0.025 for a confidence of 95%."""
        return round((1 - float(self.probe.arguments.get("confidence", 0.95))) / 2, 12)

    @property
    def counts(self) -> SampleCounts | None:
        """The counts of the current look's sample; None before it was measured."""
        sample = self._samples.get(self.look.number)
        return None if sample is None else sample.counts

    @property
    def probe_result(self) -> ProbeResult | None:
        """The competence of the model in the current look's sample; None before it was measured."""
        sample = self._samples.get(self.look.number)
        return None if sample is None else sample.result

    @property
    def sampling(self) -> str:
        """The option that sets the number of measured items."""
        return self._fairness.settings.sampling

    @property
    def attempts(self) -> Sequence[GradedAttempt]:
        """The attempts of the current look's sample; empty before it was measured."""
        sample = self._samples.get(self.look.number)
        return () if sample is None else sample.attempts

    @property
    def served_by(self) -> Sequence[str]:
        """The names of the models that answered the current look's sample, as the provider reports them."""
        sample = self._samples.get(self.look.number)
        return () if sample is None else sample.served_by

    def first_look(self, looks: int) -> Look:
        """Return the first look of a plan with at most ``looks`` looks."""
        items_only = self.probe.is_propensity
        sizes = plan_looks(self.probe, self._fairness.work.repetitions(self.probe), looks, items_only=items_only)
        return Look(1, sizes, self.tail)

    def load(self) -> Measured:
        """Return the metrics of the current look's sample; missing answers are requested.

        Raises:
            BudgetExceededError: A cap of the run forbids the requests.
        """
        if self.look not in self._views:
            sample = self._sample.measured
            view = sample.from_selection(sample.selection.whole(confidence=self.look.confidence))
            self._views[self.look] = view
        return self._views[self.look]

    @property
    def _sample(self) -> LookSample:
        """The sample of the current look; missing answers are requested."""
        number = self.look.number
        if number not in self._samples:
            attempts = self._attempts()
            # All thresholds share the first look; of later looks only the last is needed.
            self._samples = {look: self._samples[look] for look in self._samples if look == 1 or number <= 2}
            self._samples[number] = LookSample(attempts, self._measure(attempts), self.probe, self.subject.name)
            self._views = {}
        return self._samples[number]

    @property
    def answers(self) -> str:
        """A digest of the answers of the current look's sample and of what they are corrected by.

        The same answers with other labels give another estimate.
        """
        parts = [repr(sorted(label.items())) for label in self.read_labels(self._sample.attempts)]
        return digest("\n".join([self._sample.answers, *parts])) if parts else self._sample.answers

    @property
    def is_declared(self) -> bool:
        """Whether the sample of the first look is the one that the probe declares, in the model's first answers to it.

        Of fresh answers the best of several could be judged: `test_fresh_answers_are_a_later_run`.
        """
        first = self._samples[1]
        if self.is_tryout or (first.items, len(first.attempts)) != self.probe.declared:
            return False
        prompts = {graded.prompt.digest for graded in first.attempts}
        repetition = min(graded.attempt.repetition for graded in first.attempts)
        return not (repetition and self._fairness.store.runs.has_answers(self.subject.key, prompts, repetition))

    @property
    def seen(self) -> int:
        """The number of other samples that can have chosen this part of the declared one: 0 where nothing was seen.

        Another run has asked some of its questions, under this probe or another, or others of the probe's; so has an
        earlier session of this run.
        """
        runs, run, key = self._fairness.store.runs, self._fairness.run, self.subject.key
        others = runs.count_others(run, self.probe.id, key, self.subject.name if self.unversioned else "")
        digests = runs.asked_prompts(run, key)
        items = [item for item in self._all_items if any(prompt.digest in digests for prompt in item.prompts)]
        # Another threshold may be at a later look already.
        size = next((size.items for size in self.look.plan if size.items >= len(items)), 0)
        is_own = {item.id for item in items} <= {item.id for item in select_items(self.probe, size)}
        is_new = all(graded.attempt.at is None for graded in self._samples[1].attempts)
        return others if is_own and is_new and not self.is_tryout else max(others, 1)

    @property
    def _all_items(self) -> list[ProbeItem]:
        return [*self.probe.items, *self.probe.reserve, *self.probe.filtered]

    @property
    def lifetime(self) -> str:
        """The key by which the runs of a threshold are counted: of the model, or of an unversioned application.

        Another seed draws other answers of the same model: `test_another_seed_of_the_model_is_a_later_run`.
        """
        return self.unversioned or re.sub(r"([?&])seed=-?\d+(&|$)", r"\1", self.subject.key).rstrip("?&")

    @property
    def unversioned(self) -> str:
        """The name of an application without a version; empty for any other model."""
        return str(getattr(self.subject, "unversioned", ""))

    @property
    def is_smoke(self) -> bool:
        """Whether the run has the profile `smoke`."""
        return self._fairness.settings.profile == SMOKE

    @property
    def is_tryout(self) -> bool:
        """Whether the run is a smoke run, or the sample of its last look is under a quarter of the declared one."""
        if self.is_smoke:
            return True
        items, attempts = self._sample.items, len(self._sample.attempts)
        if self.look.total > 1:
            planned = self.look.plan[-1]
            items, attempts = max(items, planned.items), max(attempts, planned.attempts)
        declared_items, declared_attempts = self.probe.declared
        return min(items / declared_items, attempts / declared_attempts) < SMALLEST_SHARE

    def store_influences(self, test: str, influences: InfluenceResult) -> None:
        """Store the influence of each item on a threshold's estimate, for comparisons with other runs."""
        self._fairness.store.runs.save_influences(self._fairness.run, test, influences.to_json())

    def judgments(self, test: str) -> list[PastResult]:
        """Return the results of a threshold in all sessions, including earlier sessions of this run, oldest first."""
        # Tests in files outside of the rootdir may have the same id in different runs.
        past = map(PastResult.from_row, self._fairness.store.runs.history(*keys_in_runs(test, self.subject.name)))
        return [result for result in past if result.result.probe in ("", self.probe.id)]

    def before(self, judgments: Sequence[PastResult]) -> list[PastResult]:
        """Return those of runs that began before this one."""
        run = self._fairness.run
        started = self._fairness.store.runs.started(run)
        return [past for past in judgments if past.run != run and past.started <= started]

    def take_look(
        self, test: str, model: str, identity: str, others: Sequence[StoredLook]
    ) -> tuple[StoredLook, list[StoredLook]]:
        """Record a look at a threshold in the store.

        Args:
            test: The id of the threshold's test.
            model: A digest of the model over which runs are counted.
            identity: A digest of the answers and the question that are judged.
            others: The earlier looks.

        Returns:
            The look with its number, and the earlier looks.
        """
        from pytest_fairness.store.looks import StoredLook

        store = self._fairness.store
        look = StoredLook(
            test=test,
            probe=self.probe.id,
            model=model,
            identity=identity,
            run=self._fairness.run,
            session=store.session,
        )
        is_declared = self.is_declared
        return store.looks.take(look, others, is_declared=is_declared, seen=0 if is_declared else self.seen)

    def conclude_look(self, look: StoredLook, verdict: str | None) -> None:
        """Save the verdict of a look; a look without a verdict is deleted."""
        self._fairness.store.looks.conclude(look, self._fairness.store.session, verdict)

    def _attempts(self) -> list[GradedAttempt]:
        try:
            sample = self._fairness.work.sample(self._planned, self.subject)
            if self.look.number > 1:
                items, repetitions = self.look.design(self.probe)
                sample = self._fairness.work.build_sample(self.probe, items, self.subject, repetitions)
            sample.grade_with(self.graders)
            if self.look.number == 1:
                read_first_answers(self._fairness, self._planned, sample, self.graders)
            if self._fairness.settings.shard is not None and self.look.number == 1:
                defer_to_others(self._fairness, self.probe, sample)
            attempts = sample.measure_all()
            self._note_cause(sample, attempts)
            self._check_calls(attempts)
            self._save(attempts, sample.asked_by_graders())
        except BudgetExceededError as error:
            raise BudgetExceededError(
                f"{error}: {sample.answered_items():,} of {len(sample.items):,} items measured"
            ) from None
        except RunStoppedError:
            pytest.skip(STOPPED)
        except FairnessError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        return attempts

    def _check_calls(self, attempts: Sequence[GradedAttempt]) -> None:
        """Check that a model which may hide its tool calls shows some."""
        reason = getattr(self.subject, "hides_calls", "")
        answered = [graded.attempt.answer for graded in attempts if graded.attempt.answer and graded.prompt.tools]
        if reason and answered and not any(answer.actions for answer in answered):
            raise FairnessError(
                f"none of {counted(len(answered), 'answer')} of {self.subject.name} calls a tool: {reason}"
            )

    def _note_cause(self, sample: ProbeSample, attempts: Sequence[GradedAttempt]) -> None:
        """Set the error that made a model unreachable, else the first error if most attempts have one."""
        causes = self._fairness.work.engine.answers.causes
        measured = [graded.attempt for graded in attempts]
        questions = [question for index in range(len(sample.items)) for question in sample.questions(index)]
        for requested in (measured, questions):
            errors = [
                error for attempt in requested if (error := attempt.error) is not None and not stray_reason(error)
            ]
            model_errors = [error for error in errors if error in causes]
            if model_errors or 2 * len(errors) > len(requested):
                self.cause = (model_errors or errors)[0], len(model_errors or errors)
                return

    def _save(self, attempts: Sequence[GradedAttempt], questions: Sequence[str]) -> None:
        """Save the sample in the store, so that it can be judged offline."""
        from pytest_fairness.store.samples import StoredSample

        sample = StoredSample(
            self.probe.id,
            self.subject.name,
            self.subject.key,
            attempts,
            self.arguments | {"calibration": labels} if (labels := self.read_labels(attempts)) else self.arguments,
            self.fingerprints,
            self.extremes,
            self._fairness.settings.judge,
            questions,
        )
        self._fairness.work.save_sample(sample, self.subject)

    def _measure(self, attempts: Sequence[GradedAttempt]) -> Measured:
        # Imported before the first estimate, or hypothesis would count the time for its first example.
        import scipy.special  # type: ignore[import-untyped]  # noqa: F401

        from pytest_fairness.stats.measured import Measured

        arguments = {**self.arguments, "calibration": self.read_labels(attempts), "extremes": self.extremes}
        same_conditions = conditions(self.subject.name, self.fingerprints, self._fairness.settings.judge)
        return Measured(attempts, conditions=same_conditions, **arguments)

    def read_labels(self, attempts: Sequence[GradedAttempt]) -> Sequence[Mapping[str, Any]]:
        """Return a human's labels of this sample's grades, if any."""
        if not self.probe.labels:
            return ()
        from pytest_fairness.stats.calibration.labels import labels_of_run, rows_by_name

        answers = {
            name: answer.transcript
            for name, row in rows_by_name(attempts, self.probe.labels).items()
            if (answer := attempts[row].attempt.answer) is not None
        }
        return labels_of_run(self.probe.labels, self.subject.name, answers, self.fingerprints)

    @property
    def fingerprints(self) -> dict[str, str | None]:
        """The fingerprints of the graders, by grade; None for a grader without one."""
        return {name: fingerprint_of(grader) for name, grader in self.graders.items()}

    @property
    def judges(self) -> list[JudgeResult]:
        """The judges of the current look's sample, and their agreement."""
        sample = self._samples.get(self.look.number)
        if sample is None:
            return []
        if self.look.number not in self._judges:
            self._judges = {self.look.number: summarize_judges(self.graders, sample.attempts, self.subject)}
        return self._judges[self.look.number]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `Measured` that the probe declares, and the exclusions."""
        declared = self.probe.arguments
        arguments = {name: declared[name] for name in ("confidence", "sources", "crossed") if name in declared}
        return arguments | ({"left_out": left_out} if (left_out := self._left_out) else {})

    @property
    def _left_out(self) -> LeftOut:
        """The prompts that options of the run exclude from the current look's sample."""
        if not (self.probe.filtered or self.probe.reserve):
            return {}
        if self.look not in self.probe.exclusions:
            items, _ = self.look.design(self.probe)
            measured = {item.id for item in items}
            reserve = [item for item in self.probe.reserve if item.id not in measured]
            settings = self._fairness.settings
            excluded_by = {shlex.join(settings.filters): self.probe.filtered, settings.sampling: reserve}
            self.probe.exclusions[self.look] = left_out(excluded_by, items)
        return self.probe.exclusions[self.look]

    @property
    def extremes(self) -> dict[str, Callable[[Prompt], Sequence[Any]]]:
        """The functions from a prompt to the extreme values of a grade, by grade."""
        extremes = {name: extremes_of(grader) for name, grader in self.graders.items()}
        return {name: extremes_of_prompt for name, extremes_of_prompt in extremes.items() if extremes_of_prompt}
