"""The price of a verdict of fair: sources needed, beside the best textbook procedure that keeps its 2.5%.

    python tests/benchmarks/textbook.py
    python tests/benchmarks/textbook.py --kinds rating-gap,odds-ratio --sources 12,50 --names 0,16 --runs 1000

The truth lies in the middle of a band. The band is as wide as the best textbook procedure needs to call it fair in 80%
of runs with the given number of sources; ours is the number with which a first run calls it fair as often. Among the
textbook procedures those count that call a model on an end of that band fair in at most 2.5%, plus two simulation
errors; where none does, the one that errs least, with an asterisk. With `--names`, each group has so many names, which
recur over sources (crossed). Their number stays, so no number of sources that is tried may do: then the factor to the
names is printed. `width` is that of our interval over the textbook's, at the textbook's sources.

Grades are dense: a function of a normal variable, part of which a source shares, and a name. The samples of one run are
nested (common random numbers). Seeded: a cell has the same numbers whatever else is run. Ten minutes of CPU.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq  # type: ignore[import-untyped]
from scipy.special import betaincinv, expit, logit, ndtri, stdtrit  # type: ignore[import-untyped]

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Ends = tuple[Floats, Floats]
"""Lower and upper ends, one for each run, on the scale of the band."""

TAIL, POWER = 0.025, 0.8
FIRST_RUN = 0.955
"""The confidence of a threshold's first run: later runs have a tenth of the error."""
SHARED, BY_NAME = 0.3, 0.1
"""The shares of a normal variable's variance that a source's attempts have in common, and a name's."""
FACTORS = (0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2.0, 2.5, 3.0, 4.0)
"""The numbers of sources that are tried, over the textbook's."""
MOST_EFFECT = 10.0
PAIR = {"by": "group", "of": "g0", "to": "g1"}


@dataclass(frozen=True, eq=False)
class Kind:
    """A metric, its grades, and how the textbook makes its interval."""

    grade: Callable[[Floats, float], Floats]
    """The grade of standard normal values in a group that an effect has shifted."""
    estimate: Callable[[Measured], Estimate]
    procedures: Mapping[str, Callable[[Sample], Ends]]
    groups: int = 2
    attempts: int = 1
    """Attempts of a source and group."""
    scale: Callable[[Floats], Floats] = lambda mean: mean
    """The scale of a group's mean on which the band is: differences, of logarithms or logits for ratios."""
    to_value: Callable[[float], float] = lambda end: end
    """The metric's own value of one on that scale."""
    slope: Callable[[Floats], Floats] = np.ones_like
    """The derivative of `scale`."""
    unit: float = 1.0
    """Factor of the printed band."""


@cache
def truth(kind: Kind, effect: float) -> float:
    """Return the metric over all sources, on the scale of the band."""
    normal = ndtri((np.arange(20_000) + 0.5) / 20_000)
    means = [kind.scale(kind.grade(normal, of_group).mean()) for of_group in (effect, 0.0)]
    return float(means[0] - means[1]) if kind.groups == 2 else float(means[0])


@dataclass(frozen=True)
class Sample:
    """Grades of several runs."""

    kind: Kind
    grades: Floats
    """Shape (runs, sources, groups, attempts)."""
    names: Codes | None = None
    """The name of each within its group, of the same shape; None where none recur."""
    levels: int = 0
    """The names of each group."""

    def first(self, sources: int) -> Sample:
        """Return the samples of the first sources."""
        names = None if self.names is None else self.names[:, :sources]
        return Sample(self.kind, self.grades[:, :sources], names, self.levels)

    def middle(self) -> Floats:
        """Return the metric of each run."""
        values = self.kind.scale(self.means())
        middle: Floats = values[:, 0] - values[:, 1] if self.kind.groups == 2 else values[:, 0]
        return middle

    def means(self) -> Floats:
        """Return the means of the groups, shape (runs, groups)."""
        means: Floats = self.grades.mean(axis=(1, 3))
        return means

    def influences(self) -> Floats:
        """Return the influence of each attempt on the metric (linearized), of the shape of the grades."""
        means, size = self.means(), self.grades.shape[1] * self.grades.shape[3]
        sign = np.array([1.0, -1.0])[: self.kind.groups]
        factors: Floats = self.kind.slope(means) * sign / size
        influences: Floats = (self.grades - means[:, None, :, None]) * factors[:, None, :, None]
        return influences


