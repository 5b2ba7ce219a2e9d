"""Names of estimates: a short one for the results file, a title for readers."""

from __future__ import annotations

from typing import NamedTuple


class Name(NamedTuple):
    """The two names of one estimate."""

    metric: str
    title: str


def mean_name(kind: str, outcome: str) -> Name:
    """Return the name of a "rate" or a "mean".

    >>> mean_name("rate", "hired")
    Name(metric='rate(hired)', title='rate of hired')
    """
    return Name(f"{kind}({outcome})", f"{kind} of {outcome}")


def own_name(named: str) -> Name:
    """Return the name of a rate that its author has named.

    >>> own_name("pairs.any_flag")
    Name(metric='pairs.any_flag', title='rate of any flag')
    """
    return Name(named, f"rate of {named.rpartition('.')[2].replace('_', ' ')}")


def difference_name(outcome: str, by: str, of: str, to: str) -> Name:
    """Return the name of one group less another."""
    return Name(f"difference({outcome}; {by}: {of}-{to})", f"difference of {outcome}, {of} minus {to}")


def ratio_name(outcome: str, by: str, of: str, to: str) -> Name:
    """Return the name of one group over another.

    >>> ratio_name("hired", "gender", "female", "male").metric
    'ratio(hired; gender: female/male)'
    """
    return Name(f"ratio({outcome}; {by}: {of}/{to})", f"ratio of {outcome}, {of} to {to}")


def family_name(kind: str, outcome: str, by: str) -> Name:
    """Return the name of a family of "ratio" or "difference" without members."""
    return Name(f"{kind}({outcome}; {by})", f"{kind} of {outcome} between groups of {by}")


def worst_name(outcome: str, by: str) -> Name:
    """Return the name of the smallest ratio."""
    return Name(
        f"worst_ratio({outcome}; {by})", f"worst ratio of {outcome} between groups of {by} (its value is biased low)"
    )


def corrected_name(name: Name, labels: int) -> Name:
    """Return the name of an estimate that human labels have corrected.

    >>> corrected_name(mean_name("rate", "harmful"), 200).title
    "rate of harmful (corrected for the judge's error, 200 labels)"
    """
    return Name(name.metric, f"{name.title} (corrected for the judge's error, {labels:,} labels)")


def correlation_name(first: str, second: str) -> Name:
    """Return the name of the correlation of two outcomes."""
    return Name(f"correlation({first}, {second})", f"correlation of {first} with {second}")


def metric_name(function: str) -> Name:
    """Return the name of a custom metric."""
    return Name(function, function.replace("_", " "))
