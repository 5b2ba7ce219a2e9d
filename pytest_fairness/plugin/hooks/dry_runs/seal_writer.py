"""A run that seals: each threshold is evaluated on a simulated sample, and its parts are written into the seal."""

from __future__ import annotations

from itertools import islice

import pytest

from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.output_files import write_text
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.core.seals import SealedProbe, SealedThreshold, seal_text
from pytest_fairness.core.serialization import JsonRecord
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.hooks.dry_runs.dry_run import DryRun
from pytest_fairness.plugin.hooks.dry_runs.pilot import PilotData
from pytest_fairness.plugin.hooks.seal_request import SEALING
from pytest_fairness.plugin.judgment.evaluation import ThresholdTest
from pytest_fairness.plugin.judgment.seals import record_code, sealed_probe, sealed_threshold
from pytest_fairness.plugin.output.outcomes import unjudged_fields
from pytest_fairness.plugin.samples.baseline import uses_baseline
from pytest_fairness.plugin.samples.measurement import lazy_measured
from pytest_fairness.plugin.samples.sequential_looks import MOST_LOOKS

MOST_SAMPLES = 6
"""The most simulated samples on which a threshold is evaluated, until one shows its conditions."""


class SealWriter:
    """Hooks that seal the selected thresholds, in place of measuring them."""

    def __init__(self, dry_run: DryRun[JsonRecord]) -> None:
        self._fairness = dry_run.state.fairness
        self._request = dry_run.state.config.stash[SEALING]
        self._thresholds: dict[str, SealedThreshold] = {}
        self._probes: dict[str, SealedProbe] = {}
        dry_run.state.config.option.runxfail = True

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        record_code(session.items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Seal one threshold."""
        measured = lazy_measured(pyfuncitem.funcargs["measured"])
        measured.look = measured.first_look(MOST_LOOKS if self._fairness.settings.resolve else 1)
        try:
            judgment = _judge(pyfuncitem, PilotData(self._fairness, measured))
            threshold, probe = sealed_threshold(pyfuncitem, judgment), sealed_probe(pyfuncitem, measured)
            self._add(threshold, probe)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)
        return True

    def _add(self, threshold: SealedThreshold, probe: SealedProbe) -> None:
        """Add a threshold; on several models it has the same parts.

        Raises:
            FairnessError: It has not: a judge that is the model itself, for example.
        """
        for sealed, current in (
            (self._thresholds.setdefault(threshold.id, threshold), threshold),
            (self._probes.setdefault(probe.id, probe), probe),
        ):
            if sealed != current:
                raise FairnessError(f"{current.id} has other parts on another model: name one judge for all models")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._request.unsealed[report.nodeid] = unjudged_fields(report).message.partition(": ")[2]

    def conclude(self) -> None:
        """Write the file, unless a threshold could not be sealed."""
        if self._request.unsealed or not self._thresholds:
            return
        path = self._fairness.settings.folders.home / SEAL
        write_text(path, seal_text(self._probes.values(), self._thresholds.values()))
        self._request.path = path
        self._request.thresholds, self._request.probes = len(self._thresholds), len(self._probes)


def _judge(item: pytest.Function, runs: PilotData) -> Judgment:
    """Return a judgment that shows the conditions of a threshold.

    Raises:
        FairnessError: It shows none on any simulated sample.
    """
    if uses_baseline(item):  # whose answers no simulated sample has: its code is sealed
        return Judgment(Verdict.UNDECIDED)
    judgment = None
    for sample in islice(runs.favorable(), MOST_SAMPLES):
        judgment = ThresholdTest(item).judge(sample, reports=False)
        if judgment.mistake:
            break
        if judgment.dependence is not None:
            return judgment
    raise FairnessError(f"its bounds are not known: {judgment.reason if judgment else 'it has no sample'}")
