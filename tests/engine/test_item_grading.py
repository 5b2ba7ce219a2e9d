"""Graders over a whole item: what they see, what they ask, and that nobody waits for one after another."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt, value_or_none
from pytest_fairness.core.errors import PermanentError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Grading, Model, ModelQuery
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import GraderError, RunStoppedError
from pytest_fairness.engine.probe_sample import ProbeSample
from tests.engine.conftest import MakeEngine
from tests.helpers.deadlines import wait_until
from tests.helpers.engine_models import CountingModel

PATIENCE = 100.0
"""Seconds after which a test gives up on what should have happened at once."""


def items(count: int, prompts: int = 2) -> list[ProbeItem]:
    return [ProbeItem(f"item {n}", [Prompt(f"{n}, prompt {p}") for p in range(prompts)]) for n in range(count)]


class Length:
    """A plain grader."""

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        return Grade(len(answer.text))


class Oracle:
    """Grader that asks one question about each item; the grade is the reply."""

    def __init__(self, about: str = "about", model: Model | None = None) -> None:
        self.about = about
        self.model = model

    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading:
        (attempt,) = yield [ModelQuery(Prompt(f"{self.about} {item.id}"), self.model)]
        grade = Grade(attempt.answer.text) if attempt.answer else Grade.none("error", attempt.error or "")
        return [grade] * len(attempts)


def sample_of(engine: Engine, model: Model, graders: dict[str, Any], count: int = 3, **options: Any) -> ProbeSample:
    """Return a sample that is laid out like a run's: the engine works ahead of the tests."""
    sample = ProbeSample(items(count), model, options.pop("repetitions", 1), engine, **options)
    sample.grade_with(graders)
    engine.plan(sample.requests(range(count)))
    return sample


def values(graded: Sequence[GradedAttempt], name: str) -> list[Any]:
    return [value_or_none(attempt.grades[name]) for attempt in graded]


def test_grader_sees_all_attempts_and_earlier_grades(make_engine: MakeEngine) -> None:
    class Count:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:
            return [Grade(f"{item.id} {sorted(attempt.grades)} {attempt.attempt.repetition}") for attempt in attempts]

    graders = {"second": Count(), "third": Count(), "first": Length()}
    graded = sample_of(make_engine(), CountingModel(), graders, repetitions=2).measure(1)
    assert [attempt.prompt.text for attempt in graded] == ["1, prompt 0"] * 2 + ["1, prompt 1"] * 2
    assert [attempt["second"] for attempt in graded] == [f"item 1 ['first'] {n}" for n in (0, 1, 0, 1)]
    assert [attempt["third"] for attempt in graded] == [f"item 1 ['first', 'second'] {n}" for n in (0, 1, 0, 1)]
    assert values(graded, "first") == [len("1, prompt 0/0")] * 4


def test_question_goes_to_the_named_model_or_the_tested_one(make_engine: MakeEngine) -> None:
    model, other = CountingModel(), CountingModel(key="test:other")
    sample = sample_of(make_engine(), model, {"own": Oracle("own"), "other": Oracle("other", other)})
    graded = sample.measure_all()
    assert values(graded, "own")[::2] == [f"own item {n}/0" for n in range(3)]
    assert values(graded, "other")[::2] == [f"other item {n}/0" for n in range(3)]
    assert {text for text, _ in other.calls} == {f"other item {n}" for n in range(3)}
    assert model.requests == 3 * 2 + 3
    assert len(sample.questions(0)) == 2


def test_grader_may_send_a_second_question(make_engine: MakeEngine) -> None:
    class Repair:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading:
            prompt, rounds = f"{item.id}: yes or no?", 0
            while True:
                (attempt,) = yield [ModelQuery(Prompt(prompt))]
                rounds += 1
                assert attempt.answer
                if attempt.answer.text in ("yes", "no"):
                    return [Grade((attempt.answer.text, rounds))] * len(attempts)
                prompt = f"{item.id}: you said {attempt.answer.text}: yes or no?"

    async def says(prompt: Prompt, repetition: int) -> str:
        text = prompt.text
        return "yes" if text.startswith("item 2") or "you said well" in text else "well" if "you said" in text else "hm"

    sample = sample_of(make_engine(), CountingModel(says), {"repaired": Repair()})
    graded = sample.measure_all()
    assert values(graded, "repaired")[::2] == [("yes", 3), ("yes", 3), ("yes", 1)]


def test_grader_may_send_no_question(make_engine: MakeEngine) -> None:
    class Quiet:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading:
            nothing = yield []
            return [Grade(len(nothing))] * len(attempts)

    assert values(sample_of(make_engine(), CountingModel(), {"quiet": Quiet()}).measure_all(), "quiet") == [0] * 6


