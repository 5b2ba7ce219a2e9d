"""Graders of answers: yes or no, a choice, a rating, a refusal, a judge's grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fairness.lazy_names import lazy_names

if TYPE_CHECKING:
    from pytest_fairness.core.errors import ToolError
    from pytest_fairness.core.propensities import Continuations, Propensities
    from pytest_fairness.graders.actions import CalledTool, ToolArgument, ToolCallCount
    from pytest_fairness.graders.anchors import Anchors, read_anchors
    from pytest_fairness.graders.character_gender.grader import CharacterGender
    from pytest_fairness.graders.choice import Choice
    from pytest_fairness.graders.conversation import Conversation, PlayedUser
    from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
    from pytest_fairness.graders.extraction.normalization import answer_text
    from pytest_fairness.graders.judge.fallback import JudgeFallback
    from pytest_fairness.graders.judge.judge import Judge, JudgeGrader
    from pytest_fairness.graders.judge.pairs import PairJudge
    from pytest_fairness.graders.judge.reply import read_object
    from pytest_fairness.graders.judge.rubric import LabelField, NumberField, Rubric, TextField
    from pytest_fairness.graders.process import AnswerTime, DocumentExposure, PromiseKept
    from pytest_fairness.graders.propensities import Likelihood
    from pytest_fairness.graders.rankings import read_ranking
    from pytest_fairness.graders.rating import Rating
    from pytest_fairness.graders.refusal import Refusal, nothing_read, refuses
    from pytest_fairness.graders.word_list import WordCount, WordList, words_of
    from pytest_fairness.graders.yes_no import Regex, YesNo
else:
    __getattr__, __dir__ = lazy_names(__name__, {
        "core.errors": "ToolError",
        "core.propensities": "Continuations Propensities",
        "graders.actions": "CalledTool ToolArgument ToolCallCount",
        "graders.anchors": "Anchors read_anchors",
        "graders.character_gender.grader": "CharacterGender",
        "graders.choice": "Choice",
        "graders.conversation": "Conversation PlayedUser",
        "graders.embeddings": "Embedder SimilarityScale",
        "graders.extraction.normalization": "answer_text",
        "graders.judge.fallback": "JudgeFallback",
        "graders.judge.judge": "Judge JudgeGrader",
        "graders.judge.pairs": "PairJudge",
        "graders.judge.reply": "read_object",
        "graders.judge.rubric": "LabelField NumberField Rubric TextField",
        "graders.process": "AnswerTime DocumentExposure PromiseKept",
        "graders.propensities": "Likelihood",
        "graders.rankings": "read_ranking",
        "graders.rating": "Rating",
        "graders.refusal": "Refusal nothing_read refuses",
        "graders.word_list": "WordCount WordList words_of",
        "graders.yes_no": "Regex YesNo",
    })  # fmt: skip

__all__ = [
    "Anchors", "AnswerTime", "CalledTool", "CharacterGender", "Choice", "Continuations", "Conversation",
    "DocumentExposure", "Embedder", "Judge", "JudgeFallback", "JudgeGrader", "LabelField", "Likelihood", "NumberField",
    "PairJudge", "PlayedUser", "PromiseKept", "Propensities", "Rating", "Refusal", "Regex", "Rubric", "SimilarityScale",
    "TextField", "ToolArgument", "ToolCallCount", "ToolError", "WordCount", "WordList", "YesNo", "answer_text",
    "nothing_read", "read_anchors", "read_object", "read_ranking", "refuses", "words_of",
]  # fmt: skip
