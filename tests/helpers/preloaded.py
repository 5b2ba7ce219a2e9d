"""Modules that are imported once for many runs of pytest.

pytester restores ``sys.modules`` after a run in its own process. Extensions written in C do not survive being
imported twice, and everything else here would be slow to.
"""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "filelock",
    "hypothesis",
    "numpy",
    "psycopg",
    "pdb",
    "scipy.special",
    "sqlite3",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "tenacity",
    "xdist.remote",
    "xdist.workermanage",
    "pytest_fairness.plugin.xdist_crashes",
    "pytest_fairness.plugin.fixtures",
    "pytest_fairness.plugin.startup",
    "pytest_fairness.engine.probe_sample",
    "pytest_fairness.graders.choice",
    "pytest_fairness.graders.judge.judge",
    "pytest_fairness.graders.refusal",
    "pytest_fairness.graders.yes_no",
    "pytest_fairness.models.aliases",
    "pytest_fairness.models.env_file",
    "pytest_fairness.models.callable_model",
    "pytest_fairness.models.pricing",
    "pytest_fairness.models.registry",
    "pytest_fairness.models.replay",
    "pytest_fairness.models.simulated",
    "pytest_fairness.report.files",
    "pytest_fairness.plugin.dry_runs.verify",
    "pytest_fairness.plugin.outputs",
    "pytest_fairness.stats.flip_probability",
    "pytest_fairness.stats.measured",
    "pytest_fairness.stats.pvalues",
    "pytest_fairness.stats.sequential",
    "pytest_fairness.store.store",
)


def preload() -> None:
    """Import all of them."""
    for name in MODULES:
        import_module(name)
