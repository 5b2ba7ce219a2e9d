"""Settings of a run, read when first needed: most runs of pytest have no use for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.texts import visible
from pytest_fairness.session.baseline import with_named_runs
from pytest_fairness.session.ini_file import IniFile
from pytest_fairness.session.options import OPTIONS
from pytest_fairness.session.settings import Settings, default_settings, given_options, read_settings

_BY_NAME = {option.name: option for option in OPTIONS}


class Choices:
    """The settings of one process, or the defaults and why they cannot be had."""

    def __init__(self, config: pytest.Config, worker_input: Mapping[str, Any]) -> None:
        self._config = config
        self._worker_input = worker_input
        self._file = IniFile(config)
        self._settings: Settings | None = None
        self.fault = ""
        """Why nothing of ours can run, in one line; empty where it can, or where nothing was read."""

    @property
    def are_typed(self) -> bool:
        """Whether this call of pytest names an option of ours: then they are read at once."""
        return any(str(argument).startswith("--fairness-") for argument in self._config.invocation_params.args)

    @property
    def are_read(self) -> bool:
        return self._settings is not None

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            self.read()
        assert self._settings is not None  # noqa: S101 - `read` has set them
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._settings = settings

    def read(self) -> Choices:
        """Read the options and the ini file, once."""
        if self._settings is None:
            self.check(self._read)
            self._settings = self._settings or default_settings(self._config)
        return self

    def check(self, step: Callable[[IniFile], None]) -> None:
        """Take a step that may find a fault, and keep the fault."""
        try:
            step(self._file)
        except (FairnessError, pytest.UsageError) as error:
            self.fault = visible(str(error))

    def _read(self, file: IniFile) -> None:
        settings = read_settings(self._config, file)
        if settings.verify:
            from pytest_fairness.session.dry_runs.verifying import as_verified

            settings = as_verified(settings, self._config)
        with file.blamed("baseline"):
            self._settings = with_named_runs(settings, self._worker_input)

    def peek(self, name: str) -> Any:
        """Return the value of one option before all are read; None where it has none, or none that can be meant."""
        try:
            return given_options(self._config).get(name) or self._file.value(_BY_NAME[name])
        except pytest.UsageError:
            return None
