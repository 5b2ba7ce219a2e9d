"""The one object that estimates are asked of, whatever its attempts came from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.comparisons import note
from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.core.estimates import Ends, Estimate, Family
from pytest_fairness.core.marks import CORRELATIONS, DIFFERENCES, RATIOS
from pytest_fairness.stats import functionals, naming, tables
from pytest_fairness.stats.breakdowns import Compared, Origin, of_functional, of_mean
from pytest_fairness.stats.columns import Clustering, Columns, Floats, Rows
from pytest_fairness.stats.contrasts import Setting, difference_estimate, mean_estimate, ratio_estimate
from pytest_fairness.stats.families import ratio_family, worst_estimate
from pytest_fairness.stats.fillings import Group, group
from pytest_fairness.stats.functionals import Functional
from pytest_fairness.stats.metrics import Sample, functional_estimate, joint
from pytest_fairness.stats.outcomes import Extremes, Outcome, Reader, Reading, outcome_name
from pytest_fairness.stats.resampling import resampled

if TYPE_CHECKING:
    from pytest_fairness.stats.baselines import Against, Later

Sources = Literal["random", "fixed"]


class Measured:
    """The graded attempts of a probe, and the estimates that can be made of them.

    ``confidence`` is the share of samples whose interval holds the truth (0.95).
    ``sources="random"`` clusters by an item's source, "fixed" by item: the verdict then
    holds for these sources only. ``crossed`` names an attribute whose values are drawn at
    random too and recur over items (a name, say). ``extremes`` gives per grade, from a
    prompt, the extreme values that an ungraded answer could have had; without, 0 and 1.
    ``conditions`` names what another sample must share to be compared with this one
    (`against`): the graders, the judge, the decoding.

    An *outcome* is the name of a grade (with ``equals`` for one that holds text), or a
    function of a `GradedAttempt` that gives true, false or a number; where it asks for
    an ungraded value the attempt is ungraded for this outcome.

    >>> rows = [
    ...     {"profile": n, "gender": gender, "hired": (n + bonus) % 2}
    ...     for n in range(40) for gender, bonus in [("female", 0), ("male", 1)]
    ... ]
    >>> measured = Measured.from_rows(rows, item="profile", groups=["gender"])
    >>> measured.items, measured.attempts, measured.groups("gender")
    (40, 80, ('female', 'male'))
    >>> measured.ratio("hired", by="gender", of="female", to="male").value
    1.0

    Raises `FairnessError` for arguments out of range and for a factor that no attempt has.
    """

    def __init__(
        self,
        attempts: Sequence[GradedAttempt],
        *,
        confidence: float = 0.95,
        sources: Sources = "random",
        crossed: str | None = None,
        extremes: Extremes | None = None,
        conditions: Mapping[str, Any] | None = None,
    ) -> None:
        columns = Columns(attempts, sources=sources, crossed=crossed)
        self._set(columns, confidence=confidence, extremes=extremes, conditions=conditions)

    @classmethod
    def from_columns(cls, columns: Columns, *, confidence: float = 0.95, extremes: Extremes | None = None) -> Measured:
        """Of columns made elsewhere: `Columns.from_arrays`."""
        measured = cls.__new__(cls)
        measured._set(columns, confidence=confidence, extremes=extremes)
        return measured

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        item: str,
        groups: Sequence[str],
        source: str | None = None,
        crossed: str | None = None,
        confidence: float = 0.95,
        sources: Sources = "random",
        extremes: Extremes | None = None,
    ) -> Measured:
        """Of a table that somebody else made: one mapping per attempt, from column to value.

        ``item``, ``groups``, ``source`` and ``crossed`` name columns; each other column is a
        grade of its own name, ungraded where it is None or nan.

        Raises `FairnessError` for a column that a row lacks.
        """
        attempts = tables.attempts(rows, item=item, groups=groups, source=source, crossed=crossed)
        return cls(attempts, confidence=confidence, sources=sources, crossed=crossed, extremes=extremes)

    @classmethod
    def from_table(cls, path: str | Path, *, item: str, groups: Sequence[str], **options: Any) -> Measured:
        """Of a file: CSV, JSONL or Parquet, by its ending. Arguments as for `from_rows`.

        In CSV an empty field is ungraded, and grades are read as numbers, true and false where they look so.

        Raises `FairnessError` for a file that cannot be read.
        """
        texts = [item, *groups, *(options[name] for name in ("source", "crossed") if options.get(name))]
        return cls.from_rows(tables.read(path, texts), item=item, groups=groups, **options)

    def _set(
        self,
        columns: Columns,
        *,
        confidence: float,
        extremes: Extremes | None,
        conditions: Mapping[str, Any] | None = None,
    ) -> None:
        if not 0 < confidence < 1:
            raise FairnessError(f"confidence is {confidence!r}: it must lie between 0 and 1")
        self.conditions = conditions or {}
        self._columns = columns
        self._reader = Reader(columns, extremes or {})
        self._clusterings = columns.clusterings()
        self._restrict(np.arange(columns.count), Setting(confidence, {}))

    def _restrict(self, rows: Rows, setting: Setting) -> None:
        self._rows = rows
        self._setting = setting
        self._readings: dict[Callable[..., Any], Reading] = {}
        self._grouped: dict[tuple[int, str], tuple[Reading, dict[str, Group]]] = {}

    @property
    def items(self) -> int:
        """How many items were measured."""
        return self._count(self._rows)

    @property
    def attempts(self) -> int:
        """How many attempts were made, ungraded ones included."""
        return len(self._rows)

    def groups(self, by: str) -> tuple[str, ...]:
        """The groups of an attribute that attempts were made for, sorted."""
        attribute = self._columns.attribute(by)
        present = np.unique(attribute.codes[self._rows])
        return tuple(attribute.labels[code] for code in present if code >= 0)

    def where(self, **attributes: Any) -> Measured:
        """The attempts whose item or prompt has these attributes; a tuple allows several values.

        Values are compared as texts. A value that no attempt has gives estimates that are invalid.

        Raises `FairnessError` for an attribute that no attempt has.
        """
        rows = self._rows
        chosen = dict(self._setting.slice)
        for name, wanted in attributes.items():
            values = [str(value) for value in (wanted if isinstance(wanted, tuple | list | set) else (wanted,))]
            attribute = self._columns.attribute(name)
            codes = [code for code, label in enumerate(attribute.labels) if label in values]
            rows = rows[np.isin(attribute.codes[rows], codes)]
            chosen[name] = " or ".join(sorted(values))
        measured = copy(self)
        measured._restrict(rows, replace(self._setting, slice=chosen))
        return measured

    def whole_items(self) -> Measured:
        """One attempt for each item and repetition, that of the item's first prompt.

        For grades of a whole item (a pair's kind, say), which stand on all of its attempts alike: so each
        item counts once. Raises `FairnessError` for a sample of numbers without attempts.
        """
        attempts = self._columns.attempts
        if not attempts and self._columns.count:
            raise FairnessError("this sample holds no attempts, so nobody knows which are of one item")
        rows = [row for row in self._rows.tolist() if attempts[row].prompt is attempts[row].item.prompts[0]]
        measured = copy(self)
        measured._restrict(np.array(rows, dtype=np.int64), self._setting)
        return measured

    def rate(self, outcome: Outcome, *, equals: Any = None, named: str | None = None) -> Estimate:
        """How often an outcome that is true or false is true: from 0 to 1.

        ``named`` is what the results file calls it (default: ``rate(outcome)``).
        Wilson's interval with an effective number of attempts; Jeffreys' as well with few events, exact at 0 and 1.
        """
        return note(self._mean("rate", outcome, equals, named))

    def mean(self, outcome: Outcome) -> Estimate:
        """The mean of a number over attempts, in its own units, with Student's t over clusters."""
        return note(self._mean("mean", outcome, None))

    def difference(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """The rate or mean of one group less that of another. A difference of rates is marked by size."""
        first, second = self._pair(outcome, equals, by, of, to)
        name = naming.difference_name(outcome_name(outcome, equals), by, of, to)
        breakdown = self._compared(outcome, equals, by, (first, second), to).broken_down(first, second)
        items = self._items_of((first, second), by)
        estimate = difference_estimate(self._setting, name, first, second, items, breakdown)
        # A number has units that no scale can know.
        rates = first.graded.binary and second.graded.binary
        return note(estimate.marked(DIFFERENCES) if rates else estimate)

    def ratio(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """The rate or mean of one group over that of another; the interval is made on the logarithm."""
        first, second = self._pair(outcome, equals, by, of, to)
        name = naming.ratio_name(outcome_name(outcome, equals), by, of, to)
        breakdown = self._compared(outcome, equals, by, (first, second), to).broken_down(first, second, log=True)
        estimate = ratio_estimate(self._setting, name, first, second, self._items_of((first, second), by), breakdown)
        return note(estimate.marked(RATIOS))

    def ratios(self, outcome: Outcome, *, by: str, to: str | None = None, equals: Any = None) -> Family:
        """The ratios of all pairs of groups, the smaller over the larger; with ``to`` of each group over that one.

        All must hold. For fair, each has its own interval; for unfair, all have one together.
        """
        if to is not None:
            self._check_group(by, to)
        members, compared = self._family(outcome, equals, by, to)
        if not members:
            number = len(self.groups(by))
            reason = f"{by} has {number} group{'' if number == 1 else 's'}: a ratio needs two"
            name = naming.family_name(outcome_name(outcome, equals), by)
            members = {by: self._setting.invalid(name, reason, breakdown=compared.broken_down())}
        return Family({name: note(member.marked(RATIOS)) for name, member in members.items()})

    def worst_ratio(self, outcome: Outcome, *, by: str, equals: Any = None) -> Estimate:
        """The smallest ratio of any two groups, smaller over larger. Its value is biased low, its interval is not."""
        members, compared = self._family(outcome, equals, by, None)
        name = naming.worst_name(outcome_name(outcome, equals), by)
        estimate = worst_estimate(compared, name, members, self._items_of(compared.groups, by))
        return note(estimate.marked(RATIOS))

    def against(self, baseline: Measured | Later) -> Against:
        """This sample against an earlier one of the same items and prompts: is it no worse?

        ``measured.against(baseline).ratio(...) <= 1.1``: at most 1.1 times further from parity.
        Raises `FairnessError` where the two cannot be compared.
        """
        from pytest_fairness.stats.baselines import Against

        return Against(self, baseline)

    def correlation(self, first: Outcome, second: Outcome) -> Estimate:
        """Pearson's correlation of two outcomes over attempts: from -1 to 1, by Fisher's z."""
        name = naming.correlation_name(outcome_name(first), outcome_name(second))
        functions = [self._reader.function(first), self._reader.function(second)]
        sample = joint(self._columns, self._reader, (first, second), functions, self._rows)
        sample = sample.mapped(functionals.correlation_columns)
        breakdown = partial(of_functional, self._origin(), functionals.CORRELATION, sample.values, math.tanh)
        estimate = functional_estimate(
            self._setting, name, functionals.CORRELATION, sample, self._here(), self.items, breakdown, math.tanh
        )
        return note(estimate.marked(CORRELATIONS))

    def metric(
        self, function: functionals.Function, *, span: tuple[float, float] | None = None, **sums: Outcome
    ) -> Estimate:
        """A metric of your own: a function of sums over the sample, each the sum of an outcome.

        ``span`` is the range that the metric cannot leave, so that its interval does not either.

        >>> def spread(s):
        ...     return s.squares / s.attempts - (s.score / s.attempts) ** 2
        >>> rows = [{"item": n, "score": n % 3} for n in range(60)]
        >>> measured = Measured.from_rows(rows, item="item", groups=[])
        >>> estimate = measured.metric(spread, score="score", squares=lambda a: a["score"] ** 2, attempts=lambda a: 1)
        >>> round(estimate.value, 4), estimate.metric
        (0.6667, 'spread')

        An attempt that is ungraded in one of the sums is left out of all of them, and filled
        in with each of its extreme grades. The interval is Student's t with a jackknife over clusters.
        """
        sample = self._sample(sums)
        name = naming.metric_name(outcome_name(function))
        functional = Functional(function, tuple(sums))
        breakdown = partial(of_functional, self._origin(), functional, sample.values)
        estimate = functional_estimate(self._setting, name, functional, sample, self._here(), self.items, breakdown)
        if span is not None and estimate.ends_at is not None:
            estimate = _clipped(estimate, estimate.ends_at, span)
        return note(estimate)

    def resamples(
        self, function: functionals.Function, *, draws: int = 10_000, seed: int = 0, **sums: Outcome
    ) -> Floats:
        """What a metric of your own comes to in ``draws`` resamples of whole sources: an array of shape (draws,).

        For looking at the whole distribution: a histogram, a skew, a chance to exceed a value.
        Verdicts do not use it: with few sources or events a percentile interval of resamples
        covers down to 80%, where the jackknife's with Student's t keeps its 95% (`metric`).
        Arguments as for `metric`; an attempt that is ungraded in one of the sums is left out.
        A resample for which the function has no value gives nan.

        >>> rows = [{"item": n, "hired": n % 2, "sex": sex} for n in range(60) for sex in ("f", "m")]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> def of(sex, grade=None):
        ...     return lambda a: (a[grade] if grade else 1) * (a.prompt.groups["sex"] == sex)
        >>> def ratio(s):
        ...     return (s.f / s.of_f) / (s.m / s.of_m)
        >>> draws = measured.resamples(ratio, f=of("f", "hired"), m=of("m", "hired"), of_f=of("f"), of_m=of("m"))
        >>> draws.shape, float(draws.std())
        ((10000,), 0.0)

        Raises `FairnessError` for draws below 1, for a sample with a crossed factor, and for
        one that no interval could be made of either.
        """
        return resampled(Functional(function, tuple(sums)), self._sample(sums).values, self._here(), draws, seed)

    def _sample(self, sums: Mapping[str, Outcome]) -> Sample:
        if not sums:
            raise FairnessError("a metric needs sums: metric(function, name=outcome, ...)")
        functions = [self._reader.function(outcome) for outcome in sums.values()]
        return joint(self._columns, self._reader, tuple(sums.values()), functions, self._rows)

    def _mean(self, kind: str, outcome: Outcome, equals: Any, named: str | None = None) -> Estimate:
        name = outcome_name(outcome, equals)
        reading = self._reading(outcome, equals)
        if kind == "rate" and not reading.binary:
            raise FairnessError(f"{name} holds numbers other than 0 and 1: take its mean, or say equals=...")
        everyone = group("all", reading, self._rows, self._clusterings, self._columns.prompts)
        breakdown = partial(of_mean, self._origin(), reading, everyone)
        called = naming.mean_name(kind, name) if named is None else naming.own_name(named)
        return mean_estimate(self._setting, called, everyone, self.items, breakdown)

    def _pair(self, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> tuple[Group, Group]:
        for name in (of, to):
            self._check_group(by, name)
        if of == to:
            raise FairnessError(f"{of!r} is compared with itself: name two groups of {by}")
        groups = self._groups(self._reading(outcome, equals), by, (of, to))
        return groups[of], groups[to]

    def _family(
        self, outcome: Outcome, equals: Any, by: str, to: str | None
    ) -> tuple[Mapping[str, Estimate], Compared]:
        names = self.groups(by) if to is None else tuple(sorted({*self.groups(by), to}))
        groups = list(self._groups(self._reading(outcome, equals), by, names).values())
        named = partial(naming.ratio_name, outcome_name(outcome, equals), by)
        compared = self._compared(outcome, equals, by, groups, to)
        return ratio_family(compared, named, partial(self._items_of, by=by)), compared

    def _compared(self, outcome: Outcome, equals: Any, by: str, groups: Sequence[Group], to: str | None) -> Compared:
        return Compared(self._origin(), self._reading(outcome, equals), by, groups, to)

    def _origin(self) -> Origin:
        return Origin(self._columns, self._rows, self._clusterings[0], self._setting)

    def _check_group(self, by: str, name: str) -> None:
        labels = self._columns.attribute(by).labels
        if self._columns.count and name not in labels:
            raise FairnessError(f"{by} has no group {name!r}: {near(name, labels)}")

    def _reading(self, outcome: Outcome, equals: Any) -> Reading:
        if isinstance(outcome, str):
            return self._reader.named(outcome, equals)
        if equals is not None:
            raise FairnessError("equals= goes with the name of a grade: a function can compare for itself")
        if outcome not in self._readings:
            self._readings[outcome] = self._reader.computed_reading(outcome, self._rows)
        return self._readings[outcome]

    def _groups(self, reading: Reading, by: str, names: Sequence[str]) -> dict[str, Group]:
        # The reading is kept beside its groups so that its id stays its own.
        _, known = self._grouped.setdefault((id(reading), by), (reading, {}))
        attribute = self._columns.attribute(by)
        for name in names:
            if name not in known:
                code = attribute.labels.index(name) if name in attribute.labels else len(attribute.labels)
                rows = self._rows[attribute.codes[self._rows] == code]
                known[name] = group(name, reading, rows, self._clusterings, self._columns.prompts)
        return {name: known[name] for name in names}

    def _here(self) -> list[Clustering]:
        return [clustering[self._rows] for clustering in self._clusterings]

    def _items_of(self, groups: Sequence[Group], by: str) -> int:
        attribute = self._columns.attribute(by)
        names = {group.name for group in groups}
        codes = [code for code, label in enumerate(attribute.labels) if label in names]
        return self._count(self._rows[np.isin(attribute.codes[self._rows], codes)])

    def _count(self, rows: Rows) -> int:
        return len(np.unique(self._columns.items.codes[rows]))


def _clipped(estimate: Estimate, ends_at: Ends, span: tuple[float, float]) -> Estimate:
    def clip(low: float, high: float) -> tuple[float, float]:
        return max(low, span[0]), min(high, span[1])

    low, high = clip(estimate.low, estimate.high)
    return replace(estimate, low=low, high=high, ends_at=lambda tail: clip(*ends_at(tail)))
