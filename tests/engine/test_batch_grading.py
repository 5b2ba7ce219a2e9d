"""Graders over a batch: called once for what has no grade, kept in the store, by one process at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.errors import GraderError
from pytest_fairness.engine.probe_sample import ProbeSample
from tests.engine.conftest import MakeEngine
from tests.helpers.engine_models import CountingModel


class Length:
    """Over a batch; notes what it is given."""

    fingerprint: str | None = "Length v1"

    def __init__(self, *, takes: float = 0.0) -> None:
        self.batches: list[list[GradedAttempt]] = []
        self.takes = takes
        self.closed = 0

    def grade_batch(self, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
        self.batches.append(list(attempts))
        time.sleep(self.takes)
        return [Grade(len(attempt.attempt.answer.text)) for attempt in attempts if attempt.attempt.answer]

    def close(self) -> None:
        self.closed += 1


class Passing(Length):
    """A grader without a fingerprint: its grades are not stored."""

    fingerprint = None


class Plain:
    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        return Grade(answer.text.endswith("0"))


class OverItem:
    def grade_item(self, item: ProbeItem, attempts: Sequence[GradedAttempt]) -> list[Grade]:
        return [Grade(item.id)] * len(attempts)


def items(count: int, **metadata: Any) -> list[ProbeItem]:
    return [
        ProbeItem(f"item {n}", [Prompt("x" * n + f"{n}, {p}", metadata=metadata) for p in range(2)])
        for n in range(count)
    ]


def sample_of(
    engine: Engine, graders: dict[str, Any], model: Model | None = None, count: int = 4, **about: Any
) -> ProbeSample:
    sample = ProbeSample(items(count, **about), model or CountingModel(), 1, engine)
    sample.grade_with(graders)
    return sample


def test_batch_grader_is_called_once_with_all_attempts(make_engine: MakeEngine) -> None:
    length, other = Length(), Passing()
    graders = {"length": length, "plain": Plain(), "other": other, "item": OverItem()}
    graded = sample_of(make_engine(), graders).measure_all()
    for grader in (length, other):
        (batch,) = grader.batches
        assert [attempt.prompt.text for attempt in batch] == [attempt.prompt.text for attempt in graded]
        assert all(set(attempt.grades) == {"plain", "item"} for attempt in batch)
    assert [attempt["length"] for attempt in graded] == [len(attempt.prompt.text) + 2 for attempt in graded]
    assert [attempt["other"] for attempt in graded] == [attempt["length"] for attempt in graded]
    assert all(list(attempt.grades) == ["plain", "item", "length", "other"] for attempt in graded)


def test_batch_grades_are_missing_from_single_items(make_engine: MakeEngine) -> None:
    length = Length()
    sample = sample_of(make_engine(), {"length": length, "plain": Plain()})
    assert all(set(attempt.grades) == {"plain"} for attempt in sample.measure(0))
    sample.measure_all()
    sample.measure_all()
    assert len(length.batches) == 1
    # The same whether the whole was taken before or not.
    assert all(set(attempt.grades) == {"plain"} for attempt in [*sample.measure(0), *sample.measure(3)])
    assert all(set(attempt.grades) == {"plain"} for attempt in sample.measured())
    assert set(sample.fingerprints) == {"plain"}


def test_later_run_grades_new_attempts_only(make_engine: MakeEngine) -> None:
    first, second, third = Length(), Length(), Length()
    model = CountingModel()
    graded = sample_of(make_engine("one"), {"length": first}, model).measure_all()
    again = sample_of(make_engine("two"), {"length": second}, model).measure_all()
    assert second.batches == []
    assert [attempt["length"] for attempt in again] == [attempt["length"] for attempt in graded]
    sample_of(make_engine("three"), {"length": third}, model, count=6).measure_all()
    assert [[attempt.item.id for attempt in batch] for batch in third.batches] == [["item 4"] * 2 + ["item 5"] * 2]


def test_grader_without_a_fingerprint_grades_in_every_run(make_engine: MakeEngine) -> None:
    first, second = Passing(), Passing()
    sample_of(make_engine("one"), {"length": first}).measure_all()
    sample_of(make_engine("two"), {"length": second}).measure_all()
    assert [len(grader.batches[0]) for grader in (first, second)] == [8, 8]


def test_metadata_is_part_of_the_grade_key(make_engine: MakeEngine) -> None:
    first, second = Length(), Length()
    sample_of(make_engine("one"), {"length": first}, scale="en").measure_all()
    sample_of(make_engine("two"), {"length": second}, scale="de").measure_all()
    assert len(second.batches[0]) == 8


def test_another_fingerprint_grades_again(make_engine: MakeEngine) -> None:
    first, second = Length(), Length()
    second.fingerprint = "Length v2"
    sample_of(make_engine("one"), {"length": first}).measure_all()
    sample_of(make_engine("two"), {"length": second}).measure_all()
    assert len(second.batches[0]) == 8


def test_attempt_without_an_answer_is_left_out(make_engine: MakeEngine) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        if prompt.text.endswith("2, 1"):
            raise PermanentError("no line")
        return prompt.text

    for grader in (Length(), Passing()):
        graded = sample_of(make_engine(), {"length": grader}, CountingModel(fails)).measure_all()
        assert [len(batch) for batch in grader.batches] == [7]
        assert [attempt.prompt.text for attempt in graded if attempt.grades["length"].ungraded] == ["xx2, 1"]
        assert graded[5].grades["length"] == Grade.none("error", graded[5].attempt.error or "")
        assert [attempt["length"] for attempt in graded if attempt.attempt.answer] == [4, 4, 5, 5, 6, 7, 7]


def test_no_answers_make_no_call(make_engine: MakeEngine) -> None:
    async def fails(prompt: Prompt, repetition: int) -> str:
        raise PermanentError("no line")

    for grader in (Length(), Passing()):
        graded = sample_of(make_engine(), {"length": grader}, CountingModel(fails)).measure_all()
        assert grader.batches == []
        assert {attempt.grades["length"].ungraded for attempt in graded} == {"error"}


def test_processes_wait_for_grades_that_another_computes(make_engine: MakeEngine) -> None:
    model = CountingModel()
    graders = [Length(takes=0.3) for _ in range(3)]
    samples = [sample_of(make_engine(), {"length": grader}, model) for grader in graders]
    lengths: list[list[Any]] = [[] for _ in samples]

    def measure(number: int) -> None:
        lengths[number] = [attempt["length"] for attempt in samples[number].measure_all()]

    threads = [threading.Thread(target=measure, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sum(len(grader.batches) for grader in graders) == 1
    assert lengths[0] == lengths[1] == lengths[2] != []


def test_grader_is_closed_once_with_the_engine(make_engine: MakeEngine) -> None:
    length, engine = Length(), make_engine()
    sample_of(engine, {"length": length}).measure_all()
    assert length.closed == 0
    engine.close()
    engine.close()
    assert length.closed == 1


def test_grader_that_fails_to_close_is_reported_in_one_line(make_engine: MakeEngine) -> None:
    class Stuck(Length):
        def close(self) -> None:
            raise OSError("device busy")

    length, engine = Length(), make_engine()
    sample_of(engine, {"length": length, "stuck": Stuck()}).measure_all()
    with pytest.raises(FairnessError, match=r"^a grader could not be closed: OSError: device busy$"):
        engine.close()
    engine.close()
    assert length.closed == 1


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda attempts: [Grade(1)], "returned a list of 1 for 8 attempts: it must hold one Grade for each"),
        (lambda attempts: None, "returned a NoneType: it must return a list with one Grade for each attempt"),
        (lambda attempts: [0.5] * 8, "returned a list that holds float: it must hold Grade(...) only"),
        (
            lambda attempts: [Grade(1j)] * 8,
            "gave a value of the type complex, which the store cannot keep: give a bool, a number or a text",
        ),
        (lambda attempts: attempts[0]["no"], "raised NoSuchGradeError: there is no grade 'no': "),
    ],
)
@pytest.mark.parametrize("kind", [Length, Passing])
def test_invalid_grades_are_refused(make_engine: MakeEngine, kind: type[Length], returned: Any, message: str) -> None:
    class Wrong(kind):  # type: ignore[misc,valid-type]
        def grade_batch(self, attempts: Sequence[GradedAttempt]) -> Any:
            return returned(attempts)

    with pytest.raises(GraderError) as raised:
        sample_of(make_engine(), {"odd": Wrong()}).measure_all()
    assert str(raised.value).startswith(f"the grader of 'odd' failed on its batch: it {message}")
    assert "\n" not in str(raised.value)


def test_fairness_error_of_a_grader_is_shown_unchanged(make_engine: MakeEngine) -> None:
    class Missing(Length):
        def grade_batch(self, attempts: Sequence[GradedAttempt]) -> Sequence[Grade]:
            raise FairnessError("the model is not installed: pip install model")

    with pytest.raises(GraderError) as raised:
        sample_of(make_engine(), {"odd": Missing()}).measure_all()
    assert str(raised.value) == "the grader of 'odd' failed on its batch: the model is not installed: pip install model"
