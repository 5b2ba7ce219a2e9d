"""Calls of graders in a planned run: rounds of conversations, and requests to judges and oracles.

Their number depends on the answers. A stored sample of the same probe and model shows it; without one only its limit
is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.plugin.samples.judges import judge_models
from pytest_fairness.plugin.session.session import FairnessSession
from pytest_fairness.report.phrases import money

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.store.samples import StoredSample
    from pytest_fairness.store.store import CallTokens


@dataclass(frozen=True, slots=True)
class GraderCalls:
    """Calls of the graders of one or several probes on a model."""

    calls: int = 0
    """Their number at the pilot's rate for an attempt; the most without a pilot."""
    pilot: int = 0
    """The attempts of the stored samples that show this number; 0 where a probe has none."""
    input: float = 0.0
    output: float = 0.0
    """Tokens; 0 without a pilot."""
    usd: float | None = None
    """None where it is not known."""
    uncounted: frozenset[str] = frozenset()
    """Grades whose grader declares no number, and no pilot shows it."""

    def __bool__(self) -> bool:
        """Return whether graders may ask anything."""
        return bool(self.calls or self.uncounted)

    @classmethod
    def total(cls, parts: Iterable[GraderCalls]) -> GraderCalls:
        """Return the calls of several probes or models; with a pilot if each has one."""
        parts = [part for part in parts if part]
        amounts = [part.usd for part in parts]
        return cls(
            sum(part.calls for part in parts),
            sum(part.pilot for part in parts) if all(part.pilot for part in parts) else 0,
            sum(part.input for part in parts),
            sum(part.output for part in parts),
            None if None in amounts or not parts else sum(filter(None, amounts)),
            frozenset[str]().union(*(part.uncounted for part in parts)),
        )

    def __str__(self) -> str:
        """Return the line on these calls, with what they cost if that is known.

        >>> print(GraderCalls(1240, 60, 560_000, 31_000, 0.3))
        graders ask about 1,240 more, at the rate of 60 stored attempts; about 560,000 tokens in and 31,000 out, about $0.30
        >>> print(GraderCalls(20, usd=0.02))
        graders ask 0 to 20 more: up to about $0.02 more, at a prompt and its answer each
        """  # noqa: E501 - the output is one line
        if self.pilot:
            tokens = f"; about {counted(round(self.input), 'token')} in and {self.output:,.0f} out"
            cost = "price not known" if self.usd is None else f"about {money(self.usd)}"
            rate = f"graders ask about {self.calls:,} more, at the rate of {counted(self.pilot, 'stored attempt')}"
            return f"{rate}{tokens if self.input else ''}, {cost}"
        parts = [f"graders ask 0 to {self.calls:,} more"] if self.calls else []
        grades = ", ".join(sorted(self.uncounted))
        parts += [f"the grader of {grades} asks an unknown number of questions"] if grades else []
        if self.usd is not None and not grades:
            return f"{parts[0]}: up to about {money(self.usd)} more, at a prompt and its answer each"
        return (
            f"{'; '.join(parts)}; their cost is not in the estimate, and is that of the model or judge that they ask: "
            "a pilot, --fairness-sample 10, shows both"
        )


def most_grader_calls(graders: Mapping[str, Any], prompts: Iterable[int], repetitions: int) -> GraderCalls:
    """Return the most calls of graders.

    Args:
        graders: By the names of their grades.
        prompts: The number of prompts of each item.
        repetitions: Attempts per prompt.
    """
    calls = calls_by_grader(graders, prompts, repetitions)
    uncounted = {
        name
        for name, grader in graders.items()
        if name not in calls and isgeneratorfunction(getattr(grader, "grade_item", None))
    }
    return GraderCalls(sum(calls.values()), uncounted=frozenset(uncounted))


