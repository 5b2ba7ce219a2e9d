"""Estimates of a run's cost before its first request; stored answers cost nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import FatalError
from pytest_fairness.core.formatting import counted
from pytest_fairness.plugin.config.project_settings import DEFAULT_ASSUMPTIONS
from pytest_fairness.plugin.output.terminal_text import wrap_text
from pytest_fairness.plugin.samples.judges import judge_models, may_use_judge_fixture
from pytest_fairness.plugin.session.session import FairnessSession
from pytest_fairness.report.phrases import money

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.plugin.config.settings import Settings
    from pytest_fairness.plugin.probes.probe import Probe

_WIDTH = 80
"""The width of lines, which are written in a worker without a terminal."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Calls, tokens and cost of the probes on one model."""

    model: str
    calls: int
    """Calls to make."""
    stored: int
    input: float
    output: float
    """Tokens of the calls to make."""
    usd: float | None

    def __str__(self) -> str:
        calls = f"{self.model}: {counted(self.calls, 'call')} to make, {self.stored:,} in the store"
        if not self.calls:
            return calls
        cost = "price not known ([tool.pytest-fairness.prices])" if self.usd is None else f"about {money(self.usd)}"
        return f"{calls}; about {counted(round(self.input), 'token')} in and {self.output:,.0f} out, {cost}"


def estimate_costs(fairness: FairnessSession) -> list[CostEstimate]:
    """Return the costs of each model of the options that has a price or is limited by a cap."""
    names = [str(name) for name in fairness.models.names() if name]
    models = [fairness.models.resolve(name) for name in names]
    return [
        _estimate(fairness, name, model)
        for name, model in zip(names, models, strict=True)
        if fairness.work.caps or fairness.models.find_price(model) != (0.0, 0.0)
    ]


def unavailable_model(fairness: FairnessSession, names: Iterable[str], estimates: Sequence[CostEstimate]) -> str | None:
    """Return the reason why a model cannot answer requests that the store lacks, if that is known in advance."""
    calls = {estimate.model: estimate.calls for estimate in estimates}
    for name in names:
        model = fairness.models.resolve(name)
        try:
            getattr(model, "preflight", lambda: None)()
        except FatalError as error:
            if calls[name] if name in calls else _estimate(fairness, name, model).calls:
                return str(error)
    return None


def unavailable_judge(fairness: FairnessSession, judge: str | None) -> str | None:
    """Return the reason why a judge of answers that the store lacks cannot grade them, if that is known in advance.

    Args:
        fairness: The session.
        judge: The model of the `judge` fixture, unless each test overrides that.
    """
    for probe in {test.probe.id: test.probe for test in fairness.work.tests if not test.probe.error}.values():
        named = [*judge_models(probe), *([judge] if judge and may_use_judge_fixture(probe) else [])]
        for name in named:
            model = fairness.models.resolve(name) if isinstance(name, str) else name
            try:
                getattr(model, "preflight", lambda: None)()
            except FatalError as error:
                if _has_calls(fairness, probe):
                    return str(error)
    return None


def _has_calls(fairness: FairnessSession, probe: Probe) -> bool:
    """Return whether the store lacks answers of a model of the options to a probe."""
    names = [str(name) for name in fairness.models.names() if name]
    keys = (_input_tokens(fairness, name, fairness.models.resolve(name), probe)[0] for name in names)
    return any(fairness.store.unanswered(list(tokens)) for tokens in keys)


def _estimate(fairness: FairnessSession, name: str, model: Model) -> CostEstimate:
    from pytest_fairness.engine.budget import cost

    tokens, propensities = _input_tokens(fairness, name, model)
    missing = fairness.store.unanswered(list(tokens))
    lengths = fairness.store.lengths(model.key)
    length = assumed_output(model.name, fairness.settings) if lengths is None else lengths[0]
    drawn = 1 - propensities / max(1, len(tokens))
    output = missing * (drawn * length + 1 - drawn)  # a propensity takes one token of output
    sent = sum(tokens.values()) * missing / max(1, len(tokens))
    price = fairness.models.find_price(model)
    usd = None if price is None else cost(price, sent, output)
    return CostEstimate(name, missing, len(tokens) - missing, sent, output, usd)


def _input_tokens(
    fairness: FairnessSession, name: str, model: Model, only: Probe | None = None
) -> tuple[dict[str, float], int]:
    """Return the expected input tokens of every request, by the key of its attempt, and the number of propensities."""
    from pytest_fairness.engine.budget import expected_input
    from pytest_fairness.engine.requests import build_requests

    tokens: dict[str, float] = {}
    propensities = 0
    first_repetitions: dict[str, int] = {}
    for test in fairness.work.tests:
        probe = test.probe
        if test.model_name != name or probe.error or only not in (None, probe):
            continue
        if probe.id not in first_repetitions:
            first_repetitions[probe.id] = fairness.work.first_probe_repetition(probe, model)
        prompts = [prompt for index in test.items for prompt in probe.items[index].prompts]
        repetitions = fairness.work.repetitions(probe)
        for request in build_requests(prompts, model, repetitions, first_repetitions[probe.id]):
            propensities += request.key not in tokens and request.asks_likelihoods
            tokens[request.key] = expected_input(request.sent_prompt)
    return tokens, propensities


