"""A project with tasks of lm-evaluation-harness."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.harnesses.lm_eval.package import lm_eval_module
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.lm_eval_tasks import write_tasks
from tests.helpers.project import Project

MODULES = ("tasks", "tasks._index", "tasks._yaml_loader", "config.task")


@pytest.fixture(scope="session")
def datasets() -> Any:
    """Return the package datasets, with lm_eval loaded: it does not survive being imported twice, by pytester."""
    pytest.importorskip("lm_eval")
    for name in MODULES:
        lm_eval_module(name)
    pytest.importorskip("sklearn.metrics")
    return pytest.importorskip("datasets")


@pytest.fixture(scope="session")
def forked_workers(datasets: Any, forked_workers: ForkedWorkers) -> Iterator[ForkedWorkers]:
    """Yield a plugin for runs with ``-n``, whose workers have lm_eval imported: it takes them seconds."""
    workers = ForkedWorkers([*(f"lm_eval.{name}" for name in MODULES), "sklearn.metrics"], forked_workers)
    yield workers
    workers.close()


@pytest.fixture
def tasks(
    datasets: Any, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """Return a project with the tasks of `tests.helpers.lm_eval_tasks`; what is cached of data stays in the test."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("datasets"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.syspath_prepend(project.path)
    monkeypatch.delitem(sys.modules, "hashed", raising=False)
    write_tasks(Path(project.path))
    return project
