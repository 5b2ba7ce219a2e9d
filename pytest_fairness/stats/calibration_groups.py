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

from pytest_fairness.stats.calibration_parts import Corrected, Judged, Pairs
from pytest_fairness.stats.centring import Centre, Centres
from pytest_fairness.stats.columns import Clustering, Codes, Floats, Rows
from pytest_fairness.stats.fillings import Group
from pytest_fairness.stats.outcomes import Reading
from pytest_fairness.stats.sums import Part

FEWEST_LABELS = 100
"""Of each group."""
FEWEST_OF_CLASS = 10
"""Of a group's labels that are true, and that are false, from which the judge's errors are known."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Of the outcomes of one group of labels."""

    pairs: Pairs
    offset: float
    slope: float
    added: Sequence[Floats]
    """What the labels add to the deviations of the group's mean, per clustering."""
    bend: float = 0.0
    """Half of how fast the labels' part of the mean's variance grows with the mean."""

    @property
    def labels(self) -> list[Floats]:
        """How many there are in each cluster, per clustering."""
        return [np.bincount(each.codes, minlength=each.size).astype(np.float64) for each in self.pairs.clusterings]


def _summed(
    found: Mapping[int, Correction], weights: Sequence[float], clusterings: Sequence[Clustering]
) -> tuple[list[Floats], list[Floats]]:
    """What the labels of several groups add to the deviations of their mean, and how many they are by cluster."""
    added = [np.zeros(each.size) for each in clusterings]
    labels = [np.zeros(each.size) for each in clusterings]
    for correction, weight in zip(found.values(), weights, strict=True):
        for place, (own, count) in enumerate(zip(correction.added, correction.labels, strict=True)):
            added[place] += weight * own
            labels[place] += count
    return added, labels


