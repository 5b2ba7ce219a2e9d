"""The answers of earlier models that samples are adjusted by: those of the runs of ``--fairness-adjust``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.plugin.probe import Probe
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

Extremes = Mapping[str, "Callable[[Prompt], Sequence[Any]]"]


@dataclass(frozen=True, slots=True)
class EarlierModel:
    """One model's answers to all items that a probe's sample was drawn from."""

    run: str
    """The id of the run that asked it."""
    sample: StoredSample
    """The sample that holds them."""
    attempts: Sequence[GradedAttempt]
    """The answers, with the items and prompts as the probe has them today."""


@dataclass(frozen=True, slots=True)
class EarlierAnswers:
    """Answers of other models to all items that a probe's sample was drawn from."""

    models: Sequence[EarlierModel] = ()
    """Those that count."""
    unused: Sequence[str] = ()
    """The reasons why runs, or models of a run, are left out: one line each."""

    @property
    def samples(self) -> list[StoredSample]:
        """The samples that hold them."""
        return [model.sample for model in self.models]

    @property
    def attempts(self) -> list[GradedAttempt]:
        """The attempts of all models."""
        return [attempt for model in self.models for attempt in model.attempts]

    def extremes(self, given: Extremes) -> Extremes:
        """Return the extremes of stored samples, each for its own prompts."""
        return {
            name: _first_of([of, *(sample.extremes[name] for sample in self.samples if name in sample.extremes)])
            for name, of in given.items()
        }


def earlier_answers(
    runs: Runs, chosen: Sequence[str], probe: Probe, model_key: str | None, grades: Sequence[str] = ()
) -> EarlierAnswers:
    """Return what other models answered to all items of a probe, in runs of the store.

    A model counts where it has answered every prompt of every item that could have been drawn: else which items it has
    answered could depend on how. Answers of the model itself are no history: the run can reuse them.

    Args:
        runs: Those of the store.
        chosen: Ids of runs, of which the first counts where two have measured one model.
        probe: With its items, and those that its sample leaves.
        model_key: The model that is measured; None before it is known.
        grades: Names of the grades that the history must have.
    """
    by_key = {key: (item, prompt) for item in [*probe.items, *probe.reserve] for key, prompt in _keyed_prompts(item)}
    models: dict[str, EarlierModel] = {}
    unused = []
    for run in chosen:
        stored = [(name, key) for of, name, key in runs.samples(run) if of == probe.id]
        if not stored:
            unused.append(f"run {run[:8]} has no sample of it")
        for name, key in sorted(stored):
            if key in models or key == model_key:
                continue
            sample = runs.sample(run, probe.id, key)
            if sample is None:
                continue
            kept = list(_as_today(sample, by_key))
            held = {id(graded.prompt) for graded in kept}
            missing = {item.id for item, prompt in by_key.values() if id(prompt) not in held}
            if missing:
                unused.append(f"{name} of run {run[:8]} lacks {len(missing):,} of its items")
            elif absent := sorted(set(grades) - set(sample.graders)):
                unused.append(f"{name} of run {run[:8]} has no grade {absent[0]!r}")
            else:
                models[key] = EarlierModel(run, sample, kept)
    return EarlierAnswers(list(models.values()), unused)


def _keyed_prompts(item: ProbeItem) -> Iterator[tuple[tuple[Any, ...], Prompt]]:
    """Yield each prompt of an item with what it is found by; of prompts that are alike, by their order."""
    seen: dict[tuple[Any, ...], int] = {}
    for prompt in item.prompts:
        key = item.id, prompt.digest, tuple(sorted(prompt.groups.items()))
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key]), prompt


def _as_today(
    sample: StoredSample, by_key: Mapping[tuple[Any, ...], tuple[ProbeItem, Prompt]]
) -> Iterator[GradedAttempt]:
    """Yield the attempts of a sample to prompts that the probe still has, with its item and prompt."""
    today_of: dict[int, tuple[ProbeItem, Prompt] | None] = {}
    for graded in sample.attempts:
        if id(graded.prompt) not in today_of:
            today_of.update({id(prompt): by_key.get(key) for key, prompt in _keyed_prompts(graded.item)})
        if (today := today_of.get(id(graded.prompt))) is not None:
            yield replace(graded, item=today[0], prompt=today[1])


def _first_of(those: Sequence[Callable[[Prompt], Sequence[Any]]]) -> Callable[[Prompt], Sequence[Any]]:
    def extremes(prompt: Prompt) -> Sequence[Any]:
        for of in those[:-1]:
            try:
                return of(prompt)
            except KeyError:  # stored extremes know the prompts of their own sample
                continue
        return those[-1](prompt)

    return extremes
