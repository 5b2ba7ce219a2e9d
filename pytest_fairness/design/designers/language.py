"""A language model as designer: its prompt has all evaluations so far, and it answers in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template

import numpy as np

from pytest_fairness import FairnessError, Prompt
from pytest_fairness.design.designers.protocol import Proposal, Task
from pytest_fairness.design.records import Iteration
from pytest_fairness.extending import Attempt, json_objects, one_line
from pytest_fairness.extending import json_text as json

Ask = Callable[[Prompt], Attempt]
"""A function that sends the model one prompt; a failed attempt has an error."""

_MOST_SHOWN = 300


class LanguageDesigner:
    """A designer whose proposals come from a model of this plugin.

    The prompts are data (``prompts.json`` beside this file). A proposal that is no JSON, lacks a parameter, has an
    unknown one or leaves a range, and a refusal, is followed by one request that names the mistake; if the
    second is wrong too, the iteration is skipped, and its record holds both. Nothing is clipped into a range. A model
    that does not answer loses its iteration; one that has never answered raises `FairnessError`.

    Args:
        name: The designer's name in the record.
        ask: A function that sends a prompt and returns the attempt.
    """

    def __init__(self, name: str, ask: Ask) -> None:
        self.name = name
        self._ask = ask

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:  # noqa: ARG002
        texts = prompts()
        messages = [
            {"role": "system", "content": texts["system"]},
            {"role": "user", "content": _question(texts["question"], task, history)},
        ]
        notes: list[str] = []
        for _ in range(2):
            attempt = self._ask(Prompt(messages))
            if attempt.answer is None:
                if all(iteration.parameters is None for iteration in history[1:]):
                    # It has never answered: a key or a name is wrong, and more iterations would not help.
                    raise FairnessError(f"designer {self.name} does not answer: {attempt.error}")
                return Proposal(None, notes=[*notes, f"no answer: {attempt.error}"])
            proposal, wrong = _read(attempt.answer.text, task)
            if proposal is not None:
                return Proposal(proposal.parameters, proposal.reasoning, notes)
            notes.append(f"{wrong}; it said: {one_line(attempt.answer.text, _MOST_SHOWN)}")
            messages += [
                {"role": "assistant", "content": attempt.answer.text or "(nothing)"},
                {"role": "user", "content": Template(texts["repair"]).substitute(wrong=wrong)},
            ]
        return Proposal(None, notes=notes)


@cache
def prompts() -> Mapping[str, str]:
    """Return the templates: system, question and repair; their slots are those of `string.Template`."""
    document: Mapping[str, str] = json.loads(Path(__file__).with_name("prompts.json").read_text(encoding="utf-8"))
    return document


def _question(template: str, task: Task, history: Sequence[Iteration]) -> str:
    example = {"reasoning": "why these", "parameters": dict(task.space.start)}
    return Template(template).substitute(
        objective=task.objective.described(task.threshold),
        space=task.space.described(),
        history="\n".join(_describe_iteration(iteration) for iteration in history),
        left=task.iterations - len(history),
        example=json.dumps(example),
    )


def _describe_iteration(iteration: Iteration) -> str:
    if iteration.parameters is None:
        return f"{iteration.number}. skipped: the answer could not be used"
    figures = ", ".join(f"{name} {figure.value:.4f}" for name, figure in iteration.figures.items())
    losses = ", ".join(f"{loss:.4f}" for loss in iteration.losses)
    return f"{iteration.number}. {json.dumps(dict(iteration.parameters))} -> {figures}; loss {losses}"


def _read(text: str, task: Task) -> tuple[Proposal | None, str]:
    """Return the proposal in an answer, or None and the mistake."""
    proposals = [document for document, _, _ in json_objects(text) if "parameters" in document]
    if not proposals:
        return None, 'there is no JSON object with "parameters"'
    if any(other != proposals[0] for other in proposals[1:]):
        return None, f"there are {len(proposals)} JSON objects that differ: give one"
    parameters, reasoning = proposals[0]["parameters"], proposals[0].get("reasoning", "")
    if not isinstance(parameters, dict):
        return (
            None,
            f'"parameters" is {one_line(repr(parameters), _MOST_SHOWN)}: it must be an object of names and values',
        )
    if wrong := task.space.wrong(parameters):
        return None, "; ".join(wrong)
    return Proposal(parameters, reasoning if isinstance(reasoning, str) else json.dumps(reasoning)), ""
