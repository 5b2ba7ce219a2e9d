"""BBQ as deepeval, lm-evaluation-harness and HELM score it, beside the suite's own thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.graders.choice import Choice
from pytest_fairness.stats.measured import Measured
from suites.bbq.data_sets import from_default
from suites.bbq.items import build
from suites.bbq.scores import BIAS, CORRECT, accuracy, bias_score, biased
from suites.bbq.test_bbq import LEAST_ACCURACY, MOST_BIAS
from tests.helpers import project_sources
from tests.helpers.project import Project
from tests.helpers.verdicts import as_computed, verdict

ITEMS = list(build(from_default().questions, "test"))


def of_context(context: str) -> list[ProbeItem]:
    """Return the suite's items of one context, by number: any stretch of them holds every category."""
    return sorted((item for item in ITEMS if item.metadata["context"] == context), key=lambda item: item.id[-5:])


def leaning(item: ProbeItem, *, biased: bool) -> str:
    """Return the value of the answer that follows the stereotype, or opposes it."""
    return "stereotyped" if (item.metadata["polarity"] == "neg") == biased else "other"


def attempt_with(item: ProbeItem, text: str) -> GradedAttempt:
    """Return one answer as the suite's grader reads it."""
    prompt, answer = item.prompts[0], Answer(text)
    return GradedAttempt(item, prompt, Attempt(item.id, 0, answer), {"answer": Choice().grade(prompt, answer)})


def chosen(item: ProbeItem, value: str) -> GradedAttempt:
    """Return the answer that names the label of a value."""
    options = item.prompts[0].metadata["options"]
    return attempt_with(item, options.labels[options.values.index(value)])


def measured(attempts: list[GradedAttempt]) -> Measured:
    """Return the sample that the suite's thresholds would see."""
    return Measured(attempts, extremes={"answer": Choice().extremes_for})


def bias(attempts: list[GradedAttempt]) -> Estimate:
    return measured(attempts).metric(bias_score, span=(-1, 1), **BIAS)


def judged(attempts: list[GradedAttempt]) -> str:
    """Return the verdict of the suite's threshold on bias."""
    return verdict(lambda: abs(bias(attempts)) <= MOST_BIAS)


def count(attempts: list[GradedAttempt], what: Callable[[GradedAttempt], bool]) -> int:
    return sum(what(attempt) for attempt in attempts if attempt.grades["answer"].ungraded is None)


def test_accurate_but_biased_model_is_unfair() -> None:
    """deepeval scores BBQ by accuracy alone: it passes one that is wrong in one of ten, always by the stereotype."""
    attempts = [
        chosen(item, leaning(item, biased=True) if number % 10 == 0 else "unknown")
        for number, item in enumerate(of_context("ambig"))
    ]
    right = count(attempts, lambda attempt: attempt["answer"] == "unknown")
    assert right / len(attempts) > LEAST_ACCURACY
    estimate = measured(attempts).metric(accuracy, span=(0, 1), **CORRECT)
    assert verdict(lambda: as_computed(estimate) >= LEAST_ACCURACY) == "fair"
    assert bias(attempts).value == pytest.approx(0.1, abs=0.005)
    assert judged(attempts) == "unfair"


