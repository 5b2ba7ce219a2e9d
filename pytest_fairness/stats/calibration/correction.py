"""Groups whose rate or mean is corrected for a judge's error.

An outcome f of an attempt becomes ``offset + slope * f``. What the labels add to the error stands
beside what the attempts add, cluster by cluster, so whatever is computed from deviations (a
difference, a ratio, a family) carries both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_fairness.stats.calibration.estimators import CorrectedSums, JudgeAccuracy, LabelPairs
from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Codes, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffect, ItemEffects
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector

FEWEST_LABELS = 100
"""Labels of each group, from which it is corrected."""
FEWEST_OF_CLASS = 10
"""A group's labels that are true, and that are false, from which the judge's errors are known."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The correction of the outcomes of one group of labels."""

    pairs: LabelPairs
    offset: float
    slope: float
    added: Sequence[Floats]
    """Share of the labels in the deviations of the group's mean, per clustering."""
    bend: float = 0.0
    """Half of how fast the labels' part of the mean's variance grows with the mean."""
    score: Floats | None = None
    """Predictions that are averaged over all attempts; None for ``slope`` times the outcome."""

    def corrected(self, values: Floats) -> Floats:
        """Return outcomes of all attempts, as their mean is corrected."""
        return self.offset + (self.slope * values if self.score is None else self.score)

    @property
    def labels(self) -> list[Floats]:
        """The number of labels in each cluster, per clustering."""
        return [
            np.bincount(clustering.codes, minlength=clustering.size).astype(np.float64)
            for clustering in self.pairs.clusterings
        ]


def _corrected_span(span: tuple[float, float], corrections: Mapping[int, Correction]) -> tuple[float, float]:
    """Return the range that outcomes have once they are corrected: an unseen cluster may lie as far out as that."""
    ends = [correction.offset + correction.slope * end for correction in corrections.values() for end in span]
    return min(*span, *ends), max(*span, *ends)


def _label_sums(
    corrections: Mapping[int, Correction], weights: Sequence[float], clusterings: Sequence[Clustering]
) -> tuple[list[Floats], list[Floats]]:
    """Return what the labels of several groups add to the deviations of their mean, and how many they are by
    cluster.
    """
    added = [np.zeros(clustering.size) for clustering in clusterings]
    labels = [np.zeros(clustering.size) for clustering in clusterings]
    for correction, weight in zip(corrections.values(), weights, strict=True):
        for index, (own, count) in enumerate(zip(correction.added, correction.labels, strict=True)):
            added[index] += weight * own
            labels[index] += count
    return added, labels


