"""Tasks of inspect_ai as probes: its datasets, solvers, scorers and metrics; our requests, store and intervals.

>>> from pytest_fairness.harnesses.inspect_ai import InspectTask
>>> InspectTask("tasks.py@screening?lang=de", groups={"gender": "metadata.gender"})
<inspect task tasks.py@screening?lang=de>
"""

from pytest_fairness.harnesses.inspect_ai.task import InspectTask

__all__ = ["InspectTask"]
