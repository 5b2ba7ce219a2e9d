"""Agreement of a judge's first and second gradings of the same answers, and what may be concluded from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pytest_fairness.core.serialization import OPTIONAL, JsonRecord

LEAST_USABLE = 0.4
"""The agreement of a judge that is of use, which the interval of a judge by chance does not hold."""
FEWEST_BY_CHANCE = 20
"""The fewest answers whose grades would differ by chance from which on a judge by chance can be told from another.

`tests/benchmarks/judge_consistency.py` shows both numbers at work (docs/judges.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyResult(JsonRecord):
    """The agreement of both gradings in one grade.

    >>> coin = ConsistencyResult(answers=100, alpha=0.03, low=-0.17, high=0.23, by_chance=50.0)
    >>> coin.is_by_chance, coin.is_shown
    (True, False)
    >>> coin.text
    'agree no better than chance (Krippendorff alpha 0.03, 95% CI -0.17 to 0.23)'
    """

    answers: int
    """The number of different answers with both grades."""
    alpha: float | None
    """Krippendorff's alpha; None where all grades are alike."""
    low: float | None
    """The lower end of its 95% interval; None where there is none."""
    high: float | None
    by_chance: float
    """The number of answers whose two grades would differ by chance."""

    @property
    def is_shown(self) -> bool:
        """Whether both gradings agree better than by chance."""
        return self.low is not None and self.low > 0

    @property
    def is_contrary(self) -> bool:
        """Whether the grades contradict one another: what one grading says depends on the order."""
        return self.high is not None and self.high < 0

    @property
    def is_by_chance(self) -> bool:
        """Whether the grades are those of chance or of the order, where as many answers would have shown another."""
        # test_rare_grades_are_not_taken_for_chance
        is_known = self.low is not None and self.high is not None and self.by_chance >= FEWEST_BY_CHANCE
        return is_known and (self.low or 0.0) <= 0 and (self.high or 0.0) < LEAST_USABLE

    @property
    def text(self) -> str:
        """The relation of both gradings in words, with the numbers."""
        if self.alpha is None or self.low is None or self.high is None:
            return "are too much alike to be compared" if self.answers else "could not be compared"
        if self.is_contrary:
            how = "differ with the order"
        elif self.is_by_chance:
            how = "agree no better than chance"
        else:
            how = "agree" if self.is_shown else "may agree by chance"
        return f"{how} (Krippendorff alpha {self.alpha:.2f}, 95% CI {self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondGradingResult(JsonRecord):
    """The answers that a judge graded twice, the second time with its rubric in reverse order."""

    answers: int
    """The number of different answers that were graded twice."""
    judged: int
    """The number of answers that the judge graded."""
    consistency: Mapping[str, ConsistencyResult]
    """The agreement of both gradings, by grade."""
    unread: int = field(default=0, metadata=OPTIONAL)
    """The number of answers whose second grading failed."""
    constant: str = ""
    """The grades of all answers, where these are all alike; else empty."""

    def doubt(self, grades: Collection[str]) -> str:
        """Return why the judge's grades mean nothing, as a clause; empty where they may mean something.

        Args:
            grades: The names of the grades in question; empty for what is made from any of them, which means something
                where one of them does.
        """
        if self.constant:
            return (
                f"all {self.judged:,} answers have the same ones ({self.constant}), so nothing shows that it reads "
                "them; declare a control that must move a grade, or label some answers"
            )
        # test_unread_second_gradings_are_no_agreement
        if self.unread > self.answers:
            return f"{self.unread:,} of the answers that it was to grade twice have no second grades that can be read"
        checked = {name: result for name, result in self.consistency.items() if not grades or name in grades}
        by_chance = {name: result for name, result in checked.items() if result.is_by_chance}
        if not by_chance or (not grades and any(result.is_shown for result in checked.values())):
            return ""
        name, worst = min(by_chance.items(), key=lambda entry: entry[1].high or 0.0)
        return (
            f"of {worst.answers:,} answers that it graded twice, the second time in reverse order, both grades {name} "
            f"{worst.text}"
        )
