"""Gates on the fairness of language models, in pytest.

The public names are imported when first used, so that importing the package is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core.answer_formats import Formats
    from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
    from pytest_fairness.core.choices import AnswerOptions
    from pytest_fairness.core.data_folders import DataFolders
    from pytest_fairness.core.decisions import Verdict
    from pytest_fairness.core.declarative_grader import DeclarativeGrader
    from pytest_fairness.core.errors import (
        FairnessError,
        FatalError,
        PermanentError,
        TransientError,
        UngradedError,
        did_you_mean,
    )
    from pytest_fairness.core.estimate_families import EstimateFamily
    from pytest_fairness.core.estimates import Estimate, Mark
    from pytest_fairness.core.grader_declarations import GraderDeclaration
    from pytest_fairness.core.importer import Importer
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.marks import MarkScale
    from pytest_fairness.core.metric_kind import MetricKind
    from pytest_fairness.core.propensities import Continuations, Propensities
    from pytest_fairness.core.protocols import BatchGrader, Grader, Grading, ItemGrader, Model, ModelQuery
    from pytest_fairness.core.tool_calls import ToolCall
    from pytest_fairness.core.tools import Tool
    from pytest_fairness.core.version import __version__ as __version__
    from pytest_fairness.counterfactual.attributes import attribute_rows, attribute_words
    from pytest_fairness.counterfactual.confounds import Confound, find_confounds
    from pytest_fairness.counterfactual.lint import lint
    from pytest_fairness.counterfactual.slots import counterfactuals, names
    from pytest_fairness.graders.actions import CalledTool, ToolArgument, ToolCallCount
    from pytest_fairness.graders.anchors import Anchors, read_anchors
    from pytest_fairness.graders.character_gender.grader import CharacterGender
    from pytest_fairness.graders.choice import Choice
    from pytest_fairness.graders.conversation import Conversation, PlayedUser
    from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
    from pytest_fairness.graders.extraction.normalization import answer_text
    from pytest_fairness.graders.judge.fallback import JudgeFallback
    from pytest_fairness.graders.judge.judge import Judge, JudgeGrader
    from pytest_fairness.graders.judge.reply import read_object
    from pytest_fairness.graders.judge.rubric import LabelField, NumberField, Rubric, TextField
    from pytest_fairness.graders.propensities import Likelihood
    from pytest_fairness.graders.rating import Rating
    from pytest_fairness.graders.refusal import Refusal, nothing_read, refuses
    from pytest_fairness.graders.word_list import WordList
    from pytest_fairness.graders.yes_no import Regex, YesNo
    from pytest_fairness.imports.recorded_answers import RecordedAnswer, TableImporter
    from pytest_fairness.imports.recorded_table import RecordedTable
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.names import ModelName
    from pytest_fairness.plugin.session import stored_results
    from pytest_fairness.report.compare.sections import ComparedRuns, CompareSection, SectionTable
    from pytest_fairness.report.exports.exporter import Exporter, RunReference
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.metric_definition import MetricDefinition

_MODULES = {
    name: module
    for module, names in {
        "core.answer_formats": "Formats",
        "core.attempts": "Answer Attempt Grade GradedAttempt",
        "core.choices": "AnswerOptions",
        "core.data_folders": "DataFolders",
        "core.decisions": "Verdict",
        "core.declarative_grader": "DeclarativeGrader",
        "core.errors": "FairnessError FatalError PermanentError TransientError UngradedError did_you_mean",
        "core.estimate_families": "EstimateFamily",
        "core.estimates": "Estimate Mark",
        "core.grader_declarations": "GraderDeclaration",
        "core.importer": "Importer",
        "core.items": "ProbeItem Prompt",
        "core.marks": "MarkScale",
        "core.metric_kind": "MetricKind",
        "core.propensities": "Continuations Propensities",
        "core.protocols": "BatchGrader Grader Grading ItemGrader Model ModelQuery",
        "core.tool_calls": "ToolCall",
        "core.tools": "Tool",
        "core.version": "__version__",
        "counterfactual.attributes": "attribute_rows attribute_words",
        "counterfactual.confounds": "Confound find_confounds",
        "counterfactual.slots": "counterfactuals names",
        "counterfactual.lint": "lint",
        "graders.actions": "CalledTool ToolArgument ToolCallCount",
        "graders.anchors": "Anchors read_anchors",
        "graders.character_gender.grader": "CharacterGender",
        "graders.choice": "Choice",
        "graders.conversation": "Conversation PlayedUser",
        "graders.embeddings": "Embedder SimilarityScale",
        "graders.extraction.normalization": "answer_text",
        "graders.judge.fallback": "JudgeFallback",
        "graders.judge.judge": "Judge JudgeGrader",
        "graders.judge.reply": "read_object",
        "graders.judge.rubric": "LabelField NumberField Rubric TextField",
        "graders.propensities": "Likelihood",
        "graders.rating": "Rating",
        "graders.refusal": "Refusal nothing_read refuses",
        "graders.word_list": "WordList",
        "graders.yes_no": "Regex YesNo",
        "imports.recorded_answers": "RecordedAnswer TableImporter",
        "imports.recorded_table": "RecordedTable",
        "models.context": "ModelContext",
        "models.names": "ModelName",
        "plugin.session": "stored_results",
        "report.compare.sections": "CompareSection ComparedRuns SectionTable",
        "report.exports.exporter": "Exporter RunReference",
        "stats.measured": "Measured",
        "stats.metric_definition": "MetricDefinition",
    }.items()
    for name in names.split()
}
"""The module of each public name."""

__all__ = [
    "Anchors", "Answer", "AnswerOptions", "Attempt", "BatchGrader", "CalledTool", "CharacterGender", "Choice",
    "CompareSection", "ComparedRuns", "Confound", "Continuations", "Conversation", "DataFolders",
    "DeclarativeGrader", "Embedder", "Estimate", "EstimateFamily", "Exporter", "FairnessError", "FatalError",
    "Formats", "Grade", "GradedAttempt", "Grader", "GraderDeclaration", "Grading", "Importer", "ItemGrader",
    "Judge", "JudgeFallback", "JudgeGrader", "LabelField", "Likelihood", "Mark", "MarkScale", "Measured",
    "MetricDefinition", "MetricKind", "Model", "ModelContext", "ModelName", "ModelQuery", "NumberField",
    "PermanentError", "PlayedUser", "ProbeItem", "Prompt", "Propensities", "Rating", "RecordedAnswer",
    "RecordedTable", "Refusal", "Regex", "Rubric", "RunReference", "SectionTable", "SimilarityScale",
    "TableImporter", "TextField", "Tool", "ToolArgument", "ToolCall", "ToolCallCount", "TransientError",
    "UngradedError", "Verdict", "WordList", "YesNo", "answer_text", "attribute_rows", "attribute_words",
    "counterfactuals", "did_you_mean", "find_confounds", "lint", "names", "nothing_read",
    "read_anchors", "read_object", "refuses", "stored_results",
]  # fmt: skip


_OF_SEARCH = ("any_name", "counterfactual_pairs", "profiles")
"""Names of `pytest_fairness.search`, which were public here."""


def __getattr__(name: str) -> Any:
    __tracebackhide__ = True
    if name not in _MODULES:
        raise _no_such_name(name)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def _no_such_name(name: str) -> Exception:
    """Return the error for a name that is not public, with those that may be meant.

    Of ``from pytest_fairness import NAME``, Python replaces an AttributeError by one without a hint.
    """
    import sys
    from difflib import get_close_matches
    from opcode import opmap

    caller = sys._getframe(2)
    is_import = caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]
    by_lower = {known.lower(): known for known in (*__all__, *_OF_SEARCH)}
    near = [by_lower[key] for key in get_close_matches(name.lower(), by_lower, n=2, cutoff=0.7)]
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    if near and near[0] in _OF_SEARCH:
        hint = f": did you mean {near[0]} of {__name__}.search?"
    if is_import:
        return ImportError(f"cannot import name {name!r} from {__name__!r}{hint}", name=__name__)
    return AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
