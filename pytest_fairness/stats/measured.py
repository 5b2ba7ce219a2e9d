"""A sample of graded attempts, and the estimates that can be made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Literal, Protocol

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.calls import explains_calls
from pytest_fairness.core.comparisons import (
    for_report,
    for_threshold,
    note_table,
    record_estimates,
    refuse_in_threshold,
)
from pytest_fairness.core.errors import FairnessError, MisuseError, short_repr
from pytest_fairness.core.estimate_families import EstimateFamily
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.exclusions import LeftOut
from pytest_fairness.core.formatting import checked_title, counted
from pytest_fairness.core.marks import CORRELATIONS
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats import custom_metrics, metric_names, sample_tables, table_reader
from pytest_fairness.stats.breakdowns import GroupComparison, functional_breakdown, mean_breakdown
from pytest_fairness.stats.calibration.labels import Row
from pytest_fairness.stats.columns import Columns, Floats
from pytest_fairness.stats.custom_metrics import Functional
from pytest_fairness.stats.families import DIFFERENCE, ODDS_RATIO, RATIO, Kind, family, worst_estimate
from pytest_fairness.stats.flips import estimate_flips
from pytest_fairness.stats.group_estimates import StrictTail, contrast_estimate, mean_estimate
from pytest_fairness.stats.metric_definition import MetricCall, MetricDefinition
from pytest_fairness.stats.metric_estimates import MetricSample, functional_estimate
from pytest_fairness.stats.noninferiority.baseline import BaselineComparison
from pytest_fairness.stats.outcome_vectors import NO_RATE, GroupOutcomes, Outcome, group
from pytest_fairness.stats.outcomes import outcome_name
from pytest_fairness.stats.resampling import draw_resamples
from pytest_fairness.stats.selection import Selection
from pytest_fairness.stats.table_reader import ExtremesOf

Sources = Literal["random", "fixed"]
Recorded = Estimate | EstimateFamily
"""An estimate, or a family, that a threshold test records."""


class DeferredMeasured(Protocol):
    """A sample that is read from the store on first use, as the fixtures provide it."""

    def load(self) -> Measured:
        """Return the sample."""
        ...


@explains_calls
class Measured:
    """The graded attempts of a probe, and the estimates that can be made of them.

    An *outcome* is the name of a grade, or a function of a `GradedAttempt` that returns true, false or a number; where
    it reads an ungraded value the attempt is ungraded for this outcome. Of a grade that holds text, ``equals`` names
    the value that counts. Groups are the values of an attribute of prompts (``by``).

    Args:
        attempts: The graded attempts, in any order.
        confidence: The share of samples whose interval holds the truth, between 0 and 1.
        sources: "random" clusters by an item's source, "fixed" by item: the verdict then holds for these sources only.
        crossed: An attribute whose values are drawn at random too and recur over items (a name, say).
        extremes: The extreme values that an ungraded answer could have had, per grade: a pair, ``{"rating": (1, 5)}``,
            or a function of its prompt. Grades that are true or false, and text with ``equals``, need none.
        conditions: What another sample must share to be compared with this one (`against`): the graders, the judge,
            the decoding.
        calibration: A human's labels of a judge's grades (`read_labels`). Rates, means, differences and ratios of
            these grades are corrected by them.
        left_out: The prompts of the probe that an option of the run left out (`core.exclusions`). A group that only
            they name is a group without attempts.

    >>> rows = [
    ...     {"profile": n, "gender": gender, "hired": (n + bonus) % 2}
    ...     for n in range(40) for gender, bonus in [("female", 0), ("male", 1)]
    ... ]
    >>> measured = Measured.from_rows(rows, item="profile", groups=["gender"])
    >>> measured.items, measured.attempts, measured.groups("gender")
    (40, 80, ('female', 'male'))
    >>> measured.ratio("hired", by="gender", of="female", to="male").value
    1.0

    Raises:
        FairnessError: An argument is out of range, or no attempt has the crossed factor.
    """

    def __init__(
        self,
        attempts: Sequence[GradedAttempt],
        *,
        confidence: float = 0.95,
        sources: Sources = "random",
        crossed: str | None = None,
        extremes: Mapping[str, ExtremesOf] | None = None,
        conditions: Mapping[str, Any] | None = None,
        calibration: Sequence[Row] = (),
        left_out: LeftOut = MappingProxyType({}),
    ) -> None:
        if not isinstance(attempts, Sequence) or not all(isinstance(one, GradedAttempt) for one in attempts[:1]):
            raise FairnessError(f"the attempts are {short_repr(attempts)}: give a list of GradedAttempt")
        columns = Columns(attempts, sources=sources, crossed=crossed, left_out=left_out)
        declared = table_reader.read_extremes(extremes)
        options: dict[str, Any] = {"extremes": declared, "conditions": conditions, "calibration": calibration}
        self.selection = Selection(columns, confidence=confidence, **options)

    @classmethod
    def from_selection(cls, selection: Selection) -> Measured:
        """Return a sample of these attempts."""
        measured = cls.__new__(cls)
        measured.selection = selection
        return measured

    @classmethod
    def from_columns(cls, columns: Columns, **options: Any) -> Measured:
        """Return a sample of existing columns.

        Args:
            columns: The columns, such as `Columns.from_arrays` makes.
            **options: As for `Selection`.
        """
        return cls.from_selection(Selection(columns, **options))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        item: str,
        groups: Sequence[str],
        source: str | None = None,
        crossed: str | None = None,
        placebo: str | None = None,
        confidence: float = 0.95,
        sources: Sources = "random",
        extremes: Mapping[str, ExtremesOf] | None = None,
        calibration: Sequence[Row] = (),
        select: Mapping[str, Any] | None = None,
        grades: Sequence[str] | None = None,
    ) -> Measured:
        """Return a sample of a recorded table. Each column without another role is a grade of its own name.

        Args:
            rows: One mapping per attempt, from column to value. A grade of None or nan is ungraded.
            item: The column with the item.
            groups: The columns with groups, which are the attributes of prompts.
            source: The column with the source; without one, each item is its own.
            crossed: The column with a factor that is drawn at random too and recurs over items.
            placebo: The column that holds ``original`` for answers to a text that was reworded, and any other value
                for those to another wording of it, which `flips` alone reads. It is empty for all others.
            confidence: As for the class, like all that follow.
            sources: "random" or "fixed".
            extremes: The extreme values of an ungraded answer, per grade: a pair, or a function of its prompt.
            calibration: A human's labels of a judge's grades.
            select: The rows that are taken, by the value of a column, as ``{"model": "gpt-5-mini"}``.
            grades: The columns that are grades; by default all without another role. The others select rows (`where`).

        Raises:
            FairnessError: A row lacks a column, two groups look alike, or the rows are answers of several models.
        """
        roles: dict[str, Any] = {"item": item, "groups": groups, "source": source, "crossed": crossed}
        attempts, table = table_reader.read_attempts(rows, **roles, placebo=placebo, select=select, grades=grades)
        options: dict[str, Any] = {"extremes": extremes, "calibration": calibration}
        measured = cls(attempts, confidence=confidence, sources=sources, crossed=crossed, **options)
        table_reader.check_extremes_names(extremes, attempts)
        measured.selection.columns.table = table
        return measured

    @classmethod
    def from_table(cls, table: Any, *, item: str, groups: Sequence[str], **options: Any) -> Measured:
        """Return a sample of a recorded table: a file, or a frame of pandas, polars, pyarrow or another library.

        In CSV an empty field is ungraded, and so is nan; grades are read as numbers, true and false where they look so.
        The fields of a nested object are columns too, such as ``decision.score``.

        >>> import pandas
        >>> answers = pandas.DataFrame({"item": [1, 1, 2, 2], "sex": ["f", "m", "f", "m"], "hired": [1, 1, 0, None]})
        >>> Measured.from_table(answers, item="item", groups=["sex"])
        <Measured: 2 items, 4 attempts; sex: f, m; grades: hired>

        Args:
            table: A CSV, JSONL or Parquet file, by its ending; or a frame, in which a missing value is ungraded.
            item: The column with the item.
            groups: The columns with groups.
            **options: As for `from_rows`.

        Raises:
            FairnessError: The table cannot be read, lacks a column, or a group is missing in a frame.
        """
        others = [options[name] for name in ("source", "crossed", "placebo") if options.get(name)]
        return cls.from_rows(table_reader.read_table(table, item, groups, others), item=item, groups=groups, **options)

    def __repr__(self) -> str:
        shown = [f"{counted(self.items, 'item')}, {counted(self.attempts, 'attempt')}"]
        shown += [f"{by}: {', '.join(self.groups(by))}" for by in sorted(self.selection.columns.group_attributes)]
        if grades := sorted(map(str, self.selection.columns.known_grades)):
            shown.append(f"grades: {', '.join(grades)}")
        return f"<Measured: {'; '.join(shown)}>"

    @property
    def items(self) -> int:
        """The number of items that were measured."""
        return self.selection.items

    @property
    def attempts(self) -> int:
        """The number of attempts that were made, ungraded ones included."""
        return len(self.selection.rows)

    def groups(self, by: str) -> tuple[str, ...]:
        """Return the groups of an attribute, sorted.

        Args:
            by: The attribute.

        Returns:
            The groups that prompts of this sample or slice name. Among them are those of prompts that
            ``--fairness-where`` or ``--fairness-sample`` left out: groups without attempts, whose estimates are
            invalid.
        """
        return self.selection.groups(by)

    def where(self, **attributes: Any) -> Measured:
        """Return the attempts whose item or prompt has these attributes; of a table, the rows with these cells.

        >>> rows = [{"item": n, "sex": "fm"[n % 2], "age": n % 3, "hired": True} for n in range(60)]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex", "age"])
        >>> measured.where(sex="f", age=(1, 2)).attempts
        20

        Args:
            **attributes: The value of each attribute, or a tuple of several. They are compared as texts. A value that
                no attempt has gives estimates that are invalid. Of a table any column is one; a row whose cell is
                empty has no value.

        Raises:
            FairnessError: No attempt has the attribute, or no row the column.
        """
        return self.from_selection(self.selection.where(**attributes))

    def slices(self, by: str, estimate: Callable[[Measured], Recorded]) -> EstimateFamily:
        """Return an estimate for each value of an attribute, or of a table's column: for notebooks and scripts.

        >>> rows = [{"item": n, "sex": "fm"[n % 2], "job": "ab"[n // 2 % 2], "hired": n % 3 > 0} for n in range(120)]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex", "job"])
        >>> measured.slices("job", lambda part: part.ratio("hired", by="sex", of="f", to="m"))
        <ratio of hired, f to m where the job is a: 1.000 (95% CI 0.692 to 1.446); 60 items, 60 attempts>
        <ratio of hired, f to m where the job is b: 1.000 (95% CI 0.692 to 1.446); 60 items, 60 attempts>

        Args:
            by: The attribute or column.
            estimate: A function from the attempts of a slice to an estimate, or to a family: its members are then
                ``"slice, member"``.

        Returns:
            The family. Each interval is that of the slice alone; claims of unfairness, as by `Estimate.decide`, are
            corrected over the slices by Bonferroni.

        Raises:
            FairnessError: There is no such attribute or column, or it is empty; or a threshold's test is evaluated.
        """
        refuse_in_threshold(f"slices(...) is for notebooks and scripts: declare threshold(slices=({by!r},))")
        parts = {value: self.where(**{by: value}) for value in self.selection.values_of(by)}
        if not parts:
            raise FairnessError(f"no attempt has a value of {by}")
        members: dict[str, Estimate] = {}
        for value, part in parts.items():
            one = estimate(part)
            if isinstance(one, EstimateFamily):
                members |= {f"{value}, {name}": member for name, member in one.items()}
            else:
                members[value] = one
        return EstimateFamily({name: _corrected(member, len(parts)) for name, member in members.items()})

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each attempt: for notebooks and scripts.

        >>> rows = [{"item": n, "sex": "fm"[n % 2], "hired": n % 3 > 0} for n in range(2)]
        >>> Measured.from_rows(rows, item="item", groups=["sex"]).to_frame("polars").to_dicts()[0]
        {'item': '0', 'source': None, 'repetition': 0, 'group_sex': 'f', 'grade_hired': False, 'ungraded_hired': None}

        Args:
            backend: "pandas", "polars" or "pyarrow"; by default the first of them that is installed.

        Returns:
            The columns ``item``, ``source``, ``repetition``, ``group_<attribute>``, ``metadata_<attribute>``,
            ``grade_<name>`` (missing where ungraded), ``ungraded_<name>`` (the reason) and, of answers, ``answer``.

        Raises:
            FairnessError: The library is not installed, the sample is of arrays, two grades have one name as a text,
                or a threshold's test is evaluated.
        """
        refuse_in_threshold("a data frame is for notebooks and scripts: compare an estimate of `measured`")
        return sample_tables.frame_of(self.selection, backend)

    def _repr_html_(self) -> str:
        """Return the sizes of the sample, as a notebook shows them."""
        return sample_tables.html_of(self.selection)

    def whole_items(self) -> Measured:
        """Return one attempt for each item and repetition, that of the item's first prompt.

        For grades of a whole item (a pair's kind, say), which all of its attempts share: each item then counts once.

        Raises:
            FairnessError: The sample consists of arrays of numbers, without attempts.
        """
        return self.from_selection(self.selection.whole_items())

    def rate(self, outcome: Outcome, *, equals: Any = None, named: str | None = None) -> Estimate:
        """Return how often an outcome that is true or false is true, from 0 to 1.

        The interval is Clopper and Pearson's where each item or source is one attempt, or fewer than five of them have
        the rarer outcome. Else it is Jeffreys', with the effective number of attempts, n / (design effect).

        >>> rows = [{"item": n // 2, "harmful": n % 4 == 0} for n in range(200)]
        >>> Measured.from_rows(rows, item="item", groups=[]).rate("harmful")
        <rate of harmful: 0.250 (95% CI 0.193 to 0.314); 100 items, 200 attempts>

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            equals: The value that is counted, for a grade that holds text.
            named: Its name in the results file; by default ``rate(outcome)``.

        Raises:
            FairnessError: The outcome holds other numbers than 0 and 1, or no attempt has the grade.

        Source:
            Clopper and Pearson 1934, Biometrika 26(4); Brown, Cai and DasGupta 2001, Statistical Science 16(2); the
            effective number after Korn and Graubard 1998, Survey Methodology 24(2).
        """
        return self._for_threshold(self._mean(MetricKind.RATE, outcome, equals, named))

    def mean(self, outcome: Outcome) -> Estimate:
        """Return the mean of a number over attempts, in its own units.

        The interval is Student's t over clusters, corrected for skewness (Johnson 1978).

        >>> rows = [{"item": n, "score": n % 5} for n in range(100)]
        >>> Measured.from_rows(rows, item="item", groups=[]).mean("score").value
        2.0

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.

        Raises:
            FairnessError: The outcome holds text, or no attempt has the grade.
        """
        return self._for_threshold(self._mean(MetricKind.MEAN, outcome, None))

    def difference(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """Return the rate or mean of one group minus that of another, in the units of the outcome.

        Items that both groups share are compared within themselves. A difference of rates is marked by its size.

        >>> hires = {"f": 1, "m": 2}
        >>> rows = [{"item": n, "sex": sex, "hired": n % 4 < hires[sex]} for n in range(80) for sex in hires]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> measured.difference("hired", by="sex", of="f", to="m").value
        -0.25

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            of: The group whose rate or mean comes first.
            to: The group that is subtracted.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: No attempt has the attribute, a group is not named by any prompt, or both are the same.
        """
        return self._of_two(DIFFERENCE, outcome, equals, by, of, to)

    def ratio(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """Return the rate or mean of one group over that of another: 0 or more, 1 where both are alike.

        The interval is computed on the log scale. A ratio is marked by its distance from 1, in either direction.

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            of: The group of the numerator.
            to: The group of the denominator.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: As for `difference`.
        """
        return self._of_two(RATIO, outcome, equals, by, of, to)

    def ratios(self, outcome: Outcome, *, by: str, to: str | None = None, equals: Any = None) -> EstimateFamily:
        """Return the ratios of all pairs of groups, the smaller over the larger.

        A bound on the family must hold for all members. Claims of fairness use each member's own interval
        (intersection-union test, Berger 1982), claims of unfairness simultaneous ones.

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            to: A group: the family is then the ratios of each other group over this one.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: No attempt has the attribute, or no prompt names the group.
        """
        return self._family(RATIO, outcome, equals, by, to)

    def odds_ratio(self, outcome: Outcome, *, by: str, of: str, to: str, equals: Any = None) -> Estimate:
        """Return the odds of an outcome in one group over those in another: 0 or more, 1 where both are alike.

        The odds of a rate p are p / (1 - p). So an outcome and its opposite count alike: the odds ratio of one is the
        inverse of the other's. At a base rate of 0.99 a ratio of rates of 0.8 is an odds ratio of 0.04.

        >>> hires = {"f": 4, "m": 5}
        >>> rows = [{"item": n, "sex": sex, "hired": n % 10 < hires[sex]} for n in range(200) for sex in hires]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> measured.odds_ratio("hired", by="sex", of="f", to="m")
        <odds ratio of hired, f to m: 0.667 (95% CI 0.548 to 0.784); 200 items, 400 attempts>

        Args:
            outcome: A grade that is true or false, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            of: The group of the numerator.
            to: The group of the denominator.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: The outcome holds other numbers than 0 and 1; and as for `difference`.
        """
        return self._of_two(ODDS_RATIO, outcome, equals, by, of, to)

    def odds_ratios(self, outcome: Outcome, *, by: str, to: str | None = None, equals: Any = None) -> EstimateFamily:
        """Return the odds ratios of all pairs of groups, the smaller odds over the larger: at most 1.

        A bound must hold for all members, as in `ratios`.

        Args:
            outcome: A grade that is true or false, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            to: A group: the family is then the odds ratios of each other group over this one.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: As for `odds_ratio`, or no prompt names the group.
        """
        return self._family(ODDS_RATIO, outcome, equals, by, to)

    def differences(self, outcome: Outcome, *, by: str, equals: Any = None) -> EstimateFamily:
        """Return the differences of all pairs of groups, the larger minus the smaller: one bound, ``<= 0.05``.

        A bound must hold for all members, as in `ratios`. Differences of rates are marked by size.

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: No attempt has the attribute.
        """
        return self._family(DIFFERENCE, outcome, equals, by, None)

    def rates(self, outcome: Outcome, *, equals: Sequence[Any]) -> EstimateFamily:
        """Return how often an outcome has each of several values; a bound must hold for all, as in `ratios`.

        Claims of unfairness use Bonferroni's simultaneous intervals, which are nearly exact for shares of one whole.

        >>> rows = [{"shortlist": n, "chosen": "abc"[n % 3]} for n in range(60)]
        >>> measured = Measured.from_rows(rows, item="shortlist", groups=[])
        >>> {name: round(rate.value, 2) for name, rate in measured.rates("chosen", equals="abc").items()}
        {'a': 0.33, 'b': 0.33, 'c': 0.33}

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            equals: The values.

        Raises:
            FairnessError: No value is named.
        """
        values = list(equals) if isinstance(equals, Iterable) else []
        if not values:
            raise FairnessError(f"equals is {short_repr(equals)}: name the values that are counted, equals=[...]")

        def strict_tail(tail: float) -> float:
            return tail / len(values)

        return EstimateFamily(
            {
                str(value): self._for_threshold(self._mean(MetricKind.RATE, outcome, value, None, strict_tail))
                for value in values
            }
        )

    def flips(self, outcome: Outcome, *, by: str, equals: Any = None, same: str | None = None) -> Estimate:
        """Return how often two answers to one item differ between groups, from 0 to 1, beside the placebo's flips.

        Each prompt is compared with the most similar one of every other group in its item, repetition by repetition.
        Answers change with any word, in a fair model too. So the probe declares a ``placebo``, other wordings of one
        of the prompts, and *unfair* needs more flips between groups than between wordings, in the same items. *Fair*
        rests on the flips between groups alone.

        >>> texts = [("woman", "original"), ("woman", "shorter"), ("man", "")]
        >>> rows = [
        ...     {"item": n, "sex": sex, "wording": wording, "hired": n % 2 or (n % 5 == 0 and sex == "man")}
        ...     for n in range(80) for sex, wording in texts
        ... ]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"], placebo="wording")
        >>> flips = measured.flips("hired", by="sex")
        >>> flips
        <flips of hired between groups of sex: 0.100 (95% CI 0.044 to 0.188); 80 items, 160 attempts>
        >>> dict(flips.groups)
        {'another sex': 0.1, 'another wording': 0.0}

        With ``same``, only answers that are equal in that grade count as flips: of an agent that decides alike and
        looks up more for one group. Without a placebo they are judged beside flips between repetitions of one prompt,
        so that noise is none. A model that any other word changes needs the placebo. The rate is of all pairs: where
        less than half of them are equal in that grade, they are never fair.

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            equals: The value that is counted, for a grade that holds text; without one, any two texts differ.
            same: A grade in which the two answers must be equal. None: there is none.

        Raises:
            FairnessError: The sample has no placebo (with ``same``: and no repetitions), no attempt has the attribute
                or the grade, or the grade holds propensities.

        Source:
            Flips by gender and by paraphrase of medical questions, 14.9% and 14.1%: arXiv 2605.01048.
        """
        compute = partial(estimate_flips, self.selection)
        return self._for_threshold(self.selection.computed_once(compute, MetricKind.FLIPS, outcome, equals, by, same))

    def worst_ratio(self, outcome: Outcome, *, by: str, equals: Any = None) -> Estimate:
        """Return the smallest ratio of any two groups, smaller over larger: from 0 to 1.

        The value is biased low; the interval accounts for the choice of the pair.

        Args:
            outcome: The grade, or a function of a `GradedAttempt`.
            by: The attribute that makes the groups.
            equals: The value that is counted, for a grade that holds text.

        Raises:
            FairnessError: No attempt has the attribute.
        """
        members, comparison = self._members(RATIO, outcome, equals, by, None)
        name = metric_names.worst_ratio_name(outcome, equals, by)
        estimate = worst_estimate(comparison, name, members, self.selection.items_of(comparison.groups, by))
        return self._for_threshold(estimate.marked(RATIO.marks))

    def record(self, *estimates: Recorded | Callable[[], Recorded], column: str = "") -> None:
        """Show estimates in the report of the threshold whose test this is; elsewhere nothing happens.

        The estimates that a threshold compares are recorded automatically; any other estimate only by this call. A
        function is only called for a report: a plan simulates hundreds of runs, whose estimates nobody reads.

        >>> rows = [{"item": n, "hired": n % 2, "sex": sex} for n in range(60) for sex in ("f", "m")]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> measured.record(measured.where(sex="f").rate("hired"), measured.ratios("hired", by="sex"))
        >>> measured.record(lambda: measured.where(sex="m").rate("hired"), column="hired")

        Args:
            *estimates: The estimates, families of them, and functions that return either.
            column: The head of a column in a table that the terminal shows below the thresholds, with a row for each
                slice (``where``) and one for the whole sample. Without it, the terminal shows nothing of them.

        Raises:
            MisuseError: An argument is, or returns, neither an estimate nor a family of estimates.
            FairnessError: A function compares an estimate, or ``column`` is too long for one line.
        """
        column = checked_title(column) if column else ""
        for argument in estimates:
            for estimate in for_report(argument) if callable(argument) else [argument]:
                if isinstance(estimate, EstimateFamily):
                    record_estimates((member for _, member in estimate.items()), column)
                elif isinstance(estimate, Estimate):
                    record_estimates([estimate], column)
                else:
                    raise MisuseError(f"record takes estimates of `measured`, not {short_repr(estimate)}")

    def against(self, baseline: Measured | DeferredMeasured) -> BaselineComparison:
        """Return the comparison of this sample with an earlier one of the same items and prompts: is it no worse?

        ``measured.against(baseline).ratio(...) <= 1.1``: at most 1.1 times further from parity.

        Args:
            baseline: The earlier sample, or the ``baseline`` fixture.

        Raises:
            FairnessError: The two cannot be compared: they differ in items, prompts or ``conditions``.
        """
        old = baseline if isinstance(baseline, Measured) else getattr(baseline, "load", lambda: None)()
        if not isinstance(old, Measured):
            raise FairnessError(
                f"the baseline is {short_repr(baseline)}: give another sample, or the fixture `baseline`"
            )
        return BaselineComparison(self.selection, old.selection)

    def correlation(self, first: Outcome, second: Outcome) -> Estimate:
        """Return Pearson's correlation of two outcomes over attempts, from -1 to 1.

        The interval is Student's t on Fisher's z (Fisher 1921), with a jackknife over clusters.

        >>> rows = [{"item": n, "warmth": n % 4, "offer": n % 4 + n // 4 % 2} for n in range(80)]
        >>> round(Measured.from_rows(rows, item="item", groups=[]).correlation("warmth", "offer").value, 3)
        0.913

        Args:
            first: A grade, or a function of a `GradedAttempt`.
            second: The same. Attempts that are ungraded in either are left out, and filled in with its extremes.

        Raises:
            FairnessError: An outcome holds text, or no attempt has the grade.
        """
        name = metric_names.correlation_name(first, second)
        sample = self.selection.sample({"first": first, "second": second})
        sample = sample.transform(custom_metrics.correlation_columns)
        estimate = self._functional(name, custom_metrics.CORRELATION, sample, (-1.0, 1.0))
        return self._for_threshold(estimate.marked(CORRELATIONS))

    def metric(
        self,
        function: custom_metrics.Function | Functional | MetricDefinition | str,
        *grades: str,
        span: tuple[float, float] | None = None,
        **sums: Any,
    ) -> Estimate:
        """Return a metric of your own: a function of sums over the sample, each the sum of an outcome.

        >>> def spread(s):
        ...     return s.squares / s.attempts - (s.score / s.attempts) ** 2
        >>> rows = [{"item": n, "score": n % 3} for n in range(60)]
        >>> measured = Measured.from_rows(rows, item="item", groups=[])
        >>> estimate = measured.metric(spread, score="score", squares=lambda a: a["score"] ** 2, attempts=lambda a: 1)
        >>> round(estimate.value, 4), estimate.metric
        (0.6667, 'spread')

        An attempt that is ungraded in one of the sums is left out of all of them, and filled
        in with each of its extreme grades. The interval is Student's t with a jackknife over clusters (Tukey 1958).

        Args:
            function: A function of the sums, which are attributes by name, to a number; or a `MetricDefinition`; or
                the name of a metric that an installed package registers, with its own arguments:
                ``measured.metric("cohens_h", "hired", by="sex", of="female", to="male")``.
            *grades: The grades of a registered metric.
            span: The range that the metric cannot leave, so that its interval does not either.
            **sums: The outcome of each sum, by name; the options of a registered metric.

        Raises:
            FairnessError: The metric, as it is or filled in with extreme grades, lies outside its span; or it is not
                registered or takes other arguments.
        """
        if isinstance(function, str):
            call = MetricCall(function, grades, sums if span is None else {**sums, "span": span})
            definition = call.define()
            return self._defined(call.metric_name(definition.title), definition)
        if isinstance(function, MetricDefinition):
            name = metric_names.metric_name(function.name or outcome_name(function.function))
            return self._defined(replace(name, title=function.title or name.title), function)
        functional = function if isinstance(function, Functional) else Functional(function, tuple(sums))
        name = metric_names.metric_name(outcome_name(functional.function), sums.values())
        return self._for_threshold(self._functional(name, functional, self.selection.sample(sums), span))

    def resamples(
        self, function: custom_metrics.Function, *, draws: int = 10_000, seed: int = 0, **sums: Outcome
    ) -> Floats:
        """Return the values of a metric of your own in resamples of whole sources, drawn with replacement.

        They show the whole distribution: a histogram, a skew, a chance to exceed a value.
        Verdicts do not use them: with few sources or events a percentile interval of resamples
        covers down to 80%, where the jackknife's with Student's t keeps its 95% (`metric`).

        >>> rows = [{"item": n, "hired": n % 2, "sex": sex} for n in range(60) for sex in ("f", "m")]
        >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
        >>> def of(sex, grade=None):
        ...     return lambda a: (a[grade] if grade else 1) * (a.prompt.groups["sex"] == sex)
        >>> def ratio(s):
        ...     return (s.f / s.of_f) / (s.m / s.of_m)
        >>> draws = measured.resamples(ratio, f=of("f", "hired"), m=of("m", "hired"), of_f=of("f"), of_m=of("m"))
        >>> draws.shape, float(draws.std())
        ((10000,), 0.0)

        Args:
            function: A function of the sums, which are attributes by name, to a number.
            draws: The number of resamples, at least 1.
            seed: The seed of the draws.
            **sums: The outcome of each sum, by name. An attempt that is ungraded in one of them is left out.

        Returns:
            The values, shape (draws,); nan where the function has no value.

        Raises:
            FairnessError: There are fewer draws than 1, the sample has a crossed factor, or no interval could be made
                of it either; or a threshold's test is evaluated.
        """
        refuse_in_threshold("resamples are numbers for notebooks and scripts: compare the estimate, `metric(...)`")
        sample = self.selection.sample(sums)
        return draw_resamples(Functional(function, tuple(sums)), sample.values, sample.clusterings, draws, seed)

    def _mean(
        self,
        kind: MetricKind,
        outcome: Outcome,
        equals: Any,
        named: str | None = None,
        strict_tail: StrictTail | None = None,
    ) -> Estimate:
        selection = self.selection
        vector = selection.outcome_vector(outcome, equals)
        if kind is MetricKind.RATE and not vector.is_rate:
            raise FairnessError(f"{vector.name} {NO_RATE}")
        everyone = selection.everyone(_all_of(selection, outcome, equals), vector.missing[selection.rows])
        breakdown = cache(partial(mean_breakdown, selection, vector, everyone))
        full_name = (
            metric_names.mean_name(kind, outcome, equals)
            if named is None
            else metric_names.custom_rate_name(named, outcome, equals)
        )
        return mean_estimate(selection.setting, full_name, everyone, self.items, breakdown, strict_tail)

    def _for_threshold(self, estimate: Estimate) -> Estimate:
        columns = self.selection.columns
        if columns.table is not None:
            note_table(columns.count)
        return for_threshold(estimate)

    def _of_two(self, kind: Kind, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> Estimate:
        compute = partial(self._compute_of_two, kind)
        return self._for_threshold(self.selection.computed_once(compute, kind.metric, outcome, equals, by, of, to))

    def _compute_of_two(self, kind: Kind, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> Estimate:
        selection = self.selection
        pair = selection.pair(outcome, equals, by, of, to)
        name = metric_names.pair_name(kind.metric, outcome, equals, by, of, to)
        vector = selection.outcome_vector(outcome, equals)
        kind.check(vector)
        comparison = GroupComparison(selection, vector, by, pair, to)
        breakdown = comparison.lazy_breakdown(*pair, link=kind.link)
        estimate = contrast_estimate(
            selection.setting, name, pair, selection.items_of(pair, by), breakdown, link=kind.link
        )
        return _marked(kind, estimate, pair)

    def _defined(self, name: metric_names.MetricName, definition: MetricDefinition) -> Estimate:
        functional = Functional(definition.function, tuple(definition.sums))
        sums = definition.sums
        outcomes = tuple((outcome, None) for outcome in sums.values())
        name = replace(name, kind=definition.kind, outcomes=outcomes)
        estimate = self._functional(name, functional, self.selection.sample(sums), definition.span)
        if definition.parity is not None:
            estimate = replace(estimate, parity=definition.parity)
        return self._for_threshold(estimate if definition.scale is None else estimate.marked(definition.scale))

    def _functional(
        self,
        name: metric_names.MetricName,
        functional: Functional,
        sample: MetricSample,
        span: tuple[float, float] | None,
    ) -> Estimate:
        selection, span = self.selection, custom_metrics.read_span(span)
        breakdown = cache(partial(functional_breakdown, selection, functional, sample.values, span))
        return functional_estimate(
            selection.setting, name, functional, sample, self.items, breakdown, span, selection.everyone
        )

    def _family(self, kind: Kind, outcome: Outcome, equals: Any, by: str, to: str | None) -> EstimateFamily:
        if to is not None:
            self.selection.check_group(by, to)
        members, comparison = self._members(kind, outcome, equals, by, to)
        return EstimateFamily(
            {name: self._for_threshold(_marked(kind, member, comparison.groups)) for name, member in members.items()}
        )

    def _members(
        self, kind: Kind, outcome: Outcome, equals: Any, by: str, to: str | None
    ) -> tuple[Mapping[str, Estimate], GroupComparison]:
        compute = partial(self._compute_family, kind)
        return self.selection.computed_once(compute, f"family of {kind.metric}", outcome, equals, by, to)

    def _compute_family(
        self, kind: Kind, outcome: Outcome, equals: Any, by: str, to: str | None
    ) -> tuple[Mapping[str, Estimate], GroupComparison]:
        selection = self.selection
        names = selection.groups(by) if to is None else tuple(sorted({*selection.groups(by), to}))
        vector = selection.outcome_vector(outcome, equals)
        kind.check(vector)
        groups = list(selection.group_outcomes(vector, by, names).values())
        pair_name = partial(metric_names.pair_name, kind.metric, outcome, equals, by)
        comparison = GroupComparison(selection, vector, by, groups, to)
        members = family(kind, comparison, pair_name, partial(selection.items_of, by=by))
        if not members:
            reason = f"{by} has {counted(len(names), 'group')}: a comparison needs two"
            family_name = metric_names.family_name(kind.metric, outcome, equals, by)
            members = {by: selection.setting.invalid(family_name, reason, breakdown=comparison.lazy_breakdown())}
        return members, comparison


def _corrected(estimate: Estimate, number: int) -> Estimate:
    """Return an estimate as one of several, with a share of the error of a claim of unfairness (Bonferroni)."""
    if not isinstance(estimate, Estimate):
        raise MisuseError(f"the function of a slice returns {short_repr(estimate)}: return an estimate of its argument")
    ends = estimate.strict_at or estimate.ends_at
    shared = estimate.corrected(number)
    return shared if ends is None else replace(shared, strict_at=lambda tail: ends(tail / number))


def _marked(kind: Kind, estimate: Estimate, groups: Sequence[GroupOutcomes]) -> Estimate:
    """Return a comparison of groups with its scale of marks; a difference of numbers has units that none fits."""
    has_no_units = kind is not DIFFERENCE or all(group.graded.rate or group.graded.is_propensity for group in groups)
    return estimate.marked(kind.marks) if has_no_units else estimate


def _all_of(selection: Selection, outcome: Outcome, equals: Any) -> GroupOutcomes:
    """Return all attempts of a selection as one group."""
    vector = selection.outcome_vector(outcome, equals)
    return group(
        "all", vector, selection.rows, selection.clusterings, selection.columns.prompts, None, selection.columns.items
    )
