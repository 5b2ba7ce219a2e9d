"""Hooks of a shard, which measures its items and judges when all shards have measured theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness.plugin.config.shards import DEFERRED
from pytest_fairness.plugin.probes.identity import ItemParameter, model_source
from pytest_fairness.plugin.probes.marked_tests import get_item_parameter, is_marked
from pytest_fairness.plugin.session.session import FairnessSession

if TYPE_CHECKING:
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.plugin.probes.probe import Probe

_OTHER_TESTS = pytest.StashKey[dict[tuple[str, str, str], str]]()
"""The tests of other shards, by probe, item and what makes their model."""


def find_other_test(threshold: pytest.Function, probe: str, item: str) -> str | None:
    """Return the id of the test in another shard that measures an item for this threshold; None for this shard's."""
    return threshold.config.stash.get(_OTHER_TESTS, {}).get((probe, item, model_source(threshold)))


def defer_to_others(fairness: FairnessSession, probe: Probe, sample: ProbeSample) -> None:
    """Measure this shard's items of a probe; skip the test while answers of other shards are missing.

    The last shard of a run therefore has all answers.
    """
    indices = fairness.work.item_indices(probe)
    if indices:
        fairness.work.engine.attempts(list(sample.requests(indices)))
    for index in indices:
        sample.measure(index)
    if not getattr(sample.model, "stored", True):  # recorded answers need no other shard
        return
    # Ask with another sample: the graders of this one would start on the items of other shards.
    whole_sample = fairness.work.build_sample(probe, probe.items, sample.model, fairness.work.repetitions(probe))
    keys = list({request.key for request in whole_sample.requests(range(len(probe.items)))})
    missing = fairness.store.unanswered(keys)
    if missing:
        pytest.skip(
            f"{DEFERRED}: {missing:,} of {len(keys):,} answers are still to come from other shards; the last of them "
            "judges, or a run without --fairness-shard"
        )


class ShardTests:
    """Hooks that deselect the items of other shards, and put the thresholds last."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        own_indices: dict[str, set[int]] = {}
        selected: list[pytest.Item] = []
        thresholds: list[pytest.Item] = []
        deselected: list[pytest.Item] = []
        other_tests = config.stash.setdefault(_OTHER_TESTS, {})
        for item in items:
            parameter = get_item_parameter(item) if is_marked(item) else None
            if isinstance(parameter, ItemParameter):
                probe = parameter.sample.probe
                if probe.id not in own_indices:
                    own_indices[probe.id] = set(self._fairness.work.item_indices(probe))
                if parameter.index in own_indices[probe.id]:
                    selected.append(item)
                else:
                    deselected.append(item)
                    other_tests[probe.id, probe.items[parameter.index].id, model_source(item)] = item.nodeid
            else:
                (thresholds if item.get_closest_marker("threshold") else selected).append(item)
        if deselected:
            config.hook.pytest_deselected(items=deselected)
        items[:] = [*selected, *thresholds]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # with more shards than items, some have no test
            session.exitstatus = pytest.ExitCode.OK
