"""The emotion benchmark: a student's figures, with their intervals, on features that are generated from parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_fairness import Estimate, FairnessError, Measured
from pytest_fairness.design.environment import EmotionParameters
from pytest_fairness.design.objectives import Floats
from pytest_fairness.design.records import BenchmarkFigure, Figures
from pytest_fairness.design.search_space import Point
from pytest_fairness.design.students import Student, StudentOutcomes, evaluate
from pytest_fairness.extending import Columns, Functional


@dataclass(frozen=True)
class EmotionBenchmark:
    """A student's figures on generated emotions: ``samples`` of each neurotype for each seed.

    >>> from pytest_fairness.design.closed_form import LinearReader
    >>> from pytest_fairness.design.search_space import EMOTION
    >>> found = EmotionBenchmark(LinearReader(), samples=400)(EMOTION.start, [1])
    >>> 1.0 < found["accuracy_ratio"].low < found["accuracy_ratio"].high < 1.4
    True

    Raises `FairnessError` as the environment and the student do.
    """

    student: Student
    samples: int = 1000
    seq_len: int = 5
    dim: int = 48
    target: float = 1.0

    def __call__(self, parameters: Point, seeds: Sequence[int]) -> Figures:
        chosen = EmotionParameters(**parameters)  # type: ignore[arg-type]  # the space has checked the values
        outcomes = [
            evaluate(self.student, chosen, n=self.samples, seed=seed, seq_len=self.seq_len, dim=self.dim)
            for seed in seeds
        ]
        return figures(outcomes, self.target)


OF, TO = "alexithymic", "neurotypical"
"""A ratio is of alexithymic to neurotypical speakers: under 1 the student is worse for alexithymic ones."""
BINS = 10
_T = 0.975


def figures(seeds: Sequence[Mapping[str, StudentOutcomes]], target: float = 1.0) -> dict[str, BenchmarkFigure]:
    """Return the figures of one or several evaluations, one mapping from group to outcomes for each seed.

    ======================  ==========================================================================
    accuracy_ratio          accuracy for alexithymic over that for neurotypical speakers
    confidence_ratio        the same of the mean confidence
    verification_ratio      the same of the share of verified readings; only where the student verified
    gap                     abs(accuracy_ratio - target)
    combined_gap            (abs(difference of accuracies) + abs(difference of mean confidences)) / 2,
                            as the method writes it
    combined_gap_of_ratios  mean of the accuracy ratio's and the confidence ratio's distances from the target
    accuracy                mean of both groups' accuracies; ``accuracy_<group>`` each of them
    calibration_error       expected calibration error in ten bins of confidence, mean of both groups;
                            ``calibration_error_<group>`` each of them. It is biased upwards, the more the fewer samples
    ======================  ==========================================================================

    Intervals (95%) over samples take all samples of all seeds; sample i of both groups is one pair. Intervals over
    seeds are Student's t on one value for each seed, from three seeds on. A size (a gap) of 0 lies at the end of its
    range, so its interval is one of what a size can be: it never goes below 0. Sums of sizes (the combined gaps and
    the calibration errors) bend where one of them is near 0: their intervals are approximate there.

    Raises `FairnessError` for outcomes of no seed, or of other groups.
    """
    if not seeds or any({OF, TO} != set(outcomes) for outcomes in seeds):
        groups = sorted({group for outcomes in seeds for group in outcomes})
        raise FairnessError(f"there are outcomes of the groups {groups}: these figures need {OF} and {TO}")
    pooled = _Sample(seeds).figures(target)
    if len(seeds) < 3:
        return pooled
    by_seed = [_Sample([outcomes]).values(target) for outcomes in seeds]
    return {
        name: _with_seeds(figure, [seed_values[name] for seed_values in by_seed]) for name, figure in pooled.items()
    }


def values(seeds: Sequence[Mapping[str, StudentOutcomes]], target: float = 1.0) -> dict[str, float]:
    """Return the values of `figures` without intervals, which take most of the time."""
    return _Sample(seeds).values(target)


class _Sample:
    """All samples of some seeds: sums over each group, from which every figure is a function."""

    def __init__(self, seeds: Sequence[Mapping[str, StudentOutcomes]]) -> None:
        self._arrays = {
            group: {
                "correct": np.concatenate([outcomes[group].correct for outcomes in seeds]),
                "confidence": np.concatenate([outcomes[group].confidence for outcomes in seeds]),
            }
            for group in (OF, TO)
        }
        self._grades = ["correct", "confidence"]
        if all(outcomes[group].verified is not None for outcomes in seeds for group in (OF, TO)):
            self._grades.append("verified")
            for group in (OF, TO):
                verified = [np.asarray(outcomes[group].verified) for outcomes in seeds]
                self._arrays[group]["verified"] = np.concatenate(verified)
        self._pairs = [
            f"{number}/{index}"
            for group in (OF, TO)
            for number, outcomes in enumerate(seeds)
            for index in range(len(outcomes[group].correct))
        ]

    def values(self, target: float) -> dict[str, float]:
        """Return the figures without intervals."""
        mean = {(group, name): _mean(self._arrays[group][name]) for group in (OF, TO) for name in self._grades}
        error = {group: _calibration(*(self._arrays[group][name] for name in self._grades[:2])) for group in (OF, TO)}
        ratio = {name: mean[OF, name] / mean[TO, name] if mean[TO, name] else math.nan for name in self._grades}
        metrics = {
            "accuracy_ratio": ratio["correct"],
            "confidence_ratio": ratio["confidence"],
            "gap": abs(ratio["correct"] - target),
            "combined_gap": sum(abs(mean[OF, name] - mean[TO, name]) for name in self._grades[:2]) / 2,
            "combined_gap_of_ratios": sum(abs(ratio[name] - target) for name in self._grades[:2]) / 2,
            "accuracy": (mean[OF, "correct"] + mean[TO, "correct"]) / 2,
            "calibration_error": (error[OF] + error[TO]) / 2,
        }
        for group in (OF, TO):
            metrics[f"accuracy_{group}"], metrics[f"calibration_error_{group}"] = mean[group, "correct"], error[group]
        return metrics | ({"verification_ratio": ratio["verified"]} if "verified" in ratio else {})

    def figures(self, target: float) -> dict[str, BenchmarkFigure]:
        """Return the figures with their intervals over samples."""
        values, measured = self.values(target), self._measured()
        ends: dict[str, tuple[float, float]] = {}
        for name, grade in (
            ("accuracy_ratio", "correct"),
            ("confidence_ratio", "confidence"),
            ("verification_ratio", "verified"),
        ):
            if name in values:
                ends[name] = _ends(measured.ratio(grade, by="group", of=OF, to=TO))
        ends["gap"] = _folded(ends["accuracy_ratio"], target)
        for group in (OF, TO):
            ends[f"accuracy_{group}"] = _ends(measured.where(group=group).rate("correct"))
        for name, (function, sums, span) in self._functions(target).items():
            # Sums of absolute values are not smooth at 0. They decide no gate: an approximate interval is enough.
            functional = Functional(function, sums, smooth=True)
            ends[name] = _ends(measured.metric(functional, span=span, **{outcome: outcome for outcome in sums}))
        return {name: BenchmarkFigure(value, *ends.get(name, (math.nan, math.nan))) for name, value in values.items()}

    def _functions(self, target: float) -> dict[str, tuple[Any, list[str], tuple[float, float]]]:
        """Return the figures that are functions of sums over both groups: function, names of the sums, and span."""
        all_sums = [f"{name}_{group}" for name in ("correct", "confidence", "n") for group in (OF, TO)]
        correct, confident, count = (
            [f"{name}_{group}" for group in (OF, TO)] for name in ("correct", "confidence", "n")
        )

        def means(s: Any, names: list[str]) -> list[Any]:
            return [getattr(s, name) / getattr(s, n) for name, n in zip(names, count, strict=True)]

        def differences(s: Any) -> Any:
            return sum(abs(first - second) for first, second in (means(s, correct), means(s, confident))) / 2

        def ratios(s: Any) -> Any:
            return sum(abs(first / second - target) for first, second in (means(s, correct), means(s, confident))) / 2

        def accuracy(s: Any) -> Any:
            return sum(means(s, correct)) / 2

        metrics: dict[str, tuple[Any, list[str], tuple[float, float]]] = {
            "combined_gap": (differences, all_sums, (0, 1)),
            "combined_gap_of_ratios": (ratios, all_sums, (0, math.inf)),
            "accuracy": (accuracy, [*correct, *count], (0, 1)),
        }
        bins = {group: [f"bin{index}_{group}" for index in range(BINS)] for group in (OF, TO)}
        for name, groups in [
            ("calibration_error", (OF, TO)),
            *((f"calibration_error_{group}", (group,)) for group in (OF, TO)),
        ]:

            def calibration(s: Any, groups: Sequence[str] = groups) -> Any:
                errors = [
                    sum(abs(getattr(s, name)) for name in bins[group]) / getattr(s, f"n_{group}") for group in groups
                ]
                return sum(errors) / len(errors)

            sums = [name for group in groups for name in (*bins[group], f"n_{group}")]
            metrics[name] = (calibration, sums, (0, 1))
        return metrics

    def _measured(self) -> Measured:
        """Return both groups' samples with a column for each sum, which is zero for samples of the other group."""
        sizes = [len(self._arrays[group]["correct"]) for group in (OF, TO)]
        columns = {name: np.concatenate([self._arrays[group][name] for group in (OF, TO)]) for name in self._grades}
        unread = np.isnan(columns["correct"]) | np.isnan(columns["confidence"])
        bins = _bins(columns["confidence"])
        for number, group in enumerate((OF, TO)):
            is_group = np.repeat([float(number == 0), float(number == 1)], sizes)
            for name in ("correct", "confidence"):
                columns[f"{name}_{group}"] = np.where(is_group == 1, columns[name], 0.0)
            columns[f"n_{group}"] = np.where(unread & (is_group == 1), np.nan, is_group)
            error = (columns["confidence"] - columns["correct"]) * is_group
            for index in range(BINS):
                columns[f"bin{index}_{group}"] = np.where(
                    unread & (is_group == 1), np.nan, np.where(bins == index, error, 0.0)
                )
        for group in (OF, TO):
            for name in ("correct", "confidence"):
                columns[f"{name}_{group}"][unread & (columns[f"n_{group}"] != 0)] = np.nan
        groups = [group for group, size in zip((OF, TO), sizes, strict=True) for _ in range(size)]
        return Measured.from_columns(Columns.from_arrays(self._pairs, columns, {"group": groups}))


