"""Records of a design: its figures, its iterations, and the file that keeps them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness import Estimate, FairnessError
from pytest_fairness.design.search_space import Point
from pytest_fairness.extending import finite
from pytest_fairness.extending import json_text as json


@dataclass(frozen=True, slots=True)
class BenchmarkFigure:
    """A number with its 95% interval; nan ends where there is none."""

    value: float
    low: float = math.nan
    """Over samples: all of them, of all seeds together."""
    high: float = math.nan
    seeds_low: float = math.nan
    """Over seeds: Student's t on one value for each, where there are three or more."""
    seeds_high: float = math.nan

    @classmethod
    def of(cls, value: object) -> BenchmarkFigure:
        """Return a figure, an estimate or a plain number as a figure. Raises `FairnessError` for anything else."""
        if isinstance(value, BenchmarkFigure):
            return value
        if isinstance(value, Estimate):
            return cls(value.value, value.low, value.high)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise FairnessError(f"a figure is {value!r:.60}: it must be a number, an Estimate or a Figure")
        return cls(float(value))

    def document(self) -> dict[str, float | None]:
        """Return the figure for JSON, which has no nan."""
        return {name: finite(value) for name, value in asdict(self).items()}

    @classmethod
    def read(cls, document: Mapping[str, float | None]) -> BenchmarkFigure:
        """Return the inverse of `document`."""
        return cls(**{name: math.nan if value is None else float(value) for name, value in document.items()})

    def __str__(self) -> str:
        ends = f" ({self.low:.3f} to {self.high:.3f})" if math.isfinite(self.low) and math.isfinite(self.high) else ""
        return f"{self.value:.3f}{ends}"


Figures = Mapping[str, BenchmarkFigure]


@dataclass(frozen=True)
class Iteration:
    """One step of a design: the proposal with its reasoning, and the student's figures."""

    number: int
    """Number of the iteration, from 1."""
    parameters: Point | None
    """None where no proposal could be used: ``notes`` have the reason."""
    reasoning: str = ""
    notes: Sequence[str] = ()
    """Mistakes in proposals that were repaired or refused."""
    seeds: Sequence[int] = ()
    figures: Figures = field(default_factory=dict)
    losses: Sequence[float] = ()
    """The objective's losses, smaller is better; of a target ratio one, the gap."""

    @property
    def loss(self) -> float:
        """The first end's loss; infinite where nothing could be evaluated."""
        return self.losses[0] if self.losses and math.isfinite(self.losses[0]) else math.inf

    @property
    def loss_text(self) -> str:
        """The losses in a line, or the reason why there are none.

        >>> Iteration(1, {"size": 3}, losses=[0.25, 0.5]).loss_text
        '0.250 0.500'
        >>> Iteration(1, {"size": 3}, losses=[math.inf]).loss_text
        "unknown: the student's answers give no figure"
        """
        if not all(map(math.isfinite, self.losses)):
            return "unknown: the student's answers give no figure"
        return " ".join(f"{loss:.3f}" for loss in self.losses)

    def document(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "iteration": self.number,
            "parameters": None if self.parameters is None else dict(self.parameters),
            "reasoning": self.reasoning,
            "notes": list(self.notes),
            "seeds": list(self.seeds),
            "figures": {name: figure.document() for name, figure in self.figures.items()},
            "losses": [finite(loss) for loss in self.losses],
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Iteration:
        """Return the inverse of `document`."""
        return cls(
            document["iteration"],
            document["parameters"],
            document["reasoning"],
            tuple(document["notes"]),
            tuple(document["seeds"]),
            {name: BenchmarkFigure.read(figure) for name, figure in document["figures"].items()},
            tuple(math.inf if loss is None else loss for loss in document["losses"]),
        )


def check_record(path: Path, *, resume: bool) -> None:
    """Check that a design may write its record. Raises `FairnessError` for an existing one without ``resume``."""
    if not resume and path.exists() and path.stat().st_size:
        raise FairnessError(f"{path} is there already: continue it by --resume, or name another file by --out")


def write_design_file(path: Path, text: str) -> None:
    """Write a file and its folder. Raises `FairnessError` where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FairnessError(f"{path} cannot be written: {error.strerror}: name another file") from error


class DesignRecord:
    """An append-only file of JSON lines: the settings of the design, then its iterations as they complete.

    With ``resume`` a design that was stopped continues from it; an incomplete last line is left out.
    Raises `FairnessError` for an existing file without ``resume``, or a record of another design.
    """

    def __init__(self, path: Path, design: Mapping[str, Any], *, resume: bool) -> None:
        self._path = path
        self.iterations: list[Iteration] = []
        head = {"schema": 1, **json.loads(json.dumps(design))}
        check_record(path, resume=resume)
        if path.exists() and path.stat().st_size:
            self._resume(head, path.read_text(encoding="utf-8").splitlines())
        lines = [head, *(iteration.document() for iteration in self.iterations)]
        write_design_file(path, "".join(map(_line, lines)))

    def _resume(self, head: Mapping[str, Any], lines: Iterable[str]) -> None:
        documents = list(_complete_lines(lines))
        first = documents[0] if documents and isinstance(documents[0], dict) else {}
        differs = sorted(name for name in {*head, *first} if head.get(name) != first.get(name))
        if differs:
            raise FairnessError(
                f"{self._path} is the record of another design, by its {', '.join(differs)}: name another file"
            )
        try:
            self.iterations = [Iteration.read(document) for document in documents[1:]]
        except (KeyError, TypeError, AttributeError) as error:
            raise FairnessError(f"{self._path} is no record of a design: {error!r}; name another file") from error

    def add(self, iteration: Iteration) -> None:
        """Append an iteration to the file."""
        self.iterations.append(iteration)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(iteration.document()))


def _line(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def _complete_lines(lines: Iterable[str]) -> Iterable[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the design was killed while it wrote this
            return


def seed_of(*what: object) -> int:
    """Return a seed from 0 to 2**31 - 1, decided by ``what`` alone: the same on every machine.

    >>> seed_of(0, "search", 1) == seed_of(0, "search", 1) != seed_of(0, "fresh", 1)
    True
    """
    return int.from_bytes(blake2b(repr(what).encode(), digest_size=4).digest()) >> 1