def draw(kind: Kind, generator: np.random.Generator, runs: int, sources: int, effect: float, levels: int) -> Sample:
    """Draw samples, with the effect in the first group."""
    attempts = min(2, levels) if levels else kind.attempts
    shape = (runs, sources, kind.groups, attempts)
    own = 1 - SHARED - (BY_NAME if levels else 0)
    normal = math.sqrt(SHARED) * generator.standard_normal((runs, sources, 1, 1))
    normal = normal + math.sqrt(own) * generator.standard_normal(shape)
    names = None
    if levels:
        first = generator.integers(levels, size=(*shape[:3], 1))
        names = np.concatenate([first, (first + generator.integers(1, levels, size=first.shape)) % levels], axis=3)
        effects = generator.standard_normal((runs, 1, kind.groups, levels))
        normal = normal + math.sqrt(BY_NAME) * np.take_along_axis(effects, names, axis=3)
    shifted = [kind.grade(normal[:, :, group], effect if group == 0 else 0.0) for group in range(kind.groups)]
    return Sample(kind, np.stack(shifted, axis=2), names, levels)


def student(sample: Sample, *, leverage: bool = False) -> Ends:
    """Return the ends of Student's t over sources: the paired t for a difference.

    With ``leverage`` the error of a regression (GEE) is bias-reduced (Mancl and DeRouen 2001).
    """
    number = sample.grades.shape[1]
    sums = np.square(sample.influences().sum(axis=(2, 3))).sum(axis=1)
    factor = (number / (number - 1)) ** 2 if leverage else number / (number - 1)
    reach = -stdtrit(number - 1, TAIL) * np.sqrt(factor * sums)
    return sample.middle() - reach, sample.middle() + reach


def bias_reduced(sample: Sample) -> Ends:
    """Return the ends of a regression with a bias-reduced error."""
    return student(sample, leverage=True)


def johnson(sample: Sample) -> Ends:
    """Return the ends of Johnson's (1978) modified t."""
    low, high = student(sample)
    means = sample.grades.mean(axis=(2, 3))
    number, centered = means.shape[1], means - means.mean(axis=1, keepdims=True)
    quantile = stdtrit(number - 1, TAIL)
    third = (centered**3).mean(axis=1) / np.square(centered).mean(axis=1)
    shift = third * (1 + 2 * quantile**2) / (6 * number)
    return low + shift, high + shift


def clopper_pearson(sample: Sample) -> Ends:
    """Return exact ends of a rate with one attempt a source."""
    number = sample.grades.shape[1]
    events = sample.grades.sum(axis=(1, 2, 3))
    low = np.where(events > 0, betaincinv(np.maximum(events, 1), number - events + 1, TAIL), 0.0)
    high = np.where(events < number, betaincinv(events + 1, np.maximum(number - events, 1), 1 - TAIL), 1.0)
    return low, high


def wilson(sample: Sample) -> Ends:
    """Return Wilson's ends of a rate with one attempt a source."""
    number, rate, z = sample.grades.shape[1], sample.means()[:, 0], -ndtri(TAIL)
    middle = (rate + z**2 / (2 * number)) / (1 + z**2 / number)
    reach = z * np.sqrt(rate * (1 - rate) / number + z**2 / (4 * number**2)) / (1 + z**2 / number)
    return middle - reach, middle + reach


