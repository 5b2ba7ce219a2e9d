"""Groups whose rate or mean is corrected for a judge's error.

An outcome f of an attempt becomes ``offset + slope * f``, within each stratum: the attempts of a group that
the labels name. The influences of the labels are added to those of the attempts, cluster by cluster, so
whatever is computed from influences (a difference, a ratio, a family) contains the error of both.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul

import numpy as np

from pytest_fairness.core.formatting import counted
from pytest_fairness.stats.calibration.estimators import CorrectedSums, JudgeAccuracy, LabelPairs, LabelSums
from pytest_fairness.stats.clusters import ClusterSums
from pytest_fairness.stats.columns import Clustering, Codes, Floats, Rows
from pytest_fairness.stats.crossed_effects import ItemEffect, ItemEffects
from pytest_fairness.stats.linear_estimate import ROUNDING
from pytest_fairness.stats.outcome_vectors import GroupOutcomes, OutcomeVector

FEWEST_LABELS = 100
"""Smallest number of labels in a stratum that is corrected."""
CHOSEN, CHOSEN_APART = 3.3, 1.95
"""Errors by which the mean of the judge's grades of labeled answers differs from that of all in 0.1% of samples drawn
by chance, and the same of their distribution, times the root of their number (Kolmogorov and Smirnov)."""
FEWEST_OF_CLASS = 10
"""Smallest number of true labels, and of false ones, that estimate a judge's sensitivity and specificity."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The correction of the outcomes of one stratum."""

    pairs: LabelPairs
    offset: float
    slope: float
    label_deviations: Sequence[Floats]
    """Influence of each cluster's labels on the stratum's mean, per clustering."""
    half_variance_slope: float = 0.0
    """Half the derivative, by the mean, of the part of the mean's variance that the labels cause."""
    prediction: Floats | None = None
    """Predictions that are averaged over all attempts; None for ``slope`` times the outcome."""

    def apply(self, outcomes: Floats) -> Floats:
        """Return the corrected outcomes of all attempts."""
        return self.offset + (self.slope * outcomes if self.prediction is None else self.prediction)

    @property
    def label_counts(self) -> list[Floats]:
        """The number of labels in each cluster, per clustering."""
        return [
            np.bincount(clustering.codes, minlength=clustering.size).astype(np.float64)
            for clustering in self.pairs.clusterings
        ]


def _corrected_span(span: tuple[float, float], corrections: Mapping[int, Correction]) -> tuple[float, float]:
    """Return the range of corrected outcomes: an unseen cluster may lie as far out as its ends."""
    ends = [correction.offset + correction.slope * end for correction in corrections.values() for end in span]
    return min(*span, *ends), max(*span, *ends)


def _label_sums(
    corrections: Mapping[int, Correction], weights: Sequence[float], clusterings: Sequence[Clustering]
) -> LabelSums:
    """Return the part of the labels of all strata in the error of a weighted mean."""
    deviations = [np.zeros(clustering.size) for clustering in clusterings]
    counts = [np.zeros(clustering.size) for clustering in clusterings]
    for correction, weight in zip(corrections.values(), weights, strict=True):
        for index, (own, count) in enumerate(zip(correction.label_deviations, correction.label_counts, strict=True)):
            deviations[index] += weight * own
            counts[index] += count
    # Of a move of the mean each stratum makes its share of the variance. Equal shares differ little from that.
    slopes = [correction.half_variance_slope for correction in corrections.values()]
    half_variance_slope = sum(map(mul, weights, slopes)) / max(len(corrections), 1)
    return LabelSums(deviations, counts, half_variance_slope)


