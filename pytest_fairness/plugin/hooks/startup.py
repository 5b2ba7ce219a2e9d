"""Startup of the plugin in one process: the session, and the hooks of its kind of run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.plugin.collection.collection import lists_only
from pytest_fairness.plugin.collection.declarative import DeclaredFiles
from pytest_fairness.plugin.compat import WorkerQueue
from pytest_fairness.plugin.config.ini_file import IniFile, options_of_addopts
from pytest_fairness.plugin.config.named_runs import resolve_named_runs
from pytest_fairness.plugin.config.settings import Settings, read_settings
from pytest_fairness.plugin.hooks.common_hooks import (
    CollectionHooks,
    ControllerHooks,
    ItemHooks,
    ReportHooks,
    SessionEndHooks,
)
from pytest_fairness.plugin.hooks.measurement_hooks import MeasurementHooks, ReleaseHooks
from pytest_fairness.plugin.hooks.run_state import RunState
from pytest_fairness.plugin.hooks.seal_request import SEALING
from pytest_fairness.plugin.session.session import SESSION, FairnessSession
from pytest_fairness.plugin.session.work_plan import AssignedTests

_DRY_RUNS = ("verify", "certify", "plan")
"""Options of dry runs, whose ini keys are read at startup."""


def start(config: pytest.Config, register: Callable[[object], object]) -> RunState:
    """Create the session of this process, and register its hooks.

    The options are read at the first use of this plugin; at once if one is typed, or makes the run a dry run.

    Args:
        config: The configuration of pytest.
        register: A function that registers a plugin.

    Raises:
        pytest.UsageError: An option is malformed.
    """
    worker_input = getattr(config, "workerinput", {})
    fairness = FairnessSession(config, worker_input, partial(_read_settings, config, worker_input))
    if fairness.are_options_typed or SEALING in config.stash or any(map(fairness.peek, _DRY_RUNS)):
        fairness.use()
    if fairness.fault:
        if not (hasattr(config, "workerinput") or lists_only(config) or any(map(fairness.peek, _DRY_RUNS))):
            from pytest_fairness.plugin.output.outputs import empty_earlier_results

            if path := config.getoption("fairness_json"):
                is_of_file = path in options_of_addopts(config).get("json", ())
                folder = config.rootpath if is_of_file else config.invocation_params.dir
                empty_earlier_results(folder / path, fairness.run)
        raise pytest.UsageError(fairness.fault)
    config.stash[SESSION] = fairness
    state = RunState(config, fairness)
    if queue := WorkerQueue.find(config):
        from pytest_fairness.plugin.hooks.xdist_events import send_in_batches

        send_in_batches(config, queue, lambda: fairness.is_used)
        fairness.work.assigned = AssignedTests(queue)
    # Registered without names: `-p no:NAME` could else block one, and thresholds would pass without a verdict.
    for hooks in (*_optional_hooks(state), *_run_hooks(state)):
        register(hooks)
    return state


def _read_settings(config: pytest.Config, worker_input: Mapping[str, Any], file: IniFile) -> Settings:
    """Return the settings of the options and the ini file, with the earlier runs that they name.

    Raises:
        FairnessError: An option is malformed, or names no stored run.
        pytest.UsageError: So is a key of the ini file.
    """
    settings = read_settings(config, file)
    if settings.verify:
        from pytest_fairness.plugin.hooks.dry_runs.verified_settings import restore_run_settings

        settings = restore_run_settings(settings, config)
    with file.locating_errors("baseline"):
        return resolve_named_runs(settings, worker_input)


def _optional_hooks(state: RunState) -> list[object]:
    """Return the hooks of options that add or remove tests."""
    fairness = state.fairness
    hooks: list[object] = [DeclaredFiles()]
    if fairness.peek("shard"):
        from pytest_fairness.plugin.samples.shard_hooks import ShardTests

        hooks.append(ShardTests(fairness))
    return hooks


def _run_hooks(state: RunState) -> list[object]:
    """Return the hooks that all runs share, and those of the kind of run."""
    common: list[object] = [
        state.selection,
        CollectionHooks(state),
        ItemHooks(state),
        ReportHooks(state),
        ControllerHooks(state),
    ]
    if state.fairness.is_used and (kind := _dry_run_kind(state)):
        from pytest_fairness.plugin.hooks.dry_runs.dry_run import DryRun

        section, row, make_hooks = kind
        dry_run = DryRun(state, section, row)
        hooks = make_hooks(dry_run)
        return [*common, dry_run, hooks, SessionEndHooks(state, hooks.conclude)]
    measurement = MeasurementHooks(state)
    if state.config.getoption("dist", "no") != "no":
        from pytest_fairness.plugin.hooks.xdist_crashes import CrashedThresholdReruns

        common.append(CrashedThresholdReruns(state.fairness))
    return [*common, measurement, ReleaseHooks(measurement), SessionEndHooks(state, measurement.conclude)]


def _dry_run_kind(state: RunState) -> tuple[str, type[JsonRecord], Any] | None:
    """Return the option of a dry run, the class of its rows and that of its hooks; None for other runs."""
    settings = state.fairness.settings
    if SEALING in state.config.stash:
        from pytest_fairness.plugin.hooks.dry_runs.seal_writer import SealWriter

        return "seal", JsonRecord, SealWriter
    if settings.verify:
        from pytest_fairness.plugin.hooks.dry_runs.verify import Verification, VerificationRow

        return "verify", VerificationRow, Verification
    if settings.certify:
        from pytest_fairness.core.dry_run_results import CertifiedThreshold
        from pytest_fairness.plugin.hooks.dry_runs.certify import ErrorRateCheck

        return "certify", CertifiedThreshold, ErrorRateCheck
    if settings.plan:
        from pytest_fairness.core.dry_run_results import PlannedThreshold
        from pytest_fairness.plugin.hooks.dry_runs.plan import Plan

        return "plan", PlannedThreshold, Plan
    return None
