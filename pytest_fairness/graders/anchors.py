"""Sentences that stand for the two ends of a dimension, such as warmth: what texts are compared with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.shipped_files import shipped_file


@dataclass(frozen=True)
class Anchors:
    """Sentences at the positive and at the negative end of a dimension.

    >>> len(Anchors("warmth", ["They are kind."], ["They are cold."]).positive)
    1

    Raises `FairnessError` where one end has no sentence, or anything but texts.
    """

    dimension: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    def __init__(self, dimension: str, positive: Iterable[str], negative: Iterable[str]) -> None:
        object.__setattr__(self, "dimension", dimension)
        object.__setattr__(self, "positive", _sentences(dimension, "positive", positive))
        object.__setattr__(self, "negative", _sentences(dimension, "negative", negative))

    @property
    def fingerprint(self) -> str:
        """The dimension and a digest of its sentences, whose order does not matter."""
        return f"{self.dimension} {digest(json.dumps([sorted(self.positive), sorted(self.negative)]))[:16]}"


def _sentences(dimension: str, end: str, given: object) -> tuple[str, ...]:
    sentences = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    if not sentences or not all(isinstance(sentence, str) and sentence.strip() for sentence in sentences):
        raise FairnessError(f"the {end} anchors of {dimension!r} are {given!r}: give a list of one sentence or more")
    return sentences


def read_anchors(path: str | Path | None = None) -> dict[str, Anchors]:
    """Return the anchors of a file by dimension; without a path, this project's own: ``warmth`` and ``competence``.

    The file is a JSON object: a dimension -> ``{"positive": [...], "negative": [...]}``. Entries that
    are no objects, such as a ``source``, are left out.

    >>> [(name, len(anchors.positive), len(anchors.negative)) for name, anchors in read_anchors().items()]
    [('warmth', 5, 5), ('competence', 5, 5)]

    Raises `FairnessError` for a file that cannot be read, is no such object, or has no dimension.
    """
    path = shipped_file("anchors", "applicants.json") if path is None else Path(path)
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FairnessError(f"the anchors {path} cannot be read: {error.strerror}; name another file") from None
    except ValueError as error:
        raise FairnessError(f"the anchors {path} are not valid JSON: {error}") from None
    names = content if isinstance(content, dict) else {}
    dimensions = {name: ends for name, ends in names.items() if isinstance(ends, dict)}
    if not dimensions:
        raise FairnessError(f'the anchors {path} have no dimension: write {{"warmth": {{"positive": [...], ...}}}}')
    try:
        return {
            name: Anchors(name, ends.get("positive", ()), ends.get("negative", ())) for name, ends in dimensions.items()
        }
    except FairnessError as error:
        raise FairnessError(f"{path}: {error}") from None
