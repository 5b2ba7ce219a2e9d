"""Answers of earlier models, from the runs of ``--fairness-adjust``, by which samples are adjusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

Extremes = Mapping[str, "Callable[[Prompt], Sequence[Any]]"]


@dataclass(frozen=True, slots=True)
class EarlierModel:
    """One model's answers to all items that a probe's sample was drawn from."""

    run: str
    """The id of the run."""
    sample: StoredSample
    attempts: Sequence[GradedAttempt]
    """Its attempts, with the probe's current items and prompts."""


@dataclass(frozen=True, slots=True)
class EarlierAnswers:
    """Answers of other models to all items that a probe's sample was drawn from."""

    models: Sequence[EarlierModel]
    """The models that count."""
    unused: Sequence[str] = ()
    """The reasons why runs, or models of a run, are left out, one line each."""

    @property
    def samples(self) -> list[StoredSample]:
        """The stored samples of all models."""
        return [model.sample for model in self.models]

    @property
    def attempts(self) -> list[GradedAttempt]:
        """The attempts of all models."""
        return [attempt for model in self.models for attempt in model.attempts]

    def extremes(self, own: Extremes) -> Extremes:
        """Return extremes for the prompts of all samples, given the extremes of the adjusted one."""
        return {
            name: _combine_extremes(
                [extremes, *(sample.extremes[name] for sample in self.samples if name in sample.extremes)]
            )
            for name, extremes in own.items()
        }


def load_earlier_answers(
    runs: Runs, run_ids: Sequence[str], probe: Probe, model_key: str | None, grades: Sequence[str] = ()
) -> EarlierAnswers:
    """Return the answers of other models to all items of a probe, from runs of the store.

    A model counts if it has answered every prompt of every item that could have been drawn: else its set of items could
    depend on its answers. Answers of the model itself do not count, since the run can reuse them.

    Args:
        runs: The runs of the store.
        run_ids: Ids of runs; of two that have measured one model, the first counts.
        probe: The probe, with the items in its sample and in reserve.
        model_key: The key of the model under test; None if it is not known yet.
        grades: The names of the required grades.
    """
    by_key = {key: (item, prompt) for item in [*probe.items, *probe.reserve] for key, prompt in _keyed_prompts(item)}
    models: dict[str, EarlierModel] = {}
    unused = []
    for run in run_ids:
        stored = [(name, key) for probe_id, name, key in runs.samples(run) if probe_id == probe.id]
        if not stored:
            unused.append(f"run {run[:8]} has no sample of it")
        for name, key in sorted(stored):
            if key in models or key == model_key:
                continue
            sample = runs.sample(run, probe.id, key)
            if sample is None:
                continue
            attempts = list(_match_to_probe(sample, by_key))
            answered = {id(graded.prompt) for graded in attempts}
            missing = {item.id for item, prompt in by_key.values() if id(prompt) not in answered}
            if missing:
                unused.append(f"{name} of run {run[:8]} lacks {len(missing):,} of its items")
            elif absent := sorted(set(grades) - set(sample.graders)):
                unused.append(f"{name} of run {run[:8]} has no grade {absent[0]!r}")
            else:
                models[key] = EarlierModel(run, sample, attempts)
    return EarlierAnswers(list(models.values()), unused)


def _keyed_prompts(item: ProbeItem) -> Iterator[tuple[tuple[Any, ...], Prompt]]:
    """Yield each prompt of an item with its key, which numbers equal prompts."""
    counts: dict[tuple[Any, ...], int] = {}
    for prompt in item.prompts:
        key = item.id, prompt.digest, tuple(sorted(prompt.groups.items()))
        counts[key] = counts.get(key, -1) + 1
        yield (*key, counts[key]), prompt


def _match_to_probe(
    sample: StoredSample, by_key: Mapping[tuple[Any, ...], tuple[ProbeItem, Prompt]]
) -> Iterator[GradedAttempt]:
    """Yield the attempts of a sample to prompts that the probe still has, with its current item and prompt."""
    current_of: dict[int, tuple[ProbeItem, Prompt] | None] = {}
    for graded in sample.attempts:
        if id(graded.prompt) not in current_of:
            current_of.update({id(prompt): by_key.get(key) for key, prompt in _keyed_prompts(graded.item)})
        if (current := current_of.get(id(graded.prompt))) is not None:
            yield replace(graded, item=current[0], prompt=current[1])


def _combine_extremes(functions: Sequence[Callable[[Prompt], Sequence[Any]]]) -> Callable[[Prompt], Sequence[Any]]:
    """Return a function that tries the extremes of each sample in turn, since stored ones know only their prompts."""

    def extremes(prompt: Prompt) -> Sequence[Any]:
        for function in functions[:-1]:
            try:
                return function(prompt)
            except KeyError:
                continue
        return functions[-1](prompt)

    return extremes
