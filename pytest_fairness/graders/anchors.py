"""Anchors: sentences for the two ends of a dimension, such as warmth, with which texts are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.shipped_files import shipped_file


@explains_construction
@dataclass(frozen=True)
class Anchors:
    """Sentences at the positive and at the negative end of a dimension.

    >>> len(Anchors("warmth", ["They are kind."], ["They are cold."]).positive)
    1

    Args:
        dimension: The name of the dimension.
        positive: The sentences at its positive end.
        negative: The sentences at its negative end.

    Raises:
        FairnessError: An end has no sentence, or an entry that is not a text.
    """

    dimension: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    def __init__(self, dimension: str, positive: Iterable[str], negative: Iterable[str]) -> None:
        object.__setattr__(self, "dimension", dimension)
        object.__setattr__(self, "positive", _check_anchors(dimension, "positive", positive))
        object.__setattr__(self, "negative", _check_anchors(dimension, "negative", negative))

    @property
    def fingerprint(self) -> str:
        """The dimension and a digest of its sentences, whose order does not matter."""
        return f"{self.dimension} {digest(json.dumps([sorted(self.positive), sorted(self.negative)]))[:16]}"


def _check_anchors(dimension: str, end: str, sentences: object) -> tuple[str, ...]:
    anchors = tuple(sentences) if isinstance(sentences, Iterable) and not isinstance(sentences, str) else ()
    if not anchors or not all(isinstance(anchor, str) and anchor.strip() for anchor in anchors):
        raise FairnessError(
            f"the {end} anchors of {dimension!r} are {sentences!r}: give a list of one sentence or more"
        )
    return anchors


def read_anchors(path: str | Path | None = None) -> dict[str, Anchors]:
    """Return the anchors of a file by dimension.

    The file is a JSON object: a dimension -> ``{"positive": [...], "negative": [...]}``. Entries that
    are no objects, such as a ``source``, are left out.

    Args:
        path: The file. None: the file of this project, with ``warmth`` and ``competence``.

    >>> [(name, len(anchors.positive), len(anchors.negative)) for name, anchors in read_anchors().items()]
    [('warmth', 5, 5), ('competence', 5, 5)]

    Raises:
        FairnessError: The file cannot be read, is no such object, or has no dimension.
    """
    path = shipped_file("anchors", "applicants.json") if path is None else Path(path)
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FairnessError(f"the anchors {path} cannot be read: {error.strerror}; name another file") from None
    except ValueError as error:
        raise FairnessError(f"the anchors {path} are not valid JSON: {error}") from None
    entries = content if isinstance(content, dict) else {}
    dimensions = {name: ends for name, ends in entries.items() if isinstance(ends, dict)}
    if not dimensions:
        raise FairnessError(f'the anchors {path} have no dimension: write {{"warmth": {{"positive": [...], ...}}}}')
    try:
        return {
            name: Anchors(name, ends.get("positive", ()), ends.get("negative", ())) for name, ends in dimensions.items()
        }
    except FairnessError as error:
        raise FairnessError(f"{path}: {error}") from None
