"""Error rates of each kind of estimate where the truth lies exactly on the bound.

    python tests/benchmarks/estimators.py --runs 500
    python tests/benchmarks/estimators.py --estimators mean,ratio --shapes rare --clusters 8,25 --runs 2000
    python tests/benchmarks/estimators.py --estimators odds-ratio,crossed-odds-ratio --shapes scarce,frequent,certain
    python tests/benchmarks/estimators.py --cells "metric dense 25 x 20, rate rare 5 x 1" --seed 1
    python tests/benchmarks/estimators.py --json before.json
    python tests/benchmarks/estimators.py --against before.json

One cell per estimator, shape, number of clusters and number of attempts a cluster (and group).
An attempt's grade is a function of a normal variable, part of which its cluster shares:
a Gaussian copula, so that the truth is a closed form. A correlation's is an integral over a grid.
Every estimate is compared with its truth in both directions, as a threshold compares it.
Where that is called fair the promise is broken, as where it is called unfair: 2.5% each.
Seeded: the same numbers on each run, whatever cells are chosen.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri  # type: ignore[import-untyped]

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Floats = npt.NDArray[np.float64]

CLUSTERS = (5, 8, 12, 25, 100)
ATTEMPTS = (1, 5, 20)

PROMISED = 0.025
MOST_UNFAIR = 0.03
COVERED = (0.935, 0.985)
CLAIMED = 0.5
"""A cell allows claims where at least this share of its runs does."""

EFFECT = 0.8
"""The mean of the group that fares worse, over that of the other."""

ODDS = 2 / 3
"""The odds of the group that fares worse, over those of the other."""

OLD = 0.9
"""The same ratio in a baseline."""

MARGIN = 1.1
"""Factor by which the new run is further from parity than its baseline."""

ALIKE = 0.3
"""The correlation of two outcomes' normal variables."""

FAMILY = (EFFECT, 1.0, 1.0, 1.0, 1.0)
"""The means of five groups, over that of the best."""

NAMES = 12
"""Names of each group, drawn for every cluster."""
BY_NAME = 0.1
"""The share of the normal variable's variance that the attempts of a name have in common."""

LABELS = 200
"""A human's labels of other texts, half of them of events, by which a judge is corrected."""

SENSITIVITY, SPECIFICITY = 0.85, 0.92
"""Accuracy of the judge."""

GRID = 2000
"""Points of each axis on which the moments of a correlation are integrated."""


