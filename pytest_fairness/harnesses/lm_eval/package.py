"""The installed lm_eval package: how its tasks are loaded, and every use of its private modules, with the reason.

Checked with lm_eval 0.4.13. It is imported when a task is loaded, never before. What it changes in the process on the
way is put back: the generators of `random` and numpy, the level of its log, the progress bars of datasets, and how
templates are applied.
"""

from __future__ import annotations

import logging
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean, lasting_imports
from pytest_fairness.harnesses.package import module_of

OLDEST = (0, 4, 13)
"""The oldest version whose modules have what is used here."""
RUNS_CODE = "it runs code that the model writes, which is not supported: run it by lm_eval"
_SEED, _NUMPY_SEED = 0, 1234
"""The seeds that `lm_eval.simple_evaluate` sets before it loads tasks."""


def lm_eval_module(name: str) -> Any:
    """Return a module of lm_eval, such as ``tasks`` for ``lm_eval.tasks``.

    Raises:
        FairnessError: The package, or what it needs, is not installed, or it is too old.
    """
    return module_of("lm_eval", name, "lm-eval", OLDEST, undisturbed)


class ErrorLog(logging.Handler):
    """The last error that was logged: lm_eval logs why, and raises an error of no text a line later."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.message = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of a record."""
        self.message = " ".join(record.getMessage().split())[:300]


@contextmanager
def undisturbed(*, draws: bool = True) -> Iterator[ErrorLog]:
    """Give no warning, log line or progress bar within the block; put generators of numbers back at its end.

    Args:
        draws: Whether the block may draw random numbers. To save the generators takes longer than to score a document.

    Yields:
        The errors that lm_eval logs within the block.
    """
    logger = logging.getLogger("lm_eval")
    level, handlers, propagates = logger.level, logger.handlers, logger.propagate
    states = (random.getstate(), np.random.get_state()) if draws else None
    utils: Any = sys.modules.get("lm_eval.utils")
    apply_template = getattr(utils, "apply_template", None)
    datasets: Any = sys.modules.get("datasets")
    has_bars = datasets is not None and datasets.is_progress_bar_enabled()
    try:
        # Not by its level: to set one empties the caches of all loggers, and this is entered for each document.
        errors = ErrorLog()
        logger.handlers, logger.propagate = [errors], False
        if apply_template is not None:
            utils.apply_template = _apply_template
        if has_bars:
            datasets.disable_progress_bars()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield errors
    finally:
        if has_bars:
            datasets.enable_progress_bars()
        logger.handlers, logger.propagate = handlers, propagates
        if apply_template is not None:
            utils.apply_template = apply_template
        if logger.level != level:
            logger.setLevel(level)
        if states is not None:
            random.setstate(states[0])
            np.random.set_state(states[1])


def _apply_template(template: str, document: Mapping[str, Any]) -> str:
    """Return a document's text as `lm_eval.utils.apply_template` does, which compiles the template for each one."""
    text: str = _compiled(template).render(**document)
    return text


@lru_cache(maxsize=256)
def _compiled(template: str) -> Any:
    return lm_eval_module("utils").env.from_string(template)


def load_tasks(spec: str, overrides: Mapping[str, Any], include: Sequence[Path], root: Path) -> dict[str, Any]:
    """Return the tasks that a spec names, by name: one, or those of a group or tag.

    Args:
        spec: The name of a task, group or tag, or a YAML file.
        overrides: Keys of the tasks' YAML, in place of what stands there.
        include: Folders with tasks of the user's own, which come before those of the package.
        root: The folder from which a file's name counts.

    Raises:
        FairnessError: There is no such task, its data are missing, or its code fails.
    """
    lm_eval_module("tasks")
    _refuse_unknown_keys(spec, overrides)
    with undisturbed() as errors, lasting_imports():
        random.seed(_SEED)
        np.random.seed(_NUMPY_SEED)
        try:
            manager, name = _manager_of(spec, include, root)
            _refuse_unsafe_code(manager, name)
            tasks: dict[str, Any] = manager.load(_with_overrides(manager, name, overrides))["tasks"]
        except FairnessError:
            raise
        except (Exception, SystemExit) as error:
            logged = f"; lm_eval logged: {errors.message}" if errors.message else ""
            raise FairnessError(f"lm-eval task {spec}: it cannot be loaded: {described(error)}{logged}") from error
    if not tasks:
        raise FairnessError(f"lm-eval task {spec}: the group has no tasks")
    return tasks


