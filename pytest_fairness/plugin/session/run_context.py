"""Settings, ids and store of one process of a run, read when first needed, since most pytest runs need none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.config.ini_file import IniFile
from pytest_fairness.plugin.config.options import BY_NAME, given_options
from pytest_fairness.plugin.config.settings import Settings, default_settings
from pytest_fairness.report.escaping import escape_controls

if TYPE_CHECKING:
    from pytest_fairness.store.store import Store


class RunContext:
    """The settings of one process, the ids of its run, and its store: what models and work are made from.

    Where the settings are invalid, they are the defaults, and there is a fault.
    """

    def __init__(
        self, config: pytest.Config, worker_input: Mapping[str, Any], read_settings: Callable[[IniFile], Settings]
    ) -> None:
        self._config = config
        self._worker_input = worker_input
        self._read_settings = read_settings
        self._file = IniFile(config)
        self._settings: Settings | None = None
        self.fault = ""
        """The reason why no test of this plugin can run, in one line; empty if they can, or if nothing was read."""
        self.session_id: str = worker_input.get("fairness_session") or uuid4().hex
        """The id of this call of pytest, shared with its workers."""
        self.joined_cluster: tuple[Any, ...] | None = worker_input.get("fairness_cluster")
        """The cluster that the controller has joined."""
        self.existing_store: Store | None = None
        """The store, if it was opened."""
        self._archive = ExitStack()

    @property
    def are_options_typed(self) -> bool:
        """Whether this call of pytest has an option of this plugin, so that the settings are read at once."""
        return self._is_typed("--fairness-")

    @property
    def is_model_typed(self) -> bool:
        """Whether this call of pytest names a model, not its ini file alone."""
        return self._is_typed("--fairness-model")

    def _is_typed(self, beginning: str) -> bool:
        return any(str(argument).startswith(beginning) for argument in self._config.invocation_params.args)

    @property
    def are_settings_read(self) -> bool:
        return self._settings is not None

    @property
    def settings(self) -> Settings:
        self.read()
        assert self._settings is not None  # noqa: S101 - `read` has set them
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def run(self) -> str:
        """The id of the run."""
        return self._worker_input.get("fairness_run") or self.settings.run or self.session_id

    def read(self) -> None:
        """Read the options and the ini file, once."""
        if self._settings is None:
            self.check(self._read)
            self._settings = self._settings or default_settings(self._config)

    def check(self, step: Callable[[IniFile], None]) -> None:
        """Run a step that may find a fault, and record the fault."""
        try:
            step(self._file)
        except (FairnessError, pytest.UsageError) as error:
            self.fault = escape_controls(str(error))

    def _read(self, file: IniFile) -> None:
        self._settings = self._read_settings(file)

    def peek(self, name: str) -> Any:
        """Return the raw value of one option before all are read; None if it is missing or malformed."""
        try:
            return given_options(self._config).get(name) or self._file.value(BY_NAME[name])
        except pytest.UsageError:
            return None

    @property
    def store(self) -> Store:
        """The store, opened where it is needed."""
        if self.existing_store is None:
            from pytest_fairness.store.store import Store

            location = self.settings.store
            if self.settings.is_dry_run:
                from pytest_fairness.store.archive import readable

                location = self._archive.enter_context(readable(location))
            self.existing_store = Store(location, self.session_id)
            self.existing_store.runs.start(self.run)
        return self.existing_store

    def close_store(self) -> None:
        """Close the store. Safe to call more than once."""
        if self.existing_store is not None:
            self.existing_store.close()
            self.existing_store = None
        self._archive.close()
