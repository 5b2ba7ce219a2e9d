"""Benchmarks that design themselves: parameters chosen so that a benchmark shows what it should show.

The names are loaded when first used; only what generates features or trains a student needs torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.design.closed_form import LinearReader
    from pytest_fairness.design.designers.baselines import BestOfLearned, BestOfTarget, RandomReplay
    from pytest_fairness.design.designers.language import LanguageDesigner
    from pytest_fairness.design.designers.optimiser import Optimiser
    from pytest_fairness.design.designers.protocol import Designer, Proposal, Task
    from pytest_fairness.design.emotion import EmotionBenchmark
    from pytest_fairness.design.frozen import Frozen
    from pytest_fairness.design.loop import Design, design, explained
    from pytest_fairness.design.objectives import Front, Target, Worst
    from pytest_fairness.design.probes import ProbeBenchmark
    from pytest_fairness.design.recorded import load_recording
    from pytest_fairness.design.records import Figure, Iteration
    from pytest_fairness.design.spaces import EMOTION, Number, OneOf, Space, Switch, Whole
    from pytest_fairness.design.students import CallableStudent, Reading, Student
    from pytest_fairness.design.training import train

_HOMES = {
    "BestOfLearned": "designers.baselines",
    "BestOfTarget": "designers.baselines",
    "CallableStudent": "students",
    "Design": "loop",
    "Designer": "designers.protocol",
    "EMOTION": "spaces",
    "EmotionBenchmark": "emotion",
    "Figure": "records",
    "Front": "objectives",
    "Frozen": "frozen",
    "Iteration": "records",
    "LanguageDesigner": "designers.language",
    "LinearReader": "closed_form",
    "Number": "spaces",
    "OneOf": "spaces",
    "Optimiser": "designers.optimiser",
    "ProbeBenchmark": "probes",
    "Proposal": "designers.protocol",
    "RandomReplay": "designers.baselines",
    "Reading": "students",
    "Space": "spaces",
    "Student": "students",
    "Switch": "spaces",
    "Target": "objectives",
    "Task": "designers.protocol",
    "Whole": "spaces",
    "Worst": "objectives",
    "design": "loop",
    "explained": "loop",
    "load_recording": "recorded",
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
    "Figure",
    "Front",
    "Frozen",
    "Iteration",
    "LanguageDesigner",
    "LinearReader",
    "Number",
    "OneOf",
    "Optimiser",
    "ProbeBenchmark",
    "Proposal",
    "RandomReplay",
    "Reading",
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
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