def _mean(values: Floats) -> float:
    graded = values[~np.isnan(values)]
    return float(graded.mean()) if len(graded) else math.nan


def _bins(confidence: Floats) -> Any:
    return np.minimum(np.nan_to_num(confidence) * BINS, BINS - 1).astype(int)


def _calibration(correct: Floats, confidence: Floats) -> float:
    graded = ~(np.isnan(correct) | np.isnan(confidence))
    if not graded.any():
        return math.nan
    errors = np.bincount(_bins(confidence[graded]), weights=(confidence - correct)[graded], minlength=BINS)
    return float(np.abs(errors).sum() / graded.sum())


def _ends(estimate: Estimate) -> tuple[float, float]:
    return (math.nan, math.nan) if estimate.invalid else (estimate.low, estimate.high)


def _folded(ends: tuple[float, float], target: float) -> tuple[float, float]:
    """Return the interval of an absolute distance from the target, given that of the signed figure."""
    low, high = ends[0] - target, ends[1] - target
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _with_seeds(figure: BenchmarkFigure, values: Sequence[float]) -> BenchmarkFigure:
    from scipy.stats import t  # type: ignore[import-untyped]

    numbers = np.array(values, dtype=float)
    half = float(t.ppf(_T, len(numbers) - 1) * numbers.std(ddof=1) / math.sqrt(len(numbers)))
    return BenchmarkFigure(
        figure.value, figure.low, figure.high, float(numbers.mean()) - half, float(numbers.mean()) + half
    )