class LabelCorrection(ABC):
    """The labels of one outcome.

    Args:
        cells: The group of labels of each attempt.
        names: The names of these groups.
        clusters: The number of clusters of the labels besides the run's.
        truth: The labels; nan where there is none.
    """

    def __init__(self, cells: Codes, names: Mapping[int, str], clusters: int, truth: Floats) -> None:
        self._cells, self._names, self._clusters = cells, names, clusters
        labeled = truth[~np.isnan(truth)]
        self._binary = bool(np.all((labeled == 0) | (labeled == 1)))
        # Two more a group: for errors that no label shows, and that there may be all the same.
        self._extra = clusters + 2 * (int(cells.max(initial=0)) + 1)

    def group(
        self,
        name: str,
        reading: OutcomeVector,
        rows: Rows,
        clusterings: Sequence[Clustering],
        centers: ItemEffects | None,
    ) -> GroupOutcomes:
        """Return the attempts in ``rows``, corrected. Imputations are of true values, not of the judge's grades."""
        rate = reading.binary and self._binary
        wide = [Clustering(clustering.codes, clustering.size + self._extra) for clustering in clusterings]
        empty = np.isnan(reading.values[rows])
        own = None if centers is None else centers.missing[rows]
        missing = ClusterSums(
            empty.astype(np.float64), [clustering[rows] for clustering in wide], (0.0, 1.0), None, own
        )
        graded = rows[~empty]
        corrections = self._corrections(graded, reading, wide, rate=rate)
        if isinstance(corrections, str):
            plain = ClusterSums(reading.values[graded], [clustering[graded] for clustering in wide], reading.span)
            return GroupOutcomes(name, plain, plain, plain, missing, JudgeAccuracy(0, reason=corrections))
        values, slopes = self._corrected(reading.values, corrections)
        center = None if centers is None else ItemEffect(centers.graded.values * slopes, centers.graded.share)
        span = None if reading.span is None else _corrected_span(reading.span, corrections)

        def part(filled: Floats, of: Rows) -> CorrectedSums:
            weights = [np.count_nonzero(self._cells[graded] == cell) / max(len(of), 1) for cell in corrections]
            effects = None if center is None else center[of]
            added = _label_sums(corrections, weights, wide)
            # Each moves by its share of the variance; to do so for every group of labels would change little.
            bend = sum(
                weight * correction.bend for weight, correction in zip(weights, corrections.values(), strict=True)
            ) / max(len(corrections), 1)
            clusterings_of = [clustering[of] for clustering in wide]
            return CorrectedSums(filled[of], clusterings_of, span, effects, *added, bend=bend, rate=rate)

        whole = part(values, graded)
        judged = self._judged(corrections, reading.span, rate=rate)
        if rate and corrections and not 0 < whole.value < 1:
            judged = replace(judged, open=f"the corrected rate of {name} is {whole.value:.3f}, not between 0 and 1")
        if not empty.any():
            return GroupOutcomes(name, whole, whole, whole, missing, judged)
        unknown = np.isnan(values)
        lowest, highest = (
            part(np.where(unknown, extreme, values), rows) for extreme in (reading.lowest, reading.highest)
        )
        return GroupOutcomes(name, whole, lowest, highest, missing, judged)

    def _corrections(
        self, graded: Rows, reading: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> dict[int, Correction] | str:
        """Return the correction of each group of labels, or the reason that one has none."""
        cells = self._cells[graded]
        corrections: dict[int, Correction] = {}
        for cell in np.unique(cells).tolist():
            correction = self._correction(cell, graded[cells == cell], reading, clusterings, rate=rate)
            if isinstance(correction, str):
                return correction
            corrections[cell] = correction
        return corrections

    def _corrected(self, outcomes: Floats, corrections: Mapping[int, Correction]) -> tuple[Floats, Floats]:
        """Return the corrected outcomes of all attempts, and the slope of each."""
        values, slopes = outcomes.copy(), np.ones(len(self._cells))
        for cell, correction in corrections.items():
            inside = self._cells == cell
            slopes[inside] = correction.slope
            values[inside] = correction.corrected(outcomes)[inside]
        return values, slopes

    @abstractmethod
    def _correction(
        self, cell: int, rows: Rows, reading: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        """Return the correction of the graded attempts of one group of labels, or the reason that there is none."""

    def _judged(
        self, corrections: Mapping[int, Correction], span: tuple[float, float] | None, *, rate: bool
    ) -> JudgeAccuracy:
        pairs = [correction.pairs for correction in corrections.values()]
        if not pairs:
            return JudgeAccuracy(0)
        whole = LabelPairs(
            np.concatenate([pair.judge for pair in pairs]),
            np.concatenate([pair.truth for pair in pairs]),
            [
                Clustering(np.concatenate([pair.clusterings[index].codes for pair in pairs]), one.size)
                for index, one in enumerate(pairs[0].clusterings)
            ],
            None
            if any(pair.weights is None for pair in pairs)
            else np.concatenate([pair.weights for pair in pairs if pair.weights is not None]),
        )
        return JudgeAccuracy(
            len(whole.judge),
            whole.worth,
            errors=whole.errors(FEWEST_OF_CLASS, span, rate=rate),
            of=frozenset(corrections if self._clusters else ()),
        )

    def _of_group(self, cell: int) -> str:
        return f" of {self._names[cell]}" if self._names.get(cell) else ""

    def _too_few(self, cell: int, labels: float) -> str:
        if labels >= FEWEST_LABELS:
            return ""
        number = f"{labels:.0f} labels{self._of_group(cell)}"
        return f"{number}: a correction for the judge's error needs at least {FEWEST_LABELS}"

    def _unseen_errors(self, cell: int, clusterings: Sequence[Clustering], below: float, above: float) -> list[Floats]:
        """Return deviations of two errors that no label shows, each in a cluster of its own."""
        unseen = []
        for clustering in clusterings:
            deviations = np.zeros(clustering.size)
            first = clustering.size - self._extra + self._clusters + 2 * cell
            deviations[first : first + 2] = below, above
            unseen.append(deviations)
        return unseen


class InSampleLabels(LabelCorrection):
    """Labels of the run's own answers, drawn by chance within each of their groups, with known probabilities.

    Prediction-powered inference (PPI++): the mean is that of ``slope * f`` over all attempts and of
    ``y - slope * f`` over the labeled ones, with the slope that makes its error least where
    attempts are independent, cov(y, f) / var(f). (With n labels and N attempts without, it is
    lambda (1 + n / N) of Angelopoulos, Duchi and Zrnic 2023, since ``f`` is averaged over both.)
    Where several judges have graded, their mean is a second predictor beside their joint grade, as in a regression
    estimator (Cassel, Sarndal and Wretman 1976, Biometrika 63, 615-620): where they differ, labels inform more.
    ``truth`` is y of every attempt, nan where there is no label; ``probabilities`` are those with which labels were
    drawn, None where they are equal. Labels are weighted by their inverse (Hajek 1971), and count as many as
    (sum w)^2 / sum w^2 (Kish 1965).
    """

    def __init__(
        self,
        cells: Codes,
        names: Mapping[int, str],
        truth: Floats,
        probabilities: Floats | None = None,
        panel: Floats | None = None,
    ) -> None:
        super().__init__(cells, names, 0, truth)
        self._truth, self._probabilities, self._panel = truth, probabilities, panel

    def _correction(
        self, cell: int, rows: Rows, reading: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        labeled = rows[~np.isnan(self._truth[rows])]
        judge, truth = reading.values[labeled], self._truth[labeled]
        weights = None if self._probabilities is None else _weights(self._probabilities[labeled])
        pairs = LabelPairs(judge, truth, [clustering[labeled] for clustering in clusterings], weights)
        if reason := self._too_few(cell, pairs.worth):
            return reason
        # Of an error that no label shows the least probable answer would have the largest weight.
        count = len(labeled) if weights is None else float(weights.sum() / weights.max())
        if rate and (reason := pairs.chance_reason(self._of_group(cell))):
            return reason
        spread = float(reading.values[rows].var(ddof=1))
        slope = float(np.cov(truth, judge, aweights=weights)[0, 1]) / spread if spread > 0 else 0.0
        score = slope * reading.values
        if self._panel is not None and len(clusterings) == 1 and not np.isnan(self._panel[rows]).any():
            slopes = _slopes(np.column_stack([judge, self._panel[labeled]]), truth, weights)
            slope = float(slopes.sum())
            score = slopes[0] * reading.values + slopes[1] * self._panel
        rest = pairs.part(truth - score[labeled], np.arange(len(labeled)), None)
        offset = rest.value
        below, above = 0.0, 0.0
        if rate:
            missed, alarmed = np.any(truth > judge), np.any(truth < judge)
            below = 0.0 if missed else (1 - offset) / count
            above = 0.0 if alarmed else (-slope - offset) / count
        elif reading.span is not None and not np.ptp(truth - judge):
            above = (reading.span[1] - reading.span[0]) / count
        unseen = self._unseen_errors(cell, clusterings, below, above)
        added = [own + more for own, more in zip(rest.deviations, unseen, strict=True)]
        return Correction(pairs, offset, slope, added, score=score)


def _slopes(predictors: Floats, truth: Floats, weights: Floats | None) -> Floats:
    """Return the slopes of a weighted least squares regression on predictors, shape (labels, predictors)."""
    roots = np.ones(len(truth)) if weights is None else np.sqrt(weights)
    design = np.column_stack([np.ones(len(truth)), predictors])
    fitted: Floats = np.linalg.lstsq(design * roots[:, np.newaxis], truth * roots, rcond=None)[0]
    return fitted[1:]


def _weights(probabilities: Floats) -> Floats:
    """Return inverse probabilities, in all as many as the labels are worth."""
    weights = 1 / probabilities
    scaled: Floats = weights * (weights.sum() / np.square(weights).sum()) if len(weights) else weights
    return scaled


class ExternalLabels(LabelCorrection):
    """Labels of texts that are not of the run: the judge's grades and those of a person.

    Rogan and Gladen 1978: (p + specificity - 1) / (sensitivity + specificity - 1) of a rate p, with
    the delta method, and a second-order term for what it misses: at another rate the labels' part
    of the error is another (Fieller 1954, Journal of the Royal Statistical Society B 16, 175-185).
    ``groups`` are the attempts' groups that the labels are of, ``clusters`` their texts.
    """

    def __init__(
        self, cells: Codes, names: Mapping[int, str], judge: Floats, truth: Floats, groups: Codes, clusters: Codes
    ) -> None:
        super().__init__(cells, names, int(clusters.max(initial=-1)) + 1, truth)
        self._judge, self._truth, self._groups, self._of_text = judge, truth, groups, clusters

    def _correction(
        self, cell: int, rows: Rows, reading: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        labeled = np.flatnonzero((self._groups == cell) & ~np.isnan(self._judge))
        if reason := self._too_few(cell, len(labeled)):
            return reason
        if not rate:
            return "labels of other texts correct rates only: a mean needs labels of the run's own answers"
        texts = self._of_text[labeled]
        own = [Clustering(texts + clustering.size - self._extra, clustering.size) for clustering in clusterings]
        pairs = LabelPairs(self._judge[labeled], self._truth[labeled], own)
        sensitivity, specificity = pairs.sensitivity, pairs.specificity
        for part, truth in ((sensitivity, "true"), (specificity, "false")):
            if part.count < FEWEST_OF_CLASS:
                return (
                    f"{part.count} labels{self._of_group(cell)} are {truth}: "
                    f"the judge's error needs at least {FEWEST_OF_CLASS}"
                )
        if reason := pairs.chance_reason(self._of_group(cell)):
            return reason
        index = sensitivity.value + specificity.value - 1
        corrected = (float(reading.values[rows].mean()) + specificity.value - 1) / index
        per_hit, per_rejection = -corrected / index, (1 - corrected) / index
        unseen = self._unseen_errors(
            cell,
            clusterings,
            0.0 if sensitivity.value < 1 else per_hit / sensitivity.count,
            0.0 if specificity.value < 1 else per_rejection / specificity.count,
        )
        added = [
            per_hit * one + per_rejection * other + more
            for one, other, more in zip(sensitivity.deviations, specificity.deviations, unseen, strict=True)
        ]
        bend = (corrected * sensitivity.variance - (1 - corrected) * specificity.variance) / index**2
        return Correction(pairs, (specificity.value - 1) / index, 1 / index, added, bend)