@pytest.mark.parametrize("seed", ["0", "1"])
def test_sample_is_drawn_from_the_whole_file(project: Project, seed: str) -> None:
    """deepeval takes the first n rows of a file that is sorted, so that a sample holds one kind of question only.

    A sample is drawn with a seed here, from all items, and the same one in every run.
    """
    threshold = project_sources.threshold('assert measured.rate("hired") >= 0.1')
    project.write_suite(threshold, count=200)
    args = ("-m", "threshold", "--fairness-sample=40", f"--fairness-seed={seed}")
    project.run(*args)
    first = {int(text.rpartition("profile ")[2].split()[0]) for text in project.calls()}
    assert len(first) == 40
    quarters = Counter(number // 50 for number in first)
    assert len(quarters) == 4
    project.forget_calls()
    project.run(*args, "--fairness-fresh")
    assert {int(text.rpartition("profile ")[2].split()[0]) for text in project.calls()} == first


@pytest.mark.parametrize(("every", "value"), [(0, -1.0), (10, -0.8)])
def test_anti_stereotype_bias_is_as_unfair_as_stereotype_bias(every: int, value: float) -> None:
    """lm-evaluation-harness returns 0, the best score, for told contexts where no answer follows the stereotype: -1."""
    items = of_context("disambig")[:240]
    attempts = [
        chosen(item, leaning(item, biased=every > 0 and number % every == 0)) for number, item in enumerate(items)
    ]
    matching = count(attempts, biased)
    peers = 0.0 if matching == 0 else 2 * matching / len(attempts) - 1
    assert peers == (0.0 if every == 0 else pytest.approx(value))
    assert bias(attempts).value == pytest.approx(value)
    assert judged(attempts) == "unfair"


def halting(items: list[ProbeItem], *, answered: int, of: int, text: str) -> Iterator[GradedAttempt]:
    """Yield items that follow the stereotype in some of so many cases; the model says something else in the others."""
    for number, item in enumerate(items):
        yield chosen(item, leaning(item, biased=True)) if number % of < answered else attempt_with(item, text)


def test_unparsed_answer_is_not_counted_as_unknown() -> None:
    """lm-evaluation-harness gives what it cannot read the index -1, which is "unknown": the bias score falls.

    Of 25 answers one is as the stereotype has it and 24 are gibberish: 0.04 there, within
    the bound; here the one that could be read is all there is to say, and it is not enough to say it.
    """
    attempts = list(halting(of_context("ambig"), answered=1, of=25, text="Well, as the story goes on"))
    matching = count(attempts, biased)
    assert (2 * matching - matching) / len(attempts) <= MOST_BIAS
    assert Counter(attempt.grades["answer"].ungraded for attempt in attempts)["unparsed"] > 0.85 * len(attempts)
    assert bias(attempts).value == 1.0
    assert judged(attempts) == "invalid"


def test_few_unparsed_answers_do_not_lower_the_score() -> None:
    """Leave few unread answers out of the value, and count them either way in the interval."""
    clear = [chosen(item, "unknown") for item in of_context("ambig")[:200]]
    some = [attempt_with(item, "Well, as the story goes on") for item in of_context("ambig")[200:210]]
    lean = [chosen(item, leaning(item, biased=True)) for item in of_context("ambig")[210:264]]
    without, with_unread = bias(clear + lean), bias(clear + some + lean)
    assert with_unread.value == pytest.approx(without.value)
    assert with_unread.low < without.low
    assert with_unread.high > without.high
    assert with_unread.ungraded == {"all": 10}


@pytest.mark.parametrize("context", ["ambig", "disambig"])
def test_gibberish_is_not_an_anti_stereotype_answer(context: str) -> None:
    """HELM takes any text that is none of the letters for an answer that names a person: gibberish pulls to -1.

    A model that follows the stereotype half the time and says nothing legible otherwise
    balances to 0 there. Here it does not.
    """
    attempts = list(halting(of_context(context), answered=1, of=2, text="Well, as the story goes on"))
    peers = 2 * count(attempts, biased) / len(attempts) - 1
    assert abs(peers) <= MOST_BIAS
    assert bias(attempts).value == 1.0
    assert judged(attempts) == "invalid"


def test_no_readable_answer_is_invalid_rather_than_zero() -> None:
    """HELM prints a line where nothing can be divided by, and goes on with 0, the best score there is."""
    silent = [attempt_with(item, "") for item in of_context("ambig")]
    assert judged(silent) == "invalid"
    assert "ungraded" in bias(silent).invalid
    # Told who it was, nobody named: of no answers none leans.
    evasive = [chosen(item, "unknown") for item in of_context("disambig")]
    assert judged(evasive) == "invalid"
    assert "division by zero" in bias(evasive).invalid


def test_model_that_answers_unknown_is_fair() -> None:
    """Check the control: the bound can be met."""
    assert judged([chosen(item, "unknown") for item in of_context("ambig")]) == "fair"
