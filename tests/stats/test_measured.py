"""Methods of `Measured`: their estimates, names and refusals."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pytest_fairness
from pytest_fairness.core.attempts import Attempt, Grade, GradedAttempt
from pytest_fairness.core.comparisons import recording
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]
Make = Callable[..., Measured]
Draw = Callable[..., Rows]

RATES = {"female": 0.4, "male": 0.5, "other": 0.45}


def graded() -> list[GradedAttempt]:
    """Two contexts of one category, with texts as grades."""
    attempts = []
    for number in range(40):
        context = "ambig" if number % 2 else "disambig"
        prompts = [
            Prompt(f"{name}?", groups={"gender": gender}, metadata={"name": name, "order": order})
            for order, (gender, name) in enumerate([("female", "Ann"), ("male", "Bob")])
        ]
        item = ProbeItem(f"item {number}", prompts, metadata={"context": context, "category": "Age"})
        for index, prompt in enumerate(prompts):
            answer = ["unknown", "biased", "other"][(number + index) % 3]
            grades = {"answer": Grade(answer), "score": Grade(number % 7 + index)}
            attempts.append(GradedAttempt(item, prompt, Attempt("", 0), grades))
    return attempts


class Unprintable:
    """A value whose class fails to show it."""

    def __repr__(self) -> str:
        raise ZeroDivisionError


def test_estimates_have_the_names_of_the_results_file(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw(RATES))
    pair = {"by": "group", "of": "female", "to": "male"}
    texts = Measured(graded())
    expected = {
        measured.rate("yes"): ("rate(yes)", "rate of yes"),
        measured.mean("yes"): ("mean(yes)", "mean of yes"),
        texts.rate("answer", equals="unknown"): ("rate(answer=unknown)", "rate of answer=unknown"),
        measured.ratio("yes", **pair): ("ratio(yes; group: female/male)", "ratio of yes, female to male"),
        measured.difference("yes", **pair): (
            "difference(yes; group: female-male)",
            "difference of yes, female minus male",
        ),
        measured.worst_ratio("yes", by="group"): (
            "worst_ratio(yes; group)",
            "worst ratio of yes between groups of group (its value is biased low)",
        ),
        texts.correlation("score", lambda attempt: attempt["answer"] == "biased"): (
            "correlation(score, lambda)",
            "correlation of score with lambda",
        ),
    }
    for estimate, (metric, title) in expected.items():
        assert (estimate.metric, estimate.title) == (metric, title)


def test_estimate_holds_its_counts_and_groups(of_rows: Make, draw: Draw) -> None:
    rows = draw(RATES, refused={"female": 0.05})
    estimate = of_rows(rows).ratio("yes", by="group", of="female", to="male")
    females = [row["yes"] for row in rows if row["group"] == "female"]
    answered = [yes for yes in females if yes is not None]
    assert estimate.items == 60
    assert estimate.attempts == 360
    assert estimate.ungraded == {"female": len(females) - len(answered), "male": 0}
    assert estimate.groups["female"] == pytest.approx(sum(answered) / len(answered))
    assert estimate.value == pytest.approx(estimate.groups["female"] / estimate.groups["male"])
    assert estimate.low < estimate.value < estimate.high
    assert estimate.error > 0
    assert 50 < estimate.df < 60
    assert estimate.confidence == 0.95
    assert not estimate.invalid


def test_estimates_are_recorded_once_and_only_by_record(of_rows: Make, draw: Draw) -> None:
    measured = of_rows(draw(RATES))
    calls: list[tuple[Callable[[], Any], int]] = [
        (lambda: measured.rate("yes"), 1),
        (lambda: measured.mean("yes"), 1),
        (lambda: measured.ratio("yes", by="group", of="female", to="male"), 1),
        (lambda: measured.difference("yes", by="group", of="female", to="male"), 1),
        (lambda: measured.ratios("yes", by="group"), 3),
        (lambda: measured.ratios("yes", by="group", to="male"), 2),
        (lambda: measured.worst_ratio("yes", by="group"), 1),
        (lambda: measured.metric(lambda s: s.yes / s.all, yes="yes", all=lambda attempt: 1), 1),
    ]
    for ask, times in calls:
        with recording() as record:
            estimate = ask()
        assert not record.estimates, "an estimate that is only computed leaves no trace"
        with recording() as record:
            measured.record(estimate)
            measured.record(estimate)
        assert len(record.estimates) == times
        with recording() as record:
            assert estimate >= -1e9
        assert len(record.estimates) == times, "a family asserts each of its members"
    measured.record(measured.rate("yes"))  # outside of a threshold
    with pytest.raises(TypeError, match=r"record takes estimates of `measured`, not 0\.5"):
        measured.record(0.5)  # type: ignore[arg-type]


def test_slice_selects_by_item_and_prompt_attributes() -> None:
    measured = Measured(graded())
    assert measured.where(context="ambig").items == 20
    assert measured.where(context="ambig", gender="female").attempts == 20
    assert measured.where(name=("Ann", "Bob")).attempts == 80
    assert measured.where(order=1).attempts == 40
    estimate = measured.where(context="ambig").where(category="Age").rate("answer", equals="unknown")
    assert estimate.slice == {"context": "ambig", "category": "Age"}
    assert measured.where(gender="female").groups("gender") == ("female",)
    assert measured.where(name={"Bob", "Ann"}).rate("answer", equals="biased").slice == {"name": "Ann or Bob"}


def test_slice_without_attempts_is_invalid_but_no_error() -> None:
    measured = Measured(graded()).where(context="nowhere")
    for estimate in (
        measured.rate("answer", equals="unknown"),
        measured.mean("score"),
        measured.ratio("score", by="gender", of="female", to="male"),
        measured.worst_ratio("score", by="gender"),
        measured.correlation("score", "score"),
        measured.metric(lambda s: s.score, score="score"),
        *(measured.ratios("score", by="gender")[name] for name in measured.ratios("score", by="gender")),
    ):
        assert estimate.invalid
        assert estimate.slice == {"context": "nowhere"}


def test_empty_sample_is_invalid() -> None:
    measured = Measured([])
    assert measured.items == measured.attempts == 0
    assert measured.rate("hired").invalid == "no attempts"
    assert measured.ratio("hired", by="gender", of="a", to="b").invalid == "no attempts of a"
    assert "0 groups" in next(iter(measured.ratios("hired", by="gender").items()))[1].invalid
    assert measured.metric(lambda s: s.x, x="hired").invalid == "no attempts"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda m: m.rate("anser"), "did you mean 'answer'"),
        (lambda m: m.rate("answer"), "equals="),
        (lambda m: m.rate("score"), "numbers other than 0 and 1"),
        (lambda m: m.metric(lambda s: s.x, x="scor"), "did you mean 'score'"),
        (lambda m: m.metric(lambda s: 1), "needs sums"),
        (lambda m: m.where(contxt="ambig"), "did you mean 'context'"),
        (lambda m: m.groups("gendr"), "did you mean 'gender'"),
        (lambda m: m.groups(["gender"]), r"\['gender'\] is not the name of an attribute"),
        (lambda m: m.ratio("score", by="gender", of="femal", to="male"), "did you mean 'female'"),
        (lambda m: m.ratio("score", by="gender", of="male", to="male"), "compared with itself"),
        (lambda m: m.ratios("score", by="gender", to="mal"), "did you mean 'male'"),
        (lambda m: m.rate(lambda attempt: attempt["answer"]), "true, false or a number"),
        (lambda m: m.rate(lambda attempt: True, equals=1), "equals= goes with"),
        (lambda m: m.rate("answer", equals=["biased"]), r"equals is \['biased'\]: give one value of 'answer'"),
        (lambda m: m.metric(lambda s: s.x, x=1), "the outcome is 1: name a grade"),
        (lambda m: m.metric(lambda s: s.x, x=lambda attempt: 10**400), "a number of more than 308 digits"),
        (lambda m: m.metric(lambda s: "text", x="score"), "the metric's function gave 'text': it must give a number"),
        (lambda m: m.metric(lambda s: s.x, x="score", span="x"), "the span of a metric is 'x': write span="),
        (lambda m: m.metric(lambda s: s.x, x="score", span=(1, 0)), r"the span of a metric is \(1, 0\): write span="),
        (lambda m: m.metric(3, x="score"), "a metric is 3: give a function of sums"),
        (lambda m: m.rate("answer", equals="biased", named=3), "the name of a rate is 3: write a text"),
        (lambda m: m.rate("answer", equals=m.rate("answer", equals="biased")), "equals is <rate of answer"),
        (lambda m: m.rates("answer", equals=3), "equals is 3: name the values"),
        (lambda m: m.ratio("score", by="gender", of=np.array(["male"]), to="male"), "gender has no group array"),
        (lambda m: m.groups(Unprintable()), "<Unprintable, whose repr raised ZeroDivisionError> is not the name"),
        (lambda m: m.ratios("score", by="gender")["male"], "the family has no member 'male': did you mean"),
        (lambda m: m.mean("score").marked("A"), "the scale is 'A': write MarkScale"),
        (lambda m: m.against(m.mean("score")), "the baseline is <mean of score"),
        (lambda m: m.resamples(lambda s: s.x, x="score", draws=None), "draws is None: it must be a whole number"),
    ],
)
def test_mistake_is_named_with_the_way_out(ask: Callable[[Measured], object], words: str) -> None:
    with pytest.raises(FairnessError, match=words):
        ask(Measured(graded()))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"confidence": 1.5}, "between 0 and 1"),
        ({"sources": "some"}, "'random' or 'fixed'"),
        ({"crossed": "nme"}, "did you mean 'name'"),
    ],
)
def test_option_out_of_range_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(FairnessError, match=words):
        Measured(graded(), **options)


def test_value_the_grader_never_gives_is_refused() -> None:
    extremes = {"answer": lambda _: ("biased", "other", "unknown")}
    with pytest.raises(FairnessError, match="did you mean 'unknown'"):
        Measured(graded(), extremes=extremes).rate("answer", equals="unkown")


def test_group_outside_the_slice_is_invalid() -> None:
    measured = Measured(graded()).where(gender="female")
    assert measured.ratio("score", by="gender", of="female", to="male").invalid.startswith("no attempts of male")
    members = measured.ratios("score", by="gender", to="male")
    assert members["female/male"].invalid.startswith("no attempts of male")


def test_outcome_function_reads_the_attempt() -> None:
    measured = Measured(graded())
    by_name = measured.rate("answer", equals="biased")
    by_function = measured.rate(lambda attempt: attempt["answer"] == "biased")
    assert (by_name.value, by_name.low, by_name.high) == (by_function.value, by_function.low, by_function.high)
    ages = measured.rate(lambda attempt: attempt.item.metadata["category"] == "Age" and attempt["answer"] == "biased")
    assert ages.value == by_name.value


@pytest.mark.parametrize("bounds", [(1, 4), ((1,), (4,)), ([1], [4])])
def test_outcome_function_reads_variables_as_they_are_now(bounds: tuple[Any, Any]) -> None:
    measured = Measured(graded())

    def is_high(attempt: GradedAttempt) -> bool:
        return bool(attempt["score"] > (bound if isinstance(bound, int) else bound[0]))

    def shares() -> list[float]:
        metric = measured.metric(lambda s: s.high / s.all, high=is_high, all=lambda _: 1)
        return [measured.rate(is_high).value, metric.value]

    expected = [np.mean([attempt["score"] > number for attempt in graded()]) for number in (1, 4)]
    bound = bounds[0]
    assert shares() == pytest.approx([expected[0]] * 2)
    bound = bounds[1]
    assert shares() == pytest.approx([expected[1]] * 2)


CUTOFF = 1
CUTOFFS = [1]


class Cutoff:
    """A function that is an object, and changes with it."""

    least = 1
    bounds = CUTOFFS

    def __call__(self, attempt: GradedAttempt) -> bool:
        return bool(attempt["score"] > self.least)

    @staticmethod
    def is_exceeded(score: int) -> bool:
        return score > CUTOFF


class InheritedCutoff(Cutoff):
    """A class whose attributes are those of another."""


cutoff_object = Cutoff()
grading = ModuleType("grading")
"""A module of helpers beside the tests."""
grading.__file__ = f"{Path(pytest_fairness.__file__).parent}_helpers.py"  # not in our package
exec("class Bounds: least = 1\ndef exceeds(score): return score > CUTOFF", vars(grading))  # noqa: S102
exceeds = grading.exceeds


def exceeds_cutoff(score: int) -> bool:
    return any(score > cutoff for cutoff in (CUTOFF,))


def is_above(attempt: GradedAttempt) -> bool:
    return exceeds_cutoff(attempt["score"])


@pytest.mark.parametrize(
    "function",
    [
        is_above,
        lambda attempt: attempt["score"] > CUTOFF,
        lambda attempt: attempt["score"] > CUTOFFS[0],
        lambda attempt: attempt["score"] > cutoff_object.least,
        cutoff_object,
        cutoff_object.__call__,
        lambda attempt: attempt["score"] > Cutoff.bounds[0],
        (lambda kind: lambda attempt: attempt["score"] > kind.bounds[0])(InheritedCutoff),
        lambda attempt: Cutoff.is_exceeded(attempt["score"]),
        lambda attempt: grading.exceeds(attempt["score"]),
        lambda attempt: exceeds(attempt["score"]),
        lambda attempt: attempt["score"] > grading.Bounds.least,
        partial(lambda attempt, cutoffs: attempt["score"] > cutoffs["least"][0], cutoffs={"least": CUTOFFS}),
    ],
)
def test_outcome_function_reads_global_variables_as_they_are_now(
    function: Callable[[GradedAttempt], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = Measured(graded())
    for cutoff in (1, 4):
        for module in (sys.modules[__name__], grading):
            monkeypatch.setattr(module, "CUTOFF", cutoff, raising=False)
        CUTOFFS[0] = cutoff_object.least = grading.Bounds.least = cutoff
        expected = np.mean([attempt["score"] > cutoff for attempt in graded()])
        assert measured.rate(function).value == pytest.approx(expected)


def is_biased(attempt: GradedAttempt) -> bool:
    return bool(attempt["answer"] == "biased")


def test_outcome_function_is_computed_once_for_several_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read = GradedAttempt.__getitem__

    def noted(attempt: GradedAttempt, grade: str) -> Any:
        reads.append(grade)
        return read(attempt, grade)

    monkeypatch.setattr(GradedAttempt, "__getitem__", noted)
    measured = Measured(graded())
    for _ in range(2):
        measured.where(context="ambig").rate(is_biased)
    number = len(reads)
    assert number >= 40
    measured.where(context="ambig").rate(is_biased)
    measured.where(context="ambig", category="Age").rate(is_biased)
    assert len(reads) == number
    measured.rate(is_biased)
    assert len(reads) > number


def test_fewer_than_five_sources_are_invalid_unless_fixed(of_rows: Make, draw: Draw) -> None:
    rows = draw(RATES, items=40, per_source=10)
    assert "only 4 independent" in of_rows(rows, source=True).rate("yes").invalid
    fixed = of_rows(rows, source=True, sources="fixed").rate("yes")
    assert not fixed.invalid
    assert fixed.low == of_rows(rows).rate("yes").low


def test_import_loads_neither_scipy_nor_pytest() -> None:
    script = (
        "import sys, pytest_fairness.stats.measured\n"
        "heavy = {name.partition('.')[0] for name in sys.modules} & {'scipy', 'pytest', 'pandas', 'pyarrow'}\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
