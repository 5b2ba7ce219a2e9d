"""The parameters of a benchmark that a designer may choose: names, ranges and what they mean."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean, is_number

Value = float | int | bool | str
Point = Mapping[str, Value]
"""A value for every parameter of a space."""


class Parameter(ABC):
    """One parameter. ``at`` maps a number from 0 to 1 to a value, ``coordinates`` a value to such numbers."""

    meaning: str

    @abstractmethod
    def wrong(self, value: object) -> str:
        """Return the mistake in a value, as the end of a sentence; empty for a valid one."""

    @abstractmethod
    def at(self, share: float) -> Value:
        """Return the value at a share (0 to 1, 1 not included) of the range; all values are equally likely."""

    @abstractmethod
    def coordinates(self, value: Any) -> list[float]:
        """Return the value as numbers from 0 to 1, for models that depend on distances."""

    @abstractmethod
    def stepped(self, value: Any, step: float, draws: np.random.Generator) -> Value:
        """Return a value near this one: ``step`` is the standard deviation in shares of the range."""

    @property
    @abstractmethod
    def range(self) -> str:
        """The range in words: ``a number from 0.5 to 2``."""


@dataclass(frozen=True, slots=True)
class NumericParameter(Parameter):
    """A real number from ``low`` to ``high``, both included."""

    low: float
    high: float
    meaning: str

    def wrong(self, value: object) -> str:
        if not is_number(value) or not math.isfinite(value):
            return f"is {value!r:.60}: it must be {self.range}"
        return "" if self.low <= value <= self.high else f"is {value:g}: it must be {self.range}"

    def at(self, share: float) -> float:
        return round(self.low + share * (self.high - self.low), 6)

    def coordinates(self, value: Any) -> list[float]:
        return [(value - self.low) / (self.high - self.low)]

    def stepped(self, value: Any, step: float, draws: np.random.Generator) -> float:
        share = self.coordinates(value)[0] + step * draws.standard_normal()
        return self.at(min(max(share, 0.0), 1.0))

    @property
    def range(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Whole(Parameter):
    """A whole number from ``low`` to ``high``, both included."""

    low: int
    high: int
    meaning: str

    def wrong(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            return f"is {value!r:.60}: it must be {self.range}"
        return ""

    def at(self, share: float) -> int:
        return min(self.low + int(share * (self.high - self.low + 1)), self.high)

    def coordinates(self, value: Any) -> list[float]:
        return [(value - self.low) / (self.high - self.low)]

    def stepped(self, value: int, step: float, draws: np.random.Generator) -> int:
        moved = round(float(value + step * (self.high - self.low) * draws.standard_normal()))
        return min(max(moved, self.low), self.high)

    @property
    def range(self) -> str:
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Switch(Parameter):
    """A switch: on (True) or off (False)."""

    meaning: str

    def wrong(self, value: object) -> str:
        return "" if isinstance(value, bool) else f"is {value!r:.60}: it must be {self.range}"

    def at(self, share: float) -> bool:
        return share < 0.5

    def coordinates(self, value: Any) -> list[float]:
        return [float(value)]

    def stepped(self, value: Any, step: float, draws: np.random.Generator) -> bool:
        return bool(bool(value) != (draws.random() < step))

    @property
    def range(self) -> str:
        return "true or false"


@dataclass(frozen=True, slots=True)
class OneOf(Parameter):
    """One of several texts, in no order."""

    values: Sequence[str]
    meaning: str

    def wrong(self, value: object) -> str:
        return "" if value in self.values else f"is {value!r:.60}: it must be {self.range}"

    def at(self, share: float) -> str:
        return self.values[int(share * len(self.values))]

    def coordinates(self, value: Any) -> list[float]:
        return [float(value == option) for option in self.values]

    def stepped(self, value: Any, step: float, draws: np.random.Generator) -> str:
        return self.at(float(draws.random())) if draws.random() < step else str(value)

    @property
    def range(self) -> str:
        return f"one of {', '.join(self.values)}"


@dataclass(frozen=True)
class Space:
    """The parameters of a benchmark by name, and where a search begins.

    ``ratios`` names quotients of two parameters that help to explain a point.

    >>> space = Space({"years": Whole(2, 15, "of experience")}, start={"years": 5})
    >>> space.wrong({"years": 20})
    ['years is 20: it must be a whole number from 2 to 15']
    >>> space.wrong({})
    ['years is missing: it must be a whole number from 2 to 15']

    Raises `FairnessError` for a start outside of it.
    """

    parameters: Mapping[str, Parameter]
    start: Point
    ratios: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parameters:
            raise FairnessError("a space has no parameter: it needs at least one")
        if wrong := self.wrong(self.start):
            raise FairnessError(f"the start of a space lies outside of it: {'; '.join(wrong)}")

    def wrong(self, point: Mapping[str, object]) -> list[str]:
        """Return the mistakes in a point: one sentence for each parameter; empty for a valid point."""
        faults = []
        for name, parameter in self.parameters.items():
            if name not in point:
                faults.append(f"{name} is missing: it must be {parameter.range}")
            elif fault := parameter.wrong(point[name]):
                faults.append(f"{name} {fault}")
        unknown = [str(name) for name in point if name not in self.parameters]
        return faults + [f"{name[:60]!r} is no parameter; {did_you_mean(name, self.parameters)}" for name in unknown]

    def at(self, shares: Sequence[float]) -> Point:
        """Return the point at these shares of the ranges, one a parameter."""
        pairs = zip(self.parameters.items(), shares, strict=True)
        return {name: parameter.at(float(share)) for (name, parameter), share in pairs}

    def drawn(self, draws: np.random.Generator) -> Point:
        """Return a point drawn at random, each parameter uniformly over its range."""
        return self.at(draws.random(len(self.parameters)).tolist())

    def near(self, point: Point, step: float, draws: np.random.Generator) -> Point:
        """Return a random point near another one, within the space."""
        return {name: parameter.stepped(point[name], step, draws) for name, parameter in self.parameters.items()}

    def coordinates(self, points: Sequence[Point]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return points as rows of numbers from 0 to 1; a text takes a column for each of its values."""
        items = self.parameters.items()
        return np.array(
            [[coordinate for name, p in items for coordinate in p.coordinates(point[name])] for point in points]
        )

    def described(self) -> str:
        """Return one line for each parameter: its name, range and meaning."""
        return "\n".join(f"- {name}: {p.range}. {p.meaning}" for name, p in self.parameters.items())


EMOTION = Space(
    {
        "prosody_variance_neurotypical": NumericParameter(
            0.5, 2.0, "Spread of the prosody in the group neurotypical: how far the pitch moves"
        ),
        "prosody_variance_alexithymic": NumericParameter(
            0.1, 1.0, "Spread of the prosody in the group alexithymic: a flat voice moves little"
        ),
        "semantic_strength": NumericParameter(0.3, 1.0, "How clearly the words tell the emotion"),
        "noise_level": NumericParameter(0.0, 0.5, "Noise on everything that is heard"),
        "verification": Switch("Whether the student checks its answer against what it heard"),
    },
    start={
        "prosody_variance_neurotypical": 1.5,
        "prosody_variance_alexithymic": 0.3,
        "semantic_strength": 0.7,
        "noise_level": 0.1,
        "verification": True,
    },
    ratios={"prosody ratio": ("prosody_variance_alexithymic", "prosody_variance_neurotypical")},
)
"""The parameters of the emotion benchmark, as its generator takes them."""