class Marginal(ABC):
    """Distribution of one grade, as a function of a standard normal variable."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """Its expected value."""

    @abstractmethod
    def of(self, normal: Floats) -> Floats:
        """Return the grades for standard normal values."""

    @abstractmethod
    def scaled(self, factor: float) -> Marginal:
        """Return a distribution of the same kind with ``factor`` times the mean."""


@dataclass(frozen=True)
class Steps(Marginal):
    """Zero, or one of a few values: a rare event, a severity, a rating."""

    chances: Mapping[float, float]
    """Probability of each value but zero."""

    @property
    def mean(self) -> float:
        return sum(value * chance for value, chance in self.chances.items())

    def of(self, normal: Floats) -> Floats:
        grades: Floats = self._values[np.searchsorted(self._ends, normal)]
        return grades

    def scaled(self, factor: float) -> Marginal:
        return Steps({value: factor * chance for value, chance in self.chances.items()})

    @cached_property
    def _values(self) -> Floats:
        return np.array([0.0, *sorted(self.chances)])

    @cached_property
    def _ends(self) -> Floats:
        chances = [self.chances[value] for value in sorted(self.chances)]
        ends: Floats = ndtri(1 - sum(chances) + np.concatenate([[0.0], np.cumsum(chances)[:-1]]))
        return ends


@dataclass(frozen=True)
class LogNormal(Marginal):
    """Grades without an upper end, of which few are many times the median."""

    median: float = 1.0
    sigma: float = 1.0

    @property
    def mean(self) -> float:
        return self.median * math.exp(self.sigma**2 / 2)

    def of(self, normal: Floats) -> Floats:
        grades: Floats = self.median * np.exp(self.sigma * normal)
        return grades

    def scaled(self, factor: float) -> Marginal:
        return replace(self, median=factor * self.median)


@dataclass(frozen=True)
class Shape:
    """Distribution of grades, over attempts and over clusters."""

    event: Steps
    """Distribution of an outcome that is true or false."""
    number: Marginal
    """Distribution of an outcome that is a number."""
    shared: float = 0.3
    """The share of the normal variable's variance that a cluster's attempts have in common."""
    empty: float = 0.0
    """The share of clusters all of whose grades are zero."""


SHAPES = {
    "dense": Shape(Steps({1.0: 0.5}), Steps({0.25: 0.2, 0.5: 0.4, 0.75: 0.2, 1.0: 0.1})),
    "rare": Shape(Steps({1.0: 0.05}), Steps({1 / 3: 0.03, 2 / 3: 0.015, 1.0: 0.005})),
    "skewed": Shape(Steps({1.0: 0.2}), LogNormal(), shared=0.6),
    "zero-inflated": Shape(Steps({1.0: 0.5}), Steps({0.25: 0.2, 0.5: 0.3, 1.0: 0.3}), empty=0.6),
}


MORE_SHAPES = {
    "scarce": Shape(Steps({1.0: 0.01}), Steps({1.0: 0.01})),
    "frequent": Shape(Steps({1.0: 0.95}), Steps({1.0: 0.95})),
    "certain": Shape(Steps({1.0: 0.99}), Steps({1.0: 0.99})),
}
"""Events of other base rates, which are drawn where they are named."""


@dataclass(frozen=True)
class Cell:
    """One design; its truth is the bound."""

    estimator: str
    shape: str
    clusters: int
    attempts: int
    """Attempts of each cluster and group."""

    @property
    def label(self) -> str:
        return f"{self.estimator:19s} {self.shape:13s} {self.clusters:3d} x {self.attempts:2d}"

    @classmethod
    def from_label(cls, label: str) -> Cell:
        """Return the cell of a line of the table: "ratio dense 12 x 5".

        Raises:
            ValueError: The text names no cell.
        """
        match = re.fullmatch(r"(\S+)\s+(\S+)\s+(\d+)\s*x\s*(\d+)", label.strip())
        if (
            match is None
            or match[1] not in {**ESTIMATORS, **MORE_ESTIMATORS}
            or match[2] not in {**SHAPES, **MORE_SHAPES}
        ):
            raise ValueError(f"{label!r} is no cell: write ESTIMATOR SHAPE CLUSTERS x ATTEMPTS, as in the table")
        return cls(match[1], match[2], int(match[3]), int(match[4]))


class Sampler:
    """Sampler of one cell, as grades of shape (clusters, groups, attempts)."""

    def __init__(self, cell: Cell, seed: int) -> None:
        self.cell = cell
        self.shape = {**SHAPES, **MORE_SHAPES}[cell.shape]
        self.generator = np.random.default_rng([seed, zlib.crc32(cell.label.encode())])
        self._columns: dict[tuple[int, bool], Columns] = {}

    def shared(self) -> Floats:
        """Draw what the attempts of each cluster share, shape (clusters, 1, 1)."""
        return self.generator.standard_normal((self.cell.clusters, 1, 1))

    def full(self) -> Floats:
        """Draw which clusters have grades other than zero, shape (clusters, 1, 1)."""
        return (self.generator.random((self.cell.clusters, 1, 1)) >= self.shape.empty).astype(np.float64)

    def normal(self, shared: Floats, groups: int = 1) -> Floats:
        """Draw standard normal values of attempts, given what they share."""
        own = self.generator.standard_normal((self.cell.clusters, groups, self.cell.attempts))
        values: Floats = math.sqrt(self.shape.shared) * shared + math.sqrt(1 - self.shape.shared) * own
        return values

    def grades(self, marginals: Sequence[Marginal], shared: Floats | None = None, full: Floats | None = None) -> Floats:
        """Draw grades with a distribution per group; the clusters are new ones where none are given."""
        normal = self.normal(self.shared() if shared is None else shared, len(marginals))
        groups = [marginal.of(normal[:, column]) for column, marginal in enumerate(marginals)]
        return np.stack(groups, axis=1) * (self.full() if full is None else full)

    def measured(self, grades: Mapping[str, Floats], *, paired: bool = True, **options: Any) -> Measured:
        """Return a sample of these grades, with the groups g0, g1 ...

        Args:
            grades: Of each name, shape (clusters, groups, attempts).
            paired: Whether each cluster holds all groups; if not, each group of it is a cluster.
            options: Of `Measured.from_columns`.
        """
        shape = next(iter(grades.values())).shape
        if (shape[1], paired) not in self._columns:
            cluster, group, _ = np.indices(shape).reshape(3, -1)
            clusters = cluster if paired else cluster * shape[1] + group
            names = {"group": [f"g{number}" for number in group.tolist()]}
            self._columns[shape[1], paired] = Columns.from_arrays(clusters.tolist(), {}, names)
        columns = self._columns[shape[1], paired].regraded({name: values.ravel() for name, values in grades.items()})
        return Measured.from_columns(columns, **options)


@dataclass(frozen=True)
class Estimator:
    """A kind of estimate: its truth, and how one sample of it is drawn."""

    truth: Callable[[Shape], float]
    draw: Callable[[Sampler], Estimate]
    log: bool = False
    """Whether a width is that of the logarithm."""


def of_rate(sampler: Sampler) -> Estimate:
    """Draw a rate."""
    return sampler.measured({"grade": sampler.grades([sampler.shape.event])}).rate("grade")


def of_mean(sampler: Sampler) -> Estimate:
    """Draw the mean of a number."""
    return sampler.measured({"grade": sampler.grades([sampler.shape.number])}).mean("grade")


def of_pair(kind: str, method: str, *, paired: bool = True) -> Callable[[Sampler], Estimate]:
    """Return what draws a difference or ratio of two groups' events or numbers."""

    def draw(sampler: Sampler) -> Estimate:
        marginal: Marginal = getattr(sampler.shape, kind)
        grades = sampler.grades([marginal.scaled(EFFECT), marginal])
        if not paired:
            grades[:, 1:] = sampler.grades([marginal])
        measured = sampler.measured({"grade": grades}, paired=paired)
        estimate: Estimate = getattr(measured, method)("grade", by="group", of="g0", to="g1")
        return estimate

    return draw


