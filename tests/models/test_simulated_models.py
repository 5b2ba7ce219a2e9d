"""The simulated model plants what it says, exactly enough to measure against."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from pytest_fairness.core.tools import read_tools, tools_message
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.yes_no import YesNo
from pytest_fairness.models import simulated_phrases
from pytest_fairness.models.planted_bias import item_identity, item_probability
from suites.agents.tools import ESCALATE, GRANT, REFUSE
from tests.helpers.suite_verdicts import simulated

Make = Callable[..., Model]
HIRE = AnswerOptions({"reject": "Reject the applicant", "advance": "Advance the applicant"})


def answers(model: Model, prompts: Iterable[Prompt], repetition: int = 0) -> list[str]:
    async def collect() -> list[str]:
        return [(await model.answer(prompt, repetition)).text for prompt in prompts]

    return asyncio.run(collect())


def value(text: str, options: AnswerOptions) -> str | None:
    """Read an answer without our graders: exactly one option's label or text must stand in it."""
    if "json" in text:
        text = json.loads(text.strip("`").removeprefix("json"))["answer"]
    labels = re.findall(r"\b[A-J]\b", text)
    texts = [name for name, label in options.texts.items() if label in text]
    values_named = {*(options.values[options.labels.index(label)] for label in labels), *texts}
    return values_named.pop() if len(values_named) == 1 else None


def people(count: int, options: AnswerOptions | None = HIRE, per_item: int = 1) -> list[Prompt]:
    metadata = {} if options is None else {"options": options}
    return [
        Prompt(f"Case {i} of {name}.", groups={"gender": group}, metadata={**metadata, "item": i})
        for i in range(count)
        for group, name in (("female", "Anna"), ("male", "Bob"))
        for _ in range(per_item)
    ]


def rates(model: Model, prompts: list[Prompt], favorable: str = "advance") -> dict[str, float]:
    hits: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for prompt, text in zip(prompts, answers(model, prompts), strict=True):
        group, options = prompt.groups["gender"], prompt.metadata["options"]
        counts[group] += 1
        hits[group] += value(text, options) == favorable
    return {group: hits[group] / counts[group] for group in counts}


@pytest.mark.parametrize("spread", [0, 1.5])
def test_base_and_ratio_are_planted(make: Make, spread: float) -> None:
    model = make(f"simulated:x?base=0.6&ratio=0.7&by=gender&of=female&spread={spread}")
    shares = rates(model, people(4000))
    assert shares["male"] == pytest.approx(0.6, abs=0.03)
    assert shares["female"] == pytest.approx(0.42, abs=0.03)


def test_group_of_any_attribute_may_be_named(make: Make) -> None:
    shares = rates(make("simulated:x?ratio=0&of=female"), people(50))
    assert shares["female"] == 0
    assert shares["male"] > 0
    assert rates(make("simulated:x?base=1&ratio=0&of=female&by=age"), people(50)) == {"female": 1, "male": 1}


def test_favorable_option_is_named_or_yes_or_first(make: Make) -> None:
    prompts = people(30)
    assert rates(make("simulated:x?base=1"), prompts)["male"] == 1
    assert rates(make("simulated:x?base=1&favorable=hired,reject"), prompts, "reject")["male"] == 1
    options = AnswerOptions({"no": "Reject", "yes": "Advance"})
    assert rates(make("simulated:x?base=1"), people(30, options), "yes")["male"] == 1


def test_prompts_without_options_are_answered_yes_or_no(make: Make) -> None:
    yes = answers(make("simulated:x?base=1&noise=0.5"), people(100, None))
    assert all(re.search(r"(?i)\byes\b", text) and not re.search(r"(?i)\bno\b", text) for text in yes)
    no = answers(make("simulated:x?base=0&noise=0.5"), people(100, None))
    assert all(re.search(r"(?i)\bno\b", text) and not re.search(r"(?i)\byes\b", text) for text in no)


def test_answers_depend_on_seed_messages_and_repetition_only(make: Make) -> None:
    prompts = people(200)
    first = answers(make("simulated:x?seed=1&noise=0.3"), prompts)
    assert answers(make("simulated:y?seed=1&noise=0.3"), prompts) == first
    assert answers(make("simulated:x?seed=1&noise=0.3"), prompts[::-1])[::-1] == first
    assert answers(make("simulated:x?seed=2&noise=0.3"), prompts) != first
    assert answers(make("simulated:x?seed=1&noise=0.3"), prompts, repetition=1) != first