def calls_by_grader(graders: Mapping[str, Any], prompts: Iterable[int], repetitions: int) -> dict[str, int]:
    """Return the most calls of each grader that declares a number; the arguments are those of `most_grader_calls`."""
    counts = [count * repetitions for count in prompts]
    return {
        name: sum(map(grader.most_questions, counts)) + _second_calls(grader, sum(counts))
        for name, grader in graders.items()
        if hasattr(grader, "most_questions")
    }


def _second_calls(grader: Any, attempts: int) -> int:
    """Return the second gradings of a judge: a number for the sample, and not for each of its attempts."""
    sized = grader.sized(attempts) if hasattr(grader, "sized") else grader
    return int(sized.second_questions(attempts)) if hasattr(sized, "second_questions") else 0


def expected_grader_calls(
    fairness: FairnessSession, probe: Probe, model: Model, graders: Mapping[str, Any], keys: Collection[str]
) -> GraderCalls | None:
    """Return the calls of graders that a run has to make, at the rate of a stored sample; None without one.

    Args:
        fairness: The session.
        probe: The probe.
        model: The model that is tested.
        graders: The probe's graders, by the names of their grades.
        keys: The keys of the run's attempts.
    """
    if not fairness.settings.store.exists():
        return None
    _bind_models(fairness, graders)
    fingerprints = {name: fingerprint_of(grader) for name, grader in graders.items()}
    samples = fairness.store.runs.samples_by_size(probe.id, model.key)
    sample = next((sample for sample in samples if _has_graders(sample, fingerprints)), None)
    if sample is None:
        return None
    attempts = {graded.attempt.key for graded in sample.attempts}
    by_model = fairness.store.tokens_by_model(sample.questions)
    made = sum(tokens.calls for tokens in by_model.values())
    second = sum(_second_calls(grader, len(attempts)) for grader in graders.values())
    later_second = sum(_second_calls(grader, len(set(keys))) for grader in graders.values())
    new = len(set(keys) - attempts)
    calls = max(0, made - second) / len(attempts) * new + (later_second if new else 0)
    times = calls / made if made else 0.0
    sent = times * sum(tokens.input for tokens in by_model.values())
    output = times * sum(tokens.output for tokens in by_model.values())
    amounts = [_cost(fairness, key, of_model, [model, *_judges(fairness, probe)]) for key, of_model in by_model.items()]
    usd = None if None in amounts else times * sum(filter(None, amounts))
    return GraderCalls(round(calls), len(attempts), sent, output, usd)


def _bind_models(fairness: FairnessSession, graders: Mapping[str, Any]) -> None:
    """Give graders the models that they ask, which are part of their fingerprints."""
    judge = fairness.settings.judge
    for grader in graders.values():
        if hasattr(grader, "bind_models"):
            try:
                grader.bind_models(fairness.models.resolve, fairness.models.resolve(judge) if judge else None)
            except FairnessError:  # the tests of its probe end by it
                continue


def _has_graders(sample: StoredSample, fingerprints: Mapping[str, str | None]) -> bool:
    """Return whether a sample was graded by these graders; a judge of the mark has no fingerprint before the run."""
    return bool(sample.attempts) and all(
        name in sample.graders and fingerprint in (None, sample.graders[name])
        for name, fingerprint in fingerprints.items()
    )


def _judges(fairness: FairnessSession, probe: Probe) -> Iterable[Model]:
    """Yield the models that graders of a probe may ask, apart from the one that is tested."""
    for judge in (fairness.settings.judge, *judge_models(probe)):
        if judge:
            yield fairness.models.resolve(judge) if isinstance(judge, str) else judge


def _cost(fairness: FairnessSession, key: str, tokens: CallTokens, models: Iterable[Model]) -> float | None:
    """Return the USD of calls to the model with a key; None where its price or its tokens are not known."""
    from pytest_fairness.engine.budget import cost

    price = next((fairness.models.find_price(model) for model in models if model.key == key), None)
    if price is None or (tokens.calls > tokens.counted and price != (0.0, 0.0)):
        return None
    return cost(price, tokens.input, tokens.output)
