"""What every test of the project needs: pytester, and slow modules imported once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.postgres import postgresql  # noqa: F401 - a fixture

# pytester restores sys.modules after a run in its own process. Extensions written in C do not
# survive being imported twice, and everything else here would be slow to.
for _name in (
    "filelock",
    "hypothesis",
    "numpy",
    "psycopg",
    "scipy.special",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "tenacity",
    "pytest_fairness.engine.sample",
    "pytest_fairness.graders.choice",
    "pytest_fairness.graders.judge",
    "pytest_fairness.graders.refusal",
    "pytest_fairness.graders.text",
    "pytest_fairness.models.aliases",
    "pytest_fairness.models.environment",
    "pytest_fairness.models.function",
    "pytest_fairness.models.prices",
    "pytest_fairness.models.registry",
    "pytest_fairness.models.replay",
    "pytest_fairness.models.simulated",
    "pytest_fairness.report.files",
    "pytest_fairness.session.dry_runs.verifying",
    "pytest_fairness.session.telling",
    "pytest_fairness.stats.flakiness",
    "pytest_fairness.stats.measured",
    "pytest_fairness.stats.pvalues",
    "pytest_fairness.stats.sequential",
    "pytest_fairness.store.store",
):
    import_module(_name)

pytest_plugins = ["pytester"]


def pytest_collection_finish() -> None:
    """Half a million objects of tests and libraries stay to the end: what looks for garbage need not look there."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _nothing_left_to_look_through() -> None:
    """Nor among what the modules before have loaded: every run of pytest in this process looks five times."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _few_plugins() -> Iterator[None]:
    """Other plugins are half of what starting pytest takes: a process of its own goes without them."""
    names = ("hypothesispytest", "html", "metadata", "anyio", "cov")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in names))
        yield
