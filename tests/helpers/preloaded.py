"""Modules that are imported once for many runs of pytest.

pytester restores ``sys.modules`` after a run in its own process. Extensions written in C do not survive being
imported twice, and everything else here would be slow to.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import Distribution, EntryPoints, distributions
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from _pytest.fixtures import FixtureFunctionDefinition, FixtureManager

import pytest_fairness

MODULES = (
    "filelock",
    "hypothesis",
    "numpy",
    "psycopg",
    "pdb",
    "scipy.special",
    "sqlite3",
    "tenacity",
    "xdist.remote",
    "xdist.workermanage",
    "pytest_fairness.plugin.xdist_crashes",
    "pytest_fairness.plugin.fixtures",
    "pytest_fairness.plugin.startup",
    "pytest_fairness.engine.probe_sample",
    "pytest_fairness.graders.choice",
    "pytest_fairness.graders.judge.judge",
    "pytest_fairness.graders.refusal",
    "pytest_fairness.graders.yes_no",
    "pytest_fairness.models.custom_model",
    "pytest_fairness.models.registry",
    "pytest_fairness.models.env_file",
    "pytest_fairness.models.callable_model",
    "pytest_fairness.models.pricing",
    "pytest_fairness.models.replay",
    "pytest_fairness.models.simulated",
    "pytest_fairness.core.output_files",
    "pytest_fairness.plugin.dry_runs.verify",
    "pytest_fairness.plugin.outputs",
    "pytest_fairness.stats.measured",
    "pytest_fairness.stats.pvalues",
    "pytest_fairness.stats.sequential",
    "pytest_fairness.store.store",
)


def preload() -> None:
    """Import all of them."""
    for name in MODULES:
        import_module(name)


LIBRARIES = tuple(
    str(folder)
    for folder in (Path(pytest_fairness.__file__).parent, *map(sysconfig.get_path, ("stdlib", "purelib", "platlib")))
)


class ProjectModulesSnapshot:
    """The modules that are loaded now; `restore` forgets later ones, except for those of libraries.

    What a run with a hidden library has imported is forgotten as well: it may have noted that it lacks it.
    """

    def __init__(self, preserve: object = None) -> None:
        self._saved = dict(sys.modules)

    def restore(self) -> None:
        """Forget the modules of the project."""
        added = {name: module for name, module in sys.modules.items() if name not in self._saved}
        if not any(module is None for module in sys.modules.values()):
            self._saved |= {name: module for name, module in added.items() if is_library(name)}
        sys.modules.clear()
        sys.modules.update(self._saved)


def is_library(name: str) -> bool:
    """Return whether a loaded module is of Python, of an installed package or of the plugin, not of a project."""
    module = sys.modules.get(name)
    path = getattr(module, "__path__", [])
    folders = [getattr(module, "__file__", None), *(path if isinstance(path, Iterable) else [])]  # not `torch.classes`
    places = [str(folder) for folder in folders if folder]
    if places:
        return all(path.startswith(LIBRARIES) for path in places)
    package = name.partition(".")[0]  # made by code, as `six.moves` is, or part of the interpreter
    return name in sys.builtin_module_names or (package != name and package in sys.modules and is_library(package))


def search_once(patch: pytest.MonkeyPatch) -> None:
    """Note which packages have entry points and which plugins have fixtures: a fifth of the time of a small run.

    Each run of pytest reads the entry points of every installed package, twice, and looks for fixtures through every
    attribute of some 60 modules and objects that are plugins, of which most have none.
    """
    read = cast("property", Distribution.entry_points).fget
    assert read is not None
    cached: dict[str, EntryPoints] = {}
    have_fixtures: dict[ModuleType | type, bool] = {}
    search = FixtureManager.pytest_plugin_registered

    def entry_points(distribution: Distribution) -> EntryPoints:
        name = str(getattr(distribution, "_path", id(distribution)))
        if name not in cached:
            cached[name] = read(distribution)
        return cached[name]

    def has_fixtures(owner: ModuleType | type) -> bool:
        if owner not in have_fixtures:
            holders = [owner] if isinstance(owner, ModuleType) else owner.__mro__
            have_fixtures[owner] = any(
                FixtureFunctionDefinition in map(type, vars(holder).values()) for holder in holders
            )
        return have_fixtures[owner]

    def pytest_plugin_registered(manager: FixtureManager, plugin: Any, plugin_name: str) -> None:
        owner = plugin if isinstance(plugin, ModuleType) else type(plugin)
        module = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        if owner is type or not is_library(module) or has_fixtures(owner):
            search(manager, plugin, plugin_name)

    patch.setattr(Distribution, "entry_points", property(entry_points))
    patch.setattr(FixtureManager, "pytest_plugin_registered", pytest_plugin_registered)
    for distribution in distributions():
        entry_points(distribution)
