"""Gate the release of a language model on fairness, in pytest.

The names are loaded when first used: importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
    from pytest_fairness.core.counterfactual import lint
    from pytest_fairness.core.errors import FairnessError
    from pytest_fairness.core.estimates import Estimate, Family
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.marks import Mark, Scale
    from pytest_fairness.core.options import Options
    from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader, Model, Question
    from pytest_fairness.core.verdicts import Verdict
    from pytest_fairness.graders.anchors import Anchors, read_anchors
    from pytest_fairness.graders.characters import CharacterGender
    from pytest_fairness.graders.choice import Choice
    from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
    from pytest_fairness.graders.judge import Judge
    from pytest_fairness.graders.rating import Rating
    from pytest_fairness.graders.refusal import Refusal
    from pytest_fairness.graders.rubric import Label, Number, Rubric, Text
    from pytest_fairness.graders.text import Regex, YesNo
    from pytest_fairness.graders.words import WordList
    from pytest_fairness.search.strategies import any_name, counterfactual_pairs, profiles
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.variants.values import names
    from pytest_fairness.variants.varying import counterfactuals

__version__ = "0.1.0"

_HOMES = {
    "Anchors": "graders.anchors",
    "Answer": "core.attempts",
    "Attempt": "core.attempts",
    "BatchGrader": "core.protocols",
    "CharacterGender": "graders.characters",
    "Choice": "graders.choice",
    "Embedder": "graders.embeddings",
    "Estimate": "core.estimates",
    "FairnessError": "core.errors",
    "Family": "core.estimates",
    "Grade": "core.attempts",
    "GradedAttempt": "core.attempts",
    "Grader": "core.protocols",
    "ItemGrader": "core.protocols",
    "Judge": "graders.judge",
    "Label": "graders.rubric",
    "Mark": "core.marks",
    "Measured": "stats.measured",
    "Model": "core.protocols",
    "Number": "graders.rubric",
    "Options": "core.options",
    "ProbeItem": "core.items",
    "Prompt": "core.items",
    "Question": "core.protocols",
    "Rating": "graders.rating",
    "Refusal": "graders.refusal",
    "Regex": "graders.text",
    "Rubric": "graders.rubric",
    "Scale": "core.marks",
    "SimilarityScale": "graders.embeddings",
    "Text": "graders.rubric",
    "Verdict": "core.verdicts",
    "WordList": "graders.words",
    "YesNo": "graders.text",
    "any_name": "search.strategies",
    "counterfactual_pairs": "search.strategies",
    "counterfactuals": "variants.varying",
    "lint": "core.counterfactual",
    "names": "variants.values",
    "profiles": "search.strategies",
    "read_anchors": "graders.anchors",
}

__all__ = [
    "Anchors",
    "Answer",
    "Attempt",
    "BatchGrader",
    "CharacterGender",
    "Choice",
    "Embedder",
    "Estimate",
    "FairnessError",
    "Family",
    "Grade",
    "GradedAttempt",
    "Grader",
    "ItemGrader",
    "Judge",
    "Label",
    "Mark",
    "Measured",
    "Model",
    "Number",
    "Options",
    "ProbeItem",
    "Prompt",
    "Question",
    "Rating",
    "Refusal",
    "Regex",
    "Rubric",
    "Scale",
    "SimilarityScale",
    "Text",
    "Verdict",
    "WordList",
    "YesNo",
    "any_name",
    "counterfactual_pairs",
    "counterfactuals",
    "lint",
    "names",
    "profiles",
    "read_anchors",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
