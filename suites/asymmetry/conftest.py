"""The graders of the answers, and the ranking of models at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness import DataFolders, stored_results
from pytest_fairness.records.asymmetry.ranking import latest, section

from .grading import ErrorAwareJudge, RecordedJudge
from .items import DATA, read_prompts
from .rubrics import published_rubrics, read_rubrics

if TYPE_CHECKING:
    from pytest_fairness import Judge


@pytest.fixture(scope="session")
def assessment(request: pytest.FixtureRequest, model_name: str | None, data_folders: DataFolders) -> Judge:
    """Return the `judge`, by the rubrics; of a recorded run, where no judge is named, the grades in its record."""
    if model_name is not None and model_name.startswith("replay:") and _no_judge_is_named(request):
        recorded = published_rubrics()
        return RecordedJudge(recorded.rubrics, models=[model_name], by=recorded.by)
    folder = data_folders.folder("asymmetry")
    chosen = read_rubrics(folder, read_prompts(folder or DATA))
    return ErrorAwareJudge(chosen.rubrics, by=chosen.by)


def _no_judge_is_named(request: pytest.FixtureRequest) -> bool:
    return request.getfixturevalue("optional_judge") is None


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write the ranking of models and dates: of this run, and of those that the store has."""
    entries = latest(stored_results(config))
    if entries:
        terminalreporter.write_sep("=", "asymmetry: league")
        for line in section(entries).lines(config.get_terminal_writer().fullwidth):
            terminalreporter.write_line(line)