def test_later_run_repeats_no_question(make_engine: MakeEngine) -> None:
    model = CountingModel()
    graders = {"one": Oracle("one"), "two": Oracle("two")}
    engine = make_engine("first")
    first = sample_of(engine, model, graders).measure_all()
    engine.close()
    requests = model.requests
    sample = sample_of(make_engine("second"), model, graders)
    assert values(sample.measure_all(), "two") == values(first, "two")
    assert model.requests == requests == 3 * 2 + 3 * 2
    assert all(question.from_store for question in sample.questions(0))


def test_fresh_run_repeats_its_questions(make_engine: MakeEngine) -> None:
    class AsOften(Oracle):
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading:
            replies = yield [
                ModelQuery(Prompt(f"again {item.id}"), None, attempt.attempt.repetition) for attempt in attempts
            ]
            return [Grade(reply.answer.text) if reply.answer else Grade.none("error") for reply in replies]

    model = CountingModel()
    graders = {"said": Oracle(), "often": AsOften()}
    engine = make_engine("first")
    sample_of(engine, model, graders, repetitions=2).measure_all()
    engine.close()
    graded = sample_of(make_engine("second"), model, graders, repetitions=2, first=2).measure(0)
    assert values(graded, "said") == ["about item 0/2"] * 4
    assert values(graded, "often") == ["again item 0/2", "again item 0/3"] * 2
    assert set(model.calls.values()) == {1}


def test_failed_attempt_is_seen_and_graded_as_error(make_engine: MakeEngine) -> None:
    class Answered:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:
            return [Grade(sum(attempt.attempt.answer is not None for attempt in attempts))] * len(attempts)

    async def refuses(prompt: Prompt, repetition: int) -> str:
        if prompt.text == "0, prompt 1":
            raise PermanentError("HTTP 400")
        return "fine"

    sample = sample_of(make_engine(), CountingModel(refuses), {"answered": Answered(), "long": Length()})
    first, second = sample.measure(0)
    assert first["answered"] == 1
    assert second.grades["answered"] == second.grades["long"] == Grade.none("error", "HTTP 400")


def test_item_is_ungraded_where_a_grade_is_missing(make_engine: MakeEngine) -> None:
    class Refused(Length):
        def grade(self, prompt: Prompt, answer: Answer) -> Grade:
            return Grade.none("refusal") if answer.text == "1, prompt 1/0" else super().grade(prompt, answer)

    class Same(Oracle):
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading:
            yield from super().grade_item(item, attempts)
            return [Grade(len({attempt["long"] for attempt in attempts}) == 1)] * len(attempts)

    graded = sample_of(make_engine(), CountingModel(), {"long": Refused(), "same": Same()}).measure_all()
    assert values(graded, "same") == [True, True, None, None, True, True]
    assert graded[2].grades["same"] == Grade.none("refusal", "long is ungraded (refusal)")


def test_failed_question_reaches_the_grader_and_is_stored(make_engine: MakeEngine) -> None:
    async def refuses(prompt: Prompt, repetition: int) -> str:
        raise PermanentError("HTTP 400")

    oracle = CountingModel(refuses, key="test:oracle")
    sample = sample_of(make_engine(), CountingModel(), {"said": Oracle("about", oracle)})
    assert sample.measure(0)[0].grades["said"] == Grade.none("error", "HTTP 400")
    assert [question.error for question in sample.questions(0)] == ["HTTP 400"]


def test_offline_run_sends_no_remote_question(make_engine: MakeEngine) -> None:
    near, far = CountingModel(local=True), CountingModel(key="test:far")
    sample = sample_of(make_engine(offline=True), near, {"said": Oracle("about", far)})
    sample.measure(0)
    (question,) = sample.questions(0)
    assert "--fairness-offline" in (question.error or "")
    assert far.requests == 0


@pytest.mark.parametrize("whole", [True, False], ids=["whole sample", "test by test"])
def test_questions_of_many_items_are_in_flight_at_once(make_engine: MakeEngine, *, whole: bool) -> None:
    model, oracle = CountingModel(latency=0.005), CountingModel(latency=0.02, key="test:oracle")
    graders = {name: Oracle(name, oracle) for name in ("one", "two")}
    sample = sample_of(make_engine(concurrency=8), model, graders, count=120)
    graded = sample.measure_all() if whole else [attempt for index in range(120) for attempt in sample.measure(index)]
    assert len(graded) == 240
    assert oracle.requests == 240
    assert oracle.most_under_way == 8