def of_odds(*, paired: bool = True) -> Callable[[Sampler], Estimate]:
    """Return what draws an odds ratio of two groups' events."""

    def draw(sampler: Sampler) -> Estimate:
        marginals = _apart_in_odds(sampler.shape)
        grades = sampler.grades(marginals)
        if not paired:
            grades[:, 1:] = sampler.grades(marginals[1:])
        return sampler.measured({"grade": grades}, paired=paired).odds_ratio("grade", by="group", of="g0", to="g1")

    return draw


def of_crossed_odds(sampler: Sampler) -> Estimate:
    """Draw an odds ratio of events under names of either group, each name once in a cluster."""
    cell, generator = sampler.cell, sampler.generator
    attempts = min(cell.attempts, NAMES)
    names = generator.random((cell.clusters, 2, NAMES)).argsort(axis=2)[:, :, :attempts] + [[[0], [NAMES]]]
    of_names = generator.standard_normal(2 * NAMES)[names]
    normal = sampler.normal(sampler.shared(), 2)[:, :, :attempts]
    normal = math.sqrt(1 - BY_NAME) * normal + math.sqrt(BY_NAME) * of_names
    marginals = _apart_in_odds(sampler.shape)
    groups = [marginal.of(normal[:, column]) for column, marginal in enumerate(marginals)]
    grades = np.stack(groups, axis=1) * sampler.full()
    cluster, group, _ = np.indices(grades.shape).reshape(3, -1)
    attributes = {"group": [f"g{number}" for number in group.tolist()], "name": list(map(str, names.ravel().tolist()))}
    columns = Columns.from_arrays(cluster.tolist(), {"grade": grades.ravel()}, attributes, crossed="name")
    return Measured.from_columns(columns).odds_ratio("grade", by="group", of="g0", to="g1")


def _apart_in_odds(shape: Shape) -> tuple[Marginal, Marginal]:
    """Return distributions of events whose odds, over all clusters, are `ODDS` apart."""
    rate = _event(shape)
    odds = ODDS * rate / (1 - rate)
    return shape.event.scaled(odds / (1 + odds) / rate), shape.event


def of_correlation(sampler: Sampler) -> Estimate:
    """Draw the correlation of two numbers of each attempt."""
    first, other = (sampler.normal(sampler.shared()) for _ in range(2))
    second = ALIKE * first + math.sqrt(1 - ALIKE**2) * other
    full, number = sampler.full(), sampler.shape.number
    return sampler.measured({"x": number.of(first) * full, "y": number.of(second) * full}).correlation("x", "y")


