"""The scores of a task as grades: one grader runs solver and scorers, the others pick a scorer's value."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from pytest_fairness.benchmarks.inspect_ai.loaded_task import JUDGE, SUBJECT, LoadedTask
from pytest_fairness.benchmarks.inspect_ai.sample_run import ModelCall, SampleRun
from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Model, ModelQuery

SCORES = "scores"
"""The grade that holds the scores of all scorers, as inspect_ai's logs have them."""
SAME_CALLS = 100_000
"""The distance between the repetitions of equal calls of one sample; a run has fewer repetitions."""
SCORE_FIELDS = {"value", "answer", "explanation", "metadata"}
"""The fields of a score that are kept: a metric may read any of them."""
_LETTERS = {"C": True, "I": False, "P": 0.5}


class SampleScores:
    """Scores of solver and scorers on each attempt of a sample; further calls of models are queries of the engine.

    The grade is a mapping from scorer to a mapping of `SCORE_FIELDS`, those that are None left out.
    """

    def __init__(self, task: Callable[[], LoadedTask]) -> None:
        self._task = task
        self._samples: dict[str, Any] = {}
        self._named: Callable[[str], Model] | None = None
        self._judge: Model | None = None

    def bind_models(self, named: Callable[[str], Model], judge: Model | None) -> None:
        """Set the function that resolves the names of models, and the judge."""
        self._named, self._judge = named, judge
        self._task().has_judge = judge is not None

    def note_samples(self, samples: Mapping[str, Any]) -> None:
        """Record the samples by the ids of their items."""
        self._samples = dict(samples)

    def grade_item(
        self, item: ProbeItem, attempts: Sequence[GradedAttempt]
    ) -> Generator[Sequence[ModelQuery], Sequence[Attempt], Sequence[Grade]]:
        """Return the scores of each attempt, having run the sample as often as there are attempts."""
        runs = [self._begin(item, graded) for graded in attempts]
        answers: dict[ModelCall, Attempt] = {}
        while any(run.calls for run in runs if run):
            queries = {
                call: self._query(call, graded.attempt.repetition)
                for run, graded in zip(runs, attempts, strict=True)
                for call in (run.calls if run else ())
                if call not in answers
            }
            if queries:
                answers |= dict(zip(queries, (yield list(queries.values())), strict=True))
            for run in runs:
                if run is not None and run.calls:
                    run.go_on([answers.pop(call) for call in run.calls])
        return [Grade.none("error", "no answer") if run is None else self._grade(run) for run in runs]

    def _begin(self, item: ProbeItem, graded: GradedAttempt) -> SampleRun | None:
        if graded.attempt.answer is None:
            return None
        run = SampleRun(self._task(), self._samples[item.id], graded.attempt.repetition, graded.attempt)
        run.begin()
        if run.first_messages != graded.prompt.messages and run.error is None:
            run.cancel()
            raise FairnessError(
                "its solver did not send what it sent when the tests were collected: seed what it draws, as in "
                "shuffle_choices(seed=42)"
            )
        return run

    def _query(self, call: ModelCall, repetition: int) -> ModelQuery:
        model: Model | None = None
        if call.model == JUDGE:
            model = self._judge
        elif call.model != SUBJECT:
            if self._named is None:
                raise FairnessError(f"model {call.model} is called, and no run has resolved its name")
            model = self._named(call.model.replace("/", ":", 1))
        return ModelQuery(Prompt(call.messages), model, repetition + call.occurrence * SAME_CALLS)

    def _grade(self, run: SampleRun) -> Grade:
        if run.error is not None and not self._task().tolerates_errors:
            raise FairnessError(run.error)
        if run.ungraded is not None:
            return run.ungraded
        return Grade({name: _plain(score) for name, score in run.scores.items()})


class ScorerValue:
    """One scorer's value of the scores, as a number, true or false, or a text.

    Args:
        scorer: The scorer's name.
        key: The key in the value, for a scorer whose value is a mapping.
    """

    def __init__(self, scorer: str, key: str | None = None) -> None:
        self._scorer, self._key = scorer, key

    def grade_item(self, _: ProbeItem, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
        """Return the value of each attempt's score."""
        return [self._value(graded.grades[SCORES]) for graded in attempts]

    def _value(self, scores: Grade) -> Grade:
        if scores.ungraded is not None:
            return scores
        value = scores.value.get(self._scorer, {}).get("value")
        if self._key is not None:
            value = value.get(self._key) if isinstance(value, dict) else None
        if value is None or value == "N":
            return Grade.none("unparsed", f"{self._scorer} gave no score")
        if isinstance(value, str):
            return Grade(_LETTERS.get(value, value))
        return Grade(value)


def _plain(score: Any) -> dict[str, Any]:
    """Return what is kept of a score; its value is None where inspect_ai counts it as unscored."""
    fields: dict[str, Any] = score.model_dump(mode="json", include=SCORE_FIELDS, exclude_none=True)
    if isinstance(score.value, float) and not math.isfinite(score.value):
        fields["value"] = None
    return fields