def two_way(sample: Sample) -> Ends:
    """Return the ends of a two-way t: variances by source and by name of each group add up, with Welch's df."""
    by_source, *by_name = _parts(sample)
    numbers = [sample.grades.shape[1], *[sample.levels] * len(by_name)]
    parts = [variance * number / (number - 1) for variance, number in zip((by_source, *by_name), numbers, strict=True)]
    total = np.sum(parts, axis=0)
    df = total**2 / np.sum([part**2 / (number - 1) for part, number in zip(parts, numbers, strict=True)], axis=0)
    reach = -stdtrit(df, TAIL) * np.sqrt(total)
    return sample.middle() - reach, sample.middle() + reach


def two_way_sandwich(sample: Sample) -> Ends:
    """Return the ends of Cameron, Gelbach and Miller's (2011) variance, with t of the fewer clusters less one."""
    by_source, *by_name = _parts(sample)
    by_attempt = np.square(sample.influences()).sum(axis=(1, 2, 3))
    total = np.maximum(by_source + np.sum(by_name, axis=0) - by_attempt, by_source)
    fewest = min(sample.grades.shape[1], sample.levels)
    reach = -stdtrit(fewest - 1, TAIL) * np.sqrt(total * fewest / (fewest - 1))
    return sample.middle() - reach, sample.middle() + reach


def _parts(sample: Sample) -> list[Floats]:
    """Return the sums of squares by source, and by name in each group."""
    assert sample.names is not None
    influences, runs = sample.influences(), sample.grades.shape[0]
    parts = [np.square(influences.sum(axis=(2, 3))).sum(axis=1)]
    for group in range(sample.kind.groups):
        codes = sample.names[:, :, group] + sample.levels * np.arange(runs)[:, None, None]
        sums = np.bincount(codes.ravel(), influences[:, :, group].ravel(), runs * sample.levels)
        parts.append(np.square(sums.reshape(runs, sample.levels)).sum(axis=1))
    return parts


def event(base: float) -> Callable[[Floats, float], Floats]:
    """Return events of a base rate; the effect is one of logits."""
    return lambda normal, effect: (normal > -ndtri(expit(logit(base) + effect))).astype(np.float64)


def score(middle: float, spread: float) -> Callable[[Floats, float], Floats]:
    """Return scores from 0 to 1, by hundredths."""
    return lambda normal, effect: np.clip(np.round(middle + spread * normal + effect, 2), 0, 1)


def rating(normal: Floats, effect: float) -> Floats:
    """Return ratings from 1 to 7, as scores from 0 to 1."""
    return np.clip(np.round(4.4 + 1.2 * normal + 6 * effect), 1, 7) / 6 - 1 / 6


CLUSTERED = {"cluster-robust t": student, "bias-reduced t": bias_reduced}
PAIRED = {"paired t": student}
NAMED = {"two-way t": two_way, "two-way sandwich": two_way_sandwich}


KINDS = {
    "score": Kind(score(0.5, 0.12), lambda m: m.mean("grade"), {"t": student, "Johnson's t": johnson}, groups=1),
    "score-gap": Kind(score(0.5, 0.12), lambda m: m.difference("grade", **PAIR), PAIRED, unit=100.0),
    "rating-gap": Kind(rating, lambda m: m.difference("grade", **PAIR), PAIRED, unit=6.0),
    "rate": Kind(
        event(0.5), lambda m: m.rate("grade"), {"Clopper-Pearson": clopper_pearson, "Wilson": wilson}, groups=1
    ),
    "rate-of-5": Kind(event(0.5), lambda m: m.rate("grade"), CLUSTERED, groups=1, attempts=5),
    "difference": Kind(event(0.5), lambda m: m.difference("grade", **PAIR), PAIRED, attempts=5),
    "ratio": Kind(
        event(0.6),
        lambda m: m.ratio("grade", **PAIR),
        CLUSTERED,
        attempts=5,
        scale=np.log,
        slope=np.reciprocal,
        to_value=math.exp,
    ),
    "odds-ratio": Kind(
        event(0.5),
        lambda m: m.odds_ratio("grade", **PAIR),
        CLUSTERED,
        attempts=5,
        scale=logit,
        slope=lambda mean: 1 / (mean * (1 - mean)),
        to_value=math.exp,
    ),
}