class LabelCorrection(ABC):
    """The correction of one outcome by human labels.

    Args:
        strata: The stratum of each attempt: the group within which its outcome is corrected.
        names: The names of the strata.
        clusters: The number of clusters of labels that are not clusters of the run.
        truth: The labels; nan where there is none.
    """

    def __init__(self, strata: Codes, names: Mapping[int, str], clusters: int, truth: Floats) -> None:
        self._strata, self._names, self._clusters = strata, names, clusters
        labeled = truth[~np.isnan(truth)]
        self._binary = bool(np.all((labeled == 0) | (labeled == 1)))
        # Two clusters a stratum are added, for a miss and a false alarm that no label shows (`_unseen_errors`).
        self._extra = clusters + 2 * (int(strata.max(initial=0)) + 1)

    def group(
        self,
        name: str,
        vector: OutcomeVector,
        rows: Rows,
        clusterings: Sequence[Clustering],
        item_effects: ItemEffects | None,
    ) -> GroupOutcomes:
        """Return the attempts in ``rows`` as a group with corrected outcomes.

        Ungraded attempts are imputed at the extremes of the true outcome, not of the judge's grade.
        """
        rate = vector.binary and self._binary
        extended = [Clustering(clustering.codes, clustering.size + self._extra) for clustering in clusterings]
        is_missing = np.isnan(vector.values[rows])
        missing = ClusterSums(
            is_missing.astype(np.float64),
            [clustering[rows] for clustering in extended],
            (0.0, 1.0),
            None,
            None if item_effects is None else item_effects.missing[rows],
        )
        graded = rows[~is_missing]
        corrections = self._corrections(graded, vector, extended, rate=rate)
        if isinstance(corrections, str):
            plain = ClusterSums(vector.values[graded], [clustering[graded] for clustering in extended], vector.span)
            return GroupOutcomes(name, plain, plain, plain, missing, JudgeAccuracy(0, reason=corrections))
        values, slopes = self._correct(vector.values, corrections)
        effect = (
            None if item_effects is None else ItemEffect(item_effects.graded.values * slopes, item_effects.graded.share)
        )
        # test_answers_that_all_agree_are_bounded_on_the_corrected_scale
        span = None if vector.span is None else _corrected_span(vector.span, corrections)
        sizes = [np.count_nonzero(self._strata[graded] == stratum) for stratum in corrections]

        def corrected_sums(outcomes: Floats, rows: Rows) -> CorrectedSums:
            # An imputed outcome is a true value: the labels' error enters by the graded attempts only.
            weights = [size / max(len(rows), 1) for size in sizes]
            return CorrectedSums(
                outcomes[rows],
                [clustering[rows] for clustering in extended],
                span,
                None if effect is None else effect[rows],
                _label_sums(corrections, weights, extended),
                rate=rate,
            )

        whole = corrected_sums(values, graded)
        accuracy = self._judge_accuracy(corrections, vector.span, rate=rate)
        # test_corrected_rate_outside_its_range_is_never_fair
        if rate and corrections and not 0 < whole.value < 1:
            accuracy = replace(accuracy, open=f"the corrected rate of {name} is {whole.value:.3f}, not between 0 and 1")
        if not is_missing.any():
            return GroupOutcomes(name, whole, whole, whole, missing, accuracy)
        is_unknown = np.isnan(values)
        lowest, highest = (
            corrected_sums(np.where(is_unknown, extreme, values), rows) for extreme in (vector.lowest, vector.highest)
        )
        return GroupOutcomes(name, whole, lowest, highest, missing, accuracy)

    def _corrections(
        self, graded: Rows, vector: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> dict[int, Correction] | str:
        """Return the correction of each stratum, or the reason that one has none."""
        strata = self._strata[graded]
        corrections: dict[int, Correction] = {}
        for stratum in np.unique(strata).tolist():
            correction = self._correction(stratum, graded[strata == stratum], vector, clusterings, rate=rate)
            if isinstance(correction, str):
                return correction
            corrections[stratum] = correction
        return corrections

    def _correct(self, outcomes: Floats, corrections: Mapping[int, Correction]) -> tuple[Floats, Floats]:
        """Return the corrected outcomes of all attempts, and the slope of each."""
        values, slopes = outcomes.copy(), np.ones(len(self._strata))
        for stratum, correction in corrections.items():
            inside = self._strata == stratum
            slopes[inside] = correction.slope
            values[inside] = correction.apply(outcomes)[inside]
        return values, slopes

    @abstractmethod
    def _correction(
        self, stratum: int, rows: Rows, vector: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        """Return the correction of the graded attempts of one stratum, or the reason that there is none."""

    def _judge_accuracy(
        self, corrections: Mapping[int, Correction], span: tuple[float, float] | None, *, rate: bool
    ) -> JudgeAccuracy:
        """Return the judge's accuracy over the labels of all strata."""
        pairs = [correction.pairs for correction in corrections.values()]
        if not pairs:
            return JudgeAccuracy(0)
        weights = [pair.weights for pair in pairs if pair.weights is not None]
        whole = LabelPairs(
            np.concatenate([pair.judge for pair in pairs]),
            np.concatenate([pair.truth for pair in pairs]),
            [
                Clustering(np.concatenate([pair.clusterings[index].codes for pair in pairs]), clustering.size)
                for index, clustering in enumerate(pairs[0].clusterings)
            ],
            np.concatenate(weights) if len(weights) == len(pairs) else None,
        )
        return JudgeAccuracy(
            len(whole.judge),
            whole.effective_count,
            errors=whole.errors(FEWEST_OF_CLASS, span, rate=rate),
            strata=frozenset(corrections if self._clusters else ()),
        )

    def _of_stratum(self, stratum: int) -> str:
        """Return the words that name a stratum in a message; empty where all attempts are one."""
        return f" of {self._names[stratum]}" if self._names.get(stratum) else ""

    def _shortage_reason(self, stratum: int, labels: int, worth: float) -> str:
        """Return why a stratum has too few labels, by what they are worth; empty where it has enough."""
        # test_fewer_than_a_hundred_labels_of_a_group_are_invalid
        if worth >= FEWEST_LABELS:
            return ""
        number = f"{counted(labels, 'label')}{self._of_stratum(stratum)}"
        if round(worth) < labels:
            number += f", worth {worth:.0f} drawn by chance"
        return f"{number}: a correction for the judge's error needs at least {FEWEST_LABELS}"

    def _choice_reason(self, stratum: int, grades: Floats, labeled: Floats, *, rate: bool) -> str:
        """Return why labels that were chosen by the judge's grade correct nothing; empty where weights mend it."""
        if rate and 0 < labeled.sum() < len(labeled):
            return ""
        style = ".0%" if rate else ".3g"
        if f"{labeled.mean():{style}}" == f"{grades.mean():{style}}":
            return (
                f"the labels{self._of_stratum(stratum)} were chosen by the judge's grade, whose standard deviation is "
                f"{labeled.std():.3g} for labeled answers and {grades.std():.3g} for all: draw them by chance"
            )
        return (
            f"the labels{self._of_stratum(stratum)} were chosen by the judge's grade, whose mean is "
            f"{labeled.mean():{style}} for labeled answers and {grades.mean():{style}} for all: draw them by chance"
        )

    def _unseen_errors(
        self, stratum: int, clusterings: Sequence[Clustering], miss: float, false_alarm: float
    ) -> list[Floats]:
        """Return the influences of two errors that no label shows, each in a cluster of its own.

        Where no label contradicts the judge, the labels vary by nothing, and the interval would be that of a
        judge who never errs.
        """
        unseen = []
        for clustering in clusterings:
            deviations = np.zeros(clustering.size)
            first = clustering.size - self._extra + self._clusters + 2 * stratum
            # test_judge_without_observed_errors_still_has_an_error
            deviations[first : first + 2] = miss, false_alarm
            unseen.append(deviations)
        return unseen


class InSampleLabels(LabelCorrection):
    """Labels of the run's own answers, drawn by chance within each stratum, with known probabilities.

    Prediction-powered inference (PPI++): the mean of ``slope * f`` over all attempts plus the mean of
    ``y - slope * f`` over the labeled ones. The slope cov(y, f) / var(f) makes the error least where
    attempts are independent. (With n labels and N attempts without, it is
    lambda (1 + n / N) of Angelopoulos, Duchi and Zrnic 2023, since ``f`` is averaged over both.)
    Where several judges have graded, their mean is a second predictor beside their joint grade, as in a regression
    estimator (Cassel, Sarndal and Wretman 1976, Biometrika 63, 615-620): where they differ, labels inform more.
    Labels are weighted by the inverse of their probabilities (Hajek 1971), and count as
    (sum w)^2 / sum w^2 labels (Kish 1965). Of a rate whose labels have no probabilities, these are the shares with a
    label of the answers that the judge has flagged, and of the others (post-stratification, Holt and Smith 1979):
    people label 100 flagged and 100 clean ones.

    Args:
        strata: The stratum of each attempt.
        names: The names of the strata.
        truth: y of every attempt; nan where there is no label.
        probabilities: The probability with which each attempt's label was drawn; None where they are equal.
        panel: The mean grade of several judges for each attempt, nan where fewer than two graded it.
    """

    def __init__(
        self,
        strata: Codes,
        names: Mapping[int, str],
        truth: Floats,
        probabilities: Floats | None = None,
        panel: Floats | None = None,
    ) -> None:
        super().__init__(strata, names, 0, truth)
        self._truth, self._probabilities, self._panel = truth, probabilities, panel

    def _correction(
        self, stratum: int, rows: Rows, vector: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        labeled = rows[~np.isnan(self._truth[rows])]
        judge, truth = vector.values[labeled], self._truth[labeled]
        probabilities = None if self._probabilities is None else self._probabilities[labeled]
        # test_labels_of_flagged_answers_alone_correct_nothing
        is_chosen = probabilities is None and _is_chosen(vector.values[rows], judge)
        if is_chosen and (reason := self._choice_reason(stratum, vector.values[rows], judge, rate=rate)):
            return reason
        # test_labels_chosen_by_grade_are_weighted_by_it
        if probabilities is None and rate and 0 < judge.sum() < len(judge):
            probabilities = _shares_with_label(vector.values[rows], judge)
        weights = None if probabilities is None else _inverse_weights(probabilities)
        pairs = LabelPairs(judge, truth, [clustering[labeled] for clustering in clusterings], weights)
        is_drawn = self._probabilities is None and not is_chosen
        if reason := self._shortage_reason(stratum, len(judge), len(judge) if is_drawn else pairs.effective_count):
            return reason
        if rate and (reason := pairs.chance_reason(self._of_stratum(stratum))):
            return reason
        spread = float(vector.values[rows].var(ddof=1))
        slope = float(np.cov(truth, judge, aweights=weights)[0, 1]) / spread if spread > 0 else 0.0
        prediction = slope * vector.values
        # test_labels_say_more_where_several_judges_graded
        if self._panel is not None and len(clusterings) == 1 and not np.isnan(self._panel[rows]).any():
            slopes = _regression_slopes(np.column_stack([judge, self._panel[labeled]]), truth, weights)
            slope = float(slopes.sum())
            prediction = slopes[0] * vector.values + slopes[1] * self._panel
        residuals = pairs.part(truth - prediction[labeled], np.arange(len(labeled)), None)
        offset = residuals.value
        # An error that no label shows may be of the least probable answer, which has the largest weight.
        count = len(labeled) if weights is None else float(weights.sum() / weights.max())
        miss = false_alarm = 0.0
        if rate:
            miss = 0.0 if np.any(truth > judge) else (1 - offset) / count
            false_alarm = 0.0 if np.any(truth < judge) else (-slope - offset) / count
        # test_scale_widens_a_mean_if_no_label_shows_an_error
        elif vector.span is not None and not np.ptp(truth - judge):
            false_alarm = (vector.span[1] - vector.span[0]) / count
        unseen = self._unseen_errors(stratum, clusterings, miss, false_alarm)
        deviations = [own + more for own, more in zip(residuals.deviations, unseen, strict=True)]
        return Correction(pairs, offset, slope, deviations, prediction=prediction)


def _is_chosen(grades: Floats, labeled: Floats) -> bool:
    """Return whether chance does not explain that the judge grades labeled answers unlike all answers.

    The variance is that of a sample without replacement (for rates: hypergeometric). Grades of the middle, or of both
    ends, have the mean of all: so their distribution is compared as well.

    >>> grades = np.repeat([0.0, 1.0], [80, 20])
    >>> _is_chosen(grades, grades[::2]), _is_chosen(grades, grades[60:])
    (False, True)
    >>> _is_chosen(np.arange(600.0), np.arange(200.0, 400.0)), _is_chosen(np.arange(600.0), np.arange(0.0, 600.0, 3))
    (True, False)
    """
    count, labels = len(grades), len(labeled)
    if not 0 < labels < count:
        return False
    part = math.sqrt((count - labels) / (count - 1) / labels)
    values = np.unique(grades)
    of_all, of_labeled = (np.searchsorted(np.sort(own), values, side="right") / len(own) for own in (grades, labeled))
    apart = float(np.abs(of_all - of_labeled).max())
    error = float(grades.std()) * part
    return apart > CHOSEN_APART * part or abs(float(labeled.mean() - grades.mean())) > CHOSEN * error + ROUNDING


def _shares_with_label(grades: Floats, labeled: Floats) -> Floats:
    """Return, for each label, the share of the answers with its grade by the judge that have one."""
    shares = [float(np.mean(labeled == grade) / np.mean(grades == grade)) for grade in (0.0, 1.0)]
    by_label: Floats = np.array(shares)[labeled.astype(int)] * len(labeled) / len(grades)
    return by_label


def _widening(part: ClusterSums) -> float:
    """Return the factor by which the error of a share grows with one hit and one miss more.

    Without it a share near 0 or 1 has the smallest error in the samples where it is furthest from the truth: rates
    below their bound are called fair in up to 3.4%, with it in up to 2.8%. Source: Lang and Reiczigel 2014,
    Preventive Veterinary Medicine 113, 13-22.
    """
    spread = part.value * (1 - part.value)
    if spread <= 0 or part.variance <= 0:
        return 1.0
    labels = spread / part.variance  # labels of one text count as one
    fuller = (part.value * labels + 1) / (labels + 2)
    # test_labels_of_other_texts_give_the_published_estimate
    return math.sqrt(fuller * (1 - fuller) / spread)


def _regression_slopes(predictors: Floats, truth: Floats, weights: Floats | None) -> Floats:
    """Return the slopes of a weighted least squares regression on predictors, shape (labels, predictors)."""
    roots = np.ones(len(truth)) if weights is None else np.sqrt(weights)
    design = np.column_stack([np.ones(len(truth)), predictors])
    fitted: Floats = np.linalg.lstsq(design * roots[:, np.newaxis], truth * roots, rcond=None)[0]
    return fitted[1:]


def _inverse_weights(probabilities: Floats) -> Floats:
    """Return inverse probabilities, scaled to sum to the effective number of labels (Kish 1965)."""
    weights = 1 / probabilities
    scaled: Floats = weights * (weights.sum() / np.square(weights).sum()) if len(weights) else weights
    return scaled


class ExternalLabels(LabelCorrection):
    """Labels of texts outside the run: the grades of the judge and of a person.

    Rogan and Gladen 1978: (p + specificity - 1) / (sensitivity + specificity - 1) of a rate p, with its error by
    the delta method. That method takes the labels' part of the error to be the same at every rate. A second-order
    term allows for its change (Fieller 1954, Journal of the Royal Statistical Society B 16, 175-185).

    Args:
        strata: The stratum of each attempt.
        names: The names of the strata.
        judge: The judge's grade of each label's text; nan where ungraded.
        truth: The person's grade.
        groups: The stratum of each label.
        clusters: The text of each label.
    """

    def __init__(
        self, strata: Codes, names: Mapping[int, str], judge: Floats, truth: Floats, groups: Codes, clusters: Codes
    ) -> None:
        super().__init__(strata, names, int(clusters.max(initial=-1)) + 1, truth)
        self._judge, self._truth, self._groups, self._texts = judge, truth, groups, clusters

    def _correction(
        self, stratum: int, rows: Rows, vector: OutcomeVector, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        labeled = np.flatnonzero((self._groups == stratum) & ~np.isnan(self._judge))
        if reason := self._shortage_reason(stratum, len(labeled), len(labeled)):
            return reason
        if not rate:
            return "labels of other texts correct rates only: a mean needs labels of the run's own answers"
        texts = self._texts[labeled]
        clusters = [Clustering(texts + clustering.size - self._extra, clustering.size) for clustering in clusterings]
        pairs = LabelPairs(self._judge[labeled], self._truth[labeled], clusters)
        sensitivity, specificity = pairs.sensitivity, pairs.specificity
        for part, truth in ((sensitivity, "true"), (specificity, "false")):
            if part.count < FEWEST_OF_CLASS:
                return (
                    f"{counted(round(part.count), f'{truth} label')}{self._of_stratum(stratum)}: "
                    f"the judge's error needs at least {FEWEST_OF_CLASS}"
                )
        if reason := pairs.chance_reason(self._of_stratum(stratum)):
            return reason
        index = sensitivity.value + specificity.value - 1  # Youden's
        corrected = (float(vector.values[rows].mean()) + specificity.value - 1) / index
        by_sensitivity, by_specificity = -corrected / index, (1 - corrected) / index  # derivatives of the rate
        unseen = self._unseen_errors(
            stratum,
            clusterings,
            0.0 if sensitivity.value < 1 else by_sensitivity / sensitivity.count,
            0.0 if specificity.value < 1 else by_specificity / specificity.count,
        )
        deviations = [
            by_sensitivity * _widening(sensitivity) * hits + by_specificity * _widening(specificity) * rejections + more
            for hits, rejections, more in zip(sensitivity.deviations, specificity.deviations, unseen, strict=True)
        ]
        half_variance_slope = (corrected * sensitivity.variance - (1 - corrected) * specificity.variance) / index**2
        return Correction(pairs, (specificity.value - 1) / index, 1 / index, deviations, half_variance_slope)
