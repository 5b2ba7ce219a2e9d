"""Value of the fixture `probe_item`: requests the answers of one item and grades them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_fairness.core.attempts import SampleCounts
from pytest_fairness.core.calls import explains_calls
from pytest_fairness.core.errors import FairnessError, NoSuchNameError, did_you_mean
from pytest_fairness.core.finish_reasons import stray_reason
from pytest_fairness.core.placebos import is_placebo, without_placebos
from pytest_fairness.engine.errors import RunStoppedError
from pytest_fairness.plugin.compat import request_of
from pytest_fairness.plugin.report_data import FIRST_ANSWERS, SAMPLE, clear, write, written
from pytest_fairness.plugin.samples.first_answers import read_first_answers
from pytest_fairness.plugin.samples.judges import resolve_graders
from pytest_fairness.plugin.session.work_plan import PlannedTest

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import Attempt, GradedAttempt
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.plugin.probes.identity import ItemParameter
    from pytest_fairness.plugin.session.session import FairnessSession


_PUBLIC = ("measure", "item", "id", "prompts", "source", "metadata")
"""The attributes of `probe_item`, for messages."""


@lru_cache(maxsize=64)
def _shared_counts(counts: SampleCounts) -> dict[str, Any]:
    """Return the counts of a sample as builtins, one object for equal ones, since pytest keeps all reports."""
    return counts.to_json()


@explains_calls
class ProbeItemHandle:
    """A probe item in its test: ``probe_item.measure(model)`` sends all of its prompts."""

    def __init__(self, fairness: FairnessSession, parameter: ItemParameter, model_name: str | None) -> None:
        self._fairness = fairness
        assert fairness.test is not None  # noqa: S101 - the test whose parameter it is
        self._test = fairness.test
        self._model_name = model_name
        self._parameter = parameter
        self._planned = PlannedTest(model_name, parameter.sample, (parameter.index,))
        self._probe = parameter.sample.probe
        self._index = parameter.index
        self._graders = resolve_graders(self._probe, request_of(self._test))

    @property
    def item(self) -> ProbeItem:
        return self._probe.items[self._index]

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def prompts(self) -> Sequence[Prompt]:
        return without_placebos(self.item).prompts

    @property
    def source(self) -> str | None:
        return self.item.source

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.item.metadata

    def measure(self, model: object) -> list[GradedAttempt]:
        """Return this item's graded attempts: prompts in order, each with its repetitions, but for a placebo's.

        The test fails if an attempt could not be made in spite of retries.

        Args:
            model: The value of the fixture: a model, or any callable from text to text.
        """
        try:
            subject = self._fairness.models.wrap(model, self._model_name)
            self._check_judged(model)
        except FairnessError as error:
            self._fairness.causes.end(self._test, str(error), self._fairness.work.count_attempts(self._parameter))
        failure = ""
        try:
            sample = self._fairness.work.sample(self._planned, subject)
            sample.grade_with(self._graders)
            read_first_answers(self._fairness, self._planned, sample, self._graders)
            attempts = sample.measure(self._index)
        except RunStoppedError as error:
            pytest.skip(str(error))
        except FairnessError as error:
            failure = str(error)
        if failure:  # outside of the block, so that the report has one line
            self._fairness.causes.fail(self._test, failure)
        names = {"probe": self._probe.id, "item": self.id, "model": subject.name}
        lines = written(self._test).get(FIRST_ANSWERS)
        clear(self._test)
        if lines:
            write(self._test, FIRST_ANSWERS, lines)
        write(self._test, SAMPLE, names | {"counts": _shared_counts(SampleCounts.of(attempts))})
        self._end_by_errors([graded.attempt for graded in attempts], "{} of {} attempts could not be made: {}")
        self._end_by_errors(sample.questions(self._index), "{} of {} questions of its graders got no answer: {}")
        self._fairness.causes.passed()
        return [graded for graded in attempts if not is_placebo(graded.prompt)]

    def _check_judged(self, model: object) -> None:
        """Refuse any other model than the fixture `model`: thresholds judge that one, and would measure it unseen.

        Held by ``x``.
        """
        test: Any = self._test
        judged = test.funcargs.get("model", test)
        if judged is test and "model" in test.fixturenames:  # another fixture of the test takes it
            judged = request_of(self._test).getfixturevalue("model")
        if model is not judged:
            raise FairnessError(
                f"{self._probe.id} measures another model than the fixture `model`, which its thresholds judge: "
                "measure `model`, and override that fixture to test something else"
            )

    def _end_by_errors(self, attempts: Sequence[Attempt], message: str) -> None:
        """End the test if some attempts are errors, in one line if their model could not be reached at all."""
        # Replies that belong to other requests are found by thresholds, of which some have run before this test.
        errors = [error for attempt in attempts if (error := attempt.error) is not None and not stray_reason(error)]
        if not errors:
            return
        causes = self._fairness.work.engine.answers.causes
        if cause := next((error for error in errors if error in causes), None):
            self._fairness.causes.end(self._test, cause, errors.count(cause))
        text = message.format(len(errors), len(attempts), errors[0])
        self._fairness.causes.fail(self._test, text, errors[0], len(errors))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NoSuchNameError(f"`probe_item` has no {name!r}; {did_you_mean(name, _PUBLIC)}")

    def __repr__(self) -> str:
        return f"<probe item {self.id}>"