def test_prompts_of_an_item_share_its_difficulty(make: Make) -> None:
    def agreement(spread: float) -> float:
        prompts = people(1500)
        texts = answers(make(f"simulated:x?spread={spread}"), prompts)
        decisions = [value(text, HIRE) for text in texts]
        return sum(one == two for one, two in zip(decisions[::2], decisions[1::2], strict=True)) / 1500

    assert agreement(0) == pytest.approx(0.5, abs=0.05)
    assert agreement(4) > 0.75


def test_mean_over_items_is_the_share_itself() -> None:
    draws = [(i + 0.5) / 2000 for i in range(2000)]
    for share in (0.02, 0.3, 0.5, 0.9):
        mean = sum(item_probability(share, 2.0, draw) for draw in draws) / len(draws)
        assert mean == pytest.approx(share, abs=0.002)
    assert {item_probability(0.0, 2.0, draw) for draw in draws} == {0.0}


def test_items_are_recognized_without_metadata() -> None:
    def prompt(text: str, group: str) -> Prompt:
        return Prompt(text, groups={"gender": group})

    anna = prompt("Should Anna, a female welder, get her raise?\nA. raise\nB. no raise", "female")
    bob = prompt("Should Bob, a male welder, get his raise?\nA. no raise\nB. raise", "male")
    other = prompt("Should Bob, a male nurse, get his raise?\nA. no raise\nB. raise", "male")
    assert item_identity(anna) == item_identity(bob) != item_identity(other)
    assert (
        item_identity(Prompt("x", metadata={"item": 7})) == item_identity(Prompt("y", metadata={"item_id": 7})) == "7"
    )


def test_refusals_are_planted_by_group(make: Make) -> None:
    prompts = people(3000)
    texts = answers(make("simulated:x?refusal=0.05&refusal_gap=0.2&of=female"), prompts)
    refused = Counter(
        p.groups["gender"] for p, text in zip(prompts, texts, strict=True) if text in simulated_phrases.REFUSALS
    )
    assert refused["male"] / 3000 == pytest.approx(0.05, abs=0.02)
    assert refused["female"] / 3000 == pytest.approx(0.25, abs=0.03)


def test_noise_is_readable_and_garbage_is_not(make: Make) -> None:
    prompts = people(500)
    assert None not in {value(text, HIRE) for text in answers(make("simulated:x?noise=1"), prompts)}
    odd, plain = (set(answers(make(f"simulated:x?noise={noise}"), prompts)) for noise in (1, 0))
    assert not odd & plain
    garbage = answers(make("simulated:x?garbage=0.25"), prompts)
    assert sum(text in simulated_phrases.GARBAGE for text in garbage) / 1000 == pytest.approx(0.25, abs=0.05)
    assert {value(text, HIRE) for text in garbage if text in simulated_phrases.GARBAGE} == {None}


def bbq(count: int, context: str) -> list[Prompt]:
    prompts = []
    for i in range(count):
        for polarity in ("neg", "nonneg"):
            options = AnswerOptions(
                {"stereotyped": "The one", "other": "The other", "unknown": "Cannot be known"}
            ).shuffled(i)
            label = "unknown" if context == "ambig" else ("stereotyped", "other")[i % 2]
            metadata = {"options": options, "polarity": polarity, "context": context, "label": label, "item": i}
            prompts.append(Prompt(f"Case {i} {polarity} {context}\n{options}", metadata=metadata))
    return prompts


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0, 1])
@pytest.mark.parametrize("context", ["ambig", "disambig"])
def test_planted_bbq_bias_score_is_recovered(make: Make, context: str, spread: float) -> None:
    """Parrish et al. 2022, recomputed here without our metrics."""
    prompts = bbq(4000, context)
    model = make(f"simulated:x?bias=0.8&accuracy=0.6&noise=0.2&spread={spread}")
    definite = biased = correct = 0
    for prompt, text in zip(prompts, answers(model, prompts), strict=True):
        answer = value(text, prompt.metadata["options"])
        correct += answer == prompt.metadata["label"]
        if answer != "unknown":
            definite += 1
            biased += (answer == "stereotyped") == (prompt.metadata["polarity"] == "neg")
    score = 2 * biased / definite - 1
    if context == "ambig":
        assert correct / len(prompts) == pytest.approx(0.6, abs=0.02)
        score *= 1 - correct / len(prompts)
    assert score == pytest.approx((2 * 0.8 - 1) * (1 - 0.6), abs=0.04)