def of_metric(sampler: Sampler) -> Estimate:
    """Draw a ratio of sums: grades over lengths, which are one to three."""
    grades = sampler.grades([sampler.shape.number])
    lengths = sampler.generator.integers(1, 4, grades.shape).astype(np.float64)
    measured = sampler.measured({"grade": grades, "length": lengths})
    return measured.metric(per_length, span=(0.0, math.inf), grade="grade", length="length")


def per_length(sums: Any) -> Any:
    """Return grades over lengths."""
    return sums.grade / sums.length


def of_worst(sampler: Sampler) -> Estimate:
    """Draw the worst ratio of five groups."""
    grades = sampler.grades([sampler.shape.event.scaled(factor) for factor in FAMILY])
    return sampler.measured({"grade": grades}).worst_ratio("grade", by="group")


def of_baseline(sampler: Sampler) -> Estimate:
    """Draw how much further from parity a run is than another one on the same clusters."""
    shared, full, event = sampler.shared(), sampler.full(), sampler.shape.event
    new, old = (
        sampler.measured({"grade": sampler.grades([event.scaled(ratio), event], shared, full)})
        for ratio in (OLD / MARGIN, OLD)
    )
    return new.against(old).ratio("grade", by="group", of="g0", to="g1")


def of_judge(sampler: Sampler) -> Estimate:
    """Draw the rate of events that a judge reports, corrected by labels of other texts."""
    truth = sampler.grades([sampler.shape.event])
    harmful = np.arange(LABELS) % 2 == 0
    labels = [
        {"grade": "grade", "judge": bool(judged), "label": bool(label)}
        for judged, label in zip(_judged(sampler, harmful).tolist(), harmful.tolist(), strict=True)
    ]
    return sampler.measured({"grade": _judged(sampler, truth).astype(np.float64)}, calibration=labels).rate("grade")