def format_estimates(fairness: FairnessSession, estimates: Sequence[CostEstimate]) -> Iterator[str]:
    """Yield the lines on calls and their costs, and on caps that end them."""
    texts = [fairness.models.show(str(estimate)) for estimate in estimates]
    calls, unknown = _grader_calls(fairness, len(estimates))
    if estimates and (calls or unknown):
        texts.append(format_grader_calls(calls, sorted(unknown)))
    if fairness.work.caps:
        texts.append(f"stops at {fairness.work.caps}, all processes together")
    for text in texts:
        yield from announcement(text)


def _grader_calls(fairness: FairnessSession, models: int) -> tuple[int, set[str]]:
    """Return the most calls of the graders of all probes, and the graders without a known number."""
    calls, unknown = 0, set[str]()
    probes: dict[str, Probe] = {test.probe.id: test.probe for test in fairness.work.tests if not test.probe.error}
    for probe in probes.values():
        graders = probe.arguments.get("grade")
        if isinstance(graders, Mapping):
            prompts = [len(item.prompts) for item in probe.items]
            of_probe, unbounded = most_grader_calls(graders, prompts, fairness.work.repetitions(probe))
            calls, unknown = calls + of_probe * models, unknown | unbounded
    return calls, unknown


def announcement(text: str) -> Iterator[str]:
    """Yield the lines of a text above the tests."""
    first, *more = wrap_text(f"fairness: {text}", _WIDTH)
    yield first.strip()
    yield from more


def most_grader_calls(graders: Mapping[str, Any], prompts: Iterable[int], repetitions: int) -> tuple[int, set[str]]:
    """Return the most calls of graders, and the names of the graders without a known number.

    Args:
        graders: By the names of their grades.
        prompts: The number of prompts of each item.
        repetitions: Attempts per prompt.
    """
    calls = calls_by_grader(graders, prompts, repetitions)
    unbounded = {
        name
        for name, grader in graders.items()
        if name not in calls and isgeneratorfunction(getattr(grader, "grade_item", None))
    }
    return sum(calls.values()), unbounded


def calls_by_grader(graders: Mapping[str, Any], prompts: Iterable[int], repetitions: int) -> dict[str, int]:
    """Return the most calls of each grader that declares a number; the arguments are those of `most_grader_calls`."""
    counts = [count * repetitions for count in prompts]
    return {
        name: sum(map(grader.most_questions, counts)) + getattr(grader, "second_questions", lambda _: 0)(sum(counts))
        for name, grader in graders.items()
        if hasattr(grader, "most_questions")
    }


def format_grader_calls(calls: int, unknown: Sequence[str], usd: float | None = None) -> str:
    """Return the line on the calls of graders, with what they cost at most if that is known."""
    parts = [f"graders ask up to {calls:,} more"] if calls else []
    parts += [f"the grader of {', '.join(unknown)} asks an unknown number of questions"] if unknown else []
    if usd is not None and not unknown:
        return f"{parts[0]}: up to about {money(usd)} more, at a prompt and its answer each"
    return f"{'; '.join(parts)}; their cost is not in the estimate, and is that of the model or judge that they ask"


_REASONING = re.compile(
    r"[:/](?:o[134]\b|gpt-5|deepseek-(?:r1|reasoner)|gemini-(?:2\.5|3)|grok-4|qwq|magistral)|thinking|reasoning_effort"
)
"""Names of models that reason before they answer, and parameters with which they do; their thoughts are output."""
_LIMIT = re.compile(r"[?&]max_(?:completion_|output_)?tokens=(\d+)")
REASONING_OUTPUT = 1_000.0
"""The tokens of an answer with its reasoning, where nothing is known of it."""


def reasons(model: str) -> bool:
    """Return whether a model of a name is known to reason before it answers.

    >>> reasons("openai:gpt-5-mini"), reasons("openai:gpt-4o"), reasons("openai:gpt-5.2-chat?reasoning_effort=none")
    (True, False, False)
    """
    return _REASONING.search(model) is not None and "reasoning_effort=none" not in model


def assumed_output(model: str, settings: Settings) -> float:
    """Return the tokens of an answer of which the store shows none: as assumed, or more with reasoning."""
    output = settings.project.assumptions["output"]
    if output != DEFAULT_ASSUMPTIONS["output"]:
        return output
    limit = _LIMIT.search(model)
    return min(REASONING_OUTPUT if reasons(model) else output, float(limit[1]) if limit else math.inf)
