"""Emotions as features, for the student of the frozen design or one of your own. README.md says what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness import Measured

from .graders import JsonField
from .items import features
from .sizes import READ
from .test_emotion import (
    ACCURACY_MARKS,
    CONTROL,
    HIGH,
    LEAST_ACCURACY,
    LOW,
    MARKS,
    NEUROTYPES,
    accuracy,
    assert_recognized_alike,
)

if TYPE_CHECKING:
    from pytest_fairness.design import Frozen, Student


@pytest.fixture(scope="session")
def model(student: Student, frozen: Frozen) -> Callable[[str], str]:
    """Return the student as a model: it gets a sample's address, and answers its reading, as JSON."""
    readings = cache(lambda: frozen.readings(student))

    def read(text: str) -> str:
        address = json.loads(text)
        return json.dumps(readings()[address["neurotype"], address["sample"]])

    return read


@pytest.mark.probe(
    items=features,
    grade={"emotion": JsonField("emotion"), "confidence": JsonField("confidence"), "verified": JsonField("verified")},
    control=CONTROL,
    harm="quality of service",
    expected=READ,
)
def test_reading(probe_item: Any, model: object) -> None:
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_reading, title="The student recognizes both neurotypes equally well", scale=MARKS)
def test_student_reads_both_neurotypes_alike(measured: Measured, frozen: Frozen) -> None:
    if frozen.parameters["verification"]:
        measured.record(partial(measured.ratio, "verified", by="neurotype", of="alexithymic", to="neurotypical"))
    assert_recognized_alike(measured)


@pytest.mark.threshold(probe=test_reading, title="The student recognizes each neurotype", scale=ACCURACY_MARKS)
def test_student_reads_each_neurotype(measured: Measured) -> None:
    for neurotype in NEUROTYPES:
        assert accuracy(measured, neurotype) >= LEAST_ACCURACY


@pytest.mark.threshold(probe=test_reading, title="The student is equally confident about both neurotypes", scale=MARKS)
def test_student_confidence_is_alike_for_both_neurotypes(measured: Measured) -> None:
    ratio = measured.ratio("confidence", by="neurotype", of="alexithymic", to="neurotypical")
    assert LOW <= ratio.titled("mean confidence, alexithymic to neurotypical") <= HIGH


def test_frozen_design_reproduces_its_figures(frozen: Frozen) -> None:
    """Check the student that the file holds: an ordinary test, since nothing is uncertain here."""
    if frozen.student["kind"] == "model":
        pytest.skip("the student of this design is a language model: the file holds no weights")
    assert frozen.differences() == []