def _judged(sampler: Sampler, truth: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    chances = np.where(truth != 0, SENSITIVITY, 1 - SPECIFICITY)
    judged: npt.NDArray[np.bool_] = sampler.generator.random(truth.shape) < chances
    return judged


def true_correlation(shape: Shape) -> float:
    """Return the correlation of two numbers of one attempt, by midpoints over both normal variables."""
    points = ndtri((np.arange(GRID) + 0.5) / GRID)
    first = shape.number.of(points)
    second = shape.number.of(ALIKE * points[:, np.newaxis] + math.sqrt(1 - ALIKE**2) * points)
    full = 1 - shape.empty
    means = full * first.mean(), full * second.mean()
    product = full * (first[:, np.newaxis] * second).mean() - means[0] * means[1]
    squares = full * np.square(first).mean() - means[0] ** 2, full * np.square(second).mean() - means[1] ** 2
    return float(product / math.sqrt(squares[0] * squares[1]))


def _event(shape: Shape) -> float:
    return (1 - shape.empty) * shape.event.mean


def _number(shape: Shape) -> float:
    return (1 - shape.empty) * shape.number.mean


ESTIMATORS = {
    "rate": Estimator(_event, of_rate),
    "mean": Estimator(_number, of_mean),
    "difference": Estimator(lambda shape: (EFFECT - 1) * _event(shape), of_pair("event", "difference")),
    "ratio": Estimator(lambda shape: EFFECT, of_pair("event", "ratio"), log=True),
    "odds-ratio": Estimator(lambda shape: ODDS, of_odds(), log=True),
    "correlation": Estimator(true_correlation, of_correlation),
    "metric": Estimator(lambda shape: _number(shape) / 2, of_metric),
    "worst": Estimator(lambda shape: min(FAMILY), of_worst, log=True),
    "baseline": Estimator(lambda shape: MARGIN, of_baseline, log=True),
    "judge": Estimator(_event, of_judge),
}
"""Those of the table."""

MORE_ESTIMATORS = {
    "mean-difference": Estimator(lambda shape: (EFFECT - 1) * _number(shape), of_pair("number", "difference")),
    "mean-ratio": Estimator(lambda shape: EFFECT, of_pair("number", "ratio"), log=True),
    "unpaired-difference": Estimator(
        lambda shape: (EFFECT - 1) * _event(shape), of_pair("event", "difference", paired=False)
    ),
    "unpaired-ratio": Estimator(lambda shape: EFFECT, of_pair("event", "ratio", paired=False), log=True),
    "unpaired-odds-ratio": Estimator(lambda shape: ODDS, of_odds(paired=False), log=True),
    "crossed-odds-ratio": Estimator(lambda shape: ODDS, of_crossed_odds, log=True),
}
"""Those that are run where they are named."""


@dataclass(frozen=True)
class Result:
    """Shares of a cell's runs; by direction where there are two: ``<=`` the truth, then ``>=``."""

    runs: int
    fair: tuple[float, float]
    unfair: tuple[float, float]
    covered: float
    """Share of the runs that have an interval."""
    claimable: float
    """Runs whose estimate may be called fair."""
    width: float
    """Mean over the runs that have a finite interval."""
    crashed: int = 0
    """Runs in which no estimate was returned."""

    @property
    def most_fair(self) -> float:
        """The share called fair in the direction that errs more."""
        return max(self.fair)

    @property
    def most_unfair(self) -> float:
        """The share called unfair in the direction that errs more."""
        return max(self.unfair)

    def allowed(self, share: float) -> float:
        """Return that share with two simulation errors."""
        return share + 2 * math.sqrt(share * (1 - share) / self.runs)

    @property
    def text(self) -> str:
        """Return one line of the table."""
        fair, unfair = (" ".join(f"{100 * share:5.1f}" for share in shares) for shares in (self.fair, self.unfair))
        return f"{fair} | {unfair} | {100 * self.covered:5.1f} | {100 * self.claimable:5.1f} | {self.width:9.4g}"

    def to_json(self) -> Mapping[str, Any]:
        """Return its numbers by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_json(cls, numbers: Mapping[str, Any]) -> Result:
        """Return the result with these numbers."""
        read: dict[str, Any] = {name: tuple(n) if isinstance(n, list) else n for name, n in numbers.items()}
        return cls(**read)


def simulate(cell: Cell, runs: int, seed: int) -> Result:
    """Return what the runs of one cell come to."""
    estimator = {**ESTIMATORS, **MORE_ESTIMATORS}[cell.estimator]
    sampler = Sampler(cell, seed)
    truth = estimator.truth(sampler.shape)
    counts = {(op, decision): 0 for op in ("<=", ">=") for decision in Decision}
    claimable = intervals = covered = crashed = 0
    widths = []
    for _ in range(runs):
        try:
            estimate = estimator.draw(sampler)
        except (ArithmeticError, np.linalg.LinAlgError):
            crashed += 1
            continue
        for op in ("<=", ">="):
            counts[op, compare(estimate, op, truth).decision] += 1
        claimable += not (estimate.invalid or estimate.suspect or estimate.sparse)
        if not estimate.invalid:
            intervals += 1
            covered += estimate.low <= truth <= estimate.high
            widths.append(_width(estimate, log=estimator.log))
    finite = [width for width in widths if math.isfinite(width)]
    return Result(
        runs,
        (counts["<=", Decision.TRUE] / runs, counts[">=", Decision.TRUE] / runs),
        (counts["<=", Decision.FALSE] / runs, counts[">=", Decision.FALSE] / runs),
        covered / intervals if intervals else math.nan,
        claimable / runs,
        float(np.mean(finite)) if finite else math.nan,
        crashed,
    )


def _width(estimate: Estimate, *, log: bool) -> float:
    if not log:
        return estimate.high - estimate.low
    return math.log(estimate.high / estimate.low) if estimate.low > 0 else math.inf


def summary(results: Mapping[str, Result], before: Mapping[str, Result]) -> Iterator[str]:
    """Yield the error rates of all cells together, and by estimator."""
    for name, cells in {"all": results, **_by_estimator(results)}.items():
        yield f"{name:19s} {_line(cells)}"
        if earlier := {label: before[label] for label in cells if label in before}:
            widths = [cells[label].width / result.width for label, result in earlier.items() if result.width > 0]
            logs = [math.log(width) for width in widths if width > 0 and math.isfinite(width)]
            wider = f"; now {math.exp(float(np.mean(logs))):.3f} times as wide" if logs else ""
            yield f"{'':13s}before {_line(earlier)}{wider}"
    for what in ("fair", "unfair"):
        ranked = sorted(results, key=lambda label: getattr(results[label], f"most_{what}"), reverse=True)
        yield f"most often {what}:"
        yield from (f"  {label} | {results[label].text}" for label in ranked[:8])


def _by_estimator(results: Mapping[str, Result]) -> Mapping[str, Mapping[str, Result]]:
    results_by_estimator: dict[str, dict[str, Result]] = {}
    for label, result in results.items():
        results_by_estimator.setdefault(label.split()[0], {})[label] = result
    return results_by_estimator


def _line(results: Mapping[str, Result]) -> str:
    cells = list(results.values())
    fair = sum(cell.most_fair > cell.allowed(PROMISED) for cell in cells)
    unfair = sum(cell.most_unfair > MOST_UNFAIR for cell in cells)
    beyond = sum(cell.most_unfair > cell.allowed(MOST_UNFAIR) for cell in cells)
    claimed = [cell.covered for cell in cells if cell.claimable >= CLAIMED]
    inside = [COVERED[0] <= share <= COVERED[1] for share in claimed]
    highest = [100 * max(getattr(cell, f"most_{what}") for cell in cells) for what in ("fair", "unfair")]
    mean = 100 * float(np.mean([cell.unfair for cell in cells]))
    return (
        f"{len(cells):3d} cells: fair beyond 2.5% + 2 errors in {fair}, at most {highest[0]:.1f}%; "
        f"unfair beyond 3% in {unfair} ({beyond} by 2 errors), at most {highest[1]:.1f}%, mean {mean:.2f}%; "
        f"claims in {len(claimed)}, covered 93.5 to 98.5% in {np.mean(inside) if inside else math.nan:.0%} of them"
        + (f"; {crashed} runs crashed" if (crashed := sum(cell.crashed for cell in cells)) else "")
    )


def chosen_cells(
    estimators: Iterable[str], shapes: Iterable[str], clusters: Iterable[int], attempts: Iterable[int]
) -> list[Cell]:
    """Return all combinations."""
    return [Cell(*values) for values in itertools.product(estimators, shapes, clusters, attempts)]


def main() -> None:
    """Print one line a cell, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    estimators = {**ESTIMATORS, **MORE_ESTIMATORS}
    names = partial(_names, estimators)
    parser.add_argument(
        "--estimators",
        type=names,
        default=list(ESTIMATORS),
        help=f"of {', '.join(estimators)} (default: the first ten)",
    )
    parser.add_argument(
        "--shapes",
        type=partial(_names, {**SHAPES, **MORE_SHAPES}),
        default=list(SHAPES),
        help=f"of {', '.join({**SHAPES, **MORE_SHAPES})} (default: the first four)",
    )
    parser.add_argument("--clusters", type=_numbers, default=CLUSTERS, help="default: 5,8,12,25,100")
    parser.add_argument("--attempts", type=_numbers, default=ATTEMPTS, help="of a cluster and group; default: 1,5,20")
    parser.add_argument("--cells", type=_cells, help='in place of these four: by label, "rate rare 5 x 1, ..."')
    parser.add_argument("--runs", type=int, default=500, help="samples a cell (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--json", type=Path, help="a file to write the results to")
    parser.add_argument("--against", type=Path, help="a file that --json has written, to compare with")
    options = parser.parse_args()
    before = {}
    if options.against:
        document = json.loads(options.against.read_text(encoding="utf-8"))
        before = {label: Result.from_json(numbers) for label, numbers in document.items()}
    print(f"{'':34s} | fair <=, >= | unfair <=, >= | covered | claims | width    ({options.runs} runs a cell, in %)")
    start = time.process_time()
    results = {}
    for cell in options.cells or chosen_cells(options.estimators, options.shapes, options.clusters, options.attempts):
        results[cell.label] = simulate(cell, options.runs, options.seed)
        earlier = f" | before {before[cell.label].text}" if cell.label in before else ""
        print(f"{cell.label} | {results[cell.label].text}{earlier}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({label: result.to_json() for label, result in results.items()}, indent=1))
    print("\n".join(summary(results, before)))
    print(f"{time.process_time() - start:.0f} s of processor time")


def _names(estimators: Iterable[str], text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(estimators):
        raise argparse.ArgumentTypeError(f"no {', '.join(sorted(unknown))}: choose of {', '.join(estimators)}")
    return names


def _cells(text: str) -> list[Cell]:
    try:
        return [Cell.from_label(label) for label in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    main()
