"""What every test of the project needs: pytester, and slow modules imported once."""

from __future__ import annotations

from importlib import import_module

# pytester restores sys.modules after a run in its own process. Extensions written in C do not
# survive being imported twice, and everything else here would be slow to.
for _name in (
    "filelock",
    "hypothesis",
    "numpy",
    "scipy.special",
    "sqlalchemy.dialects.sqlite",
    "tenacity",
    "pytest_fairness.engine.sample",
    "pytest_fairness.graders.choice",
    "pytest_fairness.graders.refusal",
    "pytest_fairness.graders.text",
    "pytest_fairness.models.aliases",
    "pytest_fairness.models.environment",
    "pytest_fairness.models.function",
    "pytest_fairness.models.registry",
    "pytest_fairness.models.replay",
    "pytest_fairness.models.simulated",
    "pytest_fairness.stats.measured",
    "pytest_fairness.store.store",
):
    import_module(_name)

pytest_plugins = ["pytester"]
