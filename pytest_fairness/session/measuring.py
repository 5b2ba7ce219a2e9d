"""What `probe_item` and `measured` do: take answers from the engine and grade them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.engine.errors import StoppedError
from pytest_fairness.session.state import SESSION, Unbuilt

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.protocols import Grader
    from pytest_fairness.session.probes import Probe
    from pytest_fairness.stats.measured import Measured


def graders_of(probe: Probe, request: pytest.FixtureRequest) -> dict[str, Grader]:
    """The graders that a probe's mark names; a string there is the name of a fixture."""
    named = probe.arguments.get("grade", {"answer": "grader"})
    if not isinstance(named, Mapping) or not named:
        pytest.fail(
            f"probe {probe.function.__name__}: grade is {named!r}: write grade={{'name': grader}}", pytrace=False
        )
    graders = {
        name: request.getfixturevalue(given) if isinstance(given, str) else given for name, given in named.items()
    }
    for name, grader in graders.items():
        if not callable(getattr(grader, "grade", None)) or isinstance(grader, type):
            pytest.fail(
                f"probe {probe.function.__name__}: the grader of {name!r} is {grader!r}: "
                "it has no grade(prompt, answer)",
                pytrace=False,
            )
    return graders


class ItemUnderTest:
    """One probe item in its test: ``probe_item.measure(model)`` asks all of its prompts."""

    def __init__(self, request: pytest.FixtureRequest, model_name: str | None) -> None:
        self._fairness = request.config.stash[SESSION]
        self._node = request.node
        self._model_name = model_name
        self._probe = self._fairness.probe(request.function)
        self._place: int = request.param
        self._graders = graders_of(self._probe, request)

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
            pytest.fail(str(error), pytrace=False)
        self._node.user_properties[:] = [("fairness_model", subject.name), *counts(attempts).items()]
        errors = [attempt.attempt.error for attempt in attempts if attempt.attempt.error is not None]
        if errors:
            pytest.fail(f"{len(errors)} of {len(attempts)} attempts could not be made: {errors[0]}", pytrace=False)
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
        self._measured: Measured | None = None
        self.counts: dict[str, int] = {}
        try:
            self.subject = self._fairness.as_model(model, self._model_name)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)

    def __getattr__(self, name: str) -> Any:
        __tracebackhide__ = True
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.load(), name)

    def load(self) -> Measured:
        """The metrics, asking for all that is missing."""
        if self._measured is None:
            try:
                sample = self._fairness.sample(self.probe, self.subject, self._model_name)
                sample.grade_with(self._graders)
                attempts = sample.measure_all()
            except StoppedError as error:
                pytest.skip(str(error))
            except FairnessError as error:
                pytest.fail(str(error), pytrace=False)
            self.counts = counts(attempts)
            self._measured = self._measure(attempts)
        return self._measured

    def _measure(self, attempts: Sequence[GradedAttempt]) -> Measured:
        # Loaded here, not by the first estimate: hypothesis would put the second it takes on its first example.
        import scipy.special  # type: ignore[import-untyped]  # noqa: F401

        from pytest_fairness.stats.measured import Measured

        arguments = {
            name: self.probe.arguments[name]
            for name in ("confidence", "sources", "crossed")
            if name in self.probe.arguments
        }
        extremes = {name: _extremes(grader) for name, grader in self._graders.items()}
        return Measured(attempts, extremes={name: of for name, of in extremes.items() if of}, **arguments)


def _extremes(grader: Any) -> Callable[[Prompt], Sequence[Any]] | None:
    """What an ungraded attempt could have been graded, as far as its grader says."""
    if hasattr(grader, "extremes_for"):
        of: Callable[[Prompt], Sequence[Any]] = grader.extremes_for
        return of
    values = getattr(grader, "extremes", None)
    return None if values is None else lambda _: values
