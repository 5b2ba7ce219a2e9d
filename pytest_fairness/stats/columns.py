"""The attempts of a sample as columns: codes of items, clusters and attributes, and values of grades."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pytest_fairness.core.attempts import Grade, GradedAttempt, values_or_none
from pytest_fairness.core.errors import FairnessError, did_you_mean, short_repr
from pytest_fairness.core.exclusions import LeftOut
from pytest_fairness.core.formatting import plain_name
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.placebos import ORIGINAL, PLACEBO
from pytest_fairness.core.propensities import Propensities
from pytest_fairness.core.shared_prompts import connected_components, look_alikes
from pytest_fairness.stats.table_columns import is_missing

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
    left_out: Codes
    """The codes of the prompts that an option of the run left out."""

    def code(self, label: str) -> int:
        """Return the code of a label; for an unknown label, a code that no attempt has."""
        return self.labels.index(label) if label in self.labels else len(self.labels)


_COLUMN = "column "
"""The beginning of the key of a table's column that is no attribute."""
UNDECLARED = "clusters by "
"""The beginning of the name of a crossed factor that nobody has declared."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """A partition of attempts into ``size`` clusters, as a code per attempt."""

    codes: Codes
    size: int

    def __getitem__(self, rows: Any) -> Clustering:
        return Clustering(self.codes[rows], self.size)


class Columns:
    """All attempts of a sample, whose attributes and grades are read once.

    One answer is one observation: items and sources that share a stored answer, since some
    of their prompts have the same text, are one cluster. So are those with prompts that differ in blanks at the ends.

    Args:
        attempts: The attempts; empty for a sample from arrays.
        sources: "random" if items are clustered by their source, "fixed" if not.
        crossed: The attribute that is a crossed factor.
        left_out: The prompts of the probe that an option of the run left out: their groups are groups without
            attempts.

    Attributes:
        arrays: The outcomes of a sample from arrays, by grade: a number per attempt, nan where ungraded.
    """

    def __init__(
        self,
        attempts: Sequence[GradedAttempt],
        *,
        sources: str = "random",
        crossed: str | None = None,
        left_out: LeftOut = MappingProxyType({}),
    ) -> None:
        if not isinstance(sources, str) or sources not in ("random", "fixed"):
            raise FairnessError(f"sources is {short_repr(sources)}: it must be 'random' or 'fixed'")
        self.attempts = attempts
        self.count = len(attempts)
        self.crossed = crossed
        by_source = sources == "random"
        # An attempt without a key was constructed by a user: no other shares its answer.
        answers = _clustering(attempt.attempt.key or number for number, attempt in enumerate(attempts))
        self.answers = answers if answers.size < self.count else None
        """The stored answer of each attempt; None where each has its own."""
        prompts = {id(attempt.prompt): attempt.prompt for attempt in attempts if attempt.attempt.key}
        observed = [] if self.answers is None else [self.answers]
        if alike := look_alikes(prompts.values()):
            wordings = (alike.get(id(attempt.prompt), (number,)) for number, attempt in enumerate(attempts))
            observed.append(_clustering(wordings))
        self.own_items = self.item_ids()
        """The item of each attempt by its id, whatever answers items share."""
        self.items = _merge(self.own_items, observed)
        """The item of each attempt; items that share an answer, or the wording of a prompt, are one."""
        sources_of_items = _clustering(_cluster(attempt.item, by_source=by_source) for attempt in attempts)
        self.sources = _merge(sources_of_items, observed)
        self.fixed_sources = (
            None if by_source else _clustering(_cluster(attempt.item, by_source=True) for attempt in attempts)
        )
        """The source of each attempt where a verdict holds for these sources only; None where they are random."""
        self.prompts: Clustering | None = _clustering(id(attempt.prompt) for attempt in attempts)
        """The prompt of each attempt; None where it is unknown."""
        self.arrays: dict[str, Floats] = {}
        self.table: Sequence[Mapping[str, Any]] | None = None
        """The row of each attempt, of a table; None for the answers of a probe's sample."""
        self._attributes: dict[str, Attribute] = {}
        self._attribute_names: set[str] | None = None
        self._grades: set[str] | None = None
        self._has_propensities: bool | None = None
        self._prompt_groups: set[str] | None = None
        self._left_out = [
            ({**groups, **others}, option)
            for option, descriptions in left_out.items()
            for groups, others in descriptions
        ]
        self._group_names = {
            name for descriptions in left_out.values() for groups, _ in descriptions for name in groups
        }
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
        """Return a sample from arrays with one entry per attempt, for simulations."""
        columns = cls(())
        columns.items = columns.own_items = columns.sources = _clustering(items)
        columns.count = len(columns.items.codes)
        columns.arrays = {name: np.asarray(values, dtype=np.float64) for name, values in grades.items()}
        columns._attributes = {name: _attribute(values) for name, values in attributes.items()}
        columns._attribute_names, columns._grades = set(columns._attributes), set(columns.arrays)
        columns.prompts = None if prompts is None else _clustering(prompts)
        columns.crossed = crossed
        columns._check_crossed()
        return columns

    def reclustered(self, name: str, codes: Codes, *, crossed: bool) -> Columns:
        """Return the same attempts with other clusters.

        Args:
            name: The attribute whose values they are.
            codes: The cluster of each attempt, or `ABSENT`: it then keeps its own.
            crossed: Whether they are levels of a crossed factor, in place of one that is declared; else sources.
        """
        columns = copy(self)
        if crossed:
            labels = tuple(map(str, range(int(codes.max()) + 1)))
            columns.crossed = f"{UNDECLARED}{name}"
            columns._attributes = {**self._attributes, columns.crossed: Attribute(codes, labels, codes[:0])}
        else:
            own = np.where(codes == ABSENT, int(codes.max()) + 1 + self.sources.codes, codes)
            columns.sources = _clustering(own.tolist())
        return columns

    def regraded(self, grades: Mapping[str, Floats]) -> Columns:
        """Return the same attempts with other grades: the next run of a simulation."""
        columns = copy(self)
        columns.arrays = dict(grades)
        columns._grades = set(grades)
        return columns

    def relabeled(self, attributes: Mapping[str, Attribute], attempts: Sequence[GradedAttempt]) -> Columns:
        """Return the same answers with other values of some attributes."""
        columns = copy(self)
        columns._attributes, columns.attempts = {**self._attributes, **attributes}, attempts
        columns._prompt_groups = None
        return columns

    @cached_property
    def served_by(self) -> list[str | None] | None:
        """The model that answered each attempt, as its server names it; None where fewer than two are named."""
        answers = [attempt.attempt.answer for attempt in self.attempts]
        names = [None if answer is None else answer.served_by for answer in answers]
        return names if len(set(filter(None, names))) > 1 else None

    def kept_hypotheses(self, key: Hashable, rows: Rows) -> tuple[dict[int, list[list[float]]], Rows] | None:  # noqa: ARG002
        """Return what resamples share: values of functions whatever the actual grades, and the keys of some rows.

        None where no other columns are resamples of the same attempts.
        """
        return None

    @property
    def known_attributes(self) -> set[str]:
        if self._attribute_names is None:
            self._attribute_names = set()
            for item in {id(attempt.item): attempt.item for attempt in self.attempts}.values():
                self._attribute_names.update(item.metadata)
            for prompt in {id(attempt.prompt): attempt.prompt for attempt in self.attempts}.values():
                self._attribute_names.update(prompt.groups, prompt.metadata)
            for described, _ in self._left_out:
                self._attribute_names.update(described)
        return self._attribute_names

    @property
    def left_out(self) -> int:
        """The number of kinds of prompts that an option of the run left out."""
        return len(self._left_out)

    def left_out_by(self, kind: int) -> str:
        """Return the option that left out prompts of that kind."""
        return self._left_out[kind][1]

    @property
    def group_attributes(self) -> set[str]:
        """The attributes that are groups of prompts, but for the crossed factor; of arrays, all attributes."""
        if not self.attempts:
            return self.known_attributes - {self.crossed}
        if self._prompt_groups is None:
            prompts = {id(attempt.prompt): attempt.prompt for attempt in self.attempts}.values()
            self._prompt_groups = {name for prompt in prompts for name in prompt.groups}
        return self._prompt_groups - {self.crossed}

    def has_groups(self, name: str) -> bool:
        """Return whether an attribute was a group of left-out prompts, and not their metadata."""
        return name in self._group_names

    def item_ids(self) -> Clustering:
        """Return the item of each attempt by its id, whatever answers items share."""
        return _clustering(attempt.item.id for attempt in self.attempts)

    @property
    def known_grades(self) -> set[str]:
        """The names of all grades that some attempt has."""
        if self._grades is None:
            self._grades = set()
            for attempt in self.attempts:
                self._grades.update(attempt.grades)
        return self._grades

    def attribute(self, name: str) -> Attribute:
        """Return an attribute of every attempt: a group of its prompt, or metadata of its prompt or item.

        Raises:
            FairnessError: No attempt has the name, or two of its groups look alike.
        """
        if not isinstance(name, str):
            raise FairnessError(
                f"{short_repr(name)} is not the name of an attribute: name one; a combination needs a group of its own"
            )
        if name not in self._attributes:
            if self.count and name not in self.known_attributes:
                similar = did_you_mean(name, self.known_attributes)
                if name in self.known_grades:
                    raise FairnessError(f"{name!r} is a grade: name its column in `groups` of the table; {similar}")
                raise FairnessError(f"no attempt has an attribute {short_repr(name)}: {similar}")
            left_out = (described.get(name) for described, _ in self._left_out)
            attribute = _attribute(map(_reader(name), self.attempts), left_out)
            if name in self.group_attributes:
                _refuse_alike(name, attribute.labels)
            self._attributes[name] = attribute
        return self._attributes[name]

    @property
    def own_rows(self) -> Rows:
        """The attempts at the prompts themselves, without those at other wordings of them (`core.placebos`)."""
        if PLACEBO not in self.known_attributes:
            return np.arange(self.count)
        attribute = self.attribute(PLACEBO)
        # The code of the original may be that of no attempt.
        return np.flatnonzero((attribute.codes == ABSENT) | (attribute.codes == attribute.code(ORIGINAL)))

    def selector(self, name: str) -> Attribute:
        """Return an attribute; of a table any column, which selects rows as if the table held no others.

        Raises:
            FairnessError: As for `attribute`, and where no row has the column.
        """
        if self.table is None or not isinstance(name, str) or name in self.known_attributes:
            return self.attribute(name)
        key = f"{_COLUMN}{name}"
        if key not in self._attributes:
            if self.count and not any(name in row for row in self.table):
                names = {str(column) for row in self.table for column in row} | self.known_attributes
                raise FairnessError(f"no row has a column {name!r}: {did_you_mean(name, names)}")
            self._attributes[key] = _attribute(_cell_text(row.get(name)) for row in self.table)
        return self._attributes[key]

    def without(self, name: str) -> int:
        """Return the number of attempts that lack an attribute."""
        return int(np.count_nonzero(self.attribute(name).codes == ABSENT))

    def prompt(self, row: int) -> Prompt:
        """Return the prompt of one attempt."""
        return self.attempts[row].prompt

    @property
    def has_propensities(self) -> bool:
        """Whether grades are probabilities of options; a probe has them in all attempts or in none."""
        if self._has_propensities is None:
            self._has_propensities = hold_propensities(attempt.grades for attempt in self.attempts)
        return self._has_propensities

    def values(self, grade: str) -> list[Any]:
        """Return the values of a grade, None where ungraded."""
        missing = Grade.none("error")
        return values_or_none(attempt.grades.get(grade, missing) for attempt in self.attempts)

    def clusterings(self) -> list[Clustering]:
        """Return the clusterings for variances: by source; with a crossed factor also by its level and by cell."""
        if self.crossed is None or not self.count:
            return [self.sources]
        attribute = self.attribute(self.crossed)
        levels = len(attribute.labels)
        # Attempts without the crossed factor share a level with their own source only.
        factor = np.where(attribute.codes == ABSENT, levels + self.sources.codes, attribute.codes)
        _, factor = np.unique(factor, return_inverse=True)
        _, cells = np.unique(self.sources.codes * (int(factor.max()) + 1) + factor, return_inverse=True)
        return [self.sources, *(Clustering(codes, int(codes.max()) + 1) for codes in (factor, cells))]

    def _check_crossed(self) -> None:
        if self.crossed is not None:
            self.attribute(self.crossed)


