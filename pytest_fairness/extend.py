"""Public names for packages that do more than the extensions of the root namespace, such as the rooms upstairs.

A room is a package of this distribution that uses the gate as another distribution would: by the names of
`pytest_fairness` and of this module. `docs/extending.md` describes them. They are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core import event_loops, json_text
    from pytest_fairness.core.attempts import value_or_none
    from pytest_fairness.core.clock import Clock
    from pytest_fairness.core.digests import sampled_digest
    from pytest_fairness.core.errors import ModelError, install
    from pytest_fairness.core.finish_reasons import TOOL_CALLS
    from pytest_fairness.core.formatting import counted
    from pytest_fairness.core.items import Message
    from pytest_fairness.core.keys import fingerprint_of
    from pytest_fairness.core.message_roles import TOOLS
    from pytest_fairness.core.propensities import WAY_OUT, Likelihoods, OptionLikelihood, log_probability
    from pytest_fairness.core.search_results import FlipResult, SearchResult
    from pytest_fairness.core.secrets import redacted, secrets_in
    from pytest_fairness.core.system_prompts import system_prompt_of
    from pytest_fairness.core.thinking import split_thinking
    from pytest_fairness.core.tools import NoToolsError
    from pytest_fairness.counterfactual.slots import Value, values_of, variant_of
    from pytest_fairness.counterfactual.templates import SlotTemplate
    from pytest_fairness.engine.errors import RunStoppedError
    from pytest_fairness.graders.embeddings import REMOTE_EMBEDDER
    from pytest_fairness.models import parameters as model_parameters
    from pytest_fairness.models.env_file import read_environment
    from pytest_fairness.models.registry import resolve as resolve_model
    from pytest_fairness.models.threads import DaemonThreads
    from pytest_fairness.models.tool_messages import chat_messages
    from pytest_fairness.plugin.compat import hypothesis_settings, set_hypothesis_settings
    from pytest_fairness.plugin.model_queries import ModelQueries, add_search_results
    from pytest_fairness.plugin.query_fixtures import add_query_fixture, asks_models
    from pytest_fairness.report.escaping import escape_controls

_ORIGINS = {
    name.partition("=")[0]: (module, name.rpartition("=")[2])
    for module, names in {
        "core": "event_loops json_text",
        "core.attempts": "value_or_none",
        "core.clock": "Clock",
        "core.digests": "sampled_digest",
        "core.errors": "ModelError install",
        "core.finish_reasons": "TOOL_CALLS",
        "core.formatting": "counted",
        "core.items": "Message",
        "core.keys": "fingerprint_of",
        "core.message_roles": "TOOLS",
        "core.propensities": "Likelihoods OptionLikelihood WAY_OUT log_probability",
        "core.search_results": "FlipResult SearchResult",
        "core.secrets": "redacted secrets_in",
        "core.system_prompts": "system_prompt_of",
        "core.thinking": "split_thinking",
        "core.tools": "NoToolsError",
        "counterfactual.slots": "Value values_of variant_of",
        "counterfactual.templates": "SlotTemplate",
        "engine.errors": "RunStoppedError",
        "graders.embeddings": "REMOTE_EMBEDDER",
        "models": "model_parameters=parameters",
        "models.env_file": "read_environment",
        "models.registry": "resolve_model=resolve",
        "models.threads": "DaemonThreads",
        "models.tool_messages": "chat_messages",
        "plugin.compat": "hypothesis_settings set_hypothesis_settings",
        "plugin.model_queries": "ModelQueries add_search_results",
        "plugin.query_fixtures": "add_query_fixture asks_models",
        "report.escaping": "escape_controls",
    }.items()
    for name in names.split()
}
"""The module of each name, and its name there, which stands after an equals sign if it is another one."""

__all__ = [
    "Clock", "DaemonThreads", "FlipResult", "Likelihoods", "Message", "ModelError", "ModelQueries", "NoToolsError",
    "OptionLikelihood", "REMOTE_EMBEDDER", "RunStoppedError", "SearchResult", "SlotTemplate", "TOOLS", "TOOL_CALLS",
    "Value", "WAY_OUT", "add_query_fixture", "add_search_results", "asks_models", "chat_messages", "counted",
    "escape_controls", "event_loops", "fingerprint_of", "hypothesis_settings", "install", "json_text",
    "log_probability", "model_parameters", "read_environment", "redacted", "resolve_model", "sampled_digest",
    "secrets_in", "set_hypothesis_settings", "split_thinking", "system_prompt_of", "value_or_none", "values_of",
    "variant_of",
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
