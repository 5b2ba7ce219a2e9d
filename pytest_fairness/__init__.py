"""Gate the release of a language model on fairness, in pytest.

The names are loaded when first used: importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.version import __version__ as __version__

if TYPE_CHECKING:
    from pytest_fairness.core.answer_formats import Formats
    from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
    from pytest_fairness.core.choices import AnswerOptions
    from pytest_fairness.core.data_folders import DataFolders
    from pytest_fairness.core.decisions import Verdict
    from pytest_fairness.core.declarations import DeclarativeGrader, GraderDeclaration
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
    from pytest_fairness.core.importer import Importer
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.marks import MarkScale
    from pytest_fairness.core.metric_kind import MetricKind
    from pytest_fairness.core.propensities import Continuations, Propensities
    from pytest_fairness.core.protocols import BatchGrader, Grader, Grading, ItemGrader, Model, ModelQuery
    from pytest_fairness.core.tools import Tool, ToolCall
    from pytest_fairness.counterfactual.attributes import attribute_rows, attribute_words
    from pytest_fairness.counterfactual.confounds import Confound, find_confounds
    from pytest_fairness.counterfactual.expansion import counterfactuals
    from pytest_fairness.counterfactual.lint import lint
    from pytest_fairness.counterfactual.slots import names
    from pytest_fairness.flip_search.strategies import any_name, counterfactual_pairs, profiles
    from pytest_fairness.graders.actions import CalledTool, ToolArgument, ToolCallCount
    from pytest_fairness.graders.anchors import Anchors, read_anchors
    from pytest_fairness.graders.character_gender.grader import CharacterGender
    from pytest_fairness.graders.choice import Choice
    from pytest_fairness.graders.conversation import Conversation, PlayedUser
    from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
    from pytest_fairness.graders.extraction.normalization import answer_text
    from pytest_fairness.graders.judge.json_object import read_object
    from pytest_fairness.graders.judge.judge import Judge, JudgeGrader
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

_HOMES = {
    "Anchors": "graders.anchors",
    "Answer": "core.attempts",
    "AnswerOptions": "core.choices",
    "Attempt": "core.attempts",
    "BatchGrader": "core.protocols",
    "CalledTool": "graders.actions",
    "CharacterGender": "graders.character_gender.grader",
    "Choice": "graders.choice",
    "CompareSection": "report.compare.sections",
    "ComparedRuns": "report.compare.sections",
    "Conversation": "graders.conversation",
    "Confound": "counterfactual.confounds",
    "Continuations": "core.propensities",
    "DataFolders": "core.data_folders",
    "DeclarativeGrader": "core.declarations",
    "Embedder": "graders.embeddings",
    "Estimate": "core.estimates",
    "EstimateFamily": "core.estimate_families",
    "Exporter": "report.exports.exporter",
    "FairnessError": "core.errors",
    "FatalError": "core.errors",
    "Formats": "core.answer_formats",
    "Grade": "core.attempts",
    "GradedAttempt": "core.attempts",
    "Grader": "core.protocols",
    "GraderDeclaration": "core.declarations",
    "Grading": "core.protocols",
    "Importer": "core.importer",
    "ItemGrader": "core.protocols",
    "Judge": "graders.judge.judge",
    "JudgeGrader": "graders.judge.judge",
    "LabelField": "graders.judge.rubric",
    "Likelihood": "graders.propensities",
    "Mark": "core.estimates",
    "MarkScale": "core.marks",
    "MetricKind": "core.metric_kind",
    "Measured": "stats.measured",
    "MetricDefinition": "stats.metric_definition",
    "Model": "core.protocols",
    "ModelContext": "models.context",
    "ModelName": "models.names",
    "ModelQuery": "core.protocols",
    "NumberField": "graders.judge.rubric",
    "PermanentError": "core.errors",
    "ProbeItem": "core.items",
    "PlayedUser": "graders.conversation",
    "Prompt": "core.items",
    "Propensities": "core.propensities",
    "Rating": "graders.rating",
    "RecordedAnswer": "imports.recorded_answers",
    "RecordedTable": "imports.recorded_table",
    "Refusal": "graders.refusal",
    "Regex": "graders.yes_no",
    "Rubric": "graders.judge.rubric",
    "RunReference": "report.exports.exporter",
    "SectionTable": "report.compare.sections",
    "SimilarityScale": "graders.embeddings",
    "TableImporter": "imports.recorded_answers",
    "TextField": "graders.judge.rubric",
    "Tool": "core.tools",
    "ToolArgument": "graders.actions",
    "ToolCall": "core.tools",
    "ToolCallCount": "graders.actions",
    "TransientError": "core.errors",
    "UngradedError": "core.errors",
    "Verdict": "core.decisions",
    "WordList": "graders.word_list",
    "YesNo": "graders.yes_no",
    "answer_text": "graders.extraction.normalization",
    "any_name": "flip_search.strategies",
    "attribute_rows": "counterfactual.attributes",
    "attribute_words": "counterfactual.attributes",
    "counterfactual_pairs": "flip_search.strategies",
    "counterfactuals": "counterfactual.expansion",
    "did_you_mean": "core.errors",
    "find_confounds": "counterfactual.confounds",
    "lint": "counterfactual.lint",
    "names": "counterfactual.slots",
    "nothing_read": "graders.refusal",
    "profiles": "flip_search.strategies",
    "read_anchors": "graders.anchors",
    "read_object": "graders.judge.json_object",
    "refuses": "graders.refusal",
    "stored_results": "plugin.session",
}

__all__ = [
    "Anchors",
    "Answer",
    "AnswerOptions",
    "Attempt",
    "BatchGrader",
    "CalledTool",
    "CharacterGender",
    "Choice",
    "CompareSection",
    "ComparedRuns",
    "Confound",
    "Conversation",
    "Continuations",
    "DataFolders",
    "DeclarativeGrader",
    "Embedder",
    "Estimate",
    "EstimateFamily",
    "Exporter",
    "FairnessError",
    "FatalError",
    "Grade",
    "Formats",
    "GradedAttempt",
    "Grader",
    "GraderDeclaration",
    "Grading",
    "Importer",
    "ItemGrader",
    "Judge",
    "JudgeGrader",
    "LabelField",
    "Likelihood",
    "Mark",
    "MarkScale",
    "MetricKind",
    "Measured",
    "MetricDefinition",
    "Model",
    "ModelContext",
    "ModelName",
    "ModelQuery",
    "NumberField",
    "PermanentError",
    "ProbeItem",
    "PlayedUser",
    "Prompt",
    "Propensities",
    "Rating",
    "RecordedAnswer",
    "RecordedTable",
    "Refusal",
    "Regex",
    "Rubric",
    "RunReference",
    "SectionTable",
    "SimilarityScale",
    "TableImporter",
    "TextField",
    "Tool",
    "ToolArgument",
    "ToolCall",
    "ToolCallCount",
    "TransientError",
    "UngradedError",
    "Verdict",
    "WordList",
    "YesNo",
    "answer_text",
    "any_name",
    "attribute_rows",
    "attribute_words",
    "counterfactual_pairs",
    "counterfactuals",
    "did_you_mean",
    "find_confounds",
    "lint",
    "names",
    "nothing_read",
    "profiles",
    "read_anchors",
    "read_object",
    "refuses",
    "stored_results",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
