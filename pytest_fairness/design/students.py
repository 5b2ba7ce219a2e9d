"""Students: models that classify emotions from features, and their readings of a benchmark, sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from pytest_fairness import FairnessError
from pytest_fairness.design.environment import GROUPS, EmotionParameters, generate

if TYPE_CHECKING:
    from torch import Tensor

UNREAD = -1
"""The label of a sample without a reading."""


@dataclass(frozen=True)
class EmotionReading:
    """A student's readings of n samples."""

    labels: Tensor
    """int64 [n]: indices in the emotions; -1 where there is no reading, which is neither right nor wrong."""
    confidence: Tensor
    """float [n], 0 to 1; nan where there is none."""
    verified: Tensor | None = None
    """bool [n], None where the student did not verify."""


@runtime_checkable
class Student(Protocol):
    """Reader of features [n, seq_len, dim]; with ``verification`` it verifies its readings and reports which held."""

    def read(self, features: Tensor, *, verification: bool) -> EmotionReading: ...


@dataclass(frozen=True)
class CallableStudent:
    """Any callable from features float32 [n, seq_len, dim] to scores [n, emotions] as a student.

    The scores are logits: the reading is the largest, its confidence the softmax. A callable that verifies
    takes ``verification`` itself and gives a `EmotionReading`: it needs no wrapping but an object with ``read``.

    >>> import torch
    >>> student = CallableStudent(lambda features: torch.eye(8)[:len(features)] * 9)
    >>> student.read(torch.zeros(2, 5, 48), verification=False).labels.tolist()
    [0, 1]

    ``read`` raises `FairnessError` where the scores have another shape or are not finite.
    """

    scores: Callable[[Tensor], Tensor]

    def read(self, features: Tensor, *, verification: bool) -> EmotionReading:  # noqa: ARG002
        import torch

        scores = torch.as_tensor(self.scores(features))
        if scores.ndim != 2 or len(scores) != len(features):
            raise FairnessError(
                f"a student gave scores of shape {list(scores.shape)}: it must give [{len(features)}, emotions]"
            )
        if not torch.isfinite(scores).all():
            raise FairnessError("a student gave scores that are not finite: give a number for each emotion")
        confidence, labels = scores.float().softmax(1).max(1)
        return EmotionReading(labels, confidence)


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StudentOutcomes:
    """Readings of one group; sample i of one group is the pair of sample i of the other where they were generated."""

    correct: Floats
    """[n]: 1 or 0; nan where there is no reading."""
    confidence: Floats
    """[n]: 0 to 1, nan where there is none."""
    verified: Floats | None
    """[n]: 1 or 0, nan where there is no reading; None where the student did not verify."""


def evaluate(
    student: Student, parameters: EmotionParameters, *, n: int, seed: int, seq_len: int = 5, dim: int = 48
) -> dict[str, StudentOutcomes]:
    """Return the outcomes of ``n`` samples of each group, streamed; the same arguments give the same outcomes.

    Raises `FairnessError` as `generate` does, and for a reading of the wrong size.
    """
    return {
        group: _outcomes(
            student,
            (
                (batch.features, batch.labels)
                for batch in generate(parameters, n=n, seq_len=seq_len, dim=dim, group=group, seed=seed)
            ),
            verification=parameters.verification,
        )
        for group in GROUPS
    }


def evaluate_groups(
    student: Student, groups: Mapping[str, Iterable[tuple[Tensor, Tensor]]], *, verification: bool
) -> dict[str, StudentOutcomes]:
    """Return the outcomes of each group's batches of features and labels, for example of a recording."""
    return {group: _outcomes(student, batches, verification=verification) for group, batches in groups.items()}


def _outcomes(student: Student, batches: Iterable[tuple[Tensor, Tensor]], *, verification: bool) -> StudentOutcomes:
    correct, confidence, verified = [], [], []
    for features, labels in batches:
        reading = student.read(features, verification=verification)
        for name, values in (("labels", reading.labels), ("confidence", reading.confidence)):
            if list(values.shape) != [len(labels)]:
                raise FairnessError(f"a student gave {name} of shape {list(values.shape)}: it must be [{len(labels)}]")
        unread = reading.labels == UNREAD
        correct.append((reading.labels == labels).double().masked_fill(unread, float("nan")).numpy())
        confidence.append(reading.confidence.detach().double().numpy())
        if reading.verified is not None:
            verified.append(reading.verified.double().masked_fill(unread, float("nan")).numpy())
    return StudentOutcomes(
        np.concatenate(correct), np.concatenate(confidence), np.concatenate(verified) if verified else None
    )