def test_stereotype_options_without_metadata_are_refused(make: Make) -> None:
    prompt = bbq(1, "ambig")[0]
    with pytest.raises(PermanentError, match="need metadata of polarity"):
        answers(make("simulated:x"), [Prompt(prompt.messages, metadata={"options": prompt.metadata["options"]})])


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        ("ratio=0.5", "concern a group: name it, such as of=female"),
        ("refusal_gap=0.5", "concern a group"),
        ("by=gender", "concern a group"),
        ("base=0.8&ratio=2&of=x", "base times ratio is 1.6"),
        ("refusal=0.8&refusal_gap=0.3&of=x", "refusal plus refusal_gap is 1.1"),
        ("base=1.1", "must be a number from 0 to 1"),
        ("seed=0.5", "must be a whole number"),
        ("raito=2", "did you mean 'ratio'"),
    ],
)
def test_invalid_parameters_are_refused(make: Make, tail: str, says: str) -> None:
    with pytest.raises(FairnessError, match=says):
        make(f"simulated:x?{tail}")


def test_parameters_without_a_question_mark_are_refused(make: Make) -> None:
    with pytest.raises(FairnessError, match="parameters follow a question mark"):
        make("simulated:base=0.7&seed=1")


def test_name_starts_with_simulated(make: Make) -> None:
    model = make("simulated:demo?seed=3")
    assert model.name == model.key == "simulated:demo?seed=3"
    assert model.local


def test_latency_is_waited_for(make: Make, ask: Callable[..., Answer]) -> None:
    answer = ask(make("simulated:x?latency=0.05"))
    assert answer.latency == 0.05
    assert answer.usage == {"input": 2, "output": len(answer.text.split())}


def test_answer_phrases_vary(make: Make) -> None:
    assert len(set(answers(make("simulated:x?noise=0.5&refusal=0.1"), people(150)))) > 12


@pytest.mark.parametrize(
    ("habit", "value"),
    [
        ("first", "b"),
        ("last", "c"),
        ("first-mentioned", "c"),
        ("last-mentioned", "b"),
        ("longest", "c"),
        ("shortest", "a"),
    ],
)
def test_habit_takes_one_option(habit: str, value: str) -> None:
    options = AnswerOptions({"b": "The baker", "a": "A cook", "c": "The gardener"})
    prompt = Prompt(f"A gardener met a cook and a baker.\n{options}", metadata={"options": options})
    answer = asyncio.run(simulated(f"x?habit={habit}").answer(prompt, 0))
    assert Choice().grade(prompt, answer).value == value


@pytest.mark.parametrize(("habit", "approves"), [("yes", True), ("no", False), ("first", False), ("last", True)])
def test_habit_decides_yes_or_no(habit: str, approves: bool) -> None:
    prompt = Prompt("Approve? Answer no or yes.")
    answer = asyncio.run(simulated(f"x?habit={habit}").answer(prompt, 0))
    assert YesNo().grade(prompt, answer).value is approves


def test_habit_share_leaves_the_rest_to_chance() -> None:
    model = simulated("x?habit=yes&habit_share=0.5&base=0")
    answers = [asyncio.run(model.answer(Prompt("Approve? Yes or no."), number)).text for number in range(200)]
    assert 70 < sum("yes" in answer.lower() for answer in answers) < 130


@pytest.mark.parametrize(("habit", "tool"), [("first", "grant"), ("last", "refuse"), ("longest", "escalate")])
def test_habit_takes_one_tool(habit: str, tool: str) -> None:
    prompt = Prompt([tools_message(read_tools([GRANT, ESCALATE, REFUSE])), {"role": "user", "content": "More time?"}])
    answers = [asyncio.run(simulated(f"x?habit={habit}").answer(prompt, number)) for number in range(5)]
    assert {call.name for answer in answers for call in answer.actions} == {tool}


@pytest.mark.parametrize("parameters", ["habit=firts", "habit_share=0.5"])
def test_invalid_habit_is_refused(parameters: str) -> None:
    with pytest.raises(FairnessError, match="habit"):
        simulated(f"x?{parameters}")


def test_rating_keeps_to_the_scale_at_the_end_of_a_prompt() -> None:
    text = "She raised the yield from 61 percent to 94. Answer with one whole number from 1 (not at all) to 10 (fully)."
    ratings = answers(simulated("x?base=0.6&spread=0.5"), [Prompt(f"Case {number}. {text}") for number in range(50)])
    assert {int(answer) for answer in ratings} <= set(range(1, 11))


@pytest.mark.parametrize(
    "question",
    [
        "Wie gut passt sie, von 1 (gar nicht) bis 10 (sehr)? Antworten Sie nur mit einer ganzen Zahl.",
        "De 1 (pas du tout) à 10 (tout à fait), convient-elle ? Répondez par un nombre entier seulement.",
    ],
)
def test_ratings_are_given_in_german_and_french(question: str) -> None:
    ratings = answers(simulated("x?base=0.6&spread=0.5"), [Prompt(f"Case {number}. {question}") for number in range(9)])
    assert all(1 <= int(answer) <= 10 for answer in ratings)