@pytest.mark.parametrize("whole", [True, False], ids=["whole sample", "test by test"])
def test_questions_are_sent_while_other_answers_are_in_flight(make_engine: MakeEngine, *, whole: bool) -> None:
    """Answer the first item only when all others have been judged."""

    async def waits_for_the_others(prompt: Prompt, repetition: int) -> str:
        if prompt.text.startswith("0,"):
            end = time.monotonic() + PATIENCE
            while oracle.requests < 29:
                if time.monotonic() > end:
                    raise PermanentError("the others were not judged")
                await asyncio.sleep(0.01)
        return "fine"

    oracle = CountingModel(key="test:oracle")
    sample = sample_of(
        make_engine(concurrency=4), CountingModel(waits_for_the_others), {"said": Oracle("x", oracle)}, count=30
    )
    graded = sample.measure_all() if whole else sample.measure(0)
    assert values(graded, "said")[0] == "x item 0/0"


def test_questions_are_sent_before_other_items_begin(make_engine: MakeEngine) -> None:
    """Measure the whole sample at once: its first items are judged while the others wait."""
    order: list[str] = []

    async def recorded(prompt: Prompt, repetition: int) -> str:
        order.append(prompt.text)
        return "fine"

    # The questions come from this thread: a busy machine must leave it some time while the answers come.
    model = CountingModel(recorded, latency=0.02)
    sample = sample_of(make_engine(concurrency=4), model, {"said": Oracle("judge")}, count=300)
    sample.measure_all()
    assert len(order) == 900
    assert next(index for index, text in enumerate(order) if text.startswith("judge")) < 300


def test_questions_are_sent_no_further_ahead_than_answers(make_engine: MakeEngine) -> None:
    """Answer from the store, with a new oracle."""
    model, oracle = CountingModel(), CountingModel(key="test:oracle")
    engine = make_engine("first", concurrency=4)
    sample_of(engine, model, {"long": Length()}, count=1000).measure_all()
    engine.close()
    sample = sample_of(make_engine("second", concurrency=4), model, {"said": Oracle("x", oracle)}, count=1000)
    for index in range(10):
        sample.measure(index)
    wait_until(lambda: oracle.requests >= 128)
    time.sleep(0.2)
    sample.measure(10)
    time.sleep(0.2)
    assert oracle.requests <= (256 + 2 * 11) / 2 + 1


