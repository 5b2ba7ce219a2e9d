"""Modules that are imported once for many runs of pytest.

pytester restores ``sys.modules`` after a run in its own process. Extensions written in C do not survive being
imported twice, and everything else here would be slow to.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import Distribution, distributions
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy._manager
import pytest
from _pytest.fixtures import FixtureFunctionDefinition, FixtureManager

import pytest_fairness

MODULES = (
    "aiohttp",
    "filelock",
    "hypothesis",
    "numpy",
    "psycopg",
    "pdb",
    "scipy.optimize",
    "scipy.special",
    "sqlite3",
    "tenacity",
    "xdist.remote",
    "xdist.workermanage",
    "pytest_fairness.core.output_files",
    "pytest_fairness.engine.answer_checks",
    "pytest_fairness.engine.answer_grading",
    "pytest_fairness.engine.probe_sample",
    "pytest_fairness.engine.rate_limiter",
    "pytest_fairness.engine.request_runner",
    "pytest_fairness.graders.choice",
    "pytest_fairness.graders.judge.fallback",
    "pytest_fairness.graders.judge.judge",
    "pytest_fairness.graders.refusal",
    "pytest_fairness.graders.yes_no",
    "pytest_fairness.graders.yes_no_words",
    "pytest_fairness.models.callable_model",
    "pytest_fairness.models.custom_model",
    "pytest_fairness.models.env_file",
    "pytest_fairness.models.openai",
    "pytest_fairness.models.pricing",
    "pytest_fairness.models.registry",
    "pytest_fairness.models.replay",
    "pytest_fairness.models.simulated",
    "pytest_fairness.plugin.hooks.dry_runs.verify",
    "pytest_fairness.plugin.hooks.fixtures",
    "pytest_fairness.plugin.output.outputs",
    "pytest_fairness.plugin.probes.overrides",
    "pytest_fairness.plugin.hooks.startup",
    "pytest_fairness.plugin.output.terminal_summary",
    "pytest_fairness.plugin.hooks.xdist_crashes",
    "pytest_fairness.plugin.hooks.xdist_events",
    "pytest_fairness.stats.clustering",
    "pytest_fairness.stats.measured",
    "pytest_fairness.stats.pvalues",
    "pytest_fairness.stats.sequential",
    "pytest_fairness.store.looks",
    "pytest_fairness.store.provider_batches",
    "pytest_fairness.store.store",
    "pytest_fairness.store.throttle",
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
    """Note what packages declare, and which hooks and fixtures plugins have: a third of the time of a small run.

    Each run of pytest reads the entry points of every installed package, twice, and the metadata of some; and it looks
    for hooks and fixtures through every attribute of some 60 modules and objects that are plugins.
    """
    for name in ("entry_points", "metadata"):
        patch.setattr(Distribution, name, read_once(getattr(Distribution, name)))
    for distribution in distributions():
        _ = distribution.entry_points
    patch.setattr(Distribution, "from_name", staticmethod(functools.cache(Distribution.from_name)))
    find_hook = pluggy._manager._static_hook_attr
    hook_of_library = functools.cache(find_hook)

    def find_hook_once(owner: object, name: str) -> object:
        is_of_library = type(owner) is ModuleType and (getattr(owner, "__file__", None) or "").startswith(LIBRARIES)
        return (hook_of_library if is_of_library else find_hook)(owner, name)

    patch.setattr(pluggy._manager, "_static_hook_attr", find_hook_once)
    fixtures: dict[ModuleType | type, dict[str, FixtureFunctionDefinition]] = {}
    search = FixtureManager.pytest_plugin_registered

    def fixtures_of(owner: ModuleType | type) -> dict[str, FixtureFunctionDefinition]:
        if owner not in fixtures:
            holders = (owner,) if isinstance(owner, ModuleType) else owner.__mro__
            members = [item for holder in holders for item in vars(holder).items()]
            fixtures[owner] = {name: member for name, member in members if type(member) is FixtureFunctionDefinition}
        return fixtures[owner]

    def pytest_plugin_registered(manager: FixtureManager, plugin: Any, plugin_name: str) -> None:
        owner = plugin if isinstance(plugin, ModuleType) else type(plugin)
        module = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        if owner is type or not is_library(module):
            search(manager, plugin, plugin_name)
        elif own := fixtures_of(owner):
            if owner is plugin:
                plugin = ModuleType(module)
                vars(plugin).update(own)
            search(manager, plugin, plugin_name)

    patch.setattr(FixtureManager, "pytest_plugin_registered", pytest_plugin_registered)


def read_once(read: property) -> property:
    """Return a property of a distribution that is read once for each."""
    cached: dict[str, Any] = {}
    getter = read.fget
    assert getter is not None

    def value(distribution: Distribution) -> Any:
        path = str(getattr(distribution, "_path", id(distribution)))
        if path not in cached:
            cached[path] = getter(distribution)
        return cached[path]

    return property(value)
