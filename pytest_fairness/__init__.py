"""Gates on the fairness of language models, in pytest.

Here stand the names of the main job: probes, prompts, the usual graders, thresholds. The others stand in four modules:

- `pytest_fairness.graders`: all graders, and what a grader of one's own reads answers with.
- `pytest_fairness.counterfactual`: texts that differ in a group alone, and checks of them.
- `pytest_fairness.tables`: tables of recorded answers.
- `pytest_fairness.extending`: protocols and base classes for packages that add models, graders, metrics and so on.

A name of the first two that the main job needs stands here too; every other name has one place. All are imported when
first used, so that importing the package is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fairness.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from pytest_fairness.core.answer_formats import Formats
    from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt
    from pytest_fairness.core.choices import AnswerOptions
    from pytest_fairness.core.data_folders import DataFolders
    from pytest_fairness.core.decisions import Verdict
    from pytest_fairness.core.errors import FairnessError
    from pytest_fairness.core.estimates import Estimate
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.marks import MarkScale
    from pytest_fairness.core.protocols import Model, ModelQuery
    from pytest_fairness.core.tool_calls import ToolCall
    from pytest_fairness.core.tools import Tool
    from pytest_fairness.core.version import __version__ as __version__
    from pytest_fairness.counterfactual.slots import counterfactuals, names
    from pytest_fairness.graders.choice import Choice
    from pytest_fairness.graders.judge.judge import Judge
    from pytest_fairness.graders.judge.rubric import LabelField, NumberField, Rubric, TextField
    from pytest_fairness.graders.rating import Rating
    from pytest_fairness.graders.refusal import Refusal
    from pytest_fairness.graders.yes_no import YesNo
    from pytest_fairness.plugin.session import stored_results
    from pytest_fairness.stats.measured import Measured
else:
    __getattr__, __dir__ = lazy_names(__name__, {
        "core.answer_formats": "Formats",
        "core.attempts": "Answer Grade GradedAttempt",
        "core.choices": "AnswerOptions",
        "core.data_folders": "DataFolders",
        "core.decisions": "Verdict",
        "core.errors": "FairnessError",
        "core.estimates": "Estimate",
        "core.items": "ProbeItem Prompt",
        "core.marks": "MarkScale",
        "core.protocols": "Model ModelQuery",
        "core.tool_calls": "ToolCall",
        "core.tools": "Tool",
        "core.version": "__version__",
        "counterfactual.slots": "counterfactuals names",
        "graders.choice": "Choice",
        "graders.judge.judge": "Judge",
        "graders.judge.rubric": "LabelField NumberField Rubric TextField",
        "graders.rating": "Rating",
        "graders.refusal": "Refusal",
        "graders.yes_no": "YesNo",
        "plugin.session": "stored_results",
        "stats.measured": "Measured",
    })  # fmt: skip

__all__ = [
    "Answer", "AnswerOptions", "Choice", "DataFolders", "Estimate", "FairnessError", "Formats", "Grade",
    "GradedAttempt", "Judge", "LabelField", "MarkScale", "Measured", "Model", "ModelQuery", "NumberField",
    "ProbeItem", "Prompt", "Rating", "Refusal", "Rubric", "TextField", "Tool", "ToolCall", "Verdict", "YesNo",
    "counterfactuals", "names", "stored_results",
]  # fmt: skip
