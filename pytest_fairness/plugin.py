"""The pytest11 entry point: options, marks and fixtures; the rest of the hooks stand in `session.run`."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.fixtures import fairness_session, grader, judge, measured, model, model_name, probe_item
from pytest_fairness.session.options import add_options, read_settings
from pytest_fairness.session.probes import MARKS
from pytest_fairness.session.run import Run
from pytest_fairness.session.state import SESSION, FairnessSession

__all__ = ["fairness_session", "grader", "judge", "measured", "model", "model_name", "probe_item"]


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    worker_input: dict[str, Any] = getattr(config, "workerinput", {})
    fairness = FairnessSession(read_settings(config), worker_input.get("fairness_run"))
    try:
        fairness.check_models()
    except FairnessError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[SESSION] = fairness
    config.pluginmanager.register(Run(config, fairness), "fairness-run")


def pytest_unconfigure(config: pytest.Config) -> None:
    fairness = config.stash.get(SESSION, None)
    if fairness is not None:
        fairness.close()
