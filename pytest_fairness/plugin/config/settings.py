"""Settings of a run: the values of its options, and how pytest was called."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.output_files import PAGE, RESULTS, refuse_others
from pytest_fairness.plugin.compat import is_repeated_on_changes, rootdir_of_tests
from pytest_fairness.plugin.config.ini_file import IniFile, options_of_addopts
from pytest_fairness.plugin.config.invocation import Call
from pytest_fairness.plugin.config.option_values import DEFAULT_REPORT, RunFolders, from_root
from pytest_fairness.plugin.config.options import BY_NAME, OPTIONS, Options, given_options, refuse_removed
from pytest_fairness.plugin.config.project_settings import ProjectSettings, read_project_settings
from pytest_fairness.plugin.config.shards import read_ci_run_id


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Settings(Options):
    """The options of a run, and how pytest was called."""

    root: Path
    project: ProjectSettings
    folders: RunFolders
    call: Call
    given: frozenset[str]
    """The options of the command line, by name; all others are from the ini file, or defaults."""

    @property
    def model_concurrency(self) -> int:
        """Concurrent requests per model."""
        return self.concurrency or 32

    @property
    def application_concurrency(self) -> int:
        """Concurrent calls of an application that declares no number."""
        return self.concurrency or 1

    @property
    def is_dry_run(self) -> bool:
        """Whether the run asks no model: it plans, certifies or verifies."""
        return bool(self.plan or self.certify or self.verify)

    @property
    def is_one_pipeline(self) -> bool:
        """Whether the sessions of the run are jobs of one pipeline, or shards, with the same application."""
        return self.shard is not None or self.run == read_ci_run_id()

    @property
    def is_report_requested(self) -> bool:
        """Whether the user named the report, so that failing to write it is an error."""
        return "report" in self.given or self.report != self.folders.home / DEFAULT_REPORT

    @property
    def arguments(self) -> list[str]:
        """The arguments that make pytest measure the same samples from the rootdir, without output files."""
        folder = self.root if self.call.folder == "" else None
        arguments = []
        for option in OPTIONS:
            value = getattr(self, option.field)
            is_wanted = getattr(self, BY_NAME[option.repeat].field) if isinstance(option.repeat, str) else option.repeat
            if is_wanted and value != option.parse_value(option.default_value, self.folders.home):
                arguments += option.arguments(value, folder)
        return arguments

    @property
    def sampling(self) -> str:
        """The argument for the number of measured items."""
        return f"--fairness-sample={self.sample}" if self.sample else f"--fairness-profile={self.profile}"

    @property
    def filters(self) -> list[str]:
        """The arguments that select items by attributes."""
        return BY_NAME["where"].arguments(self.where, None)


def default_settings(config: pytest.Config) -> Settings:
    """Return the settings of a run without options."""
    defaults = {option.name: option.default_value for option in OPTIONS}
    return _settings(config, {}, defaults, ProjectSettings())


def read_settings(config: pytest.Config, file: IniFile) -> Settings:
    """Return the settings of this run, from the command line or else from the ini file.

    Raises:
        pytest.UsageError: A value is malformed; one line, with file and line of a value of the ini file.
    """
    with file.locating_errors():
        refuse_removed(config)
        file.check_keys()
        _refuse_moved_rootdir(config)
        given = given_options(config)
        values: dict[str, Any] = {}
        for option in OPTIONS:
            option.refuse_empty(given.get(option.name))
            value = given[option.name] if option.name in given else file.value(option)
            values[option.name] = option.default_value if value is None else value
            option.refuse_out_of_range(value)
        _refuse_contradictions(values, given)
        project = read_project_settings(config.rootpath, config.invocation_params.dir)
        settings = _settings(config, given, values, project)
        _refuse_other_files(settings)
        return settings


def _settings(
    config: pytest.Config, given: Mapping[str, Any], values: Mapping[str, Any], project: ProjectSettings
) -> Settings:
    folder = config.invocation_params.dir
    # Without an ini file, the rootdir is the common folder of the tests, which is not the project's.
    folders = RunFolders(folder, config.rootpath if config.inipath else folder)
    of_file = options_of_addopts(config)

    def base(option: str) -> Path:
        """Return the folder of whoever wrote an option: one with several texts is typed unless all are of the file."""
        value = given.get(option)
        texts = value if isinstance(value, list) else [value]
        return folders.home if option not in given or {*texts} <= {*of_file.get(option, ())} else folders.invocation

    def rooted(option: str, name: str) -> str:
        return name if name in of_file.get(option, ()) else from_root(name, folder, config.rootpath)

    run = values["run"] or ("ci" if values["shard"] else None)
    parsed = {
        option.field: option.parse_value({**values, "run": run}[option.name], base(option.name)) for option in OPTIONS
    }
    if "model" in given:
        parsed["models"] = tuple(rooted("model", name) for name in parsed["models"])
    if "judge" in given:
        parsed["judge"] = rooted("judge", parsed["judge"])
    if values["report"] == DEFAULT_REPORT and is_repeated_on_changes(config):
        parsed["report"] = None  # a change that would repeat the session
    return Settings(
        **parsed,
        root=config.rootpath,
        project=project,
        folders=folders,
        call=Call.from_config(config),
        given=frozenset(given),
    )


_WRITTEN = ("--fairness-store", "--fairness-json", "--fairness-report")
"""Options whose files exist after the first run."""


def _refuse_moved_rootdir(config: pytest.Config) -> None:
    """Check that no path of an option is the reason for another rootdir, in this run or the next.

    pytest takes a path that exists for one of tests, unless it is written behind a `=`. A file that this run writes is
    refused before it exists: else the first run passes, and every later one ends.
    """
    if hasattr(config, "workerinput"):
        return
    arguments = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *config.invocation_params.args]
    for option, value in pairwise(map(str, arguments)):
        if not option.startswith("--fairness-") or "=" in option:
            continue
        path = config.invocation_params.dir / Path(value).expanduser()
        if path.exists():
            if (rootdir := rootdir_of_tests(config)) != config.rootpath:
                raise pytest.UsageError(
                    f"{option} {value} made {config.rootpath} the rootdir in place of {rootdir}: write {option}={value}"
                )
        elif option in _WRITTEN and "://" not in value:
            folder = next(parent for parent in path.parents if parent.exists())
            if (rootdir := rootdir_of_tests(config, folder)) != config.rootpath:
                raise pytest.UsageError(
                    f"{option} {value} makes {rootdir} the rootdir in place of {config.rootpath} once the file exists: "
                    f"write {option}={value}"
                )


def _refuse_contradictions(values: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    for option in OPTIONS:
        required = option.requires
        if required and option.name in given and not values[required]:
            raise pytest.UsageError(
                f"{option.flag_text} needs --fairness-{required}: give it too, or drop {option.flag_text}"
            )
        for other in option.excludes:
            if values[option.name] and values[other]:
                raise pytest.UsageError(f"{option.flag_text} and --fairness-{other} cannot be in one run: drop one")


def _refuse_other_files(settings: Settings) -> None:
    """Check that no output file exists with another kind of content."""
    files = [("json", settings.json, RESULTS)]
    if settings.is_report_requested:
        files.append(("report", settings.report, PAGE))
    for name, file, mark in files:
        if file is None:
            continue
        try:
            if isinstance(settings.store, Path) and file.resolve() == settings.store.resolve():
                raise FairnessError(f"{file} is the store: name another file")
            refuse_others(file, mark)
        except FairnessError as error:
            raise pytest.UsageError(f"--fairness-{name}: {error}") from None


def secret_redactor(settings: Settings) -> Callable[[str], str]:
    """Return a function that removes API keys, and texts that look like keys, from a text."""
    from pytest_fairness.core.secrets import redacted, secrets_in
    from pytest_fairness.models.env_file import read_environment

    return partial(redacted, secrets=secrets_in(read_environment(settings.env_file)))
