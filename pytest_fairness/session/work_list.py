"""What a run is going to ask: worked out before the first call, and kept for the process that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.estimating import announced, estimates, lines, unaskable
from pytest_fairness.session.state import FairnessSession


class WorkList:
    """The work of one session. Workers of xdist put it into the store, where their controller reads it."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness
        self._estimate: list[str] = []
        """Lines that say what the run is going to cost."""
        self.notes: list[str] = []
        """What else to say of the selection, and of options that it does not use."""

    def lay_out(self, names: Iterable[str]) -> int:
        """Keep what is going to be asked, and return how many calls that takes.

        Raises `FairnessError` where one of the named models cannot be asked, as far as that is known.
        """
        fairness = self._fairness
        fairness.executor.join()
        counts, found = self._counts(), estimates(fairness)
        if reason := unaskable(fairness, names, found):
            raise FairnessError(reason)
        self._estimate = list(lines(fairness, found))
        # Of a model that costs nothing nobody has looked up what the store has.
        calls = sum(each.calls for each in found) if len(found) == len(fairness.model_names()) else counts["attempts"]
        self._keep({"lines": self.lines(), "calls": calls, "baseline": fairness.settings.baseline})
        return calls

    def refuse(self, reason: str) -> None:
        """Keep why the session has to end before its first test."""
        self._keep({"refusal": reason})

    def _keep(self, work: dict[str, Any]) -> None:
        work["session"] = self._fairness.id
        self._fairness.store.runs.describe_work(self._fairness.run, json.dumps(work))

    def read(self) -> dict[str, Any]:
        """Return what the workers have kept; nothing where another session of the run has kept its own since."""
        known = json.loads(self._fairness.store.runs.work(self._fairness.run) or "{}")
        is_ours = known.get("session") == self._fairness.id
        return {"lines": [], "calls": None} | (known if is_ours else {})

    def lines(self) -> list[str]:
        """What is going to be asked, if anything is; what is to be known of its items."""
        fairness = self._fairness
        names = ", ".join(str(name) for name in fairness.model_names() if name)
        calls = fairness.settings.calls
        models = names or f"the `model` fixture ({calls} call{'s' if calls > 1 else ''} of an application at a time)"
        counts = self._counts().items()
        sizes = [f"{count:,} {what if count != 1 else what.removesuffix('s')}" for what, count in counts]
        if fairness.settings.shard:
            models += f" (shard {fairness.settings.shard} of run {fairness.run})"
        work = f"{', '.join(sizes)} on {models}" if fairness.plan else ""
        shown = [work, str(fairness.probes.lint), *fairness.probes.sharing, *self.notes]
        return [*(line for text in shown if text for line in announced(text)), *self._estimate]

    def _counts(self) -> dict[str, Any]:
        """What the selected tests are going to ask, for the line before the first call."""
        items: set[tuple[str, int]] = set()
        attempts = 0
        seen: set[tuple[object, str, int]] = set()
        for planned in self._fairness.plan:
            for place in planned.places:
                key = (planned.asks, planned.probe.id, place)
                if key in seen:
                    continue
                seen.add(key)
                items.add((planned.probe.id, place))
                attempts += len(planned.probe.items[place].prompts) * self._fairness.repetitions(planned.probe)
        return {"probes": len({probe for probe, _ in items}), "items": len(items), "attempts": attempts}
