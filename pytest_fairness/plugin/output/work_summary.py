"""Summary of the work of a session, computed before the first request and stored for the process that prints it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.plugin.config.profiles import CONCLUSIONS, GATE
from pytest_fairness.plugin.output.cost_estimate import (
    announcement,
    estimate_costs,
    format_estimates,
    unavailable_judge,
    unavailable_model,
)
from pytest_fairness.plugin.probes.probe import Probe
from pytest_fairness.plugin.session.session import FairnessSession


class WorkSummary:
    """The summary of one session's work. Workers of xdist store it, and their controller reads it."""

    def __init__(self, fairness: FairnessSession) -> None:
        self._fairness = fairness
        self._cost_lines: list[str] = []
        self._lines: list[str] | None = None
        """The lines of the prepared work, as stored."""
        self.notes: list[str] = []
        """Remarks on the selection, and on options that it does not use."""

    def prepare(self, names: Iterable[str], judge: str | None) -> int:
        """Store the work of the session, and return its number of calls.

        Args:
            names: The models of the options that tests use.
            judge: The model of the `judge` fixture, unless each test overrides that.

        Raises:
            FairnessError: One of the named models or judges is known to be unavailable.
        """
        fairness = self._fairness
        fairness.executor.join()
        counts, estimates = self._counts(), estimate_costs(fairness)
        if reason := unavailable_model(fairness, names, estimates) or unavailable_judge(fairness, judge):
            raise FairnessError(reason)
        self._cost_lines = list(format_estimates(fairness, estimates))
        # A model without costs has no estimate, so its stored answers are not counted.
        is_complete = len(estimates) == len(fairness.models.names()) and None not in self._model_names
        calls = sum(estimate.calls for estimate in estimates) if is_complete else counts["attempt"]
        self._lines = [*self.lines(), *(line for text in self._remarks() for line in announcement(text))]
        self._save({"lines": self._lines, "calls": calls, "baseline": fairness.settings.baseline})
        return calls

    def _save(self, work: dict[str, Any]) -> None:
        work["session"] = self._fairness.session_id
        self._fairness.store.runs.describe_work(self._fairness.run, json.dumps(work))

    def read(self) -> dict[str, Any]:
        """Return the work that the workers have stored; without lines if another session of the run has replaced it."""
        work = json.loads(self._fairness.store.runs.work(self._fairness.run) or "{}")
        is_ours = work.get("session") == self._fairness.session_id
        return {"lines": [], "calls": None} | (work if is_ours else {})

    def lines(self) -> list[str]:
        """Return the lines above the tests: counts, remarks on items and options, costs."""
        if self._lines is not None:
            return self._lines
        fairness = self._fairness
        names = [
            fairness.models.introduce(str(name)) for name in fairness.models.names() if str(name) in self._model_names
        ]
        if not names or None in self._model_names:
            calls = fairness.settings.application_concurrency
            number = f"{counted(calls, 'call')} at a time"
            names.append(f"the `model` fixture, {number} unless the application sets `fairness_concurrency`")
        models = ", ".join(names)
        sizes = [counted(count, noun) for noun, count in self._counts().items()]
        if fairness.settings.shard:
            models += f" (shard {fairness.settings.shard} of run {fairness.run})"
        work = f"{', '.join(sizes)} on {models}" if fairness.work.tests else ""
        profile = fairness.settings.profile
        size = f"profile {profile}: {CONCLUSIONS[profile]}" if work and profile != GATE else ""
        texts = [
            work,
            size,
            fairness.probes.lint,
            *fairness.probes.confounds,
            *fairness.probes.shared_prompts,
            *self.notes,
        ]
        shown = [fairness.models.show(text) for text in texts if text]
        return [*(line for text in shown for line in announcement(text)), *self._cost_lines]

    def _remarks(self) -> Iterator[str]:
        """Yield the remarks of models on the prompts that they get."""
        for name in map(str, filter(None, self._fairness.models.names())):
            if remark := getattr(self._fairness.models.resolve(name), "remark", None):
                tests = (test for test in self._fairness.work.tests if test.model_name == name)
                items = (test.probe.items[index] for test in tests for index in test.items)
                if text := remark(prompt for item in items for prompt in item.prompts):
                    yield self._fairness.models.show(text)

    @property
    def _model_names(self) -> set[str | None]:
        """The models of the selected tests; None is that of a `model` fixture that ignores the options."""
        return {test.model_name for test in self._fairness.work.tests}

    def _counts(self) -> dict[str, int]:
        """Return the numbers of probes, items and attempts of the selected tests."""
        samples: dict[tuple[object, Probe], set[int]] = defaultdict(set)
        for test in self._fairness.work.tests:
            if test.items:  # an invalid probe has no items, and its repetitions may be no number
                samples[test.subject, test.probe].update(test.items)
        items: dict[str, set[int]] = defaultdict(set)
        attempts = 0
        for (_, probe), indices in samples.items():
            items[probe.id] |= indices
            prompts = sum(len(probe.items[index].prompts) for index in indices)
            attempts += prompts * self._fairness.work.repetitions(probe)
        return {"probe": sum(map(bool, items.values())), "item": sum(map(len, items.values())), "attempt": attempts}
