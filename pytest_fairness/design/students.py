"""Students: models that classify emotions from features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pytest_fairness.core.errors import FairnessError

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
