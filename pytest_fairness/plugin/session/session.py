"""The fairness session of one pytest process, stored in the stash of its configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.extensions import PLUGINS
from pytest_fairness.core.results import RunResults
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.plugin.compat import fixture_definitions
from pytest_fairness.plugin.config.settings import default_settings
from pytest_fairness.plugin.probes.identity import Probes
from pytest_fairness.plugin.session.acceptances import Acceptances
from pytest_fairness.plugin.session.failure_causes import FailureCauses
from pytest_fairness.plugin.session.model_resolver import Executor, ModelResolver
from pytest_fairness.plugin.session.run_context import RunContext
from pytest_fairness.plugin.session.work_plan import WorkPlan

if TYPE_CHECKING:
    from pytest_fairness.core.seals import Seal
    from pytest_fairness.plugin.config.ini_file import IniFile
    from pytest_fairness.plugin.config.settings import Settings
    from pytest_fairness.plugin.probes.overrides import ThresholdOverrides

SESSION: pytest.StashKey[FairnessSession] = pytest.StashKey()


class FairnessSession(RunContext):
    """One process's run: its context, the models, work and probes made from that, and the current test."""

    def __init__(
        self, config: pytest.Config, worker_input: Mapping[str, Any], read_settings: Callable[[IniFile], Settings]
    ) -> None:
        super().__init__(config, worker_input, read_settings)
        self.executor = Executor(self)
        self.models = ModelResolver(self, self.executor)
        self.work = WorkPlan(self, self.models)
        self.causes = FailureCauses(self.models.show)
        self.test: pytest.Item | None = None
        """The current test, for fixtures with a wider scope."""
        self.fixtures: list[pytest.FixtureDef[Any]] = []
        """The fixtures that are being set up, the innermost last."""
        self._early_uses: dict[pytest.FixtureDef[Any], str] = {}
        """The fixtures that used `measured` before a test was evaluated, with the reason why they must not."""
        self.outside_use = ""
        """The reason of the last use outside of a test that is evaluated; empty where there was none."""
        self.is_used = False
        """Whether this process has a test of this plugin, or an option of it that was typed."""

    def note_outside_use(self, use: str) -> str:
        """Note that a fixture uses a sample outside of the test, whose error it may catch. Return the reason."""
        fixture = f"fixture {self.fixtures[-1].argname!r}" if self.fixtures else "something"
        reason = (
            f"{fixture} uses {use} before or after the threshold's test: compute and compare estimates in the test, "
            "or in a function that the test calls"
        )
        self.outside_use = reason
        if self.fixtures:
            self._early_uses[self.fixtures[-1]] = reason
        return reason

    def early_use(self, item: pytest.Function) -> str:
        """Return the reason why a fixture of a test must not be as it is; empty where none used a sample too early."""
        if not self._early_uses:
            return ""
        own = {fixture for fixtures in fixture_definitions(item) for fixture in fixtures}
        return next((reason for fixture, reason in self._early_uses.items() if fixture in own), "")

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the current test."""
        callspec = getattr(self.test, "callspec", None)
        return callspec.params if callspec is not None else {}

    def use(self) -> None:
        """Read the ini file and check its models, at the first use of this plugin.

        A project that only has the plugin installed never gets an error about its ini file.
        """
        if not self.is_used:
            self.is_used = True
            self.read()
            if not self.fault:
                self.check(self.models.check_names)

    @cached_property
    def overrides(self) -> ThresholdOverrides:
        from pytest_fairness.plugin.probes.overrides import ThresholdOverrides

        return ThresholdOverrides(self.settings.root, self.settings.folders.invocation)

    def resolve_overrides(self) -> None:
        """Match the overrides of the project to its thresholds, if any were collected. Raises `FairnessError`."""
        if "overrides" in vars(self):
            self.overrides.resolve()

    @cached_property
    def acceptances(self) -> Acceptances:
        return Acceptances(self.settings)

    @cached_property
    def seal(self) -> Seal | None:
        """The seal in the folder of the ini file; None where there is none.

        Raises:
            FairnessError: The file is malformed.
        """
        path = self.settings.folders.home / SEAL
        if not path.exists():
            return None
        from pytest_fairness.core.seals import read_seal

        return read_seal(path)

    @cached_property
    def evidence_map(self) -> Any:
        """The evidence map of the extension that has one; None where none is installed, and no option names a file.

        Raises:
            FairnessError: The file of the project is malformed.
        """
        if self.settings.project.evidence is None and "evidence" not in PLUGINS.names():
            return None
        return PLUGINS.load_callable("evidence")(self.settings.project.evidence)

    def check_evidence_map(self) -> None:
        """Read the evidence map of the project, if it has one, before the first test runs."""
        if self.settings.project.evidence is not None:
            _ = self.evidence_map

    @cached_property
    def probes(self) -> Probes:
        return Probes(self.settings)

    def close(self) -> None:
        """Close what was opened. Safe to call more than once."""
        self.work.stored.clear()  # pytest collects garbage five times at its end, which takes long with many objects
        self.work.close_engine()
        self.executor.close()
        self.work.existing_engine = None
        self.close_store()


def stored_results(config: pytest.Config, last: int = 200) -> list[RunResults]:
    """Return the results of the runs in this session's store, oldest first.

    Args:
        config: The configuration of the session. In ``pytest_terminal_summary`` its own run is included.
        last: The most runs, counted from the newest.
    """
    if not hasattr(config.option, "fairness_store"):  # this plugin is blocked
        return []
    session = config.stash.get(SESSION, None)  # missing where this plugin has not started
    location = (default_settings(config) if session is None else session.settings).store
    if not location.exists():
        return []
    from pytest_fairness.store.store import Store

    with closing(Store(location)) as store:
        documents = store.runs.documents(last)
    # Not strict: fields of other versions in an old run must not end this one.
    return [RunResults.from_json(document["results"], "a stored run", strict=False) for document in documents]
