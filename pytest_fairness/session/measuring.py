"""What `probe_item` and `measured` do: take answers from the engine and grade them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.engine.errors import SpentError, StoppedError
from pytest_fairness.report.texts import visible
from pytest_fairness.session.conditions import conditions
from pytest_fairness.session.judges import judged_by, with_judges
from pytest_fairness.session.looks import Look
from pytest_fairness.session.shard_tests import defer_to_others
from pytest_fairness.session.state import SESSION, Unbuilt

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader
    from pytest_fairness.session.probes import Probe
    from pytest_fairness.stats.measured import Measured


def graders_of(probe: Probe, request: pytest.FixtureRequest) -> dict[str, Grader | ItemGrader | BatchGrader]:
    """The graders that a probe's mark names; a string there is the name of a fixture, a `Judge` is several graders."""
    named = probe.arguments.get("grade", {"answer": "grader"})
    if not isinstance(named, Mapping) or not named:
        pytest.fail(
            f"probe {probe.function.__name__}: grade is {named!r}: write grade={{'name': grader}}", pytrace=False
        )
    graders = {
        name: request.getfixturevalue(given) if isinstance(given, str) else given for name, given in named.items()
    }
    graders = with_judges(graders, probe.function.__name__, request)
    for name, grader in graders.items():
        can_grade = any(callable(getattr(grader, name, None)) for name in ("grade", "grade_item", "grade_batch"))
        if not can_grade or isinstance(grader, type):
            pytest.fail(
                f"probe {probe.function.__name__}: the grader of {name!r} is {grader!r}: "
                "it has no grade(prompt, answer), no grade_item(item, attempts) and no grade_batch(attempts)",
                pytrace=False,
            )
    return graders


class ItemUnderTest:
    """One probe item in its test: ``probe_item.measure(model)`` asks all of its prompts."""

    def __init__(self, request: pytest.FixtureRequest, probe: Probe, place: int, model_name: str | None) -> None:
        self._fairness = request.config.stash[SESSION]
        self._node = request.node
        self._model_name = model_name
        self._probe = probe
        self._place = place
        self._graders = graders_of(probe, request)

    @property
    def item(self) -> ProbeItem:
        return self._probe.items[self._place]

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def prompts(self) -> Sequence[Prompt]:
        return self.item.prompts

    @property
    def source(self) -> str | None:
        return self.item.source

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.item.metadata

    def measure(self, model: object) -> list[GradedAttempt]:
        """This item's attempts with their grades: prompts in order, each with its repetitions.

        ``model`` is the fixture's value: a model, or any callable from text to text.
        The test fails where an attempt could not be made in spite of retries.
        """
        try:
            subject = self._fairness.as_model(model, self._model_name)
            sample = self._fairness.sample(self._probe, subject, self._model_name)
            sample.grade_with(self._graders)
            attempts = sample.measure(self._place)
        except StoppedError as error:
            pytest.skip(str(error))
        except FairnessError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        self._node.user_properties[:] = [("fairness_model", subject.name), *counts(attempts).items()]
        errors = [attempt.attempt.error for attempt in attempts if attempt.attempt.error is not None]
        if errors:
            said = visible(errors[0])
            pytest.fail(f"{len(errors)} of {len(attempts)} attempts could not be made: {said}", pytrace=False)
        asked = sample.questions(self._place)
        errors = [question.error for question in asked if question.error is not None]
        if errors:
            said = visible(errors[0])
            pytest.fail(f"{len(errors)} of {len(asked)} questions of its graders got no answer: {said}", pytrace=False)
        return attempts

    def __repr__(self) -> str:
        return f"<probe item {self.id}>"


def counts(attempts: Sequence[GradedAttempt]) -> dict[str, int]:
    """How many attempts there are, how many came from the store, and how many are ungraded."""
    return {
        "fairness_attempts": len(attempts),
        "fairness_from_store": sum(attempt.attempt.from_store for attempt in attempts),
        "fairness_ungraded": sum(any(grade.ungraded for grade in attempt.grades.values()) for attempt in attempts),
    }


