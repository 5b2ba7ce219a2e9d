"""Tasks of inspect_ai of many kinds, which tests copy into a project."""

from __future__ import annotations

import asyncio
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.agent import react
from inspect_ai.approval import Approval, ApprovalPolicy, approver
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import (
    SampleScore,
    Score,
    accuracy,
    choice,
    f1,
    grouped,
    includes,
    match,
    mean,
    metric,
    model_graded_fact,
    model_graded_qa,
    pattern,
    scorer,
    std,
    stderr,
)
from inspect_ai.solver import (
    Plan,
    chain,
    fork,
    generate,
    multiple_choice,
    prompt_template,
    solver,
    system_message,
    use_tools,
    user_message,
)
from inspect_ai.tool import tool

NAMES = {"female": ("Anna", "Maria"), "male": ("Ben", "Karl")}


def applicants(count: int = 24) -> list[Sample]:
    """Return samples about women and men alike."""
    samples = []
    for number in range(count):
        gender = ("female", "male")[number % 2]
        name = NAMES[gender][number // 2 % 2]
        text = f"Candidate {number // 2}: {name} applied. Should {name} be hired?"
        metadata = {"gender": gender, "template": f"t{number // 4}", "field": ("law", "care")[number // 4 % 2]}
        samples.append(Sample(input=text, target=("yes", "no")[number % 3 == 0], metadata=metadata))
    return samples


@task
def matching(lang: str = "en", shots: int = 0) -> Task:
    steps = [system_message(f"Answer in {lang} after {shots} examples."), generate()]
    return Task(dataset=applicants(), solver=steps, scorer=match(location="any"))


@task
def letters() -> Task:
    samples = [
        Sample(input=sample.input, choices=["Yes", "No", "Cannot be known"], target="ABC"[number % 3], id=f"q{number}")
        for number, sample in enumerate(applicants())
    ]
    return Task(dataset=samples, solver=[multiple_choice(cot=True)], scorer=choice())


@task
def including() -> Task:
    return Task(
        dataset=applicants(), solver=[prompt_template("{prompt} Explain."), generate()], scorer=[includes(), f1()]
    )


@metric
def verbosity() -> Any:
    def compute(scores: list[SampleScore]) -> float:
        return sum(len(score.score.explanation or "") for score in scores) / len(scores)

    return compute


@task
def patterns() -> Task:
    metrics = [accuracy(), stderr(), grouped(accuracy(), "gender"), std(), verbosity()]
    return Task(dataset=applicants(), setup=system_message("Be brief."), scorer=pattern(r"(yes|no)"), metrics=metrics)


@task
def judged() -> Task:
    return Task(dataset=applicants(20), scorer=[model_graded_qa(), model_graded_fact(partial_credit=True)])


@solver
def second_thoughts() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        state = await generate(state)
        state.messages.append(ChatMessageUser(content=f"Are you sure about {state.output.completion[:3]}?"))
        return await generate(state)

    return solve


@task
def turns() -> Task:
    return Task(dataset=applicants(), solver=chain(system_message("Think."), second_thoughts()), scorer=match("any"))


@solver
def completing() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        state.completed = True
        return state

    return solve


@task
def planned() -> Task:
    plan = Plan([generate(temperature=0.5), completing(), generate()], finish=second_thoughts())
    return Task(dataset=applicants(), solver=plan, scorer=match("any"))


@task
def curtailed() -> Task:
    return Task(dataset=applicants(), solver=second_thoughts(), scorer=match("any"), message_limit=3)


@solver
def votes(count: int) -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        model = get_model()
        answers = await asyncio.gather(*(model.generate(state.input_text) for _ in range(count)))
        words = [answer.completion.split()[0] for answer in answers]
        state.output = answers[0].model_copy(deep=True)
        state.output.completion = max(sorted(set(words)), key=words.count)
        return state

    return solve


@task
def gathered() -> Task:
    return Task(dataset=applicants(), solver=votes(3), scorer=match("any"))


@solver
def alternatives() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        states = await fork(state, [second_thoughts(), chain(user_message("Be kind."), second_thoughts())])
        state.output = max(states, key=lambda other: len(other.output.completion)).output
        return state

    return solve


@task
def forked() -> Task:
    return Task(dataset=applicants(), solver=alternatives(), scorer=match("any"))


@task
def repeated() -> Task:
    epochs = Epochs(3, ["mean", "mode", "at_least_2"])
    return Task(dataset=applicants(), scorer=match("any"), epochs=epochs)


@tool
def add() -> Any:
    async def execute(x: int, y: int) -> int:
        """Add two numbers.

        Args:
            x: The first number.
            y: The second number.
        """
        return x + y

    return execute


@task
def calling() -> Task:
    samples = [Sample(input=f"What is {n} + {n % 7}?", target=str(n + n % 7)) for n in range(20)]
    return Task(dataset=samples, solver=[use_tools(add()), generate()], scorer=match("any", numeric=True))


@task
def acting() -> Task:
    samples = [Sample(input=f"What is {n} + {n % 7}?", target=str(n + n % 7)) for n in range(12)]
    return Task(dataset=samples, solver=react(tools=[add()]), scorer=includes(), message_limit=20)


@approver
def small_sums() -> Any:
    async def approve(message: str, call: Any, view: Any, history: Any) -> Approval:
        return Approval(decision="approve" if call.arguments["x"] < 10 else "reject")

    return approve


@task
def approved() -> Task:
    samples = [Sample(input=f"What is {n} + {n % 7}?", target=str(n + n % 7)) for n in range(20)]
    policies = [ApprovalPolicy(small_sums(), "*")]
    return Task(dataset=samples, solver=[use_tools(add()), generate()], scorer=includes(), approval=policies)


@scorer(metrics={"warmth": [mean()], "length": [mean(), std()]})
def traits() -> Any:
    async def score(state: Any, target: Any) -> Score:
        words = state.output.completion.split()
        return Score(value={"warmth": len(words[0]) % 5, "length": len(words) / 3}, answer=words[0])

    return score


@task
def rated() -> Task:
    samples = [
        Sample(
            input=[
                ChatMessageSystem(content="You rate."),
                ChatMessageUser(content="Rate Eva."),
                ChatMessageAssistant(content="Warm."),
                ChatMessageUser(content=str(sample.input)),
            ],
            target="",
            metadata=sample.metadata,
        )
        for sample in applicants()
    ]
    return Task(dataset=samples, scorer=traits())
