"""Objectives of a design: a target ratio, the worst case, or several objectives at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pytest_fairness import FairnessError

Floats = npt.NDArray[np.float64]
Values = Mapping[str, Floats]
"""Figures by name, arrays of one shape: values seen, or draws of what a model expects."""

_RATIO = "accuracy_ratio"
"""The figure that objectives are about: the accuracy of one group over that of the other."""


class Objective(Protocol):
    """A quantity that is to be made small."""

    @property
    def figures(self) -> Sequence[str]:
        """The names of the figures that it depends on."""
        ...

    @property
    def meets(self) -> bool:
        """Return whether a search may stop once its loss is under the threshold."""
        ...

    def losses(self, values: Values) -> Floats:
        """Return the losses, one a row in front: shape (ends, ...); smaller is better, met at 0 where it can be met."""
        ...

    def described(self, threshold: float) -> str:
        """Return the objective in one sentence, as a language model gets it."""
        ...


@dataclass(frozen=True)
class Target:
    """Bring a ratio to a target: the loss is the gap ``|rho - target|``, in the ratio's own units.

    >>> float(Target(1.0).losses({"accuracy_ratio": np.array(0.9)})[0].round(3))
    0.1
    """

    target: float = 1.0
    figures = (_RATIO,)
    meets = True

    def __post_init__(self) -> None:
        if not 0 < self.target < np.inf:
            raise FairnessError(f"target is {self.target!r}: a ratio is above 0; 1.0 is parity")

    def losses(self, values: Values) -> Floats:
        return np.abs(values[_RATIO] - self.target)[np.newaxis]

    def described(self, threshold: float) -> str:
        return f"Bring {_RATIO} to {self.target:g}: the gap |{_RATIO} - {self.target:g}| under {threshold:g}."


@dataclass(frozen=True)
class Worst:
    """Show the most unfairness among benchmarks on which the student is at least so accurate.

    Unfairness is 1 - min(rho, 1/rho): 0 at parity, below 1. The loss is its complement, min(rho, 1/rho);
    below the accuracy it is 1 plus the shortfall, worse than any benchmark with the accuracy.

    >>> seen = {"accuracy_ratio": np.array([0.8, 1.6, 0.5]), "accuracy": np.array([0.9, 0.9, 0.4])}
    >>> Worst(accuracy=0.7).losses(seen)[0].round(3).tolist()
    [0.8, 0.625, 1.3]
    """

    accuracy: float
    figures = (_RATIO, "accuracy")
    meets = False

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy < 1:
            raise FairnessError(f"accuracy is {self.accuracy!r}: it must lie from 0 to below 1")

    def losses(self, values: Values) -> Floats:
        ratio, accuracy = np.maximum(values[_RATIO], 1e-6), values["accuracy"]
        missing = self.accuracy - accuracy
        return np.where(missing > 0, 1 + missing, np.minimum(ratio, 1 / ratio))[np.newaxis]

    def described(self, threshold: float) -> str:  # noqa: ARG002 - there is no gap to be under
        return (
            f"Bring {_RATIO} as far from 1 as you can, in either direction, "
            f"while accuracy stays at {self.accuracy:g} or above."
        )


@dataclass(frozen=True)
class Front:
    """Three objectives (``ends``) at once; the result is their Pareto front.

    The losses: the gap of the accuracy ratio from the target, 1 - accuracy, and the calibration error.

    >>> seen = {"accuracy_ratio": 1.1, "accuracy": 0.9, "calibration_error": 0.05}
    >>> Front().losses({name: np.array([value]) for name, value in seen.items()}).round(3).tolist()
    [[0.1], [0.1], [0.05]]
    """

    target: float = 1.0
    ends = ("ratio", "accuracy", "calibration")
    figures = (_RATIO, "accuracy", "calibration_error")
    meets = False

    def losses(self, values: Values) -> Floats:
        ratio, accuracy, error = (values[name] for name in self.figures)
        return np.stack([np.abs(ratio - self.target), 1 - accuracy, error])

    def described(self, threshold: float) -> str:  # noqa: ARG002 - there is no gap to be under
        return (
            f"Find benchmarks that are good in several ends at once: {', '.join(self.ends)}. "
            f"Bring accuracy_ratio to {self.target:g}, accuracy up, calibration_error to 0."
        )


def front_of(losses: Floats) -> list[int]:
    """Return the indices of the columns on the Pareto front: shape (ends, points); smaller is better.

    >>> front_of(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.4]]))
    [0, 1]
    """
    is_dominated = [
        any(np.all(other <= losses_of_point) and np.any(other < losses_of_point) for other in losses.T)
        or not np.all(np.isfinite(losses_of_point))
        for losses_of_point in losses.T
    ]
    return [index for index, dominated in enumerate(is_dominated) if not dominated]