def test_two_processes_of_a_run_send_no_question_twice(make_engine: MakeEngine) -> None:
    model, oracle = CountingModel(latency=0.005), CountingModel(latency=0.005, key="test:oracle")
    samples = [sample_of(make_engine(), model, {"said": Oracle("x", oracle)}, count=60) for _ in range(2)]
    answers: list[Any] = []

    def take(part: int) -> None:
        answers.extend(values(samples[part].measure(index), "said")[0] for index in range(part, 60, 2))

    threads = [threading.Thread(target=take, args=(part,)) for part in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(f"x item {n}/0" for n in range(60))
    assert model.requests == 120
    assert oracle.requests == 60


def test_waiting_for_one_sample_advances_gradings_of_another(make_engine: MakeEngine) -> None:
    """Measure two probes in any order."""
    oracle = CountingModel(key="test:oracle")

    async def slow(prompt: Prompt, repetition: int) -> str:
        end = time.monotonic() + PATIENCE
        while oracle.requests < 3:
            if time.monotonic() > end:
                raise PermanentError("the items of the other probe were not judged")
            await asyncio.sleep(0.01)
        return "fine"

    engine = make_engine()
    sample_of(engine, CountingModel(), {"said": Oracle("x", oracle)})
    other = ProbeSample(items(1), CountingModel(slow, key="test:slow"), 1, engine)
    other.grade_with({"long": Length()})
    assert values(other.measure(0), "long") == [4, 4]


def test_no_question_is_sent_after_a_stop(make_engine: MakeEngine) -> None:
    engine = make_engine()

    async def stops(prompt: Prompt, repetition: int) -> str:
        if prompt.text.startswith("0, prompt 1"):
            engine.stop()
        return "fine"

    oracle = CountingModel(key="test:oracle")
    sample = sample_of(engine, CountingModel(stops), {"said": Oracle("x", oracle)}, count=1)
    with pytest.raises(RunStoppedError):
        sample.measure(0)
    assert oracle.requests == 0


def test_paused_engine_sends_no_question(make_engine: MakeEngine) -> None:
    engine = make_engine()
    oracle = CountingModel(key="test:oracle")

    async def pauses(prompt: Prompt, repetition: int) -> str:
        engine.pause()
        return "fine"

    sample = ProbeSample(items(1, prompts=1), CountingModel(pauses), 1, engine)
    sample.grade_with({"said": Oracle("x", oracle)})
    seen: list[int] = []

    def resume() -> None:
        time.sleep(0.3)
        seen.append(oracle.requests)
        engine.resume()

    thread = threading.Thread(target=resume)
    thread.start()
    assert values(sample.measure(0), "said") == ["x item 0/0"]
    thread.join()
    assert seen == [0]


def test_grader_that_raises_fails_its_own_item_only(make_engine: MakeEngine) -> None:
    class Fragile(Oracle):
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Grading:
            grades = yield from super().grade_item(item, attempts)
            if item.id == "item 1":
                raise ZeroDivisionError("of\nmine")
            return grades

    sample = sample_of(make_engine(), CountingModel(), {"said": Fragile()})
    wait_until(lambda: sample.measure(0))
    assert values(sample.measure(2), "said") == ["about item 2/0"] * 2
    for _ in range(2):  # a test that is run again
        with pytest.raises(GraderError) as raised:
            sample.measure(1)
        message, _, location = str(raised.value).partition(" (")
        assert message == "the grader of 'said' failed on item 'item 1': it raised ZeroDivisionError: of mine"
        assert location.startswith("test_item_grading.py, line ")
    with pytest.raises(GraderError):
        sample.measure_all()


def test_plain_grader_that_raises_fails_its_own_item_only(make_engine: MakeEngine) -> None:
    class Fragile(Length):
        def grade(self, prompt: Prompt, answer: Answer) -> Grade:
            if prompt.text.startswith("1"):
                raise ZeroDivisionError("of mine")
            return Grade(1)

    sample = sample_of(make_engine(), CountingModel(), {"said": Oracle(), "long": Fragile()})
    assert values(sample.measure(0) + sample.measure(2), "long") == [1] * 4
    with pytest.raises(GraderError, match=r"^the grader of 'long' failed on item 'item 1': it raised ZeroDiv"):
        sample.measure(1)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([Grade(1)], "returned a list of 1 for 2 attempts: it must hold one Grade for each"),
        (None, "returned a NoneType: it must return a list with one Grade for each attempt"),
        ("ab", "returned a str: it must return a list with one Grade for each attempt"),
        ([Grade(1), 1], "returned a list that holds int: it must hold Grade(...) only"),
        (ModelQuery(Prompt("?")), "returned a ModelQuery: it must return a list with one Grade for each attempt"),
    ],
)
def test_wrong_number_of_grades_is_refused(make_engine: MakeEngine, returned: Any, message: str) -> None:
    class Wrong:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Any:
            return returned

    class WrongAfterAsking:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Any:
            yield [ModelQuery(Prompt("?"))]
            return returned

    for grader in (Wrong(), WrongAfterAsking()):
        with pytest.raises(GraderError) as raised:
            sample_of(make_engine(), CountingModel(), {"said": grader}).measure(0)
        assert str(raised.value) == f"the grader of 'said' failed on item 'item 0': it {message}"


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (ModelQuery(Prompt("?")), "yielded a ModelQuery: it must yield a list of ModelQuery(...)"),
        ([Prompt("?")], "yielded a list that holds Prompt: it must hold ModelQuery(...) only"),
        (
            [ModelQuery(Prompt("?"), model=len)],  # type: ignore[arg-type]
            "asks a builtin_function_or_method: its model must have answer() and close()",
        ),
    ],
)
def test_invalid_questions_are_refused(make_engine: MakeEngine, questions: Any, message: str) -> None:
    class Wrong:
        def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> Any:
            yield questions
            return [Grade(1)] * len(attempts)

    with pytest.raises(GraderError) as raised:
        sample_of(make_engine(), CountingModel(), {"said": Wrong()}).measure(0)
    assert str(raised.value) == f"the grader of 'said' failed on item 'item 0': it {message}"


def test_questions_are_counted_apart_from_attempts(make_engine: MakeEngine) -> None:
    engine = make_engine()
    counts: list[int] = []
    engine.answers.on_wait = lambda: counts.append(len(engine.answers.attempts))
    sample = sample_of(engine, CountingModel(latency=0.01), {name: Oracle(name) for name in "abcdef"}, count=4)
    sample.measure_all()
    engine.attempts([*sample.requests([0])])
    assert counts == sorted(counts)
    assert len(engine.answers.attempts) == 4 * (2 + 6)
    engine.close()
    assert {entry.role: (entry.calls, entry.requests) for entry in engine.store.spent("run")} == {
        "graders": (24, 24),
        "probes": (8, 8),
    }
