"""Hooks of a shard: it measures its items, and judges once the other shards have measured theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness.plugin.collection import is_marked, item_of
from pytest_fairness.plugin.identity import ItemOf, model_source
from pytest_fairness.plugin.session import FairnessSession
from pytest_fairness.plugin.shards import DEFERRED

if TYPE_CHECKING:
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.plugin.probe import Probe

_OTHERS = pytest.StashKey[dict[tuple[str, str, str], str]]()
"""The tests of other shards, by probe, item and what makes their model."""


def find_other_test(threshold: pytest.Function, probe: str, item: str) -> str | None:
    """Return the id of the test that measures an item for this threshold in another shard, None in this one."""
    return threshold.config.stash.get(_OTHERS, {}).get((probe, item, model_source(threshold)))


def defer_to_others(fairness: FairnessSession, probe: Probe, sample: ProbeSample) -> None:
    """Measure this shard's items of a probe; skip the test while answers of other shards are missing.

    So the shard of a run that ends last has the answers of all.
    """
    own = fairness.work.item_indices(probe)
    if own:
        fairness.engine.attempts(list(sample.requests(own)))
    for index in own:
        sample.measure(index)
    if not getattr(sample.model, "stored", True):  # recorded answers need no other shard
        return
    # Another sample: this one's graders would begin with the others' items.
    whole = fairness.work.build_sample(probe, probe.items, sample.model, fairness.work.repetitions(probe))
    keys = list({ask.key for ask in whole.requests(range(len(probe.items)))})
    missing = fairness.store.unanswered(keys)
    if missing:
        pytest.skip(
            f"{DEFERRED}: {missing:,} of {len(keys):,} answers are still to come from other shards; the last of them "
            "judges, or a run without --fairness-shard"
        )


class ShardTests:
    """Hooks that leave the other shards' items to them, and put the thresholds behind all that is measured here."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        own: dict[str, set[int]] = {}
        kept: list[pytest.Item] = []
        last: list[pytest.Item] = []
        gone: list[pytest.Item] = []
        others = config.stash.setdefault(_OTHERS, {})
        for item in items:
            measured = item_of(item) if is_marked(item) else None
            if isinstance(measured, ItemOf):
                probe = measured.sample.probe
                if probe.id not in own:
                    own[probe.id] = set(self._fairness.work.item_indices(probe))
                if measured.index in own[probe.id]:
                    kept.append(item)
                else:
                    gone.append(item)
                    others[probe.id, probe.items[measured.index].id, model_source(item)] = item.nodeid
            else:
                (last if item.get_closest_marker("threshold") else kept).append(item)
        if gone:
            config.hook.pytest_deselected(items=gone)
        items[:] = [*kept, *last]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # there are more shards than items
            session.exitstatus = pytest.ExitCode.OK
