"""Which of two groups has more, with its sign: the comparisons of a run in one table for each pair of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fairness.core.numerals import figures
from pytest_fairness.report.html.articles import Article
from pytest_fairness.report.html.axes import parity
from pytest_fairness.report.view import Row


@dataclass(frozen=True, slots=True)
class Lean:
    """One comparison of two groups."""

    article: Article
    values: tuple[str, str]
    """Of the group and of the reference."""
    estimate: str
    lean: str
    """Which group has more; empty where these data do not tell them apart."""


@dataclass(frozen=True, slots=True)
class Leans:
    """The comparisons of one group with another."""

    group: str
    reference: str
    lines: Sequence[Lean]


def leans(articles: Sequence[Article]) -> list[Leans]:
    """All thresholds that compare one group with a reference, by the pair of groups."""
    pairs: dict[tuple[str, str], list[Lean]] = {}
    for article in articles:
        row = article.row
        reference = row.get("reference")
        others = [group for group in row["groups"] if group != reference]
        alike = parity(row)
        if reference is None or reference not in row["groups"] or len(others) != 1 or alike is None:
            continue
        if row["estimate"] is not None:
            pairs.setdefault((others[0], reference), []).append(_lean(article, others[0], reference, alike))
    return [Leans(*pair, lines) for pair, lines in pairs.items()]


def _lean(article: Article, group: str, reference: str, alike: float) -> Lean:
    row = article.row
    values = [figures({"low": None, "high": None, **_numbers(row, name)})[0] for name in (group, reference)]
    value, low, high = figures(row)
    more = _more(row, group, reference, alike)
    return Lean(article, (values[0], values[1]), f"{value} ({low} to {high})", more)


def _numbers(row: Row, group: str) -> Row:
    found: Row = (row.get("by_group") or {}).get(group, {})
    return {"estimate": row["groups"][group], "comparisons": [], **found}


def _more(row: Row, group: str, reference: str, alike: float) -> str:
    low, high = row["low"], row["high"]
    if row["metric"].startswith("abs "):  # the sign is that of the groups' own values
        if low is None or low <= alike:
            return ""
        return group if (row["groups"][group] or 0) > (row["groups"][reference] or 0) else reference
    if low is not None and low > alike:
        return group
    return reference if high is not None and high < alike else ""
