"""The model that scores the written assessments."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_fairness import DataFolders
from pytest_fairness.graders import Anchors, Embedder, SimilarityScale, read_anchors


@pytest.fixture(scope="session")
def embedder(data_folders: DataFolders) -> Iterator[Embedder]:
    """Yield the model in the folder of ``--fairness-data embeddings=DIR``; without, the default one."""
    folder = data_folders.folder("embeddings")
    embedder = Embedder(offline=data_folders.offline) if folder is None else Embedder(folder)
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def anchors(data_folders: DataFolders) -> dict[str, Anchors]:
    """Return ``anchors.json`` of the folder given for ``hiring``, where there is one; else the project's own."""
    folder = data_folders.folder("hiring")
    own = None if folder is None else folder / "anchors.json"
    return read_anchors(own if own is not None and own.is_file() else None)


@pytest.fixture(scope="session")
def warmth(embedder: Embedder, anchors: dict[str, Anchors]) -> SimilarityScale:
    """Return the scale of how warm an assessment sounds, from -1 to 1."""
    return SimilarityScale(embedder, anchors["warmth"])


@pytest.fixture(scope="session")
def competence(embedder: Embedder, anchors: dict[str, Anchors]) -> SimilarityScale:
    """Return the scale of how competent an assessment sounds, from -1 to 1."""
    return SimilarityScale(embedder, anchors["competence"])