@cache
def _empty(kind: Kind, sources: int, attempts: int) -> Columns:
    source, group, _ = np.indices((sources, kind.groups, attempts)).reshape(3, -1)
    return Columns.from_arrays(source.tolist(), {}, {"group": [f"g{number}" for number in group.tolist()]})


def intervals(sample: Sample) -> list[Estimate]:
    """Return our estimates, one for each run."""
    kind, sources, attempts = sample.kind, sample.grades.shape[1], sample.grades.shape[3]
    estimates = []
    for run, grades in enumerate(sample.grades):
        columns = _empty(kind, sources, attempts)
        if sample.names is not None:
            source, group, _ = np.indices(grades.shape).reshape(3, -1)
            names = [f"{g} {name}" for g, name in zip(group.tolist(), sample.names[run].ravel().tolist(), strict=True)]
            groups = {"group": [f"g{number}" for number in group.tolist()], "name": names}
            columns = Columns.from_arrays(source.tolist(), {}, groups, crossed="name")
        columns = columns.regraded({"grade": grades.ravel()})
        estimates.append(kind.estimate(Measured.from_columns(columns, confidence=FIRST_RUN)))
    return estimates


def share_fair(kind: Kind, estimates: list[Estimate], low: float, high: float) -> float:
    """Return the share of estimates that are called fair in a band."""
    ends = ((">=", kind.to_value(low)), ("<=", kind.to_value(high)))
    return float(np.mean([all(e.decide(op, end) is Verdict.FAIR for op, end in ends) for e in estimates]))


