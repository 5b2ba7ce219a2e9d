"""Estimates of a run's cost before its first request; stored answers cost nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_fairness.core.errors import FatalError
from pytest_fairness.core.formatting import counted
from pytest_fairness.plugin.config.project_settings import DEFAULT_ASSUMPTIONS
from pytest_fairness.plugin.output.grader_calls import GraderCalls, expected_grader_calls, most_grader_calls
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
    graders: GraderCalls
    """Those of the probes' graders, which are not in the other numbers."""

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

    probes = {test.probe.id: test.probe for test in fairness.work.tests if test.model_name == name}
    seen: set[str] = set()
    calls = stored = 0
    sent = output = 0.0
    graders = []
    for probe in probes.values():
        tokens, propensities = _input_tokens(fairness, name, model, probe)
        graders.append(_grader_calls(fairness, probe, model, tokens))
        tokens = {key: size for key, size in tokens.items() if key not in seen}  # prompts that probes share
        seen.update(tokens)
        missing = fairness.store.unanswered(list(tokens))
        calls, stored = calls + missing, stored + len(tokens) - missing
        if missing:
            size, length = _tokens_of_call(fairness, model, tokens, is_stored=missing < len(tokens))
            drawn = 1 - propensities / len(tokens)
            sent += missing * size
            output += missing * (drawn * length + 1 - drawn)  # a propensity takes one token of output
    price = fairness.models.find_price(model)
    usd = None if price is None else cost(price, sent, output)
    return CostEstimate(name, calls, stored, sent, output, usd, GraderCalls.total(graders))


def _tokens_of_call(
    fairness: FairnessSession, model: Model, tokens: Mapping[str, float], *, is_stored: bool
) -> tuple[float, float]:
    """Return the input and output tokens of a call: of this probe's stored answers, where their provider counts them.

    Args:
        fairness: The session.
        model: The model.
        tokens: The input tokens of each call by its characters, by key.
        is_stored: Whether some calls have stored answers.
    """
    answers = fairness.store.tokens_by_model(list(tokens)).get(model.key) if is_stored else None
    if answers is not None and answers.counted:
        return answers.input / answers.counted, answers.output / answers.counted
    lengths = fairness.store.lengths(model.key)
    length = assumed_output(model.name, fairness.settings) if lengths is None else lengths[0]
    return sum(tokens.values()) / len(tokens), length


def _grader_calls(fairness: FairnessSession, probe: Probe, model: Model, keys: Collection[str]) -> GraderCalls:
    """Return the calls of a probe's graders: those to make, where a stored sample shows them; else the most."""
    graders = probe.arguments.get("grade")
    if not isinstance(graders, Mapping):
        return GraderCalls()
    prompts = [len(item.prompts) for item in probe.items]
    most = most_grader_calls(graders, prompts, fairness.work.repetitions(probe))
    return (expected_grader_calls(fairness, probe, model, graders, keys) if most else None) or most


def _input_tokens(fairness: FairnessSession, name: str, model: Model, probe: Probe) -> tuple[dict[str, float], int]:
    """Return the input tokens of a probe's requests by their characters, by key, and the number of propensities."""
    from pytest_fairness.engine.budget import expected_input
    from pytest_fairness.engine.requests import build_requests

    tokens: dict[str, float] = {}
    propensities = 0
    if probe.error:
        return tokens, propensities
    first = fairness.work.first_probe_repetition(probe, model)
    for test in fairness.work.tests:
        if test.model_name != name or test.probe is not probe:
            continue
        prompts = [prompt for index in test.items for prompt in probe.items[index].prompts]
        for request in build_requests(prompts, model, fairness.work.repetitions(probe), first):
            propensities += request.key not in tokens and request.asks_likelihoods
            tokens[request.key] = expected_input(request.sent_prompt)
    return tokens, propensities


def format_estimates(fairness: FairnessSession, estimates: Sequence[CostEstimate]) -> Iterator[str]:
    """Yield the lines on calls and their costs, and on caps that end them."""
    texts = [fairness.models.show(str(estimate)) for estimate in estimates]
    if graders := GraderCalls.total(estimate.graders for estimate in estimates):
        texts.append(str(graders))
    if fairness.work.caps:
        texts.append(f"stops at {fairness.work.caps}, all processes together")
    for text in texts:
        yield from announcement(text)


def announcement(text: str) -> Iterator[str]:
    """Yield the lines of a text above the tests."""
    first, *more = wrap_text(f"fairness: {text}", _WIDTH)
    yield first.strip()
    yield from more


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
