"""Startup: what the user chose is read and checked, and the process is given its part in the run."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.texts import visible
from pytest_fairness.session.baseline import with_named_runs
from pytest_fairness.session.crashes import Crashes
from pytest_fairness.session.declared import DeclaredFiles
from pytest_fairness.session.probes import MARKS
from pytest_fairness.session.run import Run
from pytest_fairness.session.settings import read_settings
from pytest_fairness.session.state import SESSION, FairnessSession
from pytest_fairness.session.unused_options import UnusedFolders


def start(config: pytest.Config) -> Run:
    """The run of this process, from what the user chose.

    Raises `pytest.UsageError`, in one line, for what cannot be meant.
    """
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    worker_input: dict[str, Any] = getattr(config, "workerinput", {})
    settings = read_settings(config)
    try:
        if settings.verify:
            from pytest_fairness.session.dry_runs.verifying import as_verified

            settings = as_verified(settings, config)
        known = [worker_input.get(f"fairness_{name}") for name in ("run", "session", "cluster")]
        fairness = FairnessSession(with_named_runs(settings, worker_input), *known)
        fairness.check_models()
        if settings.genderbench:
            from pytest_fairness.session.genderbench import GenderBenchTests

            config.pluginmanager.register(GenderBenchTests(settings.genderbench), "fairness-genderbench")
    except FairnessError as error:
        raise pytest.UsageError(visible(str(error))) from None
    config.stash[SESSION] = fairness
    config.pluginmanager.register(DeclaredFiles(), "fairness-declared")
    if "data" in settings.given:
        config.pluginmanager.register(UnusedFolders(config, settings), "fairness-data")
    if settings.shard:
        from pytest_fairness.session.shard_tests import ShardTests

        config.pluginmanager.register(ShardTests(fairness), "fairness-shard")
    if fairness.settings.verify:
        from pytest_fairness.session.dry_runs.verifying import Verification

        return Verification(config, fairness)
    if fairness.settings.certify:
        from pytest_fairness.session.dry_runs.certifying import Certification

        return Certification(config, fairness)
    if fairness.settings.plan:
        from pytest_fairness.session.dry_runs.planning import Plan

        return Plan(config, fairness)
    if not worker_input:
        config.pluginmanager.register(Crashes(fairness), "fairness-crashes")
    return Run(config, fairness)
