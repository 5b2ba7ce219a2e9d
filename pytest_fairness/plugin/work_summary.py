"""Summary of the work of a session: computed before the first request, and stored for the process that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.cost_estimate import announcement, estimate_costs, format_estimates, unavailable_model
from pytest_fairness.plugin.session import FairnessSession


class WorkSummary:
    """The work of one session. Workers of xdist store it, and their controller reads it."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness
        self._cost_lines: list[str] = []
        self.notes: list[str] = []
        """Remarks on the selection, and on options that it does not use."""

    def prepare(self, names: Iterable[str]) -> int:
        """Store the work of the session, and return how many calls it takes.

        Raises `FairnessError` where one of the named models is known to be unavailable.
        """
        fairness = self._fairness
        fairness.executor.join()
        counts, estimates = self._counts(), estimate_costs(fairness)
        if reason := unavailable_model(fairness, names, estimates):
            raise FairnessError(reason)
        self._cost_lines = list(format_estimates(fairness, estimates))
        # A model without costs has no estimate, so its stored answers are not counted.
        is_complete = len(estimates) == len(fairness.models.names())
        calls = sum(estimate.calls for estimate in estimates) if is_complete else counts["attempts"]
        self._save({"lines": self.lines(), "calls": calls, "baseline": fairness.settings.baseline})
        return calls

    def save_refusal(self, reason: str) -> None:
        """Store why the session has to end before its first test."""
        self._save({"refusal": reason})

    def _save(self, work: dict[str, Any]) -> None:
        work["session"] = self._fairness.context.session_id
        self._fairness.store.runs.describe_work(self._fairness.run, json.dumps(work))

    def read(self) -> dict[str, Any]:
        """Return what the workers have stored; nothing where another session of the run has replaced it."""
        work = json.loads(self._fairness.store.runs.work(self._fairness.run) or "{}")
        is_ours = work.get("session") == self._fairness.context.session_id
        return {"lines": [], "calls": None} | (work if is_ours else {})

    def lines(self) -> list[str]:
        """Return the lines above the tests: counts, remarks on items and options, costs."""
        fairness = self._fairness
        names = ", ".join(str(name) for name in fairness.models.names() if name)
        calls = fairness.settings.application_concurrency
        models = names or f"the `model` fixture ({calls} call{'s' if calls > 1 else ''} of an application at a time)"
        sizes = [
            f"{count:,} {what if count != 1 else what.removesuffix('s')}" for what, count in self._counts().items()
        ]
        if fairness.settings.shard:
            models += f" (shard {fairness.settings.shard} of run {fairness.run})"
        work = f"{', '.join(sizes)} on {models}" if fairness.work.tests else ""
        texts = [work, str(fairness.probes.lint), *fairness.probes.shared_prompts, *self.notes]
        return [*(line for text in texts if text for line in announcement(text)), *self._cost_lines]

    def _counts(self) -> dict[str, int]:
        """Return the numbers of probes, items and attempts of the selected tests."""
        items: set[tuple[str, int]] = set()
        attempts = 0
        seen: set[tuple[object, str, int]] = set()
        for test in self._fairness.work.tests:
            for index in test.items:
                key = (test.subject, test.probe.id, index)
                if key in seen:
                    continue
                seen.add(key)
                items.add((test.probe.id, index))
                attempts += len(test.probe.items[index].prompts) * self._fairness.work.repetitions(test.probe)
        return {"probes": len({probe for probe, _ in items}), "items": len(items), "attempts": attempts}
