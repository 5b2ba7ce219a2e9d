"""Samples of earlier runs: finding one, the part of it that belongs to a look, and its metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.attempts import AGAIN
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.model_names import WRAPPED
from pytest_fairness.core.protocols import Model

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import ProbeItem
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

DECODING = frozenset(
    {
        "temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "seed", "stop", "presence_penalty",
        "frequency_penalty", "reasoning_effort", "effort", "thinking", "response_format", "extra",
    }
)  # fmt: skip
"""Parameters in the name of a model that change its answers, not its identity."""


def attempts_of_design(sample: StoredSample, items: Iterable[ProbeItem], repetitions: int) -> list[GradedAttempt]:
    """Return the attempts of a sample to some items, as many repetitions of each."""
    ids, end = {item.id for item in items}, sample.repetitions.start + repetitions
    return [graded for graded in sample.attempts if graded.item.id in ids and graded.attempt.repetition < end]


def find_baseline_sample(runs: Runs, run: str, probe: str, model: Model) -> StoredSample:
    """Return the sample of a run with which a probe's sample is compared.

    It is the sample of the same model, else that of the only model of the run.

    Raises:
        FairnessError: The run has no such sample.
    """
    stored = [key for probe_id, _, key in runs.samples(run) if probe_id == probe]
    key = find_sample_key(runs, run, probe, model)
    if key is None and len(stored) > 1:
        raise FairnessError(
            f"run {run[:8]} measured this probe on {counted(len(stored), 'model')} and not on {model.name}: "
            "name a run with it, or with one model only"
        )
    return load_sample(runs, run, probe, key or next(iter(stored), ""))


def find_sample_key(runs: Runs, run: str, probe: str, model: Model) -> str | None:
    """Return the key of a probe's sample in a run: of this model, else of a model with the same name."""
    stored = {key: name for probe_id, name, key in runs.samples(run) if probe_id == probe}
    # The key of a callable differs between runs only in the id of the run.
    namesakes = [key for key in stored if stored[key] == model.name]
    return next(
        (key for key in stored if _remove_run_id(key) == _remove_run_id(model.key)), next(iter(namesakes), None)
    )


def _remove_run_id(key: str) -> str:
    return re.sub(r"(?<=\?run=)\w+", "", key) if key.startswith("function:") else key


def load_sample(runs: Runs, run: str, probe: str, key: str | None) -> StoredSample:
    """Return a sample of a run.

    Raises:
        FairnessError: The run has no sample of the probe and model.
    """
    sample = runs.sample(run, probe, key) if key else None
    if sample is None:
        raise FairnessError(f"run {run[:8]} has no sample of {probe}: name a run that has judged its thresholds")
    return sample


def restore_measured(sample: StoredSample) -> Measured:
    """Return the metrics of a stored sample."""
    from pytest_fairness.stats.measured import Measured

    return Measured(
        sample.attempts,
        extremes=sample.extremes,
        conditions=conditions(sample.model, sample.graders, sample.judge),
        **sample.arguments,
    )


def conditions(model: str, graders: Mapping[str, str | None], judge: str | None) -> dict[str, Any]:
    """Return the conditions that two compared samples must share: decoding, graders, judge.

    >>> conditions("openai:gpt-5-mini?temperature=0&base_url=http://here", {"hired": "yesno-1"}, None)
    {'temperature': 0, "the grader of 'hired'": 'yesno-1'}
    """
    from pytest_fairness.models.names import ModelName

    try:
        parameters = ModelName.parse(model.partition(WRAPPED)[0]).parameters
    except FairnessError:  # a custom model with a name of its own
        parameters = {}
    shared: dict[str, Any] = {name: value for name, value in parameters.items() if name in DECODING}
    # Whether a judge grades a part twice depends on the size of the sample.
    graders = {name: fingerprint for name, fingerprint in graders.items() if not name.endswith(AGAIN)}
    shared |= {f"the grader of {name!r}": fingerprint for name, fingerprint in graders.items()}
    return shared if judge is None else shared | {"the judge": judge}
