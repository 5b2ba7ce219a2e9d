"""What a run is going to cost, before its first call: what is in the store costs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import FatalError
from pytest_fairness.report.sentences import money
from pytest_fairness.session.state import FairnessSession
from pytest_fairness.session.summary import wrapped

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model

_WIDTH = 80
"""Of a terminal: the lines are made in a worker, which has none."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the probes are going to ask of one model."""

    model: str
    calls: int
    """To make."""
    stored: int
    input: float
    output: float
    """Tokens of the calls to make."""
    usd: float | None

    def __str__(self) -> str:
        calls = f"{self.model}: {self.calls:,} calls to make, {self.stored:,} in the store"
        if not self.calls:
            return calls
        cost = "price not known (--fairness-price)" if self.usd is None else f"about {money(self.usd)}"
        return f"{calls}; about {self.input:,.0f} tokens in and {self.output:,.0f} out, {cost}"


def estimates(fairness: FairnessSession) -> list[Estimate]:
    """What the selected tests are going to ask of each model that is named and costs something, or is capped."""
    models = [fairness.named_model(str(name)) for name in fairness.model_names() if name]
    names = [str(name) for name in fairness.model_names() if name]
    return [
        _estimate(fairness, name, model)
        for name, model in zip(names, models, strict=True)
        if fairness.caps or fairness.price_of(model) != (0.0, 0.0)
    ]


def unaskable(fairness: FairnessSession, names: Iterable[str], found: Sequence[Estimate]) -> str | None:
    """Why one of these models cannot be asked what is missing in the store, where that is known before it is."""
    calls = {each.model: each.calls for each in found}
    for name in names:
        model = fairness.named_model(name)
        try:
            getattr(model, "preflight", lambda: None)()
        except FatalError as error:
            if calls[name] if name in calls else _estimate(fairness, name, model).calls:
                return str(error)
    return None


def _estimate(fairness: FairnessSession, name: str, model: Model) -> Estimate:
    from pytest_fairness.engine.asks import asks_of
    from pytest_fairness.engine.budget import cost, expected_input

    tokens: dict[str, float] = {}
    firsts: dict[str, int] = {}
    for planned in fairness.plan:
        if planned.model_name == name and not planned.probe.error:
            prompts = [prompt for place in planned.places for prompt in planned.probe.items[place].prompts]
            probe = planned.probe
            if probe.id not in firsts:
                firsts[probe.id] = fairness.first_of(probe, model)
            for ask in asks_of(prompts, model, fairness.repetitions(probe), firsts[probe.id]):
                tokens[ask.key] = expected_input(ask.prompt)
    missing = fairness.store.unanswered(list(tokens))
    known = fairness.store.lengths(model.key)
    output = missing * (fairness.settings.assumed_output if known is None else known[0])
    sent = sum(tokens.values()) * missing / max(1, len(tokens))
    price = fairness.price_of(model)
    usd = None if price is None else cost(price, sent, output)
    return Estimate(name, missing, len(tokens) - missing, sent, output, usd)


def lines(fairness: FairnessSession, found: Sequence[Estimate]) -> Iterator[str]:
    """What is going to be asked and spent, and where that ends."""
    told = [str(each) for each in found]
    most, unknown = 0, set[str]()
    for probe in {planned.probe.id: planned.probe for planned in fairness.plan if not planned.probe.error}.values():
        graders = probe.arguments.get("grade")
        if isinstance(graders, Mapping):
            count, silent = questions(graders, [len(i.prompts) for i in probe.items], fairness.repetitions(probe))
            most, unknown = most + count * max(1, len(found)), unknown | silent
    if found and (most or unknown):
        told.append(asking(most, sorted(unknown)))
    if fairness.caps:
        told.append(f"stops at {fairness.caps}, all processes together")
    for text in told:
        yield from announced(text)


def announced(text: str) -> Iterator[str]:
    """A line above the tests, as lines that a terminal holds."""
    first, *more = wrapped(f"fairness: {text}", _WIDTH)
    yield first.strip()
    yield from more


def questions(graders: Mapping[str, Any], prompts: Iterable[int], repetitions: int) -> tuple[int, set[str]]:
    """How many calls graders make at most, of items with so many prompts each; and those that do not tell."""
    asking = {name: grader for name, grader in graders.items() if hasattr(grader, "most_questions")}
    silent = {
        name
        for name, grader in graders.items()
        if name not in asking and isgeneratorfunction(getattr(grader, "grade_item", None))
    }
    most = sum(grader.most_questions(count * repetitions) for count in prompts for grader in asking.values())
    return most, silent


def asking(most: int, unknown: Sequence[str]) -> str:
    """The line for the calls of graders."""
    parts = [f"graders ask up to {most:,} more"] if most else []
    parts += [f"the grader of {', '.join(unknown)} asks, and does not tell how much"] if unknown else []
    return f"{'; '.join(parts)}; their cost is not in the estimate"