def hold_propensities(graded: Iterable[Mapping[str, Grade]]) -> bool:
    """Return whether some grade is the probabilities of options; the first value of each name decides."""
    names: set[str] = set()
    for grades in graded:
        for name, grade in grades.items():
            if name not in names and grade.ungraded is None:
                names.add(name)
                if isinstance(grade.value, Propensities):
                    return True
        if len(names) == len(grades) > 0:
            return False
    return False


class Rebuilt(Sequence[GradedAttempt]):
    """Attempts that are built on first access: most metrics never read them."""

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
    def __getitem__(self, index: int) -> GradedAttempt: ...
    @overload
    def __getitem__(self, index: slice) -> list[GradedAttempt]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._attempts[index]


def _cluster(item: ProbeItem, *, by_source: bool) -> tuple[bool, str]:
    """Return the key of an attempt's cluster: its source, or its item where it has none."""
    if by_source and item.source is not None:
        return True, item.source
    return False, item.id


def _clustering(keys: Iterable[Hashable]) -> Clustering:
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    return Clustering(codes, len(numbers))


def _merge(clusters: Clustering, observed: Iterable[Clustering]) -> Clustering:
    """Return clusters, of which those that share an observation are merged.

    >>> answers = Clustering(np.array([0, 1, 1, 2]), 3)
    >>> _merge(Clustering(np.array([0, 1, 2, 3]), 4), [answers]).codes.tolist()
    [0, 1, 1, 2]
    """
    for observations in observed:
        pairs = np.unique(observations.codes * clusters.size + clusters.codes)
        memberships = zip((pairs % clusters.size).tolist(), (pairs // clusters.size).tolist(), strict=True)
        components, codes = np.unique(connected_components(memberships, clusters.size), return_inverse=True)
        clusters = Clustering(codes.astype(np.int64)[clusters.codes], len(components))
    return clusters


def _attribute(values: Iterable[Any], left_out: Iterable[Any] = ()) -> Attribute:
    """Return the attribute with these values: those of the attempts, and of the prompts that were left out."""
    texts, left_out_texts = (
        [None if value is None else str(value) for value in column] for column in (values, left_out)
    )
    labels = tuple(sorted({text for text in (*texts, *left_out_texts) if text is not None}))
    numbers: dict[str | None, int] = {label: number for number, label in enumerate(labels)}
    numbers[None] = ABSENT
    codes, left_out_codes = (
        np.array([numbers[text] for text in column], dtype=np.int64) for column in (texts, left_out_texts)
    )
    return Attribute(codes, labels, left_out_codes)


def _cell_text(value: Any) -> str | None:
    """Return a cell as a text by which rows are selected; None where it is empty. A CSV file has 2024 as 2024.0."""
    if is_missing(value):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _refuse_alike(name: str, labels: Iterable[str]) -> None:
    """Raise `FairnessError` for two groups whose names look alike: rows would be missing from a comparison."""
    first: dict[str, str] = {}
    for label in labels:
        other = first.setdefault(plain_name(label), label)
        if other != label:
            raise FairnessError(f"{name} has two groups that look alike, {other!a} and {label!a}: write one name")


def _reader(name: str) -> Callable[[GradedAttempt], Any]:
    def read(attempt: GradedAttempt) -> Any:
        prompt: Prompt = attempt.prompt
        if name in prompt.groups:
            return prompt.groups[name]
        if name in prompt.metadata:
            return prompt.metadata[name]
        return attempt.item.metadata.get(name)

    return read
