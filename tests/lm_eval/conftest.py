"""A project with tasks of lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.lm_eval_tasks import write_tasks
from tests.helpers.project import Project


@pytest.fixture
def tasks(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with the tasks of `tests.helpers.lm_eval_tasks`; what is cached of data stays in the test."""
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("lm_eval")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("datasets"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.syspath_prepend(project.path)
    monkeypatch.delitem(__import__("sys").modules, "hashed", raising=False)
    write_tasks(Path(project.path))
    return project
