"""Public names for packages that add models, graders, metrics, exports, imports, sections, or more.

A package of this distribution that uses the gate as another distribution would, a room upstairs, takes its names from
here and from the other public modules. `docs/extending.md` describes the protocols and the base classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fairness.lazy_names import lazy_names

if TYPE_CHECKING:
    from pytest_fairness.cli.arguments import Commands, add_command, add_store
    from pytest_fairness.cli.arguments import number as number_argument
    from pytest_fairness.cli.arguments import whole_number as whole_number_argument
    from pytest_fairness.core import event_loops, field_readers, finish_reasons, json_text, message_roles
    from pytest_fairness.core.attempts import Attempt, value_or_none
    from pytest_fairness.core.clock import Clock
    from pytest_fairness.core.declarative_grader import DeclarativeGrader
    from pytest_fairness.core.digests import digest, sampled_digest
    from pytest_fairness.core.errors import (
        FatalError,
        ModelError,
        PermanentError,
        TransientError,
        UngradedError,
        describe_error,
        did_you_mean,
        install,
    )
    from pytest_fairness.core.estimate_families import EstimateFamily
    from pytest_fairness.core.estimates import Mark
    from pytest_fairness.core.evidence_results import EvidenceResult, EvidenceThreshold
    from pytest_fairness.core.formatting import LONGEST_TITLE, align_columns, bounds_of, counted, format_level, one_line
    from pytest_fairness.core.formatting import number as format_number
    from pytest_fairness.core.garbage_collection import lasting_imports, paused_collection
    from pytest_fairness.core.grader_declarations import GraderDeclaration
    from pytest_fairness.core.importer import Importer, write_lines
    from pytest_fairness.core.items import Message
    from pytest_fairness.core.json_objects import finite, is_number, json_objects
    from pytest_fairness.core.json_records import Record, json_lines, largest_unpacked, read_document, read_records
    from pytest_fairness.core.keys import fingerprint_of
    from pytest_fairness.core.metric_kind import MetricKind
    from pytest_fairness.core.output_files import write_text
    from pytest_fairness.core.placebos import Placebo, is_placebo, with_placebos
    from pytest_fairness.core.propensities import (
        WAY_OUT,
        Likelihoods,
        OptionLikelihood,
        likelihoods_of,
        log_probability,
    )
    from pytest_fairness.core.protocols import BatchGrader, Grader, Grading, ItemGrader, extremes_of
    from pytest_fairness.core.results import RunResults, read_results
    from pytest_fairness.core.seal_results import SEAL
    from pytest_fairness.core.seals import Seal, parse_seal, read_seal
    from pytest_fairness.core.search_results import FlipResult, SearchResult
    from pytest_fairness.core.secrets import redacted, secrets_in
    from pytest_fairness.core.serialization import UNWRITTEN, checked
    from pytest_fairness.core.system_prompts import system_prompt_of
    from pytest_fairness.core.thinking import split_thinking
    from pytest_fairness.core.threads import DaemonExecutor
    from pytest_fairness.core.threshold_results import MetricResult, ReleaseResult, SliceResult, ThresholdResult
    from pytest_fairness.core.toml_files import TomlFile
    from pytest_fairness.core.tool_replies import responses_calls
    from pytest_fairness.core.tools import NoToolsError
    from pytest_fairness.declarative.expressions import Expression, ExpressionError, ProbeVocabulary, negated
    from pytest_fairness.engine.engine import Engine
    from pytest_fairness.engine.errors import RunStoppedError
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.engine.requests import build_requests
    from pytest_fairness.graders.embeddings import REMOTE_EMBEDDER
    from pytest_fairness.graders.extraction.normalization import final_text, strip_markup
    from pytest_fairness.models import parameters as model_parameters
    from pytest_fairness.models.aliases import read_aliases
    from pytest_fairness.models.callable_model import FunctionModel
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.env_file import read_environment
    from pytest_fairness.models.names import ModelName
    from pytest_fairness.models.registry import resolve as resolve_model
    from pytest_fairness.models.threads import DaemonThreads
    from pytest_fairness.models.tool_messages import chat_messages
    from pytest_fairness.plugin.compat import (
        hypothesis_settings,
        set_hypothesis_settings,
    )
    from pytest_fairness.plugin.own_tests import add_query_fixture, asks_models
    from pytest_fairness.plugin.samples.model_queries import ModelQueries, add_search_results
    from pytest_fairness.report import phrases
    from pytest_fairness.report.compare.load import COMPARED_FILE
    from pytest_fairness.report.compare.sections import ComparedRuns, CompareSection, SectionTable
    from pytest_fairness.report.escaping import escape_controls
    from pytest_fairness.report.exports.exporter import (
        Exporter,
        RunReference,
        add_model,
        select_sample,
        select_thresholds,
        shown_names,
    )
    from pytest_fairness.report.findings import finding
    from pytest_fairness.report.html.svg import element as svg_element
    from pytest_fairness.report.html.svg import lines_of as svg_lines
    from pytest_fairness.report.html.svg import width_of as svg_width
    from pytest_fairness.report.markdown_escaping import escape as escape_markdown
    from pytest_fairness.report.release import sentence as release_sentence
    from pytest_fairness.report.results import results_text
    from pytest_fairness.report.text_table import TextTable
    from pytest_fairness.report.view import View
    from pytest_fairness.stats.columns import Columns
    from pytest_fairness.stats.custom_metrics import Functional
    from pytest_fairness.stats.external_metrics import ExternalMetrics
    from pytest_fairness.stats.measured import DeferredMeasured
    from pytest_fairness.stats.metric_definition import MetricDefinition
    from pytest_fairness.stats.outcomes import IndependentSum
    from pytest_fairness.store.samples import StoredSample
    from pytest_fairness.store.store import Store
else:
    __getattr__, __dir__ = lazy_names(__name__, {
        "cli.arguments": "Commands add_command add_store number_argument=number whole_number_argument=whole_number",
        "core": "event_loops field_readers finish_reasons json_text message_roles",
        "core.attempts": "Attempt value_or_none",
        "core.clock": "Clock",
        "core.declarative_grader": "DeclarativeGrader",
        "core.digests": "digest sampled_digest",
        "core.errors": "FatalError ModelError PermanentError TransientError UngradedError "
                       "describe_error did_you_mean install",
        "core.estimate_families": "EstimateFamily",
        "core.estimates": "Mark",
        "core.evidence_results": "EvidenceResult EvidenceThreshold",
        "core.formatting": "LONGEST_TITLE align_columns bounds_of counted format_level format_number=number one_line",
        "core.garbage_collection": "lasting_imports paused_collection",
        "core.grader_declarations": "GraderDeclaration",
        "core.importer": "Importer write_lines",
        "core.items": "Message",
        "core.json_objects": "finite is_number json_objects",
        "core.json_records": "Record json_lines largest_unpacked read_document read_records",
        "core.keys": "fingerprint_of",
        "core.metric_kind": "MetricKind",
        "core.output_files": "write_text",
        "core.placebos": "Placebo is_placebo with_placebos",
        "core.propensities": "Likelihoods OptionLikelihood WAY_OUT likelihoods_of log_probability",
        "core.protocols": "BatchGrader Grader Grading ItemGrader extremes_of",
        "core.results": "RunResults read_results",
        "core.seal_results": "SEAL",
        "core.seals": "Seal parse_seal read_seal",
        "core.search_results": "FlipResult SearchResult",
        "core.secrets": "redacted secrets_in",
        "core.serialization": "UNWRITTEN checked",
        "core.system_prompts": "system_prompt_of",
        "core.thinking": "split_thinking",
        "core.threads": "DaemonExecutor",
        "core.threshold_results": "MetricResult ReleaseResult SliceResult ThresholdResult",
        "core.toml_files": "TomlFile",
        "core.tool_replies": "responses_calls",
        "core.tools": "NoToolsError",
        "declarative.expressions": "Expression ExpressionError ProbeVocabulary negated",
        "engine.engine": "Engine",
        "engine.errors": "RunStoppedError",
        "engine.probe_sample": "ProbeSample",
        "engine.requests": "build_requests",
        "graders.embeddings": "REMOTE_EMBEDDER",
        "graders.extraction.normalization": "final_text strip_markup",
        "models": "model_parameters=parameters",
        "models.aliases": "read_aliases",
        "models.callable_model": "FunctionModel",
        "models.context": "ModelContext",
        "models.env_file": "read_environment",
        "models.names": "ModelName",
        "models.registry": "resolve_model=resolve",
        "models.threads": "DaemonThreads",
        "models.tool_messages": "chat_messages",
        "plugin.compat": "hypothesis_settings set_hypothesis_settings",
        "plugin.samples.model_queries": "ModelQueries add_search_results",
        "plugin.own_tests": "add_query_fixture asks_models",
        "report": "phrases",
        "report.compare.load": "COMPARED_FILE",
        "report.compare.sections": "CompareSection ComparedRuns SectionTable",
        "report.escaping": "escape_controls",
        "report.exports.exporter": "Exporter RunReference add_model select_sample select_thresholds shown_names",
        "report.findings": "finding",
        "report.html.svg": "svg_element=element svg_lines=lines_of svg_width=width_of",
        "report.markdown_escaping": "escape_markdown=escape",
        "report.release": "release_sentence=sentence",
        "report.results": "results_text",
        "report.text_table": "TextTable",
        "report.view": "View",
        "stats.columns": "Columns",
        "stats.custom_metrics": "Functional",
        "stats.external_metrics": "ExternalMetrics",
        "stats.measured": "DeferredMeasured",
        "stats.metric_definition": "MetricDefinition",
        "stats.outcomes": "IndependentSum",
        "store.samples": "StoredSample",
        "store.store": "Store",
    })  # fmt: skip

__all__ = [
    "Attempt", "BatchGrader", "COMPARED_FILE", "Clock", "Columns", "Commands", "CompareSection", "ComparedRuns",
    "DaemonExecutor", "DaemonThreads", "DeclarativeGrader", "DeferredMeasured", "Engine", "EstimateFamily",
    "EvidenceResult", "EvidenceThreshold", "Exporter", "Expression", "ExpressionError", "ExternalMetrics", "FatalError",
    "FlipResult", "FunctionModel", "Functional", "Grader", "GraderDeclaration", "Grading", "Importer", "IndependentSum",
    "ItemGrader", "LONGEST_TITLE", "Likelihoods", "Mark", "Message", "MetricDefinition", "MetricKind", "MetricResult",
    "ModelContext", "ModelError", "ModelName", "ModelQueries", "NoToolsError", "OptionLikelihood", "PermanentError",
    "Placebo", "ProbeSample", "ProbeVocabulary", "REMOTE_EMBEDDER", "Record", "ReleaseResult", "RunReference",
    "RunResults", "RunStoppedError", "SEAL", "Seal", "SearchResult", "SectionTable", "SliceResult", "Store",
    "StoredSample", "TextTable", "ThresholdResult", "TomlFile", "TransientError", "UNWRITTEN", "UngradedError", "View",
    "WAY_OUT", "add_command", "add_model", "add_query_fixture", "add_search_results", "add_store", "align_columns",
    "asks_models", "bounds_of", "build_requests", "chat_messages", "checked", "counted", "describe_error",
    "did_you_mean", "digest", "escape_controls", "escape_markdown", "event_loops", "extremes_of", "field_readers",
    "final_text", "finding", "fingerprint_of", "finish_reasons", "finite", "format_level", "format_number",
    "hypothesis_settings", "install", "is_number", "is_placebo", "json_lines", "json_objects", "json_text",
    "largest_unpacked", "lasting_imports", "likelihoods_of", "log_probability", "message_roles", "model_parameters",
    "negated", "number_argument", "one_line", "parse_seal", "paused_collection", "phrases", "read_aliases",
    "read_document", "read_environment", "read_records", "read_results", "read_seal", "redacted", "release_sentence",
    "resolve_model", "responses_calls", "results_text", "sampled_digest", "secrets_in", "select_sample",
    "select_thresholds", "set_hypothesis_settings", "shown_names", "split_thinking", "strip_markup", "svg_element",
    "svg_lines", "svg_width", "system_prompt_of", "value_or_none", "whole_number_argument", "with_placebos",
    "write_lines", "write_text",
]  # fmt: skip
