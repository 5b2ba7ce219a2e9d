"""Queries of a test to its model, which go through the engine and the store like those of a probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.attempts import SampleCounts
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.results import RunResult
from pytest_fairness.plugin.report_data import SAMPLE, SEARCHES, send
from pytest_fairness.plugin.samples.judges import resolve_judge_graders
from pytest_fairness.plugin.session.session import SESSION
from pytest_fairness.report.repeat_commands import command_of_test

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import Prompt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.core.search_results import SearchResult
    from pytest_fairness.engine.probe_sample import ProbeSample


class ModelQueries:
    """The queries of a fixture of `add_query_fixture` to the model under test.

    Args:
        request: The request of the fixture.
        model: The value of the `model` fixture.
        model_name: The value of the `model_name` fixture.

    Raises:
        Failed: The model cannot be used.
    """

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        self._request = request
        self._fairness = request.config.stash[SESSION]
        try:
            self.model: Model = self._fairness.models.wrap(model, model_name)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)

    @property
    def test(self) -> pytest.Item | None:
        """The current test."""
        return self._fairness.test

    def resolve_graders(self, graders: Mapping[str, Any], test: str) -> dict[str, Any]:
        """Return graders by the names of their grades; those of judges get the judge of the run."""
        return resolve_judge_graders(graders, test, self._request)

    def ask(self, prompts: Sequence[tuple[Prompt, int, int]], graders: Mapping[str, Any]) -> list[list[GradedAttempt]]:
        """Return the graded attempts of prompts, which are requested together.

        Args:
            prompts: Each with its first repetition and their number.
            graders: The graders, of `resolve_graders`.

        Returns:
            For each prompt, the attempts of its repetitions.

        Raises:
            RunStoppedError: The run has been stopped, such as by its budget.
            FairnessError: The model cannot be asked.
        """
        samples = [self._make_sample(*request) for request in prompts]
        for sample in samples:
            sample.grade_with(graders)
        self._fairness.work.engine.attempts([request for sample in samples for request in sample.requests([0])])
        return [sample.measure_all() for sample in samples]

    def _make_sample(self, prompt: Prompt, first: int, number: int) -> ProbeSample:
        from pytest_fairness.engine.probe_sample import ProbeSample

        work = self._fairness.work
        first += work.first_repetition(self.model, [prompt])
        items = [ProbeItem("searched", [prompt])]
        return ProbeSample(items, self.model, number, self._fairness.work.engine, first, work.first_repetition)

    def command(self, item: pytest.Item) -> str:
        """Return the shell command that reruns a test."""
        settings = self._fairness.settings
        run = RunResult(id=self._fairness.run, started="", command=settings.arguments, **asdict(settings.call))
        return command_of_test(item.nodeid, item.location[0], run)


def add_search_results(
    report: pytest.TestReport, searches: Sequence[SearchResult], attempts: Sequence[GradedAttempt]
) -> None:
    """Add the searches of a test to its report, from which the results of the run are made.

    Args:
        report: The report of the test's call.
        searches: The searches, at least one.
        attempts: The attempts of all of them.
    """
    sample = {"probe": "", "item": "", "model": searches[0].model, "counts": SampleCounts.of(attempts).to_json()}
    send(report, {SAMPLE: sample, SEARCHES: [search.to_json() for search in searches]})