def described(error: BaseException) -> str:
    """Return an error in one line: its type and its text."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _refuse_unsafe_code(manager: Any, name: str) -> None:
    """Refuse a task that runs code of the model: the task's own module may do so while it is imported."""
    path = manager.task_index[name].yaml_path
    if path is None:
        return
    loader = lm_eval_module("tasks._yaml_loader")  # `TaskManager` reads YAML by it, and resolves functions at once
    if loader.load_yaml(path, resolve_func=False, recursive=True).get("unsafe_code"):
        raise FairnessError(f"lm-eval task {name}: {RUNS_CODE}")


def _refuse_unknown_keys(spec: str, overrides: Mapping[str, Any]) -> None:
    keys = [field.name for field in fields(lm_eval_module("config.task").TaskConfig)]
    for name in overrides:
        if name not in keys:
            raise FairnessError(f"lm-eval task {spec}: it has no argument {name!r}; {did_you_mean(name, keys)}")


def _manager_of(spec: str, include: Sequence[Path], root: Path) -> tuple[Any, str]:
    """Return a manager that has the task, and the task's name.

    To read all YAML files of the package takes seconds, which a task of the user's own need not wait for.
    """
    task_manager = lm_eval_module("tasks").TaskManager
    name = spec
    if Path(spec).suffix in (".yaml", ".yml"):
        path = (root / spec).resolve()
        if not path.is_file():
            raise FairnessError(f"lm-eval task {spec}: there is no file {path}")
        entry = lm_eval_module("tasks._index").TaskIndex.entry_from_path(path)  # `load` does, and takes no overrides
        if entry is None:
            raise FairnessError(f"lm-eval task {spec}: the file names no task: write task: NAME into it")
        if entry.kind.name == "GROUP":  # whose name is that of its tasks in 0.4.13
            name = lm_eval_module("tasks._yaml_loader").load_yaml(path, resolve_func=False)["group"]
        else:
            name = entry.name
        include = [*include, path.parent]
    for folder in include:
        if not folder.is_dir():
            raise FairnessError(f"--fairness-lm-eval-include is {folder}: there is no such folder")
    # To look through the package's files takes a second: only where the user's own folders have no such task.
    searches: Sequence[Callable[[], list[Path]]] = (lambda: list(include), lambda: _folders_naming(name))
    for search in searches:
        if folders := search():
            manager = task_manager(include_defaults=False, include_path=folders)
            # A group or tag may need tasks of other folders.
            if name in manager.task_index and manager.task_index[name].kind.name in ("TASK", "PY_TASK"):
                return manager, name
    manager = task_manager(include_defaults=False, include_path=list(include))
    own = dict(manager.task_index)  # of one name, lm_eval takes the entry of the last folder
    manager.task_index.update(_package_index() | own)
    if name not in manager.task_index:
        close = get_close_matches(name, sorted(manager.task_index), 3)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "`lm-eval ls tasks` lists those there are"
        raise FairnessError(f"lm-eval task {spec}: there is no such task; {hint}")
    return manager, name


@cache
def _package_index() -> dict[str, Any]:
    """Return the tasks, groups and tags of the package by name: all of its YAML files, which takes seconds."""
    manager = lm_eval_module("tasks").TaskManager
    with _included_files_read_once():
        index: Mapping[str, Any] = manager().task_index
    # What a file holds is read again when its task is built.
    return {name: replace(entry, cfg=None) if entry.yaml_path else entry for name, entry in index.items()}


@contextmanager
def _included_files_read_once() -> Iterator[None]:
    """Read each YAML file that others include once within the block: 700 files, not 13,000 times."""
    loader = lm_eval_module("tasks._yaml_loader")  # where `load_yaml` looks itself up; `TaskIndex` has it by name
    load_yaml = loader.load_yaml
    included: dict[Path, dict[str, Any]] = {}

    def load(path: Path, **options: Any) -> dict[str, Any]:
        if path not in included:
            included[path] = load_yaml(path, **options)
        return dict(included[path])  # which the caller changes

    loader.load_yaml = load
    try:
        yield
    finally:
        loader.load_yaml = load_yaml


def _folders_naming(name: str) -> list[Path]:
    """Return the folders of the package with a YAML file that defines this task."""
    folder = Path(lm_eval_module("tasks").__file__).parent
    line = re.compile(rf"^task:\s*[\"']?{re.escape(name)}[\"']?\s*$".encode(), re.MULTILINE)
    own_folder = folder / name.partition("_")[0]  # where most tasks are, by their first word
    for searched in (own_folder, folder):
        if folders := {path.parent for path in searched.glob("**/*.yaml") if line.search(path.read_bytes())}:
            return sorted(folders)
    return []


def _with_overrides(manager: Any, name: str, overrides: Mapping[str, Any]) -> Any:
    """Return what a manager loads: the name, or the task, group or tag built with keys of its own."""
    index = manager.task_index
    return manager._factory.build(index[name], overrides=dict(overrides), registry=index) if overrides else name
