"""Benchmarks that design themselves: designers, environments, students.

The names are loaded when first used; only what generates features or trains a student needs torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.design.closed_form import LinearReader
    from pytest_fairness.design.descriptions import choice_in, reading_of
    from pytest_fairness.design.designer_comparison import compare_designers
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
    from pytest_fairness.design.voice_recordings import read_recordings

_MODULES = {
    name: module
    for module, names in {
        "closed_form": "LinearReader",
        "descriptions": "choice_in reading_of",
        "designer_comparison": "compare_designers",
        "designers.baselines": "BestOfLearned BestOfTarget RandomReplay",
        "designers.language": "LanguageDesigner",
        "designers.optimizer": "Optimizer",
        "designers.protocol": "Designer Proposal Task",
        "emotion": "EmotionBenchmark",
        "frozen": "Frozen",
        "loop": "Design design explained",
        "objectives": "Front Target Worst",
        "probes": "ProbeBenchmark",
        "recorded_features": "load_recording",
        "records": "BenchmarkFigure Iteration",
        "search_space": "EMOTION NumericParameter OneOf Space Switch Whole",
        "students": "CallableStudent EmotionReading Student",
        "training": "train",
        "voice_recordings": "read_recordings",
    }.items()
    for name in names.split()
}
"""The module of each public name."""

__all__ = [
    "BenchmarkFigure", "BestOfLearned", "BestOfTarget", "CallableStudent", "Design", "Designer", "EMOTION",
    "EmotionBenchmark", "EmotionReading", "Front", "Frozen", "Iteration", "LanguageDesigner", "LinearReader",
    "NumericParameter", "OneOf", "Optimizer", "ProbeBenchmark", "Proposal", "RandomReplay", "Space", "Student",
    "Switch", "Target", "Task", "Whole", "Worst", "choice_in", "compare_designers",
    "design", "explained", "load_recording",
    "read_recordings", "reading_of", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
