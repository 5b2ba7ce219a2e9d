"""Public names for packages that do more than the extensions of the root namespace, such as the rooms upstairs.

A room is a package of this distribution that uses the gate as another distribution would: by the names of
`pytest_fairness` and of this module. `docs/extending.md` describes them. They are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import value_or_none
    from pytest_fairness.core.formatting import counted
    from pytest_fairness.core.keys import fingerprint_of
    from pytest_fairness.core.search_results import FlipResult, SearchResult
    from pytest_fairness.counterfactual.slots import Value, values_of, variant_of
    from pytest_fairness.counterfactual.templates import SlotTemplate
    from pytest_fairness.engine.errors import RunStoppedError
    from pytest_fairness.plugin.compat import hypothesis_settings, set_hypothesis_settings
    from pytest_fairness.plugin.model_queries import ModelQueries, add_search_results
    from pytest_fairness.plugin.query_fixtures import add_query_fixture, asks_models
    from pytest_fairness.report.escaping import escape_controls

_ORIGINS = {
    name.partition("=")[0]: (module, name.rpartition("=")[2])
    for module, names in {
        "core.attempts": "value_or_none",
        "core.formatting": "counted",
        "core.keys": "fingerprint_of",
        "core.search_results": "FlipResult SearchResult",
        "counterfactual.slots": "Value values_of variant_of",
        "counterfactual.templates": "SlotTemplate",
        "engine.errors": "RunStoppedError",
        "plugin.compat": "hypothesis_settings set_hypothesis_settings",
        "plugin.model_queries": "ModelQueries add_search_results",
        "plugin.query_fixtures": "add_query_fixture asks_models",
        "report.escaping": "escape_controls",
    }.items()
    for name in names.split()
}
"""The module of each name, and its name there, which stands after an equals sign if it is another one."""

__all__ = [
    "FlipResult", "ModelQueries", "RunStoppedError", "SearchResult", "SlotTemplate", "Value", "add_query_fixture",
    "add_search_results", "asks_models", "counted", "escape_controls", "fingerprint_of", "hypothesis_settings",
    "set_hypothesis_settings", "value_or_none", "values_of", "variant_of",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _ORIGINS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, original = _ORIGINS[name]
    try:
        return getattr(import_module(f"pytest_fairness.{module}"), original)
    except AttributeError:  # a module of the package
        return import_module(f"pytest_fairness.{module}.{original}")


def __dir__() -> list[str]:
    return __all__
