"""Benchmarks that design themselves: designers, environments, students.

The names are loaded when first used; only what generates features or trains a student needs torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.design.closed_form import LinearReader
    from pytest_fairness.design.descriptions import reading_of
    from pytest_fairness.design.designers.baselines import BestOfLearned, BestOfTarget, RandomReplay
    from pytest_fairness.design.designers.language import LanguageDesigner
    from pytest_fairness.design.designers.optimizer import Optimizer
    from pytest_fairness.design.designers.protocol import Designer, Proposal, Task
    from pytest_fairness.design.emotion import EmotionBenchmark
    from pytest_fairness.design.frozen import Frozen
    from pytest_fairness.design.loop import Design, design, explained
    from pytest_fairness.design.objectives import Front, Target, Worst
    from pytest_fairness.design.probes import ProbeBenchmark
    from pytest_fairness.design.recorded_features import load_recording
    from pytest_fairness.design.records import BenchmarkFigure, Iteration
    from pytest_fairness.design.search_space import EMOTION, NumericParameter, OneOf, Space, Switch, Whole
    from pytest_fairness.design.students import CallableStudent, EmotionReading, Student
    from pytest_fairness.design.training import train

_HOMES = {
    "BestOfLearned": "designers.baselines",
    "BestOfTarget": "designers.baselines",
    "CallableStudent": "students",
    "Design": "loop",
    "Designer": "designers.protocol",
    "EMOTION": "search_space",
    "EmotionBenchmark": "emotion",
    "BenchmarkFigure": "records",
    "Front": "objectives",
    "Frozen": "frozen",
    "Iteration": "records",
    "LanguageDesigner": "designers.language",
    "LinearReader": "closed_form",
    "NumericParameter": "search_space",
    "OneOf": "search_space",
    "Optimizer": "designers.optimizer",
    "ProbeBenchmark": "probes",
    "Proposal": "designers.protocol",
    "RandomReplay": "designers.baselines",
    "EmotionReading": "students",
    "Space": "search_space",
    "Student": "students",
    "Switch": "search_space",
    "Target": "objectives",
    "Task": "designers.protocol",
    "Whole": "search_space",
    "Worst": "objectives",
    "design": "loop",
    "explained": "loop",
    "load_recording": "recorded_features",
    "reading_of": "descriptions",
    "train": "training",
}

__all__ = [
    "BestOfLearned",
    "BestOfTarget",
    "CallableStudent",
    "Design",
    "Designer",
    "EMOTION",
    "EmotionBenchmark",
    "BenchmarkFigure",
    "Front",
    "Frozen",
    "Iteration",
    "LanguageDesigner",
    "LinearReader",
    "NumericParameter",
    "OneOf",
    "Optimizer",
    "ProbeBenchmark",
    "Proposal",
    "RandomReplay",
    "EmotionReading",
    "Space",
    "Student",
    "Switch",
    "Target",
    "Task",
    "Whole",
    "Worst",
    "design",
    "explained",
    "load_recording",
    "reading_of",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
