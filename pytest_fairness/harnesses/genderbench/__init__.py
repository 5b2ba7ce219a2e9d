"""GenderBench's probes as probes of this plugin: its data, its evaluators and its metrics; our engine and intervals.

>>> from pytest_fairness.harnesses.genderbench import GenderBenchProbe
>>> GenderBenchProbe("Direct", num_repetitions=3)
<GenderBench probe Direct>
"""

from pytest_fairness.harnesses.genderbench.probe import GenderBenchProbe
from pytest_fairness.harnesses.genderbench.tests import genderbench_tests

__all__ = ["GenderBenchProbe", "genderbench_tests"]