class LazyMeasured:
    """`Measured` of a probe's whole sample, measured when it is first asked anything."""

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        given = getattr(request, "param", Unbuilt("`measured` is for tests marked @pytest.mark.threshold(probe=...)"))
        if isinstance(given, Unbuilt):
            given.end()
        self._fairness = request.config.stash[SESSION]
        self.probe: Probe = given
        if self.probe.error is not None:
            Unbuilt(self.probe.error, self.probe.is_skipped).end()
        self._model_name = model_name
        self._graders = graders_of(self.probe, request)
        self.look = Look(1, 1, self.tail)
        self._looked: dict[Look, tuple[Measured, Sequence[GradedAttempt]]] = {}
        self._earlier: dict[str, list[dict[str, Any]]] = {}
        try:
            self.subject = self._fairness.as_model(model, self._model_name)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)

    def __getattr__(self, name: str) -> Any:
        __tracebackhide__ = True
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.load(), name)

    @property
    def tail(self) -> float:
        """The probability to err on either side that the probe allows: 0.025 for a confidence of 95%."""
        return round((1 - float(self.probe.arguments.get("confidence", 0.95))) / 2, 12)

    @property
    def counts(self) -> dict[str, int]:
        """Of the sample that was last looked at; empty before it was measured."""
        looked = self._looked.get(self.look)
        return {} if looked is None else counts(looked[1])

    @property
    def first_attempts(self) -> int:
        """How many attempts the sample of the first look has."""
        prompts = sum(len(item.prompts) for item in self.probe.items)
        return prompts * self._fairness.repetitions(self.probe)

    def take(self, look: Look) -> None:
        """From now on, be the sample of this look, at its confidence."""
        self.look = look

    def load(self) -> Measured:
        """The metrics, asking for all that is missing.

        Raises `SpentError` where a cap of the run forbids that.
        """
        looked = self._looked.get(self.look)
        if looked is None:
            attempts = self._attempts()
            looked = self._measure(attempts), attempts
            if self.look.number > 2:  # the first is every threshold's, those between are done with
                self._looked = {look: kept for look, kept in self._looked.items() if look.number == 1}
            self._looked[self.look] = looked
        return looked[0]

    def keys(self) -> set[str]:
        """Of all attempts of this sample."""
        self.load()
        return {graded.attempt.key for graded in self._looked[self.look][1]}

    def keys_of(self, run: str) -> set[str]:
        """Of all attempts that an earlier run's sample of this probe and model had."""
        sample = self._fairness.store.runs.sample(run, self.probe.id, self.subject.key)
        return set() if sample is None else {graded.attempt.key for graded in sample.attempts}

    def keep_influences(self, test: str, influences: Mapping[str, Any]) -> None:
        """Put into the store what each item adds to a threshold's estimate: other runs are compared by it."""
        self._fairness.store.runs.keep_influences(self._fairness.run, test, influences)

    def earlier(self, test: str) -> list[dict[str, Any]]:
        """What earlier runs said of a threshold, oldest first."""
        if test not in self._earlier:
            self._earlier[test] = self._fairness.store.runs.history(test, self._fairness.run)
        return self._earlier[test]

    def _attempts(self) -> list[GradedAttempt]:
        try:
            sample = self._fairness.sample(self.probe, self.subject, self._model_name)
            if self.look.number > 1:
                items, repetitions = self.look.design(self.probe, self._fairness.repetitions(self.probe))
                sample = self._fairness.sample_of(items, self.subject, repetitions)
            sample.grade_with(self._graders)
            if self._fairness.settings.shard is not None and self.look.number == 1:
                defer_to_others(self._fairness, self.probe, sample)
            attempts = sample.measure_all()
            self._keep(attempts)
        except SpentError as error:
            raise SpentError(f"{error}: {sample.answered_items():,} of {len(sample.items):,} items measured") from None
        except StoppedError as error:
            pytest.skip(str(error))
        except FairnessError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        return attempts

    def _keep(self, attempts: Sequence[GradedAttempt]) -> None:
        """Put the sample into the store, so that its verdicts can be made again."""
        from pytest_fairness.store.samples import StoredSample

        sample = StoredSample(
            self.probe.id,
            self.subject.name,
            self.subject.key,
            attempts,
            self._arguments | {"calibration": labels} if (labels := self._labels(attempts)) else self._arguments,
            self.fingerprints,
            self._extremes,
            self._fairness.settings.judge,
        )
        if self._fairness.store.runs.keep_sample(self._fairness.run, sample):
            self._fairness.keep_answers(sample, self.subject)

    def _measure(self, attempts: Sequence[GradedAttempt]) -> Measured:
        # Loaded here, not by the first estimate: hypothesis would put the second it takes on its first example.
        import scipy.special  # type: ignore[import-untyped]  # noqa: F401

        from pytest_fairness.stats.measured import Measured

        arguments = {**self._arguments, "confidence": self.look.confidence, "calibration": self._labels(attempts)}
        alike = conditions(self.subject.name, self.fingerprints, self._fairness.settings.judge)
        return Measured(attempts, extremes=self._extremes, conditions=alike, **arguments)

    def _labels(self, attempts: Sequence[GradedAttempt]) -> Sequence[Mapping[str, Any]]:
        """A human's labels of this sample's grades, if any."""
        if not self.probe.labels:
            return ()
        from pytest_fairness.stats.calibration import of_run

        answers = {each.attempt.key: each.attempt.answer.text for each in attempts if each.attempt.answer is not None}
        return of_run(self.probe.labels, self.subject.name, answers)

    @property
    def fingerprints(self) -> dict[str, str | None]:
        """Of the graders, by grade; None for one that has none."""
        return {name: getattr(grader, "fingerprint", None) for name, grader in self._graders.items()}

    @property
    def judges(self) -> list[dict[str, Any]]:
        """Who judged the sample that was last looked at, and how far they agreed."""
        looked = self._looked.get(self.look)
        return [] if looked is None else judged_by(self._graders, looked[1], self.subject)

    @property
    def _arguments(self) -> dict[str, Any]:
        given = self.probe.arguments
        return {name: given[name] for name in ("confidence", "sources", "crossed") if name in given}

    @property
    def _extremes(self) -> dict[str, Callable[[Prompt], Sequence[Any]]]:
        extremes = {name: _extremes(grader) for name, grader in self._graders.items()}
        return {name: of for name, of in extremes.items() if of}


def _extremes(grader: Any) -> Callable[[Prompt], Sequence[Any]] | None:
    """What an ungraded attempt could have been graded, as far as its grader says."""
    if hasattr(grader, "extremes_for"):
        of: Callable[[Prompt], Sequence[Any]] = grader.extremes_for
        return of
    values = getattr(grader, "extremes", None)
    return None if values is None else lambda _: values
