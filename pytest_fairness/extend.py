"""Public names for packages that do more than the extensions of the root namespace, such as the rooms upstairs.

A room is a package of this distribution that uses the gate as another distribution would: by the names of
`pytest_fairness` and of this module. `docs/extending.md` describes them. They are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core import event_loops, finish_reasons, json_text, message_roles
    from pytest_fairness.core.attempts import value_or_none
    from pytest_fairness.core.clock import Clock
    from pytest_fairness.core.digests import sampled_digest
    from pytest_fairness.core.errors import ModelError, describe_error, install
    from pytest_fairness.core.formatting import LONGEST_TITLE, counted
    from pytest_fairness.core.garbage_collection import lasting_imports, paused_collection
    from pytest_fairness.core.items import Message
    from pytest_fairness.core.json_objects import finite_value
    from pytest_fairness.core.json_records import Record, largest_unpacked, read_document, read_records
    from pytest_fairness.core.keys import fingerprint_of
    from pytest_fairness.core.propensities import (
        WAY_OUT,
        Likelihoods,
        OptionLikelihood,
        likelihoods_of,
        log_probability,
    )
    from pytest_fairness.core.search_results import FlipResult, SearchResult
    from pytest_fairness.core.secrets import redacted, secrets_in
    from pytest_fairness.core.system_prompts import system_prompt_of
    from pytest_fairness.core.thinking import split_thinking
    from pytest_fairness.core.threads import DaemonExecutor
    from pytest_fairness.core.tools import NoToolsError
    from pytest_fairness.counterfactual.slots import Value, values_of, variant_of
    from pytest_fairness.counterfactual.templates import SlotTemplate
    from pytest_fairness.declarative.expressions import Expression, ExpressionError, ProbeVocabulary, negated
    from pytest_fairness.engine.errors import RunStoppedError
    from pytest_fairness.graders.embeddings import REMOTE_EMBEDDER
    from pytest_fairness.models import parameters as model_parameters
    from pytest_fairness.models.env_file import read_environment
    from pytest_fairness.models.registry import resolve as resolve_model
    from pytest_fairness.models.threads import DaemonThreads
    from pytest_fairness.models.tool_messages import chat_messages
    from pytest_fairness.plugin.compat import (
        GeneratedModule,
        hypothesis_settings,
        set_hypothesis_settings,
        use_conftest_hooks,
    )
    from pytest_fairness.plugin.measurement import lazy_measured
    from pytest_fairness.plugin.model_queries import ModelQueries, add_search_results
    from pytest_fairness.plugin.option_values import names_in
    from pytest_fairness.plugin.query_fixtures import add_query_fixture, asks_models
    from pytest_fairness.plugin.session import show_model
    from pytest_fairness.report.ci.junit import PREFIX as PROPERTY_PREFIX
    from pytest_fairness.report.escaping import escape_controls
    from pytest_fairness.stats.external_metrics import ExternalMetrics
    from pytest_fairness.stats.measured import DeferredMeasured

_ORIGINS = {
    name.partition("=")[0]: (module, name.rpartition("=")[2])
    for module, names in {
        "core": "event_loops finish_reasons json_text message_roles",
        "core.attempts": "value_or_none",
        "core.clock": "Clock",
        "core.digests": "sampled_digest",
        "core.errors": "ModelError describe_error install",
        "core.formatting": "LONGEST_TITLE counted",
        "core.garbage_collection": "lasting_imports paused_collection",
        "core.items": "Message",
        "core.json_objects": "finite_value",
        "core.json_records": "Record largest_unpacked read_document read_records",
        "core.keys": "fingerprint_of",
        "core.propensities": "Likelihoods OptionLikelihood WAY_OUT likelihoods_of log_probability",
        "core.search_results": "FlipResult SearchResult",
        "core.secrets": "redacted secrets_in",
        "core.system_prompts": "system_prompt_of",
        "core.thinking": "split_thinking",
        "core.threads": "DaemonExecutor",
        "core.tools": "NoToolsError",
        "counterfactual.slots": "Value values_of variant_of",
        "counterfactual.templates": "SlotTemplate",
        "declarative.expressions": "Expression ExpressionError ProbeVocabulary negated",
        "engine.errors": "RunStoppedError",
        "graders.embeddings": "REMOTE_EMBEDDER",
        "models": "model_parameters=parameters",
        "models.env_file": "read_environment",
        "models.registry": "resolve_model=resolve",
        "models.threads": "DaemonThreads",
        "models.tool_messages": "chat_messages",
        "plugin.compat": "GeneratedModule hypothesis_settings set_hypothesis_settings use_conftest_hooks",
        "plugin.measurement": "lazy_measured",
        "plugin.model_queries": "ModelQueries add_search_results",
        "plugin.option_values": "names_in",
        "plugin.query_fixtures": "add_query_fixture asks_models",
        "plugin.session": "show_model",
        "report.ci.junit": "PROPERTY_PREFIX=PREFIX",
        "report.escaping": "escape_controls",
        "stats.external_metrics": "ExternalMetrics",
        "stats.measured": "DeferredMeasured",
    }.items()
    for name in names.split()
}
"""The module of each name, and its name there, which stands after an equals sign if it is another one."""

__all__ = [
    "Clock", "DaemonExecutor", "DaemonThreads", "DeferredMeasured", "Expression", "ExpressionError",
    "ExternalMetrics", "FlipResult", "GeneratedModule", "LONGEST_TITLE", "Likelihoods", "Message", "ModelError",
    "ModelQueries", "NoToolsError", "OptionLikelihood", "PROPERTY_PREFIX", "ProbeVocabulary", "REMOTE_EMBEDDER",
    "Record", "RunStoppedError", "SearchResult", "SlotTemplate", "Value", "WAY_OUT", "add_query_fixture",
    "add_search_results", "asks_models", "chat_messages", "counted", "describe_error", "escape_controls",
    "event_loops", "fingerprint_of", "finish_reasons", "finite_value", "hypothesis_settings", "install", "json_text",
    "largest_unpacked", "lasting_imports", "lazy_measured", "likelihoods_of", "log_probability", "message_roles",
    "model_parameters", "names_in", "negated", "paused_collection", "read_document", "read_environment",
    "read_records", "redacted", "resolve_model", "sampled_digest", "secrets_in", "set_hypothesis_settings",
    "show_model", "split_thinking", "system_prompt_of", "use_conftest_hooks", "value_or_none", "values_of",
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
