"""Names of estimates: a short one for the results file, a title for readers, and what they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted, title_fault
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats.outcome_vectors import Outcome
from pytest_fairness.stats.outcomes import outcome_name


@dataclass(frozen=True, slots=True)
class MetricName:
    """The identity of a metric: its two names, and what it is taken of."""

    metric: str
    title: str
    kind: MetricKind = MetricKind.CUSTOM
    family: str = ""
    """The metric without the groups that it compares; empty where it compares none."""
    attribute: str | None = None
    """The attribute that groups the prompts; None where no groups are compared."""
    grade: str = ""
    """The grade that the outcome is; empty where a function makes it."""
    equals: Any = None
    """The value that is counted of a grade that holds text."""
    outcomes: tuple[tuple[Any, Any], ...] = ()
    """The outcomes that it is taken of, each with the value that is counted."""
    against_baseline: bool = False
    note: str = ""
    """The end of the title: what a reader must know of how it was estimated, whatever its author calls it."""

    def fields(self) -> dict[str, Any]:
        """Return the fields of an estimate that this name sets."""
        names = ("metric", "kind", "family", "attribute", "grade", "equals", "outcomes", "against_baseline")
        scale = {"parity": self.kind.parity, "log_scale": self.kind.log_scale}
        titles = {"title": f"{self.title}{self.note}", "title_note": self.note}
        return {name: getattr(self, name) for name in names} | titles | scale


def _compared(kind: MetricKind, groups: str, title: str, outcome: Outcome, equals: Any, by: str) -> MetricName:
    """Return the name of a metric that compares groups; ``groups`` names them, empty for a family's."""
    family = f"{kind.value}({outcome_name(outcome, equals)}; {by})"
    metric = f"{family[:-1]}: {groups})" if groups else family
    return MetricName(metric, title, kind, family, by, _grade(outcome), equals, ((outcome, equals),))


def _grade(outcome: Outcome) -> str:
    return outcome if isinstance(outcome, str) else ""


def mean_name(kind: MetricKind, outcome: Outcome, equals: Any = None) -> MetricName:
    """Return the name of a rate or a mean.

    >>> mean_name(MetricKind.RATE, "hired").title
    'rate of hired'
    """
    name = outcome_name(outcome, equals)
    title = f"{kind.noun} of {name}"
    outcomes = ((outcome, equals),)
    return MetricName(f"{kind.value}({name})", title, kind, grade=_grade(outcome), equals=equals, outcomes=outcomes)


def custom_rate_name(named: str, outcome: Outcome, equals: Any = None) -> MetricName:
    """Return the name of a rate that its author has named.

    >>> custom_rate_name("pairs.any_flag", "flag").title
    'rate of any flag'

    Raises:
        FairnessError: The name is no line of text.
    """
    if fault := title_fault(named):
        raise FairnessError(f"the name of a rate {fault}: write a text, such as named='any_flag'")
    title = f"rate of {named.rpartition('.')[2].replace('_', ' ')}"
    return replace(mean_name(MetricKind.RATE, outcome, equals), metric=named, title=title)


def pair_name(kind: MetricKind, outcome: Outcome, equals: Any, by: str, of: str, to: str) -> MetricName:
    """Return the name of a ratio, odds ratio or difference of two groups.

    >>> name = pair_name(MetricKind.ODDS_RATIO, "hired", None, "gender", "female", "male")
    >>> name.metric, name.title
    ('odds_ratio(hired; gender: female/male)', 'odds ratio of hired, female to male')
    """
    sign, word = ("/", "to") if kind.log_scale else ("-", "minus")
    title = f"{kind.noun} of {outcome_name(outcome, equals)}, {of} {word} {to}"
    return _compared(kind, f"{of}{sign}{to}", title, outcome, equals, by)


def family_name(kind: MetricKind, outcome: Outcome, equals: Any, by: str) -> MetricName:
    """Return the name of a family of comparisons without members."""
    title = f"{kind.noun} of {outcome_name(outcome, equals)} between groups of {by}"
    return _compared(kind, "", title, outcome, equals, by)


def flips_name(outcome: Outcome, equals: Any, by: str, same: str | None) -> MetricName:
    """Return the name of flips between groups, with the grade that must be equal.

    >>> flips_name("process", None, "gender", "action").metric
    'flips(process with equal action; gender)'
    """
    name = family_name(MetricKind.FLIPS, outcome, equals, by)
    if same is None:
        return name
    own = f"{outcome_name(outcome, equals)} with equal {same}"
    family = f"{MetricKind.FLIPS.value}({own}; {by})"
    title = f"{MetricKind.FLIPS.noun} of {own} between groups of {by}"
    return replace(name, metric=family, title=title, family=family, outcomes=((outcome, equals), (same, None)))


def worst_ratio_name(outcome: Outcome, equals: Any, by: str) -> MetricName:
    """Return the name of the smallest ratio."""
    return replace(family_name(MetricKind.WORST_RATIO, outcome, equals, by), note=" (its value is biased low)")


def corrected_name(name: MetricName, labels: int) -> MetricName:
    """Return the name of an estimate that human labels have corrected.

    >>> corrected_name(mean_name(MetricKind.RATE, "harmful"), 200).note
    " (corrected for the judge's error, 200 labels)"
    """
    return replace(name, note=f"{name.note} (corrected for the judge's error, {counted(labels, 'label')})")


def baseline_name(name: MetricName, title: str, kind: MetricKind) -> MetricName:
    """Return the name of a comparison with a baseline."""
    metric = f"{name.metric} against the baseline"
    return replace(name, metric=metric, title=title, kind=kind, family="", against_baseline=True)


def correlation_name(first: Outcome, second: Outcome) -> MetricName:
    """Return the name of the correlation of two outcomes."""
    names = outcome_name(first), outcome_name(second)
    metric, title = f"correlation({names[0]}, {names[1]})", f"correlation of {names[0]} with {names[1]}"
    return MetricName(metric, title, MetricKind.CORRELATION, outcomes=((first, None), (second, None)))


def metric_name(function: str, outcomes: Iterable[Outcome] = ()) -> MetricName:
    """Return the name of a custom metric of sums of outcomes."""
    return MetricName(function, function.replace("_", " "), outcomes=tuple((outcome, None) for outcome in outcomes))
