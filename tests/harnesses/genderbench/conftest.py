"""A punkt model where nltk looks for it; and the modules that do not survive being imported twice, imported once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_fairness.harnesses.genderbench.tests
import pytest_fairness.stats.external_metrics  # noqa: F401
from pytest_fairness.harnesses.genderbench.package import harness_options, probe_classes
from tests.helpers.fork_server import ForkedWorkers


@pytest.fixture(scope="session", autouse=True)
def punkt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder that holds the model. Importing nltk takes seconds: only where a test of this folder runs."""
    pytest.importorskip("genderbench", reason="its probes are in its own package")
    import nltk  # type: ignore[import-untyped]

    from tests.helpers.punkt_model import make_punkt

    probe_classes()
    harness_options()
    path = list(nltk.data.path)
    folder = tmp_path_factory.mktemp("nltk")
    make_punkt(folder)
    yield folder
    nltk.data.path[:] = path


@pytest.fixture(scope="session")
def forked_workers(punkt: Path, forked_workers: ForkedWorkers) -> Iterator[ForkedWorkers]:
    """Yield a plugin for runs with ``-n``, whose workers have nltk and pandas imported: they take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLTK_DATA", str(punkt))
        workers = ForkedWorkers(["nltk", "pandas"], forked_workers)
        yield workers
        workers.close()


@pytest.fixture(autouse=True)
def nltk_data(punkt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the folder for processes that a test starts."""
    monkeypatch.setenv("NLTK_DATA", str(punkt))
