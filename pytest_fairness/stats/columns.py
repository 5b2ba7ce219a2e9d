"""The attempts of a sample as columns: codes of items, clusters and attributes, and values of grades."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError, near
from pytest_fairness.core.items import ProbeItem, Prompt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]

ABSENT = -1
"""The code of an attempt that lacks an attribute."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of every attempt: a code into ``labels``, or `ABSENT`."""

    codes: Codes
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clustering:
    """To which of ``size`` clusters each attempt belongs."""

    codes: Codes
    size: int

    def __getitem__(self, rows: Any) -> Clustering:
        return Clustering(self.codes[rows], self.size)


class Columns:
    """All attempts of a sample, each attribute and grade read once and kept.

    ``arrays`` and ``attributes`` hold what is known without attempts: numbers per
    attempt (nan where ungraded) under a grade's name, and texts under an attribute's.
    """

    def __init__(
        self,
        attempts: Sequence[GradedAttempt],
        *,
        sources: str = "random",
        crossed: str | None = None,
    ) -> None:
        if sources not in ("random", "fixed"):
            raise FairnessError(f"sources is {sources!r}: it must be 'random' or 'fixed'")
        self.attempts = attempts
        self.count = len(attempts)
        self.crossed = crossed
        by_source = sources == "random"
        self.items = _clustering(attempt.item.id for attempt in attempts)
        self.sources = _clustering(_cluster(attempt.item, by_source=by_source) for attempt in attempts)
        self.prompts: Clustering | None = _clustering(id(attempt.prompt) for attempt in attempts)
        """Which attempts are repetitions of one prompt; None where nobody has said."""
        self.arrays: dict[str, Floats] = {}
        self._attributes: dict[str, Attribute] = {}
        self._known: set[str] | None = None
        self._grades: set[str] | None = None
        self._check_crossed()

    @classmethod
    def from_arrays(
        cls,
        items: Iterable[Hashable],
        grades: Mapping[str, Floats],
        attributes: Mapping[str, Iterable[str]],
        crossed: str | None = None,
        prompts: Iterable[Hashable] | None = None,
    ) -> Columns:
        """A sample that somebody else holds as arrays, one entry per attempt; for simulations."""
        columns = cls(())
        columns.items = columns.sources = _clustering(items)
        columns.count = len(columns.items.codes)
        columns.arrays = {name: np.asarray(values, dtype=np.float64) for name, values in grades.items()}
        columns._attributes = {name: _attribute(values) for name, values in attributes.items()}
        columns._known, columns._grades = set(columns._attributes), set(columns.arrays)
        columns.prompts = None if prompts is None else _clustering(prompts)
        columns.crossed = crossed
        columns._check_crossed()
        return columns

    def regraded(self, grades: Mapping[str, Floats]) -> Columns:
        """The same attempts under other grades: the next run of a simulation."""
        columns = copy(self)
        columns.arrays = dict(grades)
        columns._grades = set(grades)
        return columns

    @property
    def known_attributes(self) -> set[str]:
        """The names that `attribute` can be asked for."""
        if self._known is None:
            self._known = set()
            for item in {id(attempt.item): attempt.item for attempt in self.attempts}.values():
                self._known.update(item.metadata)
            for prompt in {id(attempt.prompt): attempt.prompt for attempt in self.attempts}.values():
                self._known.update(prompt.groups, prompt.metadata)
        return self._known

    @property
    def known_grades(self) -> set[str]:
        """The names of all grades that some attempt has."""
        if self._grades is None:
            self._grades = set()
            for attempt in self.attempts:
                self._grades.update(attempt.grades)
        return self._grades

    def attribute(self, name: str) -> Attribute:
        """An attribute of every attempt: a group of its prompt, or metadata of its prompt or item.

        Raises `FairnessError` for a name that no attempt has.
        """
        if name not in self._attributes:
            if self.count and name not in self.known_attributes:
                raise FairnessError(f"no attempt has an attribute {name!r}: {near(name, self.known_attributes)}")
            self._attributes[name] = _attribute(_reader(name)(attempt) for attempt in self.attempts)
        return self._attributes[name]

    def values(self, grade: str) -> list[Any]:
        """The values of a grade, None where ungraded."""
        missing = Grade.none("error")
        return [attempt.grades.get(grade, missing).value for attempt in self.attempts]

    def clusterings(self) -> list[Clustering]:
        """What is resampled: the sources; with a crossed factor also it and its cells with the sources."""
        if self.crossed is None or not self.count:
            return [self.sources]
        attribute = self.attribute(self.crossed)
        levels = len(attribute.labels)
        # An attempt without the crossed factor shares it with nobody but its own source.
        factor = np.where(attribute.codes == ABSENT, levels + self.sources.codes, attribute.codes)
        _, factor = np.unique(factor, return_inverse=True)
        _, cells = np.unique(self.sources.codes * (int(factor.max()) + 1) + factor, return_inverse=True)
        return [self.sources, *(Clustering(codes, int(codes.max()) + 1) for codes in (factor, cells))]

    def _check_crossed(self) -> None:
        if self.crossed is not None:
            self.attribute(self.crossed)


class Rebuilt(Sequence[GradedAttempt]):
    """Attempts that are made when somebody looks at them: most metrics never do."""

    def __init__(self, make: Callable[[], list[GradedAttempt]], size: int) -> None:
        self._make = make
        self._size = size

    @cached_property
    def _attempts(self) -> list[GradedAttempt]:
        return self._make()

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[GradedAttempt]:
        return iter(self._attempts)

    @overload
    def __getitem__(self, place: int) -> GradedAttempt: ...
    @overload
    def __getitem__(self, place: slice) -> list[GradedAttempt]: ...
    def __getitem__(self, place: Any) -> Any:
        return self._attempts[place]


def _cluster(item: ProbeItem, *, by_source: bool) -> tuple[bool, str]:
    """What an attempt is resampled with; an item without a source stands for itself."""
    if by_source and item.source is not None:
        return True, item.source
    return False, item.id


def _clustering(keys: Iterable[Hashable]) -> Clustering:
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    return Clustering(codes, len(numbers))


def _attribute(values: Iterable[Any]) -> Attribute:
    texts = [None if value is None else str(value) for value in values]
    labels = tuple(sorted({text for text in texts if text is not None}))
    numbers: dict[str | None, int] = {label: number for number, label in enumerate(labels)}
    numbers[None] = ABSENT
    return Attribute(np.array([numbers[text] for text in texts], dtype=np.int64), labels)


def _reader(name: str) -> Callable[[GradedAttempt], Any]:
    def read(attempt: GradedAttempt) -> Any:
        prompt: Prompt = attempt.prompt
        if name in prompt.groups:
            return prompt.groups[name]
        if name in prompt.metadata:
            return prompt.metadata[name]
        return attempt.item.metadata.get(name)

    return read
