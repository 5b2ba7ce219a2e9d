"""Data of a plan: a pilot or assumptions, and the cost of calls."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.dry_run_results import CallCost
from pytest_fairness.planning.predictions import FEWEST_SOURCES
from pytest_fairness.plugin.config.project_settings import DEFAULT_ASSUMPTIONS
from pytest_fairness.plugin.output.cost_estimate import assumed_output
from pytest_fairness.plugin.output.grader_calls import (
    GraderCalls,
    calls_by_grader,
    expected_grader_calls,
    most_grader_calls,
)
from pytest_fairness.plugin.samples.judges import UNNAMED_JUDGE
from pytest_fairness.plugin.samples.measurement import LazyMeasured
from pytest_fairness.plugin.samples.sequential_looks import MOST_LOOKS
from pytest_fairness.plugin.session.session import FairnessSession

if TYPE_CHECKING:
    import numpy as np

    from pytest_fairness.core.attempts import Answer
    from pytest_fairness.core.items import Prompt
    from pytest_fairness.stats.columns import Codes
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.pilot_samples import PilotSampler, SourcePool
    from pytest_fairness.stats.simulation import Assumptions, Gap, Simulation
    from pytest_fairness.store.samples import StoredSample

CHARACTERS = 4
"""Characters per token of a prompt, if no stored answer shows it."""


class PilotData:
    """Simulated runs of a probe on a model, from the latest sample in the store or from assumptions.

    Args:
        fairness: The session.
        measured: The probe and the model.
        drawn_repetitions: Repetitions of drawn answers in place of propensities; 0 for the probe as it is.
    """

    def __init__(self, fairness: FairnessSession, measured: LazyMeasured, *, drawn_repetitions: int = 0) -> None:
        self._fairness, self._measured = fairness, measured
        self.is_propensity = measured.probe.is_propensity and not drawn_repetitions
        settings = fairness.settings
        self.look = measured.first_look(MOST_LOOKS if settings.resolve else 1)
        """The first of the planned looks."""
        self.probe, self.model = measured.probe, measured.subject
        self.repetitions = drawn_repetitions or fairness.work.repetitions(self.probe)
        self._simulations: dict[int, Simulation] = {}
        """Simulations by repetitions."""
        self._seed = fairness.settings.seed, zlib.crc32(f"{self.probe.id}\n{self.model.key}".encode())

    def with_drawn_answers(self) -> PilotData | None:
        """Return the same run without --fairness-propensity; None if the option changes nothing."""
        repetitions = self.probe.drawn_repetitions
        return PilotData(self._fairness, self._measured, drawn_repetitions=repetitions) if repetitions else None

    @property
    def items(self) -> int:
        """The items of the planned run."""
        return len(self.probe.items)

    @property
    def most_attempts(self) -> int:
        """The attempts of the last planned look."""
        return self.look.plan[-1].attempts

    @property
    def attempts(self) -> int:
        """The attempts of the planned run."""
        return sum(len(item.prompts) for item in self.probe.items) * self.repetitions

    @property
    def sources(self) -> int:
        """The number of clusters of the planned run."""
        return self._supply.sources

    @property
    def has_pilot(self) -> bool:
        """Whether the store has a sample from which the simulated runs are drawn."""
        return self._pilot is not None

    def draw(self, number: int, times: float = 1.0, gap: Gap | None = None) -> Measured:
        """Return one simulated run, the same for every threshold.

        Args:
            number: The number of the run, part of its seed.
            times: The number of sources, as a multiple of the planned one.
            gap: The gap between groups. None: that of the pilot; without a pilot no gap.
        """
        return self._draw_sample(number, times, gap, self.repetitions)

    def draw_looks(self, number: int, gap: Gap | None = None) -> Iterator[tuple[float | None, int, Measured]]:
        """Yield each look of one run with its sample, which includes those of earlier looks.

        Args:
            number: The number of the run.
            gap: The gap between groups.

        Yields:
            The tail of its claims of unfairness, None for a single look; its attempts; its sample.
        """
        last = self.look.plan[-1]
        sample = self._draw_sample(number, last.clusters / self.look.size.clusters, gap, last.repetitions)
        for index in range(1, self.look.total + 1):
            look = replace(self.look, number=index)
            sources = round(self.sources * look.size.clusters / self.look.size.clusters)
            selection = sample.selection.first(sources, look.size.repetitions, look.confidence)
            strict_tail = None if look.total == 1 else look.strict_tail
            yield strict_tail, look.size.attempts, sample.from_selection(selection)

    def _draw_sample(self, number: int, times: float, gap: Gap | None, repetitions: int) -> Measured:
        generator = self._generator(number)
        if self._pilot is not None and gap is None:
            return self._pilot.draw(generator, times, repetitions)
        return self._get_simulation(repetitions).draw(generator, times, gap)

    def measured_pilot(self) -> Measured | None:
        """Return the sample of the pilot, if there is one."""
        return self._measured_sample(self._arguments)

    def labeled_pilot(self) -> Measured | None:
        """Return the sample of the pilot, corrected by labels; None without a pilot or labels."""
        if self._sample is None:
            return None
        labels = self._measured.read_labels(self._sample.attempts) or self._sample.arguments.get("calibration", ())
        return self._measured_sample({**self._arguments, "calibration": labels}) if labels else None

    def _measured_sample(self, arguments: Mapping[str, Any]) -> Measured | None:
        from pytest_fairness.stats.measured import Measured

        if self._sample is None or self._pilot is None:
            return None
        return Measured(self._sample.attempts, extremes=self._sample.extremes, **arguments)

    def orders(self, items: int, number: int) -> Sequence[Codes]:
        """Return random orders of items, whose first N items are a sample of N.

        Args:
            items: The number of items.
            number: The number of orders.
        """
        generator = self._generator(0)
        return [generator.permutation(items) for _ in range(number)]

    def favorable(self) -> Iterator[Measured]:
        """Yield the runs of the best possible models."""
        return self._get_simulation(self.repetitions).favorable_samples()

    def cost(self) -> CallCost:
        """Return the number of calls and of stored answers, and the tokens and seconds of a call."""
        answers = self._answers
        stored = 0 if self._fairness.settings.fresh else len(answers)
        samples = [answer for answer in answers.values() if answer.usage] or self._pilot_answers
        usages = [answer.usage for answer in samples if answer.usage]
        latencies = [answer.latency for answer in samples if answer.latency > 0]
        prompts = [prompt for item in self.probe.items for prompt in item.prompts]
        characters = fmean(sum(len(message["content"]) for message in prompt.messages) for prompt in prompts)
        sizes = [len(item.prompts) for item in self.probe.items]
        assumed = assumed_output(self.model.name, self._fairness.settings)
        input_tokens = fmean(usage.get("input", 0) for usage in usages) if usages else characters / CHARACTERS
        output_tokens = (
            fmean(usage.get("output", 0) for usage in usages) if usages else 1 if self.is_propensity else assumed
        )
        graders = self._grader_calls(sizes, input_tokens, output_tokens)
        return CallCost(
            questions=graders.calls,
            questions_usd=graders.usd,
            questions_tokens=(round(graders.input), round(graders.output)),
            pilot_attempts=graders.pilot,
            silent=sorted(graders.uncounted),
            price=self._fairness.models.find_price(self.model),
            calls=len(self._keys),
            propensities=self._propensity_calls,
            stored=stored,
            tokens_from="stored answers" if usages else "characters",
            input=input_tokens,
            output=output_tokens,
            seconds=fmean(latencies) if latencies else None,
        )

    def _grader_calls(self, sizes: Sequence[int], input_tokens: float, output_tokens: float) -> GraderCalls:
        """Return the calls of graders: those of the pilot, or the most with their price.

        Args:
            sizes: The number of prompts of each item.
            input_tokens: Tokens of a prompt.
            output_tokens: Tokens of an answer.
        """
        graders = self._measured.graders
        most = most_grader_calls(graders, sizes, self.repetitions)
        if not most:
            return most
        if expected := expected_grader_calls(self._fairness, self.probe, self.model, graders, self._keys):
            return expected
        amounts = [
            None
            if (price := self._price_of_questions(graders[name], input_tokens, output_tokens)) is None
            else price * calls
            for name, calls in calls_by_grader(graders, sizes, self.repetitions).items()
            if calls
        ]
        return replace(most, usd=None if None in amounts else sum(filter(None, amounts)))

    def _price_of_questions(self, grader: object, input_tokens: float, output_tokens: float) -> float | None:
        """Return the USD of one question of a grader, which holds a prompt and its answer; None if not known."""
        from pytest_fairness.engine.budget import cost

        while hasattr(grader, "grader"):  # a suite's own around another
            grader = grader.grader
        if getattr(grader, "repeats_prompt", False):  # its prompts grow by what a pilot shows
            return None
        model = getattr(grader, "model", None) or self.model
        if getattr(model, "name", "") == UNNAMED_JUDGE:
            return None
        price = self._fairness.models.find_price(model)
        reply = assumed_output(model.name, self._fairness.settings)
        return None if price is None else cost(price, input_tokens + output_tokens, reply)

    @property
    def _propensity_calls(self) -> int:
        """The calls of --fairness-propensity for a probe of drawn answers; 0 if the option is not possible."""
        from pytest_fairness.core.propensity_graders import as_propensities
        from pytest_fairness.core.protocols import is_likelihood_model

        if self.probe.is_propensity or not is_likelihood_model(self.model):
            return 0
        if as_propensities(self._measured.graders)[0] is None:
            return 0
        return sum(len(item.prompts) for item in self.probe.items)

    def _generator(self, number: int) -> np.random.Generator:
        import numpy as np

        return np.random.default_rng((*self._seed, number))

    @property
    def _arguments(self) -> Mapping[str, Any]:
        # The confidence of a threshold's first run, which leaves some of the error probability to later runs.
        return {**self._measured.arguments, "confidence": self._measured.first_look(1).confidence}

    @cached_property
    def _assumptions(self) -> Assumptions:
        from pytest_fairness.stats.simulation import Assumptions

        assumptions = self._fairness.settings.project.assumptions
        assumed = {name: assumptions[name] for name in DEFAULT_ASSUMPTIONS}
        if "icc" in self.probe.expected and assumed["icc"] == DEFAULT_ASSUMPTIONS["icc"]:
            assumed["icc"] = self.probe.expected["icc"]
        return Assumptions(**assumed)

    @property
    def expected(self) -> Mapping[str, Mapping[Any, float]]:
        """The shares that the suite declares for the probe's grades; that of the project has precedence."""
        grades = {name: shares for name, shares in self.probe.expected.items() if name != "icc"}
        if self._fairness.settings.project.assumptions["rate"] != DEFAULT_ASSUMPTIONS["rate"]:
            return {name: shares for name, shares in grades.items() if not _is_rate(shares)}
        return {name: {True: shares} if isinstance(shares, float | int) else shares for name, shares in grades.items()}

    @cached_property
    def _supply(self) -> SourcePool:
        return self._make_supply(self.repetitions)

    def _make_supply(self, repetitions: int) -> SourcePool:
        from pytest_fairness.stats.pilot_samples import SourcePool
        from pytest_fairness.stats.simulation import create_attempts

        return SourcePool(
            create_attempts(self.probe.items, repetitions), repetitions, self._arguments, self._measured.extremes
        )

    def _get_simulation(self, repetitions: int) -> Simulation:
        from pytest_fairness.stats.simulation import Simulation, possible_values

        if repetitions not in self._simulations:
            extremes = self._measured.extremes
            grades = {
                name: partial(possible_values, extremes[name]) if name in extremes else _true_or_false
                for name in self._measured.graders
            }
            supply = self._supply if repetitions == self.repetitions else self._make_supply(repetitions)
            propensities = self.is_propensity
            self._simulations[repetitions] = Simulation(
                supply,
                grades,
                self._assumptions,
                propensities=propensities,
                expected=self.expected,
                controls=self.probe.controls,
            )
        return self._simulations[repetitions]

    @cached_property
    def _sample(self) -> StoredSample | None:
        if not self._fairness.settings.store.exists():
            return None
        sample = self._fairness.store.runs.latest_sample(self.probe.id, self.model.key)
        if sample is None or sample.graders.keys() != self._measured.graders.keys() or not sample.has_answers:
            return None
        return sample if sample.holds_propensities == self.is_propensity else None

    @cached_property
    def _pilot(self) -> PilotSampler | None:
        from pytest_fairness.stats.pilot_samples import PilotSampler, SourcePool

        if self._sample is None:
            return None
        supply = SourcePool(
            self._sample.attempts, len(self._sample.repetitions), self._arguments, self._sample.extremes
        )
        return PilotSampler(supply, self.sources) if supply.sources >= FEWEST_SOURCES else None

    @cached_property
    def _keys(self) -> list[str]:
        """The keys of this run's calls; a prompt of several items is sent once."""
        from pytest_fairness.engine.requests import build_requests

        prompts = [prompt for item in self.probe.items for prompt in item.prompts]
        has_store = self._fairness.settings.store.exists()
        first = self._fairness.work.first_probe_repetition(self.probe, self.model) if has_store else 0
        return list({request.key for request in build_requests(prompts, self.model, self.repetitions, first)})

    @cached_property
    def _answers(self) -> dict[str, Answer]:
        """The stored answers to this run's calls, by key."""
        if not self._fairness.settings.store.exists():
            return {}
        attempts, _ = self._fairness.store.load(self._keys, self._fairness.run)
        return {key: attempt.answer for key, attempt in attempts.items() if attempt.answer is not None}

    @property
    def _pilot_answers(self) -> list[Answer]:
        if self._sample is None:
            return []
        attempts = self._fairness.store.with_answers(self._sample, self._fairness.run).attempts
        return [graded.attempt.answer for graded in attempts if graded.attempt.answer is not None]


def _true_or_false(_: Prompt) -> tuple[bool, bool]:
    return False, True


def _is_rate(shares: Mapping[Any, Any] | float) -> bool:
    """Return whether shares are those of true: one for all attempts, or one for each value of an attribute."""
    if not isinstance(shares, Mapping):
        return True
    of_values = [of_value for of_value in shares.values() if isinstance(of_value, Mapping)]
    return bool(of_values) and not any(isinstance(share, Mapping) for share in of_values[0].values())
