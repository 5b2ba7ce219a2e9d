"""A punkt model where nltk looks for it; and the modules that do not survive being imported twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nltk  # type: ignore[import-untyped]
import pytest

import pytest_fairness.session.genderbench
import pytest_fairness.stats.calculated  # noqa: F401
from pytest_fairness.genderbench.package import harness_options, probe_classes
from tests.genderbench.model import make_punkt
from tests.plugin.conftest import mode, project  # noqa: F401

probe_classes()
harness_options()


@pytest.fixture(scope="session", autouse=True)
def punkt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that holds the model."""
    kept = list(nltk.data.path)
    folder = tmp_path_factory.mktemp("nltk")
    make_punkt(folder)
    yield folder
    nltk.data.path[:] = kept


@pytest.fixture(autouse=True)
def nltk_data(punkt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for processes that a test starts."""
    monkeypatch.setenv("NLTK_DATA", str(punkt))