class Labelled(ABC):
    """The labels of one outcome.

    ``cells`` says in which group of labels each attempt is, ``names`` what these are called.
    ``clusters`` is how many the labels have besides the run's.
    """

    def __init__(self, cells: Codes, names: Mapping[int, str], clusters: int, truth: Floats) -> None:
        self._cells, self._names, self._clusters = cells, names, clusters
        known = truth[~np.isnan(truth)]
        self._binary = bool(np.all((known == 0) | (known == 1)))
        # Two more a group: for errors that no label shows, and that there may be all the same.
        self._extra = clusters + 2 * (int(cells.max(initial=0)) + 1)

    def group(
        self,
        name: str,
        reading: Reading,
        rows: Rows,
        clusterings: Sequence[Clustering],
        centres: Centres | None,
    ) -> Group:
        """The attempts in ``rows``, corrected. Fillings are of what is true, not of what the judge would say."""
        rate = reading.binary and self._binary
        wide = [Clustering(each.codes, each.size + self._extra) for each in clusterings]
        empty = np.isnan(reading.values[rows])
        own = None if centres is None else centres.missing[rows]
        missing = Part(empty.astype(np.float64), [each[rows] for each in wide], (0.0, 1.0), None, own)
        graded = rows[~empty]
        found: dict[int, Correction] = {}
        for cell in np.unique(self._cells[graded]).tolist():
            made = self._correction(cell, graded[self._cells[graded] == cell], reading, wide, rate=rate)
            if isinstance(made, str):
                plain = Part(reading.values[graded], [each[graded] for each in wide], reading.span)
                return Group(name, plain, plain, plain, missing, Judged(0, made))
            found[cell] = made
        values, slopes = reading.values.copy(), np.ones(len(self._cells))
        for cell, correction in found.items():
            inside = self._cells == cell
            slopes[inside] = correction.slope
            values[inside] = correction.offset + correction.slope * values[inside]
        centre = None if centres is None else Centre(centres.graded.values * slopes, centres.graded.share)

        def part(filled: Floats, of: Rows) -> Corrected:
            weights = [np.count_nonzero(self._cells[graded] == cell) / max(len(of), 1) for cell in found]
            kept = None if centre is None else centre[of]
            added = _summed(found, weights, wide)
            # Each moves by its share of the variance; to say so of every group of labels would change little.
            bend = sum(weight * each.bend for weight, each in zip(weights, found.values(), strict=True)) / max(
                len(found), 1
            )
            here = [each[of] for each in wide]
            return Corrected(filled[of], here, reading.span, kept, *added, bend=bend, rate=rate)

        whole = part(values, graded)
        judged = self._judged(found, reading.span, rate=rate)
        if rate and found and not 0 < whole.value < 1:
            judged = replace(judged, open=f"the corrected rate of {name} is {whole.value:.3f}, not between 0 and 1")
        if not empty.any():
            return Group(name, whole, whole, whole, missing, judged)
        unknown = np.isnan(values)
        lowest, highest = (part(np.where(unknown, each, values), rows) for each in (reading.lowest, reading.highest))
        return Group(name, whole, lowest, highest, missing, judged)

    @abstractmethod
    def _correction(
        self, cell: int, rows: Rows, reading: Reading, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        """That of the graded attempts in ``rows``, all of one group of labels; or why there is none."""

    def _judged(self, found: Mapping[int, Correction], span: tuple[float, float] | None, *, rate: bool) -> Judged:
        pairs = [correction.pairs for correction in found.values()]
        if not pairs:
            return Judged(0)
        whole = Pairs(
            np.concatenate([each.judge for each in pairs]),
            np.concatenate([each.truth for each in pairs]),
            [
                Clustering(np.concatenate([each.clusterings[place].codes for each in pairs]), one.size)
                for place, one in enumerate(pairs[0].clusterings)
            ],
        )
        return Judged(
            len(whole.judge),
            errors=whole.errors(FEWEST_OF_CLASS, span, rate=rate),
            of=frozenset(found if self._clusters else ()),
        )

    def _named(self, cell: int) -> str:
        return f" of {self._names[cell]}" if self._names.get(cell) else ""

    def _few(self, cell: int, labels: int) -> str:
        if labels >= FEWEST_LABELS:
            return ""
        return f"{labels} labels{self._named(cell)}: a correction for the judge's error needs at least {FEWEST_LABELS}"

    def _supposed(self, cell: int, clusterings: Sequence[Clustering], below: float, above: float) -> list[Floats]:
        """Deviations of two errors that no label shows, each in a cluster of its own."""
        supposed = []
        for clustering in clusterings:
            deviations = np.zeros(clustering.size)
            first = clustering.size - self._extra + self._clusters + 2 * cell
            deviations[first : first + 2] = below, above
            supposed.append(deviations)
        return supposed


class Sampled(Labelled):
    """Labels of the run's own answers, drawn by chance within each of their groups.

    Prediction-powered inference (PPI++): the mean is that of ``slope * f`` over all attempts and of
    ``y - slope * f`` over the labelled ones, with the slope that makes its error least where
    attempts are independent, cov(y, f) / var(f). (With n labels and N attempts without, it is
    lambda (1 + n / N) of Angelopoulos, Duchi and Zrnic 2023, since ``f`` is averaged over both.)
    ``truth`` is y of every attempt, nan where there is no label.
    """

    def __init__(self, cells: Codes, names: Mapping[int, str], truth: Floats) -> None:
        super().__init__(cells, names, 0, truth)
        self._truth = truth

    def _correction(
        self, cell: int, rows: Rows, reading: Reading, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        labelled = rows[~np.isnan(self._truth[rows])]
        count = len(labelled)
        if reason := self._few(cell, count):
            return reason
        judge, truth = reading.values[labelled], self._truth[labelled]
        pairs = Pairs(judge, truth, [each[labelled] for each in clusterings])
        if rate and (reason := pairs.chance_reason(self._named(cell))):
            return reason
        spread = float(reading.values[rows].var(ddof=1))
        slope = float(np.cov(truth, judge)[0, 1]) / spread if spread > 0 else 0.0
        rest = pairs.part(truth - slope * judge, np.arange(count), None)
        offset = rest.value
        below, above = 0.0, 0.0
        if rate:
            missed, alarmed = np.any(truth > judge), np.any(truth < judge)
            below = 0.0 if missed else (1 - offset) / count
            above = 0.0 if alarmed else (-slope - offset) / count
        elif reading.span is not None and not np.ptp(truth - judge):
            above = (reading.span[1] - reading.span[0]) / count
        supposed = self._supposed(cell, clusterings, below, above)
        added = [own + more for own, more in zip(rest.deviations, supposed, strict=True)]
        return Correction(pairs, offset, slope, added)


class Elsewhere(Labelled):
    """Labels of texts that are not of the run: what the judge said of them, and what a human says.

    Rogan and Gladen 1978: (p + specificity - 1) / (sensitivity + specificity - 1) of a rate p, with
    the delta method, and a second-order term for what it misses: at another rate the labels' part
    of the error is another (Fieller 1954, Journal of the Royal Statistical Society B 16, 175-185).
    ``groups`` says of which of the attempts' groups each label is, ``clusters`` of which text.
    """

    def __init__(
        self,
        cells: Codes,
        names: Mapping[int, str],
        judge: Floats,
        truth: Floats,
        groups: Codes,
        clusters: Codes,
    ) -> None:
        super().__init__(cells, names, int(clusters.max(initial=-1)) + 1, truth)
        self._judge, self._truth, self._groups, self._of_text = judge, truth, groups, clusters

    def _correction(
        self, cell: int, rows: Rows, reading: Reading, clusterings: Sequence[Clustering], *, rate: bool
    ) -> Correction | str:
        labelled = np.flatnonzero((self._groups == cell) & ~np.isnan(self._judge))
        if reason := self._few(cell, len(labelled)):
            return reason
        if not rate:
            return "labels of other texts correct rates only: a mean needs labels of the run's own answers"
        texts = self._of_text[labelled]
        own = [Clustering(texts + each.size - self._extra, each.size) for each in clusterings]
        pairs = Pairs(self._judge[labelled], self._truth[labelled], own)
        found, kept = pairs.sensitivity, pairs.specificity
        for part, what in ((found, "true"), (kept, "false")):
            if part.count < FEWEST_OF_CLASS:
                return (
                    f"{part.count} labels{self._named(cell)} are {what}: "
                    f"the judge's error needs at least {FEWEST_OF_CLASS}"
                )
        if reason := pairs.chance_reason(self._named(cell)):
            return reason
        index = found.value + kept.value - 1
        corrected = (float(reading.values[rows].mean()) + kept.value - 1) / index
        of_found, of_kept = -corrected / index, (1 - corrected) / index
        supposed = self._supposed(
            cell,
            clusterings,
            0.0 if found.value < 1 else of_found / found.count,
            0.0 if kept.value < 1 else of_kept / kept.count,
        )
        added = [
            of_found * one + of_kept * other + more
            for one, other, more in zip(found.deviations, kept.deviations, supposed, strict=True)
        ]
        bend = (corrected * found.variance - (1 - corrected) * kept.variance) / index**2
        return Correction(pairs, (kept.value - 1) / index, 1 / index, added, bend)
