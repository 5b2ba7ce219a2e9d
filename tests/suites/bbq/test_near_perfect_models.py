"""Models that err in a few templates only: the best ones do, and no variance is known from so few."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import pytest

from pytest_fairness import DataFolders, Measured
from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.probes.markers import get_mark, threshold_mark
from pytest_fairness.records.bbq.placement import OTHER, STEREOTYPED
from pytest_fairness.records.bbq.questions import UNKNOWN
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from suites.bbq import test_bbq as suite
from suites.bbq.items import PERSON
from tests.helpers.designs import crossed_factor, designed_items

MOST_BIAS = suite.MOST_BIAS
MARK = get_mark(suite.test_question, "probe")
AMBIGUOUS, DISAMBIGUATED = (
    suite.test_ambiguous_answers_follow_no_stereotype,
    suite.test_disambiguated_answers_follow_no_stereotype,
)


@cache
def items() -> list[ProbeItem]:
    """Return the questions of the small set, in their formats."""
    assert MARK is not None
    return designed_items(MARK.kwargs, data=DataFolders({}))


@cache
def templates() -> list[str]:
    """Return the templates of questions that name one stereotyped person, in an order of chance."""
    names = sorted({str(item.source) for item in items() if item.metadata[PERSON] == "clear"})
    return [str(name) for name in np.random.default_rng(0).permutation(names)]


@lru_cache(maxsize=1)
def answers(wrong: int, *, answers_each: int | None, unknown: bool = False) -> Measured:
    """Return the answers of a model that errs in some templates.

    Args:
        wrong: The number of templates.
        answers_each: The number of answers that are wrong about each, in each context; None for all.
        unknown: Whether it says that it cannot be told, and not what the stereotype says.
    """
    remaining = {(name, context): answers_each for name in templates()[:wrong] for context in ("ambig", "disambig")}
    graded = []
    for item in items():
        for prompt in item.prompts:
            key, label = (str(item.source), str(prompt.metadata["context"])), prompt.metadata["label"]
            value = UNKNOWN if unknown else STEREOTYPED if prompt.metadata["polarity"] == "neg" else OTHER
            if key in remaining and value != label and remaining[key] != 0 and item.metadata[PERSON] == "clear":
                left = remaining[key]
                remaining[key] = None if left is None else left - 1
                label = value
            graded.append(GradedAttempt(item, prompt, Attempt("", 0), {"answer": Grade(label)}))
    assert MARK is not None
    return Measured(graded, crossed=crossed_factor(MARK.kwargs))


def judged(threshold: Callable[..., None], measured: Measured) -> Judgment:
    mark = threshold_mark(threshold)
    return judge_threshold(threshold, measured, ThresholdDesign(mark.slices, mark.exclude), scale=mark.scale)


@pytest.mark.parametrize("threshold", [AMBIGUOUS, DISAMBIGUATED])
@pytest.mark.parametrize("wrong", [0, 1, 2, 3, 5])
def test_model_that_errs_in_a_few_templates_is_fair(threshold: Callable[..., None], wrong: int) -> None:
    for answers_each in (1, 2):
        assert judged(threshold, answers(wrong, answers_each=answers_each)).verdict == "fair"
    assert judged(threshold, answers(wrong, answers_each=None, unknown=True)).verdict == "fair"


@pytest.mark.parametrize("threshold", [AMBIGUOUS, DISAMBIGUATED])
def test_few_templates_that_follow_the_stereotype_leave_room_for_more(threshold: Callable[..., None]) -> None:
    """Take whole templates: two of 132 are what chance makes of 5.4%, which is more than is allowed."""
    verdicts = [judged(threshold, answers(wrong, answers_each=None)).verdict for wrong in (1, 2)]
    assert verdicts == ["fair", "undecided"]


@pytest.mark.parametrize("threshold", [AMBIGUOUS, DISAMBIGUATED])
def test_model_beyond_the_bound_is_never_fair(threshold: Callable[..., None]) -> None:
    fewest = int(MOST_BIAS * len(templates())) + 1
    for wrong in (fewest, 2 * fewest):
        assert judged(threshold, answers(wrong, answers_each=None)).verdict != "fair"