class Cell:
    """A kind with a number of sources at which the best textbook procedure has its power."""

    def __init__(self, name: str, sources: int, levels: int, seed: int) -> None:
        self.kind, self.sources, self.levels = KINDS[name], sources, levels
        self.label = f"{name:10s} {sources:3d} sources {f'{levels:2d} names' if levels else '':8s}"
        self._seed = [seed, zlib.crc32(self.label.encode())]

    def samples(
        self, runs: int, sources: int, effect: float = 0.0, stream: int = 0, levels: int | None = None
    ) -> Sample:
        """Draw samples; those of one stream are alike but for the effect."""
        generator = np.random.default_rng([*self._seed, stream])
        return draw(self.kind, generator, runs, sources, effect, self.levels if levels is None else levels)

    def errors(self, half: float, runs: int, fair: Callable[[Sample, float, float], float]) -> float:
        """Return the share called fair where the truth is an end of the band, of the end at which it is larger."""
        middle, shares = truth(self.kind, 0.0), [0.0]
        for sign in (1.0, -1.0):
            if (effect := self._effect(middle + sign * half)) is not None:
                band = sorted((truth(self.kind, effect), middle - sign * half))
                shares.append(fair(self.samples(runs, self.sources, effect, stream=1), *band))
        return max(shares)

    def _effect(self, value: float) -> float | None:
        """Return the effect that makes the metric this, on the scale of the band; None where none does."""
        if not truth(self.kind, -MOST_EFFECT) < value < truth(self.kind, MOST_EFFECT):
            return None
        return float(brentq(lambda effect: truth(self.kind, effect) - value, -MOST_EFFECT, MOST_EFFECT, xtol=1e-4))

    def line(self, runs: int, textbook_runs: int) -> str:
        """Return a line of the table."""
        kind, middle = self.kind, truth(self.kind, 0.0)
        sample = self.samples(textbook_runs, self.sources)
        allowed = TAIL + 2 * math.sqrt(TAIL * (1 - TAIL) / textbook_runs)
        candidates = []
        for name, ends in (NAMED if self.levels else kind.procedures).items():
            low, high = ends(sample)
            half = float(np.quantile(np.nan_to_num(np.maximum(high - middle, middle - low), nan=math.inf), POWER))
            error = self.errors(half, textbook_runs, lambda drawn, *band, ends=ends: _share_inside(ends(drawn), *band))
            is_beyond = error > allowed
            rank = error if is_beyond else half
            candidates.append((is_beyond, rank, half, error, name, float(np.median(high - low))))
        is_beyond, _, half, error, name, width = min(candidates)
        name += "*" if is_beyond else ""
        words = ", ".join(f"{other} {100 * its_error:.1f}" for _, _, _, its_error, other, _ in candidates)
        needed = self._needed(half, runs)
        if self.levels and needed.startswith(">"):
            needed += f"; names {self._needed(half, runs, of_names=True)}"
        at_textbook = intervals(self.samples(runs, self.sources))
        our_width = float(np.median([_width(kind, estimate) for estimate in at_textbook]))
        ours = self.errors(half, runs, lambda drawn, *band: share_fair(kind, intervals(drawn), *band))
        return (
            f"{self.label} | {kind.unit * half:6.3f} | {name:17s} | {needed:>4s} | {our_width / width:5.2f} | "
            f"{100 * error:4.1f} | {100 * ours:4.1f} | {words}"
        )

    def _needed(self, half: float, runs: int, *, of_names: bool = False) -> str:
        """Return the factor to the sources, or to the names, with which ours has the power."""
        kind, middle = self.kind, truth(self.kind, 0.0)
        powers: dict[int, float] = {}
        most = None if of_names else self.samples(runs, round(FACTORS[-1] * self.sources))

        def power(index: int) -> float:
            if index not in powers:
                if most is None:
                    levels = max(2, round(FACTORS[index] * self.levels))
                    sample = self.samples(runs, self.sources, levels=levels)
                else:
                    sample = most.first(max(5, round(FACTORS[index] * self.sources)))
                powers[index] = share_fair(kind, intervals(sample), middle - half, middle + half)
            return powers[index]

        low, high = -1, len(FACTORS)
        while high - low > 1:
            index = (low + high) // 2
            low, high = (low, index) if power(index) >= POWER else (index, high)
        if high == len(FACTORS):
            return f"> {FACTORS[-1]:.0f}"
        if high == 0 or power(high - 1) >= power(high):
            return f"{FACTORS[high]:.2f}"
        # Between two sizes the normal quantile of the power is about linear in their root.
        before, after = (ndtri(np.clip(power(index), 0.5 / runs, 1 - 0.5 / runs)) for index in (high - 1, high))
        share = float((ndtri(POWER) - before) / (after - before))
        roots = [math.sqrt(FACTORS[index]) for index in (high - 1, high)]
        return f"{(roots[0] + (roots[1] - roots[0]) * share) ** 2:.2f}"


def _width(kind: Kind, estimate: Estimate) -> float:
    if kind.to_value is not math.exp:
        return estimate.high - estimate.low
    return math.log(estimate.high / estimate.low) if estimate.low > 0 else math.inf


def _share_inside(ends: Ends, low: float, high: float) -> float:
    return float(np.mean((ends[0] >= low) & (ends[1] <= high)))


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("--sources", type=_numbers, default=[12, 20, 50, 100], help="default: 12,20,50,100")
    parser.add_argument("--names", type=_numbers, default=[0, 8, 16, 40], help="of each group; default: 0,8,16,40")
    parser.add_argument("--runs", type=int, default=100, help="samples that we judge, of each size (default: 100)")
    parser.add_argument("--textbook-runs", type=int, default=8000, help="samples of the textbook (default: 8000)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    options = parser.parse_args()
    start = time.process_time()
    np.seterr(divide="ignore", invalid="ignore")  # a group without an event has no logarithm: its ends are not finite
    print("cell | half the band | best procedure | ours, times its sources | width | its error, ours | others' (in %)")
    for levels in options.names:
        for name in options.kinds:
            if not levels or KINDS[name].groups == 2:
                for sources in options.sources:
                    print(
                        Cell(name, sources, levels, options.seed).line(options.runs, options.textbook_runs), flush=True
                    )
    print(f"{time.process_time() - start:.0f} s of processor time")


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    main()
