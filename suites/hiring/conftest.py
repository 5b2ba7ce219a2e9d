"""What the written assessments are scored with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.graders.anchors import Anchors, read_anchors
from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
from pytest_fairness.session.probes import DataFolders

if TYPE_CHECKING:
    from pytest_fairness.session.state import FairnessSession


@pytest.fixture(scope="session")
def embedder(fairness_session: FairnessSession) -> Iterator[Embedder]:
    """The model in the folder of ``--fairness-data embeddings=DIR``; without, the default one."""
    folder = DataFolders(fairness_session.settings.data).folder("embeddings")
    offline = fairness_session.settings.offline
    embedder = Embedder(offline=offline) if folder is None else Embedder(folder)
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def anchors(fairness_session: FairnessSession) -> dict[str, Anchors]:
    """``anchors.json`` of the folder given for ``hiring``, where there is one; else the project's own."""
    folder = DataFolders(fairness_session.settings.data).folder("hiring")
    own = None if folder is None else folder / "anchors.json"
    return read_anchors(own if own is not None and own.is_file() else None)


@pytest.fixture(scope="session")
def warmth(embedder: Embedder, anchors: dict[str, Anchors]) -> SimilarityScale:
    """How warm an assessment sounds, from -1 to 1."""
    return SimilarityScale(embedder, anchors["warmth"])


@pytest.fixture(scope="session")
def competence(embedder: Embedder, anchors: dict[str, Anchors]) -> SimilarityScale:
    """How competent an assessment sounds, from -1 to 1."""
    return SimilarityScale(embedder, anchors["competence"])
